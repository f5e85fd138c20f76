//! The RBAC filter, as grpc-go reads it (httpfilter/rbac/rbac.go `parseConfig`, internal/xds/rbac).
//!
//! The policies are compiled while they are parsed. Up to 1.82.0 a rule of a kind that the client
//! does not have is passed over, and a negation of one is an index into an empty list.

mod passed_over;

use super::matcher::{self, Prefix, parse_addr};
use super::panic;
use crate::shared::rules::{
    RBAC_ACTION_UNKNOWN, RBAC_ADDRESS, RBAC_HEADER_FORBIDDEN, RBAC_PERMISSION_UNSUPPORTED, RBAC_PRINCIPAL_UNSUPPORTED,
};
use crate::shared::{Checked, conditions, reject};
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::rbac::Action;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::{
    Permission, Policy, Principal, Rbac as Rules, permission, principal,
};
use xdsctl_document::proto::pb::envoy::config::route::v3::HeaderMatcher;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::{PathMatcher, path_matcher};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// A rule of an RBAC policy is passed over, and the policy lets in whom it keeps out.
    RBAC_RULE_NOT_APPLIED = "rbac-rule-not-applied", Filter, Open, "GHSA-hrxh-6v49-42gf; grpc-go internal/xds/rbac matchersFromPermissions, matchersFromPrincipals";
    /// An RBAC override has no `rbac`, which is a panic in the parser of grpc-go.
    RBAC_OVERRIDE_EMPTY = "rbac-override-empty", Filter, Nack, "grpc-go httpfilter/rbac parseConfig";
}

/// Converts the rules of a config or an override; `None` for an override without a config.
pub(super) fn config(rules: Option<Option<&Rules>>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let Some(rules) = rules else {
        if !cx.has(Feature::RbacMatchersMade) {
            return Ok(());
        }
        let message = format_args!("the override has no rbac, and the parser panics");
        return Err(panic(&RBAC_OVERRIDE_EMPTY, at, message, cx));
    };
    let Some(rules) = rules else {
        return Ok(());
    };
    let at = at.field("rules");
    let policies = at.field("policies");
    for (name, policy) in &rules.policies {
        header_names(policy, &policies.key(name), cx)?;
    }
    // Before, the matchers are made when a connection comes.
    if rules.action == Action::Log as i32 || !cx.has(Feature::RbacMatchersMade) {
        return Ok(());
    }
    if Action::try_from(rules.action).is_err() {
        let message = format_args!("action {} is not known", rules.action);
        return Err(reject(&RBAC_ACTION_UNKNOWN, &at.field("action"), message, cx));
    }
    for (name, policy) in &rules.policies {
        let at = policies.key(name);
        let list = at.field("permissions");
        for (i, permission) in policy.permissions.iter().enumerate() {
            self::permission(permission, &list.index(i), cx)?;
        }
        let list = at.field("principals");
        for (i, principal) in policy.principals.iter().enumerate() {
            self::principal(principal, &list.index(i), cx)?;
        }
        if !cx.has(Feature::RbacKindsChecked) {
            passed_over::report(policy, rules.action == Action::Allow as i32, &at, cx);
        }
    }
    super::http_filter::audit(rules, &at, cx)
}

/// Conditions, and headers that no policy may look at.
fn header_names(policy: &Policy, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    conditions::none_in_cel(policy, at, cx)?;
    let list = at.field("principals");
    for (i, principal) in policy.principals.iter().enumerate() {
        principal_names(principal, &list.index(i), cx)?;
    }
    let list = at.field("permissions");
    for (i, permission) in policy.permissions.iter().enumerate() {
        permission_names(permission, &list.index(i), cx)?;
    }
    Ok(())
}

fn permission_names(permission: &Permission, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    use permission::Rule;
    let nested = cx.has(Feature::RbacNestedHeaders);
    match &permission.rule {
        Some(Rule::Header(header)) => header_name(header, at, cx),
        Some(Rule::AndRules(set) | Rule::OrRules(set)) if nested => {
            let mut all = set.rules.iter();
            all.try_for_each(|rule| permission_names(rule, at, cx))
        }
        Some(Rule::NotRule(rule)) if nested => permission_names(rule, at, cx),
        _ => Ok(()),
    }
}

fn principal_names(principal: &Principal, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    use principal::Identifier;
    let nested = cx.has(Feature::RbacNestedHeaders);
    match &principal.identifier {
        Some(Identifier::Header(header)) => header_name(header, at, cx),
        Some(Identifier::AndIds(set) | Identifier::OrIds(set)) if nested => {
            let mut all = set.ids.iter();
            all.try_for_each(|id| principal_names(id, at, cx))
        }
        Some(Identifier::NotId(id)) if nested => principal_names(id, at, cx),
        _ => Ok(()),
    }
}

fn header_name(header: &HeaderMatcher, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let lower;
    let name = if cx.has(Feature::RbacNestedHeaders) {
        lower = header.name.to_lowercase();
        lower.as_str()
    } else {
        header.name.as_str()
    };
    if name == ":scheme" || name.starts_with("grpc-") {
        let at = at.field("header");
        let message = format_args!("header `{}` must not be in a policy", header.name);
        return Err(reject(&RBAC_HEADER_FORBIDDEN, &at.field("name"), message, cx));
    }
    Ok(())
}

/// A permission (`matchersFromPermissions`).
fn permission(permission: &Permission, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    use permission::Rule;
    let is_strict = cx.has(Feature::RbacKindsChecked);
    match &permission.rule {
        Some(Rule::AndRules(set) | Rule::OrRules(set)) => {
            let mut all = set.rules.iter();
            all.try_for_each(|rule| self::permission(rule, at, cx))
        }
        Some(Rule::Any(_) | Rule::DestinationPort(_)) => Ok(()),
        Some(Rule::Header(header)) => matcher::policy_header(header, &at.field("header"), cx),
        Some(Rule::UrlPath(path)) => url_path(path, &at.field("url_path"), cx),
        Some(Rule::DestinationIp(range)) => cidr(range, &at.field("destination_ip"), cx),
        Some(Rule::NotRule(rule)) => {
            let at = at.field("not_rule");
            if !is_strict && !permission_is_kept(rule) {
                let message = format_args!("a negation of what the client passes over, and the parser panics");
                return Err(panic(&RBAC_PERMISSION_UNSUPPORTED, &at, message, cx));
            }
            self::permission(rule, &at, cx)
        }
        Some(Rule::Metadata(metadata)) => {
            if is_strict {
                conditions::metadata(metadata.invert, &at.field("metadata"), cx);
            }
            Ok(())
        }
        Some(Rule::RequestedServerName(name)) if is_strict => {
            let at = at.field("requested_server_name");
            conditions::server_name(&at, cx);
            matcher::string_matcher(Some(name), &at, cx)
        }
        _ if !is_strict => Ok(()),
        Some(_) | None => Err(reject(
            &RBAC_PERMISSION_UNSUPPORTED,
            at,
            format_args!("no rule is set that the client has"),
            cx,
        )),
    }
}

/// Says whether an earlier client makes a matcher of a permission.
fn permission_is_kept(permission: &Permission) -> bool {
    use permission::Rule;
    match &permission.rule {
        Some(Rule::Metadata(metadata)) => metadata.invert,
        Some(
            Rule::AndRules(_)
            | Rule::OrRules(_)
            | Rule::Any(_)
            | Rule::Header(_)
            | Rule::UrlPath(_)
            | Rule::DestinationIp(_)
            | Rule::DestinationPort(_)
            | Rule::NotRule(_),
        ) => true,
        _ => false,
    }
}

/// A principal (`matchersFromPrincipals`).
fn principal(principal: &Principal, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    use principal::Identifier;
    let is_strict = cx.has(Feature::RbacKindsChecked);
    match &principal.identifier {
        Some(Identifier::AndIds(set) | Identifier::OrIds(set)) => {
            let mut all = set.ids.iter();
            all.try_for_each(|id| self::principal(id, at, cx))
        }
        Some(Identifier::Any(_)) => Ok(()),
        Some(Identifier::Authenticated(authenticated)) => match &authenticated.principal_name {
            Some(name) => {
                let at = at.field("authenticated");
                matcher::string_matcher(Some(name), &at.field("principal_name"), cx)
            }
            None => Ok(()),
        },
        Some(Identifier::DirectRemoteIp(range)) => cidr(range, &at.field("direct_remote_ip"), cx),
        Some(Identifier::RemoteIp(range)) => cidr(range, &at.field("remote_ip"), cx),
        Some(Identifier::SourceIp(range)) if is_strict => cidr(range, &at.field("source_ip"), cx),
        Some(Identifier::Header(header)) => matcher::policy_header(header, &at.field("header"), cx),
        Some(Identifier::UrlPath(path)) => url_path(path, &at.field("url_path"), cx),
        Some(Identifier::NotId(id)) => {
            let at = at.field("not_id");
            if !is_strict && !principal_is_kept(id) {
                let message = format_args!("a negation of what the client passes over, and the parser panics");
                return Err(panic(&RBAC_PRINCIPAL_UNSUPPORTED, &at, message, cx));
            }
            self::principal(id, &at, cx)
        }
        Some(Identifier::Metadata(metadata)) => {
            if is_strict {
                conditions::metadata(metadata.invert, &at.field("metadata"), cx);
            }
            Ok(())
        }
        _ if !is_strict => Ok(()),
        Some(_) | None => Err(reject(
            &RBAC_PRINCIPAL_UNSUPPORTED,
            at,
            format_args!("no identifier is set that the client has"),
            cx,
        )),
    }
}

/// Says whether an earlier client makes a matcher of a principal.
fn principal_is_kept(principal: &Principal) -> bool {
    use principal::Identifier;
    matches!(
        &principal.identifier,
        Some(
            Identifier::AndIds(_)
                | Identifier::OrIds(_)
                | Identifier::Any(_)
                | Identifier::Authenticated(_)
                | Identifier::DirectRemoteIp(_)
                | Identifier::RemoteIp(_)
                | Identifier::Header(_)
                | Identifier::UrlPath(_)
                | Identifier::NotId(_)
        )
    )
}

fn url_path(path: &PathMatcher, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let matcher = path.rule.as_ref().map(|path_matcher::Rule::Path(matcher)| matcher);
    matcher::string_matcher(matcher, &at.field("path"), cx)
}

/// An address range, written as text and read again.
fn cidr(range: &CidrRange, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if range.prefix_len.is_none() && !cx.has(Feature::RbacPrefixOptional) {
        let message = format_args!("the range has no prefix_len, and the parser panics");
        return Err(panic(&RBAC_ADDRESS, at, message, cx));
    }
    let len = range.prefix_len.unwrap_or(0);
    let address = parse_addr(&range.address_prefix).filter(|(_, has_zone)| !has_zone);
    if address.and_then(|(address, _)| Prefix::new(address, len)).is_none() {
        let message = format_args!("`{}/{len}` is no address range", range.address_prefix);
        return Err(reject(&RBAC_ADDRESS, at, message, cx));
    }
    Ok(())
}
