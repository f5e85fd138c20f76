//! `typed_per_filter_config` of virtual hosts, routes and cluster weights (A39).
//!
//! Follows C-core `ParseTypedPerFilterConfig` (xds_route_config_parser.cc). Every entry is
//! validated, whether or not a filter of that name runs and on which side: neither is known here. A
//! bare Any must hold the override type of a filter that the client has; only an entry wrapped in
//! `envoy.config.route.v3.FilterConfig` can be optional.

use std::collections::BTreeMap;

use super::{FilterPlace, by_type, hint};
use crate::shared::names::WRAPPER;
use crate::shared::rules::{FILTER_OVERRIDE_DROPPED, FILTER_OVERRIDE_TYPE_UNKNOWN, FILTER_OVERRIDE_WITHOUT_CONFIG};
use xdsctl_document::proto::any::{Extension, extract};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::route::v3::FilterConfig as Wrapper;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::filter::FilterOverride;

rules! {
    /// An entry of typed_per_filter_config has an empty key.
    FILTER_OVERRIDE_WITHOUT_NAME = "filter-override-without-name", Filter, Nack, "gRFC A39; C-core ParseTypedPerFilterConfig";
}

/// Converts `typed_per_filter_config` of the message at `at`.
///
/// Entries with a fault are left out; the fault is reported.
pub fn from_proto(
    map: &BTreeMap<String, Any>,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> BTreeMap<String, FilterOverride> {
    let at = at.field("typed_per_filter_config");
    let mut overrides = BTreeMap::new();
    for (name, any) in map {
        let at = at.key(name);
        if name.is_empty() {
            let why = format_args!("the key is empty, must be the name of an HTTP filter");
            cx.report(&FILTER_OVERRIDE_WITHOUT_NAME, &at, why);
        }
        if let Some(entry) = entry(any, &at, cx) {
            overrides.insert(name.clone(), entry);
        }
    }
    overrides
}

/// Converts one entry, opening a FilterConfig around it.
fn entry(any: &Any, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterOverride> {
    let extension = extract(Some(any), at, cx)?;
    let inner = extension.at(at);
    if extension.type_name != WRAPPER {
        return parse(&extension, (false, false), &inner, cx);
    }
    let wrapper: Wrapper = extension.decode(&inner, cx)?;
    let at = inner.field("config");
    let config = wrapper.config.as_ref();
    if config.is_none() && wrapper.is_optional && !cx.has(Feature::CollectsFaults) {
        return None;
    }
    let why = "missing, must hold an override even if `disabled` or `is_optional` is true";
    let config = cx.required(config, &FILTER_OVERRIDE_WITHOUT_CONFIG, &at, why)?;
    let extension = extract(Some(config), &at, cx)?;
    let disabled = wrapper.disabled && !cx.has(Feature::DisabledFiltersRun);
    parse(&extension, (wrapper.is_optional, disabled), &extension.at(&at), cx)
}

/// Converts the message of an override, with what the FilterConfig around it says.
fn parse(
    extension: &Extension<'_>,
    (is_optional, disabled): (bool, bool),
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<FilterOverride> {
    let filter = by_type(&extension.type_name, FilterPlace::Override, cx);
    let Some((_, parse)) = filter.and_then(|filter| filter.override_type) else {
        // An override of a filter that has none is rejected, whether it is optional or not.
        report_unknown(&extension.type_name, is_optional && filter.is_none(), at, cx);
        return None;
    };
    let mark = cx.mark();
    let config = parse(extension, at, cx);
    (!cx.nacked_since(mark)).then(|| FilterOverride {
        disabled,
        config: config.map(Box::new),
    })
}

fn report_unknown(type_name: &str, is_optional: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    let hint = hint(type_name, FilterPlace::Override, cx);
    let (rule, end) = match is_optional {
        true => (&FILTER_OVERRIDE_DROPPED, ", the optional entry is dropped"),
        false => (&FILTER_OVERRIDE_TYPE_UNKNOWN, ""),
    };
    let why = format_args!("gRPC has no filter with the override type `{type_name}`{end}");
    cx.report(rule, at, why).with(|finding| finding.help = hint);
}
