//! Hostile inputs of any size: each repeats one part of a configuration until the size is reached.
//!
//! To add an input, add a line to [`INPUTS`]. The bytes are the same every time.

pub mod pieces;

use std::fmt::Write as _;

use pieces::*;

/// A hostile document.
pub struct Input {
    /// The part that is repeated.
    pub name: &'static str,
    /// The name of the file.
    pub file: &'static str,
    /// Makes the document with about this many bytes.
    pub make: fn(usize) -> Vec<u8>,
}

macro_rules! inputs {
    ($($name:literal $file:literal $make:expr;)*) => {
        &[$(Input { name: $name, file: $file, make: $make }),*]
    };
}

/// All inputs that are documents.
pub const INPUTS: &[Input] = inputs! {
    // Resources and documents.
    "clusters" "x.json" |size| resources(size, |i| cluster(&format!("c{i}"), ""));
    "listeners" "x.json" |size| resources(size, |i| listener(&format!("l{i}"), ROUTER));
    "one name again and again" "x.json" |size| resources(size, |i| cluster("c", &format!(r#","alt_stat_name":"{i}""#)));
    "rejected clusters" "x.json" |size| resources(size, |i| cluster(&format!("c{i}"), r#","lb_policy":"MAGLEV""#));
    "no resources" "x.json" |size| fill(size, r#"{"resources":["#, |_| "{}".to_owned(), ",", "]}");
    "numbers for resources" "x.json" |size| fill(size, "[", |i| i.to_string(), ",", "]");
    "responses" "x.json" |size| fill(size, "", |i| response(i, 1), "\n", "");
    "documents" "x.json" |size| fill(size, "", |_| "{}".to_owned(), "\n", "");
    "documents of YAML" "x.yaml" |size| fill(size, "", |_| "a: 1".to_owned(), "\n---\n", "\n");
    "resources of YAML" "x.yaml" |size| fill(size, "", |i| cluster(&format!("c{i}"), ""), "\n---\n", "\n");
    // One part of a world.
    "virtual hosts" "x.json" |size| routes_world({
        fill_text(size, "", |i| format!(r#"{{"name":"v{i}","domains":["d{i}"],"routes":[{ROUTE}]}}"#), ",", &format!(r#",{{"domains":["*"],"routes":[{ROUTE}]}}"#))
    });
    "domains" "x.json" |size| routes_world({
        fill_text(size, r#"{"domains":["*","#, |i| format!(r#""a{i}.b""#), ",", &format!(r#"],"routes":[{ROUTE}]}}"#))
    });
    "a domain taken" "x.json" |size| routes_world({
        fill_text(size, r#"{"domains":["*""#, |_| r#","a""#.to_owned(), "", &format!(r#"],"routes":[{ROUTE}]}}"#))
    });
    "a domain taken in each resource" "x.json" |size| resources(size, |i| format!(
        r#"{{"@type":"{T}envoy.config.route.v3.RouteConfiguration","name":"r{i}","virtual_hosts":[{{"domains":["*"{}],"routes":[{ROUTE}]}}]}}"#, r#","a""#.repeat(300)));
    "small resources with taken domains" "x.json" |size| resources(size, small_json);
    "small resources with taken domains as text" "x.textproto" |size| fill(size, TEXT, small_text, "", "");
    "small resources with taken domains as YAML" "x.yaml" |size| fill(size, "resources:\n", |i| format!("- {}\n", small_json(i)), "", "");
    "small resources with unknown fields" "x.json" |size| resources(size, |i| format!(r#"{{"@type":"{T}envoy.config.cluster.v3.Cluster","name":"c{i}"{}}}"#, r#","a":1"#.repeat(20)));
    "small resources with unknown fields as text" "x.textproto" |size| fill(size, TEXT, |i| format!("resources {{ [{T}envoy.config.cluster.v3.Cluster] {{ name: 'c{i}' {}}} }}\n", "a: 1 ".repeat(20)), "", "");
    "small resources that are rejected" "x.json" |size| resources(size, |i| format!(r#"{{"@type":"{T}envoy.config.route.v3.RouteConfiguration","name":"r{i}","virtual_hosts":[{{"domains":["*"],"routes":[{}]}}]}}"#, [r#"{"match":{"prefix":""},"route":{"cluster":""}}"#; 8].join(",")));
    "resources of nothing but their type" "x.json" |size| fill(size, &format!(r#"{{"type_url":"{T}envoy.config.cluster.v3.Cluster","resources":["#), |_| format!(r#"{{"@type":"{T}envoy.config.cluster.v3.Cluster"}}"#), ",", "]}");
    "worlds" "x.json" |size| fill(size, r#"{"config":["#, |i| format!(r#"{{"node":{{"id":"n{i}"}},"client_scope":"s{i}","generic_xds_configs":[{{"type_url":"{T}envoy.config.cluster.v3.Cluster","name":"c","xds_config":{}}}]}}"#, cluster("c", r#","lb_policy":"MAGLEV""#)), ",", "]}");
    "unknown fields in each resource" "x.json" |size| resources(size, |i| cluster(&format!("c{i}"), &r#","a":1"#.repeat(300)));
    "routes" "x.json" |size| host_world(size, |i| format!(r#"{{"match":{{"prefix":"/a.B{i}/"}},"route":{{"cluster":"c"}}}}"#));
    "empty routes" "x.json" |size| host_world(size, |_| "{}".to_owned());
    "regex routes" "x.json" |size| host_world(size, |i| format!(r#"{{"match":{{"safe_regex":{{"regex":"/a.B{i}/[a-z]{{1,9}}.*"}}}},"route":{{"cluster":"c"}}}}"#));
    "regexes without a literal" "x.json" |size| host_world(size, |i| format!(r#"{{"match":{{"safe_regex":{{"regex":"[/x].*(a|b){i}"}}}},"route":{{"cluster":"c"}}}}"#));
    "regexes that grow" "x.json" |size| host_world(size, |i| format!(r#"{{"match":{{"safe_regex":{{"regex":".*(x{{30}}){{30}}{i}"}}}},"route":{{"cluster":"c"}}}}"#));
    "regexes of the largest size" "x.json" |size| host_world(size, |i| format!(r#"{{"match":{{"safe_regex":{{"regex":".*\\pL{{440}}{i}"}}}},"route":{{"cluster":"c"}}}}"#));
    "routes by chance" "x.json" |size| host_world(size, |_| r#"{"match":{"prefix":"","runtime_fraction":{"default_value":{"numerator":1,"denominator":"MILLION"}}},"route":{"cluster":"c"}}"#.to_owned());
    "filters times overrides" "x.json" |size| world(&listener("l", &fill_text(size / 2, "", |i| format!(r#"{{"name":"f{i}","typed_config":{{"@type":"{T}envoy.extensions.filters.http.fault.v3.HTTPFault"}}}},"#), "", ROUTER)),
        &host(&fill_text(size / 2, "", |i| format!(r#"{{"match":{{"prefix":"/{i}"}},"route":{{"cluster":"c"}},"typed_per_filter_config":{{"f0":{{"@type":"type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault"}}}}}}"#), ",", &format!(",{ROUTE}"))),
        &cluster("c", ""), &usual());
    "routes to clusters that are not there" "x.json" |size| host_world(size, |i| format!(r#"{{"match":{{"prefix":"/{i}"}},"route":{{"cluster":"x{i}"}}}}"#));
    "routes to all clusters" "x.json" |size| many_clusters(size, |i| format!(r#"{{"match":{{"prefix":"/{i}"}},"route":{{"cluster":"c{i}"}}}}"#));
    "header routes" "x.json" |size| host_world(size, |i| format!(r#"{{"match":{{"prefix":"","headers":[{{"name":"h{i}","present_match":true}}]}},"route":{{"cluster":"c"}}}}"#));
    "clusters that share endpoints" "x.json" |size| sharing(size, "", |count| format!(r#"{{"locality":{{}},"load_balancing_weight":1,"lb_endpoints":[{}]}}"#, list(count, endpoint)));
    "clusters that share localities" "x.json" |size| sharing(size, "", |count| list(count / 2, |i| format!(r#"{{"locality":{{"zone":"{i}"}},"load_balancing_weight":1,"lb_endpoints":[{}]}}"#, endpoint(i))));
    "rings of many clusters" "x.json" |size| sharing(size, r#","lb_policy":"RING_HASH","ring_hash_lb_config":{"minimum_ring_size":4096}"#, |_| format!(r#"{{"locality":{{}},"load_balancing_weight":1,"lb_endpoints":[{}]}}"#, list(3, endpoint)));
    "weighted clusters" "x.json" |size| one_route(size, r#"{"prefix":""}"#, r#""weighted_clusters":{"clusters":["#, |i| format!(r#"{{"name":"c{i}","weight":1}}"#), "]}");
    "a cluster weighted often" "x.json" |size| one_route(size, r#"{"prefix":""}"#, r#""weighted_clusters":{"clusters":["#, |_| r#"{"name":"c","weight":1}"#.to_owned(), "]}");
    "hash policies" "x.json" |size| one_route(size, r#"{"prefix":""}"#, r#""cluster":"c","hash_policy":["#, |i| format!(r#"{{"header":{{"header_name":"h{i}"}}}}"#), "]");
    "statuses to retry on" "x.json" |size| one_route(size, r#"{"prefix":""}"#, r#""cluster":"c","retry_policy":{"retry_on":""#, |i| if i.is_multiple_of(2) { "unavailable".to_owned() } else { format!("x{i}") }, r#""}"#);
    "header matchers" "x.json" |size| host_world_of(format!(r#"{{"match":{{"prefix":"","headers":[{}]}},"route":{{"cluster":"c"}}}},{ROUTE}"#, fill_text(size, "", |i| format!(r#"{{"name":"h{i}","present_match":true,"invert_match":true}}"#), ",", "")));
    "header regexes" "x.json" |size| host_world_of(format!(r#"{{"match":{{"prefix":"","headers":[{}]}},"route":{{"cluster":"c"}}}},{ROUTE}"#, fill_text(size, "", |i| format!(r#"{{"name":"h","invert_match":true,"string_match":{{"safe_regex":{{"regex":"[a-z]{{1,20}}{i}"}}}}}}"#), ",", "")));
    "filter overrides" "x.json" |size| host_world_of(format!(r#"{{"match":{{"prefix":""}},"route":{{"cluster":"c"}},"typed_per_filter_config":{{{}}}}}"#, fill_text(size, "", |i| format!(r#""f{i}":{{"@type":"type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault"}}"#), ",", "")));
    "routes below an override" "x.json" |size| routes_world(format!(r#"{{"domains":["*"],"typed_per_filter_config":{{{}}},"routes":[{}]}}"#,
        fill_text(size / 2, "", |i| format!(r#""f{i}":{{"@type":"type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault"}}"#), ",", ""),
        fill_text(size / 2, "", |i| format!(r#"{{"match":{{"prefix":"/{i}"}},"route":{{"cluster":"c"}}}}"#), ",", "")));
    "wrong routes" "x.json" |size| host_world(size, |i| format!(r#"{{"match":{{"prefix":"/{i}"}},"route":{{"cluster":""}}}}"#));
    "wrong routes of one text" "x.json" |size| host_world(size, |_| r#"{"match":{"prefix":"x"},"route":{"cluster":"c"}}"#.to_owned());
    // Endpoints.
    "endpoints" "x.json" |size| endpoints_world(format!(r#"{{"locality":{{}},"load_balancing_weight":1,"lb_endpoints":[{}]}}"#, fill_text(size, "", endpoint, ",", "")));
    "wrong endpoints" "x.json" |size| endpoints_world(format!(r#"{{"locality":{{}},"load_balancing_weight":1,"lb_endpoints":[{}]}}"#, fill_text(size, "", |_| r#"{"endpoint":{"address":{"socket_address":{"address":"x","port_value":99999}}}}"#.to_owned(), ",", "")));
    "endpoints of one address" "x.json" |size| endpoints_world(format!(r#"{{"locality":{{}},"load_balancing_weight":1,"lb_endpoints":[{}]}}"#, fill_text(size, "", |_| endpoint(0), ",", "")));
    "addresses of an endpoint" "x.json" |size| endpoints_world(format!(r#"{{"locality":{{}},"load_balancing_weight":1,"lb_endpoints":[{{"endpoint":{{"address":{{"socket_address":{{"address":"10.0.0.1","port_value":80}}}},"additional_addresses":[{}]}}}}]}}"#, fill_text(size, "", |i| format!(r#"{{"address":{{"socket_address":{{"address":"{}","port_value":80}}}}}}"#, ip(i)), ",", "")));
    "empty endpoints" "x.json" |size| endpoints_world(format!(r#"{{"locality":{{}},"load_balancing_weight":1,"lb_endpoints":[{}]}}"#, fill_text(size, "", |_| "{}".to_owned(), ",", "")));
    "localities" "x.json" |size| endpoints_world(fill_text(size, "", |i| format!(r#"{{"locality":{{"region":"r{i}"}},"load_balancing_weight":1,"lb_endpoints":[{}]}}"#, endpoint(i)), ",", ""));
    "localities of one name" "x.json" |size| endpoints_world(fill_text(size, "", |i| format!(r#"{{"locality":{{}},"load_balancing_weight":1,"lb_endpoints":[{}]}}"#, endpoint(i)), ",", ""));
    "empty localities" "x.json" |size| endpoints_world(fill_text(size, "", |_| "{}".to_owned(), ",", ""));
    "localities with no more than a weight" "x.json" |size| endpoints_world(fill_text(size, "", |i| format!(r#"{{"locality":{{"zone":"{i}"}},"load_balancing_weight":1}}"#), ",", ""));
    "priorities" "x.json" |size| endpoints_world(fill_text(size, "", |i| format!(r#"{{"locality":{{}},"load_balancing_weight":1,"priority":{i},"lb_endpoints":[{}]}}"#, endpoint(i)), ",", ""));
    "a priority far away" "x.json" |_| endpoints_world(format!(r#"{{"locality":{{}},"load_balancing_weight":1,"priority":4294967295,"lb_endpoints":[{}]}}"#, endpoint(1)));
    "drops" "x.json" |size| world(&listener("l", ROUTER), &host(ROUTE), &cluster("c", ""), &format!(r#"{{"@type":"{T}envoy.config.endpoint.v3.ClusterLoadAssignment","cluster_name":"c","policy":{{"drop_overloads":[{}]}}}}"#, fill_text(size, "", |i| format!(r#"{{"category":"d{i}","drop_percentage":{{"numerator":1}}}}"#), ",", "")));
    // Clusters.
    "an aggregate of clusters that are not there" "x.json" |size| cluster_world(&aggregate("c", &fill_text(size, "", |i| format!("\"x{i}\""), ",", "")));
    "an aggregate of all clusters" "x.json" |size| { let count = size / 170; cluster_world(&format!("{},{}", aggregate("c", &list(count, |i| format!("\"c{i}\""))), list(count, |i| cluster(&format!("c{i}"), r#","type":"EDS""#)))) };
    "an aggregate of one cluster" "x.json" |size| cluster_world(&format!("{},{}", aggregate("c", &fill_text(size, "", |_| "\"d\"".to_owned(), ",", "")), cluster("d", "")));
    "a chain of aggregates" "x.json" |size| { let count = size / 220; cluster_world(&format!("{},{}", aggregate("c", "\"c0\""), list(count, |i| aggregate(&format!("c{i}"), &format!("\"c{}\"", i + 1))))) };
    "a fan of aggregates" "x.json" |size| { let wide = size / 32; cluster_world(&list(16, |level| aggregate(&if level == 0 { "c".to_owned() } else { format!("c{level}") }, &list(wide / 6, |_| format!("\"c{}\"", level + 1))))) };
    "a ladder of aggregates" "x.json" |_| cluster_world(&format!("{},{}", list(16, |level| aggregate(&if level == 0 { "c".to_owned() } else { format!("c{level}") }, &list(4, |i| format!("\"d{level}x{i}\",\"c{}\"", level + 1)))), cluster("c16", "")));
    "a ring of a size" "x.json" |_| world(&listener("l", ROUTER), &host(ROUTE), &cluster("c", r#","lb_policy":"RING_HASH","ring_hash_lb_config":{"minimum_ring_size":8388608}"#), &assignment(&format!(r#"{{"locality":{{}},"load_balancing_weight":1,"lb_endpoints":[{}]}}"#, list(1000, endpoint))));
    "targets of a custom policy" "x.json" |size| cluster_world(&custom(&format!(r#"{{"@type":"{T}xds.type.v3.TypedStruct","type_url":"{T}weighted_target_experimental","value":{{"targets":{{{}}}}}}}"#, fill_text(size, "", |i| format!(r#""t{i}":{{"weight":1,"childPolicy":[{{"round_robin":{{}}}}]}}"#), ",", ""))));
    "targets times localities" "x.json" |size| targets(size, |i| format!(r#"{{"locality":{{"zone":"{i}"}},"load_balancing_weight":1,"lb_endpoints":[{}]}}"#, endpoint(i)));
    "targets times priorities" "x.json" |size| targets(size, |i| format!(r#"{{"locality":{{}},"load_balancing_weight":1,"priority":{i},"lb_endpoints":[{}]}}"#, endpoint(i)));
    "custom policies" "x.json" |size| cluster_world(&cluster("c", &format!(r#","load_balancing_policy":{{"policies":[{}]}}"#, fill_text(size, "", |i| format!(r#"{{"typed_extension_config":{{"name":"p{i}","typed_config":{{"@type":"{T}x.P{i}"}}}}}}"#), ",", ""))));
    "policies in each other" "x.json" |size| cluster_world(&nested_policies((size / 300).min(2000)));
    "metadata of a cluster" "x.json" |size| cluster_world(&cluster("c", &format!(r#","metadata":{{"filter_metadata":{{{}}}}}"#, fill_text(size, "", |i| format!(r#""m{i}":{{"a":{i}}}"#), ",", ""))));
    "names of certificates" "x.json" |size| cluster_world(&cluster("c", &format!(r#","transport_socket":{{"name":"t","typed_config":{{"@type":"{T}envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext","common_tls_context":{{"validation_context":{{"ca_certificate_provider_instance":{{"instance_name":"p"}},"match_subject_alt_names":[{}]}}}}}}}}"#, fill_text(size, "", |i| format!(r#"{{"safe_regex":{{"regex":"[a-z]+{i}"}}}}"#), ",", ""))));
    // Listeners and filters.
    "filters" "x.json" |size| listener_world(&fill_text(size, "", |i| format!(r#"{{"name":"f{i}","typed_config":{{"@type":"{T}envoy.extensions.filters.http.fault.v3.HTTPFault","abort":{{"http_status":503,"percentage":{{"numerator":0}}}}}}}},"#), "", ROUTER));
    "filters of one name" "x.json" |size| listener_world(&fill_text(size, "", |_| format!(r#"{{"name":"f","typed_config":{{"@type":"{T}x.Unknown"}}}},"#), "", ROUTER));
    "filter chains" "x.json" |size| server(size, |i| chain(&format!(r#""prefix_ranges":[{}]"#, range(i))));
    "filter chains of one match" "x.json" |size| server(size, |_| chain(""));
    "filter chains by port" "x.json" |size| server(size, |i| chain(&format!(r#""source_ports":[{}]"#, i % 65536)));
    "ranges times ranges" "x.json" |size| server_of(&chain(&format!(r#""prefix_ranges":[{0}],"source_prefix_ranges":[{0}],"source_ports":[{1}]"#, list(size / 150, range), list((size / 150).min(65536), |i| i.to_string()))));
    "ranges of many times ranges of one" "x.json" |size| { let count = size / 500; server_of(&format!("{},{}",
        chain(&format!(r#""source_type":"EXTERNAL","prefix_ranges":[{0}],"source_prefix_ranges":[{0}]"#, list(count, range))),
        list(count, |i| chain(&format!(r#""source_type":"SAME_IP_OR_LOOPBACK","prefix_ranges":[{}]"#, range(i)))))) };
    "ports of many chains" "x.json" |size| { let count = (size / 500).min(30_000); server_of(&format!("{},{}",
        chain(&format!(r#""prefix_ranges":[{}],"source_ports":[{}]"#, list(count, range), list(count, |i| (i + 1).to_string()))),
        list(count, |i| chain(&format!(r#""prefix_ranges":[{}],"source_ports":[65535]"#, range(i)))))) };
    "access rules" "x.json" |size| rbac(&fill_text(size, "", |i| format!(r#""p{i}":{{"permissions":[{{"any":true}}],"principals":[{{"any":true}}]}}"#), ",", ""));
    "access rules in each other" "x.json" |size| rbac(&format!(r#""p":{{"principals":[{{"any":true}}],"permissions":[{}]}}"#, nested(size / 12, r#"{"not_rule":"#, r#"{"any":true}"#, "}")));
    "access rules side by side" "x.json" |size| rbac(&format!(r#""p":{{"principals":[{{"any":true}}],"permissions":[{{"and_rules":{{"rules":[{}]}}}}]}}"#, fill_text(size, "", |i| format!(r#"{{"url_path":{{"path":{{"safe_regex":{{"regex":"/a{i}[a-c]*"}}}}}}}}"#), ",", "")));
    // Values.
    "fields that nobody knows" "x.json" |size| cluster_world(&cluster("c", &fill_text(size, ",", |i| format!(r#""connect_timeou{i}":{i}"#), ",", "")));
    "fields with values of the wrong kind" "x.json" |size| cluster_world(&cluster("c", &fill_text(size, r#","health_checks":["#, |_| r#""x""#.to_owned(), ",", "]")));
    "a field that comes again" "x.json" |size| cluster_world(&cluster("c", &fill_text(size, ",", |i| format!(r#""alt_stat_name":"{i}""#), ",", "")));
    "members of a oneof" "x.json" |size| cluster_world(&cluster("c", &fill_text(size, ",", |_| r#""type":"EDS","cluster_type":{}"#.to_owned(), ",", "")));
    "a long name" "x.json" |size| world(&listener("l", ROUTER), &host(&ROUTE.replace("\"c\"", &format!("\"{0}\"", "n".repeat(size / 3)))), &cluster(&"n".repeat(size / 3), ""), &assignment("").replace("\"c\"", &format!("\"{0}\"", "n".repeat(size / 3))));
    "a long text of the wrong kind" "x.json" |size| cluster_world(&cluster("c", &format!(r#","lb_policy":"{0}","connect_timeout":"{0}""#, "x".repeat(size / 2))));
    "a long field name" "x.json" |size| cluster_world(&cluster("c", &format!(r#","{}":1"#, "x".repeat(size))));
    "a long type" "x.json" |size| resources(size, |_| format!(r#"{{"@type":"{T}{}"}}"#, "x".repeat(size)));
    "a long prefix" "x.json" |size| host_world_of(format!(r#"{{"match":{{"prefix":"/{}"}},"route":{{"cluster":"c"}}}}"#, "x".repeat(size)));
    "a long regex" "x.json" |size| host_world_of(format!(r#"{{"match":{{"safe_regex":{{"regex":"/{}"}}}},"route":{{"cluster":"c"}}}}"#, "[a-z]".repeat(size / 5)));
    "a long regex that is none" "x.json" |size| host_world_of(format!(r#"{{"match":{{"safe_regex":{{"regex":"{}"}}}},"route":{{"cluster":"c"}}}}"#, "(".repeat(size)));
    "a long domain" "x.json" |size| routes_world(format!(r#"{{"domains":["*.{}*"],"routes":[{ROUTE}]}}"#, "x".repeat(size)));
    "a long number" "x.json" |size| cluster_world(&cluster("c", &format!(r#","per_connection_buffer_limit_bytes":{}"#, "9".repeat(size))));
    "long bytes" "x.json" |size| cluster_world(&cluster("c", &format!(r#","transport_socket":{{"name":"t","typed_config":{{"@type":"{T}envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext","value":"{}"}}}}"#, "AAAA".repeat(size / 4))));
    "a resource's error" "x.json" |size| format!(r#"{{"config":[{{"genericXdsConfigs":[{{"typeUrl":"{T}envoy.config.cluster.v3.Cluster","name":"c","clientStatus":"NACKED","errorState":{{"details":"{}"}}}}]}}]}}"#, "validation error ".repeat(size / 17)).into_bytes();
    "statuses of a client" "x.json" |size| fill(size, r#"{"config":[{"genericXdsConfigs":["#, |i| format!(r#"{{"typeUrl":"{T}envoy.config.cluster.v3.Cluster","name":"c{i}","clientStatus":"NACKED","errorState":{{"details":"no {i}"}}}}"#), ",", "]}]}");
    "characters that are not shown" "x.json" |size| cluster_world(&cluster("c", &format!(r#","lb_policy":"{}""#, "\u{9b}\u{202e}".repeat(size / 5))));
    // Depth.
    "brackets" "x.json" |size| "[".repeat(size).into_bytes();
    "braces" "x.json" |size| r#"{"a":"#.repeat(size / 5).into_bytes();
    "deep metadata" "x.json" |size| cluster_world(&cluster("c", &format!(r#","metadata":{{"filter_metadata":{{"a":{}}}}}"#, nested(size / 7, r#"{"a":"#, "1", "}"))));
    "messages in each other" "x.json" |size| cluster_world(&cluster("c", &format!(r#","transport_socket":{}"#, nested(size / 120, &format!(r#"{{"name":"t","typed_config":{{"@type":"{T}envoy.config.core.v3.TransportSocket","name":"x","typed_config":{{"@type":"{T}google.protobuf.Any","value":"#), "1", "}}}"))));
    "YAML in each other" "x.yaml" |size| fill(size, "", |_| "- ".to_owned(), "", "a");
    "YAML flow" "x.yaml" |size| "[".repeat(size).into_bytes();
    "YAML braces" "x.yaml" |size| "{a: ".repeat(size / 4).into_bytes();
    // YAML.
    "YAML merges" "x.yaml" |size| { let keys = (size / 30).min(2_000); fill(size, &format!("a: &a\n{}resources:\n", (0..keys).fold(String::new(), |mut text, i| { let _ = writeln!(text, "  k{i}: {i}"); text })), |_| "- {<<: *a}\n".to_owned(), "", "") };
    "YAML merges of merges" "x.yaml" |size| fill(size, "a0: &a0 {k: 1}\n", |i| format!("a{}: &a{} {{<<: *a{i}, k{i}: 1}}\n", i + 1, i + 1), "", "");
    "YAML aliases" "x.yaml" |size| fill(size, &format!("a: &a {{x: [{}]}}\nresources:\n", list(size / 20, |_| "1".to_owned())), |_| "- *a\n".to_owned(), "", "");
    "YAML laughs" "x.yaml" |_| (1..12).fold("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(), |mut text, i| { let _ = writeln!(text, "a{i}: &a{i} [{}]", vec![format!("*a{}", i - 1); 9].join(", ")); text }).into_bytes();
    "YAML anchors" "x.yaml" |size| fill(size, "resources:\n", |i| format!("- &a{i} {{}}\n"), "", "");
    "YAML lines of a text" "x.yaml" |size| fill(size, "name: |\n", |_| "  x\n".to_owned(), "", "");
    "YAML folded lines" "x.yaml" |size| fill(size, "name: \"", |_| "x\n  ".to_owned(), "", "\"\n");
    "YAML indentation" "x.yaml" |size| { let step = 40; (0..(size / step / step).min(1000)).fold(String::new(), |mut text, i| { let _ = writeln!(text, "{}a:", " ".repeat(i * step)); text }).into_bytes() };
    "YAML tags" "x.yaml" |size| fill(size, "%TAG !a! tag:x,2000:\n---\n", |_| "- !a!b c\n".to_owned(), "", "");
    "YAML comments" "x.yaml" |size| fill(size, "a:\n", |_| "# password: x\n".to_owned(), "", "");
    "YAML without an end" "x.yaml" |size| fill(size, "resources: [", |_| "{name: \"".to_owned(), "", "");
    "suppressions" "x.yaml" |size| fill(size, "resources:\n", |i| suppressed(i, "# xdsctl: ignore[nack] x"), "", "");
    "suppressions of no rule" "x.yaml" |size| fill(size, "resources:\n", |i| suppressed(i, "# xdsctl: ignore[no-such-rule-at-all] x"), "", "");
    "suppressions of one node" "x.yaml" |size| fill(size, "", |_| "# xdsctl: ignore[spec] x\n".to_owned(), "", &format!("resources:\n{}", suppressed(0, "")));
    "suppressions of nodes in each other" "x.yaml" |size| (0..(size as f64).sqrt() as usize / 2).fold(String::new(), |mut text, i| { let _ = writeln!(text, "{0}# xdsctl: ignore[spec] x\n{0}a:", " ".repeat(i)); text }).into_bytes();
    "a suppression of many rules" "x.yaml" |size| format!("# xdsctl: ignore[{}] x\nresources:\n{}", vec!["spec"; size / 5].join(","), suppressed(0, "")).into_bytes();
    "resources beside others" "x.json" |size| fill(size, r#"{"resources":[]"#, |i| format!(r#","k{i}":{{"@type":"{T}envoy.config.cluster.v3.Cluster"}}"#), "", "}");
    "a YAML key" "x.yaml" |size| format!("? {}\n: 1\n", "k".repeat(size)).into_bytes();
    "YAML of Kubernetes" "x.yaml" |size| fill(size, "apiVersion: v1\nkind: List\nitems:\n", |i| format!("- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: m{i}}}, data: {{a: '{{}}'}}}}\n"), "", "");
    // Text format, wire format, logs, and what is none of them.
    "text messages" "x.textproto" |size| fill(size, "# proto-message: envoy.service.discovery.v3.DiscoveryResponse\n", |i| format!("resources {{ [{T}envoy.config.cluster.v3.Cluster] {{ name: 'c{i}' type: EDS }} }}\n"), "", "");
    "text in each other" "x.textproto" |size| fill(size, "resources {", |_| "a {".to_owned(), "", "");
    "text strings" "x.textproto" |size| fill(size, "version_info: ", |_| "'a' ".to_owned(), "", "\n");
    "empty fields on the wire" "x.binpb" |size| b"\x12\x00".repeat(size / 2);
    "empty localities on the wire" "x.binpb" |size| response_on_the_wire("endpoint.v3.ClusterLoadAssignment", &[&b"\x0a\x01c"[..], &b"\x12\x00".repeat(size / 2)].concat());
    "empty filter chains on the wire" "x.binpb" |size| response_on_the_wire("listener.v3.Listener", &[&b"\x0a\x01l"[..], &b"\x1a\x00".repeat(size / 2)].concat());
    "resources on the wire" "x.binpb" |size| b"\x12\x3d\x0a\x33type.googleapis.com/envoy.config.cluster.v3.Cluster\x12\x06\x0a\x02ab\x10\x03".repeat(size / 63);
    "groups on the wire" "x.binpb" |size| [&b"\x12\x00"[..], &b"\x0b".repeat(size)].concat();
    "noise" "x.binpb" noise;
    "noise in JSON" "x.json" |size| [&b"{\"resources\":["[..], &noise(size)].concat();
    "zeros" "x.json" |size| vec![0; size];
    "one letter" "x.txt" |size| vec![b'a'; size];
    "lines" "x.txt" |size| vec![b'\n'; size];
    "quotes" "x.json" |size| vec![b'"'; size];
    "a log" "x.log" |size| fill(size, "", |i| format!("I0000 00:00:{:02}.000000 1 xds_client.cc:1] [xds_client 0x1] received response: {}\n", i % 60, response(i, 2)), "", "");
    "a log of one line" "x.log" |size| fill(size, "I0000 00:00:00.000000 1 xds_client.cc:1] [xds_client 0x1] ", |_| "received response: {".to_owned(), "", "");
    "a log whose messages never end" "x.log" |size| fill(size, "", |i| format!("I0000 00:00:{:02}.000000 1 xds_client.cc:1] [xds_client 0x1] received response: {{\n\"a\":\n", i % 60), "", "");
    "a config dump" "x.json" |size| fill(size, &format!(r#"{{"configs":[{{"@type":"{T}envoy.admin.v3.ClustersConfigDump","dynamic_active_clusters":["#), |i| format!(r#"{{"cluster":{},"error_state":{{"details":"x"}}}}"#, cluster(&format!("c{i}"), "")), ",", "]}]}");
    "sections of a config dump" "x.json" |size| fill(size, r#"{"configs":["#, |i| format!(r#"{{"@type":"{T}envoy.admin.v3.X{i}"}}"#), ",", "]}");
    "a bootstrap's authorities" "x.json" |size| fill(size, r#"{"xds_servers":[{"server_uri":"a:1","channel_creds":[{"type":"insecure"}]}],"node":{"id":"n"},"authorities":{"#, |i| format!(r#""a{i}":{{}}"#), ",", "}}");
    "a bootstrap's servers" "x.json" |size| fill(size, r#"{"node":{"id":"n"},"xds_servers":["#, |_| r#"{"server_uri":"","channel_creds":[{"type":"x"}]}"#.to_owned(), ",", "]}");
};

/// Settings of a project, which are used with a world that has findings.
pub const SETTINGS: &[Input] = inputs! {
    "ignores" "xdsctl.toml" |size| fill(size, "", |i| format!("[[ignore]]\nrule = \"nack\"\nreason = \"x\"\nresource = \"*a*a*b{i}\"\n"), "", "");
    "ignores of files" "xdsctl.toml" |size| format!("[[ignore]]\nrule = \"all\"\nreason = \"x\"\nfile = \"{}b\"\n", "*a".repeat(size / 2)).into_bytes();
    "ignores of directories" "xdsctl.toml" |size| format!("[[ignore]]\nrule = \"all\"\nreason = \"x\"\nfile = \"{}b\"\n", "**/".repeat(size / 3)).into_bytes();
    "ignores of paths" "xdsctl.toml" |size| format!("[[ignore]]\nrule = \"all\"\nreason = \"x\"\npath = \"{}b\"\n", "*a".repeat(size / 2)).into_bytes();
    "ignores of many rules" "xdsctl.toml" |size| fill(size, "", |_| format!("[[ignore]]\nrule = \"{}\"\nreason = \"x\"\n", ["spec"; 900].join(",")), "", "");
    "rules" "xdsctl.toml" |size| fill(size, "[rules]\n", |i| format!("\"field-ignored=name{i}\" = \"off\"\n"), "", "");
    "lists of rules" "xdsctl.toml" |size| fill(size, "[rules]\n", |i| format!("\"{}\" = \"off\"\n", vec!["spec"; 200 + i % 700].join(",")), "", "");
    "clients" "xdsctl.toml" |size| fill(size, "clients = [", |i| format!("\"go@1.7{}.{i}\"", i % 10), ",", "]\n");
    "clients again and again" "xdsctl.toml" |size| fill(size, "clients = [", |_| "\"all\"".to_owned(), ",", "]\n");
    "brackets of settings" "xdsctl.toml" |size| format!("bootstrap = {}", "[".repeat(size)).into_bytes();
    "keys of settings" "xdsctl.toml" |size| format!("rules{} = 1", ".a".repeat(size / 2)).into_bytes();
    "directories of a bootstrap" "xdsctl.toml" |size| format!("bootstrap = \"{}\"\n", "a/".repeat(size / 2)).into_bytes();
    "a line of settings" "xdsctl.toml" |size| "x".repeat(size).into_bytes();
};

/// Inputs of `--baseline`, which are used with the same world.
pub const BASELINES: &[Input] = inputs! {
    "known findings" "known.json" |size| fill(size, r#"{"schema":"xdsctl.baseline/v1","findings":["#, |i| format!(r#"{{"fingerprint":"{i:016x}","rule":"x","file":"f","type":"t","name":"n{i}","path":"p"}}"#), ",", "]}");
    "brackets of a baseline" "known.json" |size| format!(r#"{{"schema":"xdsctl.baseline/v1","findings":{}"#, "[".repeat(size)).into_bytes();
};

/// Inputs of `explain -`.
pub const LOGS: &[Input] = inputs! {
    "fields without an end" "x.log" |size| "[field:".repeat(size / 7).into_bytes();
    "fields in each other" "x.log" |size| format!("errors validating Cluster resource: {}field:a error:b{}\n", "[".repeat(size / 2), "]".repeat(size / 2)).into_bytes();
    "fields of one resource" "x.log" |size| fill(size, "errors validating Cluster resource: [", |i| format!("field:a{i} error:must be non-empty; "), "", "]\n");
    "rejections" "x.log" |size| fill(size, "", |i| format!("Cluster c{i}: errors validating Cluster resource: [field:lb_policy error:LB policy is not supported; field:a{i} error:b]\n"), "", "");
    "one rejection again and again" "x.log" |size| fill(size, "", |_| "field:lb_policy error:LB policy is not supported\n".to_owned(), "", "");
    "names of resources" "x.log" |size| fill(size, "", |i| format!("resource:\"xds{i}\" "), "", "field:lb_policy error:LB policy is not supported\n");
    "a stack trace" "x.log" |size| fill(size, "java.lang.IllegalArgumentException: x\n", |_| "\tat io.grpc.A(A.java:1)\n".to_owned(), "", "");
    "colons" "x.log" |size| fill(size, "xds: ", |_| "a: ".to_owned(), "", "LB policy is not supported\n");
    "quotes in quotes" "x.log" |size| format!("xds \"{} not supported\n", "\\\"".repeat(size / 2)).into_bytes();
    "times" "x.log" |size| fill(size, "", |_| "2024-01-01T00:00:00.000Z ".to_owned(), "", "LB policy is not supported\n");
    "words that wrap" "x.log" |size| fill(size, "", |_| "field:lb_policy error:LB policy\n".to_owned(), "", "");
    "spaces" "x.log" |size| " ".repeat(size).into_bytes();
};

/// Inputs of `pick --requests`, which are used with a small world.
pub const SCRIPTS: &[Input] = inputs! {
    "picks" "x" |size| fill(size, "", |_| r#"{"pick":{}}"#.to_owned(), "\n", "\n");
    "sleeps" "x" |size| fill(size, "", |_| r#"{"sleep":1}"#.to_owned(), "\n", "\n");
    "begins" "x" |size| fill(size, "", |i| format!(r#"{{"begin":{{"name":"n{i}","timeout":1}}}}{}{{"finish":"n{i}"}}"#, "\n"), "\n", "\n");
    "begins, then finishes" "x" |size| { let count = size / 50; fill_lines(count, |i| format!(r#"{{"begin":{{"name":"n{i}"}}}}"#), |i| format!(r#"{{"finish":"n{i}"}}"#)) };
    "starts and stops" "x" |size| fill(size, "", |i| if i.is_multiple_of(2) { r#"{"stop":"10.0.0.1:80"}"#.to_owned() } else { r#"{"start":"10.0.0.1:80"}"#.to_owned() }, "\n", "\n");
    "updates" "x" |size| fill(size, "", |_| format!(r#"{{"update":[{}]}}"#, usual()), "\n", "\n");
    "updates of new clusters" "x" |size| fill(size, "", |i| format!(r#"{{"update":[{}]}}"#, cluster(&format!("n{i}"), "")), "\n", "\n");
    "one update" "x" |size| format!("{{\"update\":[{}]}}\n{{\"pick\":{{}}}}\n", fill_text(size, "", |i| cluster(&format!("n{i}"), ""), ",", "")).into_bytes();
    "removals" "x" |size| fill(size, r#"{"remove":["#, |i| format!(r#"["cluster","n{i}"]"#), ",", "]}\n");
    "headers" "x" |size| format!("{{\"pick\":{{\"headers\":[{}]}}}}\n", fill_text(size, "", |i| format!(r#"["h{i}","v"]"#), ",", "")).into_bytes();
    "load reports" "x" |size| format!("{{\"orca\":{{{}}}}}\n{{\"pick\":{{}}}}\n", fill_text(size, "", |i| format!(r#""{}:80":{{"rps_fractional":1}}"#, ip(i)), ",", "")).into_bytes();
    "deep steps" "x" |size| format!("{}\n", nested(size / 8, r#"{"pick":"#, "1", "}")).into_bytes();
    "a long step" "x" |size| format!("{{\"{}\":1}}\n", "x".repeat(size)).into_bytes();
    "a long method" "x" |size| format!("{{\"pick\":{{\"method\":\"/{}\"}}}}\n", "x".repeat(size)).into_bytes();
    "empty lines" "x" |size| vec![b'\n'; size];
};

/// Suites that contain their own world.
pub const HOSTILE_SUITES: &[Input] = inputs! {
    "steps" "x.yaml" |size| suite(&fill_text(size, "", |_| r#"{"pick":{"count":1}}"#.to_owned(), ",", ""));
    "expectations" "x.yaml" |size| suite(&fill_text(size, "", |i| format!(r#"{{"pick":{{}},"expect":{{"address":"10.0.0.{}:80"}}}}"#, i % 3), ",", ""));
    "expectations that are not met" "x.yaml" |size| suite(&fill_text(size, "", |_| r#"{"pick":{},"expect":{"status":"ABORTED"}}"#.to_owned(), ",", ""));
    "what must never be" "x.yaml" |size| format!(r#"{{"cluster":"c","world":[{}],"never":[{}],"steps":[{{"pick":{{"count":10}}}}]}}"#, suite_world(), list((size / 20).min(1000), |_| r#"{"status":"ABORTED"}"#.to_owned())).into_bytes();
    "sleeps of a suite" "x.yaml" |size| suite(&fill_text(size, "", |_| r#"{"sleep":100000}"#.to_owned(), ",", ""));
    "expectations of one step" "x.yaml" |size| suite(&format!(r#"{{"pick":{{"count":3}},"expect":{{"cluster":["c"{}]}}}}"#, fill_text(size, "", |i| format!(r#","x{i}""#), "", "")));
    "faults of a suite" "x.yaml" |size| suite(&fill_text(size, "", |i| format!(r#"{{"pikc":{i}}}"#), ",", ""));
    "tests of a suite" "x.yaml" |size| format!(r#"{{"world":[{}],"tests":[{}]}}"#, suite_world(), fill_text(size, "", |i| format!(r#"{{"name":"t{i}","steps":[{{"pick":{{}}}}]}}"#), ",", "")).into_bytes();
    "clients of a suite" "x.yaml" |size| format!(r#"{{"world":[{}],"clients":{{{}}},"steps":[{{"pick":{{"count":10}}}}]}}"#, suite_world(), list((size / 10).min(1000), |i| format!(r#""n{i}":null"#))).into_bytes();
    "clients and endpoints" "x.yaml" |size| {
        let endpoints = assignment(&format!(r#"{{"locality":{{}},"load_balancing_weight":1,"lb_endpoints":[{}]}}"#, list(size / 200, endpoint)));
        format!(r#"{{"cluster":"c","world":[{},{endpoints}],"clients":{{{}}},"steps":[{{"pick":{{"count":10}}}}]}}"#, cluster("c", ""), list((size / 20).min(1000), |i| format!(r#""n{i}":{{"seed":{i}}}"#))).into_bytes()
    };
    "clients and resources" "x.yaml" |size| format!(r#"{{"cluster":"n0","world":[{}],"clients":{{{}}},"steps":[{{"pick":{{}}}}]}}"#, list((size / 300).max(1), |i| cluster(&format!("n{i}"), "")), list((size / 20).min(1000), |i| format!(r#""n{i}":null"#))).into_bytes();
    "rates at a time" "x.yaml" |size| suite(&format!("{},{}", list(size / 90, |i| format!(r#"{{"begin":{{"name":"n{i}","rate":1,"count":1}}}}"#)), list(size / 90, |i| format!(r#"{{"finish":"n{i}"}}"#))));
    "updates of a suite" "x.yaml" |size| suite(&fill_text(size, "", |_| format!(r#"{{"update":[{}]}}"#, usual()), ",", ""));
    "rejected updates of a suite" "x.yaml" |size| suite(&fill_text(size, "", |i| format!(r#"{{"update":[{}]}}"#, cluster(&format!("n{i}"), r#","lb_policy":"MAGLEV""#)), ",", ""));
    "an update of clusters that are rejected" "x.yaml" |size| suite(&format!(r#"{{"update":[{}]}}"#, fill_text(size, "", |i| cluster(&format!("n{i}"), r#","lb_policy":"MAGLEV""#), ",", "")));
    "words of a suite in each other" "x.yaml" |size| suite(&nested(size / 8, r#"{"pick":"#, "1", "}"));
    "a suite of router_check" "x.yaml" |size| fill(size, r#"{"tests":["#, |i| format!(r#"{{"test_name":"t{i}","input":{{"authority":"a","path":"/x"}},"validate":{{"cluster_name":"c"}}}}"#), ",", "]}");
    "a suite of noise" "x.yaml" |size| [&b"steps: ["[..], &noise(size)].concat();
};

/// Makes an element of a YAML list: a Cluster that is rejected, with a comment before the reason.
fn suppressed(number: usize, comment: &str) -> String {
    let cluster = cluster(&format!("c{number}"), "");
    let open = cluster.strip_suffix('}').unwrap_or(&cluster);
    format!("- {open},\n   {comment}\n   lb_policy: MAGLEV}}\n")
}

/// Makes a world with `count` findings.
pub fn rejected_world(count: usize) -> Vec<u8> {
    let name = |i: usize| format!("{}{i}", "a".repeat(30));
    let clusters = list(count, |i| cluster(&name(i), r#","lb_policy":"MAGLEV""#));
    format!(r#"{{"resources":[{clusters}]}}"#).into_bytes()
}

/// Makes what a suite needs for its channel.
fn suite_world() -> String {
    format!("{},{}", cluster("c", ""), usual())
}

fn suite(steps: &str) -> Vec<u8> {
    format!(r#"{{"cluster":"c","world":[{}],"steps":[{steps}]}}"#, suite_world()).into_bytes()
}

fn fill_lines(count: usize, first: impl Fn(usize) -> String, then: impl Fn(usize) -> String) -> Vec<u8> {
    let lines: Vec<String> = (0..count).map(first).chain((0..count).map(then)).collect();
    (lines.join("\n") + "\n").into_bytes()
}

/// Makes the world on which scripts are played.
pub fn small_world() -> Vec<u8> {
    cluster_world(&cluster("c", ""))
}
