//! Tests of what a reader chooses to see: rules by name, suppressions, baselines, the configuration
//! file, worlds.

mod baseline;
mod config;
mod layouts;
mod manifests;
mod noise;
mod select;
mod suppress;
mod withheld;
mod worlds;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::run::{Run, program, spawned};

/// A directory with files, which is the root of a repository.
struct Project(PathBuf);

impl Project {
    fn new(name: &str, files: &[(&str, &str)]) -> Project {
        // Tests run side by side, and two may use the same name.
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

    /// Runs xdsctl in a directory below the root.
    fn run_in(&self, directory: &str, args: &[&str]) -> Run {
        let mut command = program(args);
        command.current_dir(self.0.join(directory));
        spawned(command, "")
    }

    fn run(&self, args: &[&str]) -> Run {
        self.run_in(".", args)
    }

    /// Runs `validate --format json` with these arguments.
    fn validate(&self, args: &[&str]) -> Run {
        let all: Vec<&str> = ["validate", "--format=json"].iter().chain(args).copied().collect();
        self.run(&all)
    }
}

/// Makes a cluster with a policy that the client rejects.
fn maglev(name: &str) -> String {
    format!("{}lb_policy: MAGLEV\n", cluster(name))
}

fn cluster(name: &str) -> String {
    format!(
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: {name}\ntype: EDS\neds_cluster_config: {{eds_config: {{ads: {{}}}}}}\n"
    )
}

/// Makes a RouteConfiguration with a route to each of these clusters.
fn routes(name: &str, clusters: &[&str]) -> String {
    let routes: String = clusters
        .iter()
        .map(|cluster| format!("  - {{match: {{prefix: /{cluster}}}, route: {{cluster: {cluster}}}}}\n"))
        .collect();
    format!(
        "\"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: {name}\nvirtual_hosts:\n- domains: [\"*\"]\n  routes:\n{routes}"
    )
}
