//! `Cluster.load_balancing_policy`: from xDS messages to the JSON that the client generates (A52).
//!
//! The client uses the first entry of the list that it supports: a built-in message, or a
//! TypedStruct that names a registered policy. Later entries are not looked at. Then the policy's
//! own loader reads the JSON. All its faults together are one rejection at `load_balancing_policy`,
//! which quotes the loader's places.
//!
//! Follows C-core `XdsLbPolicyRegistry::ConvertXdsLbPolicyConfig` (xds_lb_policy_registry.cc) and
//! `ParseLbPolicyConfig` (xds_cluster_parser.cc).

use std::sync::Arc;

use serde_json::Value;

use super::{rejected, usable};
use crate::{by_message, by_name, named, parse_list};
use xdsctl_document::proto::any::{self, Extension, Payload};
use xdsctl_document::proto::pb::envoy::config::cluster::v3::LoadBalancingPolicy;
use xdsctl_model::diag::{Diagnostic, Path, Related, Seg, Validation, rules};
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::LbPolicy;

rules! {
    /// LB policies are nested more than 16 deep.
    LB_NESTING_TOO_DEEP = "lb-nesting-too-deep", Lb, Nack, "gRFC A52; C-core ConvertXdsLbPolicyConfig";
    /// An entry of a list of LB policies has no typed_extension_config.
    LB_ENTRY_WITHOUT_EXTENSION = "lb-entry-without-extension", Lb, Nack, "C-core ConvertXdsLbPolicyConfig";
    /// A list of LB policies has none that the client supports.
    LB_NO_SUPPORTED_POLICY = "lb-no-supported-policy", Lb, Nack, "gRFC A52; C-core ConvertXdsLbPolicyConfig";
    /// The policy's own loader rejects the config.
    LB_CONFIG_REJECTED = "lb-config-rejected", Lb, Nack, "gRFC A52; C-core ParseLbPolicyConfig (xds_cluster_parser.cc)";
    /// The client passes over an entry whose policy it does not support.
    LB_ENTRY_SKIPPED = "lb-entry-skipped", Lb, Ignored, "gRFC A52; C-core ConvertXdsLbPolicyConfig";
}

/// How many levels of lists the client follows, the outermost included.
pub const MAX_DEPTH: usize = 16;

/// The xDS message of a built-in policy.
#[derive(Debug)]
pub struct MessageType {
    /// The registered name of the policy.
    pub policy: &'static str,
    /// The message's full name.
    pub type_name: &'static str,
    /// Converts it to the policy's JSON config.
    pub convert: Convert,
}

/// Converts the message of an entry. Returns `None` after a rejection that leaves no config.
type Convert = fn(entry: &mut PolicyEntry<'_, '_>, cx: &mut Validation<'_>) -> Option<Value>;

/// The chosen entry of a list while it is being converted.
pub struct PolicyEntry<'e, 'c> {
    extension: &'e Extension<'e>,
    /// The path of the message's own fields.
    pub at: Path<'e>,
    depth: usize,
    chain: &'c mut Chain,
}

impl PolicyEntry<'_, '_> {
    /// Decodes the message, and reports what the client's parser rejects.
    pub fn decode<T: prost::Message + Default>(&self, cx: &mut Validation<'_>) -> Option<T> {
        self.extension.decode(&self.at, cx)
    }

    /// Reports the ignored fields of a message that the client does not parse.
    pub fn note_ignored<T: prost::Message + Default>(&self, cx: &mut Validation<'_>) {
        if let Payload::Wire(bytes) = &self.extension.payload {
            // Bytes that do not parse are no fault: the client does not parse them.
            let _ = any::try_decode::<T>(bytes, &self.extension.type_name, &self.at, cx);
        }
    }

    /// Converts the list of child policies at `at`.
    pub fn convert_below(&mut self, pb: &LoadBalancingPolicy, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<Value> {
        convert(pb, at, self.depth + 1, self.chain, cx)
    }
}

/// The position of the chosen entry on one level.
#[derive(Debug, Clone, Copy)]
struct Hop {
    index: usize,
    wrapper: Option<&'static str>,
    type_name: &'static str,
}

/// The chosen entries from the outermost list down. Everything deeper is inside the TypedStruct of
/// the last entry.
#[derive(Debug, Default)]
pub struct Chain {
    hops: [Option<Hop>; MAX_DEPTH],
}

impl Chain {
    /// Says whether the level `depth` has an entry of its own.
    pub fn reaches(&self, depth: usize) -> bool {
        self.hops.get(depth).is_some_and(Option::is_some)
    }

    /// Says whether the level `depth` came as a TypedStruct, or inside one.
    pub fn is_custom(&self, depth: usize) -> bool {
        match self.hops.get(depth) {
            Some(Some(hop)) => hop.wrapper.is_some(),
            Some(None) | None => true,
        }
    }

    /// Calls `visit` with the path of the entry of level `depth`, or of the deepest entry above
    /// that level. `at` is the outermost list.
    pub fn visit(&self, depth: usize, at: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
        self.descend(0, depth, at, visit);
    }

    fn descend(&self, level: usize, depth: usize, at: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
        let Some(Some(hop)) = self.hops.get(level) else {
            visit(at);
            return;
        };
        let at = at.field("policies");
        let at = at.index(hop.index);
        let at = at.field("typed_extension_config");
        let at = at.field("typed_config");
        let at = at.then(Seg::Value {
            wrapper: hop.wrapper,
            type_name: hop.type_name,
        });
        if level < depth && self.reaches(level + 1) {
            self.descend(level + 1, depth, &at.field("endpoint_picking_policy"), visit);
        } else {
            visit(&at);
        }
    }
}

/// Converts the policy of a cluster; `at` is the path of `load_balancing_policy`.
///
/// Returns `None` after a rejection. Also reports what is accepted and then fails.
pub fn from_proto(
    pb: &LoadBalancingPolicy,
    owner: &usable::Owner<'_>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<Arc<LbPolicy>> {
    let mut chain = Chain::default();
    let mark = cx.mark();
    let list = convert(pb, at, 0, &mut chain, cx);
    if cx.nacked_since(mark) {
        return None;
    }
    let list = list?;
    match parse_list(&list, cx.profile()) {
        Ok(config) => {
            usable::check(&config, owner, &chain, at, cx);
            Some(Arc::new(LbPolicy {
                config,
                refusal: None,
                json: list,
            }))
        }
        Err(faults) => {
            let policy = chain.hops.first().copied().flatten().map_or("", |hop| hop.type_name);
            let rejected = Related {
                path: at.to_owned(),
                message: format!("the client's own loader rejects the config of `{policy}`"),
                rule: Some(&LB_CONFIG_REJECTED),
            };
            rejected::report(&faults, rejected, &chain, at, cx);
            None
        }
    }
}

/// Converts a list of policies at `at` on level `depth`.
fn convert(
    pb: &LoadBalancingPolicy,
    at: &Path<'_>,
    depth: usize,
    chain: &mut Chain,
    cx: &mut Validation<'_>,
) -> Option<Value> {
    let Some(_) = chain.hops.get(depth) else {
        cx.report(
            &LB_NESTING_TOO_DEEP,
            at,
            format_args!("LB policies are nested more than {MAX_DEPTH} deep"),
        );
        return None;
    };
    let mark = cx.mark();
    // The findings on entries that are passed over. If no entry is supported, they become details
    // of the one finding that says so.
    let mut skipped = Vec::new();
    for (index, policy) in pb.policies.iter().enumerate() {
        let at = at.field("policies");
        let at = at.index(index);
        let at = at.field("typed_extension_config");
        let Some(extension) = policy.typed_extension_config.as_ref() else {
            cx.add_all(skipped);
            cx.report(
                &LB_ENTRY_WITHOUT_EXTENSION,
                &at,
                format_args!("missing, must hold the policy's config"),
            );
            return None;
        };
        let at = at.field("typed_config");
        let Some(mut extension) = any::extract(extension.typed_config.as_ref(), &at, cx) else {
            cx.add_all(skipped);
            return None;
        };
        if let Payload::Wire(_) = extension.payload {
            if let Some(message) = by_message(&extension.type_name, cx.profile()) {
                cx.add_all(skipped);
                note_hop(chain, depth, index, None, message.type_name);
                let mut entry = PolicyEntry {
                    extension: &extension,
                    at: extension.at(&at),
                    depth,
                    chain,
                };
                let config = (message.convert)(&mut entry, cx)?;
                return Some(named(message.policy, config));
            }
        } else if let Some(policy) = by_name(&extension.type_name, cx.profile())
            && let Payload::Json(config) = std::mem::replace(&mut extension.payload, Payload::Json(Value::Null))
        {
            cx.add_all(skipped);
            note_hop(chain, depth, index, extension.wrapper, policy.name);
            return Some(named(policy.name, config));
        }
        skipped.push(passed_over(&extension, &extension.at(&at), cx));
    }
    match cx.nacked_since(mark) {
        true => cx.add_all(skipped),
        false => report_none_supported(pb, &skipped, at, cx),
    }
    None
}

fn note_hop(chain: &mut Chain, depth: usize, index: usize, wrapper: Option<&'static str>, type_name: &'static str) {
    if let Some(hop) = chain.hops.get_mut(depth) {
        *hop = Some(Hop {
            index,
            wrapper,
            type_name,
        });
    }
}

/// Makes the finding on an entry that the client does not support.
#[cold]
fn passed_over(extension: &Extension<'_>, at: &Path<'_>, cx: &Validation<'_>) -> Diagnostic {
    let name: &str = &extension.type_name;
    let (why, help) = match extension.wrapper {
        None if by_name(name, cx.profile()).is_some() => (
            ": a gRPC policy must come as a TypedStruct",
            Some(format!("put `{name}` into a TypedStruct")),
        ),
        Some(_) if by_message(name, cx.profile()).is_some() => (
            ": this message must not come as a TypedStruct",
            Some(format!("give `{name}` as it is, without the TypedStruct")),
        ),
        _ => {
            let near = nearest_policy(name, cx.profile());
            (
                ", the client does not support it",
                near.map(|near| format!("did you mean `{near}`?")),
            )
        }
    };
    Diagnostic {
        path: at.to_owned(),
        help,
        ..Diagnostic::of_whole(&LB_ENTRY_SKIPPED, format!("`{name}` is passed over{why}"))
    }
}

/// Returns the policy of the client, or the message, that a misspelt name may mean.
fn nearest_policy(name: &str, profile: &Profile) -> Option<&'static str> {
    let names = crate::names().filter(|policy| by_name(policy, profile).is_some());
    // A name is often given without gRPC's prefix `xds_` or suffix `_experimental`.
    let stem = |policy: &'static str| {
        let stem = policy.strip_suffix("_experimental").unwrap_or(policy);
        stem.strip_prefix("xds_").unwrap_or(stem)
    };
    names
        .clone()
        .find(|policy| *policy != name && stem(policy) == name)
        .or_else(|| {
            xdsctl_model::text::nearest(name, names.chain(crate::message_types()).filter(|known| *known != name))
        })
}

/// How many policies of a list a message names.
const NAMES_SHOWN: usize = 4;

/// Returns the name of the policy of an entry that was passed over, without its package.
fn skipped_name(cause: &Diagnostic) -> String {
    match cause.path.segs().last() {
        Some(Seg::Value { type_name, .. }) => type_name.rsplit('.').next().unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

#[cold]
fn report_none_supported(pb: &LoadBalancingPolicy, causes: &[Diagnostic], at: &Path<'_>, cx: &mut Validation<'_>) {
    let names: Vec<String> = causes.iter().take(NAMES_SHOWN).map(skipped_name).collect();
    let listed = names.join("`, `");
    let more = if pb.policies.len() > NAMES_SHOWN { ", ..." } else { "" };
    let message = match pb.policies.len() {
        0 => "the list of policies is empty".to_owned(),
        1 => format!("the only listed policy, `{listed}`, is not supported"),
        count => format!("none of the {count} listed policies is supported: `{listed}`{more}"),
    };
    let finding = cx.report(&LB_NO_SUPPORTED_POLICY, at, format_args!("{message}"));
    if !pb.policies.is_empty() {
        let supported = "add an entry that gRPC supports as the last one: RoundRobin, PickFirst, RingHash, WrrLocality, ClientSideWeightedRoundRobin";
        let meant = causes.iter().find_map(|cause| cause.help.as_deref());
        let mut finding = match meant {
            Some(meant) if meant.ends_with('?') => finding.help(format!("{meant} Or {supported}")),
            Some(meant) => finding.help(format!("{meant}, or {supported}")),
            None => finding.help(supported),
        };
        for cause in causes.iter().take(NAMES_SHOWN) {
            finding = finding.related(cause.path.clone(), cause.message.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use prost::Message as _;
    use prost_types::{Struct, Value as Pb, value::Kind};
    use serde_json::json;

    use super::*;
    use pb::envoy::config::cluster::v3::load_balancing_policy::Policy;
    use pb::envoy::config::core::v3::TypedExtensionConfig;
    use pb::envoy::extensions::load_balancing_policies as policies;
    use xdsctl_document::proto::pb;
    use xdsctl_model::profile::ServerFacts;

    fn entry(type_name: &str, value: Vec<u8>) -> Policy {
        Policy {
            typed_extension_config: Some(TypedExtensionConfig {
                typed_config: Some(pb::Any {
                    type_url: format!("type.googleapis.com/{type_name}"),
                    value: value.into(),
                }),
                ..Default::default()
            }),
        }
    }

    fn typed_struct(policy: &str, fields: Vec<(&str, Kind)>) -> Policy {
        let fields = fields
            .into_iter()
            .map(|(name, kind)| (name.to_owned(), Pb { kind: Some(kind) }));
        let message = pb::xds::r#type::v3::TypedStruct {
            type_url: format!("x/{policy}"),
            value: Some(Struct {
                fields: fields.collect(),
            }),
        };
        entry("xds.type.v3.TypedStruct", message.encode_to_vec())
    }

    fn list(policies: Vec<Policy>) -> LoadBalancingPolicy {
        LoadBalancingPolicy { policies }
    }

    fn wrr_locality(child: LoadBalancingPolicy) -> Policy {
        let message = policies::wrr_locality::v3::WrrLocality {
            endpoint_picking_policy: Some(child),
        };
        entry(
            "envoy.extensions.load_balancing_policies.wrr_locality.v3.WrrLocality",
            message.encode_to_vec(),
        )
    }

    fn convert_list(list: &LoadBalancingPolicy) -> (Option<Value>, Vec<(&'static str, xdsctl_model::diag::FieldPath)>) {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let value = from_proto(
            list,
            &usable::Owner::Unknown,
            &Path::ROOT.field("load_balancing_policy"),
            &mut cx,
        );
        let found = cx.finish();
        let said = found.iter().flat_map(Diagnostic::said);
        (
            value.map(|policy| policy.json.clone()),
            said.map(|(rule, path)| (rule.id, path.clone())).collect(),
        )
    }

    #[test]
    fn the_first_supported_entry_is_taken_and_the_next_not_looked_at() {
        let pick_first = policies::pick_first::v3::PickFirst {
            shuffle_address_list: true,
        };
        let (value, found) = convert_list(&list(vec![
            typed_struct("no_such_policy", vec![]),
            entry(
                "envoy.extensions.load_balancing_policies.pick_first.v3.PickFirst",
                pick_first.encode_to_vec(),
            ),
            Policy::default(),
        ]));
        assert_eq!(value, Some(json!([{"pick_first": {"shuffleAddressList": true}}])));
        assert_eq!(
            found.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
            ["lb-entry-skipped"]
        );
    }

    #[test]
    fn where_no_entry_will_do_the_skipped_ones_are_no_findings_of_their_own() {
        let unknown = || typed_struct("no_such_policy", vec![]);
        let ids = |policies: Vec<Policy>| -> Vec<&'static str> {
            let (_, found) = convert_list(&list(policies));
            found.iter().map(|(id, _)| *id).collect()
        };
        assert_eq!(ids(vec![unknown(), unknown()]), ["lb-no-supported-policy"]);
        // The inner list has no supported policy, but the outer one has.
        let inner = wrr_locality(list(vec![unknown()]));
        assert_eq!(
            ids(vec![unknown(), inner]),
            ["lb-entry-skipped", "lb-no-supported-policy"]
        );
    }

    #[test]
    fn only_a_policy_that_the_client_has_is_meant_by_a_misspelt_name() {
        let meant = |name| nearest_policy(name, &Profile::default());
        assert_eq!(meant("ring_hash"), Some("ring_hash_experimental"));
        for name in ["least_request", "least_request_experimenta", "p2cc"] {
            assert_eq!(meant(name), None, "{name}");
        }
    }

    #[test]
    fn a_loaders_place_is_shown_alone_and_located_at_its_entry() {
        let bad = typed_struct("ring_hash_experimental", vec![("minRingSize", Kind::NumberValue(0.5))]);
        let (value, found) = convert_list(&list(vec![wrr_locality(list(vec![bad]))]));
        assert_eq!(value, None);
        let shown: Vec<_> = found.iter().map(|(id, path)| (*id, path.to_string())).collect();
        assert_eq!(
            shown,
            [
                ("lb-json-wrong-type", "minRingSize".to_owned()),
                ("lb-config-rejected", "load_balancing_policy".to_owned()),
                ("lb-child-rejected", "childPolicy".to_owned()),
            ]
        );
        let depth = |i: usize| found.get(i).map(|(_, path)| path.located().count());
        assert_eq!((depth(0), depth(1), depth(2)), (Some(12), Some(1), Some(6)));
    }

    #[test]
    fn sixteen_lists_are_followed() {
        let round_robin = "envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin";
        let nested = |levels: usize| {
            (1..levels).fold(list(vec![entry(round_robin, vec![])]), |inner, _| {
                list(vec![wrr_locality(inner)])
            })
        };
        assert!(convert_list(&nested(16)).0.is_some());
        let (value, found) = convert_list(&nested(17));
        assert_eq!(value, None);
        assert_eq!(
            found.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
            ["lb-nesting-too-deep"]
        );
    }

    #[test]
    fn a_round_robin_is_not_parsed() {
        let round_robin = "envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin";
        let (value, found) = convert_list(&list(vec![entry(round_robin, vec![0xff])]));
        assert_eq!(value, Some(json!([{"round_robin": {}}])));
        assert_eq!(found, []);
    }
}
