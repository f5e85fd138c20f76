//! External processing (A93): a server sees and changes the headers and messages of an RPC. Clients
//! only, behind a switch.
//!
//! Follows C-core `XdsHttpExtProcFilterFactory` (xds_http_ext_proc_filter.cc). Three paths have
//! segments that are not field names: `mutation_rules.header_mutation_rules`, and
//! `forwarding_rules` for the field `forward_rules`.

use super::FilterType;
use crate::core::convert::grpc_service;
use crate::core::convert::matcher::{regex, string_matcher};
use crate::shared::names::{EXT_PROC, EXT_PROC_PER_ROUTE};
use crate::shared::rules::{EXT_PROC_BODY_MODE_UNSUPPORTED, EXT_PROC_TRAILERS_NOT_SENT};
use xdsctl_document::proto::any::Extension;
use xdsctl_document::proto::pb::envoy::config::common::mutation_rules::v3::HeaderMutationRules;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::ext_proc::v3::ext_proc_per_route::Override;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::ext_proc::v3::processing_mode::{
    BodySendMode, HeaderSendMode,
};
use xdsctl_document::proto::pb::envoy::extensions::filters::http::ext_proc::v3::{
    ExtProcPerRoute, ExternalProcessor, HeaderForwardingRules, ProcessingMode,
};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::filter::FilterConfig;

rules! {
    /// A mode for headers or trailers is not one of the enum's.
    EXT_PROC_HEADER_MODE_UNKNOWN = "ext-proc-header-mode-unknown", Filter, Nack, "gRFC A93; C-core ParseHeaderProcessingMode";
    /// An override of ext_proc has no overrides, and so changes nothing, even with `disabled`.
    EXT_PROC_OVERRIDE_EMPTY = "ext-proc-override-empty", Filter, Ignored as Warning, "gRFC A93; C-core xds_http_ext_proc_filter.cc ParseOverrideConfig";
}

/// The filter's place in the registry.
pub static TYPE: FilterType = FilterType {
    type_name: EXT_PROC,
    override_type: Some((EXT_PROC_PER_ROUTE, parse_override)),
    on_client: true,
    on_server: false,
    is_terminal: false,
    guard: Some(Feature::ExtProcOnClient),
    parse,
    parse_in_composite: None,
};

fn parse(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterConfig> {
    let message: ExternalProcessor = extension.decode(at, cx)?;
    grpc_service::check(message.grpc_service.as_ref(), &at.field("grpc_service"), cx);
    if let Some(mode) = &message.processing_mode {
        check_mode(mode, &at.field("processing_mode"), cx);
    }
    if let Some(rules) = &message.mutation_rules {
        check_mutation(rules, &at.field("mutation_rules"), cx);
    }
    if let Some(rules) = &message.forward_rules {
        check_forwarding(rules, &at.field("forwarding_rules"), cx);
    }
    if let Some(timeout) = &message.deferred_close_timeout {
        grpc_service::positive(timeout, &at.field("deferred_close_timeout"), cx);
    }
    Some(FilterConfig::described("ext_proc"))
}

/// Reads an override; `None` without `overrides`, which overrides nothing (`disabled` is not read).
fn parse_override(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterConfig> {
    let message: ExtProcPerRoute = extension.decode(at, cx)?;
    let why = "overrides is not set: the filter stays as it is";
    let overrides = match cx.required(message.r#override.as_ref(), &EXT_PROC_OVERRIDE_EMPTY, at, why)? {
        Override::Overrides(overrides) => overrides,
        Override::Disabled(_) => {
            let why = format_args!("disabled is not read: the filter stays as it is");
            cx.report(&EXT_PROC_OVERRIDE_EMPTY, &at.field("disabled"), why)
                .help("wrap the override in an `envoy.config.route.v3.FilterConfig` with `disabled: true`");
            return None;
        }
    };
    let at = at.field("overrides");
    if let Some(mode) = &overrides.processing_mode {
        check_mode(mode, &at.field("processing_mode"), cx);
    }
    if overrides.grpc_service.is_some() {
        grpc_service::check(overrides.grpc_service.as_ref(), &at.field("grpc_service"), cx);
    }
    Some(FilterConfig::described("ext_proc"))
}

fn check_mode(mode: &ProcessingMode, at: &Path<'_>, cx: &mut Validation<'_>) {
    for (field, value) in [
        ("request_header_mode", mode.request_header_mode),
        ("response_header_mode", mode.response_header_mode),
        ("response_trailer_mode", mode.response_trailer_mode),
    ] {
        let mode = HeaderSendMode::try_from(value).ok();
        let why = format_args!("mode is {value}, must be DEFAULT, SEND or SKIP");
        cx.required(mode, &EXT_PROC_HEADER_MODE_UNKNOWN, &at.field(field), why);
    }
    for (field, value) in [
        ("request_body_mode", mode.request_body_mode),
        ("response_body_mode", mode.response_body_mode),
    ] {
        let known = BodySendMode::try_from(value);
        if !matches!(known, Ok(BodySendMode::None | BodySendMode::Grpc)) {
            let name = known.map_or("of an unknown number", |mode| mode.as_str_name());
            cx.report(
                &EXT_PROC_BODY_MODE_UNSUPPORTED,
                &at.field(field),
                format_args!("mode is {name} ({value}), must be NONE or GRPC"),
            );
        }
    }
    let sends_messages = mode.response_body_mode == BodySendMode::Grpc as i32;
    let holds = !sends_messages || mode.response_trailer_mode == HeaderSendMode::Send as i32;
    let why = "response_trailer_mode must be SEND, because response_body_mode is GRPC";
    cx.check(
        holds,
        &EXT_PROC_TRAILERS_NOT_SENT,
        &at.field("response_trailer_mode"),
        why,
    );
}

fn check_mutation(rules: &HeaderMutationRules, at: &Path<'_>, cx: &mut Validation<'_>) {
    let at = at.field("header_mutation_rules");
    for (field, expression) in [
        ("disallow_expression", &rules.disallow_expression),
        ("allow_expression", &rules.allow_expression),
    ] {
        if let Some(expression) = expression {
            regex(&expression.regex, &at.field(field), cx);
        }
    }
}

fn check_forwarding(rules: &HeaderForwardingRules, at: &Path<'_>, cx: &mut Validation<'_>) {
    for (field, list) in [
        ("allowed_headers", &rules.allowed_headers),
        ("disallowed_headers", &rules.disallowed_headers),
    ] {
        let at = at.field(field);
        let at = at.field("patterns");
        for (i, pattern) in list.iter().flat_map(|list| &list.patterns).enumerate() {
            string_matcher(Some(pattern), &at.index(i), cx);
        }
    }
}
