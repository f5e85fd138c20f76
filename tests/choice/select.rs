//! Tests of `-D`, `-W` and `-A`.

use serde_json::Value;

use crate::run::run;

/// A cluster with a rejected policy, an empty set of statuses (a warning), and two fields that are
/// not read.
const CLUSTER: &str = r#"
"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: c
type: EDS
eds_cluster_config: {eds_config: {ads: {}}}
lb_policy: MAGLEV
common_lb_config: {override_host_status: {}}
connect_timeout: 1s
dns_refresh_rate: 5s
"#;

/// Returns `severity rule field` for every finding.
fn found(args: &[&str]) -> Vec<String> {
    let fixed = ["validate", "--format=json", "--stdin-filename=c.yaml", "-"];
    let (out, err) = run(fixed.iter().chain(args), CLUSTER.as_bytes());
    let report: Value = serde_json::from_slice(&out).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&err)));
    let findings = report["resources"][0]["findings"].as_array().unwrap();
    let mut found: Vec<String> = findings
        .iter()
        .map(|f| {
            let text = |key: &str| f[key].as_str().unwrap();
            format!("{} {} {}", text("severity"), text("rule"), text("path"))
        })
        .collect();
    found.sort();
    found
}

fn error(args: &[&str]) -> String {
    let (_, err) = run(["validate"].iter().chain(args), CLUSTER.as_bytes());
    String::from_utf8(err).unwrap()
}

const NACK: &str = "error cds-lb-policy-unsupported lb_policy";
const EMPTY: &str = "warning cds-override-host-status-empty common_lb_config.override_host_status";
const TIMEOUT: &str = "note field-ignored connect_timeout";
const REFRESH: &str = "note field-ignored dns_refresh_rate";

#[test]
fn without_a_choice_a_rule_is_as_loud_as_it_says() {
    assert_eq!(found(&[]), [NACK, TIMEOUT, REFRESH, EMPTY]);
}

#[test]
fn a_list_has_rules_families_and_effects() {
    assert_eq!(
        found(&["-A", "ignored,cds-override,cds-lb-policy-unsupported"]),
        [""; 0]
    );
    assert_eq!(found(&["-A", "all"]), [""; 0]);
}

#[test]
fn a_family_ends_where_a_word_ends() {
    assert!(error(&["-A", "cds-overrid"]).contains("no rule, family of rules or effect `cds-overrid`"));
    assert!(error(&["-A", ""]).contains("an empty name would mean every rule"));
}

#[test]
fn the_last_choice_counts_whatever_the_flags() {
    let all_but_one = found(&["-A", "all", "-W", "cds-lb-policy-unsupported"]);
    assert_eq!(all_but_one, ["warning cds-lb-policy-unsupported lb_policy"]);
    assert_eq!(found(&["-W", "cds-lb-policy-unsupported", "-A", "all"]), [""; 0]);
    let family_but_one = found(&["-D", "cds", "-W", "cds-lb-policy-unsupported", "-A", "ignored"]);
    assert_eq!(
        family_but_one,
        [
            "error cds-override-host-status-empty common_lb_config.override_host_status",
            "warning cds-lb-policy-unsupported lb_policy"
        ]
    );
}

#[test]
fn a_rule_is_narrowed_to_fields() {
    assert_eq!(found(&["-A", "field-ignored=connect_timeout"]), [NACK, REFRESH, EMPTY]);
    assert_eq!(
        found(&["-A", "field-ignored=connect_timeout,dns_refresh_rate"]),
        [NACK, EMPTY]
    );
    assert_eq!(
        found(&["-A", "nack,field-ignored=connect_timeout,dns_refresh_rate"]),
        [EMPTY]
    );
    assert_eq!(found(&["-A", "nack=connect_timeout"]), found(&[]));
    assert!(error(&["-A", "field-ignored=connect_timeout,cds-dns"]).contains("`cds-dns` is no name of a field"));
    assert!(error(&["-A", "field-ignored=conect_timeout"]).contains("did you mean `connect_timeout`?"));
}

#[test]
fn an_unknown_name_is_an_error_with_the_nearest_one() {
    assert!(error(&["-A", "cds-lb-policy-unsuported"]).contains("did you mean `cds-lb-policy-unsupported`?"));
    assert!(error(&["-W", "droped"]).contains("did you mean `dropped`?"));
}
