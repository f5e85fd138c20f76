//! Validation allocates for what it keeps, and for nothing else.
//!
//! How much a valid endpoint costs beyond decoding it is a number of allocations, not a time, so a test can hold it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bytes::Bytes;
use prost::Message;
use xdsctl::model::ResourceType;
use xdsctl::profile::{Profile, ServerFacts};
use xdsctl::proto::pb::envoy::config::endpoint::v3::ClusterLoadAssignment;
use xdsctl::proto::pb::tables;
use xdsctl::proto::transcode::{Options, json};
use xdsctl::validate::validate;

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "an allocator is unsafe by its trait")]
// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations<T>(work: impl FnOnce() -> T) -> usize {
    let before = COUNT.with(Cell::get);
    let result = work();
    let count = COUNT.with(Cell::get) - before;
    drop(result);
    count
}

/// A valid assignment with so many endpoints, as wire bytes.
fn assignment(endpoints: usize) -> Bytes {
    let endpoints: Vec<String> = (0..endpoints)
        .map(|i| {
            format!(
                r#"{{"endpoint":{{"address":{{"socket_address":{{"address":"10.0.{}.{}","port_value":80}}}}}},"load_balancing_weight":1}}"#,
                i >> 8,
                i & 255
            )
        })
        .collect();
    let text = format!(
        r#"{{"cluster_name":"a","endpoints":[{{"locality":{{"region":"r"}},"load_balancing_weight":1,"lb_endpoints":[{}]}}]}}"#,
        endpoints.join(",")
    );
    let message = tables::message(ResourceType::Endpoints.type_name()).unwrap();
    let read = json(text.as_bytes(), message, Options::default());
    assert!(read.notes.is_empty() && read.stop.is_none());
    read.bytes.into()
}

/// Allocations of decoding alone, and of decoding and validating.
fn counts(endpoints: usize) -> (usize, usize) {
    let bytes = assignment(endpoints);
    let (profile, server) = (Profile::default(), ServerFacts::default());
    let decoding = allocations(|| ClusterLoadAssignment::decode(bytes.clone()).unwrap());
    let both = allocations(|| {
        let validated = validate(ResourceType::Endpoints, &bytes, &profile, &server);
        assert!(validated.diagnostics.is_empty(), "{:?}", validated.diagnostics);
        validated
    });
    (decoding, both)
}

#[test]
fn a_valid_endpoint_costs_what_is_kept_of_it() {
    let (few_decoding, few) = counts(1_000);
    let (many_decoding, many) = counts(2_000);
    let per_endpoint = |many: usize, few: usize| (many - few).div_ceil(1_000);
    let decoding = per_endpoint(many_decoding, few_decoding);
    let both = per_endpoint(many, few);
    // One for the list of its addresses, which the model keeps.
    assert!(
        both <= decoding + 1,
        "{decoding} to decode an endpoint, {both} with validation"
    );
}

#[test]
fn the_wire_check_allocates_nothing() {
    let bytes = assignment(1_000);
    let message = tables::message(ResourceType::Endpoints.type_name()).unwrap();
    let (profile, server) = (Profile::default(), ServerFacts::default());
    let mut cx = xdsctl::diag::Cx::new(&profile, &server);
    let count = allocations(|| xdsctl::proto::wire::check(&bytes, message, &xdsctl::diag::Path::ROOT, &mut cx));
    assert_eq!(count, 0);
}
