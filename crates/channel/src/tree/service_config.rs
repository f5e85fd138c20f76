//! The service config that the resolver hands to the channel: one cds policy for each cluster of
//! the virtual host.
//!
//! The client pastes names into JSON text without escaping them, and parses the text. A name with a
//! quotation mark makes the text unreadable, and one with a backslash names another child. Follows
//! C-core `XdsResolver::CreateServiceConfig` (xds_resolver.cc). Timeouts and retries are in a
//! config of each route, not here.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::build::object;
use crate::client::config::XdsConfig;
use crate::rpc::{CLUSTER_PREFIX, PLUGIN_PREFIX};
use xdsctl_clients::bootstrap::client_json::{self, ClientJson};
use xdsctl_lb::{cds, cluster_manager, named};
use xdsctl_model::profile::Family;
use xdsctl_model::resource::lb_policy::{CdsConfig, ClusterManagerConfig, LbConfig, LbPolicy};
use xdsctl_model::resource::route::Route;
use xdsctl_model::status::{Code, Status};
use xdsctl_model::text::first_escaped;

/// The service config that the resolver hands to the channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServiceConfig {
    /// The children of the cluster manager, by key.
    pub children: BTreeMap<String, ManagerChild>,
}

/// A child of the cluster manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ManagerChild {
    /// A cds policy for this cluster.
    Cluster(String),
    /// The policy of a cluster specifier plugin.
    Plugin(Arc<LbPolicy>),
}

impl ServiceConfig {
    /// The clusters of the routes, in the order of their keys.
    pub fn clusters(&self) -> impl Iterator<Item = &str> {
        self.children.values().filter_map(|child| match child {
            ManagerChild::Cluster(name) => Some(name.as_str()),
            ManagerChild::Plugin(_) => None,
        })
    }

    /// The policy at the root of the channel.
    pub fn lb_config(&self) -> LbConfig {
        let children = self.children.iter().map(|(key, child)| {
            let config = match child {
                ManagerChild::Cluster(name) => cds_config(name),
                ManagerChild::Plugin(policy) => policy.config.clone(),
            };
            (key.clone(), config)
        });
        LbConfig::ClusterManager(ClusterManagerConfig {
            children: children.collect(),
        })
    }

    /// The policies of the children as the client writes them, by key.
    pub(super) fn policies(&self) -> impl Iterator<Item = (&String, Value)> {
        self.children.iter().map(|(key, child)| {
            let policy = match child {
                ManagerChild::Cluster(name) => cds_policy(name),
                ManagerChild::Plugin(policy) => policy.json.clone(),
            };
            (key, policy)
        })
    }

    /// The service config as the client writes it.
    pub fn to_json(&self) -> Value {
        let children = self.policies();
        let children: Map<String, Value> = children
            .map(|(key, policy)| (key.clone(), object([("childPolicy", policy)])))
            .collect();
        let manager = object([("children", Value::Object(children))]);
        object([("loadBalancingConfig", named(cluster_manager::NAME, manager))])
    }
}

/// The config of the cds policy of a cluster that a route names.
pub(super) fn cds_config(cluster: &str) -> LbConfig {
    LbConfig::Cds(CdsConfig {
        cluster: cluster.to_owned(),
        is_dynamic: false,
    })
}

/// A list with one cds policy.
pub(super) fn cds_policy(cluster: &str) -> Value {
    named(cds::NAME, object([("cluster", Value::String(cluster.to_owned()))]))
}

/// The children of the cluster manager by key, as the routes name them.
fn children(config: &XdsConfig) -> BTreeMap<String, ManagerChild> {
    let clusters = config.routes().iter().flat_map(Route::clusters).map(|name| {
        let key = format!("{CLUSTER_PREFIX}{name}");
        (key, ManagerChild::Cluster(name.to_owned()))
    });
    let plugins = config.plugins().filter_map(|name| {
        let policy = config.route_config.cluster_specifier_plugins.get(name)?;
        let key = format!("{PLUGIN_PREFIX}{name}");
        Some((key, ManagerChild::Plugin(Arc::clone(policy))))
    });
    clusters.chain(plugins).collect()
}

/// Generates the service config.
///
/// # Errors
/// The status of every RPC of the channel, if the client cannot read its own text back, the policy
/// of a plugin does not accept its config, or the routes name no cluster and the client is
/// grpc-java.
pub fn generate(config: &XdsConfig) -> Result<ServiceConfig, Status> {
    let children = children(config);
    if children.is_empty() && config.asked.family == Family::Java {
        return Err(Status::internal(
            "No child policy provided for cluster_manager LB policy: {childPolicy={}}",
        ));
    }
    if let Some(status) = children.iter().find_map(|(key, child)| refused(key, child)) {
        return Err(status);
    }
    if children.keys().all(|key| first_escaped(key).is_none()) {
        return Ok(ServiceConfig { children });
    }
    let text = text(&children);
    client_json::parse(text.as_bytes()).map_err(|fault| {
        let message = format!("JSON parsing failed: [JSON parse error at index {}]", fault.offset);
        Status::new(Code::InvalidArgument, message).from_control_plane("resolver")
    })?;
    // The text can be read, so each name ends where it should.
    let children = children.into_iter().map(|(key, child)| {
        let child = match child {
            ManagerChild::Cluster(name) => ManagerChild::Cluster(read_back(name)),
            plugin => plugin,
        };
        (read_back(key), child)
    });
    Ok(ServiceConfig {
        children: children.collect(),
    })
}

/// Says how RPCs fail if the policy of a plugin does not accept what grpc-java made of the plugin's
/// config.
fn refused(key: &str, child: &ManagerChild) -> Option<Status> {
    let ManagerChild::Plugin(policy) = child else {
        return None;
    };
    let why = policy.refusal.as_ref()?;
    let text =
        format!("can't parse config: {why}\nFailed to select child config\nFailed to parse config for child {key}");
    Some(Status::internal(text))
}

/// Returns what the client reads after it has pasted a name between quotation marks.
fn read_back(name: String) -> String {
    match client_json::parse(format!("\"{name}\"").as_bytes()) {
        Ok(ClientJson::String(read)) => read,
        // Not reached: the text with the name in it was read.
        Ok(_) | Err(_) => name,
    }
}

/// Writes the client's text, space by space, because its error message quotes positions in it.
fn text(children: &BTreeMap<String, ManagerChild>) -> String {
    let mut text = String::from(
        "{  \"loadBalancingConfig\":[\n    { \"xds_cluster_manager_experimental\":{\n      \"children\":{\n",
    );
    for (number, (key, child)) in children.iter().enumerate() {
        if number > 0 {
            text.push_str(",\n");
        }
        // Writing to a String cannot fail.
        let _ = match child {
            ManagerChild::Cluster(name) => write!(
                text,
                "      \"{key}\":{{\n        \"childPolicy\":[ {{\n          \"cds_experimental\":{{\n            \
                 \"cluster\": \"{name}\"\n          }}\n        }} ]\n       }}"
            ),
            ManagerChild::Plugin(policy) => {
                write!(
                    text,
                    "      \"{key}\":{{\n        \"childPolicy\": {}\n       }}",
                    policy.json
                )
            }
        };
    }
    text.push_str("    }\n    } }\n  ]}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_read(name: &str) -> bool {
        let child = ManagerChild::Cluster(name.to_owned());
        let children = BTreeMap::from([(format!("{CLUSTER_PREFIX}{name}"), child)]);
        client_json::parse(text(&children).as_bytes()).is_ok()
    }

    #[test]
    fn names_are_pasted_without_escapes() {
        assert!(is_read("a b") && is_read("é{,") && is_read(r"a\nb"));
        assert!(!is_read("a\"b") && !is_read("a\\"));
        assert_eq!(read_back(r"cluster:a\nb".to_owned()), "cluster:a\nb");
        assert_eq!(read_back("é{,".to_owned()), "é{,");
    }
}
