//! What a reader chooses to hear: rules by name, suppressions, baselines, the configuration file, worlds.

mod baseline;
mod config;
mod noise;
mod select;
mod suppress;
mod worlds;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// What a run in a directory left behind.
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Run {
    /// `rule name` of every finding, sorted; those on documents have no name.
    fn findings(&self) -> Vec<String> {
        let report = self.json();
        let mut found = Vec::new();
        for resource in report["resources"].as_array().unwrap().iter().chain([&report]) {
            let name = resource["name"].as_str().unwrap_or("-");
            for finding in resource["findings"].as_array().unwrap() {
                found.push(format!("{} {name}", finding["rule"].as_str().unwrap()));
            }
        }
        found.sort();
        found
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("{}{}", self.out, self.err))
    }
}

/// A directory with files, which is the root of a repository.
struct Project(PathBuf);

impl Project {
    fn new(name: &str, files: &[(&str, &str)]) -> Project {
        // Tests run side by side, and two may give the same name.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("choice-{name}-{number}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join(".git")).unwrap();
        let project = Project(path);
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    /// Runs xdsctl in a directory below.
    fn run_in(&self, directory: &str, args: &[&str]) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_xdsctl"))
            .args(args)
            .current_dir(self.0.join(directory))
            .output()
            .unwrap();
        Run {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn run(&self, args: &[&str]) -> Run {
        self.run_in(".", args)
    }

    /// `validate --format json` with these arguments.
    fn validate(&self, args: &[&str]) -> Run {
        let all: Vec<&str> = ["validate", "--format=json"].iter().chain(args).copied().collect();
        self.run(&all)
    }
}

/// A cluster with a policy that the client rejects.
fn maglev(name: &str) -> String {
    format!("{}lb_policy: MAGLEV\n", cluster(name))
}

fn cluster(name: &str) -> String {
    format!(
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: {name}\ntype: EDS\neds_cluster_config: {{eds_config: {{ads: {{}}}}}}\n"
    )
}

/// A RouteConfiguration with a route to each of these clusters.
fn routes(name: &str, clusters: &[&str]) -> String {
    let routes: String = clusters
        .iter()
        .map(|cluster| format!("  - {{match: {{prefix: /{cluster}}}, route: {{cluster: {cluster}}}}}\n"))
        .collect();
    format!(
        "\"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: {name}\nvirtual_hosts:\n- domains: [\"*\"]\n  routes:\n{routes}"
    )
}
