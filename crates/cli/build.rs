//! Embeds the built pages of `xdsctl ui` into the command. They are in the directory that
//! `XDSCTL_PAGES` names; without it, the command has no pages.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=XDSCTL_PAGES");
    let mut files = Vec::new();
    if let Some(directory) = env::var_os("XDSCTL_PAGES").filter(|directory| !directory.is_empty()) {
        println!("cargo::rerun-if-changed={}", Path::new(&directory).display());
        find(&fs::canonicalize(directory)?, "", &mut files)?;
    }
    files.sort();
    let mut code = String::from("const PAGES: &[PageFile] = &[\n");
    for (name, file) in &files {
        // If a file is there both plain and compressed, only the compressed one is embedded.
        let is_gzip = name.ends_with(".gz");
        let path = name.strip_suffix(".gz").unwrap_or(name);
        if is_gzip || !files.iter().any(|(other, _)| other.strip_suffix(".gz") == Some(name)) {
            code += &format!("PageFile {{ path: {path:?}, bytes: include_bytes!({file:?}), is_gzip: {is_gzip} }},\n");
        }
    }
    code += "];\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("pages.rs"), code)
}

/// Adds the files below a directory to `files`, with their paths relative to the first directory.
fn find(directory: &Path, before: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        match entry.file_type()?.is_dir() {
            true => find(&entry.path(), &format!("{name}/"), files)?,
            false => files.push((name, entry.path())),
        }
    }
    Ok(())
}
