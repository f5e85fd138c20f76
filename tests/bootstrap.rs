//! Checks which bootstraps the real client accepts, and which fields it blames.
//!
//! `fixtures/conformance/bootstrap.jsonl.gz` was recorded from gRPC C-core 1.85.1, with one process
//! for each row.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use base64::Engine as _;
use serde::Deserialize;
use xdsctl_model::diag::Effect;
use xdsctl_model::profile::{Client, Profile};

use crate::support::recorded;

#[derive(Deserialize)]
struct Row {
    id: String,
    #[serde(flatten)]
    text: RowText,
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
        let mut profile = Profile::default();
        for (name, value) in &row.env {
            profile.set_env(name, value).unwrap();
        }
        let (value, findings, _) = xdsctl_clients::bootstrap::validate(&row.text.bytes(), &profile);
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

/// A row of `fixtures/clients/bootstraps.jsonl`: what other clients do with a bootstrap, with one
/// process for each row.
#[derive(Deserialize)]
struct RowOfOthers {
    id: String,
    #[serde(flatten)]
    text: RowText,
    clients: BTreeMap<String, String>,
}

/// The text of a bootstrap, which need not be UTF-8.
#[derive(Deserialize)]
struct RowText {
    bootstrap: Option<String>,
    bootstrap_b64: Option<String>,
}

impl RowText {
    fn bytes(&self) -> Vec<u8> {
        match (&self.bootstrap, &self.bootstrap_b64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(b64)) => base64::engine::general_purpose::STANDARD.decode(b64).unwrap(),
            (None, None) => panic!("there is no bootstrap"),
        }
    }
}

#[test]
fn bootstraps_of_other_clients_agree() {
    let folder = crate::support::root().join("fixtures/clients");
    let mut text = std::fs::read_to_string(folder.join("bootstraps.jsonl")).unwrap();
    let fresh = std::fs::File::open(folder.join("bootstraps-fresh.jsonl.gz")).unwrap();
    flate2::read::GzDecoder::new(fresh).read_to_string(&mut text).unwrap();
    let (mut wrong, mut verdicts) = (Vec::new(), 0);
    for line in text.lines() {
        let row: RowOfOthers = serde_json::from_str(line).unwrap();
        for (client, verdict) in &row.clients {
            let profile = Profile::of(Client::parse_list(client).unwrap()[0]);
            let (value, findings, _) = xdsctl_clients::bootstrap::validate(&row.text.bytes(), &profile);
            verdicts += 1;
            let ours = if value.is_some() { "ACCEPT" } else { "REJECT" };
            if ours != verdict {
                wrong.push(format!("{} {client}: {verdict}, xdsctl {ours} {findings:?}", row.id));
            }
        }
    }
    assert!(verdicts > 6000, "only {verdicts}");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn credentials_and_fallback_come_with_versions() {
    let rules = |client: &str, servers: &str| {
        let profile = Profile::of(Client::parse_list(client).unwrap()[0]);
        let text = format!(r#"{{"xds_servers": [{servers}]}}"#);
        let (_, findings, _) = xdsctl_clients::bootstrap::validate(text.as_bytes(), &profile);
        findings
            .into_iter()
            .map(|found| found.message)
            .collect::<Vec<String>>()
            .join("; ")
    };
    let tls = r#"{"server_uri": "a:1", "channel_creds": [{"type": "tls"}]}"#;
    assert!(rules("go@1.60.0", tls).contains("grpc-go 1.60.0 knows: google_default, insecure"));
    assert_eq!(rules("go@1.61.0", tls), "");
    let two = format!("{tls}, {tls}");
    assert!(rules("go@1.69.0", &two).contains("this one is never asked"));
    assert!(rules("go@1.70.0", &two).contains("a fallback"));
}

#[test]
fn a_file_watcher_of_java_needs_all_three_files() {
    let found = |client: &str, config: &str| {
        let profile = Profile::of(Client::parse_list(client).unwrap()[0]);
        let text = format!(
            r#"{{"xds_servers": [{{"server_uri": "a:1", "channel_creds": [{{"type": "insecure"}}]}}],
                "certificate_providers": {{"i": {{"plugin_name": "file_watcher", "config": {config}}}}}}}"#
        );
        let (value, findings, _) = xdsctl_clients::bootstrap::validate(text.as_bytes(), &profile);
        (
            value.is_some(),
            findings.iter().map(|found| found.effect).collect::<Vec<_>>(),
        )
    };
    let ca = r#"{"ca_certificate_file": "/ca.pem"}"#;
    assert_eq!(found("java", ca), (true, vec![Effect::Fails]));
    assert_eq!(found("go", ca), (true, vec![]));
    let all = r#"{"ca_certificate_file": "/ca.pem", "certificate_file": "/c.pem", "private_key_file": "/k.pem"}"#;
    assert_eq!(found("java", all), (true, vec![]));
}
