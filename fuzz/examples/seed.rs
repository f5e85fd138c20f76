//! Writes the dictionary, and seeds that are parts of recorded rows:
//! `cargo run -p xdsctl-fuzz --example seed -- fuzz/corpus`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use serde_json::Value;
use xdsctl_document::proto::pb::tables;

/// One of this many rows of a fixture becomes a seed.
const EACH: usize = 5;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rows(path: &str) -> io::Result<Vec<Value>> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(root().join(path))?).read_to_string(&mut text)?;
    Ok(text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}

/// Finds the lists of policies anywhere in a value.
fn policies<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    match value {
        Value::Object(map) => {
            if let Some(policy) = map.get("load_balancing_policy") {
                found.push(policy);
            }
            map.values().for_each(|inner| policies(inner, found));
        }
        Value::Array(list) => list.iter().for_each(|inner| policies(inner, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Finds the configs of a service config: each list under a `childPolicy` or `loadBalancingConfig`.
fn configs<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                if matches!(name.as_str(), "childPolicy" | "loadBalancingConfig" | "config") && inner.is_array() {
                    found.push(inner);
                }
                configs(inner, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| configs(inner, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

struct Corpus(PathBuf);

impl Corpus {
    fn add(&self, target: &str, name: &str, data: &[u8]) -> io::Result<()> {
        let dir = self.0.join(target);
        fs::create_dir_all(&dir)?;
        if data.len() <= xdsctl_fuzz::MAX_BYTES {
            fs::write(dir.join(name), data)?;
        }
        Ok(())
    }
}

/// Reads a file of `fixtures/examples` by its name.
fn example(name: &str) -> io::Result<String> {
    fs::read_to_string(root().join("fixtures/examples").join(name))
}

/// Writes the commands of the documentation, with their files in the form of the `command` target.
fn commands(corpus: &Corpus) -> io::Result<()> {
    let mut pages: Vec<PathBuf> = fs::read_dir(root().join("docs"))?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    pages.push(root().join("README.md"));
    pages.sort();
    let bootstrap = fs::read_to_string(root().join("fixtures/conformance/bootstrap.json"))?;
    let mut count = 0;
    for page in pages
        .iter()
        .filter(|page| page.extension().is_some_and(|ending| ending == "md"))
    {
        for line in fs::read_to_string(page)?.lines() {
            let Some(words) = line.strip_prefix("$ xdsctl ") else {
                continue;
            };
            let mut document = String::new();
            let mut args = Vec::new();
            for word in words.split_whitespace() {
                match word.strip_prefix("fixtures/examples/") {
                    Some("drain.jsonl") => args.push("REQUESTS".to_owned()),
                    Some(name) => {
                        document = example(name)?;
                        args.push("-".to_owned());
                    }
                    None => args.push(word.to_owned()),
                }
            }
            if words.starts_with("validate") {
                args.push("--bootstrap=BOOTSTRAP".to_owned());
            }
            let script = example("drain.jsonl")?;
            let text = format!(
                "{}\n\n{document}\n=== bootstrap\n{bootstrap}\n=== requests\n{script}",
                args.join("\n")
            );
            corpus.add("command", &format!("docs-{count}"), text.as_bytes())?;
            count += 1;
        }
    }
    Ok(())
}

/// Writes the policies of `fixtures/policies`, each with its cases.
fn policy_files(corpus: &Corpus) -> io::Result<()> {
    let mut count = 0;
    for entry in fs::read_dir(root().join("fixtures/policies"))? {
        let text = fs::read_to_string(entry?.path())?;
        for policy in text.split("[[policy]]").skip(1) {
            for args in ["policy\ntest\nCONFIG", "validate\n--config=CONFIG\n-"] {
                let text = format!("{args}\n\n\n=== bootstrap\n\n=== requests\n\n=== config\n[[policy]]{policy}");
                corpus.add("command", &format!("policy-{count}"), text.as_bytes())?;
                count += 1;
            }
        }
    }
    Ok(())
}

/// Writes the names of fields, types, enum values, policies, steps and options.
fn dictionary(corpus: &Corpus) -> io::Result<()> {
    let mut words = BTreeSet::new();
    for message in tables::MESSAGES {
        let read = message.fields.iter().filter(|field| field.generated);
        words.extend(read.map(|field| field.name.to_owned()));
        if message.fields.iter().any(|field| field.generated) {
            words.insert(format!("type.googleapis.com/{}", message.full_name));
        }
    }
    words.extend(xdsctl_suite::TEST_MEMBERS.map(str::to_owned));
    for subcommand in xdsctl_cli::command().get_subcommands() {
        words.insert(subcommand.get_name().to_owned());
        let options = subcommand.get_arguments().filter_map(|arg| arg.get_long());
        words.extend(options.map(|long| format!("--{long}=")));
    }
    for name in [
        "pick_first",
        "round_robin",
        "weighted_round_robin",
        "ring_hash_experimental",
        "priority_experimental",
        "weighted_target_experimental",
        "outlier_detection_experimental",
        "rls_experimental",
        "childPolicy",
        "begin",
        "finish",
        "sleep",
        "stop",
        "start",
        "silence",
        "speak",
        "orca",
        "update",
        "remove",
        "settle",
        "count",
        "\\x00",
        "\\xff\\xff\\xff\\xff\\x0f",
        "=== bootstrap",
        "=== requests",
        "@type",
        "!!binary",
        "<<: *",
        "xdstp://",
    ] {
        words.insert(name.to_owned());
    }
    let lines: String = words.iter().map(|word| format!("\"{word}\"\n")).collect();
    fs::write(corpus.0.join("dictionary.txt"), lines)
}

fn main() -> io::Result<()> {
    let corpus = Corpus(
        std::env::args_os()
            .nth(1)
            .unwrap_or_else(|| "fuzz/corpus".into())
            .into(),
    );
    fs::create_dir_all(&corpus.0)?;
    // Random decisions can be made from any bytes without order.
    let mut noise = Vec::new();
    fs::File::open(root().join("fixtures/conformance/validate.jsonl.gz"))?.read_to_end(&mut noise)?;
    for target in [
        "world",
        "recorded_world",
        "simulation",
        "tree",
        "route",
        "retry",
        "pick",
        "suite",
    ] {
        for (number, piece) in noise.chunks(512).take(120).enumerate() {
            corpus.add(target, &format!("noise-{number}"), &piece[..40 + 3 * number])?;
        }
    }
    for entry in fs::read_dir(root().join("fixtures/suites"))? {
        let path = entry?.path();
        if path.is_file() {
            // The first byte says that the text is YAML.
            let text = [&b" "[..], &fs::read(&path)?].concat();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            corpus.add("suite_text", &name, &text)?;
        }
    }
    for name in ["scenarios", "timelines", "loops"] {
        for (number, row) in rows(&format!("fixtures/conformance/{name}.jsonl.gz"))?
            .iter()
            .enumerate()
        {
            let steps = row["steps"].as_array().into_iter().flatten();
            let lines: String = steps.map(|step| format!("{step}\n")).collect();
            let mut text = vec![u8::try_from(number % 256).unwrap_or(0)];
            text.extend_from_slice(lines.as_bytes());
            corpus.add("requests", &format!("{name}-{number}"), &text)?;
            let mut found = Vec::new();
            policies(&row["resources"], &mut found);
            for (place, policy) in found.iter().enumerate() {
                corpus.add(
                    "lb_xds",
                    &format!("{name}-{number}-{place}"),
                    policy.to_string().as_bytes(),
                )?;
            }
            let mut found = Vec::new();
            configs(&row["answer"], &mut found);
            for (place, config) in found.iter().enumerate().step_by(EACH) {
                corpus.add(
                    "lb_json",
                    &format!("{name}-{number}-{place}"),
                    config.to_string().as_bytes(),
                )?;
            }
        }
    }
    let base64 = base64::engine::general_purpose::STANDARD;
    for (number, row) in rows("fixtures/conformance/lb-json.jsonl.gz")?
        .iter()
        .enumerate()
        .step_by(EACH)
    {
        let any = base64
            .decode(row["any_b64"].as_str().unwrap_or_default())
            .unwrap_or_default();
        // The policy is the last field of the cluster; this is its tag.
        if let Some(at) = any.windows(2).position(|tag| tag == b"\xca\x02") {
            let length = if any.get(at + 2).is_some_and(|byte| *byte > 127) {
                2
            } else {
                1
            };
            corpus.add(
                "lb_xds",
                &format!("wire-{number}"),
                any.get(at + 2 + length..).unwrap_or_default(),
            )?;
        }
    }
    for (number, row) in rows("fixtures/conformance/bootstrap.jsonl.gz")?
        .iter()
        .enumerate()
        .step_by(EACH)
    {
        let text = row["bootstrap"].as_str().unwrap_or_default();
        corpus.add("bootstrap", &format!("recorded-{number}"), text.as_bytes())?;
    }
    for (number, row) in rows("fixtures/regex/match.jsonl.gz")?
        .iter()
        .enumerate()
        .step_by(EACH * 4)
    {
        let pattern = row["pattern"].as_str().unwrap_or_default();
        corpus.add(
            "regex",
            &format!("match-{number}"),
            format!("{pattern}\nab1\n<\\0\\1>").as_bytes(),
        )?;
    }
    for (number, text) in [
        "sid\nsid=MTAuMC4wLjE6ODA7Y2x1c3Rlcl9h",
        "cart\na=b; cart=MTAuMC4wLjI6ODA4MDtjaGVja291dA==; c=d",
        "sid\nset-cookie: sid=MTAuMC4wLjE6ODA7Y2x1c3Rlcl9h; HttpOnly; Path=/",
        "sid\nsid=; sid=MTAu.. ",
    ]
    .iter()
    .enumerate()
    {
        corpus.add("cookie", &format!("form-{number}"), text.as_bytes())?;
    }
    commands(&corpus)?;
    policy_files(&corpus)?;
    dictionary(&corpus)
}
