//! RBAC policies in words: what was looked at, and what it was compared with.

use super::{Outcome, Sentence};
use xdsctl_channel::rpc::words;
use xdsctl_document::secret;
use xdsctl_model::resource::rbac::{RbacAction, RbacAddress, RbacCondition};
use xdsctl_server::dialect::NameKind;
use xdsctl_server::policy::{Decision, Look, PolicyLook, Seen};

/// Returns a sentence for each policy of a decision.
pub fn policies(decision: &Decision<'_>, shows_secrets: bool) -> Vec<Sentence> {
    let policies = decision.policies.iter();
    policies.map(|policy| of_policy(policy, shows_secrets)).collect()
}

/// Says in words what a filter decides.
pub fn decision(decision: &Decision<'_>) -> String {
    let count = decision.policies.len();
    let audit = match decision.loggers {
        [] => String::new(),
        loggers => format!("; {} hears of it", loggers.join(", ")),
    };
    let verdict = match (decision.action, decision.matched()) {
        (RbacAction::Allow, Some(policy)) => format!("ALLOW: policy `{}` matches", policy.name),
        (RbacAction::Deny, Some(policy)) => format!("DENY: policy `{}` matches", policy.name),
        (RbacAction::Allow, None) if count == 0 => "ALLOW without policies: nobody is let in".to_owned(),
        (RbacAction::Deny, None) if count == 0 => "DENY without policies: everybody is let in".to_owned(),
        (RbacAction::Allow, None) => format!("ALLOW: none of {count} policies matches"),
        (RbacAction::Deny, None) => format!("DENY: none of {count} policies matches"),
    };
    verdict + &audit
}

fn of_policy(policy: &PolicyLook<'_>, shows_secrets: bool) -> Sentence {
    let part = format!("policies[{}]", policy.name);
    if policy.matches {
        let both = [policy.permissions.last(), policy.principals.last()];
        let fields = [true, false];
        let parts = both.into_iter().zip(fields);
        let parts = parts.filter_map(|(look, is_permission)| Some(of_look(look?, is_permission, shows_secrets)));
        return Sentence::new(part, Outcome::Yes, "matches").with(parts.collect());
    }
    let (what, looks, is_permission) = match policy.lacks_principal() {
        true => ("does not match: no principal does", &policy.principals, false),
        false => ("does not match: no permission does", &policy.permissions, true),
    };
    let parts = looks.iter().map(|look| of_look(look, is_permission, shows_secrets));
    Sentence::new(part, Outcome::No, what).with(parts.collect())
}

fn of_look(look: &Look<'_>, is_permission: bool, shows_secrets: bool) -> Sentence {
    let part = match (is_permission, look.condition.field(is_permission)) {
        (true, field) => format!("permission {field}"),
        (false, field) => format!("principal {field}"),
    };
    let outcome = if look.matches { Outcome::Yes } else { Outcome::No };
    let asks = condition(look.condition, shows_secrets);
    let seen = seen(look, shows_secrets);
    let what = match (asks.is_empty(), seen.is_empty()) {
        (_, true) => asks,
        (true, false) => seen,
        (false, false) => format!("{asks}, {seen}"),
    };
    let parts = look
        .parts
        .iter()
        .map(|part| of_look(part, is_permission, shows_secrets));
    Sentence::new(part, outcome, what).with(parts.collect())
}

/// Says in words what a condition asks.
pub fn condition(condition: &RbacCondition, shows_secrets: bool) -> String {
    match condition {
        RbacCondition::All(list) => format!("all of {}", list.len()),
        RbacCondition::OneOf(list) => format!("one of {}", list.len()),
        RbacCondition::Not(_) => "not".to_owned(),
        RbacCondition::Any => "anything".to_owned(),
        RbacCondition::Header(matcher) => words::of_header(matcher, !shows_secrets),
        RbacCondition::Path(matcher) => format!("the method {}", words::of_string(matcher)),
        RbacCondition::Address(which, range) => {
            let whose = match which {
                RbacAddress::Destination => "the server's address",
                RbacAddress::Source | RbacAddress::DirectRemote | RbacAddress::Remote => "the client's address",
            };
            match range.range {
                Some(cidr) => format!("{whose} is in {cidr}"),
                None => format!("{whose} is in `{}`, which is no range of addresses", range.text),
            }
        }
        RbacCondition::DestinationPort(port) => format!("the server's port is {port}"),
        RbacCondition::DestinationPortRange { start, end } => format!("the server's port is in {start}..{end}"),
        RbacCondition::ServerName(matcher) => format!("an empty text {}", words::of_string(matcher)),
        RbacCondition::Metadata { invert: true } => "inverted metadata, which gRPC does not have".to_owned(),
        RbacCondition::Metadata { invert: false } => "metadata, which gRPC does not have".to_owned(),
        RbacCondition::Authenticated(None) => "a client over TLS".to_owned(),
        RbacCondition::Authenticated(Some(matcher)) => format!("a name {}", words::of_string(matcher)),
        RbacCondition::Unsupported(_) => "the client does not have this kind of condition".to_owned(),
    }
}

/// Says in words what a condition was compared with; empty if the condition itself says it.
fn seen(look: &Look<'_>, shows_secrets: bool) -> String {
    match &look.seen {
        Seen::Parts => String::new(),
        Seen::Nothing => match look.condition {
            RbacCondition::ServerName(_) => "whatever name the connection was made for".to_owned(),
            _ => String::new(),
        },
        Seen::Header(None) => "it is missing".to_owned(),
        Seen::Header(Some(value)) => match look.condition {
            RbacCondition::Header(matcher) if !shows_secrets && secret::is_name(&matcher.name) => {
                "its value is not shown".to_owned()
            }
            _ => format!("it is `{value}`"),
        },
        Seen::Path(path) => format!("it is `{path}`"),
        Seen::Address(address) => format!("it is {address}"),
        Seen::Port(port) => format!("it is {port}"),
        Seen::Plaintext => "the connection has no TLS, nobody is authenticated".to_owned(),
        Seen::Names {
            compared,
            has_other_dns,
        } => {
            let names: Vec<String> = compared.iter().map(|(kind, name)| named(*kind, name)).collect();
            let others = match has_other_dns {
                true => "; DNS names are not compared beside a URI",
                false => "",
            };
            format!("the client's: {}{others}", names.join(", "))
        }
    }
}

fn named(kind: NameKind, name: &str) -> String {
    match (kind, name) {
        (NameKind::Uri, name) => format!("uri `{name}`"),
        (NameKind::Dns, name) => format!("dns `{name}`"),
        (NameKind::Subject, "") => "no subject, an empty text is compared".to_owned(),
        (NameKind::Subject, name) => format!("subject `{name}`"),
    }
}
