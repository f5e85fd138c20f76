//! Measures reading YAML, beside a library that reads it into a value: endpoints as programs write
//! them, and texts that are harder to read.
//!
//! Run it with `cargo bench --bench yaml`.

#[path = "support/time.rs"]
mod time;

use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

use time::best;
use xdsctl_document::source::yaml;

/// The number of endpoints in a text.
const ENDPOINTS: usize = 40_000;

const HEAD: &str = "resources:\n- '@type': type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\n  cluster_name: a\n  endpoints:\n  - locality: {region: r, zone: z}\n    load_balancing_weight: 1\n    lb_endpoints:\n";

/// Writes endpoint after endpoint, one value on each line.
fn endpoints() -> String {
    let mut text = HEAD.to_owned();
    for i in 0..ENDPOINTS {
        let (b, c) = (i / 250, i % 250);
        let _ = write!(
            text,
            "    - endpoint:\n        address:\n          socket_address:\n            address: 10.0.{b}.{c}\n            port_value: 8080\n      load_balancing_weight: {}\n      health_status: HEALTHY\n",
            1 + i % 7
        );
    }
    text
}

/// Writes filters with code in block scalars and patterns in double quotes.
fn code() -> String {
    let mut text = "resources:\n".to_owned();
    for i in 0..ENDPOINTS / 8 {
        let _ = write!(
            text,
            "- name: route-{i}\n  inline_code: |\n    function envoy_on_request(handle)\n      -- adds a header\n      handle:headers():add(\"x-route\", \"{i}\")\n\n      if handle:headers():get(\":path\") == \"/\" then\n        return\n      end\n    end\n  pattern: \"/api/v{i}/\\\\d+(\\\\.json)?\\t\\\"x\\\"\"\n  note: >-\n    A text that was folded where a program thinks that a line is long,\n    and that goes on behind it.\n  description: a plain text that was folded where a program thinks that a line is\n    long, and that goes on behind it\n"
        );
    }
    text
}

/// Writes endpoints that share their common parts by anchors.
fn anchors() -> String {
    let mut text = "defaults: &defaults\n  load_balancing_weight: 3\n  health_status: HEALTHY\nmetadata: &metadata\n  filter_metadata:\n    envoy.lb: {canary: false, stage: prod}\n".to_owned();
    text += HEAD;
    for i in 0..ENDPOINTS {
        let (b, c) = (i / 250, i % 250);
        let _ = write!(
            text,
            "    - <<: *defaults\n      metadata: *metadata\n      endpoint:\n        address:\n          socket_address: {{address: 10.0.{b}.{c}, port_value: 8080}}\n"
        );
    }
    text
}

/// Writes several documents, one of which only the general parser can read.
fn documents() -> String {
    let one = endpoints();
    format!("{one}---\na: !!str 1\nb: \"c\n  d\"\n---\n{one}")
}

fn main() {
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    println!("{:<12}{:>9}{:>13}{:>13}{:>9}", "", "MB", "xdsctl", "value", "ratio");
    for (name, text, has_merge_keys) in [
        ("endpoints", endpoints(), false),
        ("code", code(), false),
        ("anchors", anchors(), true),
        ("documents", documents(), false),
    ] {
        let view = yaml::view(&text);
        assert!(view.faults.is_empty(), "{name}: {:?}", view.faults);
        let ours = best(|| yaml::view(black_box(&text)));
        let theirs = best(|| {
            let read = serde_norway::Deserializer::from_str(black_box(&text));
            read.map(|document| {
                let mut value = <serde_norway::Value as serde::Deserialize>::deserialize(document).expect("it is YAML");
                if has_merge_keys {
                    value.apply_merge().expect("merge keys name mappings");
                }
                value
            })
            .collect::<Vec<_>>()
        });
        let megabytes = text.len() as f64 / 1e6;
        let speed = |time: Duration| megabytes / time.as_secs_f64();
        println!(
            "{name:<12}{megabytes:>9.1}{:>8.0} MB/s{:>8.0} MB/s{:>8.1}x",
            speed(ours),
            speed(theirs),
            theirs.as_secs_f64() / ours.as_secs_f64()
        );
    }
}
