//! Reads suites: random ones, which `test` and `simulate` run, and any text, which only their
//! reader gets.

use serde_json::{Value, json};
use xdsctl_document::source::SourceMap;
use xdsctl_document::source::secrets::SecretPlace;
use xdsctl_suite::{InitialConfig, Suite};

use crate::chance::Chance;
use crate::commands::{MAX_EVENTS, run};
use crate::make::{CLUSTER, World, name_of};
use crate::play::{hosts, recorded_world_of, world_of};
use crate::steps;

/// Numbers that some members accept, and some that no member accepts.
const RANGES: [&str; 6] = ["0", "1", "1..3", "2..", "3..1", "-1"];

/// Shares of a hundred.
const SHARES: [&str; 5] = ["0%", "50%", "100%", "1e-9%", "101%"];

/// Makes a value that stands where another type is expected.
fn nonsense(chance: &mut Chance) -> Value {
    chance.of(&[
        json!(null),
        json!(-1),
        json!(1e308),
        json!(""),
        json!([]),
        json!({}),
        json!({"x": [0]}),
        json!("\u{1b}[31m\n"),
        json!(["none", 18_446_744_073_709_551_615_u64]),
    ])
}

fn host(chance: &mut Chance, hosts: &[String]) -> String {
    match hosts.is_empty() || chance.percent(8) {
        true => "[::1]:0".to_owned(),
        false => chance.of(hosts),
    }
}

fn cluster(chance: &mut Chance, world: &World) -> String {
    let names = world.names(CLUSTER);
    match names.is_empty() || chance.percent(20) {
        true => "absent".to_owned(),
        false => chance.of(&names),
    }
}

/// Makes one member of what is expected of an RPC.
fn of_rpc(chance: &mut Chance, world: &World, hosts: &[String]) -> (&'static str, Value) {
    match chance.below(12) {
        0 => ("status", json!(chance.one(&["OK", "UNAVAILABLE", "NOT_A_CODE"]))),
        1 => ("message", json!(chance.one(&["a", "no", "\u{202e}"]))),
        2 | 3 => ("fails", json!(chance.percent(50))),
        4 => ("address", json!([host(chance, hosts)])),
        5 => ("cluster", json!(cluster(chance, world))),
        6 => ("locality", json!(chance.one(&["r/z", "//", ""]))),
        7 => ("route", json!(chance.one(&["0", "name"]))),
        8 => ("attempts", json!(chance.one(&RANGES))),
        9 => ("within", json!(chance.of(&[0.0, 0.5, 1e9, -1.0]))),
        10 => {
            let host = host(chance, hosts);
            ("cookie", json!(chance.one(&["none", "set", host.as_str()])))
        }
        _ => ("moves", json!(chance.percent(50))),
    }
}

/// Makes one member of what is expected of a step or of the channel.
fn of_step(chance: &mut Chance, world: &World, hosts: &[String]) -> (&'static str, Value) {
    match chance.below(7) {
        0 => {
            let (host, cluster) = (host(chance, hosts), cluster(chance, world));
            let label = chance.one(&[host.as_str(), cluster.as_str(), "UNAVAILABLE"]);
            ("shares", json!({label: chance.one(&SHARES)}))
        }
        1 => ("backends", json!(chance.one(&RANGES))),
        2 => ("count", json!(chance.one(&RANGES))),
        3 => (
            "nack",
            json!(chance.one(&["none", "cds-lb-policy-unsupported", "cds-lb"])),
        ),
        4 => {
            let host = host(chance, hosts);
            let place = chance.one(&["channel", host.as_str()]);
            ("states", json!({place: chance.one(&["READY", "IDLE", "none", "DEAD"])}))
        }
        5 => (
            "tree",
            json!(chance.one(&["round_robin", "ring_hash", "priority", "rond_robin"])),
        ),
        _ => ("tree_lacks", json!(["rls", "pick_first"])),
    }
}

fn expectation(chance: &mut Chance, world: &World, hosts: &[String], of_all: bool) -> Value {
    let mut expect = json!({});
    for _ in 0..chance.between(1, 3) {
        let (name, value) = match of_all && chance.percent(40) {
            true => of_step(chance, world, hosts),
            false => of_rpc(chance, world, hosts),
        };
        expect[name] = if chance.percent(4) { nonsense(chance) } else { value };
    }
    expect
}

/// Makes a step of a kind that [`steps::random`] does not make.
fn step(chance: &mut Chance, world: &World, hosts: &[String]) -> Value {
    let host = host(chance, hosts);
    match chance.below(10) {
        0 => json!({"drop": host}),
        1 => json!({"drain": host}),
        2 => json!({"health": {host: chance.one(&["HEALTHY", "UNHEALTHY", "DRAINING", "UNKNOWN"])}}),
        3 => json!({"weight": {host: chance.of(&[0, 1, 7, u32::MAX])}}),
        4 => json!({"scale": {cluster(chance, world): chance.of(&[0, 1, 3, 40])}}),
        5 => json!({"remove": host}),
        6 => json!({"at": chance.of(&[0.0, 0.5, 30.0])}),
        7 => json!({"backend": {host: {
            "reach": chance.one(&["accept", "refuse", "silent"]),
            "latency": chance.of(&[0.0, 0.5, 100.0]),
            "status": "INTERNAL",
            "share": chance.one(&SHARES),
        }}}),
        8 => {
            json!({"pick": {"method": "/a.B/C", "jar": "j", "session": host, "rate": chance.of(&[0.1, 5.0, 1000.0]), "count": 20}})
        }
        _ => json!({"expect": {"states": {"channel": chance.one(&["READY", "IDLE", "TRANSIENT_FAILURE"])}}}),
    }
}

/// Replaces the value at a random place of a document, or adds a member there.
fn spoil(chance: &mut Chance, value: &mut Value) {
    let mut at = value;
    for _ in 0..chance.between(1, 4) {
        // Goes down one level, if there is one.
        let count = at.as_object().map_or(0, serde_json::Map::len) + at.as_array().map_or(0, Vec::len);
        if count == 0 {
            break;
        }
        let number = chance.below(count);
        at = match at {
            Value::Object(map) => map.values_mut().nth(number).expect("it is below their count"),
            Value::Array(list) => &mut list[number],
            _ => unreachable!("only those have members"),
        };
    }
    match at.as_object_mut().filter(|_| chance.percent(40)) {
        Some(map) => drop(
            map.insert(
                chance
                    .one(&["stesp", "expect", "tolerance", "client", "pick"])
                    .to_owned(),
                json!(1),
            ),
        ),
        None => *at = nonsense(chance),
    }
}

fn document(chance: &mut Chance, world: &World) -> Value {
    let hosts = hosts(world);
    let mut steps = steps::random(chance, world);
    for _ in 0..chance.below(5) {
        let at = chance.below(steps.len() + 1);
        steps.insert(at, step(chance, world, &hosts));
    }
    for step in &mut steps {
        let is_of_rpcs = step.get("pick").is_some() || step.get("finish").is_some();
        if is_of_rpcs && chance.percent(50) {
            step["expect"] = expectation(chance, world, &hosts, true);
        }
    }
    let mut test = json!({"target": format!("xds:///{}", world.target), "seed": chance.below(1000), "steps": steps});
    if let Some(authority) = &world.authority {
        test["authority"] = json!(authority);
    }
    if chance.percent(30) {
        test["never"] = expectation(chance, world, &hosts, false);
    }
    if chance.percent(25) {
        test["clients"] = json!({"a": null, "b": {"seed": 7}});
    }
    if chance.percent(25) {
        test["backends"] = json!({"default": {"connect": 0.1, "latency": 0.02}});
    }
    // A file that the suite names would be read, so the resources are inline.
    let inline = world.resources.iter().filter(|resource| name_of(resource).is_some());
    let resources: Vec<&Value> = inline.collect();
    let mut suite = if chance.percent(20) {
        let other = json!({"name": "other", "steps": [{"pick": {}}]});
        test["name"] = json!("one\u{1b}");
        json!({"tests": [test, other]})
    } else {
        test
    };
    if chance.percent(35) {
        spoil(chance, &mut suite);
    }
    suite["world"] = json!(resources);
    suite["env"] = json!(world.env);
    suite
}

/// Runs a random suite in a random world, with `test` and `simulate` in one of their forms.
pub fn suite(data: &[u8]) {
    let mut chance = Chance::from_bytes(data);
    let world = if chance.percent(50) {
        world_of(&mut chance)
    } else {
        recorded_world_of(&mut chance)
    };
    let suite = document(&mut chance, &world);
    // Lines of JSON are YAML, too.
    let text = if chance.percent(50) {
        suite.to_string()
    } else {
        format!("# YAML\n{suite:#}\n")
    };
    let mut args: Vec<&str> = if chance.percent(50) {
        vec![
            "test",
            chance.one(&["--format=human", "--format=json", "--format=junit", "--format=github"]),
        ]
    } else {
        vec![
            "simulate",
            chance.one(&["--format=human", "--format=jsonl", "--format=svg"]),
        ]
    };
    args.extend([MAX_EVENTS, "-"]);
    for (percent, of, arg) in [
        (30, "test", "--explain"),
        (30, "test", "--coverage"),
        (30, "simulate", "--chart"),
        (20, "simulate", "--until=5"),
        (20, "simulate", "--run=one"),
        (20, "", "--show-secrets"),
        (10, "", "--color=always"),
    ] {
        if chance.percent(percent) && (of.is_empty() || args[0] == of) {
            args.push(arg);
        }
    }
    let first = run(&args, text.as_bytes());
    if args.contains(&"--format=jsonl") {
        for line in String::from_utf8_lossy(&first).lines() {
            assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
        }
    }
    if text.len().is_multiple_of(8) {
        assert_eq!(
            run(&args, text.as_bytes()),
            first,
            "{args:?} says something else the second time"
        );
    }
}

/// The most clients of a test for which a fuzzer can wait.
const MOST_CLIENTS: usize = 20;

/// Says whether a suite names no file and asks for no more than a fuzzer can wait for.
pub fn is_harmless(text: &[u8]) -> bool {
    let mut sources = SourceMap::new();
    let id = sources.add("-", text.to_vec());
    let read = sources.get(id).and_then(|source| Suite::read(source).ok());
    read.is_none_or(|suite| {
        suite.tests.iter().all(|test| {
            let mut steps = test.steps.iter().filter_map(|planned| planned.step.as_ref());
            test.bootstrap.is_none()
                && test.clients.len() <= MOST_CLIENTS
                && test.world.iter().all(|part| matches!(part, InitialConfig::Inline(..)))
                && !steps.any(steps::is_long)
        })
    })
}

/// Reads any text as a suite, and checks that the result is tests, or faults at places that exist.
pub fn suite_text(data: &[u8]) {
    let (name, text) = match data.split_first() {
        Some((b'{', _)) | None => ("suite.json", data),
        Some((_, text)) => ("suite.yaml", text),
    };
    let mut sources = SourceMap::new();
    let id = sources.add(name, text.to_vec());
    let Some(source) = sources.get(id) else { return };
    // UTF-16 is converted to UTF-8, and spans are those of the converted text.
    let len = source.bytes().len();
    let in_document = |span: xdsctl_document::source::Span| span.start <= span.end && span.end <= len;
    match Suite::read(source) {
        Ok(suite) => {
            assert!(!suite.tests.is_empty());
            for test in &suite.tests {
                assert!(in_document(test.span) && !test.clients.is_empty() && !test.steps.is_empty());
                for step in &test.steps {
                    assert!(in_document(step.span) && test.clients_of(step).end <= test.clients.len());
                    assert!(step.expect.iter().all(|check| in_document(check.span)));
                }
            }
        }
        Err(faults) => {
            assert!(!faults.is_empty());
            for fault in faults {
                assert!(in_document(fault.span) && !fault.message.is_empty(), "{fault:?}");
            }
        }
    }
    for marks in source.marks_of_all(SecretPlace::SUITE) {
        for span in marks.hidden {
            assert!(in_document(span), "{span:?}");
        }
    }
}
