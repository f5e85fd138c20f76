//! Checks that a run does not depend on the number of threads, the order of files, or other runs.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::cli_tree::{run, run_args};
use crate::run::{Run, directory, program, spawned};
use crate::support::{has_tool, root};

/// Returns the suites that users copy.
fn suites() -> Vec<String> {
    let list = fs::read_dir(root().join("fixtures/suites")).unwrap();
    let files = list.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.filter(|file| file.ends_with(".yaml")).collect();
    files.sort();
    files
        .into_iter()
        .map(|file| format!("fixtures/suites/{file}"))
        .collect()
}

#[test]
fn a_suite_says_the_same_alone_and_among_others_in_any_order() {
    let answer = |files: &[String]| -> Vec<Value> {
        let answer: Value =
            serde_json::from_str(&run(&format!("test --format json {}", files.join(" ")), "").out).unwrap();
        answer["suites"].as_array().unwrap().clone()
    };
    let files = suites();
    let mut reversed = files.clone();
    reversed.reverse();
    let together = answer(&files);
    let mut other = answer(&reversed);
    other.reverse();
    assert_eq!(together, other);
    for (file, among) in files.iter().zip(&together).step_by(3) {
        assert_eq!(answer(std::slice::from_ref(file)), std::slice::from_ref(among));
    }
}

/// Writes a world in several files, each large enough for several threads, and a suite about it.
fn large(directory: &Path, reversed: bool) -> String {
    let mut files: Vec<String> = Vec::new();
    let shop = fs::read_to_string(root().join("fixtures/suites/world/shop.yaml")).unwrap();
    fs::write(directory.join("shop.yaml"), shop).unwrap();
    files.push("shop.yaml".to_owned());
    for file in 0..3 {
        let cluster = |number: usize| {
            format!(
                "{{\"@type\": \"type.googleapis.com/envoy.config.cluster.v3.Cluster\", \"name\": \"other-{file}-{number}\", \"type\": \"EDS\", \"eds_cluster_config\": {{\"eds_config\": {{\"ads\": {{}}}}}}}}"
            )
        };
        let clusters: Vec<String> = (0..2000).map(cluster).collect();
        let name = format!("{file}.json");
        fs::write(directory.join(&name), format!("[{}]", clusters.join(",\n"))).unwrap();
        files.push(name);
    }
    if reversed {
        files.reverse();
    }
    let text = format!(
        "world: [{}]\ntarget: xds:///shop\nclients: {{a: , b: }}\nsteps:\n- pick: {{method: /shop.Pay/Charge, count: 50}}\n  expect: {{shares: {{pay: 0%}}, cluster: cart}}\n- drain: 10.5.0.1:8080\n- begin: {{name: load, method: /shop.Stock/Count, rate: 100, for: 2}}\n- stop: 10.6.0.1:8080\n- finish: load\n",
        files.join(", ")
    );
    let path = directory.join("suite.yaml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn neither_threads_nor_the_order_of_files_change_a_byte() {
    let directory = directory("same", "large");
    let commands = |suite: &str| {
        [["test", "--format=json", suite], ["simulate", "--format=jsonl", suite]].map(|args| args.map(str::to_owned))
    };
    let said = |args: &[String]| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        run_args(&args, "").out
    };
    let suite = large(&directory, false);
    let first = commands(&suite).map(|args| said(&args));
    assert!(
        first[0].contains("in cluster `pay`") && first[1].lines().count() > 500,
        "{}",
        first[0]
    );
    assert_eq!(commands(&suite).map(|args| said(&args)), first);
    // One processor means one thread.
    let one = commands(&suite).map(|args| {
        let mut command = Command::new("taskset");
        command
            .arg("-c")
            .arg("0")
            .arg(program(&[""; 0]).get_program())
            .args(args);
        command
    });
    if has_tool("taskset") {
        assert_eq!(one.map(|command| spawned(command, "").out), first);
    }
    let suite = large(&directory, true);
    // The columns in the first line differ.
    let reversed = commands(&suite).map(|args| said(&args));
    assert_eq!(reversed, first);
}

#[test]
fn chance_comes_from_the_seed_alone() {
    let simulate = |seed: &str| {
        let Run { code, out, err } = run(
            &format!("simulate {seed} --format jsonl fixtures/suites/drain.yaml --run rolling"),
            "",
        );
        assert_eq!(code, Some(0), "{err}");
        out
    };
    assert_eq!(simulate("--seed 7"), simulate("--seed 7"));
    assert_ne!(simulate("--seed 7"), simulate("--seed 8"));
}
