//! Findings that the resources of a world show together, and the order of the stages for each
//! world.

use super::loudness::is_of_text;
use super::shared::Shared;
use super::{CheckOutcome, ENDPOINTS_NOT_INCLUDED, Reason, Withheld, others, proxy, reach};
use crate::lint::{self, Usage, Who, WorldFindings};
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{
    AlikeClients, Checked, ClusterFacts, Facts, Joined, ListenerFacts, OtherClients, ResourceId, World, WorldSet,
};
use xdsctl_clients::bootstrap;
use xdsctl_document::envelope::{Label, WorldName};
use xdsctl_document::proto::transcode::{self, Note};
use xdsctl_document::source::SourceId;
use xdsctl_model::diag::{Diagnostic, Effect};
use xdsctl_model::profile::{Client, Profile};
use xdsctl_model::resource::ResourceType;
use xdsctl_policy::PolicyInput;

/// What is known about the input apart from its content.
#[derive(Debug, Clone, Copy)]
pub struct InputScope<'t> {
    /// Target of a channel whose client has nothing but the input.
    pub target: Option<&'t Target>,
    /// A server that has nothing but the input.
    pub server: Option<&'t ListeningServer>,
    /// The address of the server in question. It may be set without [`InputScope::server`]: then
    /// nothing names the server's listener.
    pub listens: Option<&'t str>,
    /// Whether the input is complete: a resource that is not in it does not exist.
    pub is_complete: bool,
    /// The bootstrap, if it has no `server_listener_resource_name_template`.
    pub without_server_template: Option<SourceId>,
    /// Whether resources that were made for a proxy are checked like those of a gRPC client or
    /// server.
    pub judges_proxies: bool,
    /// The client whose worlds these are.
    pub base: Client,
    /// Whether findings that are not shown are kept in [`CheckOutcome::withheld`].
    pub keeps_withheld: bool,
    /// The project's own rules. They need the parsed resources, so the clients must have kept them
    /// ([`Keep::Parsed`](xdsctl_channel::client::Keep)).
    pub policies: Option<PolicyInput<'t>>,
}

impl Default for InputScope<'_> {
    /// Resources as the reference client has them; there may be more of them elsewhere.
    fn default() -> Self {
        InputScope {
            target: None,
            server: None,
            listens: None,
            is_complete: false,
            without_server_template: None,
            judges_proxies: false,
            base: Client::REFERENCE,
            keeps_withheld: false,
            policies: None,
        }
    }
}

impl<'t> InputScope<'t> {
    /// Leaves out the target and the server whose listener is not in a world.
    fn narrowed_to(self, world: &World) -> InputScope<'t> {
        let has = |listener: &str| world.get(ResourceType::Listener, listener).is_some();
        InputScope {
            target: self.target.filter(|target| has(&target.listener)),
            server: self.server.filter(|server| has(&server.listener)),
            ..self
        }
    }
}

/// Adds what the resources of each world show together, and decides which findings are shown.
pub fn decide(world_set: WorldSet, scope: InputScope<'_>) -> CheckOutcome {
    let target = scope.target;
    let mut outcome = CheckOutcome {
        resources: world_set.resources,
        findings: world_set.findings,
        proxy_worlds: Vec::new(),
        worlds: Vec::new(),
        withheld: Withheld::new(scope.keeps_withheld),
    };
    let mut is_target_missing = target.is_some();
    let mut missing_server = scope.server;
    let near = scope.server.and_then(|server| {
        let mut worlds = world_set.worlds.iter();
        worlds
            .find_map(|world| lint::near_server_listener(world, server))
            .map(str::to_owned)
    });
    let mut shared = Shared::of(&world_set.worlds, &world_set.joined, &outcome.resources);
    for world in &world_set.worlds {
        shared.enter(world, &mut outcome.resources);
        let scope = scope.narrowed_to(world);
        missing_server = missing_server.filter(|_| scope.server.is_none());
        is_target_missing &= scope.target.is_none();
        let clients = world_set.others.without_worlds(scope.base);
        relate(world, scope, &clients, Some(&world_set.others), &mut outcome);
        proxy::check(world, scope.judges_proxies, &mut outcome);
        if scope.listens.is_none() {
            servers_bootstrap(world, scope.without_server_template, &mut outcome);
        }
        endpoints_left_out(world, &mut outcome);
        shared.leave(world, &mut outcome.resources);
    }
    shared.finish(&world_set.names, &mut outcome);
    is_target_missing &= !relate_others(
        &world_set.others,
        &world_set.joined,
        &world_set.names,
        scope,
        &mut outcome,
    );
    if let (true, Some(target), Some(first)) = (is_target_missing, target, outcome.resources.first()) {
        outcome.add_at_start(first.origin.source, lint::missing_target(target, scope.base));
    }
    if let (Some(server), Some(first)) = (missing_server, outcome.resources.first()) {
        outcome.add_at_start(
            first.origin.source,
            lint::missing_server_listener(server, near.as_deref()),
        );
    }
    if let (Some(address), Some(source)) = (scope.listens, scope.without_server_template) {
        outcome.add_at_start(source, bootstrap::without_server_template(&format!("at {address}")));
    }
    outcome.worlds = world_set.worlds;
    outcome
}

/// Reports a bootstrap without a name for a server's listeners if the world has only such
/// listeners: a server with this bootstrap does not start.
fn servers_bootstrap(world: &World, bootstrap: Option<SourceId>, outcome: &mut CheckOutcome) {
    let is_server = |facts: Option<&Facts>| matches!(facts, Some(Facts::Listener(ListenerFacts::Server(..))));
    let mut listeners = world.all(ResourceType::Listener);
    let Some(source) = bootstrap.filter(|_| !outcome.proxy_worlds.contains(&world.id)) else {
        return;
    };
    let first = world.all(ResourceType::Listener).next();
    if let Some((listener, _)) = first.filter(|_| listeners.all(|(_, entry)| is_server(entry.facts()))) {
        outcome.add_at_start(
            source,
            bootstrap::without_server_template(&format!("for listener `{listener}`")),
        );
    }
}

/// Runs the stages for the worlds of the clients other than the base. Says whether one of these
/// clients has the target's listener.
fn relate_others(
    others: &OtherClients,
    joined: &Joined,
    names: &[WorldName],
    scope: InputScope<'_>,
    outcome: &mut CheckOutcome,
) -> bool {
    let mut has_target = false;
    let mut groups = others.groups(&outcome.resources);
    if scope.policies.is_some_and(|input| input.policies.ask_for_client()) {
        groups = groups.into_iter().flat_map(AlikeClients::each).collect();
    }
    for group in groups {
        let Some(client) = others.profiles(&group).next().map(Profile::client) else {
            continue;
        };
        let (views, worlds) = others.swap_in(&group, &mut outcome.resources, joined);
        let mut shared = Shared::of(&worlds, joined, &outcome.resources);
        for world in &worlds {
            shared.enter(world, &mut outcome.resources);
            let scope = InputScope { base: client, ..scope }.narrowed_to(world);
            has_target |= scope.target.is_some();
            relate(world, scope, &[client], None, outcome);
            shared.leave(world, &mut outcome.resources);
        }
        shared.finish(names, outcome);
        others.swap_out(&group, views, &mut outcome.resources, |found| is_of_text(found.rule));
    }
    has_target
}

/// Adds the findings of a world to the resources of its client, and returns those of other clients.
fn tell_base(
    mut found: WorldFindings,
    client: Client,
    resources: &mut [Checked],
) -> Vec<(ResourceId, Diagnostic, Who)> {
    found.keep_for(client);
    for (ResourceId(number), diagnostic) in found.of_base {
        if let Some(checked) = resources.get_mut(number) {
            checked.diagnostics.push(diagnostic);
        }
    }
    found.of_others
}

/// Checks the resources of a world, as its client keeps them, against the project's policies.
fn hold(world: &World, policies: Option<PolicyInput<'_>>, resources: &mut [Checked]) {
    let found = policies.map(|policies| xdsctl_policy::check(world, resources, policies));
    for (number, diagnostic) in found.into_iter().flatten() {
        if let Some(checked) = resources.get_mut(number) {
            checked.diagnostics.push(diagnostic);
        }
    }
}

/// Runs the stages that the worlds of all clients have in common: decides which failures occur in a
/// world, and adds what its resources show together.
///
/// `others` are the clients that get the findings which are not about the base.
fn relate(
    world: &World,
    scope: InputScope<'_>,
    clients: &[Client],
    others: Option<&OtherClients>,
    outcome: &mut CheckOutcome,
) {
    let CheckOutcome {
        resources, withheld, ..
    } = outcome;
    let usage = Usage::of(world, scope.target);
    reach::withhold(world, &usage, resources, withheld);
    for &number in &world.members {
        if let Some(checked) = resources.get_mut(number) {
            unread_values(number, checked, withheld);
        }
    }
    let asked = lint::WorldQuestion {
        target: scope.target,
        server: scope.server,
        is_complete: scope.is_complete,
        clients,
        others_reject: &|id| others.is_some_and(|others| others::reject(others, resources, id)),
    };
    let found = lint::run(world, &usage, asked);
    let of_others = tell_base(found, scope.base, resources);
    if let Some(others) = others {
        others::tell(of_others, others, resources);
    }
    hold(world, scope.policies, resources);
    if let Some(target) = scope.target {
        proxy::target(world, target, resources);
    }
}

/// Withholds findings at a field whose value could not be read: that is a finding of its own.
fn unread_values(number: usize, checked: &mut Checked, withheld: &mut Withheld) {
    let notes = &checked.notes;
    if notes.is_empty() {
        return;
    }
    withheld.sift(number, &mut checked.diagnostics, |diagnostic| {
        let is_same =
            |note: &Note| note.diagnostic.rule == &transcode::BAD_VALUE && note.diagnostic.path == diagnostic.path;
        let is_unread = diagnostic.effect != Effect::Nack && !diagnostic.path.is_empty() && notes.iter().any(is_same);
        is_unread.then_some(Reason::Unread)
    });
}

/// Reports an admin dump that has EDS clusters but no endpoints: it was probably taken without
/// asking for them.
fn endpoints_left_out(world: &World, outcome: &mut CheckOutcome) {
    let is_admin_dump = world
        .members
        .iter()
        .filter_map(|&n| outcome.resources.get(n))
        .any(|c| c.label == Label::Dynamic);
    let has_eds = world
        .all(ResourceType::Cluster)
        .any(|(_, e)| matches!(e.facts(), Some(Facts::Cluster(ClusterFacts::Eds { .. }))));
    let Some(first) = world.members.first().and_then(|&n| outcome.resources.get(n)) else {
        return;
    };
    if is_admin_dump && has_eds && !world.has(ResourceType::Endpoints) {
        let mut diagnostic = Diagnostic::of_whole(
            &ENDPOINTS_NOT_INCLUDED,
            "EDS clusters and no endpoints: the rules for endpoints have nothing to check".to_owned(),
        );
        diagnostic.help("take the dump with /config_dump?include_eds");
        outcome.add_at_start(first.origin.source, diagnostic);
    }
}
