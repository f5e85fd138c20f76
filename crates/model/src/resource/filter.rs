//! HTTP filters and their overrides as the client keeps them.

use std::sync::Arc;

use super::Millis;
use super::rbac::RbacRules;

/// An entry of `http_filters` that the client runs.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpFilter {
    /// The index of the filter in the resource.
    pub index: usize,
    /// The name of the filter, unique in the chain.
    pub name: String,
    /// The filter is switched off unless an override switches it on.
    pub disabled: bool,
    /// What the filter does with RPCs.
    pub config: FilterConfig,
}

/// An entry of `typed_per_filter_config`.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterOverride {
    /// The field `disabled` of FilterConfig.
    pub disabled: bool,
    /// The override; `None` where it overrides nothing (ext_proc without `overrides`).
    pub config: Option<Box<FilterConfig>>,
}

/// The configs of the filters that the client has.
#[derive(Debug, Clone, PartialEq)]
pub enum FilterConfig {
    /// The terminal filter.
    Router,
    /// Fault injection (A33).
    Fault(Fault),
    /// Cookie-based sessions (A55, A60); `None` when inactive.
    StatefulSession(Option<SessionCookie>),
    /// Role-based access control (A41), which a server enforces.
    Rbac(Rbac),
    /// A filter that does not change where an RPC of a client goes, nor how it ends.
    Described(Description),
}

impl FilterConfig {
    /// Makes the config of a filter of which only the name is shown.
    pub fn described(kind: &'static str) -> FilterConfig {
        FilterConfig::Described(Description {
            kind,
            ..Description::default()
        })
    }

    /// Returns the rules of RBAC, if the filter has any.
    pub fn rbac_rules(&self) -> Option<&RbacRules> {
        match self {
            FilterConfig::Rbac(rbac) => rbac.rules.as_deref(),
            _ => None,
        }
    }

    /// Returns the filter's short name as reports print it.
    pub const fn kind(&self) -> &'static str {
        match self {
            FilterConfig::Router => "router",
            FilterConfig::Fault(_) => "fault",
            FilterConfig::StatefulSession(_) => "stateful_session",
            FilterConfig::Rbac(_) => "rbac",
            FilterConfig::Described(description) => description.kind,
        }
    }
}

/// What the client keeps of a filter, only for reports: it does not influence any RPC.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Description {
    /// The filter's short name as reports print it.
    pub kind: &'static str,
    /// Each value that is kept: its name, the value, and whether that is the default.
    pub kept: Vec<(&'static str, serde_json::Value, bool)>,
    /// The values in a few words; empty if the name says it all.
    pub words: String,
}

/// Role-based access control.
#[derive(Debug, Clone, Default)]
pub struct Rbac {
    /// The rules that are enforced; `None` for none. Chains with overrides share them.
    pub rules: Option<Arc<RbacRules>>,
    /// The config has `shadow_rules`, which no server evaluates.
    pub has_shadow_rules: bool,
    /// What reports print about the filter.
    pub description: Description,
}

impl PartialEq for Rbac {
    /// Compares without shadow rules, because no client reads them.
    fn eq(&self, other: &Rbac) -> bool {
        self.rules == other.rules && self.description == other.description
    }
}

/// The cookie of a stateful session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCookie {
    /// The cookie's name; not empty.
    pub name: String,
    /// The path that an RPC's path must begin with, by segments; empty for all paths.
    pub path: String,
    /// How long the cookie lives; 0 for a session cookie.
    pub ttl: Millis,
}

/// Fault injection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fault {
    /// The gRPC status code of the abort; 0 for none.
    pub abort_code: u32,
    /// The code comes from a request header.
    pub abort_from_header: bool,
    /// The share of RPCs that are aborted, of `abort_denominator`.
    pub abort_numerator: u32,
    /// 100, 10,000 or 1,000,000.
    pub abort_denominator: u32,
    /// The fixed delay; 0 for none.
    pub delay: Millis,
    /// The delay comes from a request header.
    pub delay_from_header: bool,
    /// The share of RPCs that are delayed, of `delay_denominator`.
    pub delay_numerator: u32,
    /// 100, 10,000 or 1,000,000.
    pub delay_denominator: u32,
    /// The most faults that may be active at the same time; default 4,294,967,295.
    pub max_active_faults: u32,
    /// The abort has the code OK: an aborted RPC ends with OK and reaches no backend.
    pub aborts_with_ok: bool,
    /// The client whose way of reading the headers of an RPC applies.
    pub headers: FaultHeaders,
}

impl Fault {
    /// Says whether RPCs are aborted, whatever their share.
    pub const fn has_abort(&self) -> bool {
        self.abort_code != 0 || self.abort_from_header || self.abort_numerator != 0
    }

    /// Says whether RPCs are delayed, whatever their share.
    pub const fn has_delay(&self) -> bool {
        self.delay.0 != 0 || self.delay_from_header || self.delay_numerator != 0
    }
}

/// How a client reads the headers with which an RPC asks for a fault, and for its share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FaultHeaders {
    /// As C-core: a value that is not a number is an unknown code, and asks for the whole share.
    #[default]
    Core,
    /// As grpc-go: the last value counts, and a value that is not a number asks for nothing.
    Go,
    /// As grpc-java: the last value counts, and one header that is not a number makes all of them
    /// ineffective.
    Java,
    /// As grpc-js-xds: the first value with a digit counts, and only its leading number.
    Node,
}
