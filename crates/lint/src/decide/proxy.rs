//! Configuration that no gRPC process would get: worlds that were made for a proxy, and resources
//! from a proxy's own bootstrap.
//!
//! A listener without an api_listener is a gRPC server's or a proxy's, and both look the same. It
//! counts as a server's unless something in its world shows a proxy. Findings on a proxy's
//! configuration say nothing about gRPC, so its resources count as not checked.

use super::{CheckOutcome, MADE_FOR_PROXY, Reason, STATIC_NOT_JUDGED};
use crate::lint;
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{Checked, Facts, ListenerFacts, ResourceId, Verdict, World};
use xdsctl_clients::shared::rules::{NEITHER_CLIENT_NOR_SERVER, NETWORK_FILTER_UNSUPPORTED};
use xdsctl_document::envelope::Label;
use xdsctl_document::proto::transcode::MISSPELT_TYPE;
use xdsctl_model::diag::{Diagnostic, Effect, Seg, Segs, Severity};
use xdsctl_model::resource::ResourceType;

/// Fields of an HttpConnectionManager that are for the edge of a network; gRPC reads none of them.
const EDGE_FIELDS: [&str; 5] = [
    "merge_slashes",
    "normalize_path",
    "path_with_escaped_slashes_action",
    "server_header_transformation",
    "use_remote_address",
];

/// Fields of a Listener that are about the sockets of a proxy; gRPC reads none of them.
const SOCKET_FIELDS: [&str; 8] = [
    "connection_balance_config",
    "freebind",
    "max_connections_to_accept_per_socket_event",
    "per_connection_buffer_limit_bytes",
    "reuse_port",
    "socket_options",
    "tcp_backlog_size",
    "transparent",
];

/// How many static resources a message names.
const NAMES_SHOWN: usize = 5;

/// Decides whether a world was made for a proxy or for gRPC, and reports it.
pub(super) fn check(world: &World, is_judged: bool, outcome: &mut CheckOutcome) {
    let Some(why) = evidence(world, &outcome.resources) else {
        if !is_judged {
            leave_static_out(world, outcome);
        }
        say_servers(world, outcome);
        return;
    };
    report(world, &why, outcome);
    outcome.proxy_worlds.push(world.id);
    if !is_judged {
        for &number in &world.members {
            leave_out(number, outcome);
        }
    }
}

/// Returns in words what shows that the world was made for a proxy. There is evidence only if the
/// world has listeners, none of them is a client's, and something shows that they are not a gRPC
/// server's.
fn evidence(world: &World, resources: &[Checked]) -> Option<String> {
    let members = || world.members.iter().filter_map(|&number| resources.get(number));
    let mut rejected = None;
    let mut routes = Vec::new();
    for (name, entry) in world.all(ResourceType::Listener) {
        let checked = resources.get(entry.id.0)?;
        // A resource with a misspelt type is no evidence, whatever type was meant.
        let is_misspelt = checked.notes.iter().any(|note| note.diagnostic.rule == &MISSPELT_TYPE);
        match entry.facts() {
            Some(Facts::Listener(ListenerFacts::Server(_, chains))) => {
                routes.extend(chains.iter().map(|chain| chain.routes.as_str()));
            }
            Some(_) => return None,
            None if names_api_listener(checked) => return None,
            // A listener with an address is for somebody. One without an address is a client's
            // listener that has lost its api_listener.
            None if checked.diagnostics.iter().any(|d| d.rule == &NEITHER_CLIENT_NOR_SERVER) => {}
            None if is_misspelt => {}
            None => rejected = Some(name),
        }
        let is_foreign = |d: &Diagnostic| d.rule == &NETWORK_FILTER_UNSUPPORTED;
        if !is_misspelt && checked.diagnostics.iter().any(is_foreign) {
            return Some(format!("listener `{name}` has a network filter that gRPC has not"));
        }
        if let Some((field, what)) = proxy_field(checked) {
            return Some(format!("listener `{name}` sets `{field}`, which is about {what}"));
        }
    }
    if !world.has(ResourceType::Listener) {
        return None;
    }
    if members().any(|checked| checked.label == Label::Static) {
        return Some("some resources come from the proxy's own bootstrap".to_owned());
    }
    let leads_on = |name: &&str| match world.get(ResourceType::RouteConfiguration, name).map(|e| e.facts()) {
        Some(Some(Facts::Routes(facts))) => {
            let mut references = facts.virtual_hosts.iter().flatten();
            facts.non_forwarding.is_empty()
                && references.any(|reference| world.get(ResourceType::Cluster, &reference.cluster).is_some())
        }
        _ => false,
    };
    if let Some(name) = routes.iter().find(|name| leads_on(name)) {
        return Some(format!(
            "the routes of `{name}` lead to clusters, where a gRPC server follows none"
        ));
    }
    let name = rejected.filter(|_| world.has(ResourceType::Cluster))?;
    Some(format!(
        "there are clusters, and a gRPC server rejects listener `{name}`"
    ))
}

/// Says whether some finding is inside the api_listener, which means that the listener has one.
fn names_api_listener(checked: &Checked) -> bool {
    let is_there = |mut steps: Segs<'_>| steps.next() == Some(Seg::Field("api_listener"));
    let mut found = checked.diagnostics.iter().any(|d| is_there(d.path.segs()));
    checked.ignored.for_each(|_, steps| found |= is_there(steps));
    found
}

/// Returns a field of the listener that only a proxy can use, and what the field is about.
fn proxy_field(checked: &Checked) -> Option<(&'static str, &'static str)> {
    let mut found = None;
    checked.ignored.for_each(|_, steps| {
        let (is_top, last) = (steps.clone().nth(1).is_none(), steps.last_field());
        let (fields, what) = match is_top {
            true => (SOCKET_FIELDS.as_slice(), "a proxy's sockets"),
            false => (EDGE_FIELDS.as_slice(), "HTTP at the edge of a network"),
        };
        let known = fields.iter().find(|field| last == Some(**field));
        found = found.or_else(|| known.map(|field| (*field, what)));
    });
    found
}

fn report(world: &World, why: &str, outcome: &mut CheckOutcome) {
    let listeners = match world.all(ResourceType::Listener).count() {
        1 => "the only listener does not have".to_owned(),
        count => format!("none of {count} listeners has"),
    };
    let message =
        format!("{listeners} an api_listener, and {why}: made for a proxy, not for a proxyless gRPC client or server");
    let mut diagnostic = Diagnostic::of_whole(&MADE_FOR_PROXY, message);
    diagnostic.help("take the dump of a gRPC client, or ask the control plane as a gRPC node; --all checks it anyway");
    add(world, diagnostic, outcome);
}

/// Adds a finding at the start of the world's first document.
fn add(world: &World, diagnostic: Diagnostic, outcome: &mut CheckOutcome) {
    if let Some(first) = world.members.first().and_then(|&number| outcome.resources.get(number)) {
        outcome.add_at_start(first.origin.source, diagnostic);
    }
}

/// Withholds every finding on a resource, which then counts as not checked.
fn leave_out(number: usize, outcome: &mut CheckOutcome) {
    let Some(checked) = outcome.resources.get_mut(number) else {
        return;
    };
    let (withheld, reason) = (&mut outcome.withheld, || Some(Reason::ForProxy));
    withheld.sift(number, &mut checked.diagnostics, |_| reason());
    withheld.take_ignored(number, checked, &Reason::ForProxy);
    withheld.sift_notes(number, &mut checked.notes, checked.origin.source, |_| reason());
    checked.verdict = Verdict::NotChecked;
    // Assigning empty lists frees their memory.
    checked.diagnostics = Vec::new();
    checked.notes = Vec::new();
    checked.answers = Vec::new();
    checked.parsed = None;
}

/// Leaves out the resources that a dump's proxy has from its own bootstrap, if there are also
/// resources that a control plane sent.
fn leave_static_out(world: &World, outcome: &mut CheckOutcome) {
    // A world with an api_listener is a gRPC client's, whatever its resources are labelled.
    let is_client = |facts: Option<&Facts>| match facts {
        Some(Facts::Listener(facts)) => !matches!(facts, ListenerFacts::Server(..)),
        _ => false,
    };
    if world
        .all(ResourceType::Listener)
        .any(|(_, entry)| is_client(entry.facts()))
    {
        return;
    }
    let label_of = |number: &usize| outcome.resources.get(*number).map(|checked| checked.label);
    if !world
        .members
        .iter()
        .any(|number| label_of(number) == Some(Label::Dynamic))
    {
        return;
    }
    let is_faulty = |number: &usize| {
        let checked = outcome.resources.get(*number);
        checked.is_some_and(|c| c.diagnostics.iter().any(|d| d.severity() >= Severity::Warning))
    };
    let numbers: Vec<usize> = world
        .members
        .iter()
        .copied()
        .filter(|number| label_of(number) == Some(Label::Static) && is_faulty(number))
        .collect();
    let names: Vec<&str> = numbers
        .iter()
        .filter_map(|&number| outcome.resources.get(number))
        .filter(|checked| checked.resource_type.is_some())
        .map(|checked| checked.name.as_str())
        .collect();
    if names.is_empty() {
        return;
    }
    let shown = names.get(..NAMES_SHOWN).unwrap_or(&names).join("`, `");
    let more = match names.len().saturating_sub(NAMES_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("`{shown}`{more}: from the proxy's own bootstrap, no gRPC client gets them");
    for number in numbers {
        leave_out(number, outcome);
    }
    add(world, Diagnostic::of_whole(&STATIC_NOT_JUDGED, message), outcome);
}

/// Adds to a rejected Listener of the target, if it has no api_listener, that the channel could not
/// use it anyway.
pub(super) fn target(world: &World, target: &Target, resources: &mut [Checked]) {
    let Some(entry) = world.get(ResourceType::Listener, &target.listener) else {
        return;
    };
    let ResourceId(number) = entry.id;
    let rejected = resources.get_mut(number).filter(|_| !entry.is_accepted());
    if let Some(checked) = rejected.filter(|checked| !names_api_listener(checked)) {
        checked.diagnostics.push(lint::target_not_api(target, world.client()));
    }
}

/// Adds to the rejection of a listener without an api_listener that it counts as a server's.
fn say_servers(world: &World, outcome: &mut CheckOutcome) {
    for (_, entry) in world.all(ResourceType::Listener) {
        let ResourceId(number) = entry.id;
        let Some(checked) = outcome.resources.get_mut(number).filter(|_| !entry.is_accepted()) else {
            continue;
        };
        if names_api_listener(checked) {
            continue;
        }
        let mut nacks = checked.diagnostics.iter_mut().filter(|d| d.effect == Effect::Nack);
        if let Some(first) = nacks.next().filter(|d| d.help.is_none()) {
            first.help("there is no api_listener and no sign of a proxy, so this counts as a gRPC server's listener");
        }
    }
}
