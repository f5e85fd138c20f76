//! Tests of logs that differ from what a client wrote: lines are missing, repeated, broken or
//! mixed. The result is always a valid suite.

use std::io::Read as _;

use xdsctl_document::source::SourceMap;
use xdsctl_model::rng::Rng;
use xdsctl_suite::{Suite, capture};

/// The number of lines that are taken from the log.
const LINES: usize = 700;

/// The number of logs that are tested; XDSCTL_RUNS overrides it.
const RUNS: u64 = 24;

fn log() -> Vec<Vec<u8>> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captures/shop.log.gz");
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_end(&mut text)
        .unwrap();
    text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

#[test]
fn a_broken_log_makes_a_suite_or_says_why_not() {
    let runs = std::env::var("XDSCTL_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let log = log();
    let mut made = 0;
    for seed in 0..runs {
        let mut chance = Rng::stream(seed, "log");
        // The piece may begin anywhere, so that it may have pointers that nothing in it has named.
        let from = chance.index(log.len() - LINES);
        let mut lines = log[from..from + LINES].to_vec();
        for _ in 0..chance.below(60) {
            let at = chance.index(lines.len());
            match chance.below(6) {
                0 => _ = lines.remove(at),
                1 => lines.insert(at, lines[chance.index(lines.len())].clone()),
                2 => {
                    let other = chance.index(lines.len());
                    lines.swap(at, other);
                }
                3 => {
                    let len = chance.index(lines[at].len() + 1);
                    lines[at].truncate(len);
                }
                _ if !lines[at].is_empty() => {
                    let byte = chance.index(lines[at].len());
                    lines[at][byte] = b"{}[]\":,=% \x00\xff0x"[chance.index(14)];
                }
                _ => {}
            }
        }
        let mut sources = SourceMap::new();
        let id = sources.add("client.log", lines.join(&b'\n'));
        let Ok(captured) = capture(id, sources.get(id).unwrap(), false) else {
            continue;
        };
        made += 1;
        let text = captured.draft.to_yaml();
        let id = sources.add("suite.yaml", text.clone().into_bytes());
        if let Err(faults) = Suite::read(sources.get(id).unwrap()) {
            panic!("seed {seed}: {}\n{text}", faults[0].message);
        }
    }
    assert!(made > runs / 3, "{made}");
}
