//! RBAC policies, as a server keeps them (A41).

use std::sync::Arc;

use super::{FamilyReader, length, opened};
use crate::shared::conditions::{Condition, ConditionKind, Conditions};
use crate::shared::names::{RBAC, RBAC_PER_ROUTE};
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_document::proto::pb::envoy::config::rbac::v3 as pb;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::rbac::audit_logging_options::AuditCondition as Pb;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::rbac::{Action, AuditLoggingOptions};
use xdsctl_document::proto::pb::envoy::config::route::v3::HeaderMatcher as HeaderPb;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::rbac::v3::{Rbac as FilterPb, RbacPerRoute};
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::path_matcher::Rule as PathRule;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::{PathMatcher, StringMatcher as StringPb};
use xdsctl_document::source::wire::{WireFields, WireValue};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::filter::{Description, Rbac};
use xdsctl_model::resource::listener::Cidr;
use xdsctl_model::resource::matcher::{HeaderMatcher, StringMatcher};
use xdsctl_model::resource::rbac::{
    AddressRange, AuditCondition, RbacAction, RbacAddress, RbacAudit, RbacCondition, RbacPolicy, RbacRules,
};

impl FamilyReader<'_> {
    /// Reads a config or an override; one without rules enforces nothing.
    pub(super) fn rbac(&self, any: &Any) -> Rbac {
        let message: Option<FilterPb> = match opened::<RbacPerRoute>(any, RBAC_PER_ROUTE) {
            Some(of_route) => of_route.rbac,
            None => opened(any, RBAC),
        };
        let reader = PolicyReader {
            string: &|matcher| self.string_matcher(matcher),
            header: &|matcher| self.header_matcher(matcher),
            range: &|range| (self.dialect.policy_range)(range, self.profile),
            has: &|kind| (self.dialect.has_policy_kind)(kind, self.profile),
            has_audit: self.has(Feature::RbacAuditLogging),
        };
        Rbac {
            has_shadow_rules: has_shadow_rules(&any.value, any.type_url.ends_with(RBAC_PER_ROUTE)),
            rules: message.as_ref().and_then(|message| reader.rules(message)),
            description: Description {
                kind: "rbac",
                ..Description::default()
            },
        }
    }
}

/// Says whether a config, or an override around one, has `shadow_rules`. No client reads them, so
/// the generated types lack them.
pub(crate) fn has_shadow_rules(config: &[u8], is_override: bool) -> bool {
    const SHADOW_RULES: u32 = 2;
    const RBAC_OF_ROUTE: u32 = 2;
    let inner = match is_override {
        true => field(config, RBAC_OF_ROUTE),
        false => Some(config),
    };
    inner.is_some_and(|config| field(config, SHADOW_RULES).is_some())
}

/// Returns the first field of this number in a message, as bytes.
fn field(message: &[u8], number: u32) -> Option<&[u8]> {
    let mut fields = WireFields::new(message).map_while(Result::ok);
    fields.find_map(|item| match item.value {
        WireValue::Bytes(bytes) if item.number == number => Some(bytes),
        _ => None,
    })
}

/// A kind of condition that not every client has.
pub(crate) enum PolicyKind {
    /// `destination_port_range`.
    PortRange,
    /// `requested_server_name`.
    ServerName,
    /// `metadata` of a permission, with its `invert`.
    PermissionMetadata(bool),
    /// `metadata` of a principal.
    PrincipalMetadata,
    /// Actions besides ALLOW and DENY. A client that lacks them takes them for DENY.
    OtherActions,
    /// `authenticated` without a name. A client that lacks it lets everybody in.
    UnnamedPeer,
}

/// Reads the policies that one client has accepted.
pub(crate) struct PolicyReader<'r> {
    /// Makes the client's matcher of a text; `None` if the client cannot make it.
    pub string: &'r dyn Fn(&StringPb) -> Option<StringMatcher>,
    /// Makes the client's matcher of a header; `None` if the client cannot make it.
    pub header: &'r dyn Fn(&HeaderPb) -> Option<HeaderMatcher>,
    /// Reads an address range as the client does; `None` if it matches nothing.
    pub range: &'r dyn Fn(&CidrRange) -> Option<Cidr>,
    /// Says whether the client has a kind of condition.
    pub has: &'r dyn Fn(PolicyKind) -> bool,
    /// The client has audit loggers.
    pub has_audit: bool,
}

impl PolicyReader<'_> {
    /// Returns the rules of a filter; `None` if nothing is enforced.
    pub(crate) fn rules(&self, message: &FilterPb) -> Option<Arc<RbacRules>> {
        let rules = message
            .rules
            .as_ref()
            .filter(|rules| rules.action != Action::Log as i32)?;
        let policies = rules.policies.iter();
        let unknown_denies = !(self.has)(PolicyKind::OtherActions);
        let audit = rules.audit_logging_options.as_ref().filter(|_| self.has_audit);
        Some(Arc::new(RbacRules {
            action: match rules.action == Action::Deny as i32 || unknown_denies && rules.action != Action::Allow as i32
            {
                true => RbacAction::Deny,
                false => RbacAction::Allow,
            },
            policies: policies
                .map(|(name, policy)| (name.clone(), self.policy(policy)))
                .collect(),
            ends_program: false,
            audit: audit.map(audit_logging),
        }))
    }

    fn policy(&self, policy: &pb::Policy) -> RbacPolicy {
        RbacPolicy {
            permissions: self.conditions(Conditions::Permissions(&policy.permissions)),
            principals: self.conditions(Conditions::Principals(&policy.principals)),
        }
    }

    fn conditions(&self, list: Conditions<'_>) -> Vec<RbacCondition> {
        list.iter().map(|one| self.condition(one)).collect()
    }

    fn condition(&self, condition: Condition<'_>) -> RbacCondition {
        match condition.kind() {
            ConditionKind::All(list) => RbacCondition::All(self.conditions(list)),
            ConditionKind::OneOf(list) => RbacCondition::OneOf(self.conditions(list)),
            ConditionKind::Not(inner) => RbacCondition::Not(Box::new(self.condition(inner))),
            ConditionKind::Any(_) => RbacCondition::Any,
            ConditionKind::Header(header) => self.header(header),
            ConditionKind::Path(path) => self.path(path),
            ConditionKind::Address(which, range) => self.address(which, range),
            ConditionKind::Port(port) => RbacCondition::DestinationPort(port),
            ConditionKind::PortRange(range) if (self.has)(PolicyKind::PortRange) => {
                RbacCondition::DestinationPortRange {
                    start: range.start,
                    end: range.end,
                }
            }
            ConditionKind::PortRange(_) => RbacCondition::Unsupported("destination_port_range"),
            ConditionKind::Metadata(metadata) => {
                let kind = match condition {
                    Condition::Permission(_) => PolicyKind::PermissionMetadata(metadata.invert),
                    Condition::Principal(_) => PolicyKind::PrincipalMetadata,
                };
                match (self.has)(kind) {
                    true => RbacCondition::Metadata {
                        invert: metadata.invert,
                    },
                    false => RbacCondition::Unsupported("metadata"),
                }
            }
            ConditionKind::ServerName(name) if (self.has)(PolicyKind::ServerName) => {
                self.text("requested_server_name", name, RbacCondition::ServerName)
            }
            ConditionKind::ServerName(_) => RbacCondition::Unsupported("requested_server_name"),
            ConditionKind::Authenticated(Some(name)) => {
                self.text("authenticated", name, |name| RbacCondition::Authenticated(Some(name)))
            }
            ConditionKind::Authenticated(None) if !(self.has)(PolicyKind::UnnamedPeer) => RbacCondition::Any,
            ConditionKind::Authenticated(None) => RbacCondition::Authenticated(None),
            ConditionKind::Other(field) => RbacCondition::Unsupported(field),
        }
    }

    fn address(&self, which: RbacAddress, range: &CidrRange) -> RbacCondition {
        let text = format!("{}/{}", range.address_prefix, length(range));
        let range = (self.range)(range);
        RbacCondition::Address(which, AddressRange { text, range })
    }

    fn header(&self, header: &HeaderPb) -> RbacCondition {
        (self.header)(header).map_or(RbacCondition::Unsupported("header"), RbacCondition::Header)
    }

    fn path(&self, path: &PathMatcher) -> RbacCondition {
        match &path.rule {
            Some(PathRule::Path(matcher)) => self.text("url_path", matcher, RbacCondition::Path),
            None => RbacCondition::Unsupported("url_path"),
        }
    }

    fn text(
        &self,
        field: &'static str,
        matcher: &StringPb,
        condition: impl FnOnce(StringMatcher) -> RbacCondition,
    ) -> RbacCondition {
        (self.string)(matcher).map_or(RbacCondition::Unsupported(field), condition)
    }
}

fn audit_logging(options: &AuditLoggingOptions) -> RbacAudit {
    let loggers = options.logger_configs.iter();
    let types = loggers.filter_map(|logger| logger.audit_logger.as_ref()?.typed_config.as_ref());
    RbacAudit {
        condition: match Pb::try_from(options.audit_condition) {
            Ok(Pb::OnDeny) => AuditCondition::OnDeny,
            Ok(Pb::OnAllow) => AuditCondition::OnAllow,
            Ok(Pb::OnDenyAndAllow) => AuditCondition::Always,
            Ok(Pb::None) | Err(_) => AuditCondition::Never,
        },
        loggers: types
            .map(|any| any.type_url.rsplit('/').next().unwrap_or_default().to_owned())
            .collect(),
    }
}
