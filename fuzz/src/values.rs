//! Reads single values: cookies, regular expressions, LB configurations, bootstraps.

use bytes::Bytes;
use serde_json::Value;

use xdsctl_channel::client::target::Target;
use xdsctl_clients::bootstrap;
use xdsctl_clients::judge::validate;
use xdsctl_document::proto::pb::tables;
use xdsctl_document::proto::transcode::{TranscodeOptions, json};
use xdsctl_lb as lb;
use xdsctl_model::cookie::{self, SessionCookie};
use xdsctl_model::diag::Effect;
use xdsctl_model::profile::{Profile, ServerFacts};
use xdsctl_model::resource::ResourceType;
use xdsctl_re2::Regex;

/// Reads a header and a cookie's value: a value that is read is written back unchanged.
pub fn cookie(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (name, rest) = text.split_once('\n').unwrap_or(("sid", &text));
    let value = cookie::find(rest, name).unwrap_or(rest);
    if let Ok(session) = SessionCookie::decode(value) {
        let again = SessionCookie::decode(&xdsctl_model::cookie::encode(&session.addresses, &session.cluster));
        assert_eq!(again.as_ref(), Ok(&session), "{value}");
    }
    crate::commands::run(&["cookie", "decode", "--", &text.replace('\0', "")], b"");
    crate::commands::run(
        &["cookie", "decode", "--format=json", "--", &value.replace('\0', "")],
        b"",
    );
}

/// Matches a pattern with a text and applies a rewrite; each is one line.
pub fn regex(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.splitn(3, '\n');
    let (pattern, text, rewrite) = (
        lines.next().unwrap_or_default(),
        lines.next().unwrap_or_default(),
        lines.next().unwrap_or_default(),
    );
    let checked = Regex::check(pattern);
    match Regex::new(pattern) {
        Ok(regex) => {
            assert!(checked.is_ok(), "{pattern}");
            let is_match = regex.is_full_match(text);
            let kept = regex.replace_all(text, "\\0");
            assert!(
                !is_match || kept == text.as_bytes() || text.is_empty() || !kept.is_empty(),
                "{pattern}: {}",
                kept.escape_ascii()
            );
            regex.replace_all(text, rewrite);
        }
        Err(error) => assert_eq!(checked, Err(error), "{pattern}"),
    }
}

/// The number of significant digits with which the client writes a float.
const FLOAT_DIGITS: usize = 6;

/// Says whether a config has a float that changes when it is written and read again, because the
/// client writes too few digits of it.
fn is_rounded(config: &Value) -> bool {
    match config {
        Value::Object(map) => map.iter().any(|(name, inner)| match name.as_str() {
            "errorUtilizationPenalty" => {
                let text = inner.as_str().map_or_else(|| inner.to_string(), str::to_owned);
                let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
                let digits = mantissa.trim_start_matches(['-', '+', '0', '.']);
                digits.bytes().filter(u8::is_ascii_digit).count() > FLOAT_DIGITS
            }
            _ => is_rounded(inner),
        }),
        Value::Array(list) => list.iter().any(is_rounded),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Reads a list of LB policies in JSON. A config that is read can be written, and then reads as the
/// same config. A float with too many digits is at least written the same the second time.
pub fn lb_json(data: &[u8]) {
    let Ok(list) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    let profile = Profile::default();
    match lb::parse_list(&list, &profile) {
        Ok(config) => {
            let json = lb::to_json(&config);
            let again = lb::parse_list(&json, &profile).ok();
            assert_eq!(again.as_ref().map(lb::to_json), Some(json.clone()));
            assert!(
                again.as_ref() == Some(&config) || is_rounded(&list),
                "{config:?} is read again as {again:?}"
            );
        }
        Err(faults) => assert!(!faults.is_empty(), "{list}"),
    }
}

/// Reads a LoadBalancingPolicy of a cluster, as JSON or as wire format. A policy that is accepted
/// without a fault can be used.
pub fn lb_xds(data: &[u8]) {
    let wire = if data.first() == Some(&b'{') {
        let mut text =
            br#"{"name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"load_balancing_policy":"#
                .to_vec();
        text.extend_from_slice(data);
        text.push(b'}');
        let cluster = tables::message("envoy.config.cluster.v3.Cluster").expect("the tables have it");
        json(&text, cluster, TranscodeOptions::default()).bytes
    } else {
        // These are name, type EDS, eds_cluster_config {eds_config {ads {}}}, and
        // load_balancing_policy.
        let mut wire = b"\x0a\x01c\x10\x03\x1a\x04\x0a\x02\x1a\x00".to_vec();
        wire.extend_from_slice(b"\xca\x02");
        let mut length = data.len();
        while length > 127 {
            wire.push((length & 127) as u8 | 128);
            length >>= 7;
        }
        wire.push(length as u8);
        wire.extend_from_slice(data);
        wire
    };
    let profile = Profile::default();
    let validated = validate(
        ResourceType::Cluster,
        &Bytes::from(wire),
        &profile,
        &ServerFacts::default(),
    );
    let is_faulty = validated
        .diagnostics
        .iter()
        .any(|found| matches!(found.rule.effect, Effect::Nack | Effect::Fails));
    if let (Some(xdsctl_model::resource::Resource::Cluster(cluster)), false) = (validated.value, is_faulty) {
        let policy = &cluster.lb_policy;
        assert_eq!(policy.refusal, None, "{}", policy.json);
        assert!(lb::parse_list(&policy.json, &profile).is_ok(), "{}", policy.json);
    }
}

/// Reads a bootstrap file, which must be accepted exactly if nothing in it makes the client reject
/// it. Then reads a target with that bootstrap.
pub fn bootstrap(data: &[u8]) {
    for env in [None, Some("GRPC_EXPERIMENTAL_XDS_FEDERATION")] {
        let mut profile = Profile::default();
        if let Some(name) = env {
            let _ = profile.set_env(name, "false");
        }
        let (bootstrap, findings, fault) = bootstrap::validate(data, &profile);
        let is_rejected = findings.iter().any(|found| found.rule.effect == Effect::Nack);
        assert_eq!(bootstrap.is_none(), is_rejected, "{findings:?}");
        assert!(fault.is_none_or(|offset| offset <= data.len()), "{fault:?}");
        let Some(bootstrap) = bootstrap else { continue };
        bootstrap.server_facts();
        let tail = String::from_utf8_lossy(data.rsplit(|byte| *byte == b'"').nth(1).unwrap_or_default()).into_owned();
        for uri in [format!("xds:///{tail}"), format!("xds://{tail}/svc"), tail] {
            let _ = Target::parse(&uri, None, &bootstrap);
        }
    }
}
