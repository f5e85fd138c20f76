//! What the fuzz targets do with their bytes.
//!
//! A target fails by a panic, by taking more than a few seconds, or by using much more memory than its input has bytes. Each is
//! a function of bytes: the binaries of `fuzz_targets/` give it the fuzzer's, `tests/seeds.rs` those of `fixtures/`.

mod differential;
mod documents;

/// Longer inputs are left alone: a pass over 64 KiB takes a tenth of a second with the fuzzer's counters, nested wire format a
/// quarter, and what can go wrong goes wrong in less.
pub const MAX_BYTES: usize = 8 << 10;

/// What is run on an input.
pub type Target = fn(&[u8]);

/// The targets by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("any_bytes_to_validate", documents::any_bytes_to_validate),
    ("binary", documents::binary),
    ("json", documents::json),
    ("textproto", documents::textproto),
    ("transcode_differential", differential::transcode_differential),
    ("yaml", documents::yaml),
];

/// Runs the target of a name.
///
/// # Panics
///
/// When there is no such target, or it found something.
pub fn run(name: &str, data: &[u8]) {
    let (_, target) = TARGETS
        .iter()
        .find(|(known, _)| *known == name)
        .expect("fuzz_targets/ and TARGETS have the same names");
    if data.len() <= MAX_BYTES {
        target(data);
    }
}
