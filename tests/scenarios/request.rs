//! Compares route, cluster and cookie: the part of a pick that is decided before the LB policies.

use serde_json::Value;
use xdsctl_channel::client::config::{ClusterState, XdsConfig};
use xdsctl_channel::rpc::{ChannelFacts, Purpose, Refusal, Request, Selection, Selector};
use xdsctl_model::resource::Millis;

use super::world::{ChannelError, Row, channel, rows};

/// Returns the headers of a pick step.
fn headers(pick: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let list = pick["headers"].as_array();
    list.into_iter()
        .flatten()
        .map(|pair| (text(&pair[0]), text(&pair[1])))
        .collect()
}

/// Returns all addresses of the endpoint with this address, beginning with this one.
fn address_list(config: &XdsConfig, cluster: &str, address: &str) -> Option<String> {
    let leaves: Vec<&str> = match config.clusters.get(cluster)? {
        ClusterState::Leaf(_) => vec![cluster],
        ClusterState::Aggregate(aggregate) => aggregate.leaves.iter().map(String::as_str).collect(),
        ClusterState::Error(_) => Vec::new(),
    };
    leaves
        .into_iter()
        .filter_map(|leaf| config.leaf(leaf)?.endpoints.as_ref())
        .flat_map(|endpoints| endpoints.priorities.iter().flatten())
        .flat_map(|locality| &locality.endpoints)
        .find_map(|endpoint| {
            let all: Vec<String> = endpoint.addresses().map(|a| a.to_string()).collect();
            all.iter().any(|a| a == address).then(|| {
                let others = all.iter().filter(|a| *a != address).map(String::as_str);
                std::iter::once(address).chain(others).collect::<Vec<_>>().join(",")
            })
        })
}

/// Checks the answer of one RPC against what was selected.
fn check(config: &XdsConfig, selection: &Selection<'_>, answer: &Value) -> Result<(), String> {
    let cluster = selection.cluster().unwrap_or_default();
    if let Some(abort) = &selection.fault.abort {
        return (answer["code"] == abort.code.name())
            .then_some(())
            .ok_or_else(|| format!("aborted with {abort}"));
    }
    if let Some(ClusterState::Error(failure)) = config.clusters.get(cluster) {
        let words = failure.message.split("rejected, ").next().unwrap_or_default();
        let details = answer["details"].as_str().unwrap_or_default();
        let agrees = answer["code"] == "DEADLINE_EXCEEDED" || details.starts_with(words);
        return agrees
            .then_some(())
            .ok_or_else(|| format!("cluster {cluster}: {}", failure.message));
    }
    if let Some(leaf) = config.leaf(cluster)
        && let Some(details) = answer["details"].as_str()
        && let Some((_, note)) = details.split_once(" (")
        && !note.contains("invalid resource")
        && note.trim_end_matches(')') != leaf.note.trim_end_matches(')')
    {
        return Err(format!("note {}", leaf.note));
    }
    let Some(backend) = answer["backend"].as_str() else {
        return Ok(());
    };
    let list =
        address_list(config, cluster, backend).ok_or_else(|| format!("{backend} is not in cluster {cluster}"))?;
    // The last filter learns the endpoint, and the filters before it do not.
    let lists = std::iter::once(list.as_str()).chain(std::iter::repeat(""));
    let sessions = selection.sessions.iter().rev().zip(lists);
    let cookies: Vec<String> = sessions
        .filter_map(|(session, list)| session.set_cookie(list))
        .collect();
    if answer["set_cookie"] != serde_json::json!(cookies) {
        return Err(format!("set-cookie {cookies:?}"));
    }
    Ok(())
}

/// Checks one pick step; `None` if the route is random.
fn pick(selector: &Selector, pick: &Value, answers: &Value) -> Option<Vec<String>> {
    let headers = headers(pick);
    let request = Request {
        path: pick["method"].as_str().unwrap_or("/pkg.Service/Method"),
        headers: &headers,
        timeout: pick["timeout"].as_f64().map(|s| Millis((s * 1000.0) as i64)),
    };
    let mut depends = false;
    // This draws a half: shares of nothing and of everything are certain.
    let mut draw = |purpose: Purpose, bound: u64| {
        depends |= purpose == Purpose::ClusterWeight;
        bound / 2
    };
    let mut tried = Vec::new();
    let selected = selector.select(&request, ChannelFacts::default(), &mut draw, Some(&mut tried));
    let fractions = selector.routes().iter().filter_map(|route| route.fraction_per_million);
    depends |= fractions.into_iter().any(|below| below > 0 && below < 1_000_000);
    if depends {
        return None;
    }
    let answers = answers.as_array()?;
    Some(
        answers
            .iter()
            .filter_map(|answer| {
                let outcome = match &selected {
                    Ok(selection) => check(selector.config(), selection, answer),
                    Err(refusal) => refused(*refusal, answer),
                };
                outcome.err().map(|why| format!("{pick} {answer}\n    ours: {why}"))
            })
            .collect(),
    )
}

fn refused(refusal: Refusal, answer: &Value) -> Result<(), String> {
    let status = refusal.status(xdsctl_model::profile::Client::REFERENCE, "");
    if answer["code"] == status.code.name() && answer["details"] == *status.message {
        Ok(())
    } else {
        Err(status.to_string())
    }
}

fn differences(row: &Row, compared: &mut usize) -> Vec<String> {
    let channel = channel(row);
    let config = match channel.config {
        Ok(config) => config,
        Err(error) => {
            let message = match error {
                ChannelError::Failure(failure) => failure.to_string(),
                ChannelError::Target(error) => error.to_string(),
            };
            return row
                .picks()
                .iter()
                .flat_map(|(_, answers)| answers.as_array().into_iter().flatten())
                .filter(|answer| {
                    *compared += 1;
                    answer["details"] != message.as_str()
                })
                .map(|answer| format!("{}: {answer}\n    ours: {message}", row.id))
                .collect();
        }
    };
    let selector = Selector::new(config);
    row.picks()
        .iter()
        .filter_map(|(step, answers)| {
            let found = pick(&selector, step, answers)?;
            *compared += 1;
            Some(found)
        })
        .flatten()
        .map(|difference| format!("{}: {difference}", row.id))
        .collect()
}

#[test]
fn requests_go_where_the_client_sent_them() {
    let mut compared = 0;
    let rows = rows("scenarios");
    let differences: Vec<String> = rows.iter().flat_map(|row| differences(row, &mut compared)).collect();
    assert!(
        differences.is_empty(),
        "{} of {compared}\n{}",
        differences.len(),
        differences.join("\n")
    );
    assert!(rows.len() < 240 || compared > 2000, "{compared}");
}
