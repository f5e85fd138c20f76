//! Tests of input that is nearly right: misspelt names, templates, answers without a resource.

use serde_json::{Value, json};

use crate::cli::xdsctl;
use crate::run::Run;

const URL: &str = "type.googleapis.com/";

fn typed(name: &str, mut body: Value) -> Value {
    body["@type"] = format!("{URL}{name}").into();
    body
}

fn cluster(name: &str) -> Value {
    typed(
        "envoy.config.cluster.v3.Cluster",
        json!({"name": name, "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}}),
    )
}

fn routes(name: &str, clusters: &[&str]) -> Value {
    let route = |cluster: &&str| json!({"match": {"prefix": format!("/{cluster}")}, "route": {"cluster": cluster}});
    let routes: Vec<Value> = clusters.iter().map(route).collect();
    typed(
        "envoy.config.route.v3.RouteConfiguration",
        json!({"name": name, "virtual_hosts": [{"domains": ["*"], "routes": routes}]}),
    )
}

fn listener(name: &str, routes: &str) -> Value {
    let router = typed("envoy.extensions.filters.http.router.v3.Router", json!({}));
    let manager = typed(
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        json!({"rds": {"route_config_name": routes, "config_source": {"ads": {}}}, "http_filters": [{"name": "r", "typed_config": router}]}),
    );
    typed(
        "envoy.config.listener.v3.Listener",
        json!({"name": name, "api_listener": {"api_listener": manager}}),
    )
}

fn endpoints(name: &str) -> Value {
    let endpoint = json!({"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 80}}}});
    typed(
        "envoy.config.endpoint.v3.ClusterLoadAssignment",
        json!({"cluster_name": name, "endpoints": [{"locality": {"zone": "z"}, "load_balancing_weight": 1, "lb_endpoints": [endpoint]}]}),
    )
}

fn validate(args: &[&str], input: impl ToString) -> Run {
    xdsctl(
        &[&["validate", "--format=json"], args, &["-"]].concat(),
        input.to_string(),
    )
}

/// Returns the findings as `rule: help`.
fn helps(run: &Run) -> Vec<String> {
    let report = run.json();
    let of_resources = report["resources"].as_array().unwrap().iter();
    let findings = of_resources
        .map(|resource| &resource["findings"])
        .chain([&report["findings"]]);
    findings
        .flat_map(|list| list.as_array().unwrap())
        .filter(|finding| finding["severity"] != "note")
        .map(|finding| {
            let help = finding["help"].as_str().unwrap_or("-");
            format!("{}: {help}", finding["rule"].as_str().unwrap())
        })
        .collect()
}

#[test]
fn a_response_without_a_resource_is_an_answer() {
    let url = format!("{URL}envoy.config.cluster.v3.Cluster");
    for (input, message) in [
        (
            json!({"type_url": url, "resources": [], "version_info": "1", "nonce": "a"}).to_string(),
            "the response has no Cluster: a client drops each that it had",
        ),
        // JSON leaves out an empty list.
        (
            json!({"versionInfo": "1", "typeUrl": url, "nonce": "a"}).to_string(),
            "the response has no Cluster: a client drops each that it had",
        ),
        (
            format!("version_info: \"1\"\ntype_url: \"{URL}envoy.config.route.v3.RouteConfiguration\"\n"),
            "the response has no RouteConfiguration: a client keeps those that it had",
        ),
    ] {
        let run = validate(&[], &input);
        assert_eq!(
            (run.code, run.findings()),
            (Some(0), vec!["dump-empty-response".to_owned()]),
            "{input}"
        );
        assert_eq!(run.json()["findings"][0]["message"], message);
    }
    // A delta response without resources still removes some.
    let delta = json!({"systemVersionInfo": "1", "typeUrl": url, "removedResources": ["a"], "nonce": "a"});
    let run = validate(&[], delta);
    assert_eq!(
        (run.code, run.findings()),
        (Some(0), vec!["live-resource-removed".to_owned()])
    );
    // The type of these is unknown.
    for (input, rule) in [
        (json!({"versionInfo": "1", "resources": []}), "dump-without-resource"),
        (
            json!({"versionInfo": "1", "typeUrl": url, "node": {"id": "n"}}),
            "dump-unknown-shape",
        ),
    ] {
        let run = validate(&[], &input);
        assert_eq!((run.code, run.findings()), (Some(2), vec![rule.to_owned()]), "{input}");
    }
}

#[test]
fn a_snapshot_a_line_may_be_empty() {
    let url = format!("{URL}envoy.config.cluster.v3.Cluster");
    let empty = json!({"typeUrl": url, "versionInfo": "1", "nonce": "a"});
    let run = xdsctl(&["validate", "--format=jsonl", "-"], empty.to_string());
    let verdict: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.code, &verdict["verdict"]), (Some(0), &json!("pass")));
}

#[test]
fn a_misspelt_type_is_named_wherever_it_stands() {
    let of_type = |name: &str| typed(name, json!({"name": "x"}));
    let top = |name: &str| json!({"resources": [of_type(name), cluster("a")]});
    let within = |name: &str| {
        let mut cluster = cluster("a");
        cluster["typed_extension_protocol_options"] = json!({"x": of_type(name)});
        json!({"resources": [cluster]})
    };
    for (misspelt, meant) in [
        (
            "envoy.extensions.filters.http.router.v3.Ruoter",
            "envoy.extensions.filters.http.router.v3.Router",
        ),
        (
            "envoy.extensions.filters.http.lua.v3.Lau",
            "envoy.extensions.filters.http.lua.v3.Lua",
        ),
        ("envoy.config.listener.v3.Listner", "envoy.config.listener.v3.Listener"),
        ("envoy.admin.v3.ClustersConfigDmp", "envoy.admin.v3.ClustersConfigDump"),
        ("google.protobuf.Strct", "google.protobuf.Struct"),
        ("xds.type.v3.TypdStruct", "xds.type.v3.TypedStruct"),
    ] {
        let help = format!("did you mean `{URL}{meant}`?");
        let found = helps(&validate(&[], top(misspelt)));
        assert_eq!(found, [format!("dump-unknown-resource-type: {help}")]);
        let found = helps(&validate(&[], within(misspelt)));
        assert!(found.contains(&format!("dump-misspelt-type: {help}")), "{found:?}");
    }
    // These are types of Envoy that gRPC does not have, types of others, and a version newer than
    // xdsctl.
    for name in [
        "envoy.extensions.filters.http.lua.v3.Lua",
        "envoy.extensions.filters.http.lua.v4.Lua",
        "envoy.extensions.compression.gzip.decompressor.v3.Gzip",
        "istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig",
        "acme.Unknown",
    ] {
        let found = helps(&validate(&[], within(name)));
        assert!(
            !found.iter().any(|found| found.starts_with("dump-")),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn a_misspelt_filter_does_not_make_a_proxy_of_a_server() {
    let manager = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManger";
    let server = typed(
        "envoy.config.listener.v3.Listener",
        json!({"name": "s", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 80}},
            "filter_chains": [{"filters": [{"name": "h", "typed_config": typed(manager, json!({}))}]}]}),
    );
    let found = helps(&validate(&[], json!({"resources": [server]})));
    assert!(
        found.iter().any(|found| found.starts_with("dump-misspelt-type: ")),
        "{found:?}"
    );
    assert!(
        !found.iter().any(|found| found.starts_with("dump-made-for-proxy")),
        "{found:?}"
    );
}

#[test]
fn the_name_that_was_meant_is_named() {
    let world = json!({"resources": [listener("x", "rout-a"), routes("route-a", &["crt", "pay"]),
        cluster("cart"), cluster("pay"), endpoints("cart"), endpoints("pya-1")]});
    assert_eq!(
        helps(&validate(&[], world)),
        [
            "lds-route-config-missing: did you mean `route-a`?",
            "rds-cluster-missing: did you mean `cart`?",
            "cds-endpoints-missing: -",
        ]
    );
    // Names of shards are not misspellings of each other.
    let shards = json!({"resources": [routes("r", &["shard-12"]), cluster("shard-1"), cluster("shard-2")]});
    assert_eq!(helps(&validate(&[], shards)), ["rds-cluster-missing: -"]);
}

#[test]
fn words_of_retries_have_their_nearest() {
    let with = |policy: Value| {
        let mut routes = routes("r", &["a"]);
        routes["virtual_hosts"][0]["retry_policy"] = policy;
        helps(&validate(&[], routes))
    };
    let none = "rds-retry-policy-without-codes: ";
    assert_eq!(
        with(json!({"retry_on": "unavailble"})),
        [format!("{none}did you mean `unavailable`?")]
    );
    assert_eq!(
        with(json!({"retry_on": "unavailable,canceled,5xx"})),
        ["rds-retry-on-misspelt: did you mean `cancelled`?"]
    );
    assert_eq!(with(json!({"retry_on": "unavailable,5xx,connect-failure"})), [""; 0]);
    let field = "dump-unknown-field: did you mean";
    assert_eq!(
        with(json!({"retryon": "unavailable"})),
        [format!("{none}-"), format!("{field} `retry_on`?")]
    );
    assert_eq!(
        with(json!({"retryOnn": "unavailable"})),
        [format!("{none}-"), format!("{field} `retryOn`?")]
    );
}

#[test]
fn a_template_is_told_before_what_it_breaks() {
    let eds = "type: EDS\neds_cluster_config: {eds_config: {ads: {}}}\n";
    let head = format!("'@type': {URL}envoy.config.cluster.v3.Cluster\n");
    let help = "dump-template: render it first: `helm template CHART | xdsctl validate -`";
    for (text, code) in [
        (format!("{head}name: \"{{{{ .Values.name }}}}\"\n{eds}"), 1),
        (format!("{head}name: {{{{ .Values.name }}}}\n{eds}"), 1),
        (
            format!("{{{{- range .Values.clusters }}}}\n{head}name: a\n{{{{- end }}}}\n"),
            2,
        ),
        (format!("{head}name: {{{{ include \"x.name\" . }}}}-a\n{eds}"), 2),
    ] {
        let run = validate(&[], &text);
        let found = helps(&run);
        assert_eq!(run.code, Some(code), "{text}");
        assert!(found.contains(&help.to_owned()), "{text}: {found:?}");
        assert!(!found.iter().any(|found| found.starts_with("dump-syntax")), "{found:?}");
        let tree = xdsctl(&["tree", "--cluster=a", "-"], &text);
        let message = "this is a template that was not rendered: what `{{ }}` stands for is not there";
        assert!(tree.err.contains(message), "{}", tree.err);
    }
    // Template syntax in a text for another program does not make the document a template.
    let lua = format!("{head}name: a\n{eds}alt_stat_name: \"local t = {{{{1, 2}}, {{name = 3}}}} return t\"\n");
    assert_eq!(helps(&validate(&[], lua)), [""; 0]);
    let map =
        format!("apiVersion: v1\nkind: ConfigMap\ndata:\n  t: \"{{{{ .Values.x }}}}\"\n---\n{head}name: a\n{eds}");
    assert_eq!(helps(&validate(&[], map)), [""; 0]);
    // Other templates are reported where they cannot be read.
    let jinja = format!("{head}name: a\n{{% for x in y %}}\n");
    assert_eq!(
        helps(&validate(&[], jinja)),
        ["dump-syntax: this looks like a template: render it first"]
    );
}

#[test]
fn causes_come_before_what_follows_from_them() {
    let mut bad = cluster("a");
    bad["lb_policy"] = "MAGLEV".into();
    let mut misspelt = routes("s", &["b"]);
    misspelt["virtual_hosts"][0]["retry_policy"] = json!({"retryon": "unavailable"});
    let world = json!({"resources": [routes("r", &["a"]), bad, misspelt, cluster("b")]});
    let run = xdsctl(&["validate", "-"], world.to_string());
    let heads = ["(nack)", "(fails)", "(advice)"];
    let order: Vec<&str> = run
        .out
        .lines()
        .filter(|line| heads.iter().any(|head| line.ends_with(head)))
        .collect();
    assert_eq!(
        order,
        [
            "cds-lb-policy-unsupported (nack)",
            "reference-to-rejected (fails)",
            "dump-unknown-field (advice)",
            "rds-retry-policy-without-codes (advice)",
        ]
    );
}
