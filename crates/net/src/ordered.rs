//! Makes text on several threads and writes it in order, with few pieces of it in memory.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::mpsc::{channel, sync_channel};
use std::thread::scope;

use xdsctl_document::load::processors;

/// The number of pieces that one thread may be ahead of the writer.
const AHEAD: usize = 2;

/// The number of pieces from which threads pay off.
const MIN_PIECES: usize = 4;

/// Divides the numbers below `count` into ranges of at least `least` bytes each, except the last.
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

/// Makes the text of each piece with `make`, which appends to an empty buffer, and writes it.
/// Returns the sum of the values of `make`.
///
/// The output does not depend on the number of threads.
///
/// # Errors
/// Writing to `out` fails.
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
        // With n threads, each makes every n-th piece. So receiving from one after the other gives
        // their order.
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                let (sender, receiver) = sync_channel::<(Vec<u8>, usize)>(AHEAD);
                let (give_back, used) = channel::<Vec<u8>>();
                scope.spawn(move || {
                    for piece in pieces.iter().skip(number).step_by(threads) {
                        let mut text = used.try_recv().unwrap_or_default();
                        text.clear();
                        let value = make(piece.clone(), &mut text);
                        // The writer has gone because it could not write.
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
            // If a thread panics, the scope ends with its panic.
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
