//! RBAC policies as a server keeps them (A41): who may call what.
//!
//! Permissions and principals are the same kind of tree. How a server evaluates a condition depends
//! on its family. The depth of a tree is bounded, because the client has accepted the resource.

use std::collections::BTreeMap;

use super::listener::Cidr;
use super::matcher::{HeaderMatcher, StringMatcher};

/// What happens to an RPC that a policy matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RbacAction {
    /// The RPC is let in; RPCs that match no policy are denied.
    Allow,
    /// The RPC is denied; RPCs that match no policy are let in.
    Deny,
}

/// The rules of one RBAC filter.
#[derive(Debug, Clone, PartialEq)]
pub struct RbacRules {
    /// Whether the policies let RPCs in or deny them.
    pub action: RbacAction,
    /// The policies by name, in the order in which they are asked.
    pub policies: BTreeMap<String, RbacPolicy>,
    /// The server cannot evaluate the rules: when an RPC comes, the program ends.
    pub ends_program: bool,
    /// The audit loggers that record decisions (A59); `None` where the client has none.
    pub audit: Option<RbacAudit>,
}

/// A policy. It matches if one of its permissions and one of its principals match.
#[derive(Debug, Clone, PartialEq)]
pub struct RbacPolicy {
    /// The conditions on the RPC.
    pub permissions: Vec<RbacCondition>,
    /// The conditions on who sends the RPC.
    pub principals: Vec<RbacCondition>,
}

/// Which decisions audit loggers record (A59).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditCondition {
    /// No decision.
    Never,
    /// Decisions to deny an RPC.
    OnDeny,
    /// Decisions to let an RPC in.
    OnAllow,
    /// Every decision.
    Always,
}

/// The audit logging settings (A59).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RbacAudit {
    /// The decisions that are recorded.
    pub condition: AuditCondition,
    /// The types of the loggers that the client has, in order.
    pub loggers: Vec<String>,
}

/// A permission or a principal.
#[derive(Debug, Clone, PartialEq)]
pub enum RbacCondition {
    /// `and_rules`, `and_ids`.
    All(Vec<RbacCondition>),
    /// `or_rules`, `or_ids`.
    OneOf(Vec<RbacCondition>),
    /// `not_rule`, `not_id`.
    Not(Box<RbacCondition>),
    /// `any`, whatever its value is.
    Any,
    /// A matcher on a header of the RPC.
    Header(HeaderMatcher),
    /// `url_path`, a matcher on the method.
    Path(StringMatcher),
    /// A range that contains an address of the connection.
    Address(RbacAddress, AddressRange),
    /// The port that the connection is made to.
    DestinationPort(u32),
    /// A range of the port that the connection is made to.
    DestinationPortRange {
        /// The first port that matches.
        start: i32,
        /// The first port that no longer matches.
        end: i32,
    },
    /// `requested_server_name`.
    ServerName(StringMatcher),
    /// `metadata`. Only the inversion has an effect: gRPC has no such metadata.
    Metadata {
        /// `invert`.
        invert: bool,
    },
    /// A peer that has a certificate, with a name that the matcher accepts if there is one.
    Authenticated(Option<StringMatcher>),
    /// A kind of condition that the client accepts but does not support, by the name of its field;
    /// empty for none.
    Unsupported(&'static str),
}

impl RbacCondition {
    /// Returns the name of the field, either of a permission or of a principal.
    pub const fn field(&self, is_permission: bool) -> &'static str {
        match self {
            RbacCondition::All(_) if is_permission => "and_rules",
            RbacCondition::All(_) => "and_ids",
            RbacCondition::OneOf(_) if is_permission => "or_rules",
            RbacCondition::OneOf(_) => "or_ids",
            RbacCondition::Not(_) if is_permission => "not_rule",
            RbacCondition::Not(_) => "not_id",
            RbacCondition::Any => "any",
            RbacCondition::Header(_) => "header",
            RbacCondition::Path(_) => "url_path",
            RbacCondition::Address(which, _) => which.field(),
            RbacCondition::DestinationPort(_) => "destination_port",
            RbacCondition::DestinationPortRange { .. } => "destination_port_range",
            RbacCondition::ServerName(_) => "requested_server_name",
            RbacCondition::Metadata { .. } => "metadata",
            RbacCondition::Authenticated(_) => "authenticated",
            RbacCondition::Unsupported(field) => field,
        }
    }
}

words! {
    /// Which address of a connection a condition tests.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum RbacAddress {
        /// `destination_ip`: the server's own address.
        Destination = "destination_ip",
        /// `source_ip`, which is deprecated.
        Source = "source_ip",
        /// `direct_remote_ip`: the address of the other end of the connection.
        DirectRemote = "direct_remote_ip",
        /// `remote_ip`: in Envoy it may be another address, taken from headers.
        Remote = "remote_ip",
    }

    /// Returns the name of the field.
    fn field
}

/// A range of addresses in a policy. A client may accept it even if its text is not an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressRange {
    /// The text of `address_prefix` and `prefix_len`, as `10.0.0.0/8`.
    pub text: String,
    /// The range; `None` if the text is not an address, so that nothing matches.
    pub range: Option<Cidr>,
}
