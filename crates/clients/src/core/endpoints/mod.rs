//! ClusterLoadAssignment: localities by priority, endpoints, drops (A27).
//!
//! Follows C-core `EdsResourceParse` (xds_endpoint_parser.cc), in its order: every locality with
//! its endpoints, then the priorities as a whole, then the drops. A locality with an error of its
//! own takes no part in the checks of priorities, so one fault may be reported as a gap too, as the
//! client does.

pub mod change;
pub mod drops;
pub mod endpoint;
pub mod patch;

use std::collections::BTreeMap;

use foldhash::HashMapExt;

use crate::core::convert::metadata;
use crate::core::convert::switch::report_off;
use crate::shared::names::PROXY_METADATA;
use crate::shared::rules::{
    LOCALITY_DUPLICATE, LOCALITY_MISSING, LOCALITY_WEIGHT_SUM, PRIORITY_GAP, PRIORITY_TOO_HIGH,
};
use crate::shared::{Opened, OpenedEndpoints, fields};
use endpoint::Addresses;
use xdsctl_document::proto;
use xdsctl_document::proto::pb::envoy::config::core::v3::Metadata;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::{ClusterLoadAssignment as Pb, LocalityLbEndpoints};
use xdsctl_model::diag::{Effect, Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::Resource;
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::endpoints::short_name;
use xdsctl_model::resource::endpoints::{Endpoints, Locality};

rules! {
    /// A locality without load_balancing_weight, or with 0, is dropped with all its endpoints.
    LOCALITY_WITHOUT_WEIGHT = "eds-locality-without-weight", Endpoints, Dropped, "gRFC A27; C-core LocalityParse",
        also [Go Java Node] "they send no RPC to a locality without a weight";
    /// A locality has no endpoint that the client keeps.
    LOCALITY_WITHOUT_ENDPOINTS = "eds-locality-without-endpoints", Endpoints, Advice, "gRFC A27; C-core LocalityParse, cds.cc",
        every "no client sends an RPC to an endpoint in another state than HEALTHY, UNKNOWN or DRAINING";
    /// The client keeps no locality, so RPCs to the cluster fail.
    WITHOUT_LOCALITIES = "eds-without-localities", Endpoints, Fails, "gRFC A27; C-core EdsResourceParse, xds_dependency_manager.cc",
        also [Go Java Node] "they send no RPC to a locality without a weight";
    /// No locality has an endpoint that the client keeps, so RPCs to the cluster fail.
    WITHOUT_ENDPOINTS = "eds-without-endpoints", Endpoints, Fails, "gRFC A27; C-core EdsResourceParse, weighted_target.cc",
        every "no client sends an RPC to an endpoint in another state than HEALTHY, UNKNOWN or DRAINING";
    /// Every endpoint is DRAINING, so new RPCs to the cluster fail.
    ALL_DRAINING = "eds-all-draining", Endpoints, Fails, "gRFC A55; C-core xds_override_host.cc",
        every "no client sends a new RPC to a DRAINING endpoint";
}

/// The rules of this folder's other files.
pub static PART_RULES: &[&[&xdsctl_model::diag::Rule]] = &[drops::RULES, endpoint::RULES];

/// Converts the resource.
pub(super) fn convert(message: &Pb, opened: &Opened, cx: &mut Validation<'_>) -> Resource {
    let start = cx.mark();
    let at = Path::ROOT.field("endpoints");
    let opened = opened.shared_endpoints(message);
    let count = match opened.and_then(OpenedEndpoints::plain) {
        Some(_) => 0,
        None => message.endpoints.iter().map(|l| l.lb_endpoints.len()).sum(),
    };
    let mut endpoints = (opened, Addresses::with_capacity(count));
    let mut priorities: Vec<BTreeMap<NameRef<'_>, Locality>> = Vec::new();
    // Each locality that is lost has a finding of its own, unless one finding covers all of them.
    let has_weights = message.endpoints.iter().any(|pb| weight(pb) > 0);
    let mut without_endpoints = Vec::new();
    for (index, pb) in message.endpoints.iter().enumerate() {
        let at = at.index(index);
        if weight(pb) == 0 {
            if has_weights {
                report_without_weight(pb, &at, cx);
            }
        } else if let Some(locality) = locality(pb, index, &mut endpoints, &at, cx) {
            if locality.endpoints.is_empty() {
                without_endpoints.push((index, pb.lb_endpoints.len()));
            }
            place(locality, pb, message.endpoints.len(), &mut priorities, &at, cx);
        }
    }
    check_priorities(&priorities, &at, cx);
    let drops = drops::drop_config(message.policy.as_ref(), &Path::ROOT.field("policy"), cx);
    let kept = Endpoints {
        priorities: priorities.into_iter().map(|p| p.into_values().collect()).collect(),
        drops,
        host_name: None,
    };
    if !cx.nacked_since(start) {
        advise(&kept, message, &without_endpoints, &at, cx);
        return Resource::Endpoints(kept);
    }
    if !has_weights {
        for (index, pb) in message.endpoints.iter().enumerate() {
            report_without_weight(pb, &at.index(index), cx);
        }
    }
    report_without_endpoints(&without_endpoints, &at, cx);
    Resource::Endpoints(kept)
}

/// A locality's name as it stands in the message, in the client's order: region, zone, sub-zone, by
/// bytes.
type NameRef<'m> = (&'m str, &'m str, &'m str);

fn name_ref(pb: &LocalityLbEndpoints) -> NameRef<'_> {
    pb.locality
        .as_ref()
        .map_or(("", "", ""), |l| (&l.region, &l.zone, &l.sub_zone))
}

/// Returns the weight of a locality; a locality of weight 0 is dropped.
fn weight(pb: &LocalityLbEndpoints) -> u32 {
    pb.load_balancing_weight.unwrap_or(0)
}

/// Returns, for messages, the name of a locality and its priority unless that is 0; empty if it has
/// neither.
fn label(pb: &LocalityLbEndpoints) -> String {
    let (region, zone, sub_zone) = name_ref(pb);
    let name = match short_name(region, zone, sub_zone).as_str() {
        "" => String::new(),
        name => format!("`{name}` "),
    };
    match pb.priority {
        0 => name,
        priority => format!("{name}of priority {priority} "),
    }
}

fn report_without_weight(pb: &LocalityLbEndpoints, at: &Path<'_>, cx: &mut Validation<'_>) {
    cx.report(
        &LOCALITY_WITHOUT_WEIGHT,
        &at.field("load_balancing_weight"),
        format_args!(
            "locality {}has {}, it is dropped with its endpoints ({})",
            label(pb),
            match pb.load_balancing_weight {
                None => "no weight",
                Some(_) => "weight 0",
            },
            pb.lb_endpoints.len()
        ),
    )
    .help("set load_balancing_weight to at least 1");
}

/// Reports the localities that keep no endpoint, each with its index and the number of its
/// endpoints.
fn report_without_endpoints(localities: &[(usize, usize)], at: &Path<'_>, cx: &mut Validation<'_>) {
    for (index, count) in localities {
        let what = match count {
            0 => "has no endpoint".to_owned(),
            1 => "does not keep its endpoint".to_owned(),
            count => format!("keeps none of its {count} endpoints"),
        };
        let at = at.index(*index);
        let why = format_args!("locality {what}");
        cx.report(&LOCALITY_WITHOUT_ENDPOINTS, &at.field("lb_endpoints"), why);
    }
}

/// Converts a locality that has a weight; `None` when it has an error of its own. `opened` has the
/// endpoints if they were opened for several clients.
fn locality(
    pb: &LocalityLbEndpoints,
    index: usize,
    (opened, addresses): &mut (Option<&OpenedEndpoints>, Addresses),
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<Locality> {
    let start = cx.mark();
    let why = "locality is missing, must be present where load_balancing_weight is not 0";
    cx.required(pb.locality.as_ref(), &LOCALITY_MISSING, &at.field("locality"), why)?;
    let proxy = locality_proxy(pb, at, cx);
    let endpoints = match opened.and_then(OpenedEndpoints::plain) {
        Some(plain) => plain.get(index).cloned().unwrap_or_default(),
        None => {
            let opened = opened.and_then(|opened| opened.lists.get(index));
            let list = (&*pb.lb_endpoints, opened.map_or(&[][..], Vec::as_slice));
            endpoint::endpoints(list, index, proxy.as_deref(), addresses, at, cx)
        }
    };
    if cx.nacked_since(start) {
        return None;
    }
    Some(Locality {
        index,
        name: fields::locality_name(pb),
        weight: weight(pb),
        left_out_weight: 0,
        endpoints,
    })
}

/// Returns the proxy in a locality's metadata (A86).
fn locality_proxy(pb: &LocalityLbEndpoints, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<String> {
    let metadata = pb.metadata.as_ref()?;
    if !cx.has(Feature::HttpConnect) {
        if fields::has_metadata(metadata, &[PROXY_METADATA])
            && proto::kept::<Metadata>(metadata)
                .typed_filter_metadata
                .contains_key(PROXY_METADATA)
        {
            report_off(Feature::HttpConnect, &at.field("metadata"), cx);
        }
        return None;
    }
    endpoint::take_proxy(&mut metadata::metadata(metadata, at, cx))
}

/// Puts a locality into its priority.
fn place<'m>(
    locality: Locality,
    pb: &'m LocalityLbEndpoints,
    localities_count: usize,
    priorities: &mut Vec<BTreeMap<NameRef<'m>, Locality>>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    // The bound also keeps the list of priorities as short as the resource.
    let priority = usize::try_from(pb.priority).unwrap_or(usize::MAX);
    if priority >= localities_count && !cx.has(Feature::PriorityLimit) {
        return without_limit(pb.priority, at, cx);
    }
    if priority >= localities_count {
        cx.report(
            &PRIORITY_TOO_HIGH,
            &at.field("priority"),
            format_args!("priority is {priority}, must be less than the number of localities, {localities_count}"),
        );
        return;
    }
    if priorities.len() <= priority {
        priorities.resize_with(priority + 1, BTreeMap::new);
    }
    let Some(slot) = priorities.get_mut(priority) else {
        return;
    };
    if let Some(first) = slot.get(&name_ref(pb)) {
        let path = Path::ROOT.field("endpoints").index(first.index).to_owned();
        cx.report(
            &LOCALITY_DUPLICATE,
            at,
            format_args!("locality {} is already in priority {priority}", locality.name),
        )
        .related(path, "first given here");
        return;
    }
    slot.insert(name_ref(pb), locality);
}

/// Reports a priority that leaves a gap. This client makes room for every priority below it.
fn without_limit(priority: u32, at: &Path<'_>, cx: &mut Validation<'_>) {
    if priority == u32::MAX {
        let why = format_args!("priority is {priority}: the client process dies for want of memory");
        cx.report_as(Effect::Fails, &PRIORITY_TOO_HIGH, &at.field("priority"), why);
        return;
    }
    let why = format_args!("a priority below {priority} has no valid locality, priorities must be contiguous from 0");
    cx.report(&PRIORITY_GAP, &Path::ROOT.field("endpoints"), why);
}

fn check_priorities(priorities: &[BTreeMap<NameRef<'_>, Locality>], at: &Path<'_>, cx: &mut Validation<'_>) {
    for (priority, localities) in priorities.iter().enumerate() {
        if localities.is_empty() {
            cx.report(
                &PRIORITY_GAP,
                at,
                format_args!("priority {priority} has no valid locality, priorities must be contiguous from 0"),
            );
            continue;
        }
        // At most as many summands as there are localities: no overflow of 64 bits.
        let sum: u64 = localities.values().map(|l| u64::from(l.weight)).sum();
        if sum > u64::from(u32::MAX) {
            cx.report(
                &LOCALITY_WEIGHT_SUM,
                at,
                format_args!(
                    "locality weights of priority {priority} add up to {sum}, must be at most {}",
                    u32::MAX
                ),
            );
        }
    }
}

/// Reports that no locality of `count` is left, and why.
fn without_localities(count: usize, at: &Path<'_>, cx: &mut Validation<'_>) {
    if count == 0 {
        let why =
            format_args!("there is no locality: RPCs to a cluster that has these endpoints fail with UNAVAILABLE");
        cx.report(&WITHOUT_LOCALITIES, at, why)
            .help("if nothing is to be served, take the cluster out of the routes; as a child of an aggregate cluster it is passed over");
        return;
    }
    let what = match count {
        1 => "the only locality has no weight, it is dropped with its".to_owned(),
        count => format!("none of {count} localities has a weight, all are dropped with their"),
    };
    let why = format_args!("{what} endpoints: RPCs to the cluster fail");
    cx.report(&WITHOUT_LOCALITIES, &at.index(0).field("load_balancing_weight"), why)
        .help("set load_balancing_weight to at least 1");
}

/// Looks at an accepted resource as a whole.
fn advise(
    endpoints: &Endpoints,
    message: &Pb,
    without_endpoints: &[(usize, usize)],
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    if endpoints.priorities.is_empty() {
        without_localities(message.endpoints.len(), at, cx);
        return;
    }
    let mut all = endpoints
        .priorities
        .iter()
        .flatten()
        .flat_map(|l| &l.endpoints)
        .peekable();
    if all.peek().is_none() {
        cx.report(
            &WITHOUT_ENDPOINTS,
            at,
            format_args!("no endpoint is left, RPCs to the cluster fail"),
        );
        return;
    }
    report_without_endpoints(without_endpoints, at, cx);
    if all.all(|e| e.health == HealthStatus::Draining) {
        cx.report(
            &ALL_DRAINING,
            at,
            format_args!("every endpoint is DRAINING, new RPCs to the cluster fail"),
        );
    }
}

#[cfg(test)]
mod tests;
