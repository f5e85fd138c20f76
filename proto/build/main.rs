//! Builds the Rust types and the descriptor tables from `proto/xds.binpb`.
//!
//! `proto/xds.binpb` is the whole interface, `reads.txt` says which part of it gRPC reads, and
//! `unknown-to-client.txt` which part the reference client has never heard of. The types are generated from a
//! pruned copy of the set (`prune.rs`); the tables cover all of it (`tables.rs`). A name in either list that the
//! set does not have stops the build.

mod lists;
mod prune;
mod round_trip;
mod tables;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use prost::Message;
use prost_types::FileDescriptorSet;

fn main() -> Result<(), Box<dyn Error>> {
    for input in [
        "proto/xds.binpb",
        "reads.txt",
        "unknown-to-client.txt",
        "harmless.txt",
        "build",
    ] {
        println!("cargo::rerun-if-changed={input}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let set = FileDescriptorSet::decode(fs::read("proto/xds.binpb")?.as_slice())?;
    let index = lists::index(&set);
    let reads = lists::Reads::parse(&fs::read_to_string("reads.txt")?, &index)?;
    let unknown = lists::Marked::read("unknown-to-client.txt", &index)?;
    let harmless = lists::Harmless::read("harmless.txt", &index)?;

    fs::write(
        out.join("tables.rs"),
        tables::generate(&index, &reads, &unknown, &harmless),
    )?;
    let pruned = prune::prune(&set, &reads, &unknown, &index);
    fs::write(out.join("round_trip.rs"), round_trip::generate(&pruned))?;
    prost_build::Config::new()
        .out_dir(&out)
        .include_file("types.rs")
        .btree_map(["."])
        .bytes(["."])
        .enable_type_names()
        .type_name_domain(["."], "type.googleapis.com")
        .extern_path(".google.protobuf.Any", "crate::Any")
        .compile_fds(pruned)?;
    Ok(())
}
