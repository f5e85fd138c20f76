//! Regenerates `proto/xds.binpb`, the descriptor set that `xdsctl-proto` is built from.
//!
//! `cargo run --manifest-path proto/refresh/Cargo.toml`
//!
//! Sources, first match wins: the crate `envoy-types`, the npm package `@grpc/grpc-js-xds`, and the stubs in
//! `proto/stubs`. Versions are pinned here and in `Cargo.toml`. Needs `cargo`, `npm` and `tar` on the path.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use prost::Message;
use prost_types::FileDescriptorSet;

const CRATE: &str = "envoy-types";
const NPM_PACKAGE: &str = "@grpc/grpc-js-xds@1.14.1";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let proto = here.join("..");
    let work = here.join("target/sources");
    fs::create_dir_all(&work)?;

    let crate_protos = crate_dir(&here)?.join("proto");
    let mut include: Vec<PathBuf> = Vec::new();
    for dir in [
        "data-plane-api",
        "xds",
        "cel-spec",
        "googleapis",
        "protoc-gen-validate",
        "client_model",
    ] {
        include.push(crate_protos.join(dir));
    }
    // cel-spec keeps its files one level down.
    include.push(crate_protos.join("cel-spec/proto"));
    include.push(npm_dir(&work)?.join("deps/xds"));
    include.push(proto.join("stubs"));
    include.retain(|dir| dir.is_dir());

    let roots = fs::read_to_string(proto.join("roots.txt"))?;
    let set = compile(&include, roots.lines().filter(|line| !line.is_empty()))?;
    fs::write(proto.join("proto/xds.binpb"), set.encode_to_vec())?;
    println!("{} files", set.file.len());
    Ok(())
}

/// Compiles each root alone and merges the files by name.
///
/// One compiler for all roots would fail: protox looks up relative names in every package it has loaded, where
/// protoc looks at the imports of the file alone, so `config.core.v3.DataSource` inside `envoy.extensions.*` may
/// resolve to a package that the file never imported.
fn compile<'a>(include: &[PathBuf], roots: impl Iterator<Item = &'a str>) -> Result<FileDescriptorSet> {
    let mut seen = BTreeSet::new();
    let mut set = FileDescriptorSet::default();
    for root in roots {
        if seen.contains(root) {
            continue;
        }
        let mut compiler = protox::Compiler::new(include)?;
        compiler.include_imports(true).include_source_info(false);
        compiler.open_file(root)?;
        for file in compiler.file_descriptor_set().file {
            if seen.insert(file.name().to_owned()) {
                set.file.push(file);
            }
        }
    }
    Ok(set)
}

fn crate_dir(here: &Path) -> Result<PathBuf> {
    let manifest = here.join("Cargo.toml");
    let out = Command::new("cargo")
        .args([
            "metadata",
            "--format-version=1",
            "--locked",
            "--all-features",
            "--manifest-path",
        ])
        .arg(manifest)
        .output()?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into());
    }
    let metadata: serde_json::Value = serde_json::from_slice(&out.stdout)?;
    let packages = metadata["packages"]
        .as_array()
        .ok_or("cargo metadata lists no packages")?;
    let package = packages
        .iter()
        .find(|p| p["name"] == CRATE)
        .ok_or("envoy-types is not in the lock file")?;
    let manifest = package["manifest_path"]
        .as_str()
        .ok_or("package without manifest_path")?;
    Ok(Path::new(manifest)
        .parent()
        .ok_or("manifest without directory")?
        .to_owned())
}

fn npm_dir(work: &Path) -> Result<PathBuf> {
    run(Command::new("npm")
        .args(["pack", "--silent", NPM_PACKAGE])
        .current_dir(work))?;
    let archive = fs::read_dir(work)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|ext| ext == "tgz"))
        .ok_or("npm pack left no archive")?;
    run(Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(work))?;
    Ok(work.join("package"))
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?}: {status}").into())
    }
}
