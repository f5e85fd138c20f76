//! A file with other bytes, in one step: whoever reads it meanwhile sees all of the old or all of the new.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// Puts `new` in place of `old` in a file, with its permissions; a link is followed.
///
/// # Errors
/// The file is read-only, UTF-16, not what was read, or cannot be written; it then stays as it is.
pub(crate) fn replace(path: &Path, old: &[u8], new: &[u8]) -> io::Result<()> {
    // Beside the file, not beside a link to it: only there is renaming one step.
    let path = path.canonicalize()?;
    let metadata = fs::metadata(&path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.xdsctl", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
    let done = fill(&mut file, new, metadata.permissions())
        .and_then(|()| is_still(&path, old))
        .and_then(|()| fs::rename(&beside, &path));
    if done.is_err() {
        // What failed is said; a file that is left over says itself whose it is.
        let _ = fs::remove_file(&beside);
    }
    done
}

fn fill(file: &mut File, bytes: &[u8], permissions: fs::Permissions) -> io::Result<()> {
    file.set_permissions(permissions)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Fails if the file has other bytes by now.
fn is_still(path: &Path, old: &[u8]) -> io::Result<()> {
    let now = fs::read(path)?;
    if now.starts_with(&[0xff, 0xfe]) || now.starts_with(&[0xfe, 0xff]) {
        return Err(io::Error::other("it is UTF-16, only UTF-8 is fixed"));
    }
    if now != old {
        return Err(io::Error::other("it has changed since it was read"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_has_changed_stays_as_it_is() {
        let path = std::env::temp_dir().join(format!("xdsctl-fix-{}", std::process::id()));
        fs::write(&path, "new of others").unwrap();
        let error = replace(&path, b"old", b"fixed").unwrap_err();
        assert_eq!(error.to_string(), "it has changed since it was read");
        assert_eq!(fs::read(&path).unwrap(), b"new of others");
        replace(&path, b"new of others", b"fixed").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"fixed");
        fs::remove_file(&path).unwrap();
    }
}
