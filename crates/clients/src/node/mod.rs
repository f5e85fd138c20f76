//! grpc-js-xds: converters of the four resources, with its order of checks; a validator collects
//! the faults of a resource.
//!
//! There is one file for each resource or part of one, and one function for each of the client's
//! own, which its doc names. Most faults are collected, and the validator goes on ([`fault`]). An
//! exception ends the resource at once, which is a rejection as well: it is `Err`.

mod cidr;
mod cluster;
mod endpoints;
mod filter_chain;
mod http_connection_manager;
mod http_filter;
mod lb;
mod lb_config;
mod lb_json;
mod listener;
mod protobufjs;
mod rbac;
mod regex;
mod routes;
mod tls;

use bytes::Bytes;

use crate::shared::read::{self, FamilyReader, PolicyKind, ReadDialect, WeightedForm, plain_range};
use crate::shared::rules::PORT_OUT_OF_RANGE;
use crate::shared::{
    Checked, Converter, ConverterStop, Message, Opened, SentResource, URL_PREFIX, decoded_anew, is_url_of, not_in_any,
    undecodable,
};
use xdsctl_document::proto::pb::tables;
use xdsctl_lb::ring_hash::LB_RING_HASH_SIZE;
use xdsctl_lb::usable::LB_RING_HASH_BELOW_LOCALITIES;
use xdsctl_model::diag::{BytesKnowledge, Effect, Path, Rule, Validation};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::Resource;
use xdsctl_model::resource::filter::FaultHeaders;
use xdsctl_model::resource::lb_policy::DEFAULT_MIN_RING_SIZE;

/// Names that every JavaScript object has, so that `name in map` is true for them whatever is in
/// the map.
const OBJECT_PROTOTYPE: [&str; 12] = [
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// How the client reads an accepted resource, where families differ.
static DIALECT: ReadDialect = ReadDialect {
    filter: http_filter::by_url,
    status_of_http: read::status_of_http,
    fault_headers: FaultHeaders::Node,
    plugin: |_, _| None,
    ring: |min, max| {
        (
            min.unwrap_or(DEFAULT_MIN_RING_SIZE),
            // The policy's own cap is lower than this.
            max.unwrap_or(cluster::MAX_RING_SIZE),
        )
    },
    has_policy: lb_json::is_registered,
    least_request_in_localities: false,
    reads_least_request: false,
    // The names are those of lb-policy-registry/weighted-round-robin.ts.
    weighted_round_robin: WeightedForm {
        omits_zero: false,
        names: [
            "enable_oob_load_report",
            "oob_load_reporting_period",
            "blackout_period",
            "weight_expiration_period",
            "weight_update_period",
            "error_utilization_penalty",
        ],
    },
    watches_unweighted: true,
    lb_config: lb_config::of_list,
    requires_if_set: false,
    keeps_destinations: |_| false,
    has_policy_kind: |kind, _| !matches!(kind, PolicyKind::PortRange | PolicyKind::OtherActions),
    prefers_raw_buffer: false,
    uses_all_chains: true,
    needs_raw_buffer: true,
    chain_range: plain_range,
    policy_range: plain_range,
    uses_alpn: false,
    last_breaker: true,
    unset_breaker_counts: true,
};

pub(crate) static CONVERTER: Converter = Converter {
    judge: convert,
    failures_kill: true,
    failing_later: &[
        &cluster::OUTLIER_WITHOUT_HOSTS_KILLS,
        &LB_RING_HASH_SIZE,
        &LB_RING_HASH_BELOW_LOCALITIES,
        &PORT_OUT_OF_RANGE,
    ],
    rules: &[
        cluster::RULES,
        http_connection_manager::RULES,
        http_filter::RULES,
        lb::RULES,
        listener::RULES,
        regex::RULES,
        routes::RULES,
    ],
};

/// Converts a resource. For an exception, the client knows only the position of the resource in the
/// response, not its name.
fn convert(sent: &SentResource<'_>, cx: &mut Validation<'_>) -> Checked<Option<Resource>> {
    read_and_convert(sent, cx).map_err(|stop| match stop {
        ConverterStop::Rejected => ConverterStop::Unnamed,
        other => other,
    })
}

fn read_and_convert(sent: &SentResource<'_>, cx: &mut Validation<'_>) -> Checked<Option<Resource>> {
    let resource_type = sent.resource_type;
    // protobuf.js reads bytes that the loader wrote like any other parser.
    let table = tables::message(resource_type.type_name()).filter(|_| cx.known() < BytesKnowledge::WellFormed);
    let read = match table {
        Some(table) => protobufjs::read(sent.bytes, table).map_err(|thrown| undecodable(resource_type, thrown, cx))?,
        None => None,
    };
    let bytes = match (read, sent.message) {
        (None, Ok(message)) => return kept(message, sent.opened, cx),
        (None, Err(_)) => sent.bytes.clone(),
        (Some(bytes), _) => bytes,
    };
    // These bytes hold the message as this client reads it.
    decoded_anew(bytes, resource_type, |read| match read {
        Ok(message) => kept(message, &Opened::default(), cx),
        Err(fault) => Err(undecodable(resource_type, fault, cx)),
    })
}

/// Converts a message, and returns what the client keeps of it.
fn kept(message: Message<'_>, opened: &Opened, cx: &mut Validation<'_>) -> Checked<Option<Resource>> {
    converted(message, opened, cx)?;
    Ok(Some(FamilyReader::new(&DIALECT, cx).resource(message, opened)))
}

fn converted(message: Message<'_>, opened: &Opened, cx: &mut Validation<'_>) -> Checked {
    match message {
        Message::Listener(listener) => listener::convert(listener, cx),
        Message::RouteConfiguration(config) => {
            let user = match cx.has(Feature::ReadsAsServer) {
                true => routes::RoutesUser::Server,
                false => routes::RoutesUser::Unknown,
            };
            routes::from_proto(opened.hosts(config), user, &Path::ROOT, cx)
        }
        Message::Cluster(cluster) => cluster::convert(cluster, cx),
        Message::Endpoints(endpoints) => {
            endpoints::convert(endpoints, opened.endpoints(endpoints), cx);
            Ok(())
        }
    }
}

/// Reports a fault that is collected: the validator goes on.
#[cold]
fn fault(rule: &'static Rule, at: &Path<'_>, message: std::fmt::Arguments<'_>, cx: &mut Validation<'_>) {
    cx.report_as(Effect::Nack, rule, at, message);
}

/// Decodes bytes as a message (`decodeSingleResource`, `parseAnyMessage`); `at` is the path of the
/// Any that holds them.
fn decode<T: prost::Message + Default>(
    bytes: &Bytes,
    type_name: &'static str,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Checked<T> {
    let read = tables::message(type_name).map_or(Ok(None), |table| protobufjs::read(bytes, table));
    let decoded = read.and_then(|read| {
        let bytes = read.unwrap_or_else(|| bytes.clone());
        T::decode(bytes).map_err(|_| protobufjs::Thrown::Depth)
    });
    decoded.map_err(|fault| not_in_any(type_name, fault, at, cx))
}
