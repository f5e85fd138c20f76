//! What the resources of a world show together.

use super::{ENDPOINTS_NOT_INCLUDED, MADE_FOR_PROXY, Outcome, unharmed};
use crate::client::target::Target;
use crate::client::{Checked, ClusterFacts, Facts, ListenerFacts, ResourceId, Settled, World};
use crate::diag::{Diagnostic, Seg, Segs};
use crate::envelope::{Finding, Label};
use crate::lint::{self, Usage};
use crate::model::ResourceType;
use crate::source::Span;

/// What is known of the input besides what it says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope<'t> {
    /// Target of a channel that gets nothing but the input.
    pub target: Option<&'t Target>,
    /// The input is all there is: what is not in it is not there.
    pub is_complete: bool,
}

/// Adds what the resources of each world show together, and what becomes of a channel.
pub fn check(settled: Settled, scope: Scope<'_>) -> Outcome {
    let target = scope.target;
    let mut outcome = Outcome {
        resources: settled.resources,
        findings: settled.findings,
        proxy_worlds: Vec::new(),
    };
    let mut is_target_missing = target.is_some();
    for world in &settled.worlds {
        let scope = Scope {
            target: target.filter(|target| world.get(ResourceType::Listener, &target.listener).is_some()),
            ..scope
        };
        is_target_missing &= scope.target.is_none();
        relate(world, scope, &mut outcome.resources);
        if made_for_proxy(world, &outcome.resources) {
            report_proxy(world, &mut outcome);
            outcome.proxy_worlds.push(world.id);
        }
        endpoints_left_out(world, &mut outcome);
    }
    if let (true, Some(target), Some(first)) = (is_target_missing, target, outcome.resources.first()) {
        outcome.findings.push(Finding {
            source: first.origin.source,
            span: Span::new(0, 0),
            diagnostic: lint::missing_target(target),
        });
    }
    outcome
}

/// Runs the lints and takes back failures that this world shows to be none.
fn relate(world: &World, scope: Scope<'_>, resources: &mut [Checked]) {
    let usage = Usage::of(world, scope.target);
    unharmed::take_back(world, &usage, resources);
    for (ResourceId(number), diagnostic) in lint::run(world, &usage, scope.target, scope.is_complete) {
        if let Some(checked) = resources.get_mut(number) {
            checked.diagnostics.push(diagnostic);
        }
    }
}

/// Says whether there are listeners, none is a client's, and they are not a gRPC server's either: it rejects one, or
/// resources come from the proxy's own bootstrap, which is where no gRPC process has any.
fn made_for_proxy(world: &World, resources: &[Checked]) -> bool {
    let mut listeners = world.all(ResourceType::Listener).peekable();
    if listeners.peek().is_none() || world.len() < 2 {
        return false;
    }
    let mut members = world.members.iter().filter_map(|&number| resources.get(number));
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

fn report_proxy(world: &World, outcome: &mut Outcome) {
    let count = world.all(ResourceType::Listener).count();
    let message = format!(
        "{} an api_listener: made for a proxy, not for a proxyless gRPC client",
        match count {
            1 => "the only listener does not have".to_owned(),
            count => format!("none of {count} listeners has"),
        }
    );
    let Some(first) = world.members.first().and_then(|&n| outcome.resources.get(n)) else {
        return;
    };
    let mut diagnostic = Diagnostic::of_whole(&MADE_FOR_PROXY, message);
    diagnostic.help("take the dump of a gRPC client, or ask the control plane as a gRPC node");
    outcome.findings.push(Finding {
        source: first.origin.source,
        span: Span::new(0, 0),
        diagnostic,
    });
}

/// An admin dump without endpoints was probably taken without asking for them.
fn endpoints_left_out(world: &World, outcome: &mut Outcome) {
    let is_admin_dump = world
        .members
        .iter()
        .filter_map(|&n| outcome.resources.get(n))
        .any(|c| c.label == Label::Dynamic);
    let has_eds = world
        .all(ResourceType::Cluster)
        .any(|(_, e)| matches!(e.facts, Some(Facts::Cluster(ClusterFacts::Eds { .. }))));
    let Some(first) = world.members.first().and_then(|&n| outcome.resources.get(n)) else {
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
            span: Span::new(0, 0),
            diagnostic,
        });
    }
}
