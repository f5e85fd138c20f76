//! A progress bar on standard error, for work that takes longer than a second.
//!
//! The bar is drawn only on a terminal. A thread of its own draws it, so it also appears while
//! nothing can be counted, such as in the first pass over a YAML document. It is removed at the
//! end. The work counts what is done and waits for nobody.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::Io;
use xdsctl_report::edge::own;

/// How long a run takes before the bar is first drawn.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two drawings, long enough for them to cost nothing.
const INTERVAL: Duration = Duration::from_millis(100);

/// The number of columns between the brackets.
const BAR_COLUMNS: usize = 30;

/// How much of the work is done.
#[derive(Debug, Default)]
pub struct Progress {
    /// The number of units that are done.
    done: AtomicUsize,
    is_over: AtomicBool,
}

impl Progress {
    /// Records that so many units are done.
    pub fn reach(&self, done: usize) {
        self.done.store(done, Ordering::Relaxed);
    }
}

/// Does `work`, which has `total` units. On a terminal, a bar shows the progress. `of` is the total
/// as text: `12 MB`.
pub fn during<T>(io: &mut Io<'_>, total: usize, of: &str, work: impl FnOnce(&Progress) -> T) -> T {
    if io.err_is_terminal {
        drawn(&mut *io.err, PATIENCE, (total, of), work)
    } else {
        work(&Progress::default())
    }
}

/// Ends the drawing when it is dropped, also if the work panics.
struct Over<'p> {
    progress: &'p Progress,
    drawer: thread::Thread,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.progress.is_over.store(true, Ordering::Release);
        self.drawer.unpark();
    }
}

fn drawn<T>(
    out: &mut (dyn Write + Send),
    patience: Duration,
    scale: (usize, &str),
    work: impl FnOnce(&Progress) -> T,
) -> T {
    let progress = Progress::default();
    thread::scope(|scope| {
        let drawer = scope.spawn(|| draw(out, patience, scale, &progress));
        let _over = Over {
            progress: &progress,
            drawer: drawer.thread().clone(),
        };
        work(&progress)
    })
}

fn draw(out: &mut dyn Write, patience: Duration, (total, of): (usize, &str), progress: &Progress) {
    let mut next = Instant::now() + patience;
    let mut is_drawn = false;
    while !progress.is_over.load(Ordering::Acquire) {
        let now = Instant::now();
        if now < next {
            thread::park_timeout(next - now);
            continue;
        }
        next = now + INTERVAL;
        is_drawn = true;
        // Ignore errors: standard error may be closed, and the answer does not depend on it.
        let picture = picture(progress.done.load(Ordering::Relaxed), total, of);
        let _ = out.write_all(own(&picture).as_bytes());
        let _ = out.flush();
    }
    if is_drawn {
        let _ = out.write_all(own("\r\x1b[K").as_bytes()).and_then(|()| out.flush());
    }
}

fn picture(done: usize, total: usize, of: &str) -> String {
    let done = done.min(total);
    let share = |of: usize| done.saturating_mul(of).checked_div(total).unwrap_or(of);
    let full = share(BAR_COLUMNS);
    format!(
        "\r[{}{}] {:3} % of {of}\x1b[K",
        "#".repeat(full),
        " ".repeat(BAR_COLUMNS - full),
        share(100),
    )
}

/// Returns a number of bytes as text for people.
pub fn megabytes(bytes: usize) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_report::edge::Edge;

    #[test]
    fn the_bar_is_as_long_as_what_was_done() {
        assert_eq!(
            picture(50, 200, "1 MB"),
            format!("\r[{}{}]  25 % of 1 MB\x1b[K", "#".repeat(7), " ".repeat(23))
        );
        assert_eq!(
            picture(300, 200, "9 RPCs"),
            format!("\r[{}] 100 % of 9 RPCs\x1b[K", "#".repeat(30))
        );
        assert!(picture(0, 0, &megabytes(0)).contains("100 % of 0 MB"));
    }

    /// Returns what is drawn while `work` runs.
    fn drawing(patience: Duration, work: impl FnOnce(&Progress)) -> String {
        let mut out = Vec::new();
        let mut edge = Edge::new(&mut out, false);
        drawn(&mut edge, patience, (100, "x"), work);
        drop(edge);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn it_is_drawn_while_nothing_is_counted_and_taken_away_at_the_end() {
        let text = drawing(Duration::ZERO, |_| thread::sleep(10 * INTERVAL));
        assert!(text.matches("  0 % of x").count() > 1, "{text:?}");
        assert!(text.ends_with("\x1b[K\r\x1b[K"), "{text:?}");
        assert!(!text.contains('\n'));
        let text = drawing(Duration::ZERO, |progress| {
            progress.reach(42);
            thread::sleep(10 * INTERVAL);
        });
        assert!(text.contains(" 42 % of x"), "{text:?}");
    }

    #[test]
    fn what_is_quick_shows_nothing_and_does_not_wait() {
        let begin = Instant::now();
        assert_eq!(drawing(Duration::from_secs(3600), |progress| progress.reach(10)), "");
        assert!(begin.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn only_a_terminal_gets_a_bar() {
        for is_terminal in [false, true] {
            let mut err = Vec::new();
            let mut io = Io {
                err_is_terminal: is_terminal,
                ..Io::piped(std::io::empty(), std::io::sink(), &mut err)
            };
            during(&mut io, 100, "x", |_| thread::sleep(PATIENCE + 2 * INTERVAL));
            drop(io);
            assert_eq!(err.is_empty(), !is_terminal);
        }
    }
}
