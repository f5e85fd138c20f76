//! The RBAC filter, as grpc-go reads it (httpfilter/rbac/rbac.go `parseConfig`, internal/xds/rbac).
//!
//! The policies are compiled while they are parsed. Up to 1.82.0 the client passes over a rule of a
//! kind that it does not have, and a negation of such a rule is an index into an empty list.

mod passed_over;

use super::matcher::{self, parse_addr};
use super::panic;
use crate::shared::conditions::{self, Condition, ConditionKind};
use crate::shared::rules::{RBAC_ACTION_UNKNOWN, RBAC_ADDRESS, RBAC_HEADER_FORBIDDEN};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::rbac::Action;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::{Policy, Rbac as Rules};
use xdsctl_document::proto::pb::envoy::config::route::v3::HeaderMatcher;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::{PathMatcher, path_matcher};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::rbac::RbacAddress;

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
    // Versions without this feature make the matchers when a connection comes.
    if rules.action == Action::Log as i32 || !cx.has(Feature::RbacMatchersMade) {
        return Ok(());
    }
    if Action::try_from(rules.action).is_err() {
        let message = format_args!("action {} is not known", rules.action);
        return Err(reject(&RBAC_ACTION_UNKNOWN, &at.field("action"), message, cx));
    }
    for (name, policy) in &rules.policies {
        let at = policies.key(name);
        for (field, list) in conditions::lists(policy) {
            let at = at.field(field);
            for (i, one) in list.iter().enumerate() {
                condition(one, &at.index(i), cx)?;
            }
        }
        if !cx.has(Feature::RbacKindsChecked) {
            passed_over::report(policy, rules.action == Action::Allow as i32, &at, cx);
        }
    }
    super::http_filter::audit(rules, &at, cx)
}

/// Rejects conditions in CEL, and headers that no policy may look at.
fn header_names(policy: &Policy, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    conditions::none_in_cel(policy, at, cx)?;
    for (field, list) in conditions::lists(policy).into_iter().rev() {
        let at = at.field(field);
        for (i, one) in list.iter().enumerate() {
            names(one, &at.index(i), cx)?;
        }
    }
    Ok(())
}

fn names(condition: Condition<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let nested = cx.has(Feature::RbacNestedHeaders);
    match condition.kind() {
        ConditionKind::Header(header) => header_name(header, at, cx),
        ConditionKind::All(list) | ConditionKind::OneOf(list) if nested => {
            list.iter().try_for_each(|one| names(one, at, cx))
        }
        ConditionKind::Not(inner) if nested => names(inner, at, cx),
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

/// Checks a permission or a principal (`matchersFromPermissions`, `matchersFromPrincipals`).
fn condition(condition: Condition<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let is_strict = cx.has(Feature::RbacKindsChecked);
    match condition.kind() {
        ConditionKind::All(list) | ConditionKind::OneOf(list) => {
            list.iter().try_for_each(|one| self::condition(one, at, cx))
        }
        ConditionKind::Any(_) | ConditionKind::Port(_) | ConditionKind::Authenticated(None) => Ok(()),
        ConditionKind::Authenticated(Some(name)) => {
            let at = at.field("authenticated");
            matcher::string_matcher(Some(name), &at.field("principal_name"), cx)
        }
        ConditionKind::Header(header) => matcher::policy_header(header, &at.field("header"), cx),
        ConditionKind::Path(path) => url_path(path, &at.field("url_path"), cx),
        ConditionKind::Address(RbacAddress::Source, _) if !is_strict => Ok(()),
        ConditionKind::Address(which, range) => cidr(range, &at.field(which.field()), cx),
        ConditionKind::Not(inner) => {
            let at = at.field(condition.fields().not);
            if !is_strict && !is_kept(inner) {
                let message = format_args!("a negation of what the client passes over, and the parser panics");
                return Err(panic(condition.unsupported_rule(), &at, message, cx));
            }
            self::condition(inner, &at, cx)
        }
        ConditionKind::Metadata(metadata) => {
            if is_strict {
                conditions::metadata(metadata.invert, &at.field("metadata"), cx);
            }
            Ok(())
        }
        ConditionKind::PortRange(_) | ConditionKind::ServerName(_) | ConditionKind::Other(_) if !is_strict => Ok(()),
        ConditionKind::ServerName(name) => {
            let at = at.field("requested_server_name");
            conditions::server_name(&at, cx);
            matcher::string_matcher(Some(name), &at, cx)
        }
        ConditionKind::PortRange(_) | ConditionKind::Other(_) => Err(condition.reject(at, cx)),
    }
}

/// Says whether versions up to 1.82.0 make a matcher of a condition.
fn is_kept(condition: Condition<'_>) -> bool {
    match condition.kind() {
        ConditionKind::Metadata(metadata) => metadata.invert && matches!(condition, Condition::Permission(_)),
        ConditionKind::Address(RbacAddress::Source, _)
        | ConditionKind::PortRange(_)
        | ConditionKind::ServerName(_)
        | ConditionKind::Other(_) => false,
        ConditionKind::All(_)
        | ConditionKind::OneOf(_)
        | ConditionKind::Not(_)
        | ConditionKind::Any(_)
        | ConditionKind::Header(_)
        | ConditionKind::Path(_)
        | ConditionKind::Address(..)
        | ConditionKind::Port(_)
        | ConditionKind::Authenticated(_) => true,
    }
}

fn url_path(path: &PathMatcher, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let matcher = path.rule.as_ref().map(|path_matcher::Rule::Path(matcher)| matcher);
    matcher::string_matcher(matcher, &at.field("path"), cx)
}

/// Checks an address range, which the client writes as text and reads again.
fn cidr(range: &CidrRange, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if range.prefix_len.is_none() && !cx.has(Feature::RbacPrefixOptional) {
        let message = format_args!("the range has no prefix_len, and the parser panics");
        return Err(panic(&RBAC_ADDRESS, at, message, cx));
    }
    let len = range.prefix_len.unwrap_or(0);
    let address = parse_addr(&range.address_prefix).filter(|(_, has_zone)| !has_zone);
    if address.and_then(|(address, _)| matcher::range(address, len)).is_none() {
        let message = format_args!("`{}/{len}` is no address range", range.address_prefix);
        return Err(reject(&RBAC_ADDRESS, at, message, cx));
    }
    Ok(())
}
