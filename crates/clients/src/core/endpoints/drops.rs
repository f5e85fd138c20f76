//! Drops of a ClusterLoadAssignment (A27).
//!
//! Follows C-core `DropParseAndAppend` (xds_endpoint_parser.cc), where parts per million are
//! computed in 32 bits and wrap.

use crate::core::convert::matcher::per_million;
use crate::shared::rules::DROP_DENOMINATOR_UNKNOWN;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::cluster_load_assignment::Policy;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::cluster_load_assignment::policy::DropOverload;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Family;
use xdsctl_model::resource::endpoints::{DropCategory, DropConfig};

rules! {
    /// A drop category has no name.
    DROP_CATEGORY_EMPTY = "eds-drop-category-empty", Endpoints, Nack, "gRFC A27; C-core DropParseAndAppend";
    /// A drop_overload has no drop_percentage.
    DROP_PERCENTAGE_MISSING = "eds-drop-percentage-missing", Endpoints, Nack, "gRFC A27; C-core DropParseAndAppend";
    /// A drop_percentage is more than everything, so it is capped, or wraps around in 32 bits.
    DROP_ABOVE_ALL = "eds-drop-above-all", Endpoints, Advice, "C-core DropParseAndAppend";
    /// A drop_overload drops every RPC.
    DROP_ALL = "eds-drop-all", Endpoints, Fails, "gRFC A27; C-core xds_cluster_impl.cc, XdsEndpointResource::DropConfig",
        also [Go Java Node] "they drop the share before it picks; not where the share is above 100 %, which they count differently";
}

/// All RPCs, in parts per million.
const ALL_PER_MILLION: u32 = 1_000_000;

/// Converts the drops of the policy at `at`; `None` when there are none.
pub(super) fn drop_config(policy: Option<&Policy>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<DropConfig> {
    let list = policy.map(|p| p.drop_overloads.as_slice()).filter(|l| !l.is_empty())?;
    let at = at.field("drop_overloads");
    let categories: Vec<_> = list
        .iter()
        .enumerate()
        .filter_map(|(i, drop)| category(drop, &at.index(i), cx))
        .collect();
    Some(DropConfig {
        drop_all: categories.iter().any(|c| c.per_million == ALL_PER_MILLION),
        categories,
    })
}

fn category(drop: &DropOverload, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<DropCategory> {
    let (name, why) = (&drop.category, "category is empty, must name the drops in load reports");
    cx.check(!name.is_empty(), &DROP_CATEGORY_EMPTY, &at.field("category"), why);
    let at = at.field("drop_percentage");
    let percentage = drop.drop_percentage.as_ref();
    let percentage = cx.required(percentage, &DROP_PERCENTAGE_MISSING, &at, "drop_percentage is missing")?;
    let factor = per_million(percentage.denominator, &DROP_DENOMINATOR_UNKNOWN, &at, cx).unwrap_or(1);
    let wrapped = percentage.numerator.wrapping_mul(factor);
    let per_million = wrapped.min(ALL_PER_MILLION);
    let is_above = u64::from(percentage.numerator) * u64::from(factor) > u64::from(ALL_PER_MILLION);
    if is_above {
        cx.report(
            &DROP_ABOVE_ALL,
            &at.field("numerator"),
            format_args!(
                "numerator {} is more than everything, the client drops {per_million} of a million",
                percentage.numerator
            ),
        );
    }
    if per_million == ALL_PER_MILLION {
        let shared: &[Family] = if is_above { &[] } else { &Family::ALL };
        cx.report(&DROP_ALL, &at, format_args!("every RPC to the cluster is dropped"))
            .shared_with(shared);
    }
    Some(DropCategory {
        category: drop.category.clone(),
        per_million,
    })
}
