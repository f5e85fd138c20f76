//! A bar on standard error while documents are read, for what takes longer than a second.
//!
//! Drawn only on a terminal, and taken away at the end. It shows how much has been read; the other threads are at most a few
//! megabytes behind.

use std::io::Write;
use std::time::{Duration, Instant};

use super::Io;

/// Nothing is drawn before.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two pictures.
const INTERVAL: Duration = Duration::from_millis(100);

/// Columns between the brackets.
const BAR_COLUMNS: usize = 30;

/// How far reading has come.
pub struct Progress<'i> {
    /// Where to draw; `None` for nowhere.
    out: Option<&'i mut (dyn Write + 'i)>,
    /// Bytes of all documents.
    total: usize,
    /// Bytes of the documents that are done.
    before: usize,
    next: Instant,
    is_drawn: bool,
}

impl<'i> Progress<'i> {
    /// Starts the clock.
    pub fn new<'o: 'i>(io: &'i mut Io<'o>, total: usize) -> Self {
        let is_terminal = io.err_is_terminal;
        Progress {
            out: is_terminal.then_some(&mut *io.err as &mut (dyn Write + 'i)),
            total,
            before: 0,
            next: Instant::now() + PATIENCE,
            is_drawn: false,
        }
    }

    /// The current document has been read up to the byte `at`.
    pub fn read(&mut self, at: usize) {
        let Some(out) = &mut self.out else { return };
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + INTERVAL;
        self.is_drawn = true;
        // Standard error may be gone; the answer does not depend on it.
        let _ = out.write_all(picture(self.before + at, self.total).as_bytes());
        let _ = out.flush();
    }

    /// The current document, of so many bytes, is done.
    pub fn document_done(&mut self, bytes: usize) {
        self.before += bytes;
        self.read(0);
    }
}

impl Drop for Progress<'_> {
    /// Takes the bar away.
    fn drop(&mut self) {
        if let Some(out) = &mut self.out
            && self.is_drawn
        {
            let _ = out.write_all(b"\r\x1b[K").and_then(|()| out.flush());
        }
    }
}

fn picture(done: usize, total: usize) -> String {
    let done = done.min(total);
    let share = |of: usize| done.saturating_mul(of).checked_div(total).unwrap_or(of);
    let full = share(BAR_COLUMNS);
    format!(
        "\r[{}{}] {:3} % of {} MB\x1b[K",
        "#".repeat(full),
        " ".repeat(BAR_COLUMNS - full),
        share(100),
        total.div_ceil(1_000_000)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_as_long_as_what_was_read() {
        assert_eq!(
            picture(50, 200),
            format!("\r[{}{}]  25 % of 1 MB\x1b[K", "#".repeat(7), " ".repeat(23))
        );
        assert_eq!(picture(300, 200), format!("\r[{}] 100 % of 1 MB\x1b[K", "#".repeat(30)));
        assert!(picture(0, 0).contains("100 %"));
    }

    /// A progress whose patience is at an end, drawn into `out`.
    fn impatient(out: &mut Vec<u8>) -> Progress<'_> {
        Progress {
            out: Some(out),
            total: 100,
            before: 0,
            next: Instant::now(),
            is_drawn: false,
        }
    }

    #[test]
    fn it_is_taken_away_at_the_end() {
        let mut out = Vec::new();
        let mut progress = impatient(&mut out);
        progress.read(10);
        progress.read(20);
        drop(progress);
        let text = String::from_utf8(out).unwrap();
        assert!(text.ends_with("\r\x1b[K"), "{text:?}");
        assert_eq!(text.matches('%').count(), 1, "drawn again too soon: {text:?}");
    }

    #[test]
    fn what_is_quick_shows_nothing() {
        let mut out = Vec::new();
        let mut progress = impatient(&mut out);
        progress.next += PATIENCE;
        progress.read(10);
        progress.document_done(100);
        drop(progress);
        assert_eq!(out, b"");
    }
}
