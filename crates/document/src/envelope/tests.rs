//! Tests of the shapes: what a document yields, line by line.

use super::*;
use crate::source::SourceMap;
use xdsctl_model::diag::MAX_FINDINGS_PER_RULE;

const CLUSTER: &str = r#"{"@type":"t/envoy.config.cluster.v3.Cluster","name":"c"}"#;

/// Returns what a document yields, one line each: world, list, stage, type, outer name, whether it
/// has bytes; then the findings.
fn load_as(text: &str, assume: Option<xdsctl_model::resource::ResourceType>) -> Vec<String> {
    let options = LoadOptions {
        assume,
        ..LoadOptions::default()
    };
    load_with(text, options)
}

fn load_with(text: &str, options: LoadOptions) -> Vec<String> {
    let mut sources = SourceMap::new();
    let id = sources.add("x", text.as_bytes().to_vec());
    let source = sources.get(id).unwrap();
    let loaded = crate::load::run(Some(1), |l, e| l.json(id, source.bytes(), options, e), |r| r);
    let mut lines: Vec<String> = loaded
        .results
        .iter()
        .map(|r| {
            let scope = loaded.loader.worlds[r.world.0 as usize].scope.as_deref().unwrap_or("-");
            let type_name = r.type_url.rsplit(['.', '/']).next().unwrap();
            let name = r.wrapper_name.as_deref().unwrap_or("-");
            let bytes = r.bytes.as_ref().map_or("absent".to_owned(), |b| b.len().to_string());
            let status = r.status.as_deref().map_or(String::new(), |s| {
                [&s.client, &s.server, &s.error, &s.rejected_version, &s.version]
                    .map(|s| format!(" {}", s.as_deref().unwrap_or("-")))
                    .concat()
            });
            format!("{scope} {:?} {:?} {type_name} {name} {bytes}{status}", r.label, r.stage)
        })
        .collect();
    lines.extend(loaded.results.iter().flat_map(|r| &r.notes).map(|note| {
        let place = source.line_column(note.span.start);
        format!("{} {}:{}", note.diagnostic.rule.id, place.line, place.column)
    }));
    lines.extend(loaded.loader.findings.iter().map(|f| {
        let place = source.line_column(f.span.start);
        format!("{} {}:{}", f.diagnostic.rule.id, place.line, place.column)
    }));
    lines.extend(
        loaded
            .loader
            .bootstraps
            .iter()
            .map(|b| format!("bootstrap {}..{}", b.span.start, b.span.end)),
    );
    lines
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(load_as(text, None), expected, "{text}");
}

#[test]
fn bare_resources_and_lists_of_them() {
    check(CLUSTER, &["- None Active Cluster - 3"]);
    check(&format!("[{CLUSTER},\n{CLUSTER}]"), &["- None Active Cluster - 3"; 2]);
    check(&format!("{CLUSTER}\n{CLUSTER}"), &["- None Active Cluster - 3"; 2]);
    check(
        r#"{"name":"c","@type":"t/envoy.config.cluster.v3.Cluster"}"#,
        &["- None Active Cluster - 3"],
    );
    check(
        r#"{"@type":"t/envoy.extensions.transport_sockets.tls.v3.Secret"}"#,
        &["- None Active Secret - absent"],
    );
}

#[test]
fn untyped_resources_are_known_by_their_fields() {
    for (text, expected) in [
        (r#"[{"clusterName":"e","endpoints":[]}]"#, "ClusterLoadAssignment - 3"),
        (r#"[{"name":"r","virtualHosts":[]}]"#, "RouteConfiguration - 3"),
        (r#"[{"name":"l","address":{"socketAddress":{}}}]"#, "Listener - 13"),
        (r#"{"name":"c","type":"EDS"}"#, "Cluster - 5"),
    ] {
        check(text, &[&format!("- None Active {expected}")]);
    }
    check(
        r#"{"name":"package","type":"module","version":"1","main":"x"}"#,
        &["dump-unknown-shape 1:1"],
    );
    let cluster = load_as(r#"{"name":"c"}"#, Some(xdsctl_model::resource::ResourceType::Cluster));
    assert_eq!(cluster, ["- None Active Cluster - 3"]);
}

#[test]
fn discovery_responses_wrapped_or_not() {
    check(
        &format!(r#"{{"resources":[{CLUSTER}],"typeUrl":"t/x"}}"#),
        &["- None Active Cluster - 3"],
    );
    let wrapped =
        format!(r#"{{"@type":"t/envoy.service.discovery.v3.Resource","resource":{CLUSTER},"version":"7","name":"w"}}"#);
    check(
        &format!(r#"{{"resources":[{wrapped}]}}"#),
        &["- None Active Cluster w 3 - - - - 7"],
    );
    check(
        &format!(r#"{{"resources":[{{"name":"w","resource":{CLUSTER}}}]}}"#),
        &["- None Active Cluster w 3"],
    );
    let late = r#"{"resources":[{"name":"c"}],"type_url":"t/envoy.config.cluster.v3.Cluster"}"#;
    check(late, &["- None Active Cluster - 3"]);
}

#[test]
fn every_list_of_a_config_dump() {
    let section = |name: &str, body: &str| format!(r#"{{"@type":"t/envoy.admin.v3.{name}ConfigDump",{body}}}"#);
    let text = format!(
        r#"{{"configs":[{},{},{},{}]}}"#,
        section(
            "Bootstrap",
            r#""bootstrap":{"static_resources":{"clusters":[{"name":"x"}]}}"#
        ),
        section(
            "Clusters",
            &format!(
                r#""version_info":"1","static_clusters":[{{"cluster":{CLUSTER}}}],"dynamicActiveClusters":[{{"cluster":{CLUSTER},"version_info":"2"}}],"dynamic_warming_clusters":[{{"cluster":{CLUSTER}}}]"#
            )
        ),
        section(
            "Listeners",
            r#""dynamic_listeners":[{"name":"l","active_state":{"listener":{"@type":"t/envoy.config.listener.v3.Listener"}},"draining_state":{"version_info":"3","listener":{"@type":"t/envoy.config.listener.v3.Listener"}},"error_state":{"failed_configuration":{"@type":"t/envoy.config.listener.v3.Listener"},"details":"bad"},"client_status":"NACKED"},{"name":"gone","client_status":"DOES_NOT_EXIST"}]"#
        ),
        section(
            "Secrets",
            r#""static_secrets":[{"name":"s","secret":{"@type":"t/x.Secret"}}]"#
        ),
    );
    check(
        &text,
        &[
            "- Static Active Cluster - 3",
            "- Dynamic Active Cluster - 3 - - - - 2",
            "- Dynamic Warming Cluster - 3",
            "- Dynamic Active Listener l 0",
            "- Dynamic Draining Listener l 0 - - - - 3",
            "- Dynamic Failed Listener l 0 NACKED - bad - -",
            "- Dynamic Active Listener gone absent DOES_NOT_EXIST - - - -",
            "- Static Active Secret s absent",
        ],
    );
    check(
        &format!(
            r#"{{"configs":[{{"@type":"t/envoy.admin.v3.ClustersConfigDump.DynamicCluster","cluster":{CLUSTER}}}]}}"#
        ),
        &["- None Active Cluster - 3"],
    );
    check(
        r#"{"dynamic_active_clusters":[{"cluster":{"name":"c"}},{"cluster":{"name":"c"}}]}"#,
        &[
            "- Dynamic Active Cluster - 3",
            "- Dynamic Active Cluster - 3",
            "dump-missing-type 1:40",
        ],
    );
}

#[test]
fn csds_has_a_world_for_each_client() {
    let generic = format!(
        r#"{{"generic_xds_configs":[{{"type_url":"t/envoy.config.cluster.v3.Cluster","name":"c","xds_config":{CLUSTER},"client_status":"NACKED","error_state":{{"details":"no","version_info":"9"}}}},{{"xdsConfig":{{"name":"c"}},"typeUrl":"t/envoy.config.cluster.v3.Cluster","configStatus":"STALE"}}],"client_scope":"xds:///a"}}"#
    );
    let old = format!(r#"{{"xdsConfig":[{{"clusterConfig":{{"dynamicActiveClusters":[{{"cluster":{CLUSTER}}}]}}}}]}}"#);
    check(
        &format!(r#"{{"config":[{generic},{old}]}}"#),
        &[
            "xds:///a None Active Cluster c 3 NACKED - no 9 -",
            "xds:///a None Active Cluster - 3 - STALE - - -",
            "config[1] Dynamic Active Cluster - 3",
            "dump-missing-type 1:254",
        ],
    );
    check(
        r#"{"config":[{"xdsConfig":[{"clusterConfig":{"dynamicActiveClusters":[{"cluster":{"name":"c"}}]}}]}]}"#,
        &["dump-v2 1:43"],
    );
}

#[test]
fn states_are_names_or_numbers() {
    let generic = |status: &str| {
        format!(r#"{{"generic_xds_configs":[{{"type_url":"t/envoy.config.cluster.v3.Cluster","name":"c",{status}}}]}}"#)
    };
    let line = |status: &str| format!("- None Active Cluster c absent {status} - - -");
    for (status, expected) in [
        (r#""client_status":4"#, "NACKED -"),
        (r#""clientStatus":6,"configStatus":4"#, "TIMEOUT ERROR"),
        (r#""client_status":"REQUESTED","config_status":3"#, "REQUESTED STALE"),
        (r#""client_status":99"#, "99 -"),
    ] {
        check(&generic(status), &[&line(expected)]);
    }
    check(
        &generic(r#""client_status":true"#),
        &["- None Active Cluster c absent", "dump-unknown-shape 1:100"],
    );
    let mut options = LoadOptions::default();
    options.transcode.bare_strings = true;
    let yaml = load_with(&generic(r#""version_info":1.0,"client_status":4"#), options);
    assert_eq!(yaml, ["- None Active Cluster c absent NACKED - - - 1.0"]);
    let old = r#"{"xds_config":[{"status":4,"client_status":3,"cluster_config":{"dynamic_active_clusters":[{"version_info":"1"}]}}]}"#;
    check(old, &["- Dynamic Active Cluster - absent NACKED ERROR - - 1"]);
    let dump = r#"{"dynamic_listeners":[{"name":"l","client_status":2}]}"#;
    check(dump, &["- Dynamic Active Listener l absent DOES_NOT_EXIST - - - -"]);
}

#[test]
fn wrappers_of_other_tools() {
    check(
        &format!(
            r#"{{"ns":{{"pod-1":{{"configs":[{{"@type":"t/envoy.admin.v3.ClustersConfigDump","static_clusters":[{{"cluster":{CLUSTER}}}]}}]}},"pod-2":{{"resources":[{CLUSTER}]}}}}}}"#
        ),
        &["ns/pod-1 Static Active Cluster - 3", "ns/pod-2 None Active Cluster - 3"],
    );
    check(
        r#"{"type.googleapis.com/envoy.config.cluster.v3.Cluster":{"n":{"name":"c"}},"diff":[]}"#,
        &["- None Active Cluster n 3"],
    );
    check(
        r#"{"Clusters":[{"name":"c"}],"Endpoints":[{"cluster_name":"c"}],"Listeners":[],"Routes":[{"name":"r"}]}"#,
        &[
            "- None Active Cluster - 3",
            "- None Active ClusterLoadAssignment - 3",
            "- None Active RouteConfiguration - 3",
        ],
    );
    check(
        &format!(
            r#"{{"apiVersion":"v1","kind":"List","items":[{{"apiVersion":"cilium.io/v2","kind":"CiliumEnvoyConfig","spec":{{"resources":[{CLUSTER}]}}}}]}}"#
        ),
        &["- None Active Cluster - 3"],
    );
    check(
        r#"{"node":{},"static_resources":{"clusters":[{"name":"c"}]},"admin":{}}"#,
        &["- Static Active Cluster - 3"],
    );
}

#[test]
fn a_map_by_type_and_name_is_one_world() {
    let route = r#"{"@type":"t/envoy.config.route.v3.RouteConfiguration","name":"r"}"#;
    let both = ["- None Active RouteConfiguration - 3", "- None Active Cluster - 3"];
    let by_type = format!(r#"{{"routes":{{"r":{route}}},"clusters":{{"c":{CLUSTER}}}}}"#);
    check(&by_type, &both);
    check(&format!(r#"{{"r/rds":{route},"c/cds":{CLUSTER}}}"#), &both);
    check(
        &format!(r#"{{"node-1":{by_type},"node-2":{{"clusters":{{"c":{CLUSTER}}}}}}}"#),
        &[
            "node-1 None Active RouteConfiguration - 3",
            "node-1 None Active Cluster - 3",
            "node-2 None Active Cluster - 3",
        ],
    );
}

#[test]
fn a_misspelt_member_of_a_response_is_no_world() {
    check(
        &format!(r#"{{"typeUrl":"t/envoy.config.cluster.v3.Cluster","resurces":[{CLUSTER}]}}"#),
        &["dump-unknown-field 1:59"],
    );
    check(
        &format!(r#"{{"version_info":"7","resources":[{CLUSTER}],"noncee":"1","else":{{}}}}"#),
        &["- None Active Cluster - 3", "dump-unknown-field 1:101"],
    );
}

#[test]
fn a_resource_of_a_type_that_nobody_knows_is_reported() {
    for name in ["envoy.config.cluster.v3.Clustr", "acme.X", "envoy.cluster.v3.Cluster"] {
        let strange = format!(r#"{{"@type":"t/{name}","name":"a"}}"#);
        let found = load_as(&format!("[{strange},{CLUSTER}]"), None);
        assert!(
            found.contains(&"dump-unknown-resource-type 1:2".to_owned()),
            "{found:?}"
        );
    }
    // A wrapper in a wrapper, and a wrapper in the place of a resource.
    let wrapped = |name: &str, field: &str| format!(r#"{{"@type":"t/{name}","{field}":{CLUSTER}}}"#);
    let resource = "envoy.service.discovery.v3.Resource";
    for strange in [
        wrapped("google.protobuf.Any", "value"),
        wrapped("xds.core.v3.CollectionEntry", "inline_entry"),
        wrapped(resource, "resource").replace(CLUSTER, &wrapped(resource, "resource")),
    ] {
        let found = load_as(&format!(r#"{{"resources":[{strange},{CLUSTER}]}}"#), None);
        let is_told = found
            .iter()
            .any(|found| found.starts_with("dump-unknown-resource-type 1:"));
        assert!(is_told, "{found:?}");
    }
    assert_eq!(load_as(&format!("[{}]", wrapped(resource, "resource")), None).len(), 1);
    for name in [
        "envoy.extensions.transport_sockets.tls.v3.Secret",
        "envoy.service.runtime.v3.Runtime",
        "envoy.config.route.v3.ScopedRouteConfiguration",
        "envoy.config.core.v3.TypedExtensionConfig",
    ] {
        let found = load_as(&format!(r#"[{{"@type":"t/{name}","name":"a"}},{CLUSTER}]"#), None);
        assert_eq!(found.len(), 2, "{found:?}");
    }
}

#[test]
fn a_finding_that_is_taken_back_leaves_room_for_others_of_its_rule() {
    let foreign = r#"{"@type":"t/a.Foreign","name":"a"}"#;
    // The type of the response is known before its resources or after them.
    let response = format!(
        r#"{{"type_url":"t/envoy.config.cluster.v3.Cluster","resources":[{foreign}]}}
        {{"resources":[{foreign},{foreign}],"type_url":"t/envoy.config.cluster.v3.Cluster"}}
        "#
    );
    let untyped = format!(r#"{{"resources":[{foreign}]}}"#);
    let text = response.repeat(MAX_FINDINGS_PER_RULE / 2) + &untyped;
    let findings: Vec<String> = load_as(&text, None)
        .into_iter()
        .filter(|line| line.starts_with("dump-"))
        .collect();
    let line = MAX_FINDINGS_PER_RULE + 1;
    assert_eq!(findings, [format!("dump-unknown-resource-type {line}:23")]);
}

#[test]
fn a_list_of_a_snapshot_that_is_passed_over_is_reported() {
    check(
        r#"{"clusters":[{"name":"a","type":"EDS"}],"listeners":[{"name":"l","x":1,"y":2}],"routes":null}"#,
        &["- None Active Cluster - 5", "dump-unknown-shape 1:53"],
    );
}

#[test]
fn what_is_beside_an_operation_is_searched() {
    check(
        &format!(r#"{{"op":"add","path":"/x","value":{CLUSTER}}}"#),
        &["dump-unknown-shape 1:1"],
    );
    check(
        &format!(r#"{{"op":"get","answer":{CLUSTER}}}"#),
        &["- None Active Cluster - 3"],
    );
}

#[test]
fn where_a_dump_is_from_is_no_resource() {
    let dump = |origin: &str| {
        format!(r#"{{"configs":[{{"@type":"t/envoy.admin.v3.ClustersConfigDump"}}],"xdsctl":{origin}}}"#)
    };
    let url = r#""type_url":"type.googleapis.com/envoy.config.cluster.v3.Cluster""#;
    check(
        &dump(&format!(
            r#"{{"source":"a\\b","responses":[{{{url},"nonce":"\"1\""}}]}}"#
        )),
        &["dump-without-resource 1:1"],
    );
    for other in [
        format!("[{CLUSTER}]"),
        format!(r#"{{{url},"value":"CgNiYWQQAzAF"}}"#),
        format!(r#"{{"responses":[{{{url},"value":"CgNiYWQQAzAF"}}]}}"#),
        format!(r#"{{"responses":[[{{{url}}}]]}}"#),
        format!(r#"{{"generic_xds_configs":[{{{url},"xds_config":{{"name":"a"}}}}]}}"#),
    ] {
        check(&dump(&other), &["dump-unknown-shape 1:71"]);
    }
}

#[test]
fn documents_that_hold_no_resources() {
    check("", &[]);
    check("{}", &["dump-unknown-shape 1:1"]);
    check("7", &["dump-unknown-shape 1:1"]);
    check(r#" {"node":{},"xds_servers":[]} "#, &["bootstrap 1..29"]);
    check(r#"{"cluster_statuses":[]}"#, &["dump-clusters-status 1:1"]);
    check(
        r#"{"configs":[{"@type":"t/envoy.admin.v2alpha.ClustersConfigDump"},{"@type":"t/envoy.admin.v2alpha.RoutesConfigDump"}]}"#,
        &["dump-v2 1:13"],
    );
    check(r#"{"@type":"t/envoy.api.v2.Cluster"}"#, &["dump-v2 1:1"]);
}

#[test]
fn a_resource_that_could_not_be_printed_is_not_an_empty_one() {
    let of = |rest: &str| {
        load_as(
            &format!(r#"[{CLUSTER},{{"@type":"t/envoy.config.cluster.v3.Cluster",{rest}}}]"#),
            None,
        )
    };
    for (rest, size) in [
        (r#""@error":"no","@value":"CgFi""#, "3"),
        (r#""@value":"CgFi""#, "3"),
        (r#""@error":"no""#, "absent"),
        (r#""@value":"!""#, "absent"),
        (r#""@value":7"#, "absent"),
    ] {
        let lines = of(rest);
        assert_eq!(
            lines.get(1).map(|line| line.ends_with(&format!(" {size}"))),
            Some(true),
            "{lines:?}"
        );
    }
}

#[test]
fn what_is_before_a_syntax_error_is_kept() {
    check(
        &format!("[{CLUSTER},\n{{\"@type\":\"t/envoy.config.cluster.v3.Cluster\",\"name\":\"tru"),
        &["- None Active Cluster - 3", "dump-syntax 2:57"],
    );
    check(
        r#"{"dynamic_listeners":[{"name":"l","active_state":{"listener":{"@type":"t/envoy.config.listener.v3.Listener"}},"client_st"#,
        &["- Dynamic Active Listener l 0", "dump-syntax 1:121"],
    );
    check(
        &format!("{CLUSTER}\n}}"),
        &["- None Active Cluster - 3", "dump-syntax 2:1"],
    );
}

#[test]
fn every_truncation_of_a_dump_is_one_finding() {
    let text = format!(
        r#"{{"configs":[{{"@type":"t/envoy.admin.v3.ClustersConfigDump","static_clusters":[{{"cluster":{CLUSTER}}}]}}]}}"#
    );
    for end in 1..text.len() {
        let lines = load_as(&text[..end], None);
        let place = format!("dump-syntax 1:{}", end + 1);
        assert_eq!(lines.last(), Some(&place), "{}", &text[..end]);
    }
}

#[test]
fn a_resource_beyond_the_limit_hides_no_other() {
    let mut options = LoadOptions::default();
    options.transcode.max_resource_bytes = 100;
    let long = format!(
        r#"{{"@type":"t/envoy.config.cluster.v3.Cluster","name":"{}"}}"#,
        "x".repeat(99)
    );
    let many = format!(
        r#"{{"@type":"t/envoy.config.cluster.v3.Cluster","filters":[{}{{}}]}}"#,
        "{},".repeat(100)
    );
    assert_eq!(
        load_with(&format!("[{long},\n{CLUSTER},\n{many},\n{CLUSTER}]"), options),
        [
            &format!("- None Active Cluster {} absent", "x".repeat(99)),
            "- None Active Cluster - 3",
            "- None Active Cluster - absent",
            "- None Active Cluster - 3",
            "dump-limit-exceeded 1:156",
            "dump-limit-exceeded 3:107",
        ]
    );
}

#[test]
fn a_value_where_a_resource_should_be_is_reported() {
    check(
        r#"{"configs":[5,"x",{"@type":"t/envoy.admin.v3.ClustersConfigDump","static_clusters":[{"cluster":7},null,{}]}]}"#,
        &[
            "dump-unknown-shape 1:13",
            "dump-unknown-shape 1:15",
            "dump-unknown-shape 1:96",
            "dump-unknown-shape 1:99",
            "dump-unknown-shape 1:104",
        ],
    );
    check(r#"{"resources":{"a":1},"config":7}"#, &["dump-unknown-shape 1:1"]);
}
