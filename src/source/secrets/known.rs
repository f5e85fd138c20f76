//! Names that are known where no descriptor has them: of a bootstrap, of configurations of LB policies, of fields in general.

use std::collections::HashSet;
use std::sync::OnceLock;

use xdsctl_proto::tables::{self, ENUMS, MESSAGES};

/// JSON whose values may be printed behind these keys; everything else in it is hidden.
#[derive(Debug)]
pub struct Known {
    /// Keys of values, now and then of objects too.
    pub keys: &'static [&'static str],
    /// Keys of objects of the same kind, and of lists of them.
    pub objects: &'static [&'static str],
    /// Keys of maps of such: their own keys are names.
    pub maps: &'static [&'static str],
}

/// A bootstrap (gRFC A27 and what came after it).
pub static BOOTSTRAP: Known = Known {
    keys: &[
        "ca_certificate_file",
        "certificate_file",
        "client_default_listener_resource_name_template",
        "client_listener_resource_name_template",
        "cluster",
        "id",
        "jwt_token_file",
        "plugin_name",
        "private_key_file",
        "refresh_interval",
        "region",
        "server_features",
        "server_listener_resource_name_template",
        "server_uri",
        "sub_zone",
        "type",
        "user_agent_name",
        "user_agent_version",
        "zone",
    ],
    objects: &[
        "call_creds",
        "channel_creds",
        "config",
        "locality",
        "node",
        "xds_servers",
    ],
    maps: &["allowed_grpc_services", "authorities", "certificate_providers"],
};

/// Configurations of LB policies and what stands around them, as gRPC's own policies have them.
pub static POLICY: Known = Known {
    keys: &[
        "autoshardingTarget",
        "backoffMultiplier",
        "baseEjectionTime",
        "blackoutPeriod",
        "cacheSizeBytes",
        "category",
        "childPolicyConfigTargetFieldName",
        "choiceCount",
        "cluster",
        "clusterName",
        "defaultTarget",
        "edsServiceName",
        "enableFallback",
        "enableOobLoadReport",
        "enforcementPercentage",
        "errorUtilizationPenalty",
        "host",
        "ignoreReresolutionRequests",
        "ignore_reresolution_requests",
        "initialAssignmentTimeout",
        "initialBackoff",
        "interval",
        "isDynamic",
        "key",
        "keyHeaderName",
        "loadBalancingPolicy",
        "lookupService",
        "lookupServiceTimeout",
        "maxAge",
        "maxAttempts",
        "maxBackoff",
        "maxConcurrentRequests",
        "maxConnectionsPerSubchannel",
        "maxEjectionPercent",
        "maxEjectionTime",
        "maxRingSize",
        "method",
        "metricNamesForComputingUtilization",
        "minRingSize",
        "minimumHosts",
        "name",
        "names",
        "oobReportingPeriod",
        "overrideHostStatus",
        "priorities",
        "requestHashHeader",
        "requestVolume",
        "requests_per_million",
        "requiredMatch",
        "retryableStatusCodes",
        "service",
        "serviceName",
        "shuffleAddressList",
        "staleAge",
        "stdevFactor",
        "subsetSize",
        "threshold",
        "timeout",
        "validTargets",
        "waitForReady",
        "weight",
        "weightExpirationPeriod",
        "weightUpdatePeriod",
        "weight_set",
    ],
    objects: &[
        "cds_experimental",
        "childPolicy",
        "config",
        "connectionScaling",
        "dropCategories",
        "endpointPickingPolicy",
        "extraKeys",
        "failurePercentageEjection",
        "grpcKeybuilders",
        "grpclb",
        "headers",
        "healthCheckConfig",
        "least_request_experimental",
        "loadBalancingConfig",
        "localityWeightedLbConfig",
        "methodConfig",
        "outlierDetection",
        "outlier_detection_experimental",
        "pick_first",
        "priority_experimental",
        "random_subsetting",
        "retryPolicy",
        "retryThrottling",
        "ring_hash_experimental",
        "rls_experimental",
        "round_robin",
        "routeLookupConfig",
        "successRateEjection",
        "weighted_round_robin",
        "weighted_target_experimental",
        "wrrLocalityConfig",
        "xds_cluster_impl_experimental",
        "xds_cluster_manager_experimental",
        "xds_override_host_experimental",
        "xds_wrr_locality_experimental",
    ],
    maps: &["children", "targets"],
};

/// What Envoy answers at `/clusters?format=json` (envoy.admin.v3.Clusters, which the descriptor set does not have).
pub static CLUSTERS: Known = Known {
    keys: &[
        "address",
        "eds_health_status",
        "eds_service_name",
        "hostname",
        "max_connections",
        "max_pending_requests",
        "max_requests",
        "max_retries",
        "name",
        "observability_name",
        "path",
        "port_value",
        "priority",
        "protocol",
        "region",
        "sub_zone",
        "type",
        "value",
        "weight",
        "zone",
    ],
    objects: &[
        "circuit_breakers",
        "cluster_statuses",
        "health_status",
        "host_statuses",
        "local_origin_success_rate",
        "local_origin_success_rate_ejection_threshold",
        "locality",
        "pipe",
        "socket_address",
        "stats",
        "success_rate",
        "success_rate_ejection_threshold",
        "thresholds",
    ],
    maps: &[],
};

/// Metadata that gRPC reads (gRFC A76, A79).
pub static METADATA: Known = Known {
    keys: &["hash_key", "service_name", "service_namespace"],
    objects: &[],
    maps: &[],
};

/// Where it stands in `filter_metadata`.
pub const METADATA_NAMES: &[&str] = &["com.google.csm.telemetry_labels", "envoy.lb"];

/// Says whether this is a policy of gRPC's own, by the name that a TypedStruct has for it.
pub fn is_policy(name: &str) -> bool {
    let is_like_one = name.ends_with("_experimental") || matches!(name, "grpclb" | "pick_first" | "round_robin");
    (is_like_one || matches!(name, "random_subsetting" | "weighted_round_robin")) && POLICY.objects.contains(&name)
}

/// Says whether a word is the name of a field, a type (with its package or without) or a value of an enum, which tells nobody
/// anything.
pub fn is_known_word(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let fields = MESSAGES.iter().flat_map(|message| message.fields);
        let values = ENUMS.iter().flat_map(|item| item.values).map(|(name, _)| *name);
        let known = [&super::BOOTSTRAP, &super::POLICY].into_iter();
        let of_json = known
            .flat_map(|known| known.keys.iter().chain(known.objects).chain(known.maps))
            .copied();
        fields
            .flat_map(|field| [field.name, field.json_name])
            .chain(values)
            .chain(of_json)
            .chain(
                MESSAGES
                    .iter()
                    .filter_map(|message| message.full_name.rsplit('.').next()),
            )
            .chain(["@type", "apiVersion", "kind", "spec", "items", "true", "false", "null"])
            .collect()
    });
    words.contains(word) || tables::message(word.rsplit('/').next().unwrap_or_default()).is_some()
}

/// Words of errors, which tell nobody anything.
const PEER_WORDS: &str = "a accepted after all already an and any are as at be because but by cannot client config \
    configuration connection could deadline decoding did does duplicate either empty entry error errors exceeded exist \
    expected extension failed failure field fields filter found for from given got greater has have in incompatible \
    index internal invalid is it its json key least less list malformed map match matching message missing more must name \
    no non none not null number object of on one only or out parse parsing permission plugin policy present proto range \
    received refused regex registered rejected required resource resources response route server set should string such \
    supported than that the timed timeout to too type types unable unavailable unexpected unknown unmarshal unsupported \
    update url used validating validation value values virtual was when which while with without wrong xds xdsctl zero";

/// Longest word that is no secret, such as `LB` or `cds`, in letters.
const MAX_SHORT: usize = 3;

/// The free text of a peer as it may be printed: words of errors and names of fields, asterisks for others.
///
/// ```
/// use xdsctl::source::secrets::peer_words;
/// assert_eq!(peer_words("[field:lb_policy error:unknown `hunter2`]"), "[field:lb_policy error:unknown `*******`]");
/// ```
pub fn peer_words(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_number = |word: &str| word.len() < 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_usual = |word: &str| {
        PEER_WORDS
            .split_ascii_whitespace()
            .any(|usual| usual.eq_ignore_ascii_case(word))
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = is_part(first);
        let end = rest.find(|c| is_part(c) != is_word).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        let is_short = piece.len() <= MAX_SHORT && piece.bytes().all(|byte| byte.is_ascii_alphabetic());
        if !is_word || is_short || is_number(piece) || is_usual(piece) || is_known_word(piece) {
            out.push_str(piece);
        } else {
            out.extend(piece.chars().map(|_| '*'));
        }
        rest = after;
    }
    out
}

/// Says whether a key is a piece of some text, and no name of a field.
pub fn is_piece(key: &str) -> bool {
    !key.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'@' | b'-'))
}
