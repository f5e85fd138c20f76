//! The layers by which a client's answer is compared with another client's.
//!
//! Each client has its own words for messages, and two clients that draw different random numbers
//! disagree by chance only. So the comparison is about where RPCs go and with which code they end,
//! not about the words. For RPCs that are picked at random, it is about the shares.

use std::collections::BTreeMap;

use serde_json::Value;

use super::pick::around_picks;

/// The question that the clients are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// `xdsctl route`.
    Route,
    /// `xdsctl pick` for one RPC, or for several of the same kind.
    Pick,
    /// `xdsctl pick --requests`.
    Steps,
    /// `xdsctl pick --address`.
    Place,
    /// `xdsctl retry`.
    Retry,
    /// `xdsctl tree`.
    Tree,
    /// `xdsctl admit`.
    Admit,
}

/// One layer of an answer: its name, and what a client does there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Name of the layer, as in the answer of one client.
    pub name: String,
    /// What the client does in this layer.
    pub what: String,
}

impl Layer {
    fn new(name: impl Into<String>, what: impl Into<String>) -> Layer {
        Layer {
            name: name.into(),
            what: what.into(),
        }
    }
}

/// How many levels of an answer are compared member by member; anything deeper is compared as a
/// whole.
const DEEPEST: usize = 12;

/// Returns the layers by which an answer is compared. `shares` is the answer about several RPCs of
/// the same kind.
pub fn of(question: Question, json: &Value, shares: Option<&Value>) -> Vec<Layer> {
    match question {
        Question::Route => route(json, "matcher"),
        Question::Pick => pick(json, shares),
        Question::Steps => steps(json),
        Question::Place | Question::Retry | Question::Tree | Question::Admit => {
            let mut layers = Vec::new();
            members("", json, 0, &mut layers);
            layers
        }
    }
}

/// Returns the way of an RPC through the layers, in the client's own words. It shows why two
/// answers differ.
pub fn way(question: Question, json: &Value) -> Vec<Layer> {
    match question {
        Question::Pick => {
            let pick = &json["picks"][0];
            let steps = trace(pick);
            let has_none = steps.first().is_none_or(|layer| layer.name == PICK);
            configuration(has_none.then(|| text(&pick["details"])), steps)
        }
        Question::Route => {
            let has_none = json["virtual_host"].is_null() && json["route"].is_null() && !json["error"].is_null();
            configuration(has_none.then(|| text(&json["error"]["message"])), route(json, "why"))
        }
        Question::Steps | Question::Place | Question::Retry | Question::Tree | Question::Admit => Vec::new(),
    }
}

/// Puts a layer first that says whether the channel has a configuration. Without one, `fault` says
/// why, and there are no other layers.
fn configuration(fault: Option<String>, rest: Vec<Layer>) -> Vec<Layer> {
    let is_there = fault.is_none();
    let first = Layer::new(
        "configuration",
        fault.unwrap_or_else(|| "the client takes it".to_owned()),
    );
    std::iter::once(first)
        .chain(rest.into_iter().filter(|_| is_there))
        .collect()
}

/// Name of the layer at which a pick begins.
const PICK: &str = "pick";

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        value => value.to_string(),
    }
}

/// Returns the layers of a route. `member` is the member of the JSON that says why a route does not
/// take the RPC.
fn route(json: &Value, member: &str) -> Vec<Layer> {
    let mut layers = Vec::new();
    let host = &json["virtual_host"];
    let domain = || format!("virtual_hosts[{}], domain `{}`", host["index"], text(&host["domain"]));
    layers.push(Layer::new(
        "virtual host",
        if host.is_null() { "none".to_owned() } else { domain() },
    ));
    for tried in json["tried"].as_array().into_iter().flatten() {
        layers.push(Layer::new(
            format!("routes[{}]", tried["index"]),
            format!("does not take it: {}", text(&tried[member])),
        ));
    }
    let chosen = &json["route"];
    if chosen.is_null() {
        layers.push(Layer::new("route", "none takes it"));
    } else {
        layers.push(Layer::new(format!("routes[{}]", chosen["index"]), "takes it"));
        layers.push(Layer::new("cluster", text(&chosen["key"])));
        if chosen["hash_is_random"] == false {
            layers.push(Layer::new("hash", text(&chosen["hash"])));
        }
        for (name, member) in [
            ("timeout", "timeout_ms"),
            ("retries", "retry"),
            ("filters", "filters"),
            ("delay", "delay_ms"),
        ] {
            layers.push(Layer::new(name, text(&chosen[member])));
        }
        for session in chosen["sessions"].as_array().into_iter().flatten() {
            layers.push(Layer::new("session", text(session)));
        }
    }
    layers.push(Layer::new("status", code(&json["error"])));
    layers
}

fn code(error: &Value) -> String {
    match error {
        Value::Null => "OK".to_owned(),
        error => text(&error["code"]),
    }
}

fn pick(json: &Value, shares: Option<&Value>) -> Vec<Layer> {
    let first = &json["picks"][0];
    let mut layers = vec![Layer::new(
        "result",
        format!("{} {}", text(&first["result"]), text(&first["code"])),
    )];
    let by_hash = trace(first)
        .iter()
        .any(|layer| layer.name == "request hash" && !layer.what.contains("random"));
    let by_cookie = trace(first)
        .iter()
        .any(|layer| layer.name == "stateful session" && layer.what.contains("asks for"));
    let list = shares.and_then(|shares| shares["shares"].as_array());
    let expected = list.into_iter().flatten().filter_map(|share| {
        let part = share["expected"].as_f64()?;
        Some((kind(&text(&share["label"])), part))
    });
    let mut by_kind: BTreeMap<String, f64> = BTreeMap::new();
    for (kind, part) in expected.filter(|(_, part)| *part > 0.0) {
        *by_kind.entry(kind).or_default() += part;
    }
    if by_kind.is_empty() || by_hash || by_cookie {
        layers.push(Layer::new("backend", text(&first["backend"])));
    } else {
        let parts = by_kind
            .iter()
            .map(|(kind, part)| format!("{kind} {:.2} %", part * 100.0));
        layers.push(Layer::new("shares", parts.collect::<Vec<_>>().join(", ")));
    }
    layers
}

/// Returns the code of a failure, without the client's own words; other labels stay.
fn kind(label: &str) -> String {
    match label.split_once(": ") {
        Some((code, _)) => code.to_owned(),
        None => label.to_owned(),
    }
}

fn steps(json: &Value) -> Vec<Layer> {
    let picks = json["picks"].as_array().into_iter().flatten();
    let layer = |(number, pick): (usize, &Value)| {
        let what = ["result", "code", "backend"].map(|member| text(&pick[member]));
        Layer::new(format!("RPC {}", number + 1), what.join(" "))
    };
    picks.enumerate().map(layer).collect()
}

/// Returns the steps of an RPC before its picks, and those of the last pick.
fn trace(pick: &Value) -> Vec<Layer> {
    let steps: Vec<Layer> = pick["trace"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|step| Layer::new(text(&step["layer"]), text(&step["what"])))
        .collect();
    let (before, after) = around_picks(&steps, |layer| layer.name == PICK);
    before.iter().chain(after).cloned().collect()
}

/// Adds each member of a JSON value as a layer.
fn members(path: &str, value: &Value, depth: usize, layers: &mut Vec<Layer>) {
    match value {
        Value::Object(map) if depth < DEEPEST => {
            // Messages are in each client's own words.
            for (name, value) in map.iter().filter(|(name, _)| *name != "message") {
                let dot = if path.is_empty() { "" } else { "." };
                members(&format!("{path}{dot}{name}"), value, depth + 1, layers);
            }
        }
        Value::Array(list) if depth < DEEPEST => {
            for (number, value) in list.iter().enumerate() {
                members(&format!("{path}[{number}]"), value, depth + 1, layers);
            }
        }
        value => layers.push(Layer::new(path, text(value))),
    }
}

/// Returns the first layer at which two ways differ: its name, and what each client does there.
pub fn parting(one: &[Layer], other: &[Layer]) -> Option<(String, [String; 2])> {
    let at = one.iter().zip(other).position(|(one, other)| one != other);
    let at = at.unwrap_or(one.len().min(other.len()));
    let what = |layer: Option<&Layer>| layer.map_or("none".to_owned(), |layer| layer.what.clone());
    let (a, b) = (one.get(at), other.get(at));
    let name = match (a, b) {
        (Some(a), Some(b)) if a.name != b.name => format!("{} and {}", a.name, b.name),
        (Some(layer), _) | (_, Some(layer)) => layer.name.clone(),
        (None, None) => return None,
    };
    Some((name, [what(a), what(b)]))
}

/// Returns the first layer at which the ways of two clients differ. After the pick, each client has
/// LB policies of its own, with its own names. A policy that only one of them has makes no
/// difference there, nor do the names of children.
pub fn parting_of_ways(one: &[Layer], other: &[Layer]) -> Option<(String, [String; 2])> {
    let split = |way: &[Layer]| way.iter().position(|layer| layer.name == PICK).unwrap_or(way.len());
    let (above, below) = one.split_at(split(one));
    let (above_other, below_other) = other.split_at(split(other));
    if above != above_other {
        return parting(above, above_other);
    }
    let mut rest = below_other.iter().filter(|layer| layer.name != PICK);
    for layer in below.iter().filter(|layer| layer.name != PICK) {
        let mut ahead = rest.clone();
        let Some(same) = ahead.find(|other| other.name == layer.name) else {
            continue;
        };
        rest = ahead;
        if unquoted(&layer.what) != unquoted(&same.what) {
            return Some((layer.name.clone(), [layer.what.clone(), same.what.clone()]));
        }
    }
    None
}

/// Returns a text without its quoted parts.
fn unquoted(text: &str) -> String {
    text.split('"').step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn chance_is_no_difference_and_shares_are() {
        let one = |backend: &str| json!({"picks": [{"result": "complete", "code": "OK", "backend": backend}]});
        let shares =
            |a: f64| json!({"shares": [{"label": "a:1", "expected": a}, {"label": "b:1", "expected": 1.0 - a}]});
        let half = of(Question::Pick, &one("a:1"), Some(&shares(0.5)));
        assert_eq!(half, of(Question::Pick, &one("b:1"), Some(&shares(0.5))));
        let third = of(Question::Pick, &one("a:1"), Some(&shares(0.25)));
        let (name, what) = parting(&half, &third).unwrap();
        assert_eq!(name, "shares");
        assert_eq!(what, ["a:1 50.00 %, b:1 50.00 %", "a:1 25.00 %, b:1 75.00 %"]);
        assert_eq!(parting(&half, &half), None);
    }

    #[test]
    fn a_hash_that_is_not_random_counts() {
        let one = |backend: &str| {
            json!({"picks": [{"result": "complete", "code": "OK", "backend": backend,
                "trace": [{"layer": "request hash", "what": "0x01 of header `user`"}]}]})
        };
        let shares = json!({"shares": [{"label": "a:1", "expected": 0.5}, {"label": "b:1", "expected": 0.5}]});
        let of = |backend| of(Question::Pick, &one(backend), Some(&shares));
        assert_eq!(parting(&of("a:1"), &of("b:1")).unwrap().0, "backend");
    }

    #[test]
    fn ways_part_where_both_have_a_layer_and_differ_in_more_than_names() {
        let way = |layers: &[(&str, &str)]| -> Vec<Layer> {
            layers.iter().map(|(name, what)| Layer::new(*name, *what)).collect()
        };
        let core = way(&[
            ("route", "routes[0]"),
            ("pick", "after 1 ms"),
            ("outlier_detection", "is off"),
            ("priority", "priority 0, \"a\", is READY"),
            ("ring_hash", "entry 1 is a:1"),
        ]);
        let java = |entry: &str| {
            let ring = ("ring_hash", entry);
            way(&[
                ("route", "routes[0]"),
                ("pick", "after 2 ms"),
                ("priority", "priority 0, \"b\", is READY"),
                ring,
            ])
        };
        assert_eq!(parting_of_ways(&core, &java("entry 1 is a:1")), None);
        let (name, what) = parting_of_ways(&core, &java("entry 7 is b:1")).unwrap();
        assert_eq!((name.as_str(), what[1].as_str()), ("ring_hash", "entry 7 is b:1"));
    }

    #[test]
    fn words_of_failures_are_each_clients_own() {
        let one = json!({"picks": [{"result": "fail", "code": "UNAVAILABLE", "backend": null}]});
        let shares = |words: &str| json!({"shares": [{"label": format!("UNAVAILABLE: {words}"), "expected": 1.0}]});
        let of = |words| of(Question::Pick, &one, Some(&shares(words)));
        assert_eq!(of("no such cluster"), of("cluster not found"));
    }

    #[test]
    fn routes_part_where_the_first_takes_the_rpc() {
        let tried = json!({"virtual_host": {"index": 0, "domain": "*"}, "tried": [{"index": 0, "matcher": "path"}],
            "route": {"index": 1, "key": "cluster:b", "hash_is_random": true}, "error": null});
        let taken = json!({"virtual_host": {"index": 0, "domain": "*"}, "tried": [],
            "route": {"index": 0, "key": "cluster:a", "hash_is_random": true}, "error": null});
        let parting = parting(&route(&tried, "matcher"), &route(&taken, "matcher")).unwrap();
        assert_eq!(parting.0, "routes[0]");
        assert_eq!(parting.1, ["does not take it: path", "takes it"]);
    }
}
