//! Where the fixtures are, and how they are read.

use std::io::Read as _;
use std::path::Path;

/// The root of the repository, whichever package's test asks.
pub fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().find(|dir| dir.join("fixtures").is_dir()).unwrap()
}

/// The lines of `fixtures/conformance/NAME.jsonl.gz`.
pub fn recorded(name: &str) -> String {
    let path = root().join(format!("fixtures/conformance/{name}.jsonl.gz"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text
}
