//! Measures the language server while somebody types: the time from a key to the findings of that
//! version, and memory over many keys.
//!
//! `cargo bench -p xdsctl-cli --bench lsp` has a world of 200 files, of which one of 1 MB is
//! edited; `-- 10000` makes that many edits. A figure holds for one machine: `docs/speed.md` says
//! which. `taskset -c 0,1` gives the bench two processors.

#[path = "../tests/lsp/client.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod client;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use client::{Client, directory, place};

/// The number of files in the world.
const FILES: usize = 200;

/// The size in bytes of the file that is edited.
const BYTES: usize = 1 << 20;

/// The number of edits before the measurement begins.
const WARM: usize = 20;

fn cluster(number: usize) -> String {
    format!(
        "- \"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: c{number}\n  type: EDS\n  eds_cluster_config: {{eds_config: {{ads: {{}}}}}}\n  lb_policy: ROUND_ROBIN\n"
    )
}

fn endpoints(number: usize, count: usize) -> String {
    let mut text = format!(
        "- \"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\n  cluster_name: c{number}\n  endpoints:\n  - locality: {{region: r}}\n    load_balancing_weight: 1\n    lb_endpoints:\n"
    );
    for endpoint in 0..count {
        let (high, low) = (endpoint / 250, endpoint % 250 + 1);
        let _ = writeln!(
            text,
            "    - endpoint: {{address: {{socket_address: {{address: 10.{}.{high}.{low}, port_value: 80}}}}}}",
            number % 250
        );
    }
    text
}

fn routes(number: usize) -> String {
    let mut text = format!(
        "- \"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\n  name: r{number}\n  virtual_hosts:\n  - name: all\n    domains: [\"*\"]\n    routes:\n"
    );
    for route in 0..10 {
        let _ = writeln!(
            text,
            "    - {{match: {{prefix: \"/s{route}/\"}}, route: {{cluster: c{}}}}}",
            (number * 10 + route) % (FILES * 10)
        );
    }
    text
}

fn listener(number: usize) -> String {
    format!(
        "- \"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\n  name: l{number}\n  api_listener:\n    api_listener:\n      \"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager\n      rds: {{route_config_name: r{number}, config_source: {{ads: {{}}}}}}\n      http_filters:\n      - name: router\n        typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}\n"
    )
}

fn write(project: &Path) -> String {
    fs::write(project.join("xdsctl.toml"), "").unwrap();
    for file in 0..FILES - 1 {
        let mut text = String::new();
        text += &listener(file);
        text += &routes(file);
        for number in file * 10..file * 10 + 10 {
            text += &cluster(number);
            text += &endpoints(number, 10);
        }
        fs::write(project.join(format!("f{file:03}.yaml")), text).unwrap();
    }
    let mut large = String::new();
    let mut number = (FILES - 1) * 10;
    while large.len() < BYTES {
        large += &cluster(number);
        large += &endpoints(number, 100);
        number += 1;
    }
    fs::write(project.join("large.yaml"), &large).unwrap();
    large
}

/// Returns how many bytes of this process are in memory.
fn resident() -> usize {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text
        .split_whitespace()
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default() * 4096
}

fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3
}

fn main() {
    let edits = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(500_usize);
    let project = directory("bench");
    let mut text = write(&project);
    let file = project.join("large.yaml");
    let mut client = Client::open(&project);
    let started = Instant::now();
    client.did_open(&file, &text);
    client.findings(&file, 1);
    println!("opened: {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
    let mut times = Vec::new();
    let mut early = 0;
    for number in 0..edits {
        let version = number as i64 + 2;
        // Adds a character to a port number, or removes it again, at another place each time.
        let around = text.len() * (number / 2 % 50) / 50;
        let at = around + text[around..].find("port_value: 8").unwrap_or_default() + "port_value: 8".len();
        let (end, new) = if number % 2 == 0 { (at, "1") } else { (at + 1, "") };
        let (from, to) = (place(&text, at), place(&text, end));
        text.replace_range(at..end, new);
        let range = serde_json::json!({
            "start": {"line": from.0, "character": from.1},
            "end": {"line": to.0, "character": to.1},
        });
        let started = Instant::now();
        client.tell(
            "textDocument/didChange",
            serde_json::json!({
                "textDocument": {"uri": client::uri(&file), "version": version},
                "contentChanges": [{"range": range, "text": new}],
            }),
        );
        client.findings(&file, version);
        if number >= WARM {
            times.push(started.elapsed());
        }
        if number == 100 {
            early = resident();
        }
    }
    let late = resident();
    println!(
        "{edits} keys in {} KB of {FILES} files: {:.1} ms (median), {:.1} ms (p95), {:.1} ms (most)",
        text.len() >> 10,
        percentile(&mut times, 50),
        percentile(&mut times, 95),
        percentile(&mut times, 100)
    );
    println!(
        "memory: {} MB after 100 edits, {} MB after {edits}",
        early >> 20,
        late >> 20
    );
    client.end();
    fs::remove_dir_all(project).unwrap();
}
