//! Checks that validation allocates only for what it keeps.
//!
//! The cost of a valid endpoint beyond decoding is counted in allocations, not in time, so that a
//! test can bound it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bytes::Bytes;
use prost::Message;
use xdsctl_clients::judge::validate;
use xdsctl_document::proto::pb::envoy::config::cluster::v3::Cluster;
use xdsctl_document::proto::pb::envoy::config::endpoint::v3::ClusterLoadAssignment;
use xdsctl_document::proto::pb::envoy::config::listener::v3::Listener;
use xdsctl_document::proto::pb::envoy::config::route::v3::RouteConfiguration;
use xdsctl_document::proto::pb::tables;
use xdsctl_document::proto::transcode::{TranscodeOptions, json};
use xdsctl_model::profile::{Profile, ServerFacts};
use xdsctl_model::resource::ResourceType;

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

/// Reads the JSON of a resource without any finding.
fn wire(resource_type: ResourceType, text: &str) -> Bytes {
    let message = tables::message(resource_type.type_name()).unwrap();
    let read = json(text.as_bytes(), message, TranscodeOptions::default());
    assert!(read.notes.is_empty() && read.stop.is_none(), "{:?}", read.notes);
    read.bytes.into()
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

/// Makes a valid assignment with `endpoints` endpoints, as wire bytes.
fn assignment(endpoints: usize) -> Bytes {
    let endpoints = list(endpoints, |i| {
        format!(
            r#"{{"endpoint":{{"address":{{"socket_address":{{"address":"10.0.{}.{}","port_value":80}}}}}},"load_balancing_weight":1}}"#,
            i >> 8,
            i & 255
        )
    });
    wire(
        ResourceType::Endpoints,
        &format!(
            r#"{{"cluster_name":"a","endpoints":[{{"locality":{{"region":"r"}},"load_balancing_weight":1,"lb_endpoints":[{endpoints}]}}]}}"#
        ),
    )
}

/// Makes a valid route configuration with `count` routes, as wire bytes.
fn routes(count: usize) -> Bytes {
    let routes = list(count, |i| {
        format!(
            r#"{{"match":{{"prefix":"/a.B{i}/","headers":[{{"name":"x","string_match":{{"exact":"y"}}}}]}},"route":{{"cluster":"c{i}","max_stream_duration":{{"max_stream_duration":"5s"}}}}}}"#
        )
    });
    wire(
        ResourceType::RouteConfiguration,
        &format!(r#"{{"name":"a","virtual_hosts":[{{"domains":["*"],"routes":[{routes}]}}]}}"#),
    )
}

/// Makes a valid connection manager in a listener, with `count` filters of one kind before the
/// last, as wire bytes.
fn filters(count: usize) -> Bytes {
    let filters = list(count, |i| {
        format!(
            r#"{{"name":"fault{i}","typed_config":{{"@type":"type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault"}}}}"#
        )
    });
    wire(
        ResourceType::Listener,
        &format!(
            r#"{{"name":"a","api_listener":{{"api_listener":{{"@type":"type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            "rds":{{"config_source":{{"ads":{{}}}},"route_config_name":"r"}},"http_filters":[{filters},
            {{"name":"router","typed_config":{{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}}}]}}}}}}"#
        ),
    )
}

/// Makes a valid aggregate of `count` clusters, as wire bytes.
fn aggregate(count: usize) -> Bytes {
    let clusters = list(count, |i| format!(r#""cluster-{i}""#));
    wire(
        ResourceType::Cluster,
        &format!(
            r#"{{"name":"a","cluster_type":{{"typed_config":{{"@type":"type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig","clusters":[{clusters}]}}}}}}"#
        ),
    )
}

/// The allocations for a resource.
struct Counts {
    /// To decode it with prost; the content of an Any stays packed.
    decoding: usize,
    /// To decode and validate it.
    both: usize,
    /// To copy what validation keeps.
    kept: usize,
}

fn counts<T: Message + Default>(resource_type: ResourceType, bytes: &Bytes) -> Counts {
    let (profile, server) = (Profile::default(), ServerFacts::default());
    let validated = validate(resource_type, bytes, &profile, &server);
    assert!(validated.diagnostics.is_empty(), "{:?}", validated.diagnostics);
    Counts {
        decoding: allocations(|| T::decode(bytes.clone()).unwrap()),
        both: allocations(|| validate(resource_type, bytes, &profile, &server)),
        kept: allocations(|| validated.value.clone()),
    }
}

/// Checks that one more element takes no more allocations than decoding it, opening what decoding
/// leaves packed (`opening`), and keeping it.
#[track_caller]
fn check<T: Message + Default>(resource_type: ResourceType, make: fn(usize) -> Bytes, opening: usize) {
    let few = counts::<T>(resource_type, &make(1_000));
    let many = counts::<T>(resource_type, &make(2_000));
    let each = |count: fn(&Counts) -> usize| (count(&many) - count(&few)) as f64 / 1_000.0;
    let (decoding, both, kept) = (each(|c| c.decoding), each(|c| c.both), each(|c| c.kept));
    // A list or a set grows in steps, so now and then there is one more.
    let most = decoding + kept + opening as f64 + 0.2;
    assert!(both <= most, "decoding {decoding}, kept {kept}, all {both}");
}

#[test]
fn a_valid_endpoint_costs_what_is_kept_of_it() {
    // The one is for its IP address.
    check::<ClusterLoadAssignment>(ResourceType::Endpoints, assignment, 1);
}

#[test]
fn a_valid_route_costs_what_is_kept_of_it() {
    // These are for the prefix, the list of headers, the name and text of one header, and the
    // cluster.
    check::<RouteConfiguration>(ResourceType::RouteConfiguration, routes, 5);
}

#[test]
fn a_valid_filter_costs_what_is_kept_of_it() {
    // These are for the name and the type URL.
    check::<Listener>(ResourceType::Listener, filters, 2);
}

#[test]
fn a_valid_member_of_an_aggregate_costs_what_is_kept_of_it() {
    // The one is for its name.
    check::<Cluster>(ResourceType::Cluster, aggregate, 1);
}

#[test]
fn the_wire_check_allocates_nothing() {
    let bytes = assignment(1_000);
    let message = tables::message(ResourceType::Endpoints.type_name()).unwrap();
    let (profile, server) = (Profile::default(), ServerFacts::default());
    let mut cx = xdsctl_model::diag::Validation::new(&profile, &server);
    let count = allocations(|| {
        xdsctl_document::proto::wire::check(&bytes, message, true, &xdsctl_model::diag::Path::ROOT, &mut cx)
    });
    assert_eq!(count, 0);
}
