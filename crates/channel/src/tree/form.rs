//! How a family builds, names and writes the LB policies of its channels.

use serde_json::Value;

use super::layers::{JsonForm, Layer};
use super::names::NamedLeaf;
use super::service_config::ServiceConfig;
use super::{build, java, js, tower};
use crate::client::config::Leaf;
use xdsctl_model::profile::Family;

/// The form of a family's tree.
pub struct TreeForm {
    /// The policies between the cds policy of a leaf and its own LB policy, from the outermost
    /// inwards.
    pub layers: &'static [Layer],
    /// Says whether a priority of a leaf, by its place, has a child.
    pub has_child: fn(&Leaf, usize) -> bool,
    /// Whether the tree shows a priority that has no child.
    pub shows_childless: bool,
    /// The name of a priority's child; numbers begin with 0.
    pub child_name: fn(&str, u64) -> String,
    /// How the policies of a leaf are written.
    pub json: JsonForm,
    /// Whether the children of the cluster manager have the bare names of clusters.
    pub has_bare_keys: bool,
    /// What stands around the policies, from the outermost inwards.
    pub around: &'static [&'static str],
    /// The service config as the client makes it.
    pub service_config: fn(&ServiceConfig) -> Value,
    /// Whether the form is that of every version whose RPCs are followed.
    pub is_of_all_versions: bool,
}

impl TreeForm {
    /// Returns the form of a family.
    pub fn of(family: Family) -> &'static TreeForm {
        match family {
            Family::Cpp | Family::Go => &build::FORM,
            Family::Java => &java::FORM,
            Family::Node => &js::FORM,
            Family::Rust => &tower::FORM,
        }
    }

    /// A leaf with the names of the priorities that have a child. `numbers` has one number for each
    /// priority.
    pub fn named<'a>(&self, cluster: &'a str, leaf: &'a Leaf, numbers: &[u64]) -> NamedLeaf<'a> {
        let with_child = numbers.iter().enumerate();
        let with_child = with_child.filter(|(place, _)| (self.has_child)(leaf, *place));
        NamedLeaf {
            cluster,
            leaf,
            names: with_child
                .map(|(_, number)| (self.child_name)(cluster, *number))
                .collect(),
        }
    }
}
