//! Where an address is in the tree: cluster, priority, locality, health and weight.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::Error;
use xdsctl_channel::client::config::{ClusterState, XdsConfig};
use xdsctl_channel::rpc;
use xdsctl_model::cookie;
use xdsctl_model::resource::cluster::HealthStatus;
use xdsctl_model::resource::endpoints::{Endpoint, Locality, LocalityName};
use xdsctl_model::text;
use xdsctl_report::told::Told;

/// One address of the channel.
#[derive(Debug)]
pub(super) struct AddressPlace<'c> {
    pub address: SocketAddr,
    endpoint: &'c Endpoint,
    part: LeafLocality<'c>,
}

/// A locality of a leaf cluster.
#[derive(Debug, Clone, Copy)]
struct LeafLocality<'c> {
    cluster: &'c str,
    priority: usize,
    locality: &'c Locality,
    /// The health of endpoints to which sessions of the cluster may go.
    statuses: &'c BTreeSet<HealthStatus>,
}

impl<'c> LeafLocality<'c> {
    fn places(self) -> impl Iterator<Item = AddressPlace<'c>> {
        self.locality.endpoints.iter().flat_map(move |endpoint| {
            endpoint.addresses().map(move |address| AddressPlace {
                address,
                endpoint,
                part: self,
            })
        })
    }
}

impl AddressPlace<'_> {
    /// Says whether a cookie with the address leads to it.
    fn takes_sessions(&self) -> bool {
        self.part.statuses.contains(&self.endpoint.health)
    }
}

/// Returns every locality of every leaf cluster.
fn parts(config: &XdsConfig) -> impl Iterator<Item = LeafLocality<'_>> {
    config.leaves().flat_map(|(cluster, leaf)| {
        let priorities = leaf.endpoints.iter().flat_map(|endpoints| &endpoints.priorities);
        priorities.enumerate().flat_map(move |(priority, localities)| {
            localities.iter().map(move |locality| LeafLocality {
                cluster,
                priority,
                locality,
                statuses: &leaf.cluster.override_host_statuses,
            })
        })
    })
}

/// Returns every address of every leaf cluster.
pub(super) fn all(config: &XdsConfig) -> impl Iterator<Item = AddressPlace<'_>> {
    parts(config).flat_map(LeafLocality::places)
}

/// Returns the addresses of a locality (`REGION/ZONE/SUB_ZONE`, or the client's form) or a cluster.
pub(super) fn addresses_of(name: &str, config: &XdsConfig) -> Vec<SocketAddr> {
    let below: BTreeSet<&str> = config.leaves_of(name).into_iter().map(|(leaf, _)| leaf).collect();
    let is_meant =
        |locality: &LocalityName| locality.to_string() == name || locality.short() == name.trim_end_matches('/');
    // Compare names once for each locality, not for each address: each cluster may have an
    // argument.
    parts(config)
        .filter(|part| below.contains(part.cluster) || is_meant(&part.locality.name))
        .flat_map(LeafLocality::places)
        .map(|place| place.address)
        .collect()
}

/// The name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.address/v1";

/// For each leaf, the clusters through which RPCs reach it: itself and aggregates, in order.
type ClustersAbove<'c> = BTreeMap<&'c str, Vec<&'c str>>;

fn ways(config: &XdsConfig) -> ClustersAbove<'_> {
    let mut ways = ClustersAbove::new();
    for (name, state) in &config.clusters {
        let leaves = match state {
            ClusterState::Leaf(_) => std::slice::from_ref(name),
            ClusterState::Aggregate(aggregate) => aggregate.leaves.as_slice(),
            ClusterState::Error(_) => &[],
        };
        for leaf in leaves {
            let names = ways.entry(leaf).or_default();
            // An aggregate may name a leaf twice.
            if names.last() != Some(&name.as_str()) {
                names.push(name);
            }
        }
    }
    ways
}

/// Returns the cookies that lead to an address, each with the cluster that it names. There is none
/// if the health of the endpoint excludes sessions.
fn cookies<'w>(place: &AddressPlace<'_>, ways: &'w ClustersAbove<'_>) -> impl Iterator<Item = (&'w str, String)> {
    let list = rpc::address_list(&place.address, place.endpoint);
    let ways = ways.get(place.part.cluster).filter(|_| place.takes_sessions());
    let names = ways.into_iter().flatten();
    names.map(move |name| (*name, cookie::encode(&list, name)))
}

/// Prints all places of an address. Says whether there is one.
pub(super) fn tell(text: &str, config: &XdsConfig, told: &mut Told, out: &mut dyn Write) -> Result<bool, Error> {
    let found: Vec<AddressPlace<'_>> = all(config).filter(|place| place.address.to_string() == text).collect();
    let ways = ways(config);
    let document = || {
        let places: Vec<Value> = found.iter().map(|place| place_json(place, &ways)).collect();
        json!({"schema": SCHEMA, "address": text, "places": places})
    };
    let write_text = |out: &mut dyn Write| match found.is_empty() {
        true => write_missing(text, config, out),
        false => write_places(text, &found, &ways, out),
    };
    told.tell(out, document, write_text)?;
    Ok(!found.is_empty())
}

fn write_missing(text: &str, config: &XdsConfig, out: &mut dyn Write) -> io::Result<()> {
    let known: Vec<String> = all(config).map(|place| place.address.to_string()).collect();
    let near = text::nearest(text, known.iter().map(String::as_str));
    let hint = near.map_or_else(
        || format!("; the channel has {} addresses", known.len()),
        |near| format!(", did you mean {near}?"),
    );
    writeln!(
        out,
        "{text} is in no cluster: no endpoint of the channel has it, or the client drops the one that has{hint}"
    )
}

fn write_places(
    text: &str,
    found: &[AddressPlace<'_>],
    ways: &ClustersAbove<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for place in found {
        let endpoint = place.endpoint;
        let health = endpoint.health.name();
        say!(out, "{text} in cluster \"{}\"", place.part.cluster)?;
        say!(out, "  priority  {}", place.part.priority)?;
        say!(
            out,
            "  locality  {}, weight {}",
            place.part.locality.name,
            place.part.locality.weight
        )?;
        let origin = if endpoint.weight_is_default { " (default)" } else { "" };
        say!(out, "  weight    {}{origin}", endpoint.weight)?;
        say!(out, "  health    {health}")?;
        if !place.takes_sessions() {
            let names: Vec<&str> = place.part.statuses.iter().map(|status| status.name()).collect();
            let names = names.join(", ");
            say!(out, "  cookie    none: override_host_status {{{names}}} lacks {health}")?;
        }
        for (name, value) in cookies(place, ways) {
            say!(out, "  cookie    {value} by way of cluster \"{name}\"")?;
        }
    }
    Ok(())
}

fn place_json(place: &AddressPlace<'_>, ways: &ClustersAbove<'_>) -> Value {
    let locality = &place.part.locality.name;
    let cookies = cookies(place, ways).map(|(cluster, value)| json!({"cluster": cluster, "value": value}));
    json!({
        "cluster": place.part.cluster,
        "priority": place.part.priority,
        "locality": {"region": locality.region, "zone": locality.zone, "sub_zone": locality.sub_zone},
        "locality_weight": place.part.locality.weight,
        "weight": place.endpoint.weight,
        "weight_is_default": place.endpoint.weight_is_default,
        "health": place.endpoint.health.name(),
        "cookies": cookies.collect::<Vec<_>>(),
    })
}
