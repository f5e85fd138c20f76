//! What an RBAC filter does with an RPC (A41): policy by policy, with the conditions that were
//! looked at.
//!
//! A policy matches if one of its permissions and one of its principals match. Policies are asked
//! in the order of their names, and the first that matches decides. Conditions are looked at from
//! left to right until the outcome is clear, as servers do.

use std::borrow::Cow;
use std::net::IpAddr;

use crate::connection::{Connection, Rpc};
use crate::dialect::{NameKind, ServerDialect};
use crate::handshake::Peer;
use xdsctl_channel::rpc::matching;
use xdsctl_model::resource::matcher::StringMatcher;
use xdsctl_model::resource::rbac::{
    AddressRange, AuditCondition, RbacAction, RbacAddress, RbacCondition, RbacPolicy, RbacRules,
};

/// The most conditions of one policy that are kept for reports. The others are looked at, too, but
/// not kept.
const MAX_LOOKS: usize = 1000;

/// The facts that policies are evaluated on.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The connection.
    pub connection: &'a Connection,
    /// The peer of the connection.
    pub peer: Peer<'a>,
    /// The RPC.
    pub rpc: &'a Rpc,
    /// The dialect of the server.
    pub dialect: &'a ServerDialect,
}

/// A condition that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Look<'a> {
    /// The condition.
    pub condition: &'a RbacCondition,
    /// Whether the condition matches.
    pub matches: bool,
    /// What the condition was compared with.
    pub seen: Seen<'a>,
    /// The conditions in it that were looked at.
    pub parts: Vec<Look<'a>>,
}

/// What a condition is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen<'a> {
    /// The conditions in it.
    Parts,
    /// Nothing: the condition always matches, or never does.
    Nothing,
    /// The value of a header; `None` if the header is missing.
    Header(Option<Cow<'a, str>>),
    /// The method.
    Path(&'a str),
    /// An address of the connection.
    Address(IpAddr),
    /// The port that the connection was made to.
    Port(u16),
    /// The names of the peer, in the order in which they are compared.
    Names {
        /// The names that are compared.
        compared: Vec<(NameKind, Cow<'a, str>)>,
        /// Whether the peer also has DNS names, which this server ignores if there is a URI.
        has_other_dns: bool,
    },
    /// There is no TLS, so nobody is authenticated.
    Plaintext,
}

/// How a policy applies to an RPC.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyLook<'a> {
    /// The policy's name.
    pub name: &'a str,
    /// Whether the policy matches.
    pub matches: bool,
    /// The permissions that were looked at; the last one matches if any does.
    pub permissions: Vec<Look<'a>>,
    /// The principals that were looked at; the last one matches if any does. If no permission
    /// matches, the principals may not be looked at, or the other way round.
    pub principals: Vec<Look<'a>>,
}

impl PolicyLook<'_> {
    /// Says whether a policy that does not match lacks a principal, and not a permission.
    pub fn lacks_principal(&self) -> bool {
        let is_permitted = self.permissions.last().is_some_and(|look| look.matches);
        is_permitted || self.principals.last().is_some_and(|look| !look.matches)
    }
}

/// What an RBAC filter decides about an RPC.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision<'a> {
    /// What a match of the filter's policies means: to allow or to deny.
    pub action: RbacAction,
    /// Whether the RPC goes on.
    pub is_allowed: bool,
    /// The policies that were asked; the last one matches if any does.
    pub policies: Vec<PolicyLook<'a>>,
    /// The audit loggers that log the decision.
    pub loggers: &'a [String],
}

impl<'a> Decision<'a> {
    /// Returns the policy that matches.
    pub fn matched(&self) -> Option<&PolicyLook<'a>> {
        self.policies.last().filter(|policy| policy.matches)
    }
}

/// Asks the policies of a filter.
pub fn decide<'a>(rules: &'a RbacRules, asked: Asked<'a>) -> Decision<'a> {
    let mut policies = Vec::new();
    for (name, policy) in &rules.policies {
        let look = look_at(name, policy, asked);
        let matches = look.matches;
        policies.push(look);
        if matches {
            break;
        }
    }
    let matches = policies.last().is_some_and(|policy| policy.matches);
    let is_allowed = matches == (rules.action == RbacAction::Allow);
    let loggers = rules.audit.as_ref().filter(|audit| match audit.condition {
        AuditCondition::Never => false,
        AuditCondition::OnDeny => !is_allowed,
        AuditCondition::OnAllow => is_allowed,
        AuditCondition::Always => true,
    });
    Decision {
        action: rules.action,
        is_allowed,
        policies,
        loggers: loggers.map_or(&[], |audit| &audit.loggers),
    }
}

fn look_at<'a>(name: &'a str, policy: &'a RbacPolicy, asked: Asked<'a>) -> PolicyLook<'a> {
    let mut walk = Walk { asked, kept: 0 };
    let is_reversed = asked.dialect.principals_first;
    let (first, second) = match is_reversed {
        true => (&policy.principals, &policy.permissions),
        false => (&policy.permissions, &policy.principals),
    };
    let (may, first) = walk.one_of(first);
    let (matches, second) = match may {
        true => walk.one_of(second),
        false => (false, Vec::new()),
    };
    let (permissions, principals) = match is_reversed {
        true => (second, first),
        false => (first, second),
    };
    PolicyLook {
        name,
        matches,
        permissions,
        principals,
    }
}

/// Says whether a condition matches.
pub fn matches(condition: &RbacCondition, asked: Asked<'_>) -> bool {
    let mut walk = Walk { asked, kept: MAX_LOOKS };
    walk.look(condition).is_some_and(|look| look.matches)
}

/// A walk over the conditions of a policy. Clients accept only trees of a bounded depth.
struct Walk<'a> {
    asked: Asked<'a>,
    /// How many conditions have been kept so far.
    kept: usize,
}

impl<'a> Walk<'a> {
    /// Says whether one of the conditions matches, and returns those that were looked at.
    fn one_of(&mut self, list: &'a [RbacCondition]) -> (bool, Vec<Look<'a>>) {
        self.until(list, true)
    }

    /// Looks at conditions until one has this outcome. Says whether one has it, and returns those
    /// that were looked at.
    fn until(&mut self, list: &'a [RbacCondition], outcome: bool) -> (bool, Vec<Look<'a>>) {
        let mut looks = Vec::new();
        for condition in list {
            let Some(look) = self.look(condition) else { continue };
            let is_found = look.matches == outcome;
            if is_found || self.kept < MAX_LOOKS {
                self.kept += 1;
                looks.push(look);
            }
            if is_found {
                return (true, looks);
            }
        }
        (false, looks)
    }

    /// Looks at a condition. Returns `None` if the server ignores it.
    fn look(&mut self, condition: &'a RbacCondition) -> Option<Look<'a>> {
        let asked = self.asked;
        let mut parts = Vec::new();
        let (matches, seen) = match condition {
            RbacCondition::OneOf(list) => {
                let (matches, own) = self.one_of(list);
                parts = own;
                (matches, Seen::Parts)
            }
            RbacCondition::All(list) => {
                let (fails, own) = self.until(list, false);
                parts = own;
                (!fails, Seen::Parts)
            }
            RbacCondition::Not(inner) => {
                let look = self.look(inner)?;
                let matches = !look.matches;
                parts.push(look);
                (matches, Seen::Parts)
            }
            RbacCondition::Any => (true, Seen::Nothing),
            RbacCondition::Metadata { invert } => (*invert && asked.dialect.inverted_metadata_matches, Seen::Nothing),
            RbacCondition::Unsupported(_) if asked.dialect.passes_over_unsupported => return None,
            RbacCondition::Unsupported(_) => (false, Seen::Nothing),
            RbacCondition::Header(matcher) => {
                let value = (asked.dialect.policy_header)(asked.rpc, &matcher.name);
                (matching::value_matches(matcher, value.as_deref()), Seen::Header(value))
            }
            RbacCondition::Path(matcher) => {
                let path = asked.rpc.method.as_str();
                let matches = !path.is_empty() && matching::string_matches(matcher, path);
                (matches, Seen::Path(path))
            }
            RbacCondition::Address(which, range) => address(*which, range, asked),
            RbacCondition::DestinationPort(port) => {
                let own = asked.connection.to.port();
                (*port == u32::from(own), Seen::Port(own))
            }
            RbacCondition::DestinationPortRange { start, end } => {
                let own = asked.connection.to.port();
                ((*start..*end).contains(&i32::from(own)), Seen::Port(own))
            }
            // Servers compare with an empty text, whatever name the connection was made for.
            RbacCondition::ServerName(matcher) => (matching::string_matches(matcher, ""), Seen::Nothing),
            RbacCondition::Authenticated(matcher) => authenticated(matcher.as_ref(), asked),
        };
        Some(Look {
            condition,
            matches,
            seen,
            parts,
        })
    }
}

fn authenticated<'a>(matcher: Option<&StringMatcher>, asked: Asked<'a>) -> (bool, Seen<'a>) {
    let by_certificate = asked.dialect.authenticates_by_certificate;
    let peer = match asked.peer {
        Peer::Plaintext if by_certificate => None,
        Peer::Plaintext => return (false, Seen::Plaintext),
        Peer::Tls(peer) => peer,
    };
    let names = (asked.dialect.names)(peer);
    let matches = match matcher {
        None => peer.is_some() || !by_certificate,
        Some(matcher) => names.iter().any(|(_, name)| matching::string_matches(matcher, name)),
    };
    let has = |kind| names.iter().any(|(own, _)| *own == kind);
    let has_dns = peer.is_some_and(|peer| !peer.dns_names.is_empty());
    let has_other_dns = has_dns && has(NameKind::Uri) && !has(NameKind::Dns);
    let seen = Seen::Names {
        compared: names,
        has_other_dns,
    };
    (matches, seen)
}

fn address<'a>(which: RbacAddress, range: &AddressRange, asked: Asked<'_>) -> (bool, Seen<'a>) {
    let address = match which {
        RbacAddress::Destination => asked.connection.to,
        // Servers use no other address than that of the connection.
        RbacAddress::Source | RbacAddress::DirectRemote | RbacAddress::Remote => asked.connection.from,
    };
    let address = (asked.dialect.address)(address);
    let matches = range.range.is_some_and(|range| range.contains(address));
    (matches, Seen::Address(address))
}
