//! Tests of what `explain` says about lines of a client's log.

use serde_json::{Value, json};

use crate::cli::xdsctl;

/// The path of the connection manager of an API listener.
const MANAGER: &str = "api_listener.api_listener.value[envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager]";

/// Writes a line of the client's log around its errors.
pub fn line(kind: &str, name: &str, errors: &str) -> String {
    format!(
        "E1122 04:20:52.149618    6092 xds_client.cc:1335] [xds_client 0x7f1e0c003be0] xds server 127.0.0.1:41369: ADS response \
         invalid for resource type {kind} version 2, will NACK: nonce=2 status=UNAVAILABLE: xDS response validation errors: \
         [resource index 0: {name}: INVALID_ARGUMENT: {errors}]"
    )
}

#[test]
fn a_whole_line_leads_to_each_of_its_rules() {
    let errors = "errors validating Cluster resource: [field:eds_cluster_config.eds_config error:ConfigSource is not ads or self; \
                  field:lb_policy error:LB policy is not supported]";
    let run = xdsctl(
        &["explain", &line("envoy.config.cluster.v3.Cluster", "cart", errors)],
        "",
    );
    let expected = "Cluster `cart`: ConfigSource is not ads or self, at eds_cluster_config.eds_config\n  \
                    → cds-eds-source-unsupported (nack): Endpoints of an EDS cluster come from a source other than `ads` or `self`.\n    \
                    by `not ads or self` at `eds_config`\n\
                    Cluster `cart`: LB policy is not supported, at lb_policy\n  \
                    → cds-lb-policy-unsupported (nack): The lb_policy enum is neither ROUND_ROBIN nor RING_HASH.\n    \
                    by `LB policy … not supported` at `lb_policy`\n";
    assert!(run.out.starts_with(expected), "{}", run.out);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
}

#[test]
fn one_message_with_one_rule_brings_what_to_know_of_it() {
    for message in [
        "LB policy is not supported",
        "lb_policy: lb policy is NOT supported",
        "field:lb_policy error:LB policy is not supported",
    ] {
        let run = xdsctl(&["explain", message], "");
        assert_eq!(run.code, Some(0), "{message}");
        let titles: Vec<&str> = run.out.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(titles, ["## What the client does", "## Why"], "{message}: {}", run.out);
        let end = "\n\n`xdsctl explain cds-lb-policy-unsupported` prints a page; `xdsctl validate --explain-error LINE DUMP` shows the \
                   place in a dump\n";
        assert!(run.out.ends_with(end), "{message}: {}", run.out);
    }
}

#[test]
fn words_of_many_rules_need_the_path() {
    for words in [
        "field not present",
        "must be non-empty",
        "LB policy config: field not present",
    ] {
        let run = xdsctl(&["explain", words], "");
        assert_eq!(run.code, Some(1), "{words}: {}{}", run.out, run.err);
        assert!(!run.out.contains('→'), "{words}: {}", run.out);
    }
    let message = format!("field:{MANAGER}.rds.config_source error:field not present");
    let run = xdsctl(&["explain", "--format=json", &message], "");
    let report = run.json();
    assert_eq!(report["schema"], "xdsctl.told/v1");
    let told = &report["told"][0];
    assert_eq!(
        (&told["pages"][0]["id"], &told["pages"][0]["effect"]),
        (&json!("hcm-rds-not-from-ads"), &json!("nack"))
    );
    assert_eq!(
        (&told["type"], &told["path"]),
        (&Value::Null, &json!(format!("{MANAGER}.rds.config_source")))
    );
}

#[test]
fn standard_input_may_be_a_log() {
    let errors = "errors validating Cluster resource: [field:lb_policy error:LB policy is not supported]";
    let one = line("envoy.config.cluster.v3.Cluster", "a", errors);
    let other = "E1122 xds_resolver.cc:952] config error (UNAVAILABLE: LDS resource svc: could not find VirtualHost for svc in RouteConfiguration";
    // The client logs everything twice.
    let log = format!("I1122 started\n{one}\n{one}\n{other}\nI1122 nothing to see\n");
    let run = xdsctl(&["explain", "--format=json", "-"], log);
    let report = run.json();
    let told: Vec<_> = report["told"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| (t["name"].as_str(), t["pages"][0]["id"].as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (Some("a"), Some("cds-lb-policy-unsupported")),
            (Some("svc"), Some("target-without-virtual-host"))
        ]
    );
    assert_eq!(run.code, Some(0));
    let first = &report["told"][0];
    assert_eq!((&first["count"], &first["first"]["line"]), (&json!(2), &json!(2)));
    assert_eq!(first["last"], json!({"line": 3, "time": "E1122 04:20:52.149618"}));
    assert_eq!(first["pages"][0]["words"], json!(["LB policy", "not supported"]));
    assert_eq!(first["pages"][0]["at"], "lb_policy");
}

#[test]
fn a_later_line_is_not_about_the_resource_of_an_earlier_one() {
    let one = line(
        "envoy.config.cluster.v3.Cluster",
        "a",
        "errors validating Cluster resource: [field:lb_policy error:LB policy is not supported]",
    );
    let log = format!(
        "{one}\nUNAVAILABLE: circuit breaker drop\n2026/01/01 00:00:00 rpc error: code = Unavailable desc = no children to pick from\n"
    );
    let report = xdsctl(&["explain", "--format=json", "-"], log).json();
    let names: Vec<_> = report["told"]
        .as_array()
        .unwrap()
        .iter()
        .map(|told| told["name"].as_str())
        .collect();
    assert_eq!(names, [Some("a"), None, None]);
}

/// grpc-java says in one line that it rejects a response, and why in the next lines.
#[test]
fn reasons_in_the_next_lines_are_told_in_place_of_the_line_that_announces_them() {
    let told = |reasons: &str| {
        let head =
            "2026-11-03 08:14:06.120 GMT [xds-client<6>] Failed processing CDS Response version 1 nonce 1. Errors:";
        let report = xdsctl(&["explain", "--format=json", "-"], format!("{head}\n{reasons}\n")).json();
        let told = report["told"].as_array().unwrap().iter();
        let told = told.map(|one| {
            let name = one["name"].as_str().unwrap_or("-");
            format!(
                "{} {name} {}",
                one["first"]["line"],
                one["pages"][0]["id"].as_str().unwrap()
            )
        });
        told.collect::<Vec<_>>()
    };
    let reason =
        |name: &str, words: &str| format!("CDS response Cluster '{name}' validation error: Cluster {name}: {words}");
    let both = format!(
        "{}\n{}",
        reason("a", "unsupported lb policy: MAGLEV"),
        reason("b", "unsupported lb policy: MAGLEV")
    );
    assert_eq!(
        told(&both),
        ["1 a cds-lb-policy-unsupported", "3 b cds-lb-policy-unsupported"]
    );
    assert_eq!(
        told(&reason("a", "words of another version")),
        ["1 a response-rejected"]
    );
}

#[test]
fn a_stack_trace_shows_that_grpc_wrote_its_cause() {
    let cause = "Caused by: java.security.cert.CertificateException: No name matching shop.example found";
    let alone = xdsctl(&["explain", cause], "");
    let said = "not recognised; the words, at another path or in a line of gRPC, are those of tls-name-mismatch\n";
    assert!(alone.code == Some(1) && alone.out.contains(said), "{}", alone.out);
    let log = format!(
        "May 10, 2026 1:34:54 PM com.example.Shop pay\nWARNING: io.grpc.StatusRuntimeException: UNAVAILABLE\n\tat io.grpc.stub.ClientCalls.x(ClientCalls.java:1)\n{cause}\n"
    );
    let report = xdsctl(&["explain", "--format=json", "-"], log).json();
    let told = &report["told"][0];
    assert_eq!(told["pages"][0]["id"], "tls-name-mismatch");
    assert_eq!(told["first"]["time"], "May 10, 2026 1:34:54 PM");
}

/// A repetitive log is read in time that grows with its length.
#[test]
fn a_log_of_nothing_but_beginnings_is_read() {
    for piece in [
        "[field:",
        "field:a error:",
        "LDS resource ",
        "LDS response Listener '",
        "a:\n",
        "resource \"",
        "\u{1b}[",
        "{\\\"",
        "resource index 1: ",
        "((",
    ] {
        let long = piece.repeat((1 << 18) / piece.len());
        let start = std::time::Instant::now();
        xdsctl(&["explain", "-"], long);
        assert!(start.elapsed().as_secs() < 30, "{piece}: {:?}", start.elapsed());
    }
}

#[test]
fn exit_code_1_says_that_a_line_is_not_recognised() {
    let run = xdsctl(&["explain", "field:some.where error:field not present"], "");
    assert_eq!(run.code, Some(1));
    assert!(
        run.out
            .contains("\n  not recognised; the words, at another path or in a line of gRPC, are those of "),
        "{}",
        run.out
    );
    let run = xdsctl(&["explain", "field:some.where error:a strange thing"], "");
    assert_eq!(run.code, Some(1));
    assert!(
        run.out
            .starts_with("a strange thing, at some.where\n  not recognised\n"),
        "{}",
        run.out
    );
    let run = xdsctl(&["explain", "something strange happened here"], "");
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    assert!(run.err.starts_with("not recognised: "), "{}", run.err);
    // A single word is taken for an id, and this one does not exist.
    assert_eq!(xdsctl(&["explain", "cds-strange"], "").code, Some(2));
}

#[test]
fn symptoms_have_pages_too() {
    let by_words = xdsctl(&["explain", "No matching route found in xDS route config"], "");
    let by_id = xdsctl(&["explain", "no-route-matches"], "");
    assert_eq!((by_words.code, by_id.code), (Some(0), Some(0)));
    let titles: Vec<&str> = by_words.out.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(titles, ["## What the client does", "## Where to look"]);
    assert!(
        by_id
            .out
            .starts_with("# no-route-matches\n\nThe virtual host has no route"),
        "{}",
        by_id.out
    );
    for symptom in xdsctl_lint::recognise::SYMPTOMS {
        let titles = symptom.page.lines().filter(|line| line.starts_with("## "));
        let titles: Vec<&str> = titles.filter(|title| *title != "## In a server's log").collect();
        assert_eq!(
            titles,
            ["## What the client does", "## In a log", "## Where to look"],
            "{}",
            symptom.id
        );
        assert!(xdsctl_lint::catalogue::find(symptom.id).is_none(), "{}", symptom.id);
    }
}

/// A server's line about a handshake is reported as a server's, with the `admit` command for the
/// same connection.
#[test]
fn a_handshake_at_a_server_leads_to_admit() {
    let told = |words: &str| {
        let line = format!(
            "INFO: [core] [Server #2] grpc: Server.Serve failed to create ServerTransport: connection error: desc = \
             \"ServerHandshake(\\\"10.0.0.7:3456\\\") failed: tls: {words}\""
        );
        let run = xdsctl(&["explain", &line], "");
        let sections: Vec<&str> = run.out.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(sections, ["## In a server's log", "## Where to look"], "{}", run.out);
        run.out
    };
    const ADMIT: &str = "`xdsctl admit --client go --listen HOST:PORT --from 10.0.0.7:3456";
    for (words, asked) in [
        ("first record does not look like a TLS handshake", ""),
        ("client didn't provide a certificate", " --over-tls"),
        (
            "failed to verify certificate: x509: certificate signed by unknown authority",
            " --over-tls --certificate FILE --roots FILE",
        ),
    ] {
        let out = told(words);
        assert!(
            out.contains(&format!("{ADMIT}{asked} --bootstrap FILE DUMP` shows")),
            "{out}"
        );
    }
    let client = xdsctl(
        &[
            "explain",
            "UNAVAILABLE: error reading server preface: remote error: tls: certificate required",
        ],
        "",
    );
    assert!(client.out.contains("→ tls-handshake-failing"), "{}", client.out);
    assert!(client.out.contains("## What the client does"), "{}", client.out);
    assert!(!client.out.contains("`xdsctl admit --client"), "{}", client.out);
}

#[test]
fn lines_of_a_log_without_times_keep_their_numbers() {
    let lines = [
        "2026/01/01 10:00:01 INFO: [core] [Channel #1] Channel created",
        "panic: rpc error: code = Unavailable desc = last resolver error: produced zero addresses",
        "x",
        "UNAVAILABLE: No usable endpoint",
    ];
    let report = xdsctl(&["explain", "--format=json", "-"], lines.join("\n")).json();
    let told = report["told"].as_array().unwrap();
    let told: Vec<_> = told
        .iter()
        .map(|t| (t["words"].as_str().unwrap(), &t["first"]["line"]))
        .collect();
    assert_eq!(told, [(lines[1], &json!(2)), (lines[3], &json!(4))]);
}

#[test]
fn a_reason_that_no_page_has_is_told_beside_others() {
    let log = "\
2026/03/16 14:25:49 WARNING: [xds] [xds-client 0xc0001] Received error for resource \"cart\": some entirely new reason
2026/03/16 14:25:49 WARNING: [xds] [xds-client 0xc0001] Received error for resource \"cart\": some entirely new reason
E1122 xds_client.cc:1] [resource index 0: pay: INVALID_ARGUMENT: another new reason]
UNAVAILABLE: No usable endpoint
";
    let run = xdsctl(&["explain", "--format=json", "-"], log);
    assert_eq!(run.code, Some(1), "{}", run.err);
    let report = run.json();
    let told = report["told"].as_array().unwrap().iter();
    let told: Vec<_> = told
        .map(|one| {
            let first = one["pages"].get(0).map(|page| page["id"].as_str().unwrap());
            (
                one["name"].as_str(),
                first,
                one["count"].as_u64(),
                one["first"]["line"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (Some("cart"), None, Some(2), Some(1)),
            (Some("pay"), None, Some(1), Some(3)),
            (None, Some("no-endpoints"), Some(1), Some(4)),
        ]
    );
    let line = "Received error for resource \"cart\": some entirely new reason";
    let strange = xdsctl(&["explain", line], "");
    assert!(strange.out.is_empty() && strange.code == Some(1), "{}", strange.out);
}

#[test]
fn a_stack_trace_of_java_leads_to_the_certificate_of_another_name() {
    let trace = "\
UNAVAILABLE: io exception
Caused by: javax.net.ssl.SSLHandshakeException: No name matching shop.example found
Caused by: java.security.cert.CertificateException: No name matching shop.example found
\tat java.base/sun.security.util.HostnameChecker.matchDNS(HostnameChecker.java:225)
";
    let run = xdsctl(&["explain", trace], "");
    assert_eq!(run.out.matches("→ tls-name-mismatch").count(), 2, "{}", run.out);
    assert!(!run.out.contains("tls-handshake-failing"), "{}", run.out);
}

#[test]
fn the_short_form_of_a_page_has_what_other_clients_do() {
    let line = "UNAVAILABLE: Listener x with invalid traffic direction: UNSPECIFIED";
    let run = xdsctl(&["explain", line], "");
    assert!(run.out.contains("grpc-java#9157"), "{}", run.out);
}

#[test]
fn a_symptom_of_the_readme_has_its_page() {
    for (words, id) in [
        ("session lost", "session-lost"),
        ("a session is lost", "session-lost"),
        ("no failover", "no-failover"),
    ] {
        let run = xdsctl(&["explain", words], "");
        assert!(
            run.out.starts_with(&format!("# {id}\n")),
            "{words}: {}{}",
            run.out,
            run.err
        );
    }
}

#[test]
fn a_question_in_plain_words_leads_to_symptoms() {
    for (words, id) in [
        ("UNAVAILABLE", "connections-failing"),
        ("UNAVAILABLE", "no-endpoints"),
        ("UNAVAILABLE", "resource-missing"),
        ("failover does not happen", "priority-timeout"),
        ("canary gets nothing", "no-route-matches"),
        ("WeightedPicker::Pick SIGSEGV", "eds-locality-without-endpoints"),
    ] {
        let run = xdsctl(&["explain", words], "");
        assert_eq!(run.code, Some(0), "{words}: {}", run.err);
        assert!(
            run.out
                .lines()
                .any(|line| line.trim_start_matches("# ").starts_with(id)),
            "{words}: {}",
            run.out
        );
    }
    let run = xdsctl(&["explain", "the weather is fine today, is it not"], "");
    assert_eq!(run.code, Some(1));
    assert!(
        run.err
            .contains("knows no rule or symptom by these words. Give the whole line"),
        "{}",
        run.err
    );
}

#[test]
fn a_page_has_its_titles_apart() {
    for id in ["cds-lb-policy-unsupported", "no-route-matches"] {
        let page = xdsctl(&["explain", id], "").out;
        let lines: Vec<&str> = page.lines().collect();
        let titles = (0..lines.len()).filter(|&at| lines[at].starts_with("## "));
        let crowded: Vec<&str> = titles
            .filter(|&at| !lines[at - 1].is_empty())
            .map(|at| lines[at])
            .collect();
        assert_eq!(crowded, [""; 0], "{id}");
        assert!(!page.contains("\n\n\n"), "{page}");
    }
}

/// grpc-go names no path, and quotes whole resources before it says what is wrong.
#[test]
fn messages_of_go_lead_to_their_rules() {
    for (line, rule) in [
        (
            "[xds] transport_socket field has unexpected name: tls",
            "transport-socket-name",
        ),
        (
            "failed to parse inline RDS resp: received route is invalid: route match:{prefix:\"\"} route:{cluster:\"c\"} \
             typed_per_filter_config:{key:\"f\"}: filter override \"f\": no filter implementation found for \"t\"",
            "filter-override-type-unknown",
        ),
        ("no filter implementation found for \"t\"", "hcm-filter-unsupported"),
        (
            "rbac: error constructing matching engine: invalid string matcher safe_regex:{regex:\"(\"}: safe_regex matcher \"(\" is invalid",
            "regex-not-re2",
        ),
    ] {
        let told = xdsctl_lint::recognise::recognised(line);
        assert_eq!(told.len(), 1, "{line}: {told:?}");
        assert_eq!(told[0].pages[0].id(), rule, "{line}");
    }
}
