//! The matchers of routes and filters, as the client keeps them.

use crate::profile::Feature;
use xdsctl_re2::Regex;

/// The message `envoy.type.matcher.v3.StringMatcher`.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct StringMatcher {
    /// What the text is compared with.
    pub kind: StringMatch,
    /// Whether ASCII case is ignored; never set with a regex.
    pub ignore_case: bool,
}

/// How a [`StringMatcher`] compares.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum StringMatch {
    /// The text is equal to this.
    Exact(String),
    /// The text begins with this.
    Prefix(String),
    /// The text ends with this.
    Suffix(String),
    /// The text contains this.
    Contains(String),
    /// The whole text matches an RE2 pattern.
    Regex(Regex),
}

/// The message `envoy.config.route.v3.HeaderMatcher`.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct HeaderMatcher {
    /// The header's name as the client compares it; a name with upper case never matches.
    pub name: String,
    /// The condition on the value.
    pub kind: HeaderMatch,
    /// Inverts the result, except that of a missing header.
    pub invert_match: bool,
    /// Which headers the matcher sees.
    pub view: HeaderView,
}

/// Which headers of an RPC matchers and hash policies see. No client shows them the bytes of a
/// binary header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum HeaderView {
    /// The headers of the application, and also the path, the deadline and a content-type. Numbers
    /// may have white space around them.
    #[default]
    Completed,
    /// The headers of the application as it sent them; see
    /// [`Feature::HeadersAsSent`](crate::profile::Feature::HeadersAsSent).
    AsSent,
    /// The headers of the application and a content-type; see
    /// [`Feature::HeadersOfApplication`](crate::profile::Feature::HeadersOfApplication).
    OfApplication,
    /// The metadata of the application and a content-type; see
    /// [`Feature::HeadersOfMetadata`](crate::profile::Feature::HeadersOfMetadata).
    OfMetadata,
    /// One value for each header of the HTTP request; see
    /// [`Feature::HeadersOfRequest`](crate::profile::Feature::HeadersOfRequest).
    OfRequest,
}

impl HeaderView {
    /// Returns the view of a client with these features.
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

/// The condition of a [`HeaderMatcher`].
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum HeaderMatch {
    /// The value matches a string matcher (also in the legacy forms exact, prefix, suffix, contains
    /// and regex).
    String(StringMatcher),
    /// The value is a number in `start..end`.
    Range {
        /// The first number that matches.
        start: i64,
        /// The first number that no longer matches.
        end: i64,
    },
    /// The header is there (`true`) or missing (`false`).
    Present(bool),
}
