//! What the resources of a world show together.

use std::collections::BTreeMap;

use super::{Checked, DUPLICATE_RESOURCE, ENDPOINTS_NOT_INCLUDED, MADE_FOR_PROXY, Outcome, Verdict, live, unharmed};
use crate::convert::resource_name::Names;
use crate::diag::{Diagnostic, Seg, Segs};
use crate::envelope::{Finding, Label, Stage, WorldId};
use crate::lint::{self, Usage};
use crate::model::ResourceType;
use crate::snapshot::{ClusterFacts, Entry, Facts, ListenerFacts, ResourceId, World};

/// Puts the resources of each world together.
///
/// With `merge` all inputs are one world. A resource in use wins over one that is warming, draining or was rejected; among
/// equals the last one wins, as in the protocol. `names` says which names are equal.
pub fn assemble(mut resources: Vec<Checked>, findings: Vec<Finding>, merge: bool, names: Names) -> Outcome {
    for checked in &mut resources {
        live::check(checked);
    }
    let mut members: BTreeMap<WorldId, Vec<usize>> = BTreeMap::new();
    for (number, checked) in resources.iter().enumerate() {
        let world = if merge { WorldId(0) } else { checked.world };
        members.entry(world).or_default().push(number);
    }
    let mut outcome = Outcome {
        resources,
        findings,
        proxy_worlds: Vec::new(),
    };
    for (id, numbers) in members {
        let world = world_of(&mut outcome.resources, &numbers, names);
        relate(&world, &mut outcome.resources);
        if made_for_proxy(&world, &numbers, &outcome.resources) {
            report_proxy(&world, &numbers, &mut outcome);
            outcome.proxy_worlds.push(id);
        }
        endpoints_left_out(&world, &numbers, &mut outcome);
    }
    outcome
}

/// The resources that the client would hold; marks the ones that are hidden.
fn world_of(resources: &mut [Checked], numbers: &[usize], names: Names) -> World {
    let rank = |checked: &Checked| {
        let in_use = checked.stage == Stage::Active;
        (in_use, in_use && checked.label != Label::Static)
    };
    let mut world = World::new(names);
    for &number in numbers {
        let Some(checked) = resources.get_mut(number) else {
            continue;
        };
        let Some(resource_type) = checked.resource_type else {
            continue;
        };
        if checked.verdict == Verdict::NotChecked || checked.stage == Stage::Failed || checked.is_removed {
            continue;
        }
        let entry = Entry {
            id: ResourceId(number),
            facts: checked.facts.take(),
        };
        let rank_of_new = rank(checked);
        // Nothing can refer to a resource without a name; what it refers to counts, and one does not replace another.
        let name = match checked.name.as_str() {
            "" => format!("<unnamed #{}>", number + 1),
            name => name.to_owned(),
        };
        let Some((ResourceId(before), is_good)) = world.get(resource_type, &name).map(|e| (e.id, e.facts.is_some()))
        else {
            world.insert(resource_type, &name, entry);
            continue;
        };
        let Some(rank_of_earlier) = resources.get(before).map(rank) else {
            continue;
        };
        // A rejected version does not take the place of a good one (A46: the last good version stays in use).
        if rank_of_earlier == rank_of_new && entry.facts.is_none() && is_good {
            keep_earlier(resources, number, before);
            continue;
        }
        let (hidden, winner) = if rank_of_earlier > rank_of_new {
            (number, before)
        } else {
            world.insert(resource_type, &name, entry);
            (before, number)
        };
        hide(resources, hidden, winner);
    }
    world
}

/// Notes on a rejected resource that an earlier one of its name stays in use.
fn keep_earlier(resources: &mut [Checked], number: usize, earlier: usize) {
    let other = other_spelling(resources, number, earlier);
    if let Some(checked) = resources.get_mut(number) {
        let message = format!(
            "`{}` comes earlier too{other}; this one is rejected, and that one stays in use",
            checked.name
        );
        checked
            .diagnostics
            .push(Diagnostic::of_whole(&DUPLICATE_RESOURCE, message));
    }
}

/// How another resource of the same name spells it, if it does so in another way.
fn other_spelling(resources: &[Checked], number: usize, other: usize) -> String {
    match (resources.get(number), resources.get(other)) {
        (Some(one), Some(other)) if one.name != other.name => format!(", as `{}`", other.name),
        _ => String::new(),
    }
}

/// Marks a resource as hidden by another one.
fn hide(resources: &mut [Checked], hidden: usize, winner: usize) {
    let (Some(a), Some(b)) = (resources.get(hidden), resources.get(winner)) else {
        return;
    };
    if a.stage != b.stage || a.label != b.label {
        return;
    }
    let is_update = a.origin.source == b.origin.source && a.sent_in.is_some() && a.sent_in < b.sent_in;
    let other = other_spelling(resources, hidden, winner);
    let Some(checked) = resources.get_mut(hidden) else {
        return;
    };
    checked.verdict = Verdict::Ignored;
    let name = &checked.name;
    let diagnostic = if is_update {
        Diagnostic::of_whole(&live::LIVE_UPDATED, "a later response has a newer version".to_owned())
    } else {
        let message = format!("`{name}` comes again later{other}, the last one wins");
        Diagnostic::of_whole(&DUPLICATE_RESOURCE, message)
    };
    checked.diagnostics.push(diagnostic);
}

/// Runs the lints and takes back failures that this world shows to be none.
fn relate(world: &World, resources: &mut [Checked]) {
    let usage = Usage::of(world);
    unharmed::take_back(world, &usage, resources);
    for (ResourceId(number), diagnostic) in lint::run(world, &usage) {
        if let Some(checked) = resources.get_mut(number) {
            checked.diagnostics.push(diagnostic);
        }
    }
}

/// Says whether there are listeners, none is a client's, and they are not a gRPC server's either: it rejects one, or
/// resources come from the proxy's own bootstrap, which is where no gRPC process has any.
fn made_for_proxy(world: &World, numbers: &[usize], resources: &[Checked]) -> bool {
    let mut listeners = world.all(ResourceType::Listener).peekable();
    if listeners.peek().is_none() || world.len() < 2 {
        return false;
    }
    let mut members = numbers.iter().filter_map(|&number| resources.get(number));
    let mut is_proxys = members.any(|checked| checked.label == Label::Static);
    for (_, entry) in listeners {
        match &entry.facts {
            Some(Facts::Listener(ListenerFacts::Server(_))) => {}
            Some(_) => return false,
            None => {
                if resources.get(entry.id.0).is_some_and(names_api_listener) {
                    return false;
                }
                is_proxys = true;
            }
        }
    }
    is_proxys
}

/// Says whether some finding is in the api_listener, which is there then.
fn names_api_listener(checked: &Checked) -> bool {
    let is_there = |mut steps: Segs<'_>| steps.next() == Some(Seg::Field("api_listener"));
    let mut found = checked.diagnostics.iter().any(|d| is_there(d.path.segs()));
    checked.ignored.for_each(|_, steps| found |= is_there(steps));
    found
}

fn report_proxy(world: &World, numbers: &[usize], outcome: &mut Outcome) {
    let count = world.all(ResourceType::Listener).count();
    let message = format!(
        "{} an api_listener: made for a proxy, not for a proxyless gRPC client",
        match count {
            1 => "the only listener does not have".to_owned(),
            count => format!("none of {count} listeners has"),
        }
    );
    let Some(first) = numbers.first().and_then(|&n| outcome.resources.get(n)) else {
        return;
    };
    let mut diagnostic = Diagnostic::of_whole(&MADE_FOR_PROXY, message);
    diagnostic.help("take the dump of a gRPC client, or ask the control plane as a gRPC node");
    outcome.findings.push(Finding {
        source: first.origin.source,
        span: crate::source::Span::new(0, 0),
        diagnostic,
    });
}

/// An admin dump without endpoints was probably taken without asking for them.
fn endpoints_left_out(world: &World, numbers: &[usize], outcome: &mut Outcome) {
    let is_admin_dump = numbers
        .iter()
        .filter_map(|&n| outcome.resources.get(n))
        .any(|c| c.label == Label::Dynamic);
    let has_eds = world
        .all(ResourceType::Cluster)
        .any(|(_, e)| matches!(e.facts, Some(Facts::Cluster(ClusterFacts::Eds { .. }))));
    let Some(first) = numbers.first().and_then(|&n| outcome.resources.get(n)) else {
        return;
    };
    if is_admin_dump && has_eds && !world.has(ResourceType::Endpoints) {
        let mut diagnostic = Diagnostic::of_whole(
            &ENDPOINTS_NOT_INCLUDED,
            "EDS clusters and no endpoints: the rules for endpoints have nothing to check".to_owned(),
        );
        diagnostic.help("take the dump with /config_dump?include_eds");
        outcome.findings.push(Finding {
            source: first.origin.source,
            span: crate::source::Span::new(0, 0),
            diagnostic,
        });
    }
}
