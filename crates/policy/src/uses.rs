//! The objects in `world`: what leads to a thing, and what it leads to.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::cel::{Value, View, Work, address, duration};
use crate::view::{self, optional, text, texts};
use xdsctl_channel::parsed::FieldValue;
use xdsctl_channel::rpc::chain::Overrides;
use xdsctl_channel::tree::shares;
use xdsctl_lb::ring_hash::RING_SIZE_CAP;
use xdsctl_model::profile::Profile;
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::endpoints::Locality;
use xdsctl_model::resource::filter::FilterConfig;
use xdsctl_model::resource::listener::{HttpConnectionManager, chain_place};
use xdsctl_model::resource::matcher::StringMatch;
use xdsctl_model::resource::route::{PathMatcher, Route, VirtualHost};
use xdsctl_model::resource::{Cluster, LbConfig, LbPolicy};

/// The index of a filter chain among those that its listener uses; 0 for a client's listener.
pub(crate) type ChainNumber = usize;

/// A listener, or a filter chain of one.
#[derive(Clone, Copy)]
pub(crate) struct User<'a> {
    pub listener: &'a str,
    pub is_server: bool,
    /// For a server: the index in `filter_chains`; `None` for the default chain.
    pub index: Option<usize>,
    pub manager: &'a HttpConnectionManager,
}

impl<'a> User<'a> {
    /// Returns the filter chain, as `admit` calls it; null for a client.
    fn chain(&self) -> Value<'a> {
        match self.index {
            _ if !self.is_server => Value::Null,
            index => Value::text(chain_place(index)),
        }
    }
}

/// A route that names a cluster.
#[derive(Clone, Copy)]
pub(crate) struct Use<'a> {
    /// The resource that has the routes.
    pub holder: &'a str,
    /// The filter chain that has the routes, if `holder` is a listener.
    pub chain: Option<ChainNumber>,
    pub host: &'a VirtualHost,
    pub route: &'a Route,
    /// The share of the route's RPCs; `None` for the default target of a plugin.
    pub share: Option<f64>,
    /// The cluster; `None` for a plugin, and if all clusters are meant.
    pub cluster: Option<&'a str>,
    /// The overrides of the weighted cluster.
    pub overrides: Option<&'a Overrides>,
}

impl<'a> View<'a> for User<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "name" => text(self.listener),
            "is_server" => Value::Bool(self.is_server),
            "chain" => self.chain(),
            "max_stream_duration" => duration(self.manager.http_max_stream_duration),
            "filters" => texts(self.manager.http_filters.iter().map(|filter| &filter.name)),
            _ => Value::Null,
        }
    }
}

impl<'a> View<'a> for Use<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        let Use {
            holder,
            host,
            route,
            share,
            ..
        } = *self;
        let action = route.route_action();
        match field {
            "resource" => text(holder),
            "virtual_host" => text(&host.name),
            "domains" => texts(&host.domains),
            "name" => text(&route.name),
            "index" => Value::int(route.index),
            "path" => match &route.path {
                PathMatcher::Text(matcher) => match &matcher.kind {
                    StringMatch::Exact(path) | StringMatch::Prefix(path) => text(path),
                    _ => Value::Null,
                },
                PathMatcher::Regex(_) => Value::Null,
            },
            "share" => optional(share, Value::Double),
            "max_stream_duration" => optional(action.and_then(|action| action.max_stream_duration), duration),
            "retry_policy" => optional(action, view::retry_policy),
            _ => Value::Null,
        }
    }
}

pub(crate) struct ClusterUse<'a> {
    pub name: &'a str,
    /// The share of RPCs; `None` for the default target of a plugin.
    pub share: Option<f64>,
    pub cluster: Option<&'a Cluster>,
    pub redacts: bool,
}

impl<'a> View<'a> for ClusterUse<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        match (field, self.cluster) {
            ("name", _) => text(self.name),
            ("share", _) => optional(self.share, Value::Double),
            ("is_held", cluster) => Value::Bool(cluster.is_some()),
            ("type", Some(cluster)) => text(cluster.discovery.kind()),
            ("lb_policies", Some(cluster)) => FieldValue::from(cluster).get(field),
            ("lb_policies", None) => Value::list([]),
            ("outlier_detection" | "transport_socket", Some(of)) => {
                let cluster = view::object("cluster", of, self.redacts);
                cluster.field(field).unwrap_or(Value::Null)
            }
            _ => Value::Null,
        }
    }
}

/// The localities of a priority, with their shares of its RPCs.
pub(crate) struct Shared<'a> {
    pub localities: &'a [Locality],
    /// The LB policies that may be directly below the priority, one for each cluster that has it.
    pub policies: Vec<&'a LbPolicy>,
    pub profile: &'a Profile,
    pub work: Work,
    /// Made when the first share is asked for.
    pub shares: OnceCell<Vec<Option<f64>>>,
}

impl Shared<'_> {
    /// Returns the share of a locality; null if it is not fixed, or if clusters differ.
    pub fn share<'v>(&self, number: usize) -> Value<'v> {
        let shares = self.shares.get_or_init(|| self.all());
        optional(shares.get(number).copied().flatten(), Value::Double)
    }

    fn all(&self) -> Vec<Option<f64>> {
        let endpoints: usize = self.localities.iter().map(|of| 1 + of.endpoints.len()).sum();
        let mut all: Option<Vec<Option<f64>>> = None;
        for policy in &self.policies {
            let of_ring = match policy.config {
                LbConfig::RingHash(_) => RING_SIZE_CAP as usize,
                _ => 0,
            };
            self.work.add(endpoints + of_ring);
            let own = shares::of_localities(policy, self.localities, self.profile);
            match &mut all {
                Some(all) => {
                    let both = all.iter_mut().zip(own);
                    both.for_each(|(one, other)| *one = one.filter(|one| other.is_some_and(|other| *one == other)));
                }
                None => all = Some(own),
            }
        }
        all.unwrap_or_default()
    }
}

pub(crate) struct PriorityView<'a> {
    pub cluster: &'a str,
    pub number: usize,
    pub of: Found<'a>,
}

/// How the endpoints of a priority are found.
pub(crate) enum Found<'a> {
    Eds(Rc<Shared<'a>>),
    /// The host is one endpoint of one locality (gRFC A37).
    LogicalDns(&'a str),
}

impl<'a> View<'a> for PriorityView<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "cluster" => text(self.cluster),
            "priority" => Value::int(self.number),
            "type" => text(match &self.of {
                Found::Eds(_) => "EDS",
                Found::LogicalDns(_) => "LOGICAL_DNS",
            }),
            "localities" => match &self.of {
                Found::Eds(shared) => Value::list(shared.localities.iter().enumerate().map(|(number, of)| {
                    let shared = Rc::clone(shared);
                    Value::object(LocalityUse { of, number, shared })
                })),
                Found::LogicalDns(host) => Value::list([Value::object(HostUse(host))]),
            },
            _ => Value::Null,
        }
    }
}

struct LocalityUse<'a> {
    of: &'a Locality,
    number: usize,
    shared: Rc<Shared<'a>>,
}

impl<'a> View<'a> for LocalityUse<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        let draining = || {
            self.of
                .endpoints
                .iter()
                .filter(|one| one.health == HealthStatus::Draining)
                .count()
        };
        match field {
            "region" => text(&self.of.name.region),
            "zone" => text(&self.of.name.zone),
            "sub_zone" => text(&self.of.name.sub_zone),
            "share" => self.shared.share(self.number),
            "endpoints" => Value::int(self.of.endpoints.len()),
            "draining" => Value::int(draining()),
            "addresses" => Value::list(self.of.endpoints.iter().map(|one| address(one.address))),
            _ => Value::Null,
        }
    }
}

/// The locality of a LOGICAL_DNS cluster.
struct HostUse<'a>(&'a str);

impl<'a> View<'a> for HostUse<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "region" | "zone" | "sub_zone" => text(""),
            "share" => Value::Double(1.0),
            "endpoints" => Value::Int(1),
            "draining" => Value::Int(0),
            "addresses" => Value::list([text(self.0)]),
            _ => Value::Null,
        }
    }
}

pub(crate) struct FilterUse<'a> {
    pub name: &'a str,
    pub cluster: Option<&'a str>,
    pub user: User<'a>,
    pub config: &'a FilterConfig,
    pub redacts: bool,
}

impl<'a> View<'a> for FilterUse<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        match field {
            "name" => text(self.name),
            "listener" => text(self.user.listener),
            "chain" => self.user.chain(),
            "cluster" => optional(self.cluster, text),
            "type" => text(self.config.kind()),
            "config" => view::filter_config(self.config, self.redacts),
            _ => Value::Null,
        }
    }
}
