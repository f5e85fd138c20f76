//! Whether a listener's own name finds a virtual host (gRFC A27): the authority of `xds:///name` is
//! `name`.
//!
//! An application may set another authority, and a bootstrap may make the listener's name from a
//! template. So this is only advice, and names with a `/` are not checked.

use super::{Findings, Who};
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::unmet::{Unmet, UnmetEnd};
use xdsctl_channel::client::{Facts, ListenerFacts, RouteFacts, World, WorldEntry, inline_routes_path, rds_path};
use xdsctl_model::diag::{Diagnostic, FieldPath, rules};
use xdsctl_model::profile::Family;
use xdsctl_model::resource::ResourceType;
use xdsctl_model::resource::domain::{DomainComparison, best_match, best_match_by};

rules! {
    /// No virtual host has a domain for the listener's name, which is the authority of a channel to it.
    NO_VIRTUAL_HOST = "lds-no-virtual-host", Snapshot, Advice, "gRFC A27; C-core XdsRouting::FindVirtualHostForDomain",
        every "every client compares the authority with the domains; not those where the `*` of Go and Node, which may stand for nothing, matches";
}

/// Most comparisons of a name with a domain in one world; listeners after that are not checked.
const MAX_COMPARISONS: usize = 1 << 22;

pub(super) fn check(world: &World, target: Option<&Target>, findings: &mut Findings) {
    let mut comparisons = 0usize;
    for (name, entry) in world.all(ResourceType::Listener) {
        let Some((routes, path)) = routes_of(world, entry) else {
            continue;
        };
        comparisons = comparisons.saturating_add(routes.domains.iter().map(Vec::len).sum());
        if comparisons > MAX_COMPARISONS {
            return;
        }
        // Routes without any virtual host have a finding of their own. The channel that the user
        // names is checked by another rule.
        let is_target = target.is_some_and(|target| target.listener == name);
        if is_target || name.is_empty() || name.contains('/') || routes.domains.is_empty() {
            continue;
        }
        if best_match(&routes.domains, name).is_none() {
            let message = format!(
                "no virtual host has a domain for `{name}`: RPCs to xds:///{name} {} unless the channel has another authority",
                world.end_without(Unmet::VirtualHost).of_several()
            );
            findings
                .add(entry.id, &NO_VIRTUAL_HOST, path, message)
                .shared_with(who_finds_none(&routes.domains, &[name]));
        } else if is_lost_by_case(&routes.domains, &[name]) {
            for (families, end) in COMPARE_BYTES {
                let end = end.of_several();
                let message = format!(
                    "no virtual host has a domain for `{name}` in the same letter case: RPCs to xds:///{name} {end}, unless the \
                     channel has another authority"
                );
                let diagnostic = Diagnostic {
                    path: path.clone(),
                    ..Diagnostic::of_whole(&NO_VIRTUAL_HOST, message)
                };
                findings.add_for(Who::Families(families), entry.id, diagnostic);
            }
        }
    }
}

/// Returns the routes of the channels to a listener, and the path where the listener has or names
/// them.
pub(super) fn routes_of<'w>(world: &'w World, listener: &'w WorldEntry) -> Option<(&'w RouteFacts, FieldPath)> {
    match listener.facts()? {
        Facts::Listener(ListenerFacts::Inline(routes, _)) => Some((routes, inline_routes_path())),
        Facts::Listener(ListenerFacts::Rds(name, _)) => {
            match world.get(ResourceType::RouteConfiguration, name)?.facts()? {
                Facts::Routes(routes) => Some((routes, rds_path())),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The families that compare the bytes of an authority and a domain ([`DomainComparison::Exact`]),
/// each with what happens to RPCs that have no virtual host; measured with grpc-go 1.85.0,
/// grpc-js-xds 1.14.1.
pub(super) const COMPARE_BYTES: [(&[Family], UnmetEnd); 2] = [
    (&[Family::Go], UnmetEnd::Unavailable),
    (&[Family::Node], UnmetEnd::Waits),
];

/// Says whether these families find no virtual host for any of `names` although C-core finds one,
/// because letters differ in case.
pub(super) fn is_lost_by_case(domains: &[Vec<String>], names: &[&str]) -> bool {
    let finds = |name: &&str| best_match_by(domains, name, DomainComparison::Exact).is_some();
    !names.iter().any(finds)
}

/// Returns the families that find no virtual host for any of `names` if C-core finds none.
///
/// In Go (`FindBestMatchingVirtualHost`) and Node (`domainMatch`) a `*` may stand for nothing. Java
/// (`matchHostName`) folds more than ASCII. Before 1.70, Go may look for the listener's name.
pub(super) fn who_finds_none(domains: &[Vec<String>], names: &[&str]) -> &'static [Family] {
    let is_exact = |name: &&str| best_match_by(domains, name, DomainComparison::Exact).is_some();
    let is_ascii = names.iter().all(|name| name.is_ascii()) && domains.iter().flatten().all(|domain| domain.is_ascii());
    match (names.iter().any(is_exact), is_ascii) {
        (false, true) => &Family::ALL,
        (false, false) => &[Family::Cpp, Family::Go, Family::Node],
        (true, true) => &[Family::Cpp, Family::Java],
        (true, false) => &[Family::Cpp],
    }
}
