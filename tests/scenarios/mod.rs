//! Compares whole configurations and picks with those of a real client:
//! `fixtures/conformance/scenarios.jsonl.gz`.

mod captures;
mod chance;
mod events;
mod in_place;
mod live;
mod loads;
mod machines;
mod others;
mod picks;
mod random;
mod request;
mod timeline;
mod tree;
mod tree_of_java;
mod world;
