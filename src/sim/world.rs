//! What the control plane and DNS say, and how a channel's configuration follows from it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::load;
use crate::model::route::{Action, Destination};
use crate::profile::{Profile, ServerFacts};
use crate::snapshot::config::{ChannelFailure, XdsConfig};
use crate::snapshot::resolve::{DnsAnswers, Source, resolve, resolve_cluster};
use crate::snapshot::resources::Resources;
use crate::snapshot::target::Target;
use crate::source::SourceMap;
use crate::validate::validate;

/// Where a channel starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// At a target.
    Target(Target),
    /// At a cluster, as if one route took every RPC to it.
    Cluster(String),
}

/// What a channel is made from.
#[derive(Debug, Clone)]
pub struct World {
    /// What the control plane sends.
    pub resources: Resources,
    /// `node.id` of the bootstrap.
    pub node_id: String,
    /// What DNS says.
    pub dns: DnsAnswers,
    /// The client.
    pub profile: Profile,
    /// What validation knows of the management server.
    pub server: ServerFacts,
    /// Where the channel starts.
    pub start: Start,
}

impl World {
    /// Takes what the control plane sends anew: a list of resources as protobuf JSON.
    pub fn update(&mut self, resources: &Value) {
        let mut sources = SourceMap::new();
        let text = serde_json::json!({ "resources": resources }).to_string();
        let id = sources.add("-", text.into_bytes());
        let bytes = sources.get(id).map(|source| source.bytes()).unwrap_or_default();
        let loaded = load::run(
            Some(1),
            |loader, emit| loader.json(id, bytes, Default::default(), emit),
            |raw| {
                let (resource_type, bytes) = (raw.resource_type?, raw.bytes?);
                Some((
                    resource_type,
                    validate(resource_type, &bytes, &self.profile, &self.server),
                ))
            },
        );
        for (resource_type, validated) in loaded.results.into_iter().flatten() {
            let diagnostics = &validated.diagnostics;
            self.resources
                .take(resource_type, &validated.name, validated.value, diagnostics);
        }
    }

    /// The channel's configuration, the default targets of lookups (RLS) included.
    ///
    /// # Errors
    /// Why every RPC fails.
    pub fn resolve(&self) -> Result<XdsConfig, ChannelFailure> {
        let config = self.resolve_with(&BTreeSet::new())?;
        let targets = default_targets(&config);
        if targets.is_empty() {
            return Ok(config);
        }
        self.resolve_with(&targets)
    }

    fn resolve_with(&self, extra_roots: &BTreeSet<String>) -> Result<XdsConfig, ChannelFailure> {
        let source = Source {
            resources: &self.resources,
            node_id: &self.node_id,
            dns: &self.dns,
            extra_roots,
        };
        match &self.start {
            Start::Target(target) => resolve(target, &source),
            Start::Cluster(name) => Ok(resolve_cluster(name, &source)),
        }
    }
}

/// The clusters that lookups of the virtual host's plugin routes end in when nothing else is known.
fn default_targets(config: &XdsConfig) -> BTreeSet<String> {
    let routes = config.virtual_host().into_iter().flat_map(|host| &host.routes);
    routes
        .filter_map(|route| match &route.action {
            Action::Route(action) => match &action.destination {
                Destination::Plugin(name) => config.route_config.cluster_specifier_plugins.get(name),
                Destination::Cluster(_) | Destination::WeightedClusters(_) => None,
            },
            Action::NonForwarding | Action::Unknown => None,
        })
        .filter_map(|policy| {
            let target = policy.pointer("/0/rls_experimental/routeLookupConfig/defaultTarget")?;
            target.as_str().filter(|target| !target.is_empty()).map(str::to_owned)
        })
        .collect()
}
