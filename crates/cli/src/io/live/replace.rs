//! Files that are written in one step: whoever reads one meanwhile sees all of the old or all of
//! the new.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file in one step. What is no regular file, such as a pipe, is written to.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, |out| out.write_all(bytes), |()| true)?
}

/// The same with what `write` writes, piece by piece, if that succeeds with a value that is worth
/// it. A file that is not there in the end is not there in between either, but for one beside it
/// with a dot before its name.
pub(crate) fn replace_by<T, E>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
    is_worth_it: impl Fn(&T) -> bool,
) -> io::Result<Result<T, E>> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Ok(write(&mut File::create(path)?));
    }
    // Beside the file, not beside a link to it: only there is renaming one step.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = Beside(path.with_file_name(format!(".{name}.{}.xdsctl", std::process::id())));
    let mut file = File::create(&beside.0)?;
    let written = write(&mut file);
    drop(file);
    if written.as_ref().is_ok_and(is_worth_it) {
        fs::rename(&beside.0, &path)?;
    }
    Ok(written)
}

/// A file that ends with whoever wrote it, if it has not got another name by then.
struct Beside(std::path::PathBuf);

impl Drop for Beside {
    fn drop(&mut self) {
        // What failed is said; a file that is left over says itself whose it is.
        let _ = fs::remove_file(&self.0);
    }
}

/// Counts what is written.
pub(crate) struct Counted<'w> {
    pub out: &'w mut dyn Write,
    /// How many bytes were written.
    pub count: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.count += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_or_stays() {
        let directory = std::env::temp_dir().join(format!("xdsctl-replace-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("dump.json");
        let names = || fs::read_dir(&directory).unwrap().count();
        let write = |text: &'static str, is_worth_it: bool| {
            replace_by(&path, |out| out.write_all(text.as_bytes()), |()| is_worth_it)
                .unwrap()
                .unwrap();
        };
        write("half", false);
        assert_eq!(names(), 0);
        write("old", true);
        write("half", false);
        let failed = replace_by(
            &path,
            |out| out.write_all(b"half").and(Err(io::Error::other("no"))),
            |()| true,
        );
        assert!(failed.unwrap().is_err());
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names()), ("old", 1));
        replace(&path, b"new").unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names()), ("new", 1));
        fs::remove_dir_all(&directory).unwrap();
    }
}
