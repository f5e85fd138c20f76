//! Checks that `validate` and `pick` never contradict each other.
//!
//! - What `validate` says fails must fail: no RPC that works may go through a part of a resource
//!   with a finding `nack` or `fails`.
//! - What fails must be explained: an RPC that fails without a fault of the network or of its own
//!   must have a finding on what it went through.

use std::collections::BTreeSet;

use serde_json::Value;

use super::findings::{Finding, Pick, World};
use super::generate::{self, Recorded};
use super::make::{CLUSTER, LISTENER, ROUTES, name_of};

/// The number of generated worlds where every row is compared, and where not; `XDSCTL_GENERATED`
/// overrides both.
const GENERATED: [u64; 2] = [250, 50];

/// The first generated world: earlier ones are among the recorded worlds.
const FIRST_SEED: u64 = 100_001;

/// Rules whose effect only some RPCs show.
const NOT_ALL: [&str; 2] = [
    // About every other retry is lost, so an RPC that needs none works.
    "rds-retry-back-off-1ms-fails",
    // The crash needs a switch of the environment.
    "rbac-authenticated-crashes-tracing",
];

/// Rules about RPCs that go elsewhere than intended: here every address answers, also that one.
const ELSEWHERE_THAN_MEANT: [&str; 2] = ["cds-dns-name-misread", "cds-dns-port-out-of-range"];

/// Rules about what happens below the sessions: a cookie bypasses it, in the client as well.
const BELOW_SESSIONS: [&str; 2] = ["lb-ring-hash-below-localities", "lb-custom-unusable"];

/// Advice that explains a failure. The resource may still come, so these are not errors.
const EXPLAINS: [&str; 6] = [
    "lds-route-config-missing",
    "rds-cluster-missing",
    "cds-endpoints-missing",
    "aggregate-child-missing",
    "aggregate-leaf-passed-over",
    // Such a route exists to end RPCs.
    "rds-route-action-unknown",
];

/// The client's words about failures that the configuration does not cause: those that were asked
/// for, or that are due to the request or the network.
const ELSEWHERE: [&str; 2] = ["Fault injected", "No matching route found in xDS route config"];

/// The resources that a channel uses, by type and name, as far as names lead.
struct Reach<'r> {
    resources: &'r [Value],
    /// The name for which the channel asks.
    listener: String,
}

impl<'r> Reach<'r> {
    fn of(row: &'r Value) -> Reach<'r> {
        let template = row["bootstrap"]["client_default_listener_resource_name_template"].as_str();
        Reach {
            resources: row["resources"].as_array().unwrap(),
            listener: template.unwrap_or("%s").replace("%s", row["target"].as_str().unwrap()),
        }
    }

    fn find(&self, type_url: &str, name: &str) -> Option<&'r Value> {
        let mut of_type = self.resources.iter().filter(|resource| resource["@type"] == type_url);
        of_type.rfind(|resource| name_of(resource) == Some(name))
    }

    fn manager(&self) -> &'r Value {
        static NONE: Value = Value::Null;
        let listener = self.find(LISTENER, &self.listener);
        listener.map_or(&NONE, |listener| &listener["api_listener"]["api_listener"])
    }

    /// Returns the name of the RouteConfiguration, if it is not inline.
    fn route_config(&self) -> Option<&'r str> {
        self.manager()["rds"]["route_config_name"].as_str()
    }

    fn virtual_hosts(&self) -> Option<&'r Vec<Value>> {
        let routes = match self.route_config() {
            Some(name) => self.find(ROUTES, name)?,
            None => &self.manager()["route_config"],
        };
        routes["virtual_hosts"].as_array()
    }

    /// Returns the clusters that routes name.
    fn roots(&self) -> impl Iterator<Item = &'r str> {
        let hosts = self.virtual_hosts().into_iter().flatten();
        let routes = hosts.flat_map(|host| host["routes"].as_array().into_iter().flatten());
        routes.map(|route| &route["route"]).flat_map(|action| {
            let entries = action["weighted_clusters"]["clusters"].as_array();
            let weighted = entries.into_iter().flatten().map(|entry| &entry["name"]);
            weighted.chain([&action["cluster"]]).filter_map(Value::as_str)
        })
    }

    /// Returns the name of a cluster's endpoints.
    fn endpoints(&self, cluster: &str) -> String {
        let service = self
            .find(CLUSTER, cluster)
            .and_then(|cluster| cluster["eds_cluster_config"]["service_name"].as_str());
        service.filter(|name| !name.is_empty()).unwrap_or(cluster).to_owned()
    }

    /// Returns a cluster and all clusters below it.
    fn below(&self, cluster: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![cluster.to_owned()];
        while let Some(name) = open.pop() {
            if !found.insert(name.clone()) {
                continue;
            }
            let children = self
                .find(CLUSTER, &name)
                .and_then(|cluster| cluster["cluster_type"]["typed_config"]["clusters"].as_array());
            let names = children.into_iter().flatten().filter_map(Value::as_str);
            open.extend(names.map(str::to_owned));
        }
        found
    }
}

fn root(pick: &Pick) -> Option<&str> {
    pick.route().and_then(|(_, key)| key.strip_prefix("cluster:"))
}

/// Says whether a finding is about something that a working RPC went through.
fn is_on_the_way(finding: &Finding, pick: &Pick, reach: &Reach<'_>) -> bool {
    let leaves = pick.leaves();
    match finding.kind.as_str() {
        "Listener" => finding.name == reach.listener && is_on_the_route(&finding.path, pick, reach),
        "RouteConfiguration" => {
            reach.route_config() == Some(finding.name.as_str()) && is_on_the_route(&finding.path, pick, reach)
        }
        "Cluster" => root(pick) == Some(finding.name.as_str()) || leaves.contains(&finding.name),
        "ClusterLoadAssignment" => leaves.iter().any(|leaf| reach.endpoints(leaf) == finding.name),
        _ => true,
    }
}

/// Says whether a path is in no virtual host, route or cluster of a route other than the RPC's.
fn is_on_the_route(path: &str, pick: &Pick, reach: &Reach<'_>) -> bool {
    let index = |after: &str| -> Option<usize> {
        let (_, rest) = path.split_once(after)?;
        rest.split_once(']')?.0.parse().ok()
    };
    let Some(host) = index("virtual_hosts[") else {
        return true;
    };
    let Some((name, domain)) = pick.virtual_host() else {
        return false;
    };
    let Some(hosts) = reach.virtual_hosts() else {
        return false;
    };
    let is_host = hosts.get(host).is_some_and(|host| {
        let has_domain = |domains: &Vec<Value>| domains.iter().any(|d| d == domain.as_str());
        host["name"].as_str().unwrap_or_default() == name && host["domains"].as_array().is_some_and(has_domain)
    });
    let is_route = match (index("].routes["), pick.route()) {
        (None, _) => true,
        (Some(route), Some((taken, _))) => route == taken,
        (Some(_), None) => false,
    };
    let is_cluster = match index("weighted_clusters.clusters[") {
        None => true,
        Some(entry) => {
            let route = index("].routes[").unwrap_or_default();
            let entry = &hosts[host]["routes"][route]["route"]["weighted_clusters"]["clusters"][entry];
            entry["name"].as_str() == root(pick)
        }
    };
    is_host && is_route && is_cluster
}

/// Says whether a finding explains that an RPC fails.
fn explains(finding: &Finding, pick: &Pick, reach: &Reach<'_>) -> bool {
    if !finding.is_harm() && !EXPLAINS.contains(&finding.rule.as_str()) {
        return false;
    }
    let below = match root(pick) {
        Some(root) => reach.below(root),
        // The channel did not reach a route.
        None => reach.roots().flat_map(|root| reach.below(root)).collect(),
    };
    match finding.kind.as_str() {
        "Listener" => finding.name == reach.listener,
        "RouteConfiguration" => reach.route_config() == Some(finding.name.as_str()),
        "Cluster" => below.contains(&finding.name),
        "ClusterLoadAssignment" => below.iter().any(|cluster| reach.endpoints(cluster) == finding.name),
        _ => finding.rule.starts_with("target-"),
    }
}

fn describe(finding: &Finding) -> String {
    let Finding {
        kind,
        name,
        rule,
        effect,
        path,
        message,
    } = finding;
    format!("{rule} ({effect}) on {kind} `{name}` at {path}: {message}")
}

/// Returns the requests of a row: its picks, and an empty one.
fn requests(row: &Value) -> Vec<Value> {
    let mut requests: Vec<Value> = row["steps"]
        .as_array()
        .into_iter()
        .flatten()
        .take_while(|step| step.get("update").is_none() && step.get("remove").is_none())
        .filter_map(|step| step.get("pick").or_else(|| step.get("begin")))
        .map(|pick| serde_json::json!({"method": pick["method"], "headers": pick["headers"]}))
        .collect();
    requests.push(serde_json::json!({}));
    let mut seen = BTreeSet::new();
    requests.retain(|request| seen.insert(request.to_string()));
    requests.truncate(4);
    requests
}

fn has_cookie(request: &Value) -> bool {
    let headers = request["headers"].as_array();
    headers.into_iter().flatten().any(|header| header[0] == "cookie")
}

/// Returns where the verdict of `validate` differs from the real client's, if that was asked.
///
/// RPCs cannot show that: `pick` leaves out what `validate` rejects.
fn verdicts(row: &Value, findings: &[Finding]) -> Vec<String> {
    let changes = |step: &Value| step.get("update").is_some() || step.get("remove").is_some();
    if row["steps"].as_array().into_iter().flatten().any(changes) {
        return Vec::new();
    }
    let answers = row["answer"]["resources"].as_object().into_iter().flatten();
    let differs = |(key, answer): (&String, &Value)| {
        let (kind, name) = key.split_once('/').unwrap();
        let of_resource = |finding: &&Finding| finding.kind == kind && finding.name == name;
        let nack = findings
            .iter()
            .filter(of_resource)
            .find(|finding| finding.effect == "nack");
        let is_rejected = answer["status"] == "NACKED";
        (is_rejected != nack.is_some()).then(|| {
            let ours = nack.map_or("no nack".to_owned(), describe);
            format!("{}: the client has {key} {}: {ours}", row["id"], answer)
        })
    };
    answers.filter_map(differs).collect()
}

/// Returns where `validate` and `pick` contradict each other in one world.
fn contradictions(row: &Value) -> Vec<String> {
    let world = World::of(row);
    let reach = Reach::of(row);
    let findings = world.findings();
    let mut found = verdicts(row, &findings);
    for request in requests(row) {
        let pick = world.pick(&request);
        if pick.is_ok() {
            let is_told = pick.route().is_some() && pick.virtual_host().is_some() && !pick.leaves().is_empty();
            assert!(
                is_told,
                "{}: what the RPC went through is not told: {:?}",
                row["id"], pick.steps
            );
            let is_excused = |rule: &str| {
                NOT_ALL.contains(&rule)
                    || ELSEWHERE_THAN_MEANT.contains(&rule)
                    || BELOW_SESSIONS.contains(&rule) && has_cookie(&request)
            };
            let mut harms = findings.iter().filter(|finding| finding.is_harm());
            let wrong = harms.find(|finding| !is_excused(&finding.rule) && is_on_the_way(finding, &pick, &reach));
            if let Some(finding) = wrong {
                found.push(format!(
                    "{}: {request} works in spite of {}",
                    row["id"],
                    describe(finding)
                ));
            }
            continue;
        }
        let is_elsewhere = ELSEWHERE.iter().any(|words| pick.details.contains(words));
        if is_elsewhere || findings.iter().any(|finding| explains(finding, &pick, &reach)) {
            continue;
        }
        // With another draw, the RPC works.
        if world.works_at_times(&request) {
            continue;
        }
        found.push(format!(
            "{}: {request} fails with {} {}, and no finding says why; {:?}",
            row["id"],
            pick.code,
            pick.details,
            pick.route()
        ));
    }
    found
}

fn check(rows: impl Iterator<Item = Value>) {
    let mut count = 0;
    let mut wrong = Vec::new();
    for row in rows {
        count += 1;
        wrong.extend(contradictions(&row).into_iter().take(1));
    }
    assert!(count > 0);
    assert!(
        wrong.is_empty(),
        "{} of {count} worlds\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn validate_and_pick_agree_on_recorded_worlds() {
    check(
        ["scenarios", "runtime", "timelines", "names"]
            .into_iter()
            .flat_map(generate::recorded),
    );
}

#[test]
fn validate_and_pick_agree_on_mutated_worlds() {
    check(crate::support::sample(generate::recorded("worlds"), 16).into_iter());
}

#[test]
fn validate_and_pick_agree_on_generated_worlds() {
    let [all, few] = GENERATED;
    let usual = if crate::support::compares_all() { all } else { few };
    let count = std::env::var("XDSCTL_GENERATED").map_or(usual, |text| text.parse().unwrap());
    let recorded = Recorded::read();
    check((FIRST_SEED..FIRST_SEED + count).map(|seed| generate::world(seed, &recorded).to_json()));
}
