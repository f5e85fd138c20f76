//! What a client holds, decided once: from documents to verdicts, findings and the resources in use, for each world.
//!
//! ```text
//! documents ─ Reading ─ finish ─ WorldSet ┬─ lint, check     facts and findings of all worlds
//!              resource   world           └─ hold ─ Resources ─ Client ─ resolve ─ XdsConfig
//!              by resource by world          values, read again from their places when they are asked for
//! ```
//!
//! [`Reading`] validates each resource of the documents. [`Reading::finish`] applies the rules
//! about several resources: responses, removals, versions of the same name. [`WorldSet::hold`]
//! returns what the client of each world holds. A [`Client`] adds its node, its profile and the
//! answers of DNS, and [`Client::resolve`] follows a channel from its target to its endpoints
//! ([`config`], A74). What the control plane sends later ([`Client::update`]) goes the same way.
//!
//! Commands, the simulator and the library go through here; `tests/tidy.rs` checks that no other
//! code validates resources or fills a cache. Knows nothing of commands and reports, and gives no
//! advice: that is `lint`'s.

mod again;
mod change;
mod checked;
pub mod config;
pub mod dns;
mod entries;
mod facts;
mod fields;
pub mod graph;
mod handed_on;
mod held;
pub(crate) mod java;
mod joined;
mod levels;
pub mod links;
pub mod live;
pub mod logged;
mod nested;
mod others;
pub(crate) mod policy;
mod reading;
mod receive;
mod removed;
pub mod resolve;
mod responses;
mod same;
pub mod server;
pub mod target;
pub mod unmet;
pub(crate) mod whole;
mod world;
mod worlds;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

pub use again::ReadDocument;
pub use checked::{Checked, Keep, ValidationInput, Verdict};
pub use facts::{
    ChainFacts, ClusterFacts, EndpointsFacts, Facts, FilterFacts, ListenerFacts, NamedDestination, OverrideFacts,
    RouteFacts, RouteReference,
};
pub use fields::{child_path, eds_path, filter_path, inline_routes_path, non_forwarding_path, rds_path};
pub use held::{Cache, Edits, HeldResource, Rejected, ResourceKind, Resources, Store};
pub use joined::{Conflict, DocumentPlace, Joined, Parts};
pub use live::{LIVE_REJECTED, OWN_WORDS};
pub use others::{AlikeClients, BaseViews, OtherClients};
pub use policy::{PolicyFacts, PolicyKind};
pub use reading::Reading;
pub use receive::{Judged, Received, RejectionFault, faults};
pub use world::{ResourceId, World, WorldEntry};
pub use worlds::{Stray, WorldSet};

use config::{ChannelFailure, XdsConfig};
use dns::DnsAnswers;
use resolve::Wanted;
use target::Target;
use xdsctl_clients::core::convert::resource_name::{NameComparison, NameFault};
pub use xdsctl_clients::core::endpoints::change::EndpointChange;
use xdsctl_document::envelope::{self, Finding};
use xdsctl_document::source::SourceMap;
use xdsctl_model::diag::{Diagnostic, Effect, FieldPath, Rule, rules};
use xdsctl_model::profile::{Feature, Profile, ServerFacts};
use xdsctl_model::resource::listener::{HttpConnectionManager, RouteSource};
use xdsctl_model::resource::{ResourceType, RouteConfiguration};

rules! {
    /// A resource of the same type and name comes later in the same world.
    DUPLICATE_RESOURCE = "dump-duplicate-resource", Dump, Advice, "C-core XdsClient; the last one in a response wins";
}

/// The rules of this folder's other files.
pub static PART_RULES: &[&[&Rule]] = &[live::RULES];

/// Where a channel starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// At a target.
    Target(Target),
    /// At a RouteConfiguration, as if a Listener without HTTP filters led to it.
    Routes {
        /// Its name, as clients ask for it.
        name: String,
        /// The channel's authority, which is compared with the domains of its virtual hosts.
        authority: String,
    },
    /// At a cluster, as if one route took every RPC to it.
    Cluster(String),
}

impl Start {
    /// The target; `None` if the channel starts at routes or at a cluster.
    pub const fn target(&self) -> Option<&Target> {
        match self {
            Start::Target(target) => Some(target),
            Start::Routes { .. } | Start::Cluster(_) => None,
        }
    }
}

/// One client: what it is, what it holds, and what DNS tells it.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// What the control plane has sent.
    pub resources: Resources,
    /// `node.id` of the bootstrap, which ends many messages; empty for none.
    pub node_id: String,
    /// The addresses that DNS answers with for LOGICAL_DNS clusters.
    pub dns: DnsAnswers,
    /// The client's version and switches.
    pub profile: Profile,
    /// What validation knows of the management server.
    pub server: ServerFacts,
    /// Clusters to which lookups (RLS) may lead. They are used only if a route has a cluster
    /// specifier plugin.
    pub lookup_targets: BTreeSet<String>,
}

/// Resources that the control plane sends, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentTexts {
    text: Box<str>,
    count: usize,
    /// Whether the text comes from YAML, where a field of text may be written as a number.
    is_yaml: bool,
}

impl SentTexts {
    /// Takes a list of resources as protobuf JSON, or an object that has the list as `resources`.
    pub fn of(resources: &Value) -> SentTexts {
        let list = resources.get("resources").filter(|list| list.is_array());
        let resources = list.unwrap_or(resources);
        SentTexts::of_list(&resources.to_string(), resources.as_array().map_or(0, Vec::len))
    }

    /// Takes a list of `count` resources as text in protobuf JSON.
    pub fn of_list(list: &str, count: usize) -> SentTexts {
        SentTexts {
            text: format!("{{\"resources\":{list}}}").into(),
            count,
            is_yaml: false,
        }
    }

    /// The text of the resource with this type and name, if it is among them.
    pub fn named(&self, resource_type: ResourceType, name: &str) -> Option<String> {
        let all: Value = serde_json::from_str(&self.text).ok()?;
        let is_own = |one: &&Value| {
            let of = one["@type"].as_str().and_then(|url| url.rsplit('/').next());
            of == Some(resource_type.type_name()) && one["name"] == name
        };
        Some(all["resources"].as_array()?.iter().find(is_own)?.to_string())
    }

    /// Marks the text as made from YAML.
    pub const fn of_yaml(&mut self) {
        self.is_yaml = true;
    }
}

/// A resource that a client rejects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nacked {
    /// Its type, one of the four that gRPC clients ask for.
    pub resource_type: ResourceType,
    /// Its name, as clients ask for it.
    pub name: String,
    /// Why the client rejects it: the rules, and where in the resource.
    pub faults: Vec<(&'static Rule, FieldPath)>,
    /// Whether the rejection names no resource. To the client it is then as if none of this name
    /// had been sent.
    pub is_unnamed: bool,
}

impl Nacked {
    fn of(resource_type: ResourceType, name: &str, diagnostics: &[Diagnostic]) -> Nacked {
        let faults = diagnostics.iter().filter(|found| found.effect == Effect::Nack);
        Nacked {
            resource_type,
            name: name.to_owned(),
            faults: faults.map(|found| (found.rule, found.path.clone())).collect(),
            is_unnamed: false,
        }
    }
}

/// What a client makes of an update.
#[derive(Debug, Default)]
pub struct Updated {
    /// Findings on the list of resources itself.
    pub findings: Vec<Finding>,
    /// The resources that the client rejects.
    pub nacked: Vec<Nacked>,
    /// What the client does not take of the update, in words.
    pub notes: Vec<String>,
}

impl Client {
    /// A client with the resources of one world; `bootstrap_node` is the id of its node, empty for none. DNS answers nothing.
    pub fn holding(resources: Resources, bootstrap_node: &str, profile: &Profile, server: &ServerFacts) -> Client {
        Client {
            resources,
            node_id: bootstrap_node.to_owned(),
            profile: profile.clone(),
            server: server.clone(),
            ..Client::default()
        }
    }

    /// Says whether the client waits for a resource without end, and no timer says that it does not
    /// exist.
    pub fn waits_without_end(&self, resource_type: ResourceType, name: &str) -> bool {
        java::waits_without_end(resource_type, name, self)
    }

    /// Puts the node's id before the words of a failure, where the client does.
    pub fn with_node_id(&self, words: &str) -> String {
        match self.profile.has(Feature::NodeIdFirst) {
            true => format!("[xDS node id: {}]: {words}", self.node_id),
            false => words.to_owned(),
        }
    }

    /// Takes resources that the control plane sends: a list of resources as protobuf JSON, or an
    /// object that has the list as `resources`.
    ///
    /// If the client rejects a resource, the version before it stays in use.
    pub fn update(&mut self, resources: &Value) -> Updated {
        self.take(&SentTexts::of(resources))
    }

    /// Takes resources that the control plane sends, as [`Client::update`] does.
    pub fn take(&mut self, sent: &SentTexts) -> Updated {
        let mut sources = SourceMap::new();
        let id = sources.add("-", sent.text.as_bytes().to_vec());
        let against = ValidationInput {
            profile: &self.profile,
            others: &[],
            server: &self.server,
            keep: Keep::Values,
        };
        let mut reading = Reading::default();
        let text = sources.get(id).map(|source| source.bytes()).unwrap_or_default();
        reading.read(Some(1), &against, |loader, emit| {
            let mut options = envelope::LoadOptions::default();
            options.transcode.bare_strings = sent.is_yaml;
            loader.json(id, text, options, emit);
        });
        let mut world_set = reading.finish(&against, false);
        let rejected = world_set
            .resources
            .iter()
            .filter(|checked| checked.verdict == Verdict::Rejected);
        let nacked = rejected.filter_map(|checked| {
            Some(Nacked {
                is_unnamed: checked.is_unnamed,
                ..Nacked::of(checked.resource_type?, &checked.name, &checked.diagnostics)
            })
        });
        let nacked = nacked.collect();
        let findings = std::mem::take(&mut world_set.findings);
        let store = self.store(sources);
        let sent = sent.count;
        let known = world_set
            .resources
            .iter()
            .filter(|checked| checked.resource_type.is_some())
            .count();
        let mut notes: Vec<String> = findings
            .iter()
            .map(|found| found.diagnostic.message.to_string())
            .collect();
        if known < sent {
            notes.push(format!(
                "{} of {sent} resources are not taken: no Listener, RouteConfiguration, Cluster or ClusterLoadAssignment \
                 can be read there",
                sent - known
            ));
        }
        for (_, newer) in world_set.hold(&store) {
            let rejected = newer.rejected().into_iter();
            let rejected: Vec<_> = rejected.map(|r| (r.resource_type, r.name.to_owned())).collect();
            self.resources.take(newer);
            notes.extend(self.resources.words_on(&rejected));
        }
        Updated {
            findings,
            nacked,
            notes,
        }
    }

    /// The documents of what the control plane has sent, to read values again.
    fn store(&self, sources: SourceMap) -> Arc<Store> {
        Arc::new(Store {
            sources,
            profile: self.profile.clone(),
            server: self.server.clone(),
        })
    }

    /// Checks whether the client can ask for a resource by this name.
    ///
    /// # Errors
    /// Why it cannot: whatever refers to the name fails at once.
    pub fn ask(&self, resource_type: ResourceType, name: &str) -> Result<(), NameFault> {
        NameComparison::of(&self.profile).ask(name, resource_type, &self.server)
    }

    /// Resolves the configuration of a channel, with the targets of lookups (RLS): the default
    /// ones, and those of [`Client::lookup_targets`].
    ///
    /// # Errors
    /// Why every RPC fails.
    pub fn resolve(&self, start: &Start) -> Result<XdsConfig, ChannelFailure> {
        self.resolve_also(start, &self.lookup_targets)
    }

    /// Resolves the configuration of a channel as [`Client::resolve`] does, with these targets of
    /// lookups (RLS).
    ///
    /// # Errors
    /// Why every RPC fails.
    pub fn resolve_also(&self, start: &Start, lookup_targets: &BTreeSet<String>) -> Result<XdsConfig, ChannelFailure> {
        let config = self.resolve_complete(start, &BTreeSet::new())?;
        let defaults = config.plugins().filter_map(|plugin| config.default_target(plugin));
        let mut targets: BTreeSet<String> = defaults.map(str::to_owned).collect();
        if config.plugins().next().is_some() {
            targets.extend(lookup_targets.iter().cloned());
        }
        if targets.is_empty() {
            return Ok(config);
        }
        self.resolve_complete(start, &targets)
    }

    /// Resolves the configuration of a channel. The error is also what the channel waits for, if
    /// the client takes a configuration only as a whole.
    fn resolve_complete(&self, start: &Start, extra_roots: &BTreeSet<String>) -> Result<XdsConfig, ChannelFailure> {
        let wanted = Wanted {
            clusters: extra_roots,
            routes: None,
            draw: None,
        };
        let config = self.resolve_with(start, wanted)?;
        match whole::held_up(&config, self, true) {
            Some(failure) => Err(failure),
            None => Ok(config),
        }
    }

    /// Resolves the configuration of a channel that wants more than its start leads to.
    ///
    /// # Errors
    /// Why every RPC fails.
    pub fn resolve_with(&self, start: &Start, wanted: Wanted<'_>) -> Result<XdsConfig, ChannelFailure> {
        let resolved = match start {
            Start::Target(target) => resolve::target(target, self, wanted),
            Start::Routes { name, authority } => resolve::routes(name, authority, self, wanted),
            Start::Cluster(name) => Ok(resolve::cluster(name, self, wanted)),
        };
        whole::fail_if_it_dies(java::as_it_fails(resolved, start, self), self)
    }

    /// The connection manager of a Listener that channels can use, and its routes.
    pub fn routes_of(&self, listener: &str) -> Option<(&HttpConnectionManager, &Arc<RouteConfiguration>)> {
        let manager = self.resources.listeners.get(listener)?.value()?.api()?;
        let routes = match &manager.routes {
            RouteSource::Inline(routes) => routes,
            RouteSource::Rds(name) => self.resources.route_configs.get(name)?.value()?,
        };
        Some((manager, routes))
    }

    /// The Listener of a target and the RouteConfiguration that it names. A channel watches them,
    /// whatever is wrong with them.
    pub fn leads(&self, start: &Start) -> Vec<(ResourceType, String)> {
        let Some(target) = start.target() else {
            return Vec::new();
        };
        let listener = self
            .resources
            .listeners
            .get(&target.listener)
            .and_then(HeldResource::value);
        let routes = listener.and_then(|listener| listener.api()?.routes.rds());
        let routes = routes.map(|name| (ResourceType::RouteConfiguration, name.to_owned()));
        let listener = (ResourceType::Listener, target.listener.clone());
        [listener].into_iter().chain(routes).collect()
    }
}

/// Says whether the findings of a rule are the words of a live client or control plane.
pub fn is_live(rule: &Rule) -> bool {
    live::RULES.contains(&rule)
}
