//! Two stateful session filters in one chain (A55): the later one decides, the earlier one's cookie is worthless.
//!
//! Reported where both run and their cookies count for the same paths. An override of either may keep them apart, so
//! the routes must be there and have none.

use super::Findings;
use super::users::{UsedRoutes, Users};
use crate::client::{FilterFacts, World, filter_path};
use crate::diag::rules;
use crate::model::ResourceType;

rules! {
    /// Two stateful session filters are active in one chain, and only the later one's cookie counts.
    SESSION_TWICE = "stateful-session-twice", Snapshot, Advice, "C-core xds_http_stateful_session_filter.cc; gRFC A55";
}

pub(super) fn check(world: &World, users: &Users<'_>, findings: &mut Findings) {
    for routes in &users.routes {
        for user in routes.users.iter().filter(|user| !user.is_server) {
            let sessions: Vec<(&FilterFacts, &str)> = user
                .filters
                .iter()
                .filter(|filter| !filter.disabled && !is_overridden(routes, &filter.name))
                .filter_map(|filter| Some((filter, filter.session_path.as_deref()?)))
                .collect();
            let Some(entry) = world.get(ResourceType::Listener, user.listener) else {
                continue;
            };
            for pair in sessions.windows(2) {
                let [(earlier, path), (later, later_path)] = pair else {
                    continue;
                };
                if is_within(path, later_path) || is_within(later_path, path) {
                    let message = format!(
                        "the session of `{}` counts and that of `{}` does not: its cookie is sent without an address",
                        later.name, earlier.name
                    );
                    findings
                        .add(entry.id, &SESSION_TWICE, filter_path(later.index), message)
                        .related(filter_path(earlier.index), "the earlier session");
                }
            }
        }
    }
}

fn is_overridden(routes: &UsedRoutes<'_>, name: &str) -> bool {
    routes.facts.overrides.iter().any(|entry| &*entry.name == name)
}

/// Says whether a cookie for `outer` counts for every path for which one for `inner` does.
fn is_within(inner: &str, outer: &str) -> bool {
    let Some(rest) = inner.strip_prefix(outer) else {
        return false;
    };
    outer.is_empty() || outer.ends_with('/') || rest.is_empty() || rest.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn a_cookie_path_ends_at_a_slash() {
        for (inner, outer, expected) in [
            ("/a/b", "", true),
            ("/a/b", "/a", true),
            ("/a", "/a", true),
            ("/ab", "/a", false),
            ("/ab", "/", true),
            ("/a", "/a/b", false),
            ("", "/a", false),
        ] {
            assert_eq!(is_within(inner, outer), expected, "{inner} in {outer}");
        }
    }
}
