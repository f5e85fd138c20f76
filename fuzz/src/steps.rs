//! Makes random steps of a script that can be played in a world: their form is right, but their
//! content may be anything.

use serde_json::{Value, json};
use xdsctl_channel::sim::script::Step;

use crate::chance::Chance;
use crate::generate;
use crate::make::{CLUSTER, ENDPOINTS, LISTENER, ROUTES, World, name_of};
use crate::mutate::mutate;
use crate::play::hosts;

/// The most RPCs of one step.
pub const MOST: u64 = 50;

/// Says whether a step sends more RPCs than a fuzzer can wait for.
pub fn is_long(step: &Step) -> bool {
    step.sending().is_some_and(|sending| sending.count > MOST)
        || matches!(step, Step::Scale(scales) if scales.iter().any(|scale| scale.count > 1000))
}

/// Times in seconds, from 0 to more than any back-off, timeout or ejection.
const TIMES: [f64; 10] = [0.0, 0.001, 0.02, 0.3, 1.0, 5.0, 16.0, 130.0, 4000.0, 1e9];

/// Headers that tell backends how to answer, or that policies read.
const HEADERS: [(&str, &str); 10] = [
    ("x-fail", "UNAVAILABLE:1"),
    ("x-fail", "INTERNAL:9"),
    ("x-fail-late", "UNAVAILABLE:1"),
    ("x-hold", "0.5"),
    ("x-hold", "1e9"),
    ("x-pushback", "100"),
    ("x-pushback", "-1"),
    ("x-pushback", "9223372036854775807"),
    ("x-user", "\u{1b}[31m"),
    ("cookie", "sid=MTI3LjAuMS4xOjEwMDAwO2Mw; cart=!"),
];

fn request(chance: &mut Chance, world: &World, hosts: &[String]) -> Value {
    let mut request = generate::pick(chance, world, hosts)["pick"].take();
    for _ in 0..chance.of(&[0, 0, 0, 1, 2]) {
        let (name, value) = chance.of(&HEADERS);
        if let Some(headers) = request["headers"].as_array_mut() {
            headers.push(json!([name, value]));
        }
    }
    if chance.percent(30) {
        request["timeout"] = json!(chance.of(&TIMES));
    }
    if chance.percent(25) {
        request["count"] = json!(chance.of(&[0u64, 2, 5, 20]));
    }
    request
}

fn report(chance: &mut Chance) -> Value {
    let number = |chance: &mut Chance| json!(chance.of(&[0.0, 0.5, 1.0, 100.0, -1.0, 1e308, 5e-324]));
    json!({
        "cpu_utilization": number(chance),
        "application_utilization": number(chance),
        "rps_fractional": number(chance),
        "eps": number(chance),
        "named_metrics": {"a": number(chance)},
        "utilization": {"b": number(chance)},
    })
}

/// Returns some of a world's resources, unchanged or with faults.
fn update(chance: &mut Chance, world: &World) -> Value {
    let mut next = world.clone();
    for _ in 0..chance.below(3) {
        mutate(chance, &mut next);
    }
    let first = chance.below(next.resources.len());
    let count = chance.between(1, 3);
    json!(next.resources.iter().skip(first).take(count).collect::<Vec<_>>())
}

fn remove(chance: &mut Chance, world: &World) -> Value {
    if chance.percent(10) || world.resources.is_empty() {
        return json!([[chance.one(&[LISTENER, ROUTES, CLUSTER, ENDPOINTS]), "absent"]]);
    }
    let resource = chance.of(&world.resources);
    json!([[resource["@type"], name_of(&resource).unwrap_or_default()]])
}

/// Makes up to 14 steps, in which each `begin` is finished.
pub fn random(chance: &mut Chance, world: &World) -> Vec<Value> {
    let hosts = hosts(world);
    let host = |chance: &mut Chance| match hosts.is_empty() || chance.percent(5) {
        true => "[::1]:0".to_owned(),
        false => chance.of(&hosts),
    };
    let mut steps = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for number in 0..chance.between(1, 10) {
        let step = match chance.below(20) {
            0..7 => json!({"pick": request(chance, world, &hosts)}),
            7..9 => {
                let mut request = request(chance, world, &hosts);
                let name = format!("b{number}");
                request["name"] = json!(name);
                if chance.percent(50) {
                    request["settle"] = json!(chance.of(&TIMES[..6]));
                }
                open.push(name);
                json!({"begin": request})
            }
            9 => match open.pop() {
                Some(name) => json!({"finish": name}),
                None => json!({"sleep": 0}),
            },
            10..12 => json!({"sleep": chance.of(&TIMES)}),
            12 => json!({"stop": host(chance)}),
            13 => json!({"start": host(chance)}),
            14 => json!({"silence": host(chance)}),
            15 => json!({"speak": host(chance)}),
            16 => json!({"orca": {host(chance): report(chance)}}),
            17 | 18 => json!({"update": update(chance, world)}),
            _ => json!({"remove": remove(chance, world)}),
        };
        steps.push(step);
    }
    steps.extend(open.into_iter().map(|name| json!({"finish": name})));
    steps
}
