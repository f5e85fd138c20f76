//! Small blocks where there is one thread and no mimalloc: in WebAssembly.
//!
//! A block has the bytes of its class, a multiple of 16. One that is given back is the next of its
//! class. Chunks are never given back: a run of the command is a process of its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

use super::LARGE_BYTES;

/// Bytes by which classes differ, and which the beginning of a block is a multiple of.
const STEP: usize = 16;

/// Bytes that are asked of the system at a time. Each time costs as much as some hundred blocks.
const CHUNK_BYTES: usize = 1 << 20;

/// Blocks of less than [`LARGE_BYTES`], for one thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Classes;

/// For each class the block that was given back last. It holds the address of the one before.
static FREE: [AtomicPtr<u8>; LARGE_BYTES / STEP + 1] = [const { AtomicPtr::new(null_mut()) }; _];

/// What of the last chunk is not used yet, and how many bytes that has.
static REST: AtomicPtr<u8> = AtomicPtr::new(null_mut());
static REST_BYTES: AtomicUsize = AtomicUsize::new(0);

const fn class(bytes: usize) -> usize {
    bytes.div_ceil(STEP)
}

/// A block that nobody has had yet, or null if there is no memory.
fn fresh(bytes: usize) -> *mut u8 {
    let mut left = REST_BYTES.load(Relaxed);
    if left < bytes {
        let Ok(chunk) = Layout::from_size_align(CHUNK_BYTES, STEP) else {
            return null_mut();
        };
        // SAFETY: the size is not 0.
        let begin = unsafe { System.alloc(chunk) };
        if begin.is_null() {
            return begin;
        }
        REST.store(begin, Relaxed);
        left = CHUNK_BYTES;
    }
    let block = REST.load(Relaxed);
    REST.store(block.wrapping_add(bytes), Relaxed);
    REST_BYTES.store(left - bytes, Relaxed);
    block
}

// SAFETY: blocks of a class are apart, have its bytes, and begin at a multiple of `STEP`; whoever
// wants more than that gets it from the system. There is one thread.
unsafe impl GlobalAlloc for Classes {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > STEP {
            // SAFETY: the caller keeps the promises of `alloc`.
            return unsafe { System.alloc(layout) };
        }
        let class = class(layout.size());
        let Some(free) = FREE.get(class) else {
            return null_mut();
        };
        let block = free.load(Relaxed);
        if block.is_null() {
            return fresh(class * STEP);
        }
        // SAFETY: `dealloc` has written there the address of the block before, and nobody has had
        // the block since.
        free.store(unsafe { block.cast::<*mut u8>().read() }, Relaxed);
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.align() > STEP {
            // SAFETY: the block came from the system, because of its layout.
            return unsafe { System.dealloc(block, layout) };
        }
        let Some(free) = FREE.get(class(layout.size())) else {
            return;
        };
        // SAFETY: the block has at least `STEP` bytes, and nobody uses them any more.
        unsafe { block.cast::<*mut u8>().write(free.load(Relaxed)) };
        free.store(block, Relaxed);
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if layout.align() <= STEP && class(layout.size()) == class(new_size) {
            return block;
        }
        // SAFETY: the caller keeps the promises of `realloc`.
        unsafe { super::moved(self, block, layout, new_size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test: there is one thread.
    #[test]
    fn blocks_are_apart_and_come_again() {
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        let of = |number: usize| u8::try_from(number % 251).unwrap();
        let sizes = || (1..LARGE_BYTES).chain((1..LARGE_BYTES).rev());
        // SAFETY: each block is used and given back with the layout that it has.
        unsafe {
            let blocks: Vec<(*mut u8, usize)> = sizes().map(|size| (Classes.alloc(layout(size)), size)).collect();
            for (number, (block, size)) in blocks.iter().enumerate() {
                assert!(block.addr().is_multiple_of(STEP));
                block.write_bytes(of(number), *size);
            }
            for (number, (block, size)) in blocks.iter().enumerate() {
                assert!((0..*size).all(|at| block.add(at).read() == of(number)), "{size}");
            }
            let (first, _) = blocks[0];
            assert_eq!(Classes.realloc(first, layout(1), STEP), first);
            let second = Classes.realloc(first, layout(STEP), STEP + 1);
            assert_eq!(second.read(), 0);
            assert_eq!(Classes.alloc(layout(3)), first);
            Classes.dealloc(second, layout(STEP + 1));
            assert_eq!(Classes.alloc(layout(2 * STEP)), second);
            let aligned = Layout::from_size_align(10, 64).unwrap();
            let block = Classes.alloc(aligned);
            assert!(block.addr().is_multiple_of(64));
            Classes.dealloc(block, aligned);
        }
    }
}
