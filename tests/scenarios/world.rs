//! The recorded scenarios: their rows, and the channel that xdsctl makes of their resources.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use xdsctl_channel::client::config::{ChannelFailure, XdsConfig};
use xdsctl_channel::client::target::{Target, TargetError};
use xdsctl_channel::client::{Client, Start};
use xdsctl_clients::bootstrap::{self, Bootstrap};
use xdsctl_model::profile::{Client as Family, Package, Profile};

use crate::support::{recorded, root};

/// A recorded row. The steps and the answers of `pick` steps are in the same order.
#[derive(Debug, Clone, Deserialize)]
pub struct Row {
    pub id: String,
    pub target: String,
    /// The client, if it is not the reference.
    #[serde(default)]
    pub client: Option<String>,
    #[serde(default)]
    pub uri: Option<String>,
    #[serde(default)]
    pub authority: Option<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub bootstrap: Option<Value>,
    /// The package that the program uses.
    #[serde(default)]
    pub with: Option<String>,
    pub resources: Vec<Value>,
    #[serde(default)]
    pub backends: Vec<String>,
    #[serde(default)]
    pub silent: Vec<String>,
    #[serde(default)]
    pub channel_args: Vec<(String, Value)>,
    #[serde(default)]
    pub orca: Option<Value>,
    /// Backends that report their load out of band, with the least number of seconds between two
    /// reports.
    #[serde(default)]
    pub out_of_band: Option<BTreeMap<String, f64>>,
    /// Servers that leave their first calls unprocessed.
    #[serde(default)]
    pub unprocessed: BTreeMap<String, Unprocessed>,
    /// The first answers of the lookup service.
    #[serde(default)]
    pub lookups: Option<Value>,
    pub steps: Vec<Value>,
    #[serde(default)]
    pub trace: Option<Value>,
    pub answer: Answer,
    /// What the client's policies did, in a timeline.
    #[serde(default)]
    pub events: Vec<Value>,
    /// How late the machine of a timeline was at worst, in milliseconds.
    #[serde(default)]
    pub late_ms: u32,
}

/// How often, and how, a server leaves calls unprocessed.
#[derive(Debug, Clone, Deserialize)]
pub struct Unprocessed {
    pub calls: String,
    pub times: u64,
}

/// What the client did.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    pub crash: bool,
    pub picks: Vec<Value>,
    pub service_config: Option<Value>,
    pub cds_children: BTreeMap<String, Value>,
    /// The requests to the lookup service.
    pub lookups: Option<Vec<Value>>,
    /// The number of requests to the lookup service after each step.
    pub asked: Vec<usize>,
    /// The client's state of each resource, by `Type/name`.
    pub resources: BTreeMap<String, Value>,
}

impl Row {
    /// Returns the family of the row: `route`, `ring`, and others.
    pub fn family(&self) -> &str {
        self.id.split('-').next().unwrap_or_default()
    }

    /// Says whether the service config after the last step may differ from that of the first
    /// resources.
    pub fn changes_resources(&self) -> bool {
        let changes = |step: &Value| step.get("update").is_some() || step.get("remove").is_some();
        self.steps.iter().any(changes)
    }

    /// Says whether several clusters have endpoints with one address.
    pub fn has_clusters_with_one_address(&self) -> bool {
        let of_type = |name: &'static str| {
            let is_of = move |resource: &&Value| resource["@type"].as_str().is_some_and(|url| url.ends_with(name));
            self.resources.iter().filter(is_of)
        };
        let mut seen: BTreeMap<String, &Value> = BTreeMap::new();
        of_type(".Cluster").any(|cluster| {
            let service = &cluster["eds_cluster_config"]["service_name"];
            let service = if service.is_null() { &cluster["name"] } else { service };
            let list = of_type(".ClusterLoadAssignment").find(|list| list["cluster_name"] == *service);
            let localities = list.and_then(|list| list["endpoints"].as_array()).into_iter().flatten();
            let endpoints = localities.flat_map(|locality| locality["lb_endpoints"].as_array().into_iter().flatten());
            let mut addresses = endpoints.map(|one| one["endpoint"]["address"]["socket_address"].to_string());
            addresses.any(|address| {
                seen.insert(address, &cluster["name"])
                    .is_some_and(|before| *before != cluster["name"])
            })
        })
    }

    /// Returns how late something may have been recorded, in milliseconds: an event that waits for
    /// another thread may be late twice.
    pub fn slack_ms(&self) -> i64 {
        2 * i64::from(self.late_ms)
    }

    /// Says whether RPCs are under way while others begin.
    pub fn sends_at_once(&self) -> bool {
        let at_once = |step: &Value| step.get("begin").is_some() || step["pick"].get("rate").is_some();
        self.steps.iter().any(at_once)
    }

    /// Says whether RPCs worked but the client's log, from which configs are read, was not kept.
    pub fn keeps_no_log(&self) -> bool {
        self.trace.is_some()
    }

    /// Returns the picks before the resources change, with their answers.
    pub fn picks(&self) -> Vec<(&Value, &Value)> {
        let mut answers = self.answer.picks.iter();
        self.steps
            .iter()
            .take_while(|step| step.get("update").is_none() && step.get("remove").is_none())
            .filter_map(|step| step.get("pick"))
            .filter_map(|pick| Some((pick, answers.next()?)))
            .collect()
    }
}

/// Returns the rows of a fixture. `XDSCTL_ROWS` restricts them to ids that start so;
/// `XDSCTL_WORLDS` names a file that replaces the recorded mutated worlds.
pub fn rows(name: &str) -> Vec<Row> {
    let fresh = std::env::var_os("XDSCTL_WORLDS").filter(|_| name == "worlds");
    let text = match fresh {
        Some(path) => std::fs::read_to_string(path).unwrap(),
        None => recorded(name),
    };
    let wanted = std::env::var("XDSCTL_ROWS").unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str::<Row>(line).unwrap())
        .filter(|row| wanted.split(',').any(|prefix| row.id.starts_with(prefix)))
        .collect()
}

/// The channel of a row.
pub struct Channel {
    pub client: Client,
    pub config: Result<Arc<XdsConfig>, ChannelError>,
}

/// Why a channel has no configuration.
#[derive(Debug)]
pub enum ChannelError {
    Target(TargetError),
    Failure(ChannelFailure),
}

/// Returns the bootstrap of the recordings with a row's additions.
fn bootstrap(row: &Row, profile: &Profile) -> Bootstrap {
    let path = root().join("fixtures/conformance/bootstrap.json");
    let mut json: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for (key, value) in row.bootstrap.iter().filter_map(Value::as_object).flatten() {
        if key == "server_features" {
            json["xds_servers"][0]["server_features"] = value.clone();
        } else {
            json[key] = value.clone();
        }
    }
    bootstrap::validate(json.to_string().as_bytes(), profile).0.unwrap()
}

/// Returns the client of a row, which has all its first resources.
pub fn load(row: &Row) -> (Client, Bootstrap) {
    let mut profile = match &row.client {
        // Recordings of a version may be compared before xdsctl follows that version.
        Some(name) => Profile::of(Family::parse_list(name).unwrap()[0]),
        None => Profile::default(),
    };
    for (name, value) in &row.env {
        // The rows of another client may have a switch of C-core's.
        assert!(profile.set_env(name, value).is_ok() || row.client.is_some(), "{name}");
    }
    match row.with.as_deref() {
        None => {}
        Some("rls") => profile.bring(Package::Rls),
        Some(other) => panic!("{other}"),
    }
    let bootstrap = bootstrap(row, &profile);
    let mut client = Client {
        server: bootstrap.server_facts(),
        node_id: bootstrap.node_id.clone(),
        profile,
        ..Client::default()
    };
    let found = client.update(&Value::Array(row.resources.clone())).findings;
    assert!(found.is_empty(), "{found:?}");
    let resolved = |hostname: &str| {
        // This is what the machine of the recordings resolves.
        let literal = hostname.replace("localhost:", "127.0.0.1:");
        let address = match client.profile.client().family {
            xdsctl_model::profile::Family::Node | xdsctl_model::profile::Family::Go => literal.parse(),
            _ => literal.trim_start_matches('/').parse(),
        };
        let address = address.ok()?;
        Some((hostname.to_owned(), Ok(vec![address])))
    };
    client.dns = client.resources.dns_names().filter_map(resolved).collect();
    (client, bootstrap)
}

/// Returns the target of a row.
pub fn target(row: &Row, bootstrap: &Bootstrap) -> Result<Target, TargetError> {
    let uri = row.uri.clone().unwrap_or_else(|| format!("xds:///{}", row.target));
    Target::parse(&uri, row.authority.as_deref(), bootstrap)
}

/// Loads, validates and resolves a row.
pub fn channel(row: &Row) -> Channel {
    let (client, bootstrap) = load(row);
    let config = target(row, &bootstrap)
        .map_err(ChannelError::Target)
        .and_then(|target| {
            let config = client.resolve(&Start::Target(target));
            config.map(Arc::new).map_err(ChannelError::Failure)
        });
    Channel { client, config }
}
