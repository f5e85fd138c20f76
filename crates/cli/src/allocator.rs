//! The allocator of the command.
//!
//! Small values come from mimalloc: validation and the simulator make many, and an eighth of the
//! time of the one and a quarter of that of the other was the system's allocator. All else stays
//! with the system, which makes a growing buffer longer where it is: mimalloc copies it, so that
//! both lengths are in memory at once, and keeps room for each size and thread. docs/speed.md has
//! what both gain. WebAssembly has the system's alone.

#![expect(unsafe_code, reason = "an allocator is unsafe by its trait")]

use std::alloc::{GlobalAlloc, Layout, System};

use mimalloc::MiMalloc as Small;

/// Blocks of at least so many bytes are the system's.
const LARGE_BYTES: usize = 1024;

/// An allocator of its own for small blocks, the system's allocator for large ones.
#[derive(Debug, Clone, Copy)]
pub struct Split;

const fn is_large(bytes: usize) -> bool {
    bytes >= LARGE_BYTES
}

// SAFETY: a block is given back to the allocator that it came from: which one that is depends on
// its layout alone, and the caller gives a block back with the layout that it has.
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
            // SAFETY: the block came from this allocator, and stays with it.
            (true, true) => unsafe { System.realloc(block, layout, new_size) },
            // SAFETY: as above.
            (false, false) => unsafe { Small.realloc(block, layout, new_size) },
            // SAFETY: as above.
            (true, false) | (false, true) => unsafe { moved(self, block, layout, new_size) },
        }
    }
}

/// Moves a block to one of another size.
///
/// # Safety
/// As [`GlobalAlloc::realloc`] says.
unsafe fn moved(allocator: &Split, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
    // SAFETY: the caller promises that the new size is one of a layout with this alignment.
    let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
    // SAFETY: the new size is not 0, as the caller promises.
    let new = unsafe { allocator.alloc(new_layout) };
    if !new.is_null() {
        // SAFETY: both blocks are valid for the lesser size, and are apart; the old one is given
        // back with its layout.
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

    /// Lengths around the border, in any order: what was written stays.
    #[test]
    fn a_block_keeps_its_bytes_across_the_border() {
        let mut layout = Layout::from_size_align(1, 8).unwrap();
        // SAFETY: the sizes are not 0, and each block is used and given back with the layout that
        // it has.
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
