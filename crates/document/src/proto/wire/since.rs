//! Which fields a client reads: what `proto/reads.txt` says of its family, and what its version and its switches decide.

use xdsctl_proto::tables::{Field, Message};

use xdsctl_model::profile::{Family, Feature, Profile};

/// Fields that only some versions of a client read, or only under a switch. C-core's own converters
/// report those of C-core.
struct Since {
    families: &'static [Family],
    message: &'static str,
    fields: &'static [&'static str],
    /// `None` if no version reads it.
    feature: Option<Feature>,
}

const GO: &[Family] = &[Family::Go];
const JAVA: &[Family] = &[Family::Java];
const NODE: &[Family] = &[Family::Node];
const ALL_THREE: &[Family] = &[Family::Go, Family::Java, Family::Node];
const BOTH: &[Family] = &[Family::Go, Family::Java];

static SINCE: &[Since] = &[
    of(
        NODE,
        "envoy.config.route.v3.WeightedCluster",
        &["total_weight"],
        Some(Feature::TotalWeightDrawn),
    ),
    of(
        NODE,
        "envoy.config.cluster.v3.Cluster",
        &["transport_socket"],
        Some(Feature::ClusterTls),
    ),
    of(
        NODE,
        "envoy.config.cluster.v3.Cluster",
        &["outlier_detection"],
        Some(Feature::OutlierDetection),
    ),
    of(
        NODE,
        "envoy.config.listener.v3.Listener",
        &[
            "filter_chains",
            "default_filter_chain",
            "use_original_dst",
            "listener_filters",
        ],
        Some(Feature::FilterChains),
    ),
    of(
        NODE,
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        &["http_filters"],
        Some(Feature::FaultInjection),
    ),
    of(JAVA, "envoy.config.route.v3.VirtualHost", &["retry_policy"], None),
    of(JAVA, "envoy.config.rbac.v3.RBAC", &["audit_logging_options"], None),
    of(
        ALL_THREE,
        "envoy.config.cluster.v3.Cluster",
        &["load_balancing_policy"],
        Some(Feature::CustomLbConfig),
    ),
    of(
        GO,
        "envoy.config.cluster.v3.Cluster",
        &["lrs_report_endpoint_metrics"],
        Some(Feature::OrcaLrsPropagation),
    ),
    of(
        ALL_THREE,
        "envoy.config.endpoint.v3.Endpoint",
        &["additional_addresses"],
        Some(Feature::DualstackEndpoints),
    ),
    of(
        BOTH,
        "envoy.config.route.v3.RouteAction",
        &["auto_host_rewrite"],
        Some(Feature::AuthorityRewrite),
    ),
    of(
        BOTH,
        "envoy.config.route.v3.FilterConfig",
        &["disabled"],
        Some(Feature::FilterDisabled),
    ),
    of(
        BOTH,
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter",
        &["disabled"],
        Some(Feature::FilterDisabled),
    ),
    of(
        BOTH,
        "envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin",
        &["metric_names_for_computing_utilization"],
        Some(Feature::WrrMetricNames),
    ),
    of(
        BOTH,
        "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
        &["sni", "auto_host_sni", "auto_sni_san_validation"],
        Some(Feature::Sni),
    ),
    of(
        BOTH,
        "envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext",
        &["system_root_certs"],
        Some(Feature::SystemRootCerts),
    ),
];

const fn of(
    families: &'static [Family],
    message: &'static str,
    fields: &'static [&'static str],
    feature: Option<Feature>,
) -> Since {
    Since {
        families,
        message,
        fields,
        feature,
    }
}

/// The bit of a family in [`Field::read_in`], whose bits are in the order of [`Family`].
const fn bit(family: Family) -> u8 {
    1 << family as u8
}

/// Says whether a client looks into a message at all.
pub(super) fn knows(reader: &Profile, message: &Message) -> bool {
    message.unknown_in & bit(reader.client().family) == 0
}

/// Says whether a client reads a field, or its converter judges over it: it reads a member of the same oneof.
pub(super) fn reads(reader: &Profile, message: &Message, field: &Field) -> bool {
    if reader.is_core() {
        return field.judged;
    }
    let bit = bit(reader.client().family);
    let of_family = (field.judged || field.read_in & bit != 0) && field.unread_in & bit == 0;
    of_family && missing(reader, message, field).is_none()
}

/// The entry of [`SINCE`] because of which a client does not read a field.
fn missing(reader: &Profile, message: &Message, field: &Field) -> Option<&'static Since> {
    let family = reader.client().family;
    let listed = SINCE.iter().find(|since| {
        since.message == message.full_name && since.families.contains(&family) && since.fields.contains(&field.name)
    })?;
    let has = |feature: Feature| reader.has(feature);
    (!listed.feature.is_some_and(has)).then_some(listed)
}

/// What is said of a field that other versions of the client read, or this one with another environment.
pub(super) fn unread(reader: &Profile, message: &Message, field: &Field) -> Option<String> {
    let listed = missing(reader, message, field)?;
    let (name, field) = (reader.name(), field.name);
    let switch = listed.feature.filter(|feature| reader.has_switch(*feature));
    let is_default_on = switch.is_some_and(|feature| reader.is_default_on(feature));
    Some(match switch.and_then(Feature::env) {
        Some(env) if is_default_on => format!("{name} does not read `{field}` while `{env}` is false"),
        Some(env) => format!("{name} does not read `{field}` unless `{env}` is true, which it is not by default"),
        None => format!("{name} does not read `{field}`"),
    })
}

/// The name to give for who does not read a field: `gRPC` if no client does.
pub(super) fn who(reader: &Profile, field: &Field) -> &'static str {
    match reader.is_core() || !field.judged && field.read_in == 0 {
        true => "gRPC",
        false => reader.client().family.project(),
    }
}
