//! Writes files in one step: a reader sees either all of the old or all of the new bytes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file in one step. Something else than a regular file, such as a pipe, is written to
/// directly.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, |out| out.write_all(bytes), |()| true)?
}

/// Replaces a file with what `write` writes piece by piece, if that succeeds with a value for which
/// `is_worth_it` is true. Until then, only a hidden file beside it is written.
pub(crate) fn replace_by<T, E>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
    is_worth_it: impl Fn(&T) -> bool,
) -> io::Result<Result<T, E>> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Ok(write(&mut File::create(path)?));
    }
    // Write beside the file itself, not beside a link to it, because only there is renaming one
    // step.
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

/// A file that is removed when this value is dropped, unless it was renamed before.
struct Beside(std::path::PathBuf);

impl Drop for Beside {
    fn drop(&mut self) {
        // The failure is reported. If the file stays, its name shows who made it.
        let _ = fs::remove_file(&self.0);
    }
}

/// A writer that counts bytes.
pub(crate) struct Counted<'w> {
    pub out: &'w mut dyn Write,
    /// The number of bytes written.
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
