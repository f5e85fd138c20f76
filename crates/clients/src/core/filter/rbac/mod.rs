//! Role-based access control (A41), for servers only.
//!
//! Follows C-core `XdsHttpRbacFilterFactory` (xds_http_rbac_filter.cc). The client parses each
//! config twice: into the JSON form that a server hands to its filter, and into the form that it
//! prints. The two differ in what they report for header matchers; the answer is the union. Inside
//! a composite filter only the second one is made.
//!
//! `tree` has the permissions and principals of a policy, `condition` what they may hold,
//! `audit` the loggers. `reach` says which policies make no difference.

pub mod audit;
pub mod condition;
pub mod reach;
pub mod tree;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::core::convert::matcher;
use crate::shared::conditions;
use crate::shared::names::{RBAC, RBAC_PER_ROUTE};
use crate::shared::read::{PolicyKind, PolicyReader, has_shadow_rules};
use crate::shared::rules::{RBAC_ACTION_LOG, RBAC_ACTION_UNKNOWN, RBAC_CONDITION_UNSUPPORTED};
use xdsctl_model::host_port::parse_ip_port;
use xdsctl_model::profile::Feature;

use self::condition::{Parsers, PolicyWalk};
use super::FilterType;
use xdsctl_document::proto::any::{Extension, Payload};
use xdsctl_document::proto::pb::envoy::config::rbac::v3 as pb;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::rbac::Action;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::rbac::v3::{Rbac as RbacPb, RbacPerRoute};
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::string_matcher::MatchPattern;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::resource::filter::{Description, FilterConfig, Rbac};
use xdsctl_model::resource::listener::Cidr;
use xdsctl_model::resource::matcher::{HeaderMatch, StringMatch};
use xdsctl_model::resource::rbac::{RbacAction, RbacRules};

rules! {
    /// A policy has no permissions or no principals, and so never matches.
    RBAC_POLICY_NEVER_MATCHES = "rbac-policy-never-matches", Filter, Advice, "gRFC A41; C-core ParsePolicy";
}

/// The filter's place in the registry.
pub static TYPE: FilterType = FilterType {
    type_name: RBAC,
    override_type: Some((RBAC_PER_ROUTE, parse_override)),
    on_client: false,
    on_server: true,
    is_terminal: false,
    guard: None,
    parse,
    parse_in_composite: Some(parse_in_composite),
};

fn parse(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterConfig> {
    let message: RbacPb = extension.decode(at, cx)?;
    let made = config(&message, Parsers::JsonAndPrinted, at, cx);
    Some(noting_shadow_rules(made, extension, false))
}

/// Returns the filter, with whether its config has rules that no server evaluates.
fn noting_shadow_rules(mut rbac: Rbac, extension: &Extension<'_>, is_override: bool) -> FilterConfig {
    if let Payload::Wire(bytes) = &extension.payload {
        rbac.has_shadow_rules = has_shadow_rules(bytes, is_override);
    }
    FilterConfig::Rbac(rbac)
}

fn parse_in_composite(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterConfig> {
    let message: RbacPb = extension.decode(at, cx)?;
    Some(FilterConfig::Rbac(config(&message, Parsers::PrintedOnly, at, cx)))
}

/// Reads an override; without `rbac`, it enforces nothing.
fn parse_override(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterConfig> {
    let message: RbacPerRoute = extension.decode(at, cx)?;
    let made = config(
        &message.rbac.unwrap_or_default(),
        Parsers::JsonAndPrinted,
        &at.field("rbac"),
        cx,
    );
    Some(noting_shadow_rules(made, extension, true))
}

/// Converts a config to the client's JSON form: `{}` where nothing is enforced.
fn config(message: &RbacPb, parsers: Parsers, at: &Path<'_>, cx: &mut Validation<'_>) -> Rbac {
    let at = at.field("rules");
    let json = match &message.rules {
        None => json!({}),
        Some(rules) if rules.action == Action::Log as i32 => {
            cx.report(
                &RBAC_ACTION_LOG,
                &at.field("action"),
                format_args!("action is LOG: gRPC neither logs nor enforces anything"),
            );
            json!({})
        }
        Some(rules) => json!({ "rules": enforced(rules, parsers, &at, cx) }),
    };
    let rules = policies(message, cx);
    let has_unknown_action = message.rules.as_ref().is_some_and(has_unknown_action);
    if let Some(rules) = rules.as_deref().filter(|_| !has_unknown_action) {
        reach::check(rules, &at, cx);
    }
    Rbac {
        rules,
        has_shadow_rules: false,
        description: Description {
            kind: "rbac",
            kept: vec![("rbac", json, false)],
            ..Description::default()
        },
    }
}

/// Returns the policies that the server enforces. Faults in their matchers have been reported
/// before.
fn policies(message: &RbacPb, cx: &Validation<'_>) -> Option<Arc<RbacRules>> {
    let quiet = || Validation::new(cx.profile(), cx.server());
    // Where matchers are not made here, a server makes them from its JSON form when an RPC comes
    // (`RbacServiceConfigParser`): `ignore_case` is read the other way round, matchers for a range
    // are not inverted, and a matcher that cannot be made ends the program.
    let is_made = cx.has(Feature::RbacMatchersMade);
    let is_broken = Cell::new(!is_made && message.rules.as_ref().is_some_and(has_unknown_action));
    let note = |is_there: bool| is_broken.set(is_broken.get() || !is_made && !is_there);
    let reader = PolicyReader {
        string: &|pb| {
            // Beside a regex, `ignore_case` is not looked at there.
            let mut own = pb.clone();
            own.ignore_case &= is_made || !matches!(pb.match_pattern, Some(MatchPattern::SafeRegex(_)));
            let mut made = matcher::string_matcher(Some(&own), &Path::ROOT, &mut quiet());
            note(made.is_some());
            if let Some(made) = made.as_mut().filter(|_| !cx.has(Feature::PolicyCaseAsSet)) {
                made.ignore_case = !made.ignore_case && !matches!(made.kind, StringMatch::Regex(_));
            }
            made
        },
        header: &|pb| {
            let mut made = matcher::header_matcher(pb, &Path::ROOT, &mut quiet());
            note(made.is_some());
            if let Some(made) = made.as_mut().filter(|_| !is_made) {
                made.invert_match &= !matches!(made.kind, HeaderMatch::Range { .. });
            }
            made
        },
        range: &|range| {
            let address = parse_ip_port(&range.address_prefix, 0)?;
            Some(Cidr::new(address, range.prefix_len.unwrap_or(0)))
        },
        has: &|kind| is_made || !matches!(kind, PolicyKind::UnnamedPeer),
        has_audit: cx.has(Feature::RbacAuditLogging),
    };
    let mut rules = reader.rules(message);
    if let Some(rules) = rules.as_mut().filter(|_| is_broken.get()) {
        *rules = Arc::new(RbacRules {
            action: RbacAction::Allow,
            policies: BTreeMap::new(),
            ends_program: true,
            audit: None,
        });
    }
    rules
}

fn has_unknown_action(rules: &pb::Rbac) -> bool {
    Action::try_from(rules.action).is_err()
}

fn enforced(rules: &pb::Rbac, parsers: Parsers, at: &Path<'_>, cx: &mut Validation<'_>) -> Value {
    let holds = !has_unknown_action(rules) || !cx.has(Feature::RbacMatchersMade);
    let why = format_args!("action is {}, must be ALLOW, DENY or LOG", rules.action);
    cx.check(holds, &RBAC_ACTION_UNKNOWN, &at.field("action"), why);
    let mut json = Map::new();
    json.insert("action".to_owned(), rules.action.into());
    let policies_at = at.field("policies");
    let policies: Map<String, Value> = rules
        .policies
        .iter()
        .map(|(name, rule)| (name.clone(), policy(rule, parsers, &policies_at.key(name), cx)))
        .collect();
    if !policies.is_empty() {
        json.insert("policies".to_owned(), policies.into());
    }
    if let Some(options) = &rules.audit_logging_options {
        audit::convert(options, &mut json, &at.field("audit_logging_options"), cx);
    }
    json.into()
}

fn policy(policy: &pb::Policy, parsers: Parsers, at: &Path<'_>, cx: &mut Validation<'_>) -> Value {
    let mut walk = PolicyWalk { parsers, cx };
    let [permissions, principals] = conditions::lists(policy).map(|(field, list)| -> Value {
        let at = at.field(field);
        let all = list.iter().enumerate();
        all.map(|(i, one)| walk.tree(one, 0, &at.index(i))).collect()
    });
    for field in conditions::in_cel(policy) {
        let why = format_args!("{field} is set, gRPC has no conditions in CEL");
        cx.report(&RBAC_CONDITION_UNSUPPORTED, &at.field(field), why);
    }
    for (field, is_empty) in [
        ("permissions", policy.permissions.is_empty()),
        ("principals", policy.principals.is_empty()),
    ] {
        if is_empty {
            cx.report(
                &RBAC_POLICY_NEVER_MATCHES,
                &at.field(field),
                format_args!("the policy has no {field}, so it never matches"),
            );
        }
    }
    json!({ "permissions": permissions, "principals": principals })
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_document::proto::pb::envoy::config::rbac::v3::permission::{Rule, Set};
    use xdsctl_document::proto::pb::envoy::config::rbac::v3::principal::{Authenticated, Identifier};
    use xdsctl_document::proto::pb::envoy::config::route::v3::HeaderMatcher;
    use xdsctl_document::proto::pb::envoy::config::route::v3::header_matcher::HeaderMatchSpecifier;
    use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::StringMatcher;
    use xdsctl_model::profile::{Profile, ServerFacts};

    fn with_permission(rule: Rule) -> RbacPb {
        let policy = pb::Policy {
            permissions: vec![pb::Permission { rule: Some(rule) }],
            principals: vec![pb::Principal {
                identifier: Some(Identifier::Authenticated(Authenticated::default())),
            }],
            ..pb::Policy::default()
        };
        let rules = pb::Rbac {
            policies: [("p".to_owned(), policy)].into(),
            ..pb::Rbac::default()
        };
        RbacPb { rules: Some(rules) }
    }

    fn check(message: &RbacPb, parsers: Parsers) -> (Value, Vec<String>) {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let Rbac { mut description, .. } = config(message, parsers, &Path::ROOT, &mut cx);
        let (_, json, _) = description.kept.remove(0);
        let paths = cx.finish().iter().map(|d| d.path.to_string()).collect();
        (json, paths)
    }

    #[test]
    fn config_is_kept_in_the_json_form_of_the_client() {
        let inner = pb::Permission {
            rule: Some(Rule::DestinationPort(8)),
        };
        let message = with_permission(Rule::AndRules(Set { rules: vec![inner] }));
        let expected = json!({ "rules": { "action": 0, "policies": { "p": {
            "permissions": [{ "andRules": { "rules": [{ "destinationPort": 8 }] } }],
            "principals": [{ "authenticated": {} }],
        } } } });
        assert_eq!(check(&message, Parsers::JsonAndPrinted), (expected, Vec::new()));
    }

    #[test]
    fn string_match_without_pattern_is_blamed_twice_but_once_in_a_composite_filter() {
        let message = with_permission(Rule::Header(HeaderMatcher {
            name: "x".to_owned(),
            header_match_specifier: Some(HeaderMatchSpecifier::StringMatch(StringMatcher::default())),
            ..HeaderMatcher::default()
        }));
        let header = "rules.policies[p].permissions[0].header";
        let string = format!("{header}.string_match");
        assert_eq!(
            check(&message, Parsers::JsonAndPrinted).1,
            [string.clone(), header.to_owned()]
        );
        assert_eq!(check(&message, Parsers::PrintedOnly).1, [string]);
    }
}
