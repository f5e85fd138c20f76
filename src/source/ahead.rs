//! Fetches the pages of a mapped file ahead of the reader.
//!
//! Each page that the reader touches first costs it a trap into the kernel, a tenth of the time that a large dump takes. A thread
//! of its own asks for many pages at once, while the reader is busy further up.

use std::sync::Arc;

/// Files below this size are read before a thread has started.
#[cfg(target_os = "linux")]
const LEAST_BYTES: usize = 8 << 20;

/// Bytes that are asked for at once.
#[cfg(target_os = "linux")]
const STEP: usize = 4 << 20;

/// Starts to fetch the pages of `map`, in the order of the file; does nothing where the system has no such call.
#[cfg(target_os = "linux")]
pub(super) fn fetch(map: &Arc<memmap2::Mmap>) {
    if map.len() < LEAST_BYTES {
        return;
    }
    let map = Arc::clone(map);
    // Nobody waits for the thread, and without it the reader fetches the pages as it comes to them.
    let _ = std::thread::Builder::new().name("pages".to_owned()).spawn(move || {
        for start in (0..map.len()).step_by(STEP) {
            let len = STEP.min(map.len() - start);
            if map.advise_range(memmap2::Advice::PopulateRead, start, len).is_err() {
                return;
            }
        }
    });
}

/// Does nothing: there is no such call.
#[cfg(not(target_os = "linux"))]
pub(super) fn fetch(_: &Arc<memmap2::Mmap>) {}
