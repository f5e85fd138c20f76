//! Writes an Envoy `/config_dump` of any size, the same bytes every time.
//!
//! It has 2,000 EDS clusters with their endpoints, and 1,000 API listeners with their routes. The
//! form is that of an admin interface: indented by one space, names in snake_case, fields in the
//! order of their numbers, Any in Any. The scale sets the number of endpoints and routes;
//! [`Kind::scale`] returns the scale for a size.

use std::io::{self, Write};

/// What the dump contains.
#[allow(dead_code, reason = "not every user of this file writes every kind")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing that `validate` reports.
    Clean,
    /// A clean dump, except for one field in each endpoint that gRPC does not read.
    OneFindingPerEndpoint,
    /// What a proxy has: many fields that gRPC does not read, unknown types, and routes that cannot
    /// match.
    Realistic,
}

impl Kind {
    /// Returns the scale for a dump of about `megabytes` megabytes, from 30 to 400.
    pub fn scale(self, megabytes: f64) -> f64 {
        // Measured: the size of the clusters and listeners, and what one unit of scale adds.
        let (fixed, unit) = match self {
            Kind::Clean => (6.70, 426.6),
            Kind::OneFindingPerEndpoint => (6.67, 447.5),
            Kind::Realistic => (13.29, 543.0),
        };
        (megabytes - fixed) / unit
    }
}

const CLUSTERS: usize = 2_000;
const LISTENERS: usize = 1_000;

const T: &str = "type.googleapis.com/";

/// Writes the dump.
///
/// # Errors
/// The errors are those of `out`.
pub fn write(out: &mut impl Write, kind: Kind, scale: f64) -> io::Result<()> {
    write_some(out, kind, scale, CLUSTERS, LISTENERS)
}

/// Writes a small clean dump with `count` clusters and `count` listeners.
///
/// # Errors
/// The errors are those of `out`.
#[allow(dead_code, reason = "not every user of this file writes small dumps")]
pub fn write_few(out: &mut impl Write, count: usize) -> io::Result<()> {
    write_some(out, Kind::Clean, 0.02, count, count)
}

fn write_some(out: &mut impl Write, kind: Kind, scale: f64, clusters: usize, listeners: usize) -> io::Result<()> {
    let mut random = Random(7);
    out.write_all(b"{\n \"configs\": [")?;
    section(
        out,
        "",
        "ClustersConfigDump",
        "dynamic_active_clusters",
        (0..clusters).map(|i| cluster(i, kind)),
    )?;
    section(
        out,
        ",",
        "ListenersConfigDump",
        "dynamic_listeners",
        (0..listeners).map(|i| listener(i, kind)),
    )?;
    let routes: Vec<usize> = (0..listeners)
        .map(|_| scaled(random.between(20, 100), (scale * 1.5).min(1.0)))
        .collect();
    let configs = routes.iter().enumerate().map(|(i, n)| route_config(i, *n, kind));
    section(out, ",", "RoutesConfigDump", "dynamic_route_configs", configs)?;
    let endpoints: Vec<usize> = (0..clusters).map(|_| scaled(random.between(50, 500), scale)).collect();
    let assignments = endpoints.iter().enumerate().map(|(i, n)| assignment(i, *n, kind));
    section(out, ",", "EndpointsConfigDump", "dynamic_endpoint_configs", assignments)?;
    out.write_all(b"\n ]\n}\n")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "counts below 1,000"
)]
fn scaled(count: usize, scale: f64) -> usize {
    ((count as f64 * scale) as usize).max(1)
}

/// A linear congruential generator (Knuth's MMIX constants), because the bytes must never change.
struct Random(u64);

impl Random {
    fn between(&mut self, low: usize, high: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        low + (self.0 >> 33) as usize % (high - low + 1)
    }
}

fn section(
    out: &mut impl Write,
    before: &str,
    dump: &str,
    list: &str,
    items: impl Iterator<Item = String>,
) -> io::Result<()> {
    write!(
        out,
        "{before}\n  {{\n   \"@type\": \"{T}envoy.admin.v3.{dump}\",\n   \"{list}\": ["
    )?;
    for (i, item) in items.enumerate() {
        out.write_all(if i == 0 { b"\n    " } else { b",\n    " })?;
        out.write_all(&indent(&item, 4))?;
    }
    out.write_all(b"\n   ]\n  }")
}

/// Indents compact JSON by one space for each level, beginning with `level` spaces.
fn indent(compact: &str, level: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(compact.len() * 3);
    let mut depth = level;
    let mut in_string = false;
    let bytes = compact.as_bytes();
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.resize(out.len() + depth, b' ');
    };
    for (i, &byte) in bytes.iter().enumerate() {
        let next = bytes.get(i + 1).copied().unwrap_or(0);
        match byte {
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                out.push(byte);
                depth += 1;
                if next != byte + 2 {
                    line(&mut out, depth);
                }
                continue;
            }
            b'}' | b']' => {
                depth -= 1;
                if out.last() != Some(&(byte - 2)) {
                    line(&mut out, depth);
                }
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
                continue;
            }
            b':' => {
                out.extend_from_slice(b": ");
                continue;
            }
            _ => {}
        }
        out.push(byte);
    }
    out
}

/// Fills in `$x` in a template; `$T` is the prefix of type URLs. Parts in `«»` are for realistic
/// dumps only.
fn fill(template: &str, kind: Kind, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('«') {
        let (inside, after) = after.split_once('»').unwrap_or((after, ""));
        text.push_str(before);
        if kind == Kind::Realistic {
            text.push_str(inside);
        }
        rest = after;
    }
    text.push_str(rest);
    text.retain(|c| c != '\n');
    for (name, value) in values {
        text = text.replace(name, value);
    }
    text.replace("$T", T)
}

fn cluster_name(i: usize) -> String {
    format!(
        "outbound|{}|v{}|svc-{i}.ns-{}.svc.cluster.local",
        8000 + i % 50,
        i % 3,
        i % 40
    )
}

const CLUSTER: &str = concat!(
    r#"{"version_info":"2026-11-20T10:00:00Z/1234","cluster":{"@type":"$Tenvoy.config.cluster.v3.Cluster","#,
    r#"«"transport_socket_matches":[{"name":"tlsMode-istio","match":{"tlsMode":"istio"},"transport_socket":{"#,
    r#""name":"envoy.transport_sockets.tls","typed_config":{"#,
    r#""@type":"$Tenvoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext","common_tls_context":{"#,
    r#""alpn_protocols":["istio-peer-exchange","istio"],"tls_certificate_sds_secret_configs":[{"name":"default","#,
    r#""sds_config":{"api_config_source":{"api_type":"GRPC","grpc_services":[{"envoy_grpc":{"#,
    r#""cluster_name":"sds-grpc"}}],"set_node_on_first_message_only":true,"transport_api_version":"V3"},"#,
    r#""initial_fetch_timeout":"0s","resource_api_version":"V3"}}],"combined_validation_context":{"#,
    r#""default_validation_context":{"match_subject_alt_names":[{"exact":"spiffe://cluster.local/ns/$ns/sa/svc-$i"}]},"#,
    r#""validation_context_sds_secret_config":{"name":"ROOTCA","sds_config":{"ads":{},"resource_api_version":"V3"}}}},"#,
    r#""sni":"outbound_.$port_._.svc-$i.$ns.svc.cluster.local"}}},{"name":"tlsMode-disabled","match":{},"#,
    r#""transport_socket":{"name":"envoy.transport_sockets.raw_buffer","typed_config":{"#,
    r#""@type":"$Tenvoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer"}}}],»"#,
    r#""name":"$name","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}«,"initial_fetch_timeout":"0s","#,
    r#""resource_api_version":"V3"»},"service_name":"$name"},«"connect_timeout":"10s","lb_policy":"LEAST_REQUEST",»"#,
    r#""circuit_breakers":{"thresholds":[{«"max_connections":4294967295,"max_pending_requests":4294967295,»"#,
    r#""max_requests":4294967295«,"max_retries":4294967295,"track_remaining":true»}]},"#,
    r#"«"common_lb_config":{"locality_weighted_lb_config":{}},»"#,
    r#""outlier_detection":{«"consecutive_5xx":5,»"interval":"10s","base_ejection_time":"30s","max_ejection_percent":50,"#,
    r#""enforcing_success_rate":100,"success_rate_minimum_hosts":5},"#,
    r#""metadata":{"filter_metadata":{"istio":{"services":[{"host":"svc-$i.$ns.svc.cluster.local","name":"svc-$i","#,
    r#""namespace":"$ns"}],"default_original_port":$port}}},"#,
    r#"«"typed_extension_protocol_options":{"envoy.extensions.upstreams.http.v3.HttpProtocolOptions":{"#,
    r#""@type":"$Tenvoy.extensions.upstreams.http.v3.HttpProtocolOptions","explicit_http_config":{"#,
    r#""http2_protocol_options":{"max_concurrent_streams":1073741824}}}},"#,
    r#""filters":[{"name":"istio.metadata_exchange","typed_config":{"@type":"$Tudpa.type.v1.TypedStruct","#,
    r#""type_url":"$Tenvoy.tcp.metadataexchange.config.MetadataExchange","value":{"protocol":"istio-peer-exchange"}}}],»"#,
    r#""load_balancing_policy":{"policies":[{"typed_extension_config":{"#,
    r#""name":"envoy.load_balancing_policies.wrr_locality","typed_config":{"#,
    r#""@type":"$Tenvoy.extensions.load_balancing_policies.wrr_locality.v3.WrrLocality","endpoint_picking_policy":{"#,
    r#""policies":[{"typed_extension_config":{"name":"rr","typed_config":{"#,
    r#""@type":"$Tenvoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin"}}}]}}}}]}},"#,
    r#""last_updated":"2026-11-20T10:00:00.123Z"}"#
);

fn cluster(i: usize, kind: Kind) -> String {
    let values = [
        ("$name", cluster_name(i)),
        ("$ns", format!("ns-{}", i % 40)),
        ("$port", (8000 + i % 50).to_string()),
        ("$i", i.to_string()),
    ];
    fill(
        CLUSTER,
        kind,
        &values.each_ref().map(|(name, value)| (*name, value.as_str())),
    )
}

const LISTENER: &str = concat!(
    r#"{"name":"svc-$i.$ns.svc.cluster.local:8000","active_state":{"version_info":"v1","listener":{"#,
    r#""@type":"$Tenvoy.config.listener.v3.Listener","name":"svc-$i.$ns.svc.cluster.local:8000","api_listener":{"#,
    r#""api_listener":{"#,
    r#""@type":"$Tenvoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager","#,
    r#"«"stat_prefix":"out",»"rds":{"config_source":{"ads":{}«,"resource_api_version":"V3"»},"#,
    r#""route_config_name":"route-$i"},"http_filters":[{"name":"envoy.filters.http.fault","typed_config":{"#,
    r#""@type":"$Tenvoy.extensions.filters.http.fault.v3.HTTPFault"}},«{"name":"istio.stats","is_optional":true,"#,
    r#""typed_config":{"@type":"$Tstats.PluginConfig","disable_host_header_fallback":true}},»"#,
    r#"{"name":"envoy.filters.http.router","typed_config":{"#,
    r#""@type":"$Tenvoy.extensions.filters.http.router.v3.Router"«,"suppress_envoy_headers":false»}}]}}},"#,
    r#""last_updated":"2026-11-20T10:00:00.123Z"}}"#
);

fn listener(i: usize, kind: Kind) -> String {
    let values = [("$ns", format!("ns-{}", i % 40)), ("$i", i.to_string())];
    fill(
        LISTENER,
        kind,
        &values.each_ref().map(|(name, value)| (*name, value.as_str())),
    )
}

const ROUTE_CONFIG: &str = concat!(
    r#"{"version_info":"2026-11-20T10:00:00Z/7","route_config":{"#,
    r#""@type":"$Tenvoy.config.route.v3.RouteConfiguration","name":"route-$i","virtual_hosts":[{"#,
    r#""name":"svc-$i.$ns.svc.cluster.local:8000","domains":["svc-$i.$ns.svc.cluster.local:8000","svc-$i.$ns","#,
    r#""10.8.$a.$b"],"routes":[$routes]«,"include_request_attempt_count":true»}]"#,
    r#"«,"validate_clusters":false,"max_direct_response_body_size_bytes":1048576»},"#,
    r#""last_updated":"2026-11-20T10:00:00.123Z"}"#
);

fn route_config(i: usize, routes: usize, kind: Kind) -> String {
    let routes: Vec<String> = (0..routes).map(|k| route(i, k, kind)).collect();
    let values = [
        ("$routes", routes.join(",")),
        ("$ns", format!("ns-{}", i % 40)),
        ("$a", (i >> 8).to_string()),
        ("$b", (i & 255).to_string()),
        ("$i", i.to_string()),
    ];
    fill(
        ROUTE_CONFIG,
        kind,
        &values.each_ref().map(|(name, value)| (*name, value.as_str())),
    )
}

const ROUTE: &str = concat!(
    r#"{"match":{"prefix":"$prefix","case_sensitive":true,"headers":[{"name":"x-method","string_match":{"exact":"POST"}},"#,
    r#"{"name":"x-tenant","string_match":{"safe_regex":{"regex":"tenant-$k-[a-z0-9]+"}}}]},"route":{$cluster,"#,
    r#"«"timeout":"15s",»"retry_policy":{"#,
    r#""retry_on":"$retry","num_retries":2,«"retry_host_predicate":[{"#,
    r#""name":"envoy.retry_host_predicates.previous_hosts","typed_config":{"#,
    r#""@type":"$Tenvoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"}}],"#,
    r#""host_selection_retry_max_attempts":"5","retriable_status_codes":[503],»"#,
    r#""retry_back_off":{"base_interval":"0.025s","max_interval":"0.25s"}},«"max_grpc_timeout":"0s",»"#,
    r#"«"hash_policy":[{"header":{"header_name":"x-user"},"terminal":true}],»"#,
    r#""max_stream_duration":{"grpc_timeout_header_max":"0s"}},"#,
    r#"«"metadata":{"filter_metadata":{"istio":{"#,
    r#""config":"/apis/networking.istio.io/v1alpha3/namespaces/$ns/virtual-service/vs-$i"}}},"#,
    r#""decorator":{"operation":"svc-$i.$ns.svc.cluster.local:8000/api/v$k*"},»"#,
    r#"$overrides"name":"r-$i-$k"}"#
);

fn route(i: usize, k: usize, kind: Kind) -> String {
    let name = |step: usize| cluster_name((i * step + k) % CLUSTERS);
    let cluster = if k.is_multiple_of(3) {
        format!(
            r#""weighted_clusters":{{"clusters":[{{"name":"{}","weight":80}},{{"name":"{}","weight":20}}]}}"#,
            name(7),
            name(11)
        )
    } else {
        format!(r#""cluster":"{}""#, name(13))
    };
    let mut overrides = Vec::new();
    if k.is_multiple_of(4) {
        overrides.push(format!(
            concat!(
                r#""envoy.filters.http.fault":{{"@type":"{}envoy.extensions.filters.http.fault.v3.HTTPFault","#,
                r#""delay":{{"fixed_delay":"5s","percentage":{{"numerator":10,"denominator":"HUNDRED"}}}},"#,
                r#""abort":{{"grpc_status":14,"percentage":{{"numerator":1}}}}}}"#
            ),
            T
        ));
    }
    if k.is_multiple_of(10) && kind == Kind::Realistic {
        overrides.push(format!(
            concat!(
                r#""acme.authz":{{"@type":"{}envoy.config.route.v3.FilterConfig","is_optional":true,"config":{{"#,
                r#""@type":"{}acme.authz.v1.PerRoute","policy":{{"mode":"ENFORCE","rules":["a","b",{{"x":1}}]}}}}}}"#
            ),
            T, T
        ));
    }
    let overrides = if overrides.is_empty() {
        String::new()
    } else {
        format!(r#""typed_per_filter_config":{{{}}},"#, overrides.join(","))
    };
    let values = [
        ("$cluster", cluster),
        ("$overrides", overrides),
        (
            "$retry",
            if kind == Kind::Realistic {
                "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes"
            } else {
                "unavailable,cancelled,deadline-exceeded,resource-exhausted,internal"
            }
            .to_owned(),
        ),
        (
            "$prefix",
            if kind == Kind::Realistic && k.is_multiple_of(2) {
                format!("/api/v{k}/svc{i}")
            } else {
                format!("/acme.v{k}.Service{i}/")
            },
        ),
        ("$ns", format!("ns-{}", i % 40)),
        ("$i", i.to_string()),
        ("$k", k.to_string()),
    ];
    fill(
        ROUTE,
        kind,
        &values.each_ref().map(|(name, value)| (*name, value.as_str())),
    )
}

const ENDPOINT: &str = concat!(
    r#"{"endpoint":{"address":{"socket_address":{"address":"10.$a.$b.$c","port_value":$port}}$extra},"#,
    r#""health_status":"HEALTHY","metadata":{"filter_metadata":{"envoy.transport_socket_match":{"tlsMode":"istio"},"#,
    r#""istio":{"workload":"svc-$i-deploy;$ns;svc-$i;v1;cluster-1"}}},"load_balancing_weight":$weight}"#
);

fn endpoint(i: usize, j: usize, kind: Kind) -> String {
    let extra = if kind == Kind::Clean {
        ""
    } else {
        r#","health_check_config":{}"#
    };
    let values = [
        ("$a", (i % 256).to_string()),
        ("$b", (j >> 8 & 255).to_string()),
        ("$c", (j & 255).to_string()),
        ("$port", (8000 + i % 50).to_string()),
        ("$extra", extra.to_owned()),
        (
            "$weight",
            (if kind == Kind::Realistic { 1 + j % 7 } else { 3 }).to_string(),
        ),
        ("$ns", format!("ns-{}", i % 40)),
        ("$i", i.to_string()),
    ];
    fill(
        ENDPOINT,
        kind,
        &values.each_ref().map(|(name, value)| (*name, value.as_str())),
    )
}

fn assignment(i: usize, endpoints: usize, kind: Kind) -> String {
    let localities: Vec<String> = (0..3)
        .map(|l| {
            let list: Vec<String> = (l..endpoints).step_by(3).map(|j| endpoint(i, j, kind)).collect();
            format!(
                concat!(
                    r#"{{"locality":{{"region":"us-east1","zone":"us-east1-{}"}},"lb_endpoints":[{}],"#,
                    r#""load_balancing_weight":{}{}}}"#
                ),
                ["b", "c", "d"][l],
                list.join(","),
                (endpoints / 3).max(1),
                if i.is_multiple_of(5) && l > 0 {
                    format!(r#","priority":{l}"#)
                } else {
                    String::new()
                }
            )
        })
        .collect();
    let policy = if kind == Kind::Realistic {
        r#""overprovisioning_factor":140,"#
    } else {
        ""
    };
    format!(
        concat!(
            r#"{{"endpoint_config":{{"@type":"{}envoy.config.endpoint.v3.ClusterLoadAssignment","#,
            r#""cluster_name":"{}","endpoints":[{}],"policy":{{{}"drop_overloads":[{{"category":"throttle","#,
            r#""drop_percentage":{{"numerator":5,"denominator":"HUNDRED"}}}}]}}}},"#,
            r#""version_info":"2026-11-20T10:00:00Z/99","last_updated":"2026-11-20T10:00:00.123Z"}}"#
        ),
        T,
        cluster_name(i),
        localities.join(","),
        policy
    )
}
