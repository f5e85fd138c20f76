//! Writes a dump for measurements by hand:
//! `cargo bench --bench write_dump -- FILE [clean|one|realistic] [SCALE]`.

#[path = "support/dump.rs"]
mod dump;

use std::fs::File;
use std::io::{BufWriter, Write};

use dump::Kind;

fn main() {
    let mut args = std::env::args().skip(1).filter(|a| a != "--bench");
    let Some(file) = args.next() else {
        // `cargo test` runs the bench without arguments.
        return;
    };
    let kind = match args.next().as_deref() {
        Some("realistic") => Kind::Realistic,
        Some("one") => Kind::OneFindingPerEndpoint,
        _ => Kind::Clean,
    };
    let scale = args
        .next()
        .and_then(|s| s.parse().ok())
        .unwrap_or_else(|| kind.scale(106.0));
    let mut out = BufWriter::new(File::create(file).expect("the file can be created"));
    dump::write(&mut out, kind, scale).expect("the dump can be written");
    out.flush().expect("the dump can be written");
}
