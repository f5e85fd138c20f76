//! Writes worlds for the real client: `cargo run --example worlds -- FIRST LAST > worlds.jsonl`.

mod chance;
mod generate;
mod make;
mod mutate;
mod policies;
mod routes;
#[path = "../support/mod.rs"]
mod support;

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [first, last] = numbers[..] else {
        eprintln!("usage: worlds FIRST LAST");
        std::process::exit(2);
    };
    let recorded = generate::Recorded::read();
    let mut out = std::io::stdout().lock();
    for seed in first..=last {
        writeln!(out, "{}", generate::world(seed, &recorded).to_json())?;
    }
    Ok(())
}
