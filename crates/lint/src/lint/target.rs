//! What a channel finds at the target that the user names: a listener, which must be a client's,
//! and a virtual host for the channel's authority (gRFC A27).
//!
//! Without a target none of this is checked, since it is not known whether any client asks for a
//! listener.

use super::authority::{COMPARE_BYTES, is_lost_by_case, routes_of, who_finds_none};
use super::reference::{REFERENCE_NOT_ASKED_FOR, not_asked_for};
use super::{Findings, Who};
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::unmet::{Unmet, UnmetEnd};
use xdsctl_channel::client::{Facts, ListenerFacts, ResourceId, World};
use xdsctl_model::diag::{Diagnostic, FieldPath, rules};
use xdsctl_model::profile::{Client, DefectTrigger, Family};
use xdsctl_model::resource::ResourceType;
use xdsctl_model::resource::domain::best_match;

rules! {
    /// There is no listener of the name that the channel's target leads to.
    TARGET_LISTENER_MISSING = "target-listener-missing", Snapshot, Fails, "gRFC A27, A47; C-core XdsDependencyManager",
        every "every client makes the listener's name of the target in the same way";
    /// The listener that the channel's target leads to is a server's or a proxy's.
    TARGET_LISTENER_NOT_API = "target-listener-not-api", Snapshot, Fails, "gRFC A27; C-core XdsDependencyManager OnListenerUpdate",
        every "a channel of any client needs an api_listener";
    /// No virtual host has a domain for the channel's authority.
    TARGET_WITHOUT_VIRTUAL_HOST = "target-without-virtual-host", Snapshot, Fails, "gRFC A27; C-core XdsRouting::FindVirtualHostForDomain",
        every "every client compares the authority with the domains; not those where the `*` of Go and Node, which may stand for nothing, matches";
}

/// Makes the finding on a target without a listener.
pub fn missing(target: &Target, client: Client) -> Diagnostic {
    let Target { uri, listener, .. } = target;
    let end = match UnmetEnd::of(Unmet::Configuration, client) {
        UnmetEnd::Waits => UnmetEnd::Waits.of_each().to_owned(),
        end => format!("waits 15 s, then {}", end.of_each()),
    };
    let message = format!("Listener `{listener}` is not there: every RPC to {uri} {end}");
    Diagnostic::of_whole(&TARGET_LISTENER_MISSING, message)
}

/// Makes the finding on a target whose listener has no api_listener.
pub fn not_api(target: &Target, client: Client) -> Diagnostic {
    let end = UnmetEnd::of(Unmet::Configuration, client).of_each();
    let message = format!("there is no api_listener: every RPC to {} {end}", target.uri);
    Diagnostic::of_whole(&TARGET_LISTENER_NOT_API, message)
}

pub(super) fn check(world: &World, target: &Target, findings: &mut Findings) {
    let Some(entry) = world.get(ResourceType::Listener, &target.listener) else {
        return;
    };
    let Target { uri, authority, .. } = target;
    if let Err(fault) = world.ask(ResourceType::Listener, &target.listener) {
        let why = not_asked_for(ResourceType::Listener, &target.listener, &fault);
        let end = world.end_without(Unmet::Configuration).of_each();
        let message = format!("{why}: every RPC to {uri} {end}");
        findings.add(entry.id, &REFERENCE_NOT_ASKED_FOR, FieldPath::default(), message);
        return;
    }
    if let Some(Facts::Listener(ListenerFacts::Server(..))) = entry.facts() {
        let Diagnostic {
            rule, path, message, ..
        } = not_api(target, world.client());
        findings.add(entry.id, rule, path, message);
    }
    let Some((routes, path)) = routes_of(world, entry) else {
        return;
    };
    // Routes without any virtual host have a finding of their own.
    if routes.domains.is_empty() {
        return;
    }
    of_listeners_name(target, &routes.domains, (entry.id, &path), findings);
    let names = [authority.as_str(), target.listener.as_str()];
    if best_match(&routes.domains, authority).is_none() {
        let end = world.end_without(Unmet::VirtualHost).of_each();
        let message = format!("no virtual host has a domain for `{authority}`: every RPC to {uri} {end}");
        findings
            .add(entry.id, &TARGET_WITHOUT_VIRTUAL_HOST, path, message)
            .shared_with(who_finds_none(&routes.domains, &names));
    } else if is_lost_by_case(&routes.domains, &names) {
        for (families, end) in COMPARE_BYTES {
            let end = end.of_each();
            let message = format!(
                "no virtual host has a domain for `{authority}` in the same letter case: every RPC to {uri} {end}"
            );
            let diagnostic = Diagnostic {
                path: path.clone(),
                ..Diagnostic::of_whole(&TARGET_WITHOUT_VIRTUAL_HOST, message)
            };
            findings.add_for(Who::Families(families), entry.id, diagnostic);
        }
    }
}

/// Reports what happens to the channel in client versions that look up virtual hosts by the
/// Listener's name.
fn of_listeners_name(
    target: &Target,
    domains: &[Vec<String>],
    (listener, path): (ResourceId, &FieldPath),
    findings: &mut Findings,
) {
    let Target {
        uri,
        listener: name,
        authority,
    } = target;
    if name == authority || best_match(domains, name).is_some() {
        return;
    }
    for family in Family::ALL {
        let defects = family.defects().iter();
        for defect in defects.filter(|defect| defect.trigger == DefectTrigger::OtherAuthority) {
            let (project, versions) = (family.project(), defect.versions());
            let message = format!(
                "no virtual host has a domain for `{name}`, and {project} {versions} {}: every RPC to {uri} fails with UNAVAILABLE",
                defect.what
            );
            let diagnostic = Diagnostic {
                path: path.clone(),
                ..Diagnostic::of_whole(&TARGET_WITHOUT_VIRTUAL_HOST, message)
            };
            findings.add_for(Who::Having(family, defect), listener, diagnostic);
        }
    }
}
