//! Conditions of RBAC policies (A41): permissions and principals, which have the same structure,
//! and the conditions whose answer is always the same because gRPC lacks what they ask for.

use super::fields::set_of;
use super::rules::{
    RBAC_CONDITION_CONSTANT, RBAC_CONDITION_UNSUPPORTED, RBAC_PERMISSION_UNSUPPORTED, RBAC_PRINCIPAL_UNSUPPORTED,
};
use super::{Checked, ConverterStop, reject};
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::permission::Rule;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::principal::Identifier;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::{Permission, Policy, Principal};
use xdsctl_document::proto::pb::envoy::config::route::v3::HeaderMatcher;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::{MetadataMatcher, PathMatcher, StringMatcher};
use xdsctl_document::proto::pb::envoy::r#type::v3::Int32Range;
use xdsctl_model::diag::{Path, Rule as DiagRule, Validation};
use xdsctl_model::resource::rbac::RbacAddress;

/// A permission or a principal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Condition<'m> {
    Permission(&'m Permission),
    Principal(&'m Principal),
}

/// A list of permissions or of principals.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Conditions<'m> {
    Permissions(&'m [Permission]),
    Principals(&'m [Principal]),
}

/// What a condition asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ConditionKind<'m> {
    All(Conditions<'m>),
    OneOf(Conditions<'m>),
    Not(Condition<'m>),
    Any(bool),
    Header(&'m HeaderMatcher),
    Path(&'m PathMatcher),
    Address(RbacAddress, &'m CidrRange),
    Port(u32),
    PortRange(&'m Int32Range),
    Metadata(&'m MetadataMatcher),
    ServerName(&'m StringMatcher),
    /// A peer with a certificate; without a matcher, of any name.
    Authenticated(Option<&'m StringMatcher>),
    /// A kind that no client has, by its field; empty if none is set.
    Other(&'static str),
}

/// The names of a condition's fields.
pub(crate) struct ConditionFields {
    pub all: &'static str,
    pub one_of: &'static str,
    /// The list in a set of conditions.
    pub list: &'static str,
    pub not: &'static str,
    /// The oneof that holds these fields.
    pub oneof: &'static str,
}

impl<'m> Conditions<'m> {
    /// Returns the conditions, in their order.
    pub(crate) fn iter(self) -> impl Iterator<Item = Condition<'m>> {
        let (permissions, principals): (&[_], &[_]) = match self {
            Conditions::Permissions(list) => (list, &[]),
            Conditions::Principals(list) => (&[], list),
        };
        let permissions = permissions.iter().map(Condition::Permission);
        permissions.chain(principals.iter().map(Condition::Principal))
    }
}

impl<'m> Condition<'m> {
    /// Returns what the condition asks for.
    pub(crate) fn kind(self) -> ConditionKind<'m> {
        match self {
            Condition::Permission(permission) => of_permission(permission),
            Condition::Principal(principal) => of_principal(principal),
        }
    }

    /// Returns the names of the condition's fields.
    pub(crate) const fn fields(self) -> ConditionFields {
        match self {
            Condition::Permission(_) => ConditionFields {
                all: "and_rules",
                one_of: "or_rules",
                list: "rules",
                not: "not_rule",
                oneof: "rule",
            },
            Condition::Principal(_) => ConditionFields {
                all: "and_ids",
                one_of: "or_ids",
                list: "ids",
                not: "not_id",
                oneof: "identifier",
            },
        }
    }

    /// Returns the rule about a condition that a client does not have.
    pub(crate) const fn unsupported_rule(self) -> &'static DiagRule {
        match self {
            Condition::Permission(_) => &RBAC_PERMISSION_UNSUPPORTED,
            Condition::Principal(_) => &RBAC_PRINCIPAL_UNSUPPORTED,
        }
    }

    /// Reports at `at` that the client does not have the condition.
    pub(crate) fn reject(self, at: &Path<'_>, cx: &mut Validation<'_>) -> ConverterStop {
        let message = format_args!("no {} is set that the client has", self.fields().oneof);
        reject(self.unsupported_rule(), at, message, cx)
    }
}

fn of_permission(permission: &Permission) -> ConditionKind<'_> {
    match &permission.rule {
        Some(Rule::AndRules(set)) => ConditionKind::All(Conditions::Permissions(&set.rules)),
        Some(Rule::OrRules(set)) => ConditionKind::OneOf(Conditions::Permissions(&set.rules)),
        Some(Rule::NotRule(inner)) => ConditionKind::Not(Condition::Permission(inner)),
        Some(Rule::Any(any)) => ConditionKind::Any(*any),
        Some(Rule::Header(header)) => ConditionKind::Header(header),
        Some(Rule::UrlPath(path)) => ConditionKind::Path(path),
        Some(Rule::DestinationIp(range)) => ConditionKind::Address(RbacAddress::Destination, range),
        Some(Rule::DestinationPort(port)) => ConditionKind::Port(*port),
        Some(Rule::DestinationPortRange(range)) => ConditionKind::PortRange(range),
        Some(Rule::Metadata(metadata)) => ConditionKind::Metadata(metadata),
        Some(Rule::RequestedServerName(name)) => ConditionKind::ServerName(name),
        Some(Rule::Matcher(_)) => ConditionKind::Other("matcher"),
        Some(Rule::UriTemplate(_)) => ConditionKind::Other("uri_template"),
        Some(Rule::SourcedMetadata(_)) => ConditionKind::Other("sourced_metadata"),
        None => ConditionKind::Other(""),
    }
}

fn of_principal(principal: &Principal) -> ConditionKind<'_> {
    match &principal.identifier {
        Some(Identifier::AndIds(set)) => ConditionKind::All(Conditions::Principals(&set.ids)),
        Some(Identifier::OrIds(set)) => ConditionKind::OneOf(Conditions::Principals(&set.ids)),
        Some(Identifier::NotId(inner)) => ConditionKind::Not(Condition::Principal(inner)),
        Some(Identifier::Any(any)) => ConditionKind::Any(*any),
        Some(Identifier::Authenticated(peer)) => ConditionKind::Authenticated(peer.principal_name.as_ref()),
        Some(Identifier::SourceIp(range)) => ConditionKind::Address(RbacAddress::Source, range),
        Some(Identifier::DirectRemoteIp(range)) => ConditionKind::Address(RbacAddress::DirectRemote, range),
        Some(Identifier::RemoteIp(range)) => ConditionKind::Address(RbacAddress::Remote, range),
        Some(Identifier::Header(header)) => ConditionKind::Header(header),
        Some(Identifier::UrlPath(path)) => ConditionKind::Path(path),
        Some(Identifier::Metadata(metadata)) => ConditionKind::Metadata(metadata),
        Some(Identifier::FilterState(_)) => ConditionKind::Other("filter_state"),
        Some(Identifier::SourcedMetadata(_)) => ConditionKind::Other("sourced_metadata"),
        Some(Identifier::Custom(_)) => ConditionKind::Other("custom"),
        None => ConditionKind::Other(""),
    }
}

/// Returns the permissions and the principals of a policy, with the names of their fields.
pub(crate) fn lists(policy: &Policy) -> [(&'static str, Conditions<'_>); 2] {
    [
        ("permissions", Conditions::Permissions(&policy.permissions)),
        ("principals", Conditions::Principals(&policy.principals)),
    ]
}

/// Reports a metadata matcher at `at`: it always matches, or never.
pub(crate) fn metadata(always: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    let outcome = if always { "always" } else { "never" };
    let message = format_args!("gRPC has no metadata, so this {outcome} matches");
    cx.report(&RBAC_CONDITION_CONSTANT, at, message);
}

/// Reports a server name at `at`, which is compared with an empty text, whatever name the
/// connection was made for.
pub(crate) fn server_name(at: &Path<'_>, cx: &mut Validation<'_>) {
    let message = format_args!("gRPC compares with an empty text, not with the server name of the connection");
    cx.report(&RBAC_CONDITION_CONSTANT, at, message);
}

/// Returns the fields of a policy that hold conditions in CEL, and are set.
pub(crate) fn in_cel(policy: &Policy) -> impl Iterator<Item = &'static str> {
    set_of([
        ("condition", policy.condition.is_some()),
        ("checked_condition", policy.checked_condition.is_some()),
    ])
}

/// Checks that a policy has no condition in CEL.
pub(crate) fn none_in_cel(policy: &Policy, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let Some(field) = in_cel(policy).next() else {
        return Ok(());
    };
    let message = format_args!("{field} is set, gRPC has no conditions in CEL");
    Err(reject(&RBAC_CONDITION_UNSUPPORTED, &at.field(field), message, cx))
}
