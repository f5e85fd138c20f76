//! Checks that the LB policies of grpc-java are those of its logs.
//!
//! Each line of the fixture is what a real channel logged for a world of `common.jsonl.gz`: the
//! service config, the priorities, for each priority the policy below it and whether it ignores
//! requests to resolve again, and the policy below the limits.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::others::{answers, is_followed};
use super::world::{Row, channel};
use xdsctl_channel::tree::{build, java, service_config};

/// The fewest worlds that must be compared: for the others it is not known what the client keeps.
const FOLLOWED: usize = 37;

/// Returns the name and the config in a list of one policy.
fn only(list: &Value) -> (&str, &Value) {
    let (name, config) = list[0].as_object().unwrap().iter().next().unwrap();
    (name, config)
}

/// Returns what differs from the log of one world.
fn differences(row: &Row, logged: &Value) -> Vec<String> {
    let channel = channel(row);
    let id = &row.id;
    let config = match &channel.config {
        Ok(config) => config,
        Err(error) => return vec![format!("{id}: {error:?}")],
    };
    let generated = service_config::generate(config).unwrap();
    let mut wrong = Vec::new();
    let mut check = |what: &str, ours: Value, theirs: &Value| {
        if ours != *theirs {
            wrong.push(format!("{id}: {what}: client {theirs}, xdsctl {ours}"));
        }
    };
    check(
        "service config",
        java::service_config(&generated),
        &logged["service_config"],
    );
    let trees = build::generate(config, &generated, &channel.client.profile).children;
    let failovers: BTreeMap<&str, &Value> = trees.iter().map(|(cluster, tree)| (&**cluster, only(tree).1)).collect();
    for list in logged["priorities"].as_array().unwrap() {
        let found = failovers.values().any(|failover| failover["priorities"] == *list);
        check("priorities", json!(found), &json!(true));
    }
    let children: BTreeMap<&String, &Value> = failovers
        .values()
        .flat_map(|failover| failover["children"].as_object().unwrap())
        .collect();
    for (name, of_client) in logged["children"].as_object().unwrap() {
        let ours = children.get(name).map(|child| {
            let ignores = child["ignoreReresolution"].as_bool().unwrap_or_default();
            json!([only(&child["config"]).0, ignores])
        });
        check(name, ours.unwrap_or_default(), of_client);
    }
    for (cluster, below) in logged["limits"].as_object().unwrap() {
        let limits = failovers.get(&**cluster).and_then(|failover| {
            let child = failover["children"].as_object()?.values().next()?;
            let (name, inner) = only(&child["config"]);
            let limits = match name {
                "outlier_detection_experimental" => only(&inner["childPolicy"]).1,
                _ => inner,
            };
            Some(json!(only(&limits["childPolicy"]).0))
        });
        check(cluster, limits.unwrap_or_default(), below);
    }
    wrong
}

#[test]
fn trees_are_those_of_java() {
    let mut logged: BTreeMap<String, Value> = answers("live/java@1.85.1-trees")
        .into_iter()
        .map(|tree| (tree["id"].as_str().unwrap().to_owned(), tree))
        .collect();
    let (mut compared, mut wrong) = (0, Vec::new());
    for mut question in answers("live/common") {
        let Some(tree) = logged.remove(question["id"].as_str().unwrap()) else {
            continue;
        };
        question["client"] = "java".into();
        question["answer"] = json!({});
        let row: Row = serde_json::from_value(question).unwrap();
        if is_followed(&row) {
            compared += 1;
            wrong.extend(differences(&row, &tree));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= FOLLOWED, "{compared} of them are followed");
}
