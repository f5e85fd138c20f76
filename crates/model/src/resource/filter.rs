//! HTTP filters and their overrides as the client keeps them.

use std::sync::Arc;

use super::Millis;
use super::rbac::RbacRules;

/// An entry of `http_filters` that the client runs.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpFilter {
    /// Index in the resource.
    pub index: usize,
    /// Unique in the chain.
    pub name: String,
    /// Switched off unless an override switches it on.
    pub disabled: bool,
    /// What the filter does with RPCs.
    pub config: FilterConfig,
}

/// An entry of `typed_per_filter_config`.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterOverride {
    /// FilterConfig.disabled.
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
    /// A filter of which nothing is shown but its name.
    pub fn described(kind: &'static str) -> FilterConfig {
        FilterConfig::Described(Description {
            kind,
            ..Description::default()
        })
    }

    /// The rules of RBAC, if it has any.
    pub fn rbac_rules(&self) -> Option<&RbacRules> {
        match self {
            FilterConfig::Rbac(rbac) => rbac.rules.as_deref(),
            _ => None,
        }
    }

    /// The filter's short name as reports print it.
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

/// What the client keeps of a filter, to be shown and not to be acted upon.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Description {
    /// The filter's short name as reports print it.
    pub kind: &'static str,
    /// Name and value of what is kept, and whether the value is the default.
    pub kept: Vec<(&'static str, serde_json::Value, bool)>,
    /// The same in a few words; empty if the name says it all.
    pub words: String,
}

/// Role-based access control.
#[derive(Debug, Clone, Default)]
pub struct Rbac {
    /// What is enforced; `None` for nothing. Chains with overrides share it.
    pub rules: Option<Arc<RbacRules>>,
    /// It has `shadow_rules`, which no server evaluates.
    pub has_shadow_rules: bool,
    /// What reports print of it.
    pub description: Description,
}

impl PartialEq for Rbac {
    /// Shadow rules are nothing that a client reads: two configs that differ in them alone are the same.
    fn eq(&self, other: &Rbac) -> bool {
        self.rules == other.rules && self.description == other.description
    }
}

/// The cookie of a stateful session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCookie {
    /// The cookie's name; not empty.
    pub name: String,
    /// Paths for which the cookie counts; empty for all.
    pub path: String,
    /// 0 for a session cookie.
    pub ttl: Millis,
}

/// Fault injection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fault {
    /// gRPC status code of the abort; 0 for none.
    pub abort_code: u32,
    /// The code comes from a request header.
    pub abort_from_header: bool,
    /// Share of RPCs that are aborted, of `abort_denominator`.
    pub abort_numerator: u32,
    /// 100, 10,000 or 1,000,000.
    pub abort_denominator: u32,
    /// The fixed delay; 0 for none.
    pub delay: Millis,
    /// The delay comes from a request header.
    pub delay_from_header: bool,
    /// Share of RPCs that are delayed, of `delay_denominator`.
    pub delay_numerator: u32,
    /// 100, 10,000 or 1,000,000.
    pub delay_denominator: u32,
    /// Default 4294967295.
    pub max_active_faults: u32,
    /// An RPC ends with `abort_code` though that is OK: nobody is asked.
    pub aborts_with_ok: bool,
    /// Who reads the headers of an RPC.
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

/// How a client reads the headers of an RPC that ask for a fault, and its share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FaultHeaders {
    /// As C-core: what is no number is a code that is not known, and asks for the whole share.
    #[default]
    Core,
    /// As grpc-go: the last value counts, and what is no number asks for nothing.
    Go,
    /// As grpc-java: the same, and one header that is no number takes all of them away.
    Java,
    /// As grpc-js-xds: the first value with a digit counts, and of it the leading number.
    Node,
}
