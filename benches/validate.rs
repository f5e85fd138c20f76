//! Measures validation alone: from wire bytes in memory to a typed value, beside a decoder that
//! only decodes the same bytes.
//!
//! Run it with `cargo bench --bench validate`. The resources are those of a clean dump, as the
//! loader hands them on. The decoder is prost-reflect: the generated types leave the larger parts
//! packed until validation looks into them, so decoding with these alone says little. prost-reflect
//! leaves an Any packed. Validation opens it, and walks the bytes for what the client's parser
//! would report. `tests/allocations.rs` bounds what validation allocates.

#[path = "support/dump.rs"]
mod dump;
#[path = "support/time.rs"]
mod time;

use std::hint::black_box;
use std::time::Duration;

use bytes::Bytes;
use dump::Kind;
use prost_reflect::{DescriptorPool, DynamicMessage};
use time::best;
use xdsctl_clients::judge::{validate, within};
use xdsctl_document::load;
use xdsctl_document::source::SourceMap;
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::{Client, Fleet, Profile, ServerFacts};
use xdsctl_model::resource::ResourceType;

/// The size of the JSON, in megabytes, from which the resources are read.
const MEGABYTES: f64 = 106.0;

/// The number of paths in a row: localities, and endpoints in each.
const PATHS: (usize, usize) = (1_000, 100);

fn main() {
    // `cargo test --benches` only checks that the bench starts.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let resources = resources();
    let pool = DescriptorPool::decode(xdsctl_document::proto::pb::DESCRIPTOR_SET).expect("the descriptor set");
    println!(
        "{:<22}{:>9}{:>8}{:>22}{:>22}{:>9}{:>13}",
        "", "", "MB", "prost-reflect decodes", "xdsctl validates", "as fast", "all clients"
    );
    for resource_type in ResourceType::ALL {
        let of_type: Vec<&Bytes> = resources
            .iter()
            .filter(|(found, _)| *found == resource_type)
            .map(|(_, bytes)| bytes)
            .collect();
        measure(&pool, resource_type, &of_type);
    }
    paths();
}

/// Returns the wire bytes of every resource of a clean dump.
fn resources() -> Vec<(ResourceType, Bytes)> {
    let mut text = Vec::new();
    dump::write(&mut text, Kind::Clean, Kind::Clean.scale(MEGABYTES)).expect("memory can be written");
    let mut sources = SourceMap::new();
    let id = sources.add("dump", text);
    let source = sources.get(id).expect("it was added");
    let loaded = load::run(
        Some(1),
        |loader, emit| loader.json(id, source.bytes(), Default::default(), emit),
        // Copies the bytes, because those of a batch are one allocation.
        |raw| Some((raw.resource_type?, Bytes::copy_from_slice(&raw.bytes?))),
    );
    loaded.results.into_iter().flatten().collect()
}

fn measure(pool: &DescriptorPool, resource_type: ResourceType, resources: &[&Bytes]) {
    let message = pool
        .get_message_by_name(resource_type.type_name())
        .expect("the descriptor set has it");
    let decoding = best(|| {
        for bytes in resources {
            black_box(DynamicMessage::decode(message.clone(), black_box(*bytes).clone()).expect("the loader wrote it"));
        }
    });
    let (profile, server) = (Profile::default(), ServerFacts::default());
    let validating = best(|| {
        for bytes in resources {
            let validated = validate(resource_type, black_box(bytes), &profile, &server);
            assert!(validated.diagnostics.is_empty(), "{:?}", validated.diagnostics);
            black_box(validated);
        }
    });
    // Measures asking every current client, beside asking C-core alone.
    let fleet = Fleet::new(&Client::parse_list("current").expect("a list"));
    let asking_all = best(|| {
        for bytes in resources {
            let cx = Validation::new(&profile, &server);
            black_box(within(cx, resource_type, black_box(bytes), (None, fleet.others())));
        }
    });
    let megabytes = resources.iter().map(|bytes| bytes.len()).sum::<usize>() as f64 / 1e6;
    let shown = |time: Duration| {
        format!(
            "{:.2} µs {:>5.0} MB/s",
            time.as_secs_f64() * 1e6 / resources.len() as f64,
            megabytes / time.as_secs_f64()
        )
    };
    println!(
        "{:<22}{:>9}{megabytes:>8.1}{:>22}{:>22}{:>8.1}x{:>12.1}x",
        resource_type.short_name(),
        resources.len(),
        shown(decoding),
        shown(validating),
        decoding.as_secs_f64() / validating.as_secs_f64(),
        asking_all.as_secs_f64() / validating.as_secs_f64()
    );
}

/// Measures keeping track of the place: paths on the stack, beside a stack of strings.
fn paths() {
    let (localities, endpoints) = PATHS;
    let linked = best(|| {
        for i in 0..localities {
            let list = Path::ROOT.field("endpoints");
            let locality = list.index(i);
            for j in 0..endpoints {
                let list = locality.field("lb_endpoints");
                black_box(&list.index(j).field("load_balancing_weight"));
            }
        }
    });
    let stack = best(|| {
        let mut stack = Vec::new();
        for i in 0..localities {
            stack.push(format!("endpoints[{i}]"));
            for j in 0..endpoints {
                stack.push(format!("lb_endpoints[{j}]"));
                stack.push("load_balancing_weight".to_owned());
                black_box(&stack);
                stack.truncate(1);
            }
            stack.clear();
        }
    });
    let per = |time: Duration| time.as_secs_f64() * 1e9 / (localities * endpoints) as f64;
    println!(
        "path of an endpoint: {:.1} ns on the stack, {:.1} ns as strings",
        per(linked),
        per(stack)
    );
}
