//! Makes random RBAC policies, many of which no client accepts.

use serde_json::{Value, json};

use crate::chance::Chance;

/// Texts that somebody may write in place of a name.
pub const TEXTS: &[&str] = &[
    "",
    "/",
    "/a.S/M",
    "a",
    "\u{1b}[31m",
    "\n",
    "\u{202e}",
    "ä",
    ":path",
    "te",
    "spiffe://a",
    "10.0.0.0",
];
const PATTERNS: &[&str] = &[
    "(a*)*b",
    "((((a?){9}){9}){9})b",
    ".*.*.*.*x",
    "[",
    "\\C",
    "(?i)ä",
    "a{1000}",
    "(|a)+",
];

fn matcher(chance: &mut Chance) -> Value {
    let kind = chance.one(&["exact", "prefix", "suffix", "contains", "safe_regex"]);
    let ignores = chance.percent(20);
    match kind {
        "safe_regex" => json!({"safe_regex": {"regex": chance.one(PATTERNS)}}),
        kind => json!({kind: chance.one(TEXTS), "ignore_case": ignores}),
    }
}

fn condition(chance: &mut Chance, is_permission: bool, depth: usize) -> Value {
    let (all, any, not) = match is_permission {
        true => ("and_rules", "or_rules", "not_rule"),
        false => ("and_ids", "or_ids", "not_id"),
    };
    let inner = if is_permission { "rules" } else { "ids" };
    let numbers = [0, 1, 8443, 65_536, u64::from(u32::MAX)];
    let range = json!({"address_prefix": chance.one(TEXTS), "prefix_len": numbers[chance.below(5)]});
    match chance.below(if depth == 0 { 7 } else { 10 }) {
        0 => json!({"any": chance.percent(80)}),
        1 => {
            json!({"header": {"name": chance.one(TEXTS), "string_match": matcher(chance), "invert_match": chance.percent(50)}})
        }
        2 => json!({"header": {"name": chance.one(TEXTS), "range_match": {"start": i64::MIN, "end": i64::MAX}}}),
        3 => json!({"url_path": {"path": matcher(chance)}}),
        4 if is_permission => json!({"destination_port": numbers[chance.below(5)]}),
        4 => json!({"authenticated": {"principal_name": matcher(chance)}}),
        5 if is_permission => json!({"destination_ip": range}),
        5 => json!({"direct_remote_ip": range}),
        6 => json!({"metadata": {"invert": chance.percent(50)}}),
        7 => json!({not: condition(chance, is_permission, depth - 1)}),
        kind => {
            let list: Vec<Value> = (0..chance.below(4))
                .map(|_| condition(chance, is_permission, depth - 1))
                .collect();
            json!({if kind == 8 { all } else { any }: {inner: list}})
        }
    }
}

fn list(chance: &mut Chance, is_permission: bool) -> Vec<Value> {
    (0..chance.below(4))
        .map(|_| condition(chance, is_permission, 4))
        .collect()
}

/// Makes policies with names and conditions of all kinds.
pub fn policies(chance: &mut Chance) -> Value {
    let made = (0..chance.below(5)).map(|_| {
        let name = chance.one(TEXTS).to_owned();
        (
            name,
            json!({"permissions": list(chance, true), "principals": list(chance, false)}),
        )
    });
    Value::Object(made.collect())
}
