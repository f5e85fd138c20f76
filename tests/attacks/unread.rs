//! Attacks by input that was cut off, is something else or is empty: no command ignores that.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::attack;
use crate::chance::Chance;
use crate::run::{Run, directory, in_process};
use crate::world::{self, gzip, yaml};

/// Returns the subcommands that read documents, each with its arguments for a file. They come from
/// clap's own list, so that a new one is among them.
fn commands(file: &str, directory: &Path) -> Vec<Vec<String>> {
    let good = directory.join("good.json");
    fs::write(&good, world::document(3).to_string()).unwrap();
    let suite = directory.join("suite.yaml");
    let name = Path::new(file).file_name().unwrap().to_str().unwrap();
    fs::write(
        &suite,
        format!("world: [{name}]\ntarget: xds:///l\nsteps: [{{pick: {{}}, expect: {{status: OK}}}}]\n"),
    )
    .unwrap();
    let (good, suite) = (good.to_str().unwrap(), suite.to_str().unwrap());
    let mut all: Vec<Vec<&str>> = Vec::new();
    let command = xdsctl_cli::command();
    for subcommand in command.get_subcommands() {
        let name: &str = subcommand.get_name();
        match name {
            "who" => all.push(vec![name, "a", file]),
            "diff" => {
                for format in ["human", "json"] {
                    let format = if format == "json" {
                        "--format=json"
                    } else {
                        "--format=human"
                    };
                    all.extend([
                        vec![name, format, file, file],
                        vec![name, format, good, file],
                        vec![name, format, file, good],
                    ]);
                }
            }
            "test" => {
                all.extend([
                    vec![name, suite],
                    vec![name, file],
                    vec![name, "--init", file],
                    vec![name, "--record", file],
                ]);
                all.extend([
                    vec![name, "--format=junit", "--quiet", suite],
                    vec![name, "--update", suite],
                ]);
            }
            "simulate" => all.extend([vec![name, suite], vec![name, "--format=jsonl", suite], vec![name, file]]),
            "validate" => all.extend([
                vec![name, file],
                vec![name, "--format=json", file],
                vec![name, "--format=jsonl", file],
            ]),
            // These would wait for clients if they could read the input.
            "serve" | "ui" if cfg!(feature = "net") => {}
            // It hides what it cannot read, and has no answer that could be wrong.
            "mask" => {}
            name => {
                let takes_file = |arg: &clap::Arg| {
                    arg.get_value_names()
                        .is_some_and(|names| names.iter().any(|name| name.as_str() == "FILE"))
                };
                if subcommand.get_positionals().any(takes_file) {
                    all.push(vec![name, file]);
                }
            }
        }
    }
    all.into_iter()
        .map(|args| args.into_iter().map(str::to_owned).collect())
        .collect()
}

#[track_caller]
fn check(args: &[String]) -> Run {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let run = in_process(&args, b"", |_| {});
    assert!(
        matches!(run.code, Some(1 | 2)),
        "{args:?}: {:?}\n{}\n{}",
        run.code,
        run.out,
        run.err
    );
    let says_so = |text: &str| {
        let words = ["xdsctl: ", "incomplete", "dump-", "×", "<error", "fault", "error"];
        words.iter().any(|word| text.contains(word))
    };
    assert!(
        says_so(&run.out) || says_so(&run.err),
        "{args:?} says nothing:\n{}\n{}",
        run.out,
        run.err
    );
    run
}

/// Inputs by name; each has lost something, or is empty.
fn inputs() -> Vec<(&'static str, Vec<u8>)> {
    let text = world::document(3).to_string();
    let cut = &text[..text.rfind('{').unwrap()];
    let block = yaml(&world::document(3));
    let nested = format!("{block}deep: {}{}\n", "[".repeat(1100), "]".repeat(1100));
    vec![
        ("cut.json", cut.into()),
        ("cut-in-a-key.json", text[..text.len() - 60].into()),
        ("cut.yaml", format!("{block}  - {{\"name\": \"").into()),
        ("nothing.json", Vec::new()),
        ("blank.yaml", b" \n\n".to_vec()),
        ("noise.json", vec![0x9d, 0x81, 0xff, 0, 7, 0xc3, b'{', 0x80]),
        ("noise.pb", vec![0x9d, 0x81, 0xff, 0, 7, 0xc3, b'{', 0x80]),
        ("gzip.json", gzip(text.as_bytes())),
        ("gzip.yaml", gzip(block.as_bytes())),
        ("deep.yaml", nested.into()),
        ("words.txt", b"no such thing\n".to_vec()),
        ("other.yaml", b"kind: other\n".to_vec()),
    ]
}

#[test]
fn no_command_passes_over_input_that_it_cannot_read() {
    let directory = directory("attacks", "unread-each");
    for (name, bytes) in inputs() {
        let file = directory.join(name);
        fs::write(&file, bytes).unwrap();
        let commands = commands(file.to_str().unwrap(), &directory);
        assert!(commands.len() > 15, "{commands:?}");
        for args in commands {
            check(&args);
        }
    }
}

#[test]
fn a_suite_that_is_cut_off_is_not_passed_over_in_a_directory() {
    let directory = directory("attacks", "unread-suites");
    let suite = "target: xds:///l\nworld: [world.json]\nsteps: [{pick: {}, expect: {status: OK}}]\n";
    fs::write(directory.join("world.json"), world::document(0).to_string()).unwrap();
    fs::write(directory.join("good.yaml"), suite).unwrap();
    let all = directory.to_str().unwrap().to_owned();
    assert_eq!(in_process(&["test", &all], b"", |_| {}).code, Some(0));
    for (name, text) in [
        ("cut.yaml", &suite[..suite.len() - 8]),
        ("cut.json", r#"{"steps": [{"pick": {}}"#),
        // A comment about something else hides nothing.
        (
            "hidden.yaml",
            "# static_resources\nworld: [world.json]\nsteps: [{pick: {}, expect: {status: UNAVAILABLE}}]\n",
        ),
    ] {
        fs::write(directory.join(name), text).unwrap();
        let run = check(&["test".to_owned(), all.clone()]);
        assert!(run.out.contains(name), "{}", run.out);
        fs::remove_file(directory.join(name)).unwrap();
    }
}

#[test]
fn a_test_on_half_a_world_has_failed_in_every_report() {
    let directory = directory("attacks", "unread-report");
    let text = world::document(0).to_string();
    // The part that is cut off comes after everything that the test needs.
    let cut = format!("{},{{\"@type\"", &text[..text.rfind(']').unwrap()]);
    fs::write(directory.join("cut.json"), cut).unwrap();
    let suite = directory.join("suite.yaml");
    fs::write(
        &suite,
        "world: cut.json\ntarget: xds:///l\nsteps: [{pick: {}, expect: {status: OK}}]\n",
    )
    .unwrap();
    let suite = suite.to_str().unwrap();
    for (format, said) in [
        ("human", "0 passed, 1 failed"),
        ("json", r#""result": "failed""#),
        ("junit", r#"failures="1""#),
        ("sarif", r#""ruleId":"expectation""#),
        ("github", "::error file="),
        ("gitlab", r#""check_name":"expectation""#),
        ("markdown", "0 passed, 1 failed"),
    ] {
        let run = in_process(&["test", "--format", format, suite], b"", |_| {});
        assert_eq!(run.code, Some(1), "{format}: {}", run.err);
        assert!(run.out.contains(said), "{format}: {}", run.out);
        assert!(
            run.out.contains("a world that can be read in full"),
            "{format}: {}",
            run.out
        );
    }
    // The place is where the suite names the world, and the message has the place of the broken
    // text.
    let run = in_process(&["test", "--format=json", suite], b"", |_| {});
    let failure = run.json()["suites"][0]["tests"][0]["failures"][0].clone();
    assert_eq!((&failure["line"], &failure["column"]), (&json!(1), &json!(8)));
    assert!(
        failure["happened"].as_str().unwrap().contains("cut.json:1:"),
        "{failure}"
    );
    let run = in_process(&["simulate", suite], b"", |_| {});
    assert_eq!(run.code, Some(1));
    assert!(
        run.err.starts_with("warning: ") && run.err.contains("the world is incomplete: "),
        "{}",
        run.err
    );
}

#[test]
fn the_same_world_is_whole() {
    let directory = directory("attacks", "unread-whole");
    let file = directory.join("whole.json");
    fs::write(&file, world::document(3).to_string()).unwrap();
    // The world has no Listener for servers, which `admit` would need.
    let others = ["serve", "ui", "retry", "admit"];
    let not_a_suite = |args: &&Vec<String>| {
        !others.contains(&args[0].as_str()) && !args.iter().any(|arg| arg == "--record" || arg == "--update")
    };
    let file = file.to_str().unwrap();
    for args in commands(file, &directory).iter().filter(not_a_suite) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        if matches!(args.as_slice(), ["test" | "simulate", last] if last == &file) {
            continue;
        }
        let run = in_process(&args, b"", |_| {});
        assert_eq!(run.code, Some(0), "{args:?}\n{}\n{}", run.out, run.err);
    }
}

/// Says whether `validate` reports that a document itself is damaged.
fn is_damaged(file: &str) -> bool {
    let run = in_process(&["validate", "--format=json", file], b"", |_| {});
    let Ok(report) = serde_json::from_str::<Value>(&run.out) else {
        return true;
    };
    let findings = report["findings"].as_array().unwrap().iter();
    let of_resources = report["resources"].as_array().unwrap().iter();
    let of_resources = of_resources.flat_map(|resource| resource["findings"].as_array().unwrap());
    findings.chain(of_resources).any(|finding| {
        let rule = finding["rule"].as_str().unwrap();
        rule.starts_with("dump-") && finding["severity"] == "error"
    }) || report["resources"] == json!([])
}

#[test]
fn unread() {
    attack("unread", |chance: &mut Chance, directory| {
        let document = world::document(chance.below(4));
        let name = chance.one(&["x.json", "x.yaml", "x.jsonl", "x.textproto", "x.pb"]);
        let mut bytes = match chance.percent(50) {
            true => document.to_string().into_bytes(),
            false => yaml(&document).into_bytes(),
        };
        match chance.below(5) {
            0 => {
                bytes = (0..chance.below(400))
                    .map(|_| u8::try_from(chance.below(256)).unwrap())
                    .collect()
            }
            1 => bytes = gzip(&bytes),
            2 => bytes.truncate(chance.below(bytes.len())),
            3 => {
                let at = chance.below(bytes.len());
                bytes[at] = u8::try_from(chance.below(256)).unwrap();
            }
            _ => {
                let at = chance.below(bytes.len());
                let more = bytes[chance.below(bytes.len())..].to_vec();
                bytes.splice(at..at, more.into_iter().take(chance.between(1, 200)));
            }
        }
        let file = directory.join(name);
        fs::write(&file, bytes).unwrap();
        let file = file.to_str().unwrap();
        if is_damaged(file) {
            let commands = commands(file, directory);
            check(&commands[chance.below(commands.len())]);
        }
    });
}
