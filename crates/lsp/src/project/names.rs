//! Names of resources: where they are defined, and where they are referred to.
//!
//! They are found by the fields of the descriptors, and not from what a client keeps, because
//! resources that somebody is typing have references before any client accepts them.

use std::collections::{BTreeMap, BTreeSet};

use super::Snapshot;
use xdsctl_document::proto::message_type::FieldType;
use xdsctl_document::proto::place::scalars;
use xdsctl_document::source::{SourceId, Span};
use xdsctl_model::diag::Path;
use xdsctl_model::resource::ResourceType;

/// The kind of thing that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// A resource.
    Resource(ResourceType),
    /// A certificate provider of the bootstrap.
    Provider,
}

const ROUTES: Named = Named::Resource(ResourceType::RouteConfiguration);
const CLUSTER: Named = Named::Resource(ResourceType::Cluster);
const ENDPOINTS: Named = Named::Resource(ResourceType::Endpoints);

/// The fields that refer to something by its name, with the kind of thing.
static REFERENCES: &[(&str, &str, Named)] = &[
    (
        "envoy.extensions.filters.network.http_connection_manager.v3.Rds",
        "route_config_name",
        ROUTES,
    ),
    ("envoy.config.route.v3.RouteAction", "cluster", CLUSTER),
    ("envoy.config.route.v3.WeightedCluster.ClusterWeight", "name", CLUSTER),
    (
        "envoy.extensions.clusters.aggregate.v3.ClusterConfig",
        "clusters",
        CLUSTER,
    ),
    ("grpc.lookup.v1.RouteLookupConfig", "default_target", CLUSTER),
    (
        "envoy.config.cluster.v3.Cluster.EdsClusterConfig",
        "service_name",
        ENDPOINTS,
    ),
    (
        "envoy.extensions.transport_sockets.tls.v3.CertificateProviderPluginInstance",
        "instance_name",
        Named::Provider,
    ),
    (
        "envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.CertificateProviderInstance",
        "instance_name",
        Named::Provider,
    ),
];

/// Returns the kind of thing that a field refers to, if it refers to one.
pub fn referred(field: FieldType) -> Option<Named> {
    let (message, name) = (field.owner().name(), field.name());
    let found = REFERENCES
        .iter()
        .find(|(of, field, _)| *of == message && *field == name);
    found.map(|(.., named)| *named)
}

/// Returns the field with the name of a resource of this type.
pub const fn name_field(resource_type: ResourceType) -> &'static str {
    match resource_type {
        ResourceType::Endpoints => "cluster_name",
        ResourceType::Listener | ResourceType::RouteConfiguration | ResourceType::Cluster => "name",
    }
}

/// A place with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePlace {
    /// The kind of thing that has the name.
    pub named: Named,
    /// The name.
    pub name: String,
    /// The document with the place.
    pub source: SourceId,
    /// The span of the scalar in the document.
    pub span: Span,
    /// Index of the resource that contains the place.
    pub resource: usize,
    /// Whether the place defines the name; if not, it refers to it.
    pub is_given: bool,
}

/// The names of a project, with their places.
#[derive(Debug, Default)]
pub struct Names {
    /// All places, in the order of the resources.
    pub places: Vec<NamePlace>,
    /// Indexes in `places`, sorted by kind and name.
    by_name: Vec<usize>,
    /// For each resource the indexes of its worlds.
    worlds: BTreeMap<usize, BTreeSet<usize>>,
}

impl Names {
    pub(super) fn of(snapshot: &Snapshot) -> Names {
        let mut names = Names::default();
        for (position, world) in snapshot.worlds.iter().enumerate() {
            for number in &world.members {
                names.worlds.entry(*number).or_default().insert(position);
            }
        }
        for number in 0..snapshot.resources.len() {
            names.take(number, snapshot);
        }
        let key = |at: &usize| names.places.get(*at).map(|place| (place.named, place.name.as_str()));
        let mut by_name: Vec<usize> = (0..names.places.len()).collect();
        by_name.sort_by_key(key);
        names.by_name = by_name;
        names
    }

    fn take(&mut self, number: usize, snapshot: &Snapshot) {
        let Some(resource) = snapshot.resources.get(number) else {
            return;
        };
        let (Some(resource_type), Some(source)) = (resource.resource_type, snapshot.sources.get(resource.source))
        else {
            return;
        };
        let mut place = |named: Named, name: &str, span: Span, is_given: bool| {
            self.places.push(NamePlace {
                named,
                name: name.to_owned(),
                source: resource.source,
                span,
                resource: number,
                is_given,
            });
        };
        let root = Path::ROOT;
        let own = root.field(name_field(resource_type)).to_owned();
        let own = source.locate(resource.span, &own);
        let is_there = !resource.name.is_empty() && own.start > resource.span.start;
        if is_there {
            place(Named::Resource(resource_type), &resource.name, own, true);
        }
        let (mut is_eds, mut has_service_name) = (false, false);
        scalars(
            source,
            resource.span,
            resource_type.type_name(),
            &mut |field, text, span| {
                if let Some(named) = referred(field)
                    && !text.is_empty()
                {
                    has_service_name |= named == ENDPOINTS;
                    place(named, text, span, false);
                }
                let is_type = field.name() == "type" && field.owner().name() == "envoy.config.cluster.v3.Cluster";
                is_eds |= is_type && text == "EDS";
            },
        );
        // Without a service name, the name of the cluster is also that of its endpoints.
        if is_there && is_eds && !has_service_name {
            place(ENDPOINTS, &resource.name, own, false);
        }
    }

    /// Returns the name at a byte of a document. If a cluster's name there is also that of its
    /// endpoints, it is returned as the cluster's.
    pub fn name_at(&self, source: SourceId, offset: usize) -> Option<&NamePlace> {
        let is_at =
            |place: &&NamePlace| place.source == source && place.span.start <= offset && offset <= place.span.end;
        self.places.iter().find(is_at)
    }

    /// Says whether some client may see both resources.
    fn share(&self, one: usize, other: usize) -> bool {
        match (self.worlds.get(&one), self.worlds.get(&other)) {
            (Some(one), Some(other)) => !one.is_disjoint(other),
            _ => one == other,
        }
    }

    /// Returns the places of a name in this resource and in all resources that a client sees with
    /// it.
    pub fn like<'n>(&'n self, named: Named, name: &'n str, resource: usize) -> impl Iterator<Item = &'n NamePlace> {
        let key = |place: &'n NamePlace| (place.named, place.name.as_str());
        let sorted = |at: &usize| self.places.get(*at);
        let start = self
            .by_name
            .partition_point(|at| sorted(at).is_some_and(|place| key(place) < (named, name)));
        let places = self.by_name.iter().skip(start).filter_map(sorted);
        let like = places.take_while(move |place| key(place) == (named, name));
        like.filter(move |place| self.share(resource, place.resource))
    }

    /// Returns the names of a kind that are defined in resources that a client sees with
    /// `resource`; all of the kind if that is `None`.
    pub fn given(&self, named: Named, resource: Option<usize>) -> BTreeSet<&str> {
        let is_near = |place: &&NamePlace| resource.is_none_or(|resource| self.share(resource, place.resource));
        let given = self
            .places
            .iter()
            .filter(|place| place.is_given && place.named == named);
        given.filter(is_near).map(|place| place.name.as_str()).collect()
    }
}
