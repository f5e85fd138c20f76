//! Filter overrides that no listener uses: no filter has that name, or the filter has another type
//! (gRFC A39).
//!
//! The client accepts such an entry and never looks at it. An entry that only switches a filter off
//! is not reported. Nothing is reported if some listener is rejected.

use super::Findings;
use super::users::{UsedRoutes, User, Users};
use xdsctl_channel::client::{FilterFacts, OverrideFacts};
use xdsctl_model::diag::rules;

rules! {
    /// An override in typed_per_filter_config names no filter of a listener that uses the routes.
    OVERRIDE_UNUSED = "filter-override-unused", Snapshot, Advice, "gRFC A39; C-core xds_routing.cc";
    /// An override in typed_per_filter_config is of another type than the filter that it names.
    OVERRIDE_OF_OTHER_FILTER = "filter-override-of-other-filter", Snapshot, Advice, "gRFC A39; C-core xds_routing.cc GetOverrideConfig";
}

pub(super) fn check(users: &Users<'_>, findings: &mut Findings) {
    for routes in &users.routes {
        if users.has_rejected && !routes.inline {
            continue;
        }
        for entry in routes.facts.overrides.iter().filter(|entry| !entry.switches_off) {
            report(routes, entry, findings);
        }
    }
}

fn report(routes: &UsedRoutes<'_>, entry: &OverrideFacts, findings: &mut Findings) {
    let filters = || routes.users.iter().flat_map(|user| user.filters);
    let mut named = filters().filter(|filter| filter.name == entry.name).peekable();
    let more = match entry.count {
        0 | 1 => String::new(),
        2 => ", as at 1 other place".to_owned(),
        count => format!(", as at {} other places", count - 1),
    };
    let path = || entry.path(routes.inline);
    if named.peek().is_none() {
        let listeners = listeners(&routes.users);
        let message = format!("no effect{more}: no filter `{}` runs in {listeners}", entry.name);
        let finding = findings.add(routes.holder, &OVERRIDE_UNUSED, path(), message);
        if let Some(nearest) = xdsctl_model::text::nearest(&entry.name, filters().map(|f| &*f.name)) {
            finding.help(format!("did you mean `{nearest}`?"));
        }
        return;
    }
    // A filter that is switched off runs if it has an override of any type.
    let Some(kind) = entry.kind else { return };
    let takes = |filter: &FilterFacts| filter.disabled || filter.kind == kind;
    let Some(first) = named.peek().map(|filter| filter.kind) else {
        return;
    };
    if !named.any(takes) {
        let message = format!(
            "no effect{more}: `{}` is a {first} filter, the override is of {kind}",
            entry.name
        );
        findings.add(routes.holder, &OVERRIDE_OF_OTHER_FILTER, path(), message);
    }
}

fn listeners(users: &[User<'_>]) -> String {
    match users {
        [] => "any listener".to_owned(),
        [user] => format!("listener `{}`", user.listener),
        [user, rest @ ..] => format!("listener `{}` and {} more", user.listener, rest.len()),
    }
}
