//! What permissions and principals may both hold: headers, paths, addresses, metadata, sets and
//! their depth (A41).
//!
//! Each function checks the condition at `at` and returns the client's JSON for it.

use serde_json::{Map, Value, json};

use crate::core::convert::matcher::{self};
use crate::shared::conditions;
use crate::shared::rules::{
    HEADER_MATCHER_WITHOUT_KIND, RBAC_HEADER_FORBIDDEN, RBAC_PATH_MISSING, STRING_MATCHER_WITHOUT_PATTERN,
};
use xdsctl_document::proto::pb::envoy::config::core::v3::CidrRange;
use xdsctl_document::proto::pb::envoy::config::route::v3::HeaderMatcher;
use xdsctl_document::proto::pb::envoy::config::route::v3::header_matcher::HeaderMatchSpecifier as Spec;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::path_matcher::Rule as PathRule;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::string_matcher::MatchPattern;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::{MetadataMatcher, PathMatcher, StringMatcher};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::host_port::parse_ip_port;
use xdsctl_model::profile::Feature;

rules! {
    /// Permissions or principals are nested too deep.
    RBAC_TOO_DEEP = "rbac-too-deep", Filter, Nack, "gRFC A41; C-core ParsePermission, ParsePrincipal";
    /// `any` is false in an RBAC policy, and still matches everything.
    RBAC_ANY_FALSE = "rbac-any-false", Filter, Advice, "C-core ParsePermission, ParsePrincipal";
    /// An RBAC address range has an address and no prefix length, so that it matches every address.
    RBAC_PREFIX_LEN_UNSET = "rbac-prefix-len-unset", Filter, Advice, "C-core ParseCidrRange, IpAuthorizationMatcher";
    /// A policy asks for a header that no RPC has where policies look.
    RBAC_HEADER_NEVER_SEEN = "rbac-header-never-seen", Filter, Advice, "gRFC A41; C-core EvaluateArgs::GetHeaderValue",
        also [Go Java] "in each `te` is not shown to policies, and a stream with one of the other headers is reset";
    /// The address of an RBAC address range is not an IP address, so that it never matches.
    RBAC_ADDRESS_UNPARSABLE = "rbac-address-unparsable", Filter, Advice, "C-core ParseCidrRange, Rbac::CidrRange";
}

/// The greatest depth of a condition in sets and negations; the outermost condition has depth 0.
pub(super) const MAX_DEPTH: u32 = 16;

/// Hop-by-hop headers. HTTP/2 has none of them but `te`, which a server does not show to policies.
const OF_ONE_HOP: [&str; 6] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// The pseudo-headers of HTTP/2 that a policy sees.
const SEEN: [&str; 3] = [":authority", ":method", ":path"];

/// Which of the client's two parsers run on a config.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parsers {
    /// The parser for the server's JSON and the parser for printing.
    JsonAndPrinted,
    /// The parser for printing alone, as inside a composite filter.
    PrintedOnly,
}

/// A walk over the policies of one config.
pub(super) struct PolicyWalk<'c, 'p> {
    pub(super) parsers: Parsers,
    pub(super) cx: &'c mut Validation<'p>,
}

impl PolicyWalk<'_, '_> {
    /// Says whether `depth` is within bounds; reports it if not.
    pub(super) fn may_descend(&mut self, depth: u32, at: &Path<'_>) -> bool {
        if !self.cx.has(Feature::RbacDepth) {
            return true;
        }
        let why = format_args!("nested more than {MAX_DEPTH} levels deep");
        self.cx.check(depth <= MAX_DEPTH, &RBAC_TOO_DEEP, at, why).is_some()
    }

    pub(super) fn any(&mut self, any: bool, at: &Path<'_>) -> Value {
        let why = "any is false, and matches everything all the same";
        self.cx.check(any, &RBAC_ANY_FALSE, &at.field("any"), why);
        json!({ "any": any })
    }

    /// Converts a header matcher. The parser for JSON checks the name whatever is wrong with the
    /// matcher, and reports a string_match without a pattern at the header. The parser for printing
    /// forgets the name of a matcher that it could not make.
    pub(super) fn header(&mut self, header: &HeaderMatcher, at: &Path<'_>) -> Value {
        let made = if self.cx.has(Feature::RbacMatchersMade) {
            matcher::header_matcher(header, at, self.cx).is_some()
        } else {
            self.header_kind(header, at)
        };
        let string = match &header.header_match_specifier {
            Some(Spec::StringMatch(string)) => Some(string),
            _ => None,
        };
        let name = header.name.as_str();
        let forbidden = name == ":scheme" || name.starts_with("grpc-");
        if forbidden && (made || string.is_some() || self.parsers == Parsers::JsonAndPrinted) {
            self.cx.report(
                &RBAC_HEADER_FORBIDDEN,
                &at.field("name"),
                format_args!("header `{name}` must not be in a policy, nor any other `grpc-` header or `:scheme`"),
            );
        }
        let is_unseen = OF_ONE_HOP.contains(&name) || name.starts_with(':') && !SEEN.contains(&name);
        if is_unseen && !forbidden {
            let why = match name {
                "te" => "policies do not see it",
                _ => "no gRPC client sends it",
            };
            let message = format_args!("header `{name}` counts as missing: {why}");
            self.cx.report(&RBAC_HEADER_NEVER_SEEN, &at.field("name"), message);
        }
        let without_pattern = string.is_some_and(|string| pattern(string).is_none());
        if without_pattern && self.parsers == Parsers::JsonAndPrinted {
            self.cx.report(
                &STRING_MATCHER_WITHOUT_PATTERN,
                at,
                format_args!("string_match has no pattern"),
            );
        }
        header_json(header)
    }

    /// Checks that a matcher has a kind; versions that only write the matcher as JSON check nothing
    /// else.
    fn header_kind(&mut self, header: &HeaderMatcher, at: &Path<'_>) -> bool {
        let is_known = match &header.header_match_specifier {
            Some(Spec::StringMatch(_)) => self.cx.has(Feature::RbacHeaderStringMatch),
            Some(_) => true,
            None => false,
        };
        let why = "no kind of match is set that this version has, must have one such as exact_match";
        self.cx.check(is_known, &HEADER_MATCHER_WITHOUT_KIND, at, why).is_some()
    }

    pub(super) fn url_path(&mut self, path: &PathMatcher, at: &Path<'_>) -> Value {
        let at = at.field("path");
        let why = "missing, must say which paths match";
        let rule = self.cx.required(path.rule.as_ref(), &RBAC_PATH_MISSING, &at, why);
        let Some(PathRule::Path(string)) = rule else {
            return Value::Null;
        };
        json!({ "path": self.string(string, &at) })
    }

    pub(super) fn string(&mut self, string: &StringMatcher, at: &Path<'_>) -> Value {
        if self.cx.has(Feature::RbacMatchersMade) {
            matcher::string_matcher(Some(string), at, self.cx);
        } else if pattern(string).is_none() {
            self.cx
                .report(&STRING_MATCHER_WITHOUT_PATTERN, at, format_args!("no pattern is set"));
        }
        string_json(string)
    }

    /// Converts a server name. The client compares it with an empty text, whatever name the
    /// connection was made for.
    pub(super) fn server_name(&mut self, name: &StringMatcher, at: &Path<'_>) -> Value {
        conditions::server_name(at, self.cx);
        self.string(name, at)
    }

    /// Converts an address range. The client checks nothing in it; without a length, every address
    /// matches.
    pub(super) fn cidr(&mut self, range: &CidrRange, at: &Path<'_>) -> Value {
        let length = range.prefix_len.unwrap_or(0);
        match parse_ip_port(&range.address_prefix, 0) {
            None => {
                self.cx.report(
                    &RBAC_ADDRESS_UNPARSABLE,
                    &at.field("address_prefix"),
                    format_args!("`{}` is not an IP address, so it never matches", range.address_prefix),
                );
            }
            Some(address) if length == 0 && !address.ip().is_unspecified() => {
                self.cx.report(
                    &RBAC_PREFIX_LEN_UNSET,
                    &at.field("prefix_len"),
                    format_args!("length 0: `{}` matches every address of its kind", range.address_prefix),
                );
            }
            Some(_) => {}
        }
        let mut json = Map::new();
        json.insert("addressPrefix".to_owned(), range.address_prefix.clone().into());
        if let Some(length) = range.prefix_len {
            json.insert("prefixLen".to_owned(), length.into());
        }
        json.into()
    }

    /// Converts a metadata matcher, of which only `invert` is read: gRPC has no metadata to match.
    pub(super) fn metadata(&mut self, matcher: &MetadataMatcher, at: &Path<'_>) -> Value {
        conditions::metadata(matcher.invert, at, self.cx);
        json!({ "invert": matcher.invert })
    }
}

/// Returns the name and value of a string matcher's pattern in JSON.
fn pattern(string: &StringMatcher) -> Option<(&'static str, Value)> {
    Some(match string.match_pattern.as_ref()? {
        MatchPattern::Exact(text) => ("exact", text.clone().into()),
        MatchPattern::Prefix(text) => ("prefix", text.clone().into()),
        MatchPattern::Suffix(text) => ("suffix", text.clone().into()),
        MatchPattern::Contains(text) => ("contains", text.clone().into()),
        MatchPattern::SafeRegex(safe) => ("safeRegex", json!({ "regex": safe.regex })),
        MatchPattern::Custom(_) => return None,
    })
}

fn string_json(string: &StringMatcher) -> Value {
    let mut json = Map::new();
    if let Some((name, value)) = pattern(string) {
        json.insert(name.to_owned(), value);
    }
    json.insert("ignoreCase".to_owned(), string.ignore_case.into());
    json.into()
}

fn header_json(header: &HeaderMatcher) -> Value {
    let mut json = Map::new();
    json.insert("name".to_owned(), header.name.clone().into());
    let kind = header.header_match_specifier.as_ref().map(|spec| match spec {
        Spec::ExactMatch(text) => ("exactMatch", text.clone().into()),
        Spec::PrefixMatch(text) => ("prefixMatch", text.clone().into()),
        Spec::SuffixMatch(text) => ("suffixMatch", text.clone().into()),
        Spec::ContainsMatch(text) => ("containsMatch", text.clone().into()),
        Spec::SafeRegexMatch(safe) => ("safeRegexMatch", json!({ "regex": safe.regex })),
        Spec::RangeMatch(range) => ("rangeMatch", json!({ "start": range.start, "end": range.end })),
        Spec::PresentMatch(present) => ("presentMatch", (*present).into()),
        Spec::StringMatch(string) => ("stringMatch", string_json(string)),
    });
    if let Some((name, value)) = kind {
        json.insert(name.to_owned(), value);
    }
    json.insert("invertMatch".to_owned(), header.invert_match.into());
    json.into()
}
