//! LB policies. Each folder has the reading, the validation and the state machine of one policy
//! (A52).
//!
//! The registry knows a policy by its gRPC name and, where there is one, by the type of its xDS
//! message. A policy's config is read twice, as in the client: [`xds`] turns the xDS messages of a
//! cluster into gRPC's JSON, and [`parse_list`] reads that JSON, or the JSON of a TypedStruct, into
//! a typed [`LbConfig`]. The crates above never read JSON again: a cluster holds the typed config.
//!
//! Follows C-core `LoadBalancingPolicyRegistry` (lb_policy_registry.cc).

pub mod autosharding;
pub mod cds;
pub mod cluster_impl;
pub mod cluster_manager;
pub mod config;
pub mod grpclb;
pub mod least_request;
pub mod outlier_detection;
pub mod override_host;
pub mod p2c;
pub mod pick_first;
pub mod priority;
pub mod ring_hash;
pub mod rls;
pub mod round_robin;
pub mod run;
pub mod weighted_round_robin;
pub mod weighted_target;
pub mod wrr_locality;

use serde_json::{Map, Value};

pub use config::rejected;
pub use config::{json, usable, xds};
use json::{ConfigFault, ConfigPlace, Faults};
use policy::{PolicyCx, StateMachine, TreePath};
use run::unsimulated::UnsimulatedPolicy;
pub use run::{endpoint, log, metadata, picker, policy, runtime};
use xdsctl_model::diag::{Rule, rules};
use xdsctl_model::profile::{Feature, Profile};
pub use xdsctl_model::resource::LbConfig;

rules! {
    /// A list of LB policies is not a list of objects with one policy each.
    LB_JSON_LIST_MALFORMED = "lb-json-list-malformed", Lb, Nack, "C-core LoadBalancingPolicyRegistry::ParseLoadBalancingConfigHelper";
    /// A list of LB policies has none that the client knows.
    LB_JSON_NO_KNOWN_POLICY = "lb-json-no-known-policy", Lb, Nack, "C-core LoadBalancingPolicyRegistry::ParseLoadBalancingConfigHelper";
    /// The config of a child policy is rejected by its own policy.
    LB_CHILD_REJECTED = "lb-child-rejected", Lb, Nack, "C-core JsonPostLoad of the policies with children";
}

/// Generates the registry, and the functions on configs, from one list of policies.
macro_rules! policies {
    ($($module:ident: $variant:ident, $make:expr $(, $message:literal)?;)*) => {
        /// All policies that clients have, except those that an application registers.
        static POLICIES: &[PolicyType] = &[$(PolicyType {
            name: $module::NAME,
            from_json: |config, profile| $module::from_json(config, profile).map(LbConfig::$variant),
        },)*];

        /// The xDS messages of policies.
        static MESSAGES: &[xds::MessageType] = &[$($(xds::MessageType {
            policy: $module::NAME,
            type_name: $message,
            convert: $module::from_proto,
        },)?)*];

        /// Returns the registered name of the policy of a config.
        pub const fn name_of(config: &LbConfig) -> &'static str {
            match config {
                $(LbConfig::$variant(_) => $module::NAME,)*
            }
        }

        /// Makes the state machine of a config's policy at a place in the tree. The config comes
        /// with the first update.
        fn machine_of(config: &LbConfig, at: TreePath, cx: &mut PolicyCx<'_>) -> Box<dyn StateMachine> {
            match config {
                $(LbConfig::$variant(_) => {
                    let make: fn(TreePath, &mut PolicyCx<'_>) -> _ = $make;
                    Box::new(make(at, cx))
                })*
            }
        }

        /// Writes a config as the client does: `[{"<name>": {...}}]`, with a value for every field.
        pub fn to_json(config: &LbConfig) -> Value {
            let fields = match config {
                $(LbConfig::$variant(config) => $module::to_json(config),)*
            };
            named(name_of(config), fields)
        }
    };
}

// The folder, the variant of the config, the state machine, and the xDS message if there is one.
policies! {
    autosharding: Autosharding, |at, _| UnsimulatedPolicy::new(&at);
    cds: Cds, |at, _| cds::CdsPolicy::new(at);
    cluster_impl: ClusterImpl, |at, cx| cluster_impl::ClusterImplPolicy::new(&at, cx);
    cluster_manager: ClusterManager, |at, _| cluster_manager::ClusterManagerPolicy::new(at);
    grpclb: Grpclb, |at, _| UnsimulatedPolicy::new(&at);
    least_request: LeastRequest, least_request::LeastRequestPolicy::new;
    outlier_detection: OutlierDetection, outlier_detection::OutlierDetectionPolicy::new;
    override_host: OverrideHost, |at, _| override_host::OverrideHostPolicy::new(at);
    p2c: P2c, p2c::P2cPolicy::new;
    pick_first: PickFirst, |at, _| pick_first::PickFirstPolicy::new(at, false),
        "envoy.extensions.load_balancing_policies.pick_first.v3.PickFirst";
    priority: Priority, |at, _| priority::PriorityPolicy::new(at);
    ring_hash: RingHash, ring_hash::RingHashPolicy::new,
        "envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash";
    rls: Rls, rls::RlsPolicy::new;
    round_robin: RoundRobin, round_robin::RoundRobinPolicy::new,
        "envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin";
    weighted_round_robin: WeightedRoundRobin, weighted_round_robin::WeightedRoundRobinPolicy::new,
        "envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin";
    weighted_target: WeightedTarget, weighted_target::WeightedTargetPolicy::new;
    wrr_locality: WrrLocality, wrr_locality::WrrLocalityPolicy::new,
        "envoy.extensions.load_balancing_policies.wrr_locality.v3.WrrLocality";
}

/// Returns `[{"<name>": config}]`.
pub fn named(name: &str, config: Value) -> Value {
    let mut entry = Map::new();
    entry.insert(name.to_owned(), config);
    Value::Array(vec![Value::Object(entry)])
}

/// Reads a policy's config.
type FromJson = fn(config: &Map<String, Value>, profile: &Profile) -> Result<LbConfig, Faults>;

/// An LB policy that a client has.
#[derive(Debug)]
pub struct PolicyType {
    /// The registered name.
    pub name: &'static str,
    /// Reads the JSON config.
    pub from_json: FromJson,
}

/// Returns the names of the policies that any client has.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    POLICIES.iter().map(|policy| policy.name)
}

/// Returns the policy that the profile's client registers under `name`.
pub fn by_name(name: &str, profile: &Profile) -> Option<&'static PolicyType> {
    let known = POLICIES.iter().find(|policy| policy.name == name);
    known.filter(|policy| match policy.name {
        autosharding::NAME => profile.has(Feature::Autosharding),
        least_request::NAME => profile.has(Feature::LeastRequestPolicy),
        // No list of policies can name it.
        p2c::NAME => false,
        _ => true,
    })
}

/// Returns the xDS message of this name, if it is that of a policy.
pub fn by_message(type_name: &str, profile: &Profile) -> Option<&'static xds::MessageType> {
    let found = MESSAGES.iter().find(|message| message.type_name == type_name);
    found.filter(|message| message.policy != pick_first::NAME || profile.has(Feature::PickFirstMessage))
}

/// Returns the types of the xDS messages of all policies.
pub fn message_types() -> impl Iterator<Item = &'static str> {
    MESSAGES.iter().map(|message| message.type_name)
}

/// Reads a list of policies, such as `[{"round_robin": {}}]`. The first known policy counts.
///
/// Entries before the chosen one must be well-formed even if their policy is unknown; entries after
/// it are not looked at.
///
/// # Errors
/// Fails with the faults that the client's loaders find. Their places are relative to the chosen
/// policy's config; a fault in the list itself has an empty place.
pub fn parse_list(list: &Value, profile: &Profile) -> Result<LbConfig, Vec<ConfigFault>> {
    let (policy, config) = choose(list, profile).map_err(|fault| vec![fault])?;
    (policy.from_json)(config, profile)
}

/// Returns the first known policy of a list, with its config.
fn choose<'l>(
    list: &'l Value,
    profile: &Profile,
) -> Result<(&'static PolicyType, &'l Map<String, Value>), ConfigFault> {
    let Value::Array(entries) = list else {
        return Err(malformed(format_args!("is not a list of policies")));
    };
    for (i, entry) in entries.iter().enumerate() {
        let Value::Object(entry) = entry else {
            return Err(malformed(format_args!(
                "entry {i} is not an object with the name of a policy"
            )));
        };
        let mut pairs = entry.iter();
        let (Some((name, config)), None) = (pairs.next(), pairs.next()) else {
            let count = entry.len();
            return Err(malformed(format_args!("entry {i} names {count} policies, must name 1")));
        };
        let Value::Object(config) = config else {
            return Err(malformed(format_args!("the config of `{name}` is not an object")));
        };
        if let Some(policy) = by_name(name, profile) {
            return Ok((policy, config));
        }
    }
    Err(no_known_policy(entries))
}

#[cold]
fn malformed(message: std::fmt::Arguments<'_>) -> ConfigFault {
    list_fault(&LB_JSON_LIST_MALFORMED, message.to_string())
}

#[cold]
fn no_known_policy(entries: &[Value]) -> ConfigFault {
    let names: Vec<&str> = entries
        .iter()
        .filter_map(Value::as_object)
        .flat_map(Map::keys)
        .map(String::as_str)
        .collect();
    let message = match names.as_slice() {
        [] => "the list of policies is empty".to_owned(),
        names => format!("no policy of the list is known: `{}`", names.join("`, `")),
    };
    list_fault(&LB_JSON_NO_KNOWN_POLICY, message)
}

fn list_fault(rule: &'static Rule, message: String) -> ConfigFault {
    ConfigFault {
        rule,
        path: String::new(),
        message,
        inner: Vec::new(),
    }
}

/// Reads the child policies in the required field `name`, where null is a value of the wrong type.
pub fn child(
    map: &Map<String, Value>,
    name: &str,
    at: &ConfigPlace<'_>,
    profile: &Profile,
    faults: &mut Faults,
) -> Option<Box<LbConfig>> {
    let at = at.field(name);
    let list = map.get(name);
    if list.is_none() {
        json::missing(&at, faults);
    }
    child_list(list?, &at, profile, faults)
}

/// Reads a list of child policies at `at`. All faults in it become one fault there, with the
/// child's own faults inside.
pub fn child_list(list: &Value, at: &ConfigPlace<'_>, profile: &Profile, faults: &mut Faults) -> Option<Box<LbConfig>> {
    let (policy, config) = match choose(list, profile) {
        Ok(chosen) => chosen,
        Err(fault) => {
            faults.push(ConfigFault {
                path: at.to_string(),
                ..fault
            });
            return None;
        }
    };
    match (policy.from_json)(config, profile) {
        Ok(config) => Some(Box::new(config)),
        Err(inner) => {
            faults.push(ConfigFault {
                rule: &LB_CHILD_REJECTED,
                path: at.to_string(),
                message: format!("`{}` rejects its config", policy.name),
                inner,
            });
            None
        }
    }
}

/// Finishes the reading of a config: returns it if there was no fault.
pub fn done<T>(config: T, faults: Faults) -> Result<T, Faults> {
    if faults.is_empty() { Ok(config) } else { Err(faults) }
}

/// The rules of all files of this crate except this one.
pub static PART_RULES: &[&[&Rule]] = &[
    autosharding::RULES,
    json::RULES,
    outlier_detection::RULES,
    priority::RULES,
    ring_hash::RULES,
    rls::RULES,
    usable::RULES,
    weighted_round_robin::RULES,
    weighted_target::RULES,
    wrr_locality::RULES,
    xds::RULES,
];
