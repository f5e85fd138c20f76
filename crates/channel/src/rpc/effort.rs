//! How much work it is to match the regexes of a channel's routes.

use crate::client::config::XdsConfig;
use xdsctl_model::resource::matcher::{HeaderMatch, StringMatch};
use xdsctl_model::resource::route::{PathMatcher, Route};
use xdsctl_re2::Regex;

/// The most instructions, as RE2 counts them, that the regexes for an RPC may have, with the ranges
/// of their classes.
///
/// RE2 bounds one pattern to a third of a million. A hundred thousand ordinary patterns take a few
/// millions.
pub const MAX_INSTRUCTIONS: u64 = 20_000_000;

/// The error of routes with more regexes than are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the regexes of the routes that may take the RPC need more than {MAX_INSTRUCTIONS} instructions, the limit for one channel"
)]
pub struct TooManyInstructions;

/// Checks that the regexes of the channel's routes can be matched against a path, or against any
/// path if `None`.
///
/// # Errors
/// They need more than [`MAX_INSTRUCTIONS`].
pub fn check_effort(config: &XdsConfig, path: Option<&str>) -> Result<(), TooManyInstructions> {
    let mut sum = 0;
    for effort in config.routes().iter().flat_map(|route| efforts(route, path)) {
        sum += effort;
        if sum > MAX_INSTRUCTIONS {
            return Err(TooManyInstructions);
        }
    }
    Ok(())
}

/// The number of instructions of each regex of a route.
fn efforts<'r>(route: &'r Route, path: Option<&'r str>) -> impl Iterator<Item = u64> + 'r {
    let of_path = match &route.path {
        PathMatcher::Regex(regex) => regex.effort(path),
        PathMatcher::Text(_) => 0,
    };
    let headers = route.headers.iter().filter_map(|header| match &header.kind {
        HeaderMatch::String(matcher) => match &matcher.kind {
            StringMatch::Regex(regex) => Some(Regex::effort(regex, None)),
            _ => None,
        },
        HeaderMatch::Range { .. } | HeaderMatch::Present(_) => None,
    });
    std::iter::once(of_path).chain(headers)
}
