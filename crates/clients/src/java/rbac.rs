//! The RBAC filter, as grpc-java reads it (RbacFilter).
//!
//! The policies are read in the order of their names, and nothing leaves them: what goes wrong in
//! one is a NACK.

use super::address;
use super::matcher::{self, Catches};
use crate::shared::rules::{
    RBAC_ACTION_UNKNOWN, RBAC_ADDRESS, RBAC_HEADER_FORBIDDEN, RBAC_PATH_MISSING, RBAC_PERMISSION_UNSUPPORTED,
    RBAC_PRINCIPAL_UNSUPPORTED,
};
use crate::shared::{Checked, conditions, reject};
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::rbac::Action;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::{Permission, Principal, permission, principal};
use xdsctl_document::proto::pb::envoy::config::route::v3::HeaderMatcher;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::rbac::v3::Rbac;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::{PathMatcher, StringMatcher, path_matcher};
use xdsctl_model::diag::{Path, Validation};

/// Converts the config (`parseRbacConfig`).
pub(super) fn parse(message: &Rbac, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let Some(rules) = &message.rules else {
        return Ok(());
    };
    let at = at.field("rules");
    match Action::try_from(rules.action) {
        Ok(Action::Allow | Action::Deny) => {}
        Ok(Action::Log) => return Ok(()),
        Err(_) => {
            let message = format_args!("action {} is not known", rules.action);
            return Err(reject(&RBAC_ACTION_UNKNOWN, &at.field("action"), message, cx));
        }
    }
    let policies = at.field("policies");
    for (name, policy) in &rules.policies {
        let at = policies.key(name);
        conditions::none_in_cel(policy, &at, cx)?;
        let list = at.field("permissions");
        for (i, permission) in policy.permissions.iter().enumerate() {
            self::permission(permission, &list.index(i), cx)?;
        }
        let list = at.field("principals");
        for (i, principal) in policy.principals.iter().enumerate() {
            self::principal(principal, &list.index(i), cx)?;
        }
    }
    Ok(())
}

/// `parsePermission`.
fn permission(permission: &Permission, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    use permission::Rule;
    match &permission.rule {
        Some(Rule::AndRules(set) | Rule::OrRules(set)) => {
            let mut all = set.rules.iter();
            all.try_for_each(|rule| self::permission(rule, at, cx))
        }
        Some(Rule::Any(_) | Rule::DestinationPort(_) | Rule::DestinationPortRange(_)) => Ok(()),
        Some(Rule::Metadata(_)) => metadata(at, cx),
        Some(Rule::Header(matcher)) => header(matcher, &at.field("header"), cx),
        Some(Rule::UrlPath(path)) => url_path(path, &at.field("url_path"), cx),
        Some(Rule::DestinationIp(range)) => resolve(range, &at.field("destination_ip"), cx),
        Some(Rule::NotRule(rule)) => self::permission(rule, &at.field("not_rule"), cx),
        Some(Rule::RequestedServerName(name)) => {
            let at = at.field("requested_server_name");
            conditions::server_name(&at, cx);
            matcher::string(name, Catches::All, &at, cx)
        }
        Some(_) | None => {
            let message = format_args!("no rule is set that the client has");
            Err(reject(&RBAC_PERMISSION_UNSUPPORTED, at, message, cx))
        }
    }
}

/// `parsePrincipal`.
fn principal(principal: &Principal, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    use principal::Identifier;
    match &principal.identifier {
        Some(Identifier::AndIds(set) | Identifier::OrIds(set)) => {
            let mut all = set.ids.iter();
            all.try_for_each(|id| self::principal(id, at, cx))
        }
        Some(Identifier::Any(_)) => Ok(()),
        Some(Identifier::Metadata(_)) => metadata(at, cx),
        Some(Identifier::Authenticated(authenticated)) => {
            let at = at.field("authenticated");
            // Without a name there is a matcher without a pattern.
            let empty = StringMatcher::default();
            let name = authenticated.principal_name.as_ref().unwrap_or(&empty);
            matcher::string(name, Catches::All, &at.field("principal_name"), cx)
        }
        Some(Identifier::DirectRemoteIp(range)) => resolve(range, &at.field("direct_remote_ip"), cx),
        Some(Identifier::RemoteIp(range)) => resolve(range, &at.field("remote_ip"), cx),
        Some(Identifier::SourceIp(range)) => resolve(range, &at.field("source_ip"), cx),
        Some(Identifier::Header(matcher)) => header(matcher, &at.field("header"), cx),
        Some(Identifier::NotId(id)) => self::principal(id, &at.field("not_id"), cx),
        Some(Identifier::UrlPath(path)) => url_path(path, &at.field("url_path"), cx),
        Some(_) | None => {
            let message = format_args!("no identifier is set that the client has");
            Err(reject(&RBAC_PRINCIPAL_UNSUPPORTED, at, message, cx))
        }
    }
}

/// Metadata, which never matches, inverted or not.
fn metadata(at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    conditions::metadata(false, &at.field("metadata"), cx);
    Ok(())
}

/// A header, in sets and negations too; its name counts in its case (`parseHeaderMatcher`).
fn header(matcher: &HeaderMatcher, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if matcher.name == ":scheme" || matcher.name.starts_with("grpc-") {
        let message = format_args!("header `{}` must not be in a policy", matcher.name);
        return Err(reject(&RBAC_HEADER_FORBIDDEN, &at.field("name"), message, cx));
    }
    matcher::header(matcher, Catches::All, at, cx)
}

fn url_path(path: &PathMatcher, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match &path.rule {
        Some(path_matcher::Rule::Path(matcher)) => matcher::string(matcher, Catches::All, &at.field("path"), cx),
        None => {
            let message = format_args!("path is missing");
            Err(reject(&RBAC_PATH_MISSING, &at.field("path"), message, cx))
        }
    }
}

/// An address, which may be a name that is looked up; the length of the prefix is not looked at
/// (`resolve`).
fn resolve(range: &CidrRange, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if address::is_known_by_name(&range.address_prefix) {
        return Ok(());
    }
    let message = format_args!(
        "`{}` is no IP address, and the client rejects a name that its DNS does not know",
        range.address_prefix
    );
    Err(reject(&RBAC_ADDRESS, &at.field("address_prefix"), message, cx))
}
