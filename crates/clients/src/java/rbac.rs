//! The RBAC filter, as grpc-java reads it (RbacFilter).
//!
//! The policies are read in the order of their names. No exception leaves them: a fault in one is a
//! NACK.

use super::address;
use super::matcher::{self, Catches};
use crate::shared::conditions::{self, Condition, ConditionKind};
use crate::shared::rules::{RBAC_ACTION_UNKNOWN, RBAC_ADDRESS, RBAC_HEADER_FORBIDDEN, RBAC_PATH_MISSING};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::rbac::Action;
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
        for (field, list) in conditions::lists(policy) {
            let at = at.field(field);
            for (i, one) in list.iter().enumerate() {
                condition(one, &at.index(i), cx)?;
            }
        }
    }
    Ok(())
}

/// Checks a permission or a principal (`parsePermission`, `parsePrincipal`). Metadata never
/// matches, inverted or not.
fn condition(condition: Condition<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match condition.kind() {
        ConditionKind::All(list) | ConditionKind::OneOf(list) => {
            list.iter().try_for_each(|one| self::condition(one, at, cx))
        }
        ConditionKind::Not(inner) => self::condition(inner, &at.field(condition.fields().not), cx),
        ConditionKind::Any(_) | ConditionKind::Port(_) | ConditionKind::PortRange(_) => Ok(()),
        ConditionKind::Metadata(_) => {
            conditions::metadata(false, &at.field("metadata"), cx);
            Ok(())
        }
        ConditionKind::Header(matcher) => header(matcher, &at.field("header"), cx),
        ConditionKind::Path(path) => url_path(path, &at.field("url_path"), cx),
        ConditionKind::Address(which, range) => resolve(range, &at.field(which.field()), cx),
        ConditionKind::ServerName(name) => {
            let at = at.field("requested_server_name");
            conditions::server_name(&at, cx);
            matcher::string(name, Catches::All, &at, cx)
        }
        ConditionKind::Authenticated(name) => {
            let at = at.field("authenticated");
            // Without a name there is a matcher without a pattern.
            let empty = StringMatcher::default();
            matcher::string(name.unwrap_or(&empty), Catches::All, &at.field("principal_name"), cx)
        }
        ConditionKind::Other(_) => Err(condition.reject(at, cx)),
    }
}

/// Checks a header, also in sets and negations; the case of its name counts (`parseHeaderMatcher`).
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

/// Checks an address, which may be a name that the client looks up. The length of the prefix is not
/// checked (`resolve`).
fn resolve(range: &CidrRange, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if address::by_name(&range.address_prefix).is_some() {
        return Ok(());
    }
    let message = format_args!(
        "`{}` is no IP address, and the client rejects a name that its DNS does not know",
        range.address_prefix
    );
    Err(reject(&RBAC_ADDRESS, &at.field("address_prefix"), message, cx))
}
