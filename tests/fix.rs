//! Tests of `validate --fix` and `--diff`: each fix does what it is meant to do and nothing else,
//! in every form of text.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::run::run;
use crate::support::root;

fn directory(test: &str) -> PathBuf {
    crate::run::directory("fix", test)
}

/// Returns the findings of a document as rule and path, and what the client keeps of its resources.
fn checked(file: &Path) -> (Vec<(String, String)>, Value) {
    let args = ["validate", "--no-config", "--format", "json", "--min-severity", "note"];
    let file = file.to_str().unwrap();
    let (out, err) = run([&args[..], &["--show", "parsed", file]].concat(), b"");
    let report: Value = serde_json::from_slice(&out).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&err)));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (mut findings, mut parsed) = (Vec::new(), Vec::new());
    for resource in report["resources"].as_array().unwrap() {
        parsed.push(resource["parsed"].clone());
        let of = resource["findings"].as_array().unwrap();
        findings.extend(of.iter().map(|f| (text(&f["rule"]), text(&f["path"]))));
    }
    (findings, Value::Array(parsed))
}

/// Finds where two values differ, and how.
fn differences(path: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            // The list of defaults follows from the values.
            for key in a.keys().filter(|key| *key != "defaults") {
                differences(&format!("{path}/{key}"), &a[key], &b[key], found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (n, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}/{n}"), a, b, found);
            }
        }
        _ if one.is_null() && !other.is_null() && path.matches('/').count() == 1 => {
            found.push(format!("{path} is kept"))
        }
        _ if one != other => found.push(format!("{path}: {one}, then {other}")),
        _ => {}
    }
}

/// Fixes a document with this name. Returns the new text and the output.
fn fixed(name: &str, before: &str) -> (String, String) {
    let file = directory(name).join(name);
    fs::write(&file, before).unwrap();
    let (_, err) = run(["validate", "--no-config", "--fix", file.to_str().unwrap()], b"");
    (fs::read_to_string(&file).unwrap(), String::from_utf8(err).unwrap())
}

const ROUTE: &str = "\
\"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: r
virtual_hosts:
- domains: [\"*\"]
  routes:
";

/// A document before and after the fix, the rule whose finding goes, and what the client then keeps
/// differently.
struct Case {
    rule: &'static str,
    before: String,
    after: String,
    kept: Vec<&'static str>,
}

fn cases() -> Vec<Case> {
    let case = |rule, text: &str, (old, new): (&str, &str), kept| {
        assert!(text.contains(old), "{rule}");
        Case {
            rule,
            before: text.to_owned(),
            after: text.replacen(old, new, 1),
            kept,
        }
    };
    let retry = format!(
        "{ROUTE}  - match: {{prefix: /}}\n    route: {{cluster: c, retry_policy: {{retry_on: 'unavailable,Deadline_Exceeded'}}}}\n"
    );
    let header = format!(
        "{ROUTE}  - match: {{prefix: /, headers: [{{name: X-User, present_match: true}}]}}\n    route: {{cluster: c}}\n"
    );
    let domains = format!("{ROUTE}  - match: {{prefix: /}}\n    route: {{cluster: c}}\n")
        .replace("[\"*\"]", "[a.example, b.example, A.example]");
    let cluster = |more: &str| {
        format!(
            "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: c\ntype: EDS\neds_cluster_config: {{eds_config: {{ads: {{}}}}}}\n{more}"
        )
    };
    let listener = "\
\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener
name: l
api_listener:
  api_listener:
    \"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
    rds: {route_config_name: r, config_source: {ads: {}}}
    http_filters:
    - name: fault
      typed_config:
        \"@type\": type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault
        delay:
          type: FIXED
          fixed_delay: 1s
          percentage: {numerator: 1}
    - name: router
      typed_config:
        \"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
";
    let bare = listener.replace("          type: FIXED\n", "");
    let bare = bare.replace(
        "type.googleapis.com/envoy.extensions.filters.http.router",
        "envoy.extensions.filters.http.router",
    );
    vec![
        case(
            "rds-retry-on-unsupported",
            &retry,
            ("Deadline_Exceeded", "deadline-exceeded"),
            vec![
                r#"/0/virtual_hosts/0/routes/0/route/retry_policy/grpc/retryable_status_codes: ["UNAVAILABLE"], then ["DEADLINE_EXCEEDED","UNAVAILABLE"]"#,
                r#"/0/virtual_hosts/0/routes/0/route/retry_policy/retry_on: ["unavailable"], then ["deadline-exceeded","unavailable"]"#,
            ],
        ),
        case(
            "rds-retry-policy-without-codes",
            &retry.replace("unavailable,", ""),
            ("Deadline_Exceeded", "deadline-exceeded"),
            vec![
                r#"/0/virtual_hosts/0/routes/0/route/retry_policy/grpc: null, then {"backoff_multiplier":2,"defaults":[],"initial_backoff":"0.025s","max_attempts":2,"max_backoff":"0.250s","retryable_status_codes":["DEADLINE_EXCEEDED"]}"#,
                r#"/0/virtual_hosts/0/routes/0/route/retry_policy/retry_on: [], then ["deadline-exceeded"]"#,
            ],
        ),
        case(
            "header-name-upper-case",
            &header,
            ("X-User", "x-user"),
            vec![r#"/0/virtual_hosts/0/routes/0/match/headers/0/name: "X-User", then "x-user""#],
        ),
        case(
            "any-type-url-without-slash",
            &bare,
            ("\"@type\": envoy", "\"@type\": type.googleapis.com/envoy"),
            vec!["/0 is kept"],
        ),
        case(
            "dump-unknown-enum-value",
            &cluster("lb_policy: ring_hash\n"),
            ("ring_hash", "RING_HASH"),
            vec![],
        ),
        case(
            "dump-unknown-enum-value",
            &cluster("lb_policy: '2'\n"),
            ("'2'", "'RING_HASH'"),
            vec![],
        ),
        case(
            "dump-unknown-field",
            &cluster("\"lb-policy\": RING_HASH\n"),
            ("lb-policy", "lb_policy"),
            vec![
                r#"/0/lb_policy/0: {"xds_wrr_locality_experimental":{"childPolicy":[{"round_robin":{}}]}}, then {"ring_hash_experimental":{"maxRingSize":8388608,"minRingSize":1024}}"#,
            ],
        ),
        case("dump-unknown-field", listener, ("type: FIXED\n          ", ""), vec![]),
        case(
            "rds-domain-taken",
            &domains,
            (", A.example", ""),
            vec![
                r#"/0/virtual_hosts/0/domains: ["a.example","b.example","A.example"], then ["a.example","b.example"]"#,
            ],
        ),
        case(
            "dump-duplicate-key",
            &cluster("lb_policy: RING_HASH\nlbPolicy: RING_HASH\n"),
            ("lbPolicy: RING_HASH\n", ""),
            vec![],
        ),
    ]
}

#[test]
fn each_fix_takes_its_finding_away_and_changes_nothing_else() {
    for (number, case) in cases().into_iter().enumerate() {
        let file = directory(&format!("case-{number}")).join("x.yaml");
        fs::write(&file, &case.before).unwrap();
        let (mut findings, kept) = checked(&file);
        run(["validate", "--no-config", "--fix", file.to_str().unwrap()], b"");
        assert_eq!(fs::read_to_string(&file).unwrap(), case.after, "{}", case.rule);
        let (left, kept_now) = checked(&file);
        let at = findings.iter().position(|(rule, _)| rule == case.rule);
        let (rule, path) = findings.remove(at.unwrap_or_else(|| panic!("{}: {findings:?}", case.rule)));
        assert!(!left.contains(&(rule, path.clone())), "{}", case.rule);
        let news: Vec<_> = left.iter().filter(|finding| !findings.contains(finding)).collect();
        assert!(news.is_empty(), "{}: {news:?}", case.rule);
        let mut differ = Vec::new();
        differences("", &kept, &kept_now, &mut differ);
        assert_eq!(differ, case.kept, "{}", case.rule);
    }
    let tried: Vec<&str> = cases().iter().map(|case| case.rule).collect();
    for rule in xdsctl_lint::fix::rules() {
        assert!(tried.contains(&rule.id), "{} is not tried", rule.id);
    }
}

/// Splits a marked text into the text before and after the fix; `«` and `»` surround the change,
/// with `|` between the two.
fn marked(text: &str) -> (String, String) {
    let (mut before, mut after) = (String::new(), String::new());
    for (number, piece) in text.split(['«', '»']).enumerate() {
        let (old, new) = match number % 2 {
            0 => (piece, piece),
            _ => piece.split_once('|').unwrap(),
        };
        before += old;
        after += new;
    }
    (before, after)
}

#[test]
fn other_bytes_stay_as_they_are() {
    let route = |of_match: &str| {
        format!(
            "{ROUTE}  - match: {{prefix: /}} # first\n    route: {{cluster: d}}\n  - match:\n{of_match}    route: {{cluster: c}}\n"
        )
    };
    let block = route(
        "      headers: # of people\n      -   name:   «X-User|x-user»   # who\n          present_match: true\n\n      - name: '«X-B|x-b»'\n        present_match: true\n      - {\"name\": \"«X-C|x-c»\", present_match: true}\n      prefix: \"\"\n",
    );
    let two = route(
        "      headers: [{name: «X-A|x-a», present_match: true}, {'name': '«X-B|x-b»', present_match: true}]\n      prefix: ''\n",
    );
    let json = "{\"@type\":\"type.googleapis.com/envoy.config.cluster.v3.Cluster\",\"name\":\"c\",\"type\":\"«eds|EDS»\",\"eds_cluster_config\":{\"eds_config\":{\"ads\":{}}},\"«LbPolicy|lbPolicy»\" : \"RING_HASH\",  \"altStatName\":\"é\"}";
    let pretty = json.replace("{\"@", "{\n\t\"@").replace(",\"", ",\n\t\"");
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let any = "{\"resources\": [{\"@type\": \"type.googleapis.com/envoy.config.listener.v3.Listener\", \"name\": \"l\", \"api_listener\": {\"api_listener\": {\"@type\": \"type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager\", \"rds\": {\"config_source\": {\"ads\": {}}, \"«route-config-name|route_config_name»\": \"r\"}, \"http_filters\": [{\"name\": \"router\", \"typed_config\": {\"@type\": \"«envoy|type.googleapis.com/envoy».extensions.filters.http.router.v3.Router\"}}]}}}]}";
    for (name, text) in [
        ("block.yaml", block.clone()),
        ("crlf.yaml", crlf(&block)),
        ("two.yaml", two),
        ("mark.yaml", format!("\u{feff}{block}")),
        ("line.json", json.to_owned()),
        ("pretty.json", pretty.clone()),
        ("crlf.json", crlf(&pretty)),
        ("any.json", any.to_owned()),
    ] {
        let (before, after) = marked(&text);
        assert_eq!(fixed(name, &before).0, after, "{name}");
    }
}

#[test]
fn a_field_that_goes_leaves_its_neighbours() {
    const POLICY: &str =
        "\"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\ncluster_name: c\npolicy:";
    let json = |policy: &str| {
        format!(
            "{{\"@type\": \"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\", \"cluster_name\": \"c\", \"policy\": {policy}}}"
        )
    };
    for (name, before, after) in [
        (
            "first.yaml",
            "\n  disable_overprovisioning: true\n  weighted_priority_health: true\n",
            "\n  weighted_priority_health: true\n",
        ),
        (
            "last.yaml",
            "\n  weighted_priority_health: true # kept\n  disable_overprovisioning: true\n",
            "\n  weighted_priority_health: true # kept\n",
        ),
        (
            "flow.yaml",
            " {weighted_priority_health: true, disable_overprovisioning: true}\n",
            " {weighted_priority_health: true}\n",
        ),
        // A fix must not remove a comment, and a mapping without keys would be null.
        (
            "comment.yaml",
            "\n  disable_overprovisioning: true # why\n  weighted_priority_health: true\n",
            "",
        ),
        ("lone.yaml", "\n  disable_overprovisioning: true\n", ""),
    ] {
        let before = format!("{POLICY}{before}");
        let after = if after.is_empty() {
            before.clone()
        } else {
            format!("{POLICY}{after}")
        };
        assert_eq!(fixed(name, &before).0, after, "{name}");
    }
    for (name, before, after) in [
        (
            "first.json",
            "{\"disableOverprovisioning\": true,\n \"weighted_priority_health\": true}",
            "{\"weighted_priority_health\": true}",
        ),
        (
            "last.json",
            "{\"weighted_priority_health\": true ,\n \"disable_overprovisioning\": true }",
            "{\"weighted_priority_health\": true  }",
        ),
        ("lone.json", "{ \"disable_overprovisioning\": true }", "{  }"),
    ] {
        assert_eq!(fixed(name, &json(before)).0, json(after), "{name}");
    }
}

#[test]
fn what_is_not_certain_stays() {
    let header = |name: &str| {
        format!(
            "{ROUTE}  - match: {{prefix: /, headers: [{{name: {name}, present_match: true}}]}}\n    route: {{cluster: c}}\n"
        )
    };
    let anchored = format!(
        "{ROUTE}  - match: {{prefix: /, headers: [{{name: &n X-A, present_match: true}}]}}\n    route: {{cluster: c}}\n  - match: {{prefix: /b, headers: [{{name: *n, present_match: true}}]}}\n    route: {{cluster: c}}\n"
    );
    let cluster = |more: &str| {
        format!(
            "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: c\ntype: EDS\neds_cluster_config: {{eds_config: {{ads: {{}}}}}}\n{more}"
        )
    };
    for (name, text) in [
        ("escape.yaml", header("\"X\\u002dUser\"")),
        ("anchor.yaml", anchored),
        ("near.yaml", cluster("lb_polcy: RING_HASH\n")),
        ("twice.yaml", cluster("lb-policy: RING_HASH\nlb_policy: ROUND_ROBIN\n")),
        ("differs.yaml", cluster("lbPolicy: RING_HASH\nlb_policy: ROUND_ROBIN\n")),
        ("lost.yaml", cluster("tls_context: {sni: a}\n")),
        (
            "suppressed.yaml",
            header("X-User").replace(
                "  - match",
                "  # xdsctl: ignore[header-name-upper-case] Envoy reads it\n  - match",
            ),
        ),
    ] {
        let (after, err) = fixed(name, &text);
        assert_eq!(after, text, "{name}");
        assert_eq!(err, "xdsctl: there is nothing to fix\n", "{name}");
    }
    let allowed = directory("allowed").join("x.yaml");
    fs::write(&allowed, header("X-User")).unwrap();
    run(
        [
            "validate",
            "--fix",
            "-A",
            "header-name-upper-case",
            allowed.to_str().unwrap(),
        ],
        b"",
    );
    assert_eq!(fs::read_to_string(&allowed).unwrap(), header("X-User"));
}

#[test]
fn other_formats_and_streams_are_not_fixed_and_say_so() {
    let text = "name: \"r\" virtual_hosts { domains: \"*\" routes { match { prefix: \"/\" headers { name: \"X-User\" present_match: true } } route { cluster: \"c\" } } }";
    let file = directory("text").join("r.textproto");
    fs::write(&file, text).unwrap();
    let name = file.to_str().unwrap();
    let (_, err) = run(["validate", "--as", "rds", "--fix", name], b"");
    assert_eq!(
        String::from_utf8(err).unwrap(),
        format!(
            "xdsctl: `{name}` is not fixed: it is text format, only JSON and YAML are fixed\nxdsctl: there is nothing to fix\n"
        )
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let (out, err) = run(["validate", "--fix"], b"{}");
    assert!(out.is_empty());
    assert_eq!(
        String::from_utf8(err).unwrap(),
        "xdsctl: --fix changes files, standard input is none: --diff prints a patch\n"
    );
}

#[test]
fn the_report_is_of_what_is_left() {
    let file = directory("left").join("x.yaml");
    let text = format!(
        "{ROUTE}  - match: {{prefix: /, headers: [{{name: X-User, present_match: true}}]}}\n    route: {{cluster: ''}}\n"
    );
    fs::write(&file, &text).unwrap();
    let name = file.to_str().unwrap();
    let (before, _) = run(["validate", "--no-config", name], b"");
    let last = |out: &[u8]| {
        String::from_utf8(out.to_vec())
            .unwrap()
            .lines()
            .rev()
            .take(3)
            .collect::<Vec<_>>()
            .join("|")
    };
    assert_eq!(
        last(&before),
        "asked: gRPC C-core 1.85.1|1 place can be fixed: --diff shows how, --fix does it|1 error, 1 warning, 0 notes"
    );
    let (after, err) = run(["validate", "--no-config", "--fix", name], b"");
    assert_eq!(String::from_utf8(err).unwrap(), "xdsctl: made 1 fix in 1 file\n");
    assert!(
        last(&after).starts_with("asked: gRPC C-core 1.85.1|1 error, 0 warnings, 0 notes|"),
        "{}",
        last(&after)
    );
}

#[cfg(unix)]
#[test]
fn a_file_keeps_its_permissions_and_one_that_is_read_only_its_text() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let directory = directory("modes");
    let text = format!(
        "{ROUTE}  - match: {{prefix: /, headers: [{{name: X-User, present_match: true}}]}}\n    route: {{cluster: c}}\n"
    );
    for (name, mode) in [("a.yaml", 0o640), ("b.yaml", 0o440)] {
        fs::write(directory.join(name), &text).unwrap();
        fs::set_permissions(directory.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let link = directory.join("link");
    symlink("a.yaml", &link).unwrap();
    let read_only = directory.join("b.yaml");
    let args = [
        "validate",
        "--no-config",
        "--quiet",
        "--fix",
        link.to_str().unwrap(),
        read_only.to_str().unwrap(),
    ];
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let io = xdsctl_cli::Io::piped(&b""[..], &mut out, &mut err);
    let code = xdsctl_cli::run([&["xdsctl"], &args[..]].concat(), io);
    assert_eq!(format!("{code:?}"), format!("{:?}", std::process::ExitCode::from(2)));
    assert_eq!(
        String::from_utf8(err).unwrap(),
        format!(
            "xdsctl: made 1 fix in 1 file\nxdsctl: cannot fix `{}`: it is read-only\n",
            read_only.display()
        )
    );
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(directory.join("a.yaml")).unwrap().contains("x-user"));
    assert_eq!(
        fs::metadata(directory.join("a.yaml")).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(fs::read_to_string(&read_only).unwrap(), text);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 3, "nothing is left beside");
}

#[test]
fn a_patch_is_one_that_others_apply_and_changes_nothing() {
    let text = "# é\r\n\
        \"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\r\n\
        name: c # a\ttab\r\n\
        type: eds\r\n\
        eds_cluster_config: {eds_config: {ads: {}}}\r\n\
        alt_stat_name: a\r\n\
        connect_timeout: 1s\r\n\
        per_connection_buffer_limit_bytes: 1\r\n\
        max_requests_per_connection: 1\r\n\
        drain_connections_on_host_removal: false\r\n\
        respect_dns_ttl: true\r\n\
        use_tcp_for_dns_lookups: true\r\n\
        lb-policy: RING_HASH";
    let args = [
        "validate",
        "--no-config",
        "--diff",
        "--show-secrets",
        "--stdin-filename",
        "xds/a b.yaml",
    ];
    let (out, err) = run(args, text.as_bytes());
    let expected = "\
--- a/xds/a b.yaml\t
+++ b/xds/a b.yaml\t
@@ -1,7 +1,7 @@
 # é\r
 \"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\r
 name: c # a\ttab\r
-type: eds\r
+type: EDS\r
 eds_cluster_config: {eds_config: {ads: {}}}\r
 alt_stat_name: a\r
 connect_timeout: 1s\r
@@ -10,4 +10,4 @@
 drain_connections_on_host_removal: false\r
 respect_dns_ttl: true\r
 use_tcp_for_dns_lookups: true\r
-lb-policy: RING_HASH
\\ No newline at end of file
+lb_policy: RING_HASH
\\ No newline at end of file
";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    assert_eq!(
        String::from_utf8(err).unwrap(),
        "xdsctl: a patch of 2 fixes in 1 file, which --fix makes\n"
    );
    let file = directory("diff").join("x.yaml");
    fs::write(&file, text).unwrap();
    let (out, _) = run(["validate", "--fix", "--dry-run", file.to_str().unwrap()], b"");
    assert!(out.starts_with(b"--- "));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

/// A patch has no bare carriage return: a terminal would print the rest of the line over its
/// beginning.
#[test]
fn a_patch_has_no_bare_carriage_return() {
    let text = format!(
        "{ROUTE}  - match: {{prefix: /, headers: [{{name: X-User, present_match: true}}]}} # a\r    route: {{cluster: c}}\n"
    );
    let (out, err) = run(["validate", "--no-config", "--diff", "--show-secrets"], text.as_bytes());
    let (out, err) = (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap());
    assert!(out.contains("name: x-user"), "{out}");
    assert!(!out.contains('\r'), "{out:?}");
    assert!(err.contains("carriage returns inside a line"), "{err}");
}

#[test]
fn a_patch_has_no_secrets() {
    let text = format!(
        "{ROUTE}  - match:\n      prefix: /\n      headers:\n      - name: authorization\n        string_match: {{exact: hunter2-secret-token}}\n      - name: X-User\n        present_match: true\n    route: {{cluster: c}}\n"
    );
    let (out, err) = run(["validate", "--no-config", "--diff"], text.as_bytes());
    let (out, err) = (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap());
    assert!(out.contains("+      - name: x-user\n"), "{out}");
    assert!(!out.contains("hunter2"), "{out}");
    assert!(err.contains("secrets in the patch are masked"), "{err}");
    let (out, err) = run(["validate", "--no-config", "--diff", "--show-secrets"], text.as_bytes());
    assert!(String::from_utf8(out).unwrap().contains("hunter2"));
    assert!(!String::from_utf8(err).unwrap().contains("masked"));
}

#[test]
fn a_patch_keeps_plain_comments() {
    let text = format!(
        "{ROUTE}  - match:\n      prefix: / # all of the shop's paths\n      headers:\n      # any user\n      - name: X-User\n        present_match: true\n    route: {{cluster: c}}\n"
    );
    let (out, err) = run(["validate", "--no-config", "--diff"], text.as_bytes());
    let (out, err) = (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap());
    assert!(
        out.contains("all of the shop's paths") && out.contains("# any user\n"),
        "{out}"
    );
    assert!(!err.contains("masked"), "{err}");
}

/// If many resources are on one line, the text between them is masked, and harmless fields in each
/// are shown.
#[test]
fn a_patch_of_one_line_knows_all_its_resources() {
    let routes = |name: &str| {
        format!(
            r#"{{"@type":"type.googleapis.com/envoy.config.route.v3.RouteConfiguration","name":"{name}","virtual_hosts":[{{"name":"v","domains":["{name}.example.com"],"routes":[{{"match":{{"prefix":"/","headers":[{{"name":"authorization","string_match":{{"exact":"hunter2-{name}"}}}},{{"name":"X-User","present_match":true}}]}},"route":{{"cluster":"c"}}}}]}}]}}"#
        )
    };
    let text = format!(
        r#"{{"resources":[{},{},{{"password":"hunter2-outside"}},{}]}}"#,
        routes("one"),
        routes("two"),
        routes("three")
    );
    let (out, err) = run(["validate", "--no-config", "--diff"], text.as_bytes());
    let (out, err) = (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap());
    assert!(!out.contains("hunter2"), "{out}");
    assert!(err.contains("secrets in the patch are masked"), "{err}");
    for name in ["one", "two", "three"] {
        assert_eq!(out.matches(&format!("{name}.example.com")).count(), 2, "{out}");
    }
    assert_eq!(out.matches(r#""x-user""#).count(), 3, "{out}");
}

#[test]
fn fields_that_are_taken_out_are_gone_from_the_protos() {
    let set = fs::read(root().join("proto/proto/xds.binpb")).unwrap();
    let pool = prost_reflect::DescriptorPool::decode(&set[..]).unwrap();
    for (message, field) in xdsctl_document::proto::meant::EMPTY_FIELDS {
        let message = pool.get_message_by_name(message).unwrap();
        assert!(message.reserved_names().any(|name| name == field), "{field}");
    }
}

#[test]
fn a_domain_that_comes_twice_goes_where_nothing_else_goes_with_it() {
    let host = |domains: &str| {
        format!("{ROUTE}  - match: {{prefix: /}}\n    route: {{cluster: c}}\n").replace("[\"*\"]", domains)
    };
    for (name, before, after) in [
        ("domains-flow.yaml", host("[a, b, a, 'a']"), host("[a, b]")),
        (
            "domains-block.yaml",
            host("\n  - a\n  - b # kept\n  - a\n  -   'A'  \n"),
            host("\n  - a\n  - b # kept\n"),
        ),
        (
            "domains-comment.yaml",
            host("\n  - a\n  - a # whose?\n"),
            host("\n  - a\n  - a # whose?\n"),
        ),
        (
            "domains-lines.yaml",
            host("[\n    a, # one\n    a,\n    b]"),
            host("[\n    a, # one\n    a,\n    b]"),
        ),
        (
            "domains-anchor.yaml",
            host("\n  - a\n  - &x a\n"),
            host("\n  - a\n  - &x a\n"),
        ),
    ] {
        assert_eq!(fixed(name, &before).0, after, "{name}");
    }
    let json = |domains: &str| {
        format!(
            "{{\"@type\": \"type.googleapis.com/envoy.config.route.v3.RouteConfiguration\", \"name\": \"r\", \"virtual_hosts\": [{{\"domains\": {domains}, \"routes\": []}}]}}"
        )
    };
    let lines = "[\n  \"a\",\n  \"b\",\n  \"a\"\n]";
    assert_eq!(
        fixed("domains-lines.json", &json(lines)).0,
        json("[\n  \"a\",\n  \"b\"\n]")
    );
    // Nobody can know which of the two virtual hosts should have the domain.
    let two = json("[\"a\"]").replace("}]}", "}, {\"domains\": [\"a\"], \"routes\": []}]}");
    assert_eq!(fixed("domains-two.json", &two).0, two);
}
