//! Bare resources: with `@type`, or known by their fields as `istioctl proxy-config -o json` prints them.

use xdsctl_proto::tables::{self, Message};

use super::walker::{Place, Walker};
use super::{Clue, Result, Shape};
use crate::model::ResourceType;

/// An object with an `@type` that no other shape claims.
pub(super) static TYPED: Shape = Shape {
    claims: |clue| matches!(clue, Clue::Type(_)),
    walk: |walker| walker.bare(Place::default()),
};

/// An object without `@type` whose list or fields say what it is.
pub(super) static UNTYPED: Shape = Shape {
    claims: |_| false,
    walk: walk_untyped,
};

fn walk_untyped(walker: &mut Walker<'_, '_>) -> Result<()> {
    let message = walker.assume.or(walker.guess);
    walker.bare(Place {
        message,
        ..Place::default()
    })
}

/// Fields that occur in one resource type only and hardly anywhere else: one of them is enough.
const CERTAIN: &[(&str, u8, ResourceType)] = &[
    ("cluster_name", b'"', ResourceType::Endpoints),
    ("virtual_hosts", b'[', ResourceType::RouteConfiguration),
    ("filter_chains", b'[', ResourceType::Listener),
    ("default_filter_chain", b'{', ResourceType::Listener),
    ("api_listener", b'{', ResourceType::Listener),
    ("listener_filters", b'[', ResourceType::Listener),
    ("eds_cluster_config", b'{', ResourceType::Cluster),
    ("load_assignment", b'{', ResourceType::Cluster),
    ("load_balancing_policy", b'{', ResourceType::Cluster),
    ("lb_policy", b'"', ResourceType::Cluster),
    ("connect_timeout", b'"', ResourceType::Cluster),
    ("common_lb_config", b'{', ResourceType::Cluster),
];

/// What the fields of an object say about its type.
#[derive(Default)]
pub(super) struct Guess {
    keys: usize,
    /// How many of the keys are fields of each type, and of it alone.
    known: [usize; ResourceType::ALL.len()],
    only: [usize; ResourceType::ALL.len()],
    certain: Option<ResourceType>,
}

impl Guess {
    /// Counts a key (in snake_case) and the first byte of its value; true if nothing else need be seen.
    pub(super) fn add(&mut self, name: &str, value: u8) -> bool {
        self.certain = CERTAIN
            .iter()
            .find(|(field, first, _)| *field == name && *first == value)
            .map(|(_, _, resource_type)| *resource_type);
        self.keys += 1;
        let has = ResourceType::ALL.map(|t| message(t).is_some_and(|m| m.position(name).is_some()));
        let is_only = has.iter().filter(|has| **has).count() == 1;
        for ((has, known), only) in has.iter().zip(&mut self.known).zip(&mut self.only) {
            *known += usize::from(*has);
            *only += usize::from(*has && is_only);
        }
        self.certain.is_some()
    }

    /// The type that most of the keys belong to; `None` if the half of them are no field of it, or none is its own.
    pub(super) fn message(&self) -> Option<&'static Message> {
        let best = ResourceType::ALL
            .into_iter()
            .zip(self.known.iter().zip(&self.only))
            .filter(|(_, (known, only))| **only > 0 && **known * 2 > self.keys)
            .max_by_key(|(_, (known, only))| (**only, **known))
            .map(|(resource_type, _)| resource_type);
        message(self.certain.or(best)?)
    }
}

fn message(resource_type: ResourceType) -> Option<&'static Message> {
    tables::message(resource_type.type_name())
}
