//! Tests of documents and messages in every format, and of the cost of reading them.

mod again;
mod allocations;
#[path = "../examples/check_snapshot.rs"]
mod check_snapshot;
mod formats;
#[path = "../examples/hold_updates.rs"]
mod hold_updates;
mod properties;
mod repeats;
#[path = "../examples/send_rpc.rs"]
mod send_rpc;
mod support;

#[test]
fn the_examples_run() {
    check_snapshot::main();
    hold_updates::main();
    send_rpc::main();
}
