//! RBAC policies as a server keeps them (A41): who may call what.
//!
//! Permissions and principals are the same kind of tree. What a server makes of a condition is its
//! family's affair; that a client has taken a resource bounds how deep its trees are.

use std::collections::BTreeMap;

use super::listener::Cidr;
use super::matcher::{HeaderMatcher, StringMatcher};

/// What becomes of an RPC that a policy matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RbacAction {
    /// It is let in, and no other.
    Allow,
    /// It is kept out, and no other.
    Deny,
}

/// The rules of one RBAC filter.
#[derive(Debug, Clone, PartialEq)]
pub struct RbacRules {
    /// What the policies are for.
    pub action: RbacAction,
    /// The policies by name, in the order in which they are asked.
    pub policies: BTreeMap<String, RbacPolicy>,
    /// The server cannot read them when an RPC comes, and the program ends.
    pub ends_program: bool,
    /// Who hears of the decisions (A59); `None` where the client has no audit loggers.
    pub audit: Option<RbacAudit>,
}

/// A policy: it matches if one of its permissions and one of its principals do.
#[derive(Debug, Clone, PartialEq)]
pub struct RbacPolicy {
    /// What the RPC is for.
    pub permissions: Vec<RbacCondition>,
    /// Who sends it.
    pub principals: Vec<RbacCondition>,
}

/// Which decisions audit loggers hear of (A59).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditCondition {
    /// None.
    Never,
    /// RPCs that are kept out.
    OnDeny,
    /// RPCs that are let in.
    OnAllow,
    /// All.
    Always,
}

/// Audit logging (A59).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RbacAudit {
    /// When.
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
    /// `any`, whatever its value.
    Any,
    /// A header of the RPC.
    Header(HeaderMatcher),
    /// `url_path`: the method.
    Path(StringMatcher),
    /// An address of the connection.
    Address(RbacAddress, AddressRange),
    /// The port that the connection is to.
    DestinationPort(u32),
    /// The same, from `start` on and below `end`.
    DestinationPortRange {
        /// The first port that matches.
        start: i32,
        /// The first port that does not.
        end: i32,
    },
    /// `requested_server_name`.
    ServerName(StringMatcher),
    /// `metadata`, of which only the inversion means something: gRPC has no such metadata.
    Metadata {
        /// `invert`.
        invert: bool,
    },
    /// A peer with a certificate, of one of these names if there is a matcher.
    Authenticated(Option<StringMatcher>),
    /// A kind that the client takes and does not have, by the name of its field; empty for none.
    Unsupported(&'static str),
}

impl RbacCondition {
    /// The name of its field: of a permission, or else of a principal.
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

/// Which address of a connection a condition is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RbacAddress {
    /// `destination_ip`: the server's own.
    Destination,
    /// `source_ip`, which is deprecated.
    Source,
    /// `direct_remote_ip`: that of the other end of the connection.
    DirectRemote,
    /// `remote_ip`: in Envoy perhaps another one, as headers say.
    Remote,
}

impl RbacAddress {
    /// The name of the field.
    pub const fn field(self) -> &'static str {
        match self {
            RbacAddress::Destination => "destination_ip",
            RbacAddress::Source => "source_ip",
            RbacAddress::DirectRemote => "direct_remote_ip",
            RbacAddress::Remote => "remote_ip",
        }
    }
}

/// A range of addresses in a policy, which a client may take whatever its text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressRange {
    /// `address_prefix` and `prefix_len`, as `10.0.0.0/8`.
    pub text: String,
    /// The range; `None` if the text is no address, which then matches nothing.
    pub range: Option<Cidr>,
}
