//! The answer of `diff` for programs, `xdsctl.diff/v1`. Fields are added, never changed.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{Compared, Presence, Report, RpcChange, access, host_name};
use crate::admit::cells;
use crate::findings::not_checked::NotChecked;
use xdsctl_document::secret;
use xdsctl_lint::diff::access::ServerAccess;
use xdsctl_lint::diff::care::Care;
use xdsctl_lint::diff::clusters::ClusterChange;
use xdsctl_lint::diff::compared_value::ComparedValue;
use xdsctl_lint::diff::hosts::HostChange;
use xdsctl_lint::diff::reach::ReachChange;
use xdsctl_lint::diff::tables::{Goes, Move, TableOutcome};
use xdsctl_lint::diff::values::{ChangeKind, FieldChange};
use xdsctl_lint::diff::{Example, ResourceChange, RouteChange, State};
use xdsctl_model::profile;
use xdsctl_model::resource::RouteConfiguration;
use xdsctl_model::resource::listener::chain_place;
use xdsctl_server::who::ChainAccess;

/// Name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.diff/v1";

#[derive(Serialize)]
struct DiffJson<'a> {
    schema: &'static str,
    /// The clients that were asked, in words.
    client: String,
    /// The only channel that was compared, if one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    /// The worlds. If the answers of clients differ, a world occurs once for each answer.
    worlds: Vec<WorldJson<'a>>,
    /// The clients whose RPCs go elsewhere, or have another deadline or other retries.
    rpcs: Rpcs,
    /// What was not compared, and for whom; empty if everything was.
    not_checked: &'a [NotChecked],
}

#[derive(Serialize)]
struct WorldJson<'a> {
    /// Name of the world; empty if there is only one.
    world: &'a str,
    /// The clients for which the other members hold.
    clients: Vec<String>,
    presence: Presence,
    resources: Vec<ResourceJson<'a>>,
    routes: Vec<Routes<'a>>,
    clusters: &'a [ClusterChange],
    /// Listeners whose channels have routes on one side only.
    targets: &'a [ReachChange],
    /// Clusters that the client has on one side only while its routes lead to them on the other.
    reach: &'a [ReachChange],
    /// Servers whose access changes.
    access: Vec<ServerJson<'a>>,
    /// Whether a limit kept something from being compared.
    is_cut: bool,
    /// Why it is not known where RPCs go; null if it is known. If it is not, `routes`, `clusters`,
    /// `targets` and `reach` are empty.
    rpcs_not_known: Option<&'a str>,
}

#[derive(Serialize)]
struct ServerJson<'a> {
    /// Name of the Listener.
    listener: &'a str,
    /// Classes of methods that everyone may call now, and could not before.
    opened: Vec<String>,
    /// Whether a limit was reached: some of the access may have existed before, or not all of it is
    /// known.
    is_cut: bool,
    changes: Vec<AccessJson>,
}

/// The change of access for the methods of a class.
#[derive(Serialize)]
struct AccessJson {
    filter_chain: (Option<String>, Option<String>),
    handshake: (Option<&'static str>, Option<&'static str>),
    connections: Vec<String>,
    domains: Vec<String>,
    methods: String,
    gains: Vec<String>,
    loses: Vec<String>,
    keeps: Vec<String>,
}

#[derive(Serialize)]
struct ResourceJson<'a> {
    r#type: &'static str,
    name: &'a str,
    /// The state: `absent`, `accepted`, `rejected`, `kept` (a newer version is rejected) or
    /// `not_known`, and why.
    before: Value,
    after: Value,
    fields: Vec<Field<'a>>,
}

#[derive(Serialize)]
struct Field<'a> {
    path: &'a str,
    /// `added`, `removed`, `changed` or `moved`.
    kind: &'static str,
    before: Option<ValueJson<'a>>,
    after: Option<ValueJson<'a>>,
}

/// A value that is parsed only when it is written.
struct ValueJson<'a>(&'a ComparedValue);

impl Serialize for ValueJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_value().serialize(serializer)
    }
}

#[derive(Serialize)]
struct Routes<'a> {
    listeners: &'a [String],
    before: Option<&'a str>,
    after: Option<&'a str>,
    virtual_hosts: Vec<Host<'a>>,
    fails: &'a [String],
}

#[derive(Serialize)]
struct Host<'a> {
    domains: &'a [String],
    before: Option<&'a str>,
    after: Option<&'a str>,
    moves: Vec<Moved<'a>>,
}

#[derive(Serialize)]
struct Moved<'a> {
    example: Option<Rpc<'a>>,
    /// If only deadlines or retries change: indices of other routes after the change whose RPCs
    /// have the same change.
    other_routes: Vec<usize>,
    before: Way,
    after: Way,
}

#[derive(Serialize)]
struct Rpc<'a> {
    method: &'a str,
    headers: Vec<(&'a str, String)>,
}

#[derive(Serialize)]
struct Way {
    /// Index of the route in its resource.
    route: Option<usize>,
    /// The cluster or the plugin, and its share.
    goes: Vec<Value>,
    /// The deadline, such as `5s`, and the retries in words of the RPCs that do not fail; null if
    /// there are none.
    care: Vec<Value>,
}

/// Writes what changes.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let world = |clients: &[profile::Client], compared| WorldJson {
        clients: clients.iter().map(ToString::to_string).collect(),
        ..world(compared)
    };
    let answers = report.answers.iter();
    let worlds = answers.flat_map(|answer| answer.worlds.iter().map(|compared| world(&answer.clients, compared)));
    let document = DiffJson {
        schema: SCHEMA,
        client: report.asked(),
        target: report.target.as_deref(),
        worlds: worlds.collect(),
        rpcs: rpcs(report),
        not_checked: &report.not_checked,
    };
    crate::write_json(&document, out)
}

#[derive(Serialize)]
struct Rpcs {
    elsewhere: Vec<String>,
    unchanged: Vec<String>,
    not_known: Vec<String>,
}

fn rpcs(report: &Report) -> Rpcs {
    let names = |what: RpcChange| report.of_rpcs(what).iter().map(ToString::to_string).collect();
    Rpcs {
        elsewhere: names(RpcChange::Elsewhere),
        unchanged: names(RpcChange::Unchanged),
        not_known: names(RpcChange::NotKnown),
    }
}

/// Returns the worlds of a client as JSON, so that equal answers of two clients are written once.
pub fn text(compared: &[Compared]) -> String {
    let worlds: Vec<WorldJson<'_>> = compared.iter().map(world).collect();
    serde_json::to_string(&worlds).unwrap_or_default()
}

fn world(compared: &Compared) -> WorldJson<'_> {
    WorldJson {
        world: &compared.world,
        clients: Vec::new(),
        presence: compared.presence,
        resources: compared.diff.resources.iter().map(resource).collect(),
        routes: compared.diff.routes.iter().map(routes).collect(),
        clusters: &compared.diff.clusters,
        targets: &compared.diff.targets,
        reach: &compared.diff.reach,
        access: compared.diff.access.iter().map(server).collect(),
        is_cut: compared.diff.is_cut(),
        rpcs_not_known: compared.rpcs_unknown.as_deref(),
    }
}

fn server(server: &ServerAccess) -> ServerJson<'_> {
    let changes = server.changes.as_ref();
    let opened = changes.iter().flat_map(|changes| changes.opened());
    ServerJson {
        listener: &server.listener,
        opened: opened.map(|class| cells::class(class, false)).collect(),
        is_cut: server.is_cut() || changes.is_some_and(|changes| changes.is_limit_reached),
        changes: changes
            .iter()
            .flat_map(|changes| &changes.chains)
            .flat_map(of_chain)
            .collect(),
    }
}

fn of_chain(chain: &ChainAccess) -> impl Iterator<Item = AccessJson> {
    let (was, is) = chain.chains;
    chain.hosts.iter().flat_map(move |host| {
        host.methods.iter().map(move |method| AccessJson {
            filter_chain: (
                was.map(|side| chain_place(side.index)),
                is.map(|side| chain_place(side.index)),
            ),
            handshake: (
                was.map(|side| cells::asked(side.asks)),
                is.map(|side| cells::asked(side.asks)),
            ),
            connections: cells::connections(&chain.connections),
            domains: host.domains.clone(),
            methods: cells::class(&method.class, false),
            gains: method.gains.iter().map(|access| access::words(access, false)).collect(),
            loses: method.loses.iter().map(|access| access::words(access, true)).collect(),
            keeps: method.keeps.iter().map(|access| access::words(access, false)).collect(),
        })
    })
}

fn resource(change: &ResourceChange) -> ResourceJson<'_> {
    ResourceJson {
        r#type: change.resource_type.short_name(),
        name: &change.name,
        before: version(&change.before),
        after: version(&change.after),
        fields: change.fields.iter().map(field).collect(),
    }
}

fn version(state: &State) -> Value {
    let (state, why) = match state {
        State::Absent => ("absent", None),
        State::Accepted => ("accepted", None),
        State::Rejected(why) => ("rejected", Some(why.as_str())),
        State::Kept(why) => ("kept", Some(why.as_str())),
        State::NotKnown => ("not_known", None),
    };
    json!({ "state": state, "why": why })
}

fn field(change: &FieldChange) -> Field<'_> {
    let (kind, before, after) = match &change.kind {
        ChangeKind::Added(new) => ("added", None, Some(new)),
        ChangeKind::Removed(old) => ("removed", Some(old), None),
        ChangeKind::Changed(old, new) => ("changed", Some(old), Some(new)),
        ChangeKind::Moved => ("moved", None, None),
    };
    Field {
        path: &change.path,
        kind,
        before: before.map(ValueJson),
        after: after.map(ValueJson),
    }
}

fn routes(change: &RouteChange) -> Routes<'_> {
    Routes {
        listeners: &change.listeners,
        before: change.before.as_deref(),
        after: change.after.as_deref(),
        virtual_hosts: change
            .changes
            .hosts
            .iter()
            .map(|changed| Host {
                domains: &changed.domains,
                before: host_name(&change.tables.0, changed.before),
                after: host_name(&change.tables.1, changed.after),
                moves: changed
                    .moves
                    .moves
                    .iter()
                    .map(|moved| self::moved(moved, changed, change))
                    .collect(),
            })
            .collect(),
        fails: &change.fails,
    }
}

fn moved<'a>(moved: &'a Move, host: &HostChange, change: &'a RouteChange) -> Moved<'a> {
    let index = |routes: &RouteConfiguration, at: Option<usize>, outcome: &TableOutcome| {
        let host = routes.virtual_hosts.get(at?)?;
        Some(host.routes.get(outcome.route?)?.index)
    };
    let rpc = |example: &'a Example| Rpc {
        method: &example.path,
        headers: example
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), secret::shown(name, value)))
            .collect(),
    };
    let way = |outcome: &'a TableOutcome, route| Way {
        route,
        goes: outcome.goes.iter().map(share).collect(),
        care: outcome.care.iter().map(care).collect(),
    };
    let others = host.after.and_then(|at| change.tables.1.virtual_hosts.get(at));
    let others = moved
        .others
        .iter()
        .filter_map(|at| Some(others?.routes.get(*at)?.index));
    Moved {
        example: moved.example.as_ref().map(rpc),
        other_routes: others.collect(),
        before: way(&moved.before, index(&change.tables.0, host.before, &moved.before)),
        after: way(&moved.after, index(&change.tables.1, host.after, &moved.after)),
    }
}

fn care((care, share): &(Care, f64)) -> Value {
    let deadline = care.deadline.map(|deadline| deadline.to_string());
    let retries = care.retries.map(|retries| retries.to_string());
    json!({ "deadline": deadline, "retries": retries, "share": share })
}

fn share((goes, share): &(Goes, f64)) -> Value {
    let (cluster, plugin) = match goes {
        Goes::Cluster(name) => (Some(name), None),
        Goes::Plugin(name) => (None, Some(name)),
        Goes::Fails => (None, None),
    };
    json!({ "cluster": cluster, "plugin": plugin, "share": share })
}
