//! How a family builds, names and writes the LB policies of its channels. No other file of the tree
//! lists the families.

use serde_json::Value;

use super::node::TreeNode;
use super::service_config::ServiceConfig;
use super::{build, java, js, tower};
use crate::client::config::Leaf;
use xdsctl_model::profile::Family;
use xdsctl_model::resource::lb_policy::LbConfig;

/// The form of a family's tree.
pub struct TreeForm {
    /// The config below the policy of a leaf. There is one number for each priority.
    pub leaf_config: fn(&str, &Leaf, &[u64], &LbConfig) -> LbConfig,
    /// The config below the policy of a leaf, as the client writes it.
    pub leaf_json: fn(&str, &Leaf, &[u64], &Value) -> Value,
    /// The config below the policy of an aggregate with these leaves, as the client writes it.
    pub aggregate_json: fn(&[String]) -> Value,
    /// The name of a priority's child; numbers begin with 0.
    pub child_name: fn(&str, u64) -> String,
    /// Gives the policies of a tree the names that they have in the client.
    pub rename_nodes: fn(&mut TreeNode),
    /// The service config as the client makes it.
    pub service_config: fn(&ServiceConfig) -> Value,
    /// Whether the form is that of every version whose RPCs are followed.
    pub is_of_all_versions: bool,
    /// Whether each priority has limits of its own, which stand below it.
    pub limits_priorities: bool,
    /// Whether the policy of sessions (override_host) is above the priorities.
    pub has_sessions: bool,
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
}
