//! Text that is made on several threads and written in its order, with few pieces of it in memory.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::mpsc::{channel, sync_channel};
use std::thread::scope;

use xdsctl_document::load::processors;

/// Pieces that one thread may be ahead of the writer.
const AHEAD: usize = 2;

/// Fewer pieces than this are not worth a thread.
const MIN_PIECES: usize = 4;

/// The numbers below `count` in ranges, each of at least `least` bytes but for the last one.
pub fn pieces(count: usize, least: usize, size: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for index in 0..count {
        bytes += size(index);
        if bytes >= least || index + 1 == count {
            pieces.push(start..index + 1);
            (start, bytes) = (index + 1, 0);
        }
    }
    pieces
}

/// Makes the text of each piece with `make`, which appends to an empty buffer, and writes it; the
/// sum of what `make` returns.
///
/// What is written does not depend on the number of threads.
///
/// # Errors
/// Those of `out`.
pub fn write(
    pieces: &[Range<usize>],
    make: &(dyn Fn(Range<usize>, &mut Vec<u8>) -> usize + Sync),
    out: &mut dyn Write,
) -> io::Result<usize> {
    write_on(processors(), pieces, make, out)
}

fn write_on(
    threads: usize,
    pieces: &[Range<usize>],
    make: &(dyn Fn(Range<usize>, &mut Vec<u8>) -> usize + Sync),
    out: &mut dyn Write,
) -> io::Result<usize> {
    if threads < 2 || pieces.len() < MIN_PIECES {
        let (mut sum, mut text) = (0, Vec::new());
        for piece in pieces {
            text.clear();
            sum += make(piece.clone(), &mut text);
            out.write_all(&text)?;
        }
        return Ok(sum);
    }
    scope(|scope| {
        // Each thread makes every so many-th piece, so taking from one after the other is their
        // order.
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                let (sender, receiver) = sync_channel::<(Vec<u8>, usize)>(AHEAD);
                let (give_back, used) = channel::<Vec<u8>>();
                scope.spawn(move || {
                    for piece in pieces.iter().skip(number).step_by(threads) {
                        let mut text = used.try_recv().unwrap_or_default();
                        text.clear();
                        let value = make(piece.clone(), &mut text);
                        // The writer is gone when it cannot write.
                        if sender.send((text, value)).is_err() {
                            return;
                        }
                    }
                });
                (receiver, give_back)
            })
            .collect();
        let mut sum = 0;
        for (receiver, give_back) in workers.iter().cycle().take(pieces.len()) {
            // A thread that panics ends the scope with its panic.
            let Ok((text, value)) = receiver.recv() else { break };
            out.write_all(&text)?;
            sum += value;
            let _ = give_back.send(text);
        }
        Ok(sum)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_does_not_depend_on_the_number_of_threads() {
        let pieces = pieces(1000, 30, |index| index % 11);
        assert_eq!(
            pieces.iter().flat_map(Clone::clone).collect::<Vec<_>>(),
            (0..1000).collect::<Vec<_>>()
        );
        let make = |range: Range<usize>, text: &mut Vec<u8>| {
            let sum = range.clone().sum();
            range.for_each(|index| text.extend(format!("{index},").into_bytes()));
            sum
        };
        for threads in [1, 2, 3, 7] {
            let mut out = Vec::new();
            assert_eq!(write_on(threads, &pieces, &make, &mut out).unwrap(), 499_500);
            let expected: Vec<u8> = (0..1000).flat_map(|index| format!("{index},").into_bytes()).collect();
            assert_eq!(out, expected, "{threads}");
        }
    }

    #[test]
    fn an_output_that_fails_ends_it() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, text: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(text.len()).ok_or(io::ErrorKind::StorageFull)?;
                Ok(text.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let pieces = pieces(1000, 1, |_| 1);
        let make = |_: Range<usize>, text: &mut Vec<u8>| {
            text.extend([b'x'; 100]);
            0
        };
        let error = write_on(3, &pieces, &make, &mut Full(5000)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
