//! Asks the commands about a world. This is the only place that knows their arguments.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::run::run;
use crate::support::root;

/// A finding of `validate` on a resource.
#[derive(Debug, Clone)]
pub struct Finding {
    pub kind: String,
    pub name: String,
    pub rule: String,
    pub effect: String,
    pub path: String,
    pub message: String,
}

impl Finding {
    /// Says whether the client rejects the resource, or RPCs fail.
    pub fn is_harm(&self) -> bool {
        matches!(self.effect.as_str(), "nack" | "fails")
    }
}

/// The outcome of an RPC.
#[derive(Debug, Clone, PartialEq)]
pub struct Pick {
    pub result: String,
    pub code: String,
    pub details: String,
    pub steps: Vec<(String, String)>,
}

impl Pick {
    pub fn is_ok(&self) -> bool {
        self.code == "OK"
    }

    /// Returns the last message of a layer.
    pub fn last(&self, layer: &str) -> Option<&str> {
        let said = self.steps.iter().rev().find(|(name, _)| name == layer);
        said.map(|(_, what)| what.as_str())
    }

    /// Returns the index of the route, and the cluster or plugin to which it leads, as
    /// `cluster:NAME`.
    pub fn route(&self) -> Option<(usize, &str)> {
        let (label, key) = self.last("route")?.split_once(": takes it to ")?;
        let (index, _) = label.strip_prefix("routes[")?.split_once(']')?;
        // The weight of one of several clusters follows.
        let key = key.split_once(", with ").map_or(key, |(key, _)| key);
        Some((index.parse().ok()?, key))
    }

    /// Returns the leaf clusters that the last pick reached.
    pub fn leaves(&self) -> BTreeSet<String> {
        let start = self.steps.iter().rposition(|(layer, _)| layer == "pick").unwrap_or(0);
        self.steps[start..]
            .iter()
            .filter(|(layer, _)| layer == "cds_experimental")
            .filter_map(|(_, what)| what.strip_prefix("cluster ").map(unquoted))
            .collect()
    }

    /// Returns the name of the virtual host, and the domain by which it was found.
    pub fn virtual_host(&self) -> Option<(String, String)> {
        let (name, rest) = self.last("virtual host")?.split_once(" by its domain `")?;
        Some((unquoted(name), rest.trim_end_matches('`').to_owned()))
    }
}

/// Undoes the `{:?}` form of a text.
fn unquoted(text: &str) -> String {
    serde_json::from_str(text).unwrap_or_else(|_| text.trim_matches('"').to_owned())
}

/// A world with its files.
pub struct World<'r> {
    row: &'r Value,
    document: String,
    bootstrap: PathBuf,
}

impl<'r> World<'r> {
    /// Makes a world of a row from the recordings or the generator.
    pub fn of(row: &'r Value) -> World<'r> {
        World {
            row,
            document: json!({ "resources": row["resources"] }).to_string(),
            bootstrap: bootstrap(row),
        }
    }

    fn run(&self, command: &str, more: &[String]) -> Value {
        let mut args = vec![command.to_owned(), "--format=json".to_owned()];
        args.push(format!("--bootstrap={}", self.bootstrap.display()));
        let target = self.row["target"].as_str().unwrap();
        args.push(format!("--target=xds:///{target}"));
        args.extend(self.row["authority"].as_str().map(|name| format!("--authority={name}")));
        for (name, value) in self.row["env"].as_object().into_iter().flatten() {
            args.push(format!("--env={name}={}", value.as_str().unwrap()));
        }
        args.extend_from_slice(more);
        let (out, err) = run(args, self.document.as_bytes());
        serde_json::from_slice(&out).unwrap_or_else(|_| {
            panic!(
                "{}: {command} {more:?}: {}",
                self.row["id"],
                String::from_utf8_lossy(&err)
            )
        })
    }

    /// Returns everything that `validate` finds on resources.
    pub fn findings(&self) -> Vec<Finding> {
        let report = self.run("validate", &[]);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut found = Vec::new();
        let of_documents = json!({"type": "", "name": "", "findings": report["findings"]});
        for resource in report["resources"].as_array().unwrap().iter().chain([&of_documents]) {
            for finding in resource["findings"].as_array().unwrap() {
                found.push(Finding {
                    kind: text(&resource["type"]),
                    name: text(&resource["name"]),
                    rule: text(&finding["rule"]),
                    effect: text(&finding["effect"]),
                    path: text(&finding["path"]),
                    message: text(&finding["message"]),
                });
            }
        }
        found
    }

    /// Asks about an RPC on a new channel whose network has no fault: DNS knows every host.
    fn ask(&self, request: &Value, count: usize) -> Value {
        let mut args = vec![format!("--count={count}")];
        args.extend(dns_names(self.row).map(|name| format!("--resolve={name}=127.0.0.1:80")));
        args.extend(request["method"].as_str().map(|method| format!("--method={method}")));
        for header in request["headers"].as_array().into_iter().flatten() {
            let (name, value) = (header[0].as_str().unwrap(), header[1].as_str().unwrap());
            // These headers control the backends of the recordings.
            if !["x-fail", "x-fail-late", "x-hold", "x-pushback"].contains(&name) {
                args.push(format!("--header={name}={value}"));
            }
        }
        self.run("pick", &args)
    }

    /// Says whether some of many such RPCs work.
    pub fn works_at_times(&self, request: &Value) -> bool {
        let answer = self.ask(request, 100);
        answer["picks"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|pick| pick["code"] == "OK")
    }

    /// Returns the outcome of one RPC.
    pub fn pick(&self, request: &Value) -> Pick {
        let answer = self.ask(request, 1);
        let pick = &answer["picks"][0];
        let text = |field: &str| pick[field].as_str().unwrap_or_default().to_owned();
        let step = |step: &Value| {
            let text = |field: &str| step[field].as_str().unwrap_or_default().to_owned();
            (text("layer"), text("what"))
        };
        Pick {
            result: text("result"),
            code: text("code"),
            details: text("details"),
            steps: pick["trace"].as_array().into_iter().flatten().map(step).collect(),
        }
    }
}

/// Returns the hosts for which DNS is asked, with their ports. A client that asks for another one
/// has misread the name.
fn dns_names(row: &Value) -> impl Iterator<Item = String> {
    let clusters = row["resources"].as_array().unwrap().iter();
    let is_name = |host: &&str| !host.is_empty() && !host.contains('=') && host.parse::<std::net::IpAddr>().is_err();
    clusters
        .filter(|cluster| cluster["type"] == "LOGICAL_DNS")
        .filter_map(move |cluster| {
            let endpoint = &cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"];
            let address = &endpoint["address"]["socket_address"];
            let port = address["port_value"]
                .as_u64()
                .filter(|port| (1..65536).contains(port))?;
            let host = address["address"].as_str().filter(is_name)?;
            Some(format!("{host}:{port}"))
        })
}

/// Returns the bootstrap of the recordings; a row with additions gets a file of its own.
fn bootstrap(row: &Value) -> PathBuf {
    let shared = root().join("fixtures/conformance/bootstrap.json");
    let Some(additions) = row["bootstrap"].as_object() else {
        return shared;
    };
    let mut json: Value = serde_json::from_slice(&std::fs::read(shared).unwrap()).unwrap();
    for (key, value) in additions {
        if key == "server_features" {
            json["xds_servers"][0]["server_features"] = value.clone();
        } else {
            json[key] = value.clone();
        }
    }
    let name: String = row["id"].as_str().unwrap().replace('/', "_");
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bootstrap-{name}.json"));
    std::fs::write(&path, json.to_string()).unwrap();
    path
}
