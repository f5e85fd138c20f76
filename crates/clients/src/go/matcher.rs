//! String matchers, header matchers, regular expressions and address ranges, as grpc-go reads them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::shared::header_name::note_upper_case;
use crate::shared::rules::{
    HEADER_MATCHER_WITHOUT_KIND, REGEX_NOT_RE2, STRING_MATCHER_EMPTY, STRING_MATCHER_WITHOUT_PATTERN,
};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::envoy::config::route::v3::HeaderMatcher;
use xdsctl_document::proto::pb::envoy::config::route::v3::header_matcher::HeaderMatchSpecifier as Spec;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::StringMatcher;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::string_matcher::MatchPattern;
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::listener::Cidr;
use xdsctl_re2::{Regex, RegexError};

/// Checks a string matcher (`StringMatcherFromProto`): no pattern but `exact` may be empty.
pub(super) fn string_matcher(matcher: Option<&StringMatcher>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match matcher.and_then(|matcher| matcher.match_pattern.as_ref()) {
        Some(MatchPattern::Exact(_)) => Ok(()),
        Some(MatchPattern::Prefix(text)) => filled("prefix", text, at, cx),
        Some(MatchPattern::Suffix(text)) => filled("suffix", text, at, cx),
        Some(MatchPattern::Contains(text)) => filled("contains", text, at, cx),
        Some(MatchPattern::SafeRegex(safe)) => regex(&safe.regex, at, cx),
        Some(MatchPattern::Custom(_)) | None => {
            let why = format_args!("no pattern, must have exact, prefix, suffix, contains or safe_regex");
            Err(reject(&STRING_MATCHER_WITHOUT_PATTERN, at, why, cx))
        }
    }
}

fn filled(field: &'static str, text: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if text.is_empty() {
        let why = format_args!("{field} is empty, must not be");
        return Err(reject(&STRING_MATCHER_EMPTY, at, why, cx));
    }
    Ok(())
}

/// Checks a header matcher of a route (`routesProtoToSlice`).
pub(super) fn header_matcher(matcher: &HeaderMatcher, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if !cx.has(Feature::HeaderNamesFolded) {
        note_upper_case(&matcher.name, &at.field("name"), cx);
    }
    let checks_empty = cx.has(Feature::HeaderTextChecked);
    match &matcher.header_match_specifier {
        Some(Spec::PrefixMatch(text)) if checks_empty => filled("prefix_match", text, at, cx),
        Some(Spec::SuffixMatch(text)) if checks_empty => filled("suffix_match", text, at, cx),
        Some(Spec::ContainsMatch(text)) if checks_empty => filled("contains_match", text, at, cx),
        Some(Spec::ContainsMatch(_)) | None => Err(without_kind(at, cx)),
        Some(Spec::SafeRegexMatch(safe)) => regex(&safe.regex, at, cx),
        Some(Spec::StringMatch(_)) if !cx.has(Feature::HeaderStringMatch) => Err(without_kind(at, cx)),
        Some(Spec::StringMatch(matcher)) => string_matcher(Some(matcher), &at.field("string_match"), cx),
        Some(_) => Ok(()),
    }
}

/// Checks a header matcher of a policy (`newHeaderMatcher`). Its texts may be empty.
pub(super) fn policy_header(matcher: &HeaderMatcher, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    note_upper_case(&matcher.name, &at.field("name"), cx);
    match &matcher.header_match_specifier {
        Some(Spec::SafeRegexMatch(safe)) => regex(&safe.regex, at, cx),
        Some(Spec::StringMatch(_)) if !cx.has(Feature::RbacHeaderStringMatch) => Err(without_kind(at, cx)),
        Some(Spec::StringMatch(matcher)) => string_matcher(Some(matcher), &at.field("string_match"), cx),
        Some(_) => Ok(()),
        None => Err(without_kind(at, cx)),
    }
}

fn without_kind(at: &Path<'_>, cx: &mut Validation<'_>) -> crate::shared::ConverterStop {
    reject(
        &HEADER_MATCHER_WITHOUT_KIND,
        at,
        format_args!("no kind of match is set that this client has"),
        cx,
    )
}

/// Checks a regular expression, in Go's own dialect of RE2.
pub(super) fn regex(pattern: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let Some(why) = fault(pattern, cx.has(Feature::RegexAnchored)) else {
        return Ok(());
    };
    let message = format_args!("regex `{pattern}` does not compile: {why}");
    if !cx.has(Feature::RegexCompiled) {
        cx.report_as(Effect::Fails, &REGEX_NOT_RE2, at, message);
        return Ok(());
    }
    Err(reject(&REGEX_NOT_RE2, at, message, cx))
}

/// Checks a regular expression that is compiled as it is, without anchors around it.
pub(super) fn plain_regex(pattern: &str, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    match fault(pattern, false) {
        Some(why) => {
            let message = format_args!("regex `{pattern}` does not compile: {why}");
            Err(reject(&REGEX_NOT_RE2, at, message, cx))
        }
        None => Ok(()),
    }
}

/// How deep groups may be nested for Go's parser (regexp/syntax `maxHeight`).
const MAX_HEIGHT: usize = 1000;

/// Says why Go does not compile a pattern. With `is_anchored`, the client puts a group and anchors
/// around the pattern.
fn fault(pattern: &str, is_anchored: bool) -> Option<String> {
    // Go compiles to a program of its own, whose size does not have this limit.
    match Regex::check(pattern) {
        Ok(()) | Err(RegexError::TooLarge { .. }) => {}
        Err(RegexError::GroupKind { .. } | RegexError::GroupName { .. }) if is_angle_name(pattern) => {}
        Err(RegexError::UnicodeName { .. }) if takes(&with_known_classes(pattern)) => {}
        Err(fault) => return Some(fault.to_string()),
    }
    let height = depth(pattern) + if is_anchored { 2 } else { 1 };
    if height > MAX_HEIGHT {
        return Some(format!("groups are nested more than {MAX_HEIGHT} deep"));
    }
    let scan = Scan::of(pattern);
    if scan.has_any_byte {
        return Some("`\\C` is not known".to_owned());
    }
    if scan.has_huge_count {
        return Some("a count is above 1000".to_owned());
    }
    if scan.has_foreign_name {
        return Some("the name of a group has other than ASCII letters".to_owned());
    }
    (scan.is_quoted && is_anchored).then(|| "`\\Q` is not closed".to_owned())
}

fn takes(pattern: &str) -> bool {
    matches!(Regex::check(pattern), Ok(()) | Err(RegexError::TooLarge { .. }))
}

/// General categories and other classes that Go (1.25) knows by these names. Case, spaces, hyphens
/// and underscores do not count.
const CLASSES: &str = "ascii assigned casedletter closepunctuation cn connectorpunctuation control cntrl \
    currencysymbol dashpunctuation decimalnumber digit enclosingmark finalpunctuation format initialpunctuation \
    kawi lc letter letternumber lineseparator lowercaseletter mark combiningmark mathsymbol modifierletter \
    modifiersymbol nonspacingmark number openpunctuation other otherletter othernumber otherpunctuation \
    othersymbol paragraphseparator privateuse punctuation punct separator spaceseparator spacingmark surrogate \
    symbol titlecaseletter unassigned uppercaseletter nagmundari";

/// Returns the pattern with `\p{Any}` for each class that only Go knows. Other classes get RE2's
/// spelling.
fn with_known_classes(pattern: &str) -> String {
    let mut known = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(at) = rest.find(['\\']) {
        let (before, escape) = rest.split_at(at);
        known.push_str(before);
        let name = escape.strip_prefix("\\p{").or_else(|| escape.strip_prefix("\\P{"));
        if let Some((name, after)) = name.and_then(|name| name.split_once('}')) {
            let folded: String = name.chars().filter(|c| !matches!(c, ' ' | '-' | '_' | '^')).collect();
            let folded = folded.to_ascii_lowercase();
            known.push_str(&match CLASSES.split(' ').any(|class| class == folded) {
                true => "\\p{Any}".to_owned(),
                false => format!("\\p{{{}}}", capitalised(&folded)),
            });
            rest = after;
            continue;
        }
        let len = escape.chars().take(2).map(char::len_utf8).sum();
        let (this, after) = escape.split_at(len);
        known.push_str(this);
        rest = after;
    }
    known + rest
}

/// Returns the name of a script as RE2 spells it, for scripts of one word, or of a category of one
/// or two letters.
fn capitalised(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => first.to_ascii_uppercase().to_string() + chars.as_str(),
        None => String::new(),
    }
}

/// Says whether a pattern has named groups in a form that only Go accepts, `(?<n>`, and is valid
/// with `(?P<n>`.
fn is_angle_name(pattern: &str) -> bool {
    let renamed = pattern.replace("(?<", "(?P<");
    renamed != pattern && takes(&renamed)
}

/// What is found in the text of a pattern, beside its syntax tree.
#[derive(Default)]
struct Scan {
    has_any_byte: bool,
    /// The pattern has a count that is so large that RE2 takes it for text.
    has_huge_count: bool,
    has_foreign_name: bool,
    /// The next byte belongs to `\x`, `\p` or `\P`.
    is_escape: bool,
    /// The text read so far ends inside of `\Q`.
    is_quoted: bool,
}

impl Scan {
    fn of(pattern: &str) -> Self {
        let mut scan = Scan::default();
        let mut rest = pattern.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'{' if !scan.is_quoted => scan.has_huge_count |= is_huge_count(rest) && !scan.is_escape,
                b'(' if !scan.is_quoted => scan.has_foreign_name |= has_foreign_name(rest),
                _ => {}
            }
            scan.is_escape = false;
            if byte != b'\\' {
                continue;
            }
            let Some((&escaped, after)) = rest.split_first() else {
                break;
            };
            match escaped {
                b'E' if scan.is_quoted => scan.is_quoted = false,
                _ if scan.is_quoted => continue,
                b'Q' => scan.is_quoted = true,
                b'C' => scan.has_any_byte = true,
                b'x' | b'p' | b'P' => scan.is_escape = true,
                _ => {}
            }
            rest = after;
        }
        scan
    }
}

/// Says whether a count begins here that is too large for RE2, which then takes it for text.
fn is_huge_count(rest: &[u8]) -> bool {
    let Some(end) = rest.iter().position(|byte| *byte == b'}') else {
        return false;
    };
    let count = rest.get(..end).unwrap_or_default();
    let mut numbers = count.split(|byte| *byte == b',');
    let is_number = |number: &[u8]| number.iter().all(u8::is_ascii_digit);
    let all_numbers = numbers.clone().count() <= 2 && numbers.clone().all(is_number);
    all_numbers && numbers.any(|number| number.len() > 8)
}

/// Says whether a group begins here whose name is not ASCII.
fn has_foreign_name(rest: &[u8]) -> bool {
    let name = rest.strip_prefix(b"?P<").or_else(|| rest.strip_prefix(b"?<"));
    let Some(name) = name else { return false };
    let end = name.iter().position(|byte| *byte == b'>').unwrap_or(name.len());
    !name.get(..end).unwrap_or_default().is_ascii()
}

/// Returns how deep the groups of a pattern are nested.
///
/// A group `(?:` leaves no trace in Go's tree, so it does not count.
fn depth(pattern: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0usize);
    let mut open: Vec<bool> = Vec::new();
    let mut is_class = false;
    let mut rest = pattern.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\\' => rest = rest.get(1..).unwrap_or_default(),
            b'[' => is_class = true,
            b']' => is_class = false,
            b'(' if !is_class => {
                let counts = !rest.starts_with(b"?:");
                open.push(counts);
                depth += usize::from(counts);
                deepest = deepest.max(depth);
            }
            b')' if !is_class => depth -= usize::from(open.pop().unwrap_or(false)),
            _ => {}
        }
    }
    deepest
}

/// Returns an IP address as `netip.ParseAddr` reads it, and whether a zone follows it.
pub(super) fn parse_addr(text: &str) -> Option<(IpAddr, bool)> {
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Some((address.into(), false));
    }
    let (text, zone) = match text.split_once('%') {
        Some((text, zone)) => (text, Some(zone)),
        None => (text, None),
    };
    if zone.is_some_and(str::is_empty) {
        return None;
    }
    let address: Ipv6Addr = text.parse().ok()?;
    Some((address.into(), zone.is_some()))
}

/// Returns the range of the first bits of an address; `None` if the address has fewer bits.
pub(super) fn range(address: IpAddr, len: u32) -> Option<Cidr> {
    let most = if address.is_ipv4() {
        Ipv4Addr::BITS
    } else {
        Ipv6Addr::BITS
    };
    (len <= most).then(|| Cidr::of_ip(address, len))
}
