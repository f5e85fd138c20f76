//! Tests of known defects of clients: the table of `docs/clients.md`, and for each trigger a dump
//! with it and one without.

use std::fmt::Write;
use std::fs;

use xdsctl_model::profile::{Client, DefectTrigger, Family, Feature, Version};

use crate::cli::xdsctl;
use crate::support::root;

const BEGIN: &str = "<!-- defects -->\n";
const END: &str = "<!-- end of defects -->\n";

#[test]
fn the_table_in_the_docs_is_current() {
    let mut table = String::from("| client | since | until | what it does | source |\n|---|---|---|---|---|\n");
    let name = |version: Option<Version>| version.map_or_else(String::new, |version| version.to_string());
    for family in Family::ALL {
        for defect in family.defects() {
            let (since, until) = (name(defect.since), name(defect.until));
            let (project, what, source) = (family.project(), defect.what, defect.source);
            writeln!(table, "| {project} | {since} | {until} | {what} | {source} |").unwrap();
        }
    }
    let path = root().join("docs/clients.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    if std::env::var_os("XDSCTL_BLESS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(found, table, "run with XDSCTL_BLESS=1");
}

const LISTENER: &str = r#"{"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "NAME", "api_listener": {"api_listener":
    {"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    "route_config": {"virtual_hosts": [{"domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {"cluster": "c"}}]}]},
    "http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}}"#;

const RDS: &str = r#""rds": {"route_config_name": "r", "config_source": {"ads": {}}}"#;
const ROUTES: &str = r#""route_config": {"virtual_hosts": [{"domains": ["*"], "routes": [{"match": {"prefix": ""}, "non_forwarding_action": {}}]}]}"#;

const SERVERS_BOOTSTRAP: &str = r#"{"xds_servers": [{"server_uri": "a:1", "channel_creds": [{"type": "insecure"}]}],
    "server_listener_resource_name_template": "server?%s"}"#;

/// Makes the listener of a server at 0.0.0.0:80.
fn server(routes: &str) -> String {
    format!(
        r#"{{"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "server?0.0.0.0:80",
        "address": {{"socket_address": {{"address": "0.0.0.0", "port_value": 80}}}}, "filter_chains": [{{"filters": [{{"name": "hcm", "typed_config":
        {{"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", {routes},
        "http_filters": [{{"name": "router", "typed_config":
        {{"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}}}]}}}}]}}]}}"#
    )
}

fn cluster(more: &str) -> String {
    format!(
        r#"{{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
        "eds_cluster_config": {{"eds_config": {{"ads": {{}}}}}} {more}}}"#
    )
}

/// Makes an aggregate cluster, and its leaves with these EDS services.
fn aggregate(services: [&str; 2]) -> Vec<String> {
    let message = "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig";
    let leaf = |(i, service): (usize, &str)| {
        let cluster = cluster("").replace("\"name\": \"c\"", &format!("\"name\": \"c{i}\""));
        cluster.replace(
            "{\"eds_config\"",
            &format!("{{\"service_name\": \"{service}\", \"eds_config\""),
        )
    };
    let aggregate = format!(
        r#"{{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a", "cluster_type": {{
        "name": "envoy.clusters.aggregate", "typed_config": {{"@type": "{message}", "clusters": ["c0", "c1"]}}}}}}"#
    );
    std::iter::once(aggregate)
        .chain(services.into_iter().enumerate().map(leaf))
        .collect()
}

fn dns(more: &str) -> String {
    dns_of("shop.example", more)
}

fn dns_of(host: &str, more: &str) -> String {
    format!(
        r#"{{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "LOGICAL_DNS",
        "load_assignment": {{"endpoints": [{{"lb_endpoints": [{{"endpoint": {{"address":
        {{"socket_address": {{"address": "{host}", "port_value": 80}}}}}}}}]}}]}} {more}}}"#
    )
}

fn routes(prefix: &str) -> String {
    format!(
        r#"{{"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r", "virtual_hosts": [{{"domains": ["*"],
        "routes": [{{"match": {{"prefix": "{prefix}"}}, "route": {{"cluster": "c"}}}}]}}]}}"#
    )
}

/// Makes routes by lookups with further fields in their config.
fn looked_up(more: &str) -> String {
    let message = "type.googleapis.com/grpc.lookup.v1.RouteLookupClusterSpecifier";
    format!(
        r#"{{"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r", "cluster_specifier_plugins": [{{"extension":
        {{"name": "l", "typed_config": {{"@type": "{message}", "route_lookup_config": {{"lookup_service": "dns:///shop:1", "cache_size_bytes": 1000,
        "grpc_keybuilders": [{{"names": [{{"service": "shop.Cart"}}]}}] {more}}}}}}}}}],
        "virtual_hosts": [{{"domains": ["*"], "routes": [{{"match": {{"prefix": ""}}, "route": {{"cluster_specifier_plugin": "l"}}}}]}}]}}"#
    )
}

fn endpoints(priorities: u32) -> String {
    let locality = |priority: u32| {
        format!(
            r#"{{"priority": {priority}, "load_balancing_weight": 1, "locality": {{"zone": "{priority}"}}, "lb_endpoints": [{{"endpoint":
            {{"address": {{"socket_address": {{"address": "10.0.0.{priority}", "port_value": 80}}}}}}}}]}}"#
        )
    };
    let localities: Vec<String> = (0..priorities).map(locality).collect();
    format!(
        r#"{{"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "c", "endpoints": [{}]}}"#,
        localities.join(",")
    )
}

fn weighted(more: &str) -> String {
    let message = "type.googleapis.com/envoy.extensions.load_balancing_policies";
    cluster(&format!(
        r#", "load_balancing_policy": {{"policies": [{{"typed_extension_config": {{"name": "w", "typed_config": {{
        "@type": "{message}.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin" {more}}}}}}}]}}"#
    ))
}

fn pick_first() -> String {
    let message = "type.googleapis.com/envoy.extensions.load_balancing_policies.pick_first.v3.PickFirst";
    format!(
        r#", "load_balancing_policy": {{"policies": [{{"typed_extension_config": {{"name": "p", "typed_config": {{"@type": "{message}"}}}}}}]}}"#
    )
}

/// Returns the texts of the notes that a client has on some resources.
fn notes(name: &str, resources: &[String]) -> String {
    let dump = format!(r#"{{"resources": [{}]}}"#, resources.join(","));
    let client = format!("--client={name}");
    let arguments = [
        "validate",
        &client,
        "--target=xds:///shop",
        "--min-severity=note",
        "--format=json",
        "-",
    ];
    let run = if resources.iter().any(|text| text.contains("xdstp:")) {
        let bootstrap = root().join("fixtures/examples/template-bootstrap.json");
        let bootstrap = format!("--bootstrap={}", bootstrap.display());
        // Some versions read such names behind a switch.
        let has_switch = Client::parse_list(name)
            .unwrap()
            .iter()
            .any(|client| Feature::Federation.has_switch(*client));
        let switch = has_switch.then_some("--env=GRPC_EXPERIMENTAL_XDS_FEDERATION=true");
        let more: Vec<&str> = std::iter::once(bootstrap.as_str()).chain(switch).collect();
        xdsctl(&[&arguments[..], &more].concat(), &dump)
    } else if resources.iter().any(|text| text.contains("server?")) {
        let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("defects-bootstrap.json");
        fs::write(&file, SERVERS_BOOTSTRAP).unwrap();
        let bootstrap = format!("--bootstrap={}", file.display());
        xdsctl(&[&arguments[..], &["--listen=0.0.0.0:80", &bootstrap]].concat(), &dump)
    } else {
        xdsctl(&arguments, &dump)
    };
    let report = run.json();
    let resources = report["resources"].as_array().unwrap().iter();
    let findings = resources.flat_map(|resource| resource["findings"].as_array().unwrap());
    let messages = findings.filter(|finding| finding["rule"] == "client-defect");
    let messages: Vec<&str> = messages.map(|finding| finding["message"].as_str().unwrap()).collect();
    messages.join("\n")
}

/// Returns for each trigger a dump that has it, and a dump that differs only in lacking it.
fn dumps(trigger: DefectTrigger) -> (Vec<String>, Vec<String>) {
    let listener = |name: &str| LISTENER.replace("NAME", name);
    let ring = r#", "lb_policy": "RING_HASH""#;
    match trigger {
        DefectTrigger::OtherAuthority => (
            vec![listener("xdstp://shop.example/envoy.config.listener.v3.Listener/shop")],
            vec![listener("shop")],
        ),
        DefectTrigger::Dns => (vec![dns("")], vec![cluster("")]),
        DefectTrigger::DnsLiteral => (vec![dns_of("10.0.0.1", "")], vec![dns("")]),
        DefectTrigger::DnsLbPolicy => (vec![dns("")], vec![dns(&pick_first())]),
        DefectTrigger::WeightPeriods => (
            vec![weighted(r#", "weight_expiration_period": "60s""#)],
            vec![weighted("")],
        ),
        DefectTrigger::RingOfPriorities => (vec![cluster(ring), endpoints(2)], vec![cluster(ring), endpoints(1)]),
        DefectTrigger::RingOfShared => {
            let rings = |services| {
                let clusters = aggregate(services).split_off(1).into_iter();
                clusters
                    .map(|cluster| format!("{} {ring}}}", &cluster[..cluster.len() - 1]))
                    .collect()
            };
            (rings(["s", "s"]), rings(["s", "t"]))
        }
        DefectTrigger::Ring => (vec![cluster(ring), endpoints(1)], vec![cluster(""), endpoints(1)]),
        DefectTrigger::Priorities => (vec![cluster(""), endpoints(2)], vec![cluster(""), endpoints(1)]),
        DefectTrigger::SharedService => (aggregate(["s", "s"]), aggregate(["s", "t"])),
        DefectTrigger::NestedRoot => {
            let below_another = |children: &str| {
                let above = aggregate(["s", "t"]).swap_remove(0);
                let above = above.replace("\"name\": \"a\"", "\"name\": \"c\"");
                let above = above.replace("[\"c0\", \"c1\"]", children);
                let routes = ["a", "c"].map(|cluster| {
                    format!(r#"{{"match": {{"path": "/{cluster}/Get"}}, "route": {{"cluster": "{cluster}"}}}}"#)
                });
                let manager = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
                let router = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router";
                let listener = format!(
                    r#"{{"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "shop", "api_listener": {{"api_listener": {{
                    "@type": "{manager}", "http_filters": [{{"name": "router", "typed_config": {{"@type": "{router}"}}}}],
                    "route_config": {{"virtual_hosts": [{{"domains": ["*"], "routes": [{}]}}]}}}}}}}}"#,
                    routes.join(",")
                );
                [aggregate(["s", "t"]), vec![above, listener]].concat()
            };
            (below_another("[\"c0\", \"a\"]"), below_another("[\"a\", \"c0\"]"))
        }
        DefectTrigger::RenewedAnswers => (
            vec![looked_up(r#", "max_age": "60s", "stale_age": "20s""#)],
            vec![looked_up(r#", "max_age": "60s""#)],
        ),
        DefectTrigger::Unrouted => (vec![routes("/shop.Cart/")], vec![routes("")]),
        DefectTrigger::ServerRoutes => (vec![server(RDS)], vec![server(ROUTES)]),
        DefectTrigger::NoServerRoutes => (vec![server(r#""stat_prefix": "s""#)], vec![server(ROUTES)]),
        DefectTrigger::ServerApi => (vec![listener("server?0.0.0.0:80")], vec![server(ROUTES)]),
    }
}

#[test]
fn each_defect_shows_with_its_trigger_in_the_versions_that_have_it() {
    for family in Family::ALL {
        for defect in family.defects() {
            let (with, without) = dumps(defect.trigger);
            let measured = family.measured().iter().copied();
            let (having, others): (Vec<Version>, Vec<Version>) = measured.partition(|version| defect.is_in(*version));
            let what = format!("{}: {}", defect.what, defect.source);
            if let Some(version) = having.last() {
                let client = format!("{family}@{version}");
                assert!(notes(&client, &with).contains(&what), "{client}: {what}");
                assert!(!notes(&client, &without).contains(&what), "{client}: not {what}");
            }
            if let Some(version) = others.first() {
                let client = format!("{family}@{version}");
                assert!(!notes(&client, &with).contains(&what), "{client}: no longer {what}");
            }
        }
    }
}
