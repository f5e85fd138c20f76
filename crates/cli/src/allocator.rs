//! The allocator of the command.
//!
//! Small blocks come from mimalloc, because validation and the simulator allocate many of them: the
//! system's allocator took an eighth of the time of validation and a quarter of that of simulation.
//! All other blocks come from the system, which extends a growing buffer in place. mimalloc copies
//! it, so that both lengths are in memory at once, and reserves room for each size and thread.
//! docs/speed.md has the gain of each. On WebAssembly, only the system's allocator is used.

#![expect(unsafe_code, reason = "an allocator is unsafe by its trait")]

use std::alloc::{GlobalAlloc, Layout, System};

use mimalloc::MiMalloc as Small;

/// Blocks of at least this many bytes come from the system.
const LARGE_BYTES: usize = 1024;

/// The allocator: mimalloc for small blocks, the system's allocator for large ones.
#[derive(Debug, Clone, Copy)]
pub struct Split;

const fn is_large(bytes: usize) -> bool {
    bytes >= LARGE_BYTES
}

// SAFETY: a block is freed by the allocator that it came from. Which one that is depends only on
// the block's layout, and the caller frees a block with the layout that it has.
unsafe impl GlobalAlloc for Split {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises of `alloc`.
        match is_large(layout.size()) {
            true => unsafe { System.alloc(layout) },
            false => unsafe { Small.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises of `alloc_zeroed`.
        match is_large(layout.size()) {
            true => unsafe { System.alloc_zeroed(layout) },
            false => unsafe { Small.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block came from the allocator of its layout.
        match is_large(layout.size()) {
            true => unsafe { System.dealloc(block, layout) },
            false => unsafe { Small.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        match (is_large(layout.size()), is_large(new_size)) {
            // SAFETY: the block came from this allocator, which still has it afterwards.
            (true, true) => unsafe { System.realloc(block, layout, new_size) },
            // SAFETY: as above.
            (false, false) => unsafe { Small.realloc(block, layout, new_size) },
            // SAFETY: as above.
            (true, false) | (false, true) => unsafe { moved(self, block, layout, new_size) },
        }
    }
}

/// Moves a block to a new block of another size.
///
/// # Safety
/// The same conditions as for [`GlobalAlloc::realloc`].
unsafe fn moved(allocator: &Split, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
    // SAFETY: the caller promises that the new size is valid for a layout with this alignment.
    let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
    // SAFETY: the new size is not 0, as the caller promises.
    let new = unsafe { allocator.alloc(new_layout) };
    if !new.is_null() {
        // SAFETY: both blocks are valid for the smaller size and do not overlap. The old block is
        // freed with its layout.
        unsafe {
            std::ptr::copy_nonoverlapping(block, new, layout.size().min(new_size));
            allocator.dealloc(block, layout);
        }
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reallocation between lengths around the border, in any order, keeps what was written.
    #[test]
    fn a_block_keeps_its_bytes_across_the_border() {
        let mut layout = Layout::from_size_align(1, 8).unwrap();
        // SAFETY: the sizes are not 0, and each block is used and freed with the layout that it
        // has.
        unsafe {
            let mut block = Split.alloc(layout);
            block.write(7);
            for size in [
                8,
                LARGE_BYTES - 1,
                LARGE_BYTES,
                3 * LARGE_BYTES,
                LARGE_BYTES + 1,
                LARGE_BYTES - 1,
                100,
                5 * LARGE_BYTES,
            ] {
                let kept = layout.size().min(size);
                block.add(layout.size() - 1).write(9);
                let last = block.add(kept - 1).read();
                block = Split.realloc(block, layout, size);
                layout = Layout::from_size_align(size, 8).unwrap();
                assert!(block.addr().is_multiple_of(8));
                assert_eq!(
                    (block.read(), block.add(kept - 1).read()),
                    (if kept == 1 { 9 } else { 7 }, last),
                    "{size}"
                );
                block.write(7);
            }
            Split.dealloc(block, layout);
            for size in [10, LARGE_BYTES - 1, LARGE_BYTES, 10 * LARGE_BYTES] {
                let layout = Layout::from_size_align(size, 64).unwrap();
                let block = Split.alloc_zeroed(layout);
                assert!(block.addr().is_multiple_of(64));
                assert!(std::slice::from_raw_parts(block, size).iter().all(|byte| *byte == 0));
                Split.dealloc(block, layout);
            }
        }
    }
}
