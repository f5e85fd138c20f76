//! Standard output that may lose its reader.
//!
//! If the reader has seen enough (`| head`), only the output ends, not the command. What is written
//! after the reader has gone is dropped, and the command ends with the exit code that it would have
//! had.

use std::io::{self, ErrorKind, Write};

/// A writer that drops everything once its reader has gone.
pub(crate) struct Outlet<W: Write> {
    out: W,
    is_closed: bool,
}

impl<W: Write> Outlet<W> {
    pub(crate) const fn new(out: W) -> Self {
        Outlet { out, is_closed: false }
    }

    /// Returns the result of writing, or `otherwise` if the reader has gone.
    fn after<T>(&mut self, written: io::Result<T>, otherwise: T) -> io::Result<T> {
        match written {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(otherwise)
            }
            written => written,
        }
    }
}

impl<W: Write> Write for Outlet<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_closed {
            return Ok(bytes.len());
        }
        let written = self.out.write(bytes);
        self.after(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.after(flushed, ())
    }
}
