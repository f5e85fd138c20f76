//! Which bootstraps the real client takes, and which fields it blames.
//!
//! `fixtures/conformance/bootstrap.jsonl.gz` was recorded from gRPC C-core 1.85.1, one process a row.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use serde::Deserialize;
use xdsctl_model::diag::Effect;
use xdsctl_model::profile::Profile;

use crate::support::recorded;

#[derive(Deserialize)]
struct Row {
    id: String,
    bootstrap: Option<String>,
    bootstrap_b64: Option<String>,
    verdict: String,
    fields: BTreeSet<String>,
    env: BTreeMap<String, String>,
}

#[test]
fn bootstraps_agree() {
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in recorded("bootstrap").lines() {
        let mut row: Row = serde_json::from_str(line).unwrap();
        row.fields.remove("");
        rows += 1;
        let bytes = match (&row.bootstrap, &row.bootstrap_b64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(b64)) => base64::engine::general_purpose::STANDARD.decode(b64).unwrap(),
            (None, None) => panic!("{} has no bootstrap", row.id),
        };
        let mut profile = Profile::default();
        for (name, value) in &row.env {
            profile.set_env(name, value).unwrap();
        }
        let (value, findings, _) = xdsctl_clients::bootstrap::validate(&bytes, &profile);
        let fields: BTreeSet<String> = findings
            .iter()
            .filter(|d| d.effect == Effect::Nack)
            .map(|d| d.path.to_string())
            .filter(|p| !p.is_empty())
            .collect();
        let verdict = if value.is_some() { "ACCEPT" } else { "REJECT" };
        if verdict != row.verdict || fields != row.fields {
            wrong.push(format!(
                "{}: client {} {:?}, xdsctl {verdict} {fields:?}",
                row.id, row.verdict, row.fields
            ));
        }
    }
    assert!(rows > 1900, "only {rows} rows");
    assert!(
        wrong.is_empty(),
        "{} of {rows} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
}

#[test]
fn a_key_in_the_wrong_place_is_sent_to_the_right_one() {
    let server = r#""server_uri": "a:1", "channel_creds": [{"type": "insecure"}]"#;
    let helps = |text: &str| -> Vec<String> {
        let (_, findings, _) = xdsctl_clients::bootstrap::validate(text.as_bytes(), &Profile::default());
        let helps = findings.iter().filter_map(|finding| finding.help.as_deref());
        helps.map(str::to_owned).collect()
    };
    for (text, help) in [
        (
            format!(r#"{{"xds_servers": [{{{server}}}], "server_features": ["xds_v3"], "node": {{"id": "n"}}}}"#),
            "`server_features` is a key of xds_servers[0]",
        ),
        (
            format!(r#"{{"xds_servers": [{{{server}}}], "node": {{"id": "n", "authorities": {{}}}}}}"#),
            "`authorities` is a key of the bootstrap itself",
        ),
        (
            format!(r#"{{"xds_servers": [{{{server}, "locality": {{}}}}], "node": {{"id": "n"}}}}"#),
            "`locality` is a key of node",
        ),
        (
            format!(r#"{{"xds_servers": [{{{server}}}], "node": {{"idd": "n"}}}}"#),
            "did you mean `id`?",
        ),
    ] {
        assert_eq!(helps(&text), [help], "{text}");
    }
}
