//! Tests of hostile documents: each ends with located findings, and its size bounds time and
//! memory.
//!
//! Prefixes and changed bytes of harmless documents are tested beside the loaders
//! (`crates/document/src/envelope/document/tests.rs`); `fuzz/` tests the rest.

use std::collections::BTreeSet;
use std::sync::Arc;

use xdsctl_channel::client::{Client, Start};
use xdsctl_channel::sim::{Channel, ChannelOptions, LimitReached, Network, Rpc};
use xdsctl_lb::policy::LoadReport;

use crate::run::run;

/// Returns the report of `xdsctl validate` on a document named `name`.
fn report(name: &str, document: &[u8]) -> serde_json::Value {
    let file = format!("--stdin-filename={name}");
    let (out, _) = run(["validate", "--format=json", &file, "-"], document);
    serde_json::from_slice(&out).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Returns the rules of the findings; panics if a finding has no place.
fn findings(name: &str, document: &[u8]) -> BTreeSet<String> {
    located(name, document, &report(name, document))
}

fn located(name: &str, document: &[u8], report: &serde_json::Value) -> BTreeSet<String> {
    let of_resources = report["resources"].as_array().unwrap().iter().map(|r| &r["findings"]);
    of_resources
        .chain([&report["findings"]])
        .flat_map(|list| list.as_array().unwrap())
        .map(|finding| {
            let end = finding["byte_end"]
                .as_u64()
                .unwrap_or_else(|| panic!("{name}: no place: {finding}"));
            // A binary resource is shown, and located, as text.
            let is_decoded = finding["file"].as_str().is_some_and(|file| file.ends_with("(decoded)"));
            assert!(is_decoded || end <= document.len() as u64, "{name}: {finding}");
            assert!(finding["line"].as_u64() >= Some(1), "{name}: {finding}");
            finding["rule"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[track_caller]
fn check(name: &str, document: impl AsRef<[u8]>, expected: &[&str]) {
    let found = findings(name, document.as_ref());
    let expected: BTreeSet<String> = expected.iter().map(|rule| (*rule).to_owned()).collect();
    assert_eq!(found, expected, "{name}");
}

/// Makes a cluster without a fault, with further fields.
fn cluster(more: &str) -> String {
    format!(
        r#"{{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a","type":"EDS","eds_cluster_config":{{"eds_config":{{"ads":{{}}}}}}{more}}}"#
    )
}

#[test]
fn a_billion_laughs() {
    let mut text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for i in 1..10 {
        let before = vec![format!("*a{}", i - 1); 9].join(", ");
        text += &format!("a{i}: &a{i} [{before}]\n");
    }
    text += "resources: *a9\n";
    let found = findings("laughs.yaml", text.as_bytes());
    assert!(found.contains("dump-limit-exceeded"), "{found:?}");
}

#[test]
fn a_hundred_thousand_brackets() {
    let open = "[".repeat(100_000);
    check("open.json", &open, &["dump-syntax"]);
    let closed = open.clone() + &"]".repeat(100_000);
    assert!(!findings("closed.json", closed.as_bytes()).is_empty());
    let objects = r#"{"a":"#.repeat(100_000);
    check("objects.json", &objects, &["dump-syntax"]);
    let in_field = cluster(&format!(r#","metadata":{open}"#));
    assert!(findings("field.json", in_field.as_bytes()).contains("dump-syntax"));
}

/// Returns the findings of one rule in a report: how many are listed, the message of the last, and
/// the number in the summary.
fn counted(report: &serde_json::Value, rule: &str, severity: &str) -> (usize, String, u64) {
    let of_resources = report["resources"].as_array().unwrap().iter().map(|r| &r["findings"]);
    let all: Vec<&serde_json::Value> = of_resources
        .chain([&report["findings"]])
        .flat_map(|list| list.as_array().unwrap())
        .filter(|finding| finding["rule"] == rule)
        .collect();
    let more = all
        .iter()
        .find(|f| f["message"].as_str().unwrap().contains(" more findings"));
    let message = more.map_or("", |f| f["message"].as_str().unwrap()).to_owned();
    (
        all.len(),
        message,
        report["summary"]["severities"][severity].as_u64().unwrap(),
    )
}

#[test]
fn more_findings_of_a_rule_than_anybody_reads_are_counted() {
    let message = "2001 more findings of this rule are not listed, after 10000".to_owned();
    let many = |item: &str| vec![item; 12_001].join(",");
    let endpoints =
        r#"{"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment","cluster_name":"a""#;
    // The rules are one of the client's checks, one of the reader's, unread fields, and one of the
    // document.
    for (document, rule, severity, others) in [
        (
            // One locality stays, so that the others do not cause a worse fault.
            format!(
                r#"{endpoints},"endpoints":[{},{{"load_balancing_weight":1,"locality":{{}}}}]}}"#,
                many(r#"{"locality":{"region":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}"#)
            ),
            "eds-locality-without-weight",
            "warning",
            0,
        ),
        (
            format!(
                r#"{endpoints},"endpoints":[{}]}}"#,
                many("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"")
            ),
            "dump-bad-value",
            "error",
            // No locality is left.
            1,
        ),
        (
            format!(
                r#"{endpoints},"endpoints":[{{"load_balancing_weight":1,"locality":{{}},"lb_endpoints":[{}]}}]}}"#,
                many(
                    r#"{"endpoint":{"health_check_config":{"hostname":"x"},"address":{"socket_address":{"address":"1.1.1.1","port_value":1}}}}"#
                )
            ),
            "field-ignored",
            "note",
            0,
        ),
        (
            format!(r#"{{"resources":[{},{}]}}"#, cluster(""), many("1")),
            "dump-unknown-shape",
            "warning",
            0,
        ),
    ] {
        let report = report("many.json", document.as_bytes());
        let (listed, last, count) = counted(&report, rule, severity);
        assert_eq!((listed, &last, count), (10_001, &message, 12_001 + others), "{rule}");
    }
}

#[test]
fn findings_of_few_bytes_are_kept_in_proportion_and_counted() {
    let endpoints =
        r#"{"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment","cluster_name":"a""#;
    let many = vec!["{}"; 9_000].join(",");
    let document = format!(r#"{endpoints},"endpoints":[{many},{{"load_balancing_weight":1,"locality":{{}}}}]}}"#);
    let report = report("many.json", document.as_bytes());
    let (listed, last, count) = counted(&report, "eds-locality-without-weight", "warning");
    // As many are kept as the bytes of the message allow. The loader makes the message only a
    // little longer than the text.
    let kept = listed - 1;
    assert!((500..2_000).contains(&kept), "{kept}");
    let message = format!(
        "{} more findings of this rule are not listed, after {kept}",
        9_000 - kept
    );
    assert_eq!((last, count), (message, 9_000));
}

#[test]
fn findings_that_another_one_sums_up_are_not_counted_beside_it() {
    let endpoints = vec!["{}"; 12_001].join(",");
    let document = format!(
        r#"{{"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment","cluster_name":"a","endpoints":[{endpoints}]}}"#
    );
    let report = report("many.json", document.as_bytes());
    let findings = report["resources"][0]["findings"].as_array().unwrap();
    let rules: Vec<&str> = findings
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["eds-without-localities"]);
}

#[test]
fn more_elements_than_anybody_has_are_not_read() {
    let limit = || BTreeSet::from(["dump-limit-exceeded".to_owned()]);
    let message = |report: &serde_json::Value| {
        let all = report["resources"][0]["findings"].as_array().unwrap().iter();
        let found: Vec<&str> = all
            .filter(|finding| finding["rule"] == "dump-limit-exceeded")
            .map(|finding| finding["message"].as_str().unwrap())
            .collect();
        found.join("; ")
    };
    let aliases = |count| cluster(&format!(r#","health_checks":[{}]"#, vec!["{}"; count].join(",")));
    let bare = findings("few.json", aliases(200_000).as_bytes());
    let report = report("many.json", aliases(200_001).as_bytes());
    assert_eq!(
        &located("many.json", aliases(200_001).as_bytes(), &report) - &bare,
        limit()
    );
    assert_eq!(
        message(&report),
        "`health_checks` has more than 200000 elements, the others are not checked"
    );
    let list = |count: usize| {
        (0..count)
            .map(|i| format!(r#""k{i}":{i}"#))
            .collect::<Vec<_>>()
            .join(",")
    };
    let metadata = |count| {
        cluster(&format!(
            r#","metadata":{{"filter_metadata":{{"m":{{{}}}}}}}"#,
            list(count)
        ))
    };
    let bare = findings("few.json", metadata(99_998).as_bytes());
    let report = self::report("many.json", metadata(100_002).as_bytes());
    assert_eq!(
        &located("many.json", metadata(100_002).as_bytes(), &report) - &bare,
        limit()
    );
    assert_eq!(
        message(&report),
        "more than 100000 values in Structs, the others are not checked"
    );
}

#[test]
fn more_clusters_than_a_channel_may_have_are_an_error() {
    let entries: Vec<String> = (0..20_001)
        .map(|i| format!(r#"{{"name":"c{i}","weight":1}}"#))
        .collect();
    let document = format!(
        r#"[{{"@type":"type.googleapis.com/envoy.config.listener.v3.Listener","name":"l","api_listener":{{"api_listener":{{"@type":"type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager","route_config":{{"virtual_hosts":[{{"domains":["*"],"routes":[{{"match":{{"prefix":""}},"route":{{"weighted_clusters":{{"clusters":[{}]}}}}}}]}}]}},"http_filters":[{{"name":"r","typed_config":{{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}}}]}}}}}}]"#,
        entries.join(",")
    );
    let (out, err) = run(["route"], document.as_bytes());
    assert_eq!(String::from_utf8_lossy(&out), "");
    assert_eq!(
        String::from_utf8_lossy(&err),
        "xdsctl: the channel has 20001 clusters, the limit is 20000: start at one of them with --cluster\n"
    );
}

#[test]
fn endpoints_that_too_many_clusters_share_are_an_error() {
    let list = |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(",");
    let endpoint = |i| {
        format!(
            r#"{{"endpoint":{{"address":{{"socket_address":{{"address":"10.0.{}.{}","port_value":80}}}}}}}}"#,
            i >> 8,
            i & 255
        )
    };
    let clusters = list(1000, &|i| {
        format!(
            r#"{{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"c{i}","type":"EDS","eds_cluster_config":{{"eds_config":{{"ads":{{}}}},"service_name":"e"}}}}"#
        )
    });
    let document = format!(
        r#"[{clusters},{{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"all","cluster_type":{{"typed_config":{{"@type":"type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig","clusters":[{}]}}}}}},{{"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment","cluster_name":"e","endpoints":[{{"locality":{{}},"load_balancing_weight":1,"lb_endpoints":[{}]}}]}}]"#,
        list(1000, &|i| format!("\"c{i}\"")),
        list(600, &endpoint),
    );
    // There are 1,216 for each leaf: two lists of 600, six values twice, and four policies. Each
    // occurs again below the aggregate.
    for command in ["tree", "pick"] {
        let (out, err) = run([command, "--cluster=all", "-"], document.as_bytes());
        assert_eq!(String::from_utf8_lossy(&out), "");
        let err = String::from_utf8_lossy(&err);
        assert!(
            err.starts_with("xdsctl: the tree of the channel would have 2433000 policies, endpoints and values of configs, the limit for this input is 500000: "),
            "{err}"
        );
        let (out, err) = run([command, "--cluster=c1", "-"], document.as_bytes());
        assert!(!out.is_empty());
        assert!(!String::from_utf8_lossy(&err).contains("xdsctl: "));
    }
}

#[test]
fn a_channel_with_too_many_policies_and_connections_says_so() {
    let call = |most: usize| {
        let mut client = Client::default();
        client.update(&serde_json::json!([
            {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}},
            {"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "c", "endpoints": [{
                "locality": {}, "load_balancing_weight": 1,
                "lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 80}}}}],
            }]},
        ]));
        let options = ChannelOptions {
            max_machines: Some(most),
            ..ChannelOptions::default()
        };
        let mut channel = Channel::new(client, Start::Cluster("c".to_owned()), Network::default(), options);
        channel.call(Rpc::default()).map(|outcome| outcome.is_some())
    };
    // These are eight policies and the connections to one address, which is watched twice.
    assert_eq!(call(20), Ok(true));
    for most in [1, 7] {
        let error = call(most).unwrap_err();
        assert_eq!(error, LimitReached::Machines(most));
        assert_eq!(
            error.to_string(),
            format!(
                "the channel needs more than {most} LB policies and connections, which is the limit: nothing is known of its RPCs"
            )
        );
    }
}

#[test]
fn more_clusters_inside_of_each_other_than_are_simulated_are_an_error() {
    let answer = |count: usize| {
        let name = |i: usize| format!("c{i}");
        let next = |i: usize| {
            let value = serde_json::json!({"cluster": name(i + 1)});
            serde_json::json!({"policies": [{"typed_extension_config": {"name": "p", "typed_config": {
                "@type": "type.googleapis.com/xds.type.v3.TypedStruct", "type_url": "x/cds_experimental", "value": value}}}]})
        };
        let cluster = |i: usize| {
            let mut cluster: serde_json::Value = serde_json::from_str(&cluster("")).unwrap();
            cluster["name"] = name(i).into();
            cluster["eds_cluster_config"]["service_name"] = "e".into();
            if i + 1 < count {
                cluster["load_balancing_policy"] = next(i);
            }
            cluster
        };
        let route =
            |i: usize| serde_json::json!({"match": {"path": format!("/a.B/{i}")}, "route": {"cluster": name(i)}});
        let routes: Vec<_> = (0..count).map(route).collect();
        let mut resources: Vec<_> = (0..count).map(cluster).collect();
        resources.push(serde_json::json!({
            "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r",
            "virtual_hosts": [{"domains": ["*"], "routes": routes}],
        }));
        resources.push(serde_json::json!({
            "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "e",
            "endpoints": [{"locality": {}, "load_balancing_weight": 1, "lb_endpoints": [
                {"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 80}}}}]}],
        }));
        let document = serde_json::json!(resources).to_string();
        let (out, err) = run(
            ["pick", "--route-config=r", "--method=/a.B/0", "-"],
            document.as_bytes(),
        );
        String::from_utf8(out).unwrap() + &String::from_utf8(err).unwrap()
    };
    let deepest = answer(32);
    assert!(deepest.contains("OK from 10.0.0.1:80"), "{deepest}");
    let beyond = answer(33);
    assert!(
        !beyond.contains("10.0.0.1")
            && beyond.ends_with(
                "xdsctl: more than 32 clusters lead to each other by their LB policies, which is the limit: nothing is known of the \
                 channel's RPCs\n"
            ),
        "{beyond}"
    );
}

#[test]
fn weights_that_stay_as_they_are_take_no_time() {
    let mut client = Client::default();
    let policy = serde_json::json!({"policies": [{"typed_extension_config": {"typed_config": {
        "@type": "type.googleapis.com/xds.type.v3.TypedStruct", "type_url": "x/weighted_round_robin", "value": {},
    }}}]});
    client.update(&serde_json::json!([
        {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
            "eds_cluster_config": {"eds_config": {"ads": {}}}, "load_balancing_policy": policy},
        {"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "c", "endpoints": [{
            "locality": {}, "load_balancing_weight": 1,
            "lb_endpoints": [
                {"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 80}}}},
                {"endpoint": {"address": {"socket_address": {"address": "10.0.0.2", "port_value": 80}}}},
            ],
        }]},
    ]));
    let mut network = Network::default();
    for (address, qps) in [("10.0.0.1:80", 1.0), ("10.0.0.2:80", 2.0)] {
        let report = LoadReport {
            qps,
            cpu_utilization: 1.0,
            ..LoadReport::default()
        };
        network.load.insert(address.to_owned(), Arc::new(report));
    }
    let options = ChannelOptions {
        max_events: Some(1000),
        ..ChannelOptions::default()
    };
    let mut channel = Channel::new(client, Start::Cluster("c".to_owned()), network, options);
    // There is a week before the first report, and one after the last.
    for seconds in [604_800, 1, 10, 1, 604_800, 1] {
        channel.sleep(seconds * 1000).unwrap();
        for _ in 0..10 {
            channel.call(Rpc::default()).unwrap().unwrap();
        }
    }
    // The reports of the last second are in their blackout period, and earlier ones have expired.
    let shares = channel.expected(&Rpc::default());
    assert_eq!(shares["10.0.0.1:80"], 0.5);
}

#[test]
fn advice_of_a_kind_is_counted_too() {
    let names = vec!["\"b\""; 12_002].join(",");
    let aggregate = format!(
        r#"{{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"x","cluster_type":{{"typed_config":{{"@type":"type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig","clusters":[{names}]}}}}}}"#
    );
    let document = format!(
        r#"{{"resources":[{aggregate},{}]}}"#,
        cluster("").replace("\"a\"", "\"b\"")
    );
    let report = report("advice.json", document.as_bytes());
    let (listed, last, count) = counted(&report, "aggregate-duplicate", "warning");
    let message = "2001 more findings of this rule are not listed, after 10000".to_owned();
    assert_eq!((listed, last, count), (10_001, message, 12_001));
}

#[test]
fn a_rejection_is_told_in_part() {
    let routes = vec![r#"{"match":{"prefix":"/"},"route":{"weighted_clusters":{"clusters":[]}}}"#; 2_000].join(",");
    let document = format!(
        r#"[{{"@type":"type.googleapis.com/envoy.config.listener.v3.Listener","name":"l","api_listener":{{"api_listener":{{"@type":"type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager","route_config":{{"virtual_hosts":[{{"domains":["*"],"routes":[{routes}]}}]}},"http_filters":[{{"name":"r","typed_config":{{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}}}]}}}}}}]"#
    );
    let (out, _) = run(["pick"], document.as_bytes());
    let text = String::from_utf8(out).unwrap();
    assert!(text.len() < 40_000, "{} bytes", text.len());
    assert!(text.contains(" more errors"), "{text}");
}

#[test]
fn a_string_of_64_mib() {
    let long = "x".repeat(64 << 20);
    check(
        "name.json",
        cluster(&format!(r#","alt_stat_name":"{long}""#)),
        &["field-ignored"],
    );
    let unclosed = cluster(&format!(r#","alt_stat_name":"{long}"#));
    let cut = unclosed.trim_end_matches('}');
    assert!(findings("cut.json", cut.as_bytes()).contains("dump-syntax"));
}

#[test]
fn a_string_beyond_the_limit_of_a_resource() {
    // A document of a gibibyte would end in the same way, but takes long to make.
    let long = vec![b'x'; 257 << 20];
    let document = [
        b"[".to_vec(),
        cluster("").into_bytes(),
        b",".to_vec(),
        br#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"long","alt_stat_name":""#.to_vec(),
        long,
        b"\"},".to_vec(),
        cluster("").replace(r#""name":"a""#, r#""name":"b""#).into_bytes(),
        b"]".to_vec(),
    ]
    .concat();
    let report = report("long.json", &document);
    assert!(located("long.json", &document, &report).contains("dump-limit-exceeded"));
    let verdicts: Vec<(&str, &str)> = report["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| {
            (
                resource["name"].as_str().unwrap(),
                resource["verdict"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        verdicts,
        [("a", "accepted"), ("long", "not_checked"), ("b", "accepted")]
    );
}

#[test]
fn bytes_that_are_no_text() {
    check("nul.json", cluster(",\"alt_stat_name\":\"a\0b\""), &["dump-syntax"]);
    check("nul.json", b"\0\0\0\0", &["dump-syntax"]);
    check(
        "surrogate.json",
        cluster(r#","alt_stat_name":"\ud83d""#),
        &["dump-bad-value"],
    );
    let mut bytes = cluster(r#","alt_stat_name":"?""#).into_bytes();
    for byte in &mut bytes {
        if *byte == b'?' {
            *byte = 0xff;
        }
    }
    check("utf8.json", bytes, &["dump-bad-value"]);
    check(
        "dump.json.gz",
        b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\xae\x05\0",
        &["dump-not-configuration"],
    );
    check(
        "dump.png",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        &["dump-not-configuration"],
    );
}

#[test]
fn names_given_twice() {
    let bare = findings("plain.json", cluster("").as_bytes());
    let with = |more: &str| &findings("twice.json", cluster(more).as_bytes()) - &bare;
    let only = |rule: &str| BTreeSet::from([rule.to_owned()]);
    assert_eq!(with(r#","name":"b""#), only("dump-duplicate-key"));
    assert_eq!(with(r#","edsClusterConfig":{}"#), only("dump-duplicate-key"));
    assert_eq!(with(r#","cluster_type":{"name":"x"}"#), only("dump-two-oneof-members"));
    let url = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    assert_eq!(with(&format!(r#","@type":"{url}""#)), only("dump-second-type"));
}

#[test]
fn files_that_are_joined_without_a_line_between_them_are_an_error() {
    let file = |kind: &str, name: &str| format!("'@type': type.googleapis.com/envoy.config.{kind}\n{name}: a\n");
    let cluster = file("cluster.v3.Cluster", "name") + "type: EDS\neds_cluster_config: {eds_config: {ads: {}}}\n";
    let others = [
        file("endpoint.v3.ClusterLoadAssignment", "cluster_name"),
        cluster.clone(),
    ];
    for other in others {
        let has = |text: String| findings("joined.yaml", text.as_bytes()).contains("dump-second-type");
        assert!(has(format!("{cluster}{other}")), "{other}");
        assert!(!has(format!("{cluster}---\n{other}")), "{other}");
        // Every command says that the input is incomplete.
        let joined = crate::cli::xdsctl(&["who", "a", "-"], format!("{cluster}{other}"));
        assert!(joined.err.contains("incomplete input"), "{}", joined.err);
    }
}

#[test]
fn numbers_of_every_kind() {
    let weight = |value: &str| {
        let text = format!(
            r#"{{"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment","cluster_name":"a","endpoints":[{{"locality":{{}},"load_balancing_weight":{value},"lb_endpoints":[{{"endpoint":{{"address":{{"socket_address":{{"address":"1.2.3.4","port_value":80}}}}}}}}]}}]}}"#
        );
        findings("number.json", text.as_bytes()).contains("dump-bad-value")
    };
    for good in ["1", "\"1\"", "1.0", "1e1", "4294967295"] {
        assert!(!weight(good), "{good}");
    }
    let huge = "9".repeat(100_000);
    for bad in ["4294967296", "-1", "1.5", "1e400", "\"x\"", "{}", "true", &huge] {
        assert!(weight(bad), "{bad:.20}");
    }
}

#[test]
fn an_any_whose_bytes_lie() {
    // The length promises ten bytes of a Cluster, but one is there.
    let any = b"\x0a\x33type.googleapis.com/envoy.config.cluster.v3.Cluster\x12\x02\x0a\x0a";
    check("lie.binpb", any, &["resource-undecodable"]);
    // The same message is inside JSON, as grpcurl prints an Any that it cannot open.
    let text = cluster(
        r#","transport_socket":{"name":"t","typed_config":{"@type":"type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext","@value":"Cgo="}}"#,
    );
    assert!(findings("lie.json", text.as_bytes()).contains("any-undecodable"));
}

#[test]
fn a_stream_that_is_cut_off_keeps_what_came_before() {
    let whole = cluster("");
    let half = &whole[..whole.len() / 2];
    let text = format!("[{},{half}", vec![whole.as_str(); 1000].join(","));
    let found = findings("cut.json", text.as_bytes());
    assert!(found.contains("dump-syntax"), "{found:?}");
    assert!(found.contains("dump-duplicate-resource"), "{found:?}");
}

/// A format, and a function that makes a response with three clusters in it, with something added
/// to the middle one.
type Form = (&'static str, fn(&[u8]) -> Vec<u8>);

/// The response in each format.
const FORMS: [Form; 4] = [
    ("x.json", |more| between(b"{\"resources\": [", more, b"]}")),
    ("x.yaml", |more| between(b"# YAML\nresources: [", more, b"]\n")),
    ("x.textproto", |more| {
        let one = |name: &str, more: &[u8]| {
            let head = format!(
                "resources {{ [type.googleapis.com/envoy.config.cluster.v3.Cluster] {{ name: '{name}' type: EDS eds_cluster_config {{ eds_config {{ ads {{}} }} }} "
            );
            [head.as_bytes(), more, b" } }\n"].concat()
        };
        let head = b"# proto-message: envoy.service.discovery.v3.DiscoveryResponse\n".to_vec();
        [head, one("before", b""), one("bad", more), one("after", b"")].concat()
    }),
    ("x.binpb", |more| {
        let url = b"type.googleapis.com/envoy.config.cluster.v3.Cluster";
        let one = |name: &[u8], more: &[u8]| {
            let cluster = [
                field(1, name),
                b"\x10\x03\x1a\x04\x0a\x02\x1a\x00".to_vec(),
                more.to_vec(),
            ]
            .concat();
            field(2, &[field(1, url), field(2, &cluster)].concat())
        };
        [one(b"before", b""), one(b"bad", more), one(b"after", b"")].concat()
    }),
];

fn between(head: &[u8], more: &[u8], tail: &[u8]) -> Vec<u8> {
    let one = |name: &str| cluster("").replace(r#""name":"a""#, &format!(r#""name":"{name}""#));
    let bad = one("bad");
    let bad = [bad.trim_end_matches('}').as_bytes(), b"}}}", more, b"}"].concat();
    [
        head,
        one("before").as_bytes(),
        b",\n",
        &bad,
        b",\n",
        one("after").as_bytes(),
        tail,
    ]
    .concat()
}

/// Writes a length-delimited field.
fn field(number: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    let mut len = body.len();
    while len >= 0x80 {
        bytes.push((len & 0x7f) as u8 | 0x80);
        len >>= 7;
    }
    bytes.push(len as u8);
    [bytes, body.to_vec()].concat()
}

/// Adds something to the middle cluster of a response in one format. These findings must be there
/// and no others. Both neighbours must be accepted, the second one only if the document goes on.
/// Returns what is wrong, if anything.
fn in_the_middle(form: usize, more: &[u8], expected: &[&str]) -> Option<String> {
    let (name, response) = FORMS[form];
    let document = response(more);
    let report = report(name, &document);
    let found = located(name, &document, &report);
    let usual = located(name, &response(b""), &self::report(name, &response(b"")));
    let accepted: BTreeSet<&str> = report["resources"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|resource| resource["verdict"] == "accepted")
        .filter_map(|resource| resource["name"].as_str())
        .collect();
    let surplus: Vec<&String> = found.difference(&usual).collect();
    // Broken syntax ends a document, and so does the limit for the levels of YAML.
    let goes_on = !found.contains("dump-syntax") && (form != YAML || !found.contains("dump-limit-exceeded"));
    let is_right = surplus == expected && accepted.contains("before") && (!goes_on || accepted.contains("after"));
    let shown = more.escape_ascii().to_string();
    (!is_right).then(|| format!("{name} {shown:.100}: {surplus:?}, accepted {accepted:?}\n"))
}

const JSON: usize = 0;
const YAML: usize = 1;
const TEXT: usize = 2;
const BINARY: usize = 3;

#[test]
fn one_bad_resource_harms_no_other_in_any_format() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let digits = "9".repeat(100_000);
    let mut wrong = String::new();
    for (form, more, expected) in [
        // A NUL byte is wrong, but a string may have one that is written as an escape.
        (JSON, ",\"alt_stat_name\":\"a\0b\"", &["dump-syntax"][..]),
        (YAML, ",\"alt_stat_name\":\"a\0b\"", &["dump-syntax"]),
        (TEXT, "alt_stat_name: 'a\0b'", &["dump-syntax"]),
        (JSON, r#","alt_stat_name":"a\u0000b""#, &["field-ignored"]),
        (YAML, r#","alt_stat_name":"a\0b""#, &["field-ignored"]),
        (TEXT, r"alt_stat_name: 'a\000b'", &["field-ignored"]),
        // This is half of a surrogate pair.
        (JSON, r#","alt_stat_name":"\ud83d""#, &["dump-bad-value"]),
        (YAML, r#","alt_stat_name":"\ud83d""#, &["dump-syntax"]),
        (TEXT, r"alt_stat_name: '\ud83d'", &["dump-bad-value"]),
        // A name occurs twice, in one spelling or in two.
        (
            JSON,
            r#","alt_stat_name":"a","alt_stat_name":"b""#,
            &["dump-duplicate-key", "field-ignored"],
        ),
        (
            YAML,
            r#","alt_stat_name":"a","alt_stat_name":"b""#,
            &["dump-duplicate-key", "field-ignored"],
        ),
        (
            TEXT,
            "alt_stat_name: 'a' alt_stat_name: 'b'",
            &["dump-duplicate-key", "field-ignored"],
        ),
        (
            JSON,
            r#","altStatName":"a","alt_stat_name":"b""#,
            &["dump-duplicate-key", "field-ignored"],
        ),
        (
            YAML,
            r#","altStatName":"a","alt_stat_name":"b""#,
            &["dump-duplicate-key", "field-ignored"],
        ),
        // Two members of a oneof are set.
        (JSON, r#","cluster_type":{"name":"x"}"#, &["dump-two-oneof-members"]),
        (YAML, r#","cluster_type":{"name":"x"}"#, &["dump-two-oneof-members"]),
        (TEXT, "cluster_type { name: 'x' }", &["dump-two-oneof-members"]),
        // Numbers may also be strings.
        (JSON, r#","per_connection_buffer_limit_bytes":"5""#, &["field-ignored"]),
        (YAML, r#","per_connection_buffer_limit_bytes":"5""#, &["field-ignored"]),
        (
            TEXT,
            "per_connection_buffer_limit_bytes { value: '5' }",
            &["field-ignored"],
        ),
        (
            JSON,
            &format!(r#","per_connection_buffer_limit_bytes":{digits}"#),
            &["dump-bad-value"],
        ),
        (
            YAML,
            &format!(r#","per_connection_buffer_limit_bytes":{digits}"#),
            &["dump-bad-value"],
        ),
        (
            TEXT,
            &format!("per_connection_buffer_limit_bytes {{ value: {digits} }}"),
            &["dump-bad-value"],
        ),
        // The brackets are nested deeply.
        (JSON, &format!(r#","metadata":{deep}"#), &["dump-bad-value"]),
        (YAML, &format!(r#","metadata":{deep}"#), &["dump-limit-exceeded"]),
    ] {
        wrong.extend(in_the_middle(form, more.as_bytes(), expected));
    }
    for (more, expected) in [
        // A NUL byte is text; half a character, and a length beyond the bytes, are not.
        (b"\xe2\x01\x03a\0b".to_vec(), &["field-ignored"][..]),
        (
            b"\xe2\x01\x03\xed\xa0\xbd".to_vec(),
            &["field-ignored", "resource-undecodable"],
        ),
        (b"\x0a\x7fx".to_vec(), &["resource-undecodable"]),
        (
            b"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01".to_vec(),
            &["resource-undecodable"],
        ),
        (b"\x0b".repeat(100_000), &["resource-undecodable"]),
    ] {
        wrong.extend(in_the_middle(BINARY, &more, expected));
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_dump_that_is_cut_off_anywhere_ends_in_a_finding() {
    for (name, response) in FORMS {
        let document = response(b"");
        for end in 1..document.len() {
            let cut = &document[..end];
            let report = report(name, cut);
            let found = located(name, cut, &report);
            // The end may come after a whole resource.
            let resources = report["resources"].as_array().unwrap();
            let is_whole = !resources.is_empty() && resources.iter().all(|resource| resource["verdict"] == "accepted");
            assert!(!found.is_empty() || is_whole, "{name} {end}");
        }
    }
}

#[test]
fn a_secret_is_never_printed() {
    let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
    let common = "\"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
    let document = format!(
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: a
transport_socket:
  name: tls
  typed_config:
    {common}
    common_tls_context:
      tls_certificates:
      - private_key: \"{key}\"
        unknown: 1
      - private_key: {{inline_bytes: \"{key}!\", inline_byte: 1}}
      - private_key:
          unknown: 1
          inline_string: |
            -----BEGIN PRIVATE KEY-----
            {key}
            -----END PRIVATE KEY-----
        unknown: 1
      validation_context: {{trusted_ca: {{inline_strings: 1, inline_string: {key}}}}}
"
    );
    for format in ["human", "json"] {
        let (out, _) = run(["validate", "--all", "--format", format, "-"], document.as_bytes());
        let report = String::from_utf8(out).unwrap();
        assert!(report.contains("dump-bad-value"), "{report}");
        assert!(report.contains("dump-unknown-field"), "{report}");
        assert!(!report.contains(&key[..12]), "{report}");
    }
}
