//! The RBAC filter behind its switch, as grpc-js-xds reads it (http-filter/rbac-filter.ts, rbac.ts
//! `parseConfig`).
//!
//! Only an exception while the rules are built is a fault: a regular expression that does not
//! compile, or a missing path. A rule of a kind that the client does not have never matches.

use super::regex::{self, PatternUse};
use super::{decode, fault};
use crate::shared::conditions::{self, Condition, ConditionKind, Conditions};
use crate::shared::names::{RBAC, RBAC_PER_ROUTE};
use crate::shared::rules::{RBAC_ACTION_LOG, RBAC_PATH_MISSING, REGEX_NOT_RE2};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::any::ANY_MISSING;
use xdsctl_document::proto::pb::Any;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::Rbac as Rules;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::rbac::Action;
use xdsctl_document::proto::pb::envoy::config::route::v3::HeaderMatcher;
use xdsctl_document::proto::pb::envoy::config::route::v3::header_matcher::HeaderMatchSpecifier;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::rbac::v3::{Rbac, RbacPerRoute};
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::string_matcher::MatchPattern;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::{PathMatcher, StringMatcher, path_matcher};
use xdsctl_model::diag::{Path, Validation};

/// Converts a config, whose type was checked before. Its first fault ends it, and is collected.
pub(super) fn config(any: &Any, is_override: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if is_override {
        let message: RbacPerRoute = decode(&any.value, RBAC_PER_ROUTE, at, cx)?;
        let found = message.rbac.as_ref().and_then(|rbac| rbac.rules.as_ref());
        let at = at.value(RBAC_PER_ROUTE);
        rules(found, &at.field("rbac").field("rules"), cx);
    } else {
        let message: Rbac = decode(&any.value, RBAC, at, cx)?;
        rules(message.rules.as_ref(), &at.value(RBAC).field("rules"), cx);
    }
    Ok(())
}

fn rules(rules: Option<&Rules>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(rules) = rules else {
        return fault(&ANY_MISSING, at, format_args!("rules are missing, must be set"), cx);
    };
    if rules.action == Action::Log as i32 {
        let at = at.field("action");
        return fault(&RBAC_ACTION_LOG, &at, format_args!("action LOG is not supported"), cx);
    }
    // The client catches an exception from here, so the first fault is the last.
    _ = policies(rules, &at.field("policies"), cx);
}

fn policies(rules: &Rules, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    for (name, policy) in &rules.policies {
        let at = at.key(name);
        for (field, list) in conditions::lists(policy) {
            each(list, &at.field(field), cx)?;
        }
    }
    Ok(())
}

fn each(list: Conditions<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let mut each = list.iter().enumerate();
    each.try_for_each(|(i, one)| condition(one, &at.index(i), cx))
}

/// Checks a permission or a principal (`parsePermission`, `parsePrincipal`).
fn condition(condition: Condition<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let fields = condition.fields();
    match condition.kind() {
        ConditionKind::All(list) => each(list, &at.field(fields.all).field(fields.list), cx),
        ConditionKind::OneOf(list) => each(list, &at.field(fields.one_of).field(fields.list), cx),
        ConditionKind::Not(inner) => self::condition(inner, &at.field(fields.not), cx),
        ConditionKind::Header(matcher) => header(matcher, &at.field("header"), cx),
        ConditionKind::ServerName(matcher) => string(matcher, &at.field("requested_server_name"), cx),
        ConditionKind::Authenticated(Some(matcher)) => {
            string(matcher, &at.field("authenticated").field("principal_name"), cx)
        }
        ConditionKind::Path(matcher) => url_path(matcher, &at.field("url_path"), cx),
        ConditionKind::Any(_)
        | ConditionKind::Address(..)
        | ConditionKind::Port(_)
        | ConditionKind::PortRange(_)
        | ConditionKind::Metadata(_)
        | ConditionKind::Authenticated(None)
        | ConditionKind::Other(_) => Ok(()),
    }
}

/// Checks a header matcher (`getPredicateForHeaderMatcher`).
fn header(matcher: &HeaderMatcher, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match &matcher.header_match_specifier {
        Some(HeaderMatchSpecifier::SafeRegexMatch(safe)) => compile(&safe.regex, &at.field("safe_regex_match"), cx),
        Some(HeaderMatchSpecifier::StringMatch(matcher)) => string(matcher, &at.field("string_match"), cx),
        Some(_) | None => Ok(()),
    }
}

/// Checks a string matcher (`getPredicateForStringMatcher`).
fn string(matcher: &StringMatcher, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match &matcher.match_pattern {
        Some(MatchPattern::SafeRegex(safe)) => compile(&safe.regex, &at.field("safe_regex"), cx),
        Some(_) | None => Ok(()),
    }
}

fn url_path(matcher: &PathMatcher, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match &matcher.rule {
        Some(path_matcher::Rule::Path(matcher)) => string(matcher, &at.field("path"), cx),
        None => {
            let why = format_args!("path is missing, must be set");
            Err(reject(&RBAC_PATH_MISSING, &at.field("path"), why, cx))
        }
    }
}

/// Checks a regular expression, which the client compiles with anchors around it.
fn compile(pattern: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match regex::fault(pattern, PatternUse::Match("")) {
        None => Ok(()),
        Some(fault) => {
            let why = format_args!("regex `{pattern}` does not compile: {fault}");
            Err(reject(&REGEX_NOT_RE2, &at.field("regex"), why, cx))
        }
    }
}
