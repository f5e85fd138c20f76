//! The composite filter (A103): runs other filters on the RPCs that a matcher tree chooses. Behind
//! a switch.
//!
//! Follows C-core `XdsHttpCompositeFilterFactory` (xds_http_composite_filter.cc). A filter inside
//! may be any that the client has and that does not end the chain; on which side it runs is not
//! checked.

use super::{FilterPlace, FilterType, matching};
use crate::core::convert::nested::nested;
use xdsctl_document::proto::any::{Extension, extract};
use xdsctl_document::proto::pb::envoy::config::core::v3::TypedExtensionConfig;
use xdsctl_document::proto::pb::envoy::extensions::common::matching::v3::{
    ExtensionWithMatcher, ExtensionWithMatcherPerRoute,
};
use xdsctl_document::proto::pb::envoy::extensions::filters::common::matcher::action::v3::SkipFilter;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::composite::v3::ExecuteFilterAction;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::filter::FilterConfig;

rules! {
    /// The extension_config of an ExtensionWithMatcher is missing or is not the composite filter.
    COMPOSITE_EXTENSION_UNKNOWN = "composite-extension-unknown", Filter, Nack, "gRFC A103; C-core xds_http_composite_filter.cc";
    /// A composite filter has no matcher, and so does nothing.
    COMPOSITE_WITHOUT_MATCHER = "composite-without-matcher", Filter, Advice, "gRFC A103; C-core xds_http_composite_filter.cc";
    /// An ExecuteFilterAction names no filter.
    COMPOSITE_ACTION_EMPTY = "composite-action-empty", Filter, Nack, "gRFC A103; C-core ExecuteFilterActionFactory";
    /// The typed_config of an ExecuteFilterAction is not read, because filter_chain is set.
    COMPOSITE_TYPED_CONFIG_UNREAD = "composite-typed-config-unread", Filter, Ignored as Warning, "C-core ExecuteFilterActionFactory";
    /// A filter in a composite filter is one that the client does not have, or ends the chain.
    COMPOSITE_FILTER_UNSUPPORTED = "composite-filter-unsupported", Filter, Nack, "gRFC A103; C-core ExecuteFilterActionFactory::ParseFilter";
    /// The sample_percent of an ExecuteFilterAction has no default_value.
    COMPOSITE_SAMPLE_WITHOUT_VALUE = "composite-sample-without-value", Filter, Nack, "gRFC A103; C-core ExecuteFilterActionFactory";
}

/// The filter's place in the registry.
pub static TYPE: FilterType = FilterType {
    type_name: "envoy.extensions.common.matching.v3.ExtensionWithMatcher",
    override_type: Some((
        "envoy.extensions.common.matching.v3.ExtensionWithMatcherPerRoute",
        parse_override,
    )),
    on_client: true,
    on_server: true,
    is_terminal: false,
    guard: Some(Feature::CompositeFilter),
    parse,
    parse_in_composite: None,
};

const COMPOSITE: &str = "envoy.extensions.filters.http.composite.v3.Composite";

/// The actions of the filter's matcher: to run no filter, and to run some.
pub(super) const SKIP: &str = "envoy.extensions.filters.common.matcher.action.v3.SkipFilter";
pub(super) const EXECUTE: &str = "envoy.extensions.filters.http.composite.v3.ExecuteFilterAction";

fn parse(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterConfig> {
    let message: ExtensionWithMatcher = extension.decode(at, cx)?;
    check_extension(message.extension_config.as_ref(), &at.field("extension_config"), cx);
    let (at, why) = (at.field("xds_matcher"), "no matcher: the filter does nothing");
    let matcher = message.xds_matcher.as_ref();
    if cx.required(matcher, &COMPOSITE_WITHOUT_MATCHER, &at, why).is_some() {
        matching::check(matcher, &at, cx);
    }
    Some(FilterConfig::described("composite"))
}

fn parse_override(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterConfig> {
    let message: ExtensionWithMatcherPerRoute = extension.decode(at, cx)?;
    matching::check(message.xds_matcher.as_ref(), &at.field("xds_matcher"), cx);
    Some(FilterConfig::described("composite"))
}

/// Checks that the extension is the composite filter. Its own message is not read.
fn check_extension(config: Option<&TypedExtensionConfig>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = format_args!("missing, must hold `{COMPOSITE}`");
    let Some(config) = cx.required(config, &COMPOSITE_EXTENSION_UNKNOWN, at, why) else {
        return;
    };
    let at = at.field("typed_config");
    if let Some(extension) = extract(config.typed_config.as_ref(), &at, cx)
        && extension.type_name != COMPOSITE
    {
        cx.report(
            &COMPOSITE_EXTENSION_UNKNOWN,
            &extension.at(&at),
            format_args!("`{}` is not supported, must be `{COMPOSITE}`", extension.type_name),
        );
    }
}

/// Checks an action of the matcher, which is one of the two.
pub(super) fn check_action(action: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) {
    if action.type_name == SKIP {
        let _: Option<SkipFilter> = action.decode(at, cx);
        return;
    }
    let Some(action) = action.decode::<ExecuteFilterAction>(at, cx) else {
        return;
    };
    // The client uses this path for every filter, also for those of filter_chain.
    let config_at = at.field("typed_config");
    let filter_at = config_at.field("typed_config");
    match (&action.filter_chain, &action.typed_config) {
        (Some(chain), typed_config) => {
            for filter in &chain.typed_config {
                check_filter(filter, &filter_at, cx);
            }
            if typed_config.is_some() {
                cx.report(
                    &COMPOSITE_TYPED_CONFIG_UNREAD,
                    &config_at,
                    format_args!("typed_config is not read, because filter_chain is set"),
                );
            }
        }
        (None, Some(filter)) => check_filter(filter, &filter_at, cx),
        (None, None) => {
            cx.report(
                &COMPOSITE_ACTION_EMPTY,
                at,
                format_args!("neither typed_config nor filter_chain is set"),
            );
        }
    }
    if let Some(percent) = &action.sample_percent {
        let (at, value) = (at.field("sample_percent"), percent.default_value.as_ref());
        let why = "missing, must say which share of RPCs runs the filter";
        cx.required(value, &COMPOSITE_SAMPLE_WITHOUT_VALUE, &at.field("default_value"), why);
    }
}

fn check_filter(config: &TypedExtensionConfig, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(extension) = extract(config.typed_config.as_ref(), at, cx) else {
        return;
    };
    let at = extension.at(at);
    match super::by_type(&extension.type_name, FilterPlace::TopLevel, cx) {
        Some(filter) if filter.is_terminal => {
            cx.report(
                &COMPOSITE_FILTER_UNSUPPORTED,
                &at,
                format_args!(
                    "`{}` ends the chain and cannot be in a composite filter",
                    extension.type_name
                ),
            );
        }
        Some(filter) => {
            let parse = filter.parse_in_composite.unwrap_or(filter.parse);
            nested(&at, cx, |cx| parse(&extension, &at, cx));
        }
        None => {
            let hint = super::hint(&extension.type_name, FilterPlace::TopLevel, cx);
            let why = format_args!("gRPC has no HTTP filter `{}`", extension.type_name);
            let finding = cx.report(&COMPOSITE_FILTER_UNSUPPORTED, &at, why);
            finding.with(|finding| finding.help = hint);
        }
    }
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;
    use crate::core::convert::nested::{MAX_NESTED, NESTED_NOT_CHECKED};
    use xdsctl_document::proto::pb::Any;
    use xdsctl_document::proto::pb::xds::core::v3::TypedExtensionConfig as XdsConfig;
    use xdsctl_document::proto::pb::xds::r#type::matcher::v3::Matcher;
    use xdsctl_document::proto::pb::xds::r#type::matcher::v3::matcher::{OnMatch, on_match};
    use xdsctl_model::diag::Diagnostic;
    use xdsctl_model::profile::{Profile, ServerFacts};

    fn any(type_name: &str, value: Vec<u8>) -> Any {
        Any {
            type_url: format!("type.googleapis.com/{type_name}"),
            value: value.into(),
        }
    }

    fn config(any: Any) -> TypedExtensionConfig {
        TypedExtensionConfig {
            name: String::new(),
            typed_config: Some(any),
        }
    }

    fn on_no_match(on_match: on_match::OnMatch) -> Matcher {
        Matcher {
            on_no_match: Some(Box::new(OnMatch {
                keep_matching: false,
                on_match: Some(on_match),
            })),
            matcher_type: None,
        }
    }

    /// A composite filter that runs `inner` on every RPC.
    fn composite(inner: Any) -> Any {
        let action = ExecuteFilterAction {
            typed_config: Some(config(inner)),
            ..ExecuteFilterAction::default()
        };
        let mut on_match = on_match::OnMatch::Action(XdsConfig {
            typed_config: Some(any(EXECUTE, action.encode_to_vec())),
        });
        // Matchers are nested as deep as allowed, to use as much of the stack as possible.
        for _ in 0..15 {
            on_match = on_match::OnMatch::Matcher(Box::new(on_no_match(on_match)));
        }
        let matcher = on_no_match(on_match);
        let message = ExtensionWithMatcher {
            xds_matcher: Some(matcher),
            extension_config: Some(config(any(COMPOSITE, Vec::new()))),
        };
        any(TYPE.type_name, message.encode_to_vec())
    }

    fn check(filter: &Any) -> Vec<Diagnostic> {
        let mut profile = Profile::default();
        profile
            .set_env(Feature::CompositeFilter.env().unwrap(), "true")
            .unwrap();
        let server = ServerFacts::default();
        let mut cx = Validation::new(&profile, &server);
        let extension = extract(Some(filter), &Path::ROOT, &mut cx).unwrap();
        parse(&extension, &extension.at(&Path::ROOT), &mut cx);
        cx.finish()
    }

    #[test]
    fn filters_packed_without_end_are_not_followed() {
        let mut filter = any("nosuch", Vec::new());
        for _ in 0..200 {
            filter = composite(filter);
        }
        let rules: Vec<_> = check(&filter).iter().map(|d| d.rule.id).collect();
        // Each of the 16 matchers of a level lacks a list or a tree as well.
        let levels = 16 * (usize::try_from(MAX_NESTED).unwrap() + 1);
        assert_eq!(rules.iter().filter(|id| **id == "matcher-empty").count(), levels);
        assert_eq!(rules.iter().filter(|id| **id == NESTED_NOT_CHECKED.id).count(), 1);
        assert_eq!(rules.len(), levels + 1);
    }
}
