//! Matchers of routes and filters, as the client keeps them.

use crate::profile::Feature;
use xdsctl_re2::Regex;

/// `envoy.type.matcher.v3.StringMatcher`.
#[derive(Debug, Clone, PartialEq)]
pub struct StringMatcher {
    /// What the text is compared with.
    pub kind: StringMatch,
    /// Compare without regard to ASCII case; never set with a regex.
    pub ignore_case: bool,
}

/// How a [`StringMatcher`] compares.
#[derive(Debug, Clone, PartialEq)]
pub enum StringMatch {
    /// The whole text.
    Exact(String),
    /// The text begins with this.
    Prefix(String),
    /// The text ends with this.
    Suffix(String),
    /// The text has this somewhere.
    Contains(String),
    /// The whole text against an RE2 pattern.
    Regex(Regex),
}

/// `envoy.config.route.v3.HeaderMatcher`.
#[derive(Debug, Clone, PartialEq)]
pub struct HeaderMatcher {
    /// The header's name as the client compares it; a name with upper case never matches.
    pub name: String,
    /// What is asked of the value.
    pub kind: HeaderMatch,
    /// Turns the result round, but not that of a missing header.
    pub invert_match: bool,
    /// Which headers are looked at.
    pub view: HeaderView,
}

/// What matchers and hash policies see of an RPC's headers. None sees a binary header by its bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HeaderView {
    /// Besides those of the application, its path, its deadline and a content-type. Numbers may
    /// have white space around them.
    #[default]
    Completed,
    /// Those of the application as it sent them; see
    /// [`Feature::HeadersAsSent`](crate::profile::Feature::HeadersAsSent).
    AsSent,
    /// Those of the application and a content-type; see
    /// [`Feature::HeadersOfApplication`](crate::profile::Feature::HeadersOfApplication).
    OfApplication,
    /// The metadata of the application and a content-type; see
    /// [`Feature::HeadersOfMetadata`](crate::profile::Feature::HeadersOfMetadata).
    OfMetadata,
    /// One value of each header of the HTTP request; see
    /// [`Feature::HeadersOfRequest`](crate::profile::Feature::HeadersOfRequest).
    OfRequest,
}

impl HeaderView {
    /// That of a client.
    pub fn of(has: impl Fn(Feature) -> bool) -> HeaderView {
        if has(Feature::HeadersAsSent) {
            HeaderView::AsSent
        } else if has(Feature::HeadersOfApplication) {
            HeaderView::OfApplication
        } else if has(Feature::HeadersOfMetadata) {
            HeaderView::OfMetadata
        } else if has(Feature::HeadersOfRequest) {
            HeaderView::OfRequest
        } else {
            HeaderView::Completed
        }
    }
}

/// What a [`HeaderMatcher`] asks.
#[derive(Debug, Clone, PartialEq)]
pub enum HeaderMatch {
    /// The value against a string matcher (the legacy exact, prefix, suffix, contains and regex
    /// forms included).
    String(StringMatcher),
    /// The value as a number in `start..end`.
    Range {
        /// First number that matches.
        start: i64,
        /// First number that does not.
        end: i64,
    },
    /// The header is there (`true`) or missing (`false`).
    Present(bool),
}
