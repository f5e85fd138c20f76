//! Hash policies of a route: what ring_hash hashes of an RPC (A42).
//!
//! gRPC hashes headers and, with `filter_state`, the channel itself. The client drops every other
//! policy together with its `terminal`, and rejects a header policy that it cannot carry out.
//! Follows C-core `RouteActionParse` (xds_route_config_parser.cc).

use super::route_match::note_unseen_header;
use crate::core::convert::matcher;
use crate::shared::names::CHANNEL_ID_KEY;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::HashPolicy as Pb;
use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::hash_policy::{Header, PolicySpecifier};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::matcher::HeaderView;
use xdsctl_model::resource::route::{HashPolicy, HashPolicyKind};

rules! {
    /// A header hash policy has no header name.
    HASH_HEADER_NAME_EMPTY = "rds-hash-header-name-empty", RouteConfiguration, Nack, "gRFC A42; C-core RouteActionParse";
    /// A hash policy's regex_rewrite has no pattern.
    HASH_REWRITE_WITHOUT_PATTERN = "rds-hash-rewrite-without-pattern", RouteConfiguration, Nack, "gRFC A42; C-core RouteActionParse";
    /// A hash policy that the client does not know is dropped.
    HASH_POLICY_UNSUPPORTED = "rds-hash-policy-unsupported", RouteConfiguration, Dropped, "gRFC A42; C-core RouteActionParse",
        also [Go Java Node] "all have header and filter_state, and pass over other hash policies";
}

/// Converts the hash policies that the client keeps.
pub fn from_proto(messages: &[Pb], at: &Path<'_>, cx: &mut Validation<'_>) -> Vec<HashPolicy> {
    let policies = messages.iter().enumerate().filter_map(|(i, message)| {
        let kind = if cx.has(Feature::CollectsFaults) {
            kind(message, &at.index(i), cx)
        } else {
            // A policy with a fault is dropped.
            cx.unheard(|cx| {
                let mark = cx.mark();
                kind(message, &at.index(i), cx).filter(|_| !cx.nacked_since(mark))
            })
        };
        let terminal = message.terminal;
        kind.map(|kind| HashPolicy { kind, terminal })
    });
    policies.collect()
}

/// Converts one hash policy.
fn kind(message: &Pb, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<HashPolicyKind> {
    let dropped = match message.policy_specifier.as_ref() {
        Some(PolicySpecifier::Header(header)) => return self::header(header, &at.field("header"), cx),
        Some(PolicySpecifier::FilterState(state)) if state.key == CHANNEL_ID_KEY => {
            return Some(HashPolicyKind::ChannelId);
        }
        Some(PolicySpecifier::FilterState(state)) => {
            cx.report(
                &HASH_POLICY_UNSUPPORTED,
                &at.field("filter_state").field("key"),
                format_args!(
                    "filter_state with key `{}` is dropped, the only key is `{CHANNEL_ID_KEY}`",
                    state.key
                ),
            );
            return None;
        }
        Some(PolicySpecifier::Cookie(_)) => "cookie",
        Some(PolicySpecifier::ConnectionProperties(_)) => "connection_properties",
        Some(PolicySpecifier::QueryParameter(_)) => "query_parameter",
        None => {
            cx.report(
                &HASH_POLICY_UNSUPPORTED,
                at,
                format_args!("no policy is set, must be header or filter_state"),
            );
            return None;
        }
    };
    let terminal = if message.terminal {
        " and its `terminal` with it"
    } else {
        ""
    };
    cx.report(
        &HASH_POLICY_UNSUPPORTED,
        &at.field(dropped),
        format_args!("{dropped} is dropped{terminal}, gRPC has header and filter_state"),
    );
    None
}

/// Converts a header hash policy.
fn header(message: &Header, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<HashPolicyKind> {
    let name_at = at.field("header_name");
    let why = "header_name is empty, must name a header";
    cx.check(!message.header_name.is_empty(), &HASH_HEADER_NAME_EMPTY, &name_at, why);
    // grpc-go (resolver generateHash) and grpc-java (Metadata.Key) look for the name in lower case.
    matcher::note_upper_case(&message.header_name, &name_at, cx);
    note_unseen_header(&message.header_name, &name_at, cx);
    let mut rewrite = None;
    if let Some(regex_rewrite) = &message.regex_rewrite {
        let at = at.field("regex_rewrite");
        let at = at.field("pattern");
        let (pattern, why) = (regex_rewrite.pattern.as_ref(), "missing, must hold a regex");
        let pattern = cx.required(pattern, &HASH_REWRITE_WITHOUT_PATTERN, &at, why)?;
        let at = at.field("regex");
        let why = "the regex is empty, must not be";
        cx.check(!pattern.regex.is_empty(), &HASH_REWRITE_WITHOUT_PATTERN, &at, why)?;
        let substitution = regex_rewrite.substitution.clone();
        rewrite = Some((matcher::regex(&pattern.regex, &at, cx)?, substitution));
    }
    Some(HashPolicyKind::Header {
        name: message.header_name.clone(),
        rewrite,
        view: HeaderView::Completed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::hash_policy::{Cookie, FilterState};
    use xdsctl_model::profile::{Profile, ServerFacts};

    #[test]
    fn headers_and_the_channel_are_kept_in_order() {
        let policy = |specifier| Pb {
            terminal: true,
            policy_specifier: specifier,
        };
        let state = |key: &str| Some(PolicySpecifier::FilterState(FilterState { key: key.to_owned() }));
        let messages = [
            policy(Some(PolicySpecifier::Cookie(Cookie {}))),
            policy(Some(PolicySpecifier::Header(Header {
                header_name: "x-user".to_owned(),
                regex_rewrite: None,
            }))),
            policy(state("other")),
            policy(state(CHANNEL_ID_KEY)),
            policy(None),
        ];
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let kept = from_proto(&messages, &Path::ROOT.field("hash_policy"), &mut cx);
        let kinds: Vec<_> = kept.into_iter().map(|policy| policy.kind).collect();
        assert_eq!(
            kinds,
            [
                HashPolicyKind::Header {
                    name: "x-user".to_owned(),
                    rewrite: None,
                    view: HeaderView::Completed
                },
                HashPolicyKind::ChannelId,
            ]
        );
        let found: Vec<_> = cx.diagnostics().iter().map(|d| d.path.to_string()).collect();
        assert_eq!(
            found,
            [
                "hash_policy[0].cookie",
                "hash_policy[2].filter_state.key",
                "hash_policy[4]"
            ]
        );
    }
}
