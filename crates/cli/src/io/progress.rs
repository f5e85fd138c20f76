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

/// How often progress is drawn: rarely enough to cost nothing.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// How long a run takes before the bar is first drawn.
    patience: Duration,
    /// The time between two drawings.
    interval: Duration,
}

/// The pace for people.
const PACE: Pace = Pace {
    patience: Duration::from_secs(1),
    interval: Duration::from_millis(100),
};

/// The number of columns between the brackets.
const BAR_COLUMNS: usize = 30;

/// How much of the work is done.
#[derive(Debug, Default)]
pub struct Progress {
    /// The number of units that are done, without those of the current document.
    before: AtomicUsize,
    /// The number of units of the current document that are done.
    at: AtomicUsize,
    is_over: AtomicBool,
}

impl Progress {
    /// Records that `at` units of the current document are done.
    pub fn reach(&self, at: usize) {
        self.at.store(at, Ordering::Relaxed);
    }

    /// Records that the current document, which has `units` units, is done.
    pub fn document_done(&self, units: usize) {
        self.before.fetch_add(units, Ordering::Relaxed);
        self.reach(0);
    }

    fn done(&self) -> usize {
        self.before.load(Ordering::Relaxed) + self.at.load(Ordering::Relaxed)
    }
}

/// Does `work`, which has `total` units. On a terminal, a bar shows the progress. `of` is the total
/// as text: `12 MB`.
pub fn during<T>(io: &mut Io<'_>, total: usize, of: &str, work: impl FnOnce(&Progress) -> T) -> T {
    if io.err_is_terminal {
        drawn(&mut *io.err, PACE, (total, of), work)
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

fn drawn<T>(out: &mut (dyn Write + Send), pace: Pace, scale: (usize, &str), work: impl FnOnce(&Progress) -> T) -> T {
    let progress = Progress::default();
    thread::scope(|scope| {
        let drawer = scope.spawn(|| draw(out, pace, scale, &progress));
        let _over = Over {
            progress: &progress,
            drawer: drawer.thread().clone(),
        };
        work(&progress)
    })
}

fn draw(out: &mut dyn Write, pace: Pace, (total, of): (usize, &str), progress: &Progress) {
    let mut next = Instant::now() + pace.patience;
    let mut is_drawn = false;
    while !progress.is_over.load(Ordering::Acquire) {
        let now = Instant::now();
        if now < next {
            thread::park_timeout(next - now);
            continue;
        }
        next = now + pace.interval;
        is_drawn = true;
        // Ignore errors: standard error may be closed, and the answer does not depend on it.
        let picture = picture(progress.done(), total, of);
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
        let pace = Pace {
            patience,
            interval: Duration::from_millis(1),
        };
        let mut edge = Edge::new(&mut out, false);
        drawn(&mut edge, pace, (100, "x"), work);
        drop(edge);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn it_is_drawn_while_nothing_is_counted_and_taken_away_at_the_end() {
        let text = drawing(Duration::ZERO, |_| thread::sleep(Duration::from_millis(200)));
        assert!(text.matches("  0 % of x").count() > 1, "{text:?}");
        assert!(text.ends_with("\x1b[K\r\x1b[K"), "{text:?}");
        assert!(!text.contains('\n'));
        let text = drawing(Duration::ZERO, |progress| {
            progress.document_done(30);
            progress.reach(12);
            thread::sleep(Duration::from_millis(200));
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
            during(&mut io, 100, "x", |_| thread::sleep(PACE.patience + 2 * PACE.interval));
            drop(io);
            assert_eq!(err.is_empty(), !is_terminal);
        }
    }
}
