//! HTTP filters and their overrides, as a client keeps them.

use std::collections::BTreeMap;

use super::{FamilyReader, millis, opened};
use crate::shared::fields;
use crate::shared::names::{FAULT, WRAPPER};
use xdsctl_document::proto::any::TYPED_STRUCTS;
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::route::v3::FilterConfig as Wrapper;
use xdsctl_document::proto::pb::envoy::extensions::filters::common::fault::v3::fault_delay::FaultDelaySecifier as Delay;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::fault::v3::HttpFault;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::fault::v3::fault_abort::ErrorType;
use xdsctl_document::proto::pb::envoy::extensions::filters::network::http_connection_manager::v3::HttpFilter as Pb;
use xdsctl_document::proto::pb::envoy::r#type::v3::FractionalPercent;
use xdsctl_document::proto::pb::xds::r#type::v3::TypedStruct;
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::filter::{Fault, FilterConfig, FilterOverride, HttpFilter};

/// A filter that some client has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterKind {
    Router,
    Fault,
    Rbac,
    ExtProc,
    GcpAuthn,
}

impl FilterKind {
    /// Says whether the filter runs on a client, or on a server if `on_client` is false.
    pub(crate) const fn runs(self, on_client: bool) -> bool {
        match self {
            FilterKind::Router => true,
            FilterKind::Fault | FilterKind::ExtProc | FilterKind::GcpAuthn => on_client,
            FilterKind::Rbac => !on_client,
        }
    }
}

impl FamilyReader<'_> {
    /// Reads the filters that run on this side; optional ones that the client does not have are
    /// left out.
    pub(super) fn filters(&self, filters: &[Pb], on_client: bool) -> Vec<HttpFilter> {
        let mut kept = Vec::with_capacity(filters.len());
        for (index, filter) in filters.iter().enumerate() {
            let Some(any) = fields::http_config(filter) else {
                continue;
            };
            let Some(kind) = self.filter_kind(any).filter(|kind| kind.runs(on_client)) else {
                continue;
            };
            kept.push(HttpFilter {
                index,
                name: filter.name.clone(),
                disabled: filter.disabled && self.heeds_disabled(),
                config: self.filter_config(kind, any),
            });
        }
        kept
    }

    /// Reads the overrides; an optional one of a filter that the client does not have is left out.
    pub(super) fn overrides(&self, map: &BTreeMap<String, Any>) -> BTreeMap<String, FilterOverride> {
        let entries = map.iter();
        entries
            .filter_map(|(name, any)| Some((name.clone(), self.filter_override(any)?)))
            .collect()
    }

    fn filter_override(&self, any: &Any) -> Option<FilterOverride> {
        let wrapper: Option<Wrapper> = opened(any, WRAPPER);
        if wrapper.as_ref().is_some_and(|wrapper| wrapper.disabled) && self.heeds_disabled() {
            return Some(FilterOverride {
                disabled: true,
                config: None,
            });
        }
        let any = match &wrapper {
            Some(wrapper) => wrapper.config.as_ref()?,
            None => any,
        };
        let kind = self.filter_kind(any)?;
        Some(FilterOverride {
            disabled: false,
            config: Some(self.filter_config(kind, any).into()),
        })
    }

    fn heeds_disabled(&self) -> bool {
        !self.has(Feature::DisabledFiltersRun) || self.has(Feature::FilterDisabled)
    }

    fn filter_kind(&self, any: &Any) -> Option<FilterKind> {
        let inner: Option<TypedStruct> = TYPED_STRUCTS.into_iter().find_map(|wrapper| opened(any, wrapper));
        let url = inner.as_ref().map_or(&any.type_url, |inner| &inner.type_url);
        (self.dialect.filter)(url, self.profile)
    }

    fn filter_config(&self, kind: FilterKind, any: &Any) -> FilterConfig {
        match kind {
            FilterKind::Router => FilterConfig::Router,
            FilterKind::Fault => FilterConfig::Fault(self.fault(&opened(any, FAULT).unwrap_or_default())),
            FilterKind::Rbac => FilterConfig::Rbac(self.rbac(any)),
            FilterKind::ExtProc => FilterConfig::described("ext_proc"),
            FilterKind::GcpAuthn => FilterConfig::described("gcp_authn"),
        }
    }

    /// Reads fault injection; with a limit of 0 active faults, there is none.
    fn fault(&self, message: &HttpFault) -> Fault {
        let mut fault = Fault {
            abort_denominator: 100,
            delay_denominator: 100,
            max_active_faults: message.max_active_faults.unwrap_or(u32::MAX),
            headers: self.dialect.fault_headers,
            ..Fault::default()
        };
        if fault.max_active_faults == 0 {
            return fault;
        }
        if let Some(abort) = &message.abort {
            match abort.error_type {
                Some(ErrorType::GrpcStatus(code)) => {
                    fault.abort_code = code;
                    fault.aborts_with_ok = code == 0;
                }
                Some(ErrorType::HttpStatus(status)) => {
                    fault.abort_code = (self.dialect.status_of_http)(status) as u32;
                }
                Some(ErrorType::HeaderAbort(_)) => fault.abort_from_header = true,
                None => {}
            }
            (fault.abort_numerator, fault.abort_denominator) = fraction(abort.percentage.as_ref());
        }
        if let Some(delay) = &message.delay {
            match &delay.fault_delay_secifier {
                Some(Delay::FixedDelay(fixed)) => fault.delay = millis(fixed),
                Some(Delay::HeaderDelay(_)) => fault.delay_from_header = true,
                None => {}
            }
            (fault.delay_numerator, fault.delay_denominator) = fraction(delay.percentage.as_ref());
        }
        fault
    }
}

/// Returns numerator and denominator. No percentage is 0 of 100, and an unknown denominator is 100.
pub(crate) fn fraction(percent: Option<&FractionalPercent>) -> (u32, u32) {
    let Some(percent) = percent else {
        return (0, 100);
    };
    let parts = fields::per_million(percent.denominator).unwrap_or(10_000);
    (percent.numerator, 1_000_000 / parts)
}
