//! The pieces of JSON and of wire format from which the inputs are made, repeated until a size is
//! reached.

pub const T: &str = "type.googleapis.com/";

/// The beginning of a response in text format.
pub const TEXT: &str = "# proto-message: envoy.service.discovery.v3.DiscoveryResponse\n";

/// Makes a resource of some two hundred bytes, with twenty findings.
pub fn small_json(i: usize) -> String {
    let domains = r#","a""#.repeat(20);
    format!(
        r#"{{"@type":"{T}envoy.config.route.v3.RouteConfiguration","name":"r{i}","virtual_hosts":[{{"domains":["*"{domains}]}}]}}"#
    )
}

pub fn small_text(i: usize) -> String {
    let domains = r#","a""#.repeat(20);
    format!(
        "resources {{ [{T}envoy.config.route.v3.RouteConfiguration] {{ name: 'r{i}' virtual_hosts {{ domains: [\"*\"{domains}] }} }} }}\n"
    )
}

/// The filter that every API listener ends with.
pub const ROUTER: &str = r#"{"name":"router","typed_config":{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}"#;

/// A route that matches every RPC.
pub const ROUTE: &str = r#"{"match":{"prefix":""},"route":{"cluster":"c"}}"#;

pub fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

/// Writes items between a head and a tail until the text has about `size` bytes.
pub fn fill_text(size: usize, head: &str, item: impl Fn(usize) -> String, separator: &str, tail: &str) -> String {
    let mut text = head.to_owned();
    let mut i = 0;
    while i == 0 || text.len() + tail.len() < size {
        if i > 0 {
            text.push_str(separator);
        }
        text.push_str(&item(i));
        i += 1;
    }
    text + tail
}

pub fn fill(size: usize, head: &str, item: impl Fn(usize) -> String, separator: &str, tail: &str) -> Vec<u8> {
    fill_text(size, head, item, separator, tail).into_bytes()
}

/// Makes a DiscoveryResponse with one resource.
pub fn response_on_the_wire(kind: &str, resource: &[u8]) -> Vec<u8> {
    let url = format!("{T}envoy.config.{kind}");
    let any = [wire_field(1, url.as_bytes()), wire_field(2, resource)].concat();
    [wire_field(2, &any), wire_field(4, url.as_bytes())].concat()
}

pub fn wire_field(number: u8, payload: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    prost::encoding::encode_varint(payload.len() as u64, &mut field);
    [&field, payload].concat()
}

pub fn resources(size: usize, resource: impl Fn(usize) -> String) -> Vec<u8> {
    fill(size, r#"{"resources":["#, resource, ",", "]}")
}

pub fn nested(depth: usize, open: &str, inner: &str, close: &str) -> String {
    open.repeat(depth) + inner + &close.repeat(depth)
}

/// Makes random bytes, the same every time.
pub fn noise(size: usize) -> Vec<u8> {
    let mut state = 7_u64;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..size).map(next).collect()
}

pub fn ip(i: usize) -> String {
    format!("10.{}.{}.{}", i >> 16 & 255, i >> 8 & 255, i & 255)
}

pub fn range(i: usize) -> String {
    format!(r#"{{"address_prefix":"{}","prefix_len":32}}"#, ip(i))
}

pub fn endpoint(i: usize) -> String {
    format!(
        r#"{{"endpoint":{{"address":{{"socket_address":{{"address":"{}","port_value":80}}}}}}}}"#,
        ip(i)
    )
}

pub fn listener(name: &str, filters: &str) -> String {
    format!(
        r#"{{"@type":"{T}envoy.config.listener.v3.Listener","name":"{name}","api_listener":{{"api_listener":{{"@type":"{T}envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager","rds":{{"route_config_name":"r","config_source":{{"ads":{{}}}}}},"http_filters":[{filters}]}}}}}}"#
    )
}

pub fn route_config(hosts: &str) -> String {
    format!(r#"{{"@type":"{T}envoy.config.route.v3.RouteConfiguration","name":"r","virtual_hosts":[{hosts}]}}"#)
}

pub fn host(routes: &str) -> String {
    route_config(&format!(r#"{{"domains":["*"],"routes":[{routes}]}}"#))
}

/// Makes an EDS cluster with further fields.
pub fn cluster(name: &str, more: &str) -> String {
    format!(
        r#"{{"@type":"{T}envoy.config.cluster.v3.Cluster","name":"{name}","type":"EDS","eds_cluster_config":{{"eds_config":{{"ads":{{}}}},"service_name":"c"}}{more}}}"#
    )
}

pub fn custom(config: &str) -> String {
    let policy = format!(r#"{{"typed_extension_config":{{"name":"p","typed_config":{config}}}}}"#);
    cluster("c", &format!(r#","load_balancing_policy":{{"policies":[{policy}]}}"#))
}

pub fn aggregate(name: &str, clusters: &str) -> String {
    format!(
        r#"{{"@type":"{T}envoy.config.cluster.v3.Cluster","name":"{name}","cluster_type":{{"typed_config":{{"@type":"{T}envoy.extensions.clusters.aggregate.v3.ClusterConfig","clusters":[{clusters}]}}}}}}"#
    )
}

pub fn assignment(localities: &str) -> String {
    format!(
        r#"{{"@type":"{T}envoy.config.endpoint.v3.ClusterLoadAssignment","cluster_name":"c","endpoints":[{localities}]}}"#
    )
}

pub fn usual() -> String {
    assignment(&format!(
        r#"{{"locality":{{}},"load_balancing_weight":1,"lb_endpoints":[{},{}]}}"#,
        endpoint(1),
        endpoint(2)
    ))
}

/// A password that no output may contain.
pub const SECRET: &str = "hQ7nTz4mWk9cRb2x";

pub fn world(listener: &str, routes: &str, clusters: &str, endpoints: &str) -> Vec<u8> {
    let secret = cluster(
        "s",
        &format!(r#","metadata":{{"filter_metadata":{{"m":{{"password":"{SECRET}"}}}}}}"#),
    );
    format!(r#"{{"resources":[{secret},{listener},{routes},{clusters},{endpoints}]}}"#).into_bytes()
}

pub fn routes_world(hosts: String) -> Vec<u8> {
    world(
        &listener("l", ROUTER),
        &route_config(&hosts),
        &cluster("c", ""),
        &usual(),
    )
}

pub fn host_world(size: usize, route: impl Fn(usize) -> String) -> Vec<u8> {
    host_world_of(fill_text(size, "", route, ",", &format!(",{ROUTE}")))
}

pub fn host_world_of(routes: String) -> Vec<u8> {
    world(&listener("l", ROUTER), &host(&routes), &cluster("c", ""), &usual())
}

pub fn one_route(size: usize, matches: &str, head: &str, item: impl Fn(usize) -> String, tail: &str) -> Vec<u8> {
    host_world_of(format!(
        r#"{{"match":{matches},"route":{{{}}}}}"#,
        fill_text(size, head, item, ",", tail)
    ))
}

/// Makes a world with many clusters and a route for each.
pub fn many_clusters(size: usize, route: impl Fn(usize) -> String) -> Vec<u8> {
    let count = size / 240;
    let clusters = list(count, |i| cluster(&format!("c{i}"), ""));
    world(&listener("l", ROUTER), &host(&list(count, route)), &clusters, &usual())
}

/// Makes a route for each of many clusters with the same endpoints. The clusters take half of the
/// size, the endpoints the other half.
pub fn sharing(size: usize, more: &str, localities: impl Fn(usize) -> String) -> Vec<u8> {
    let count = (size / 2 / 240).min(20_000);
    let route = |i| format!(r#"{{"match":{{"prefix":"/{i}"}},"route":{{"cluster":"c{i}"}}}}"#);
    let clusters = list(count, |i| cluster(&format!("c{i}"), more));
    let endpoints = assignment(&localities(size / 2 / 90));
    world(
        &listener("l", ROUTER),
        &host(&list(count, route)),
        &clusters,
        &endpoints,
    )
}

/// Makes many targets below each of many localities.
pub fn targets(size: usize, locality: impl Fn(usize) -> String) -> Vec<u8> {
    let target = |i| format!(r#""t{i}":{{"weight":1,"childPolicy":[{{"round_robin":{{}}}}]}}"#);
    let below = format!(
        r#"{{"@type":"{T}xds.type.v3.TypedStruct","type_url":"{T}weighted_target_experimental","value":{{"targets":{{{}}}}}}}"#,
        fill_text(size / 3, "", target, ",", "")
    );
    let policy = format!(
        r#"{{"@type":"{T}envoy.extensions.load_balancing_policies.wrr_locality.v3.WrrLocality","endpoint_picking_policy":{{"policies":[{{"typed_extension_config":{{"name":"q","typed_config":{below}}}}}]}}}}"#
    );
    let endpoints = assignment(&fill_text(size / 2, "", locality, ",", ""));
    world(&listener("l", ROUTER), &host(ROUTE), &custom(&policy), &endpoints)
}

pub fn endpoints_world(localities: String) -> Vec<u8> {
    world(
        &listener("l", ROUTER),
        &host(ROUTE),
        &cluster("c", ""),
        &assignment(&localities),
    )
}

pub fn cluster_world(clusters: &str) -> Vec<u8> {
    world(&listener("l", ROUTER), &host(ROUTE), clusters, &usual())
}

pub fn listener_world(filters: &str) -> Vec<u8> {
    world(&listener("l", filters), &host(ROUTE), &cluster("c", ""), &usual())
}

pub fn chain(matches: &str) -> String {
    format!(
        r#"{{"filter_chain_match":{{{matches}}},"filters":[{{"name":"h","typed_config":{{"@type":"{T}envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager","rds":{{"route_config_name":"r","config_source":{{"ads":{{}}}}}},"http_filters":[{ROUTER}]}}}}]}}"#
    )
}

pub fn server(size: usize, chain: impl Fn(usize) -> String) -> Vec<u8> {
    server_of(&fill_text(size, "", chain, ",", ""))
}

pub fn server_of(chains: &str) -> Vec<u8> {
    format!(
        r#"{{"resources":[{{"@type":"{T}envoy.config.listener.v3.Listener","name":"s","address":{{"socket_address":{{"address":"0.0.0.0","port_value":80}}}},"filter_chains":[{chains}]}}]}}"#
    )
    .into_bytes()
}

pub fn rbac(policies: &str) -> Vec<u8> {
    listener_world(&format!(
        r#"{{"name":"a","typed_config":{{"@type":"{T}envoy.extensions.filters.http.rbac.v3.RBAC","rules":{{"policies":{{{policies}}}}}}}}},{ROUTER}"#
    ))
}

pub fn nested_policies(depth: usize) -> String {
    let wrr = format!(
        r#"{{"policies":[{{"typed_extension_config":{{"name":"w","typed_config":{{"@type":"{T}envoy.extensions.load_balancing_policies.wrr_locality.v3.WrrLocality","endpoint_picking_policy":"#
    );
    let inner = nested(depth, &wrr, r#"{"policies":[]}"#, "}}}]}");
    cluster("c", &format!(r#","load_balancing_policy":{inner}"#))
}

/// Makes a response with `clusters` clusters.
pub fn response(version: usize, clusters: usize) -> String {
    format!(
        r#"{{"version_info":"{version}","type_url":"{T}envoy.config.cluster.v3.Cluster","resources":[{}]}}"#,
        list(clusters, |i| cluster(&format!("c{}", version * clusters + i), ""))
    )
}
