//! Replaces the bytes of a file in one step: a reader sees either all of the old or all of the new
//! bytes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use super::reach::{AllowedDirectories, canonical};

/// Replaces `old` by `new` in a file, and keeps its owner and permissions. A link is followed where
/// `reach` allows it.
///
/// # Errors
/// The file is out of reach, read-only, in UTF-16 or has changed since it was read, has several
/// names, or cannot be written. The file is then not changed.
pub(crate) fn replace(path: &Path, reach: &AllowedDirectories, old: &[u8], new: &[u8]) -> io::Result<()> {
    // Write beside the file itself, not beside a link to it, because only there is renaming one
    // step.
    let resolved = canonical(path)?;
    if !reach.has(&resolved) {
        return Err(io::Error::other(
            "it is a link out of the directory: name the file itself",
        ));
    }
    let path = resolved;
    let metadata = fs::metadata(&path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    refuse_names(&metadata)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.xdsctl", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
    let done = fill(&mut file, new, &metadata)
        .and_then(|()| is_still(&path, old))
        .and_then(|()| fs::rename(&beside, &path));
    if done.is_err() {
        // The failure is reported. If the file stays, its name shows who made it.
        let _ = fs::remove_file(&beside);
    }
    done
}

/// Refuses a file with several names, because renaming would leave the old bytes under the others.
#[cfg(unix)]
fn refuse_names(metadata: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    match metadata.nlink() {
        0 | 1 => Ok(()),
        names => Err(io::Error::other(format!(
            "it has {names} names (hard links), of which one would be changed: change a copy"
        ))),
    }
}

#[cfg(not(unix))]
fn refuse_names(_: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Gives a new file the owner of another one.
#[cfg(unix)]
fn own(file: &File, metadata: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let (uid, gid) = (metadata.uid(), metadata.gid());
    let now = file.metadata()?;
    if (now.uid(), now.gid()) == (uid, gid) {
        return Ok(());
    }
    let kept = fchown(file, Some(uid), Some(gid));
    kept.map_err(|error| io::Error::new(error.kind(), format!("its owner cannot be kept: {error}")))
}

#[cfg(not(unix))]
fn own(_: &File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

fn fill(file: &mut File, bytes: &[u8], metadata: &fs::Metadata) -> io::Result<()> {
    // Change the owner first, because that may remove permissions.
    own(file, metadata)?;
    file.set_permissions(metadata.permissions())?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Fails if the file has changed since it was read.
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
        let reach = AllowedDirectories::around([&path]);
        let error = replace(&path, &reach, b"old", b"fixed").unwrap_err();
        assert_eq!(error.to_string(), "it has changed since it was read");
        assert_eq!(fs::read(&path).unwrap(), b"new of others");
        replace(&path, &reach, b"new of others", b"fixed").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"fixed");
        fs::remove_file(&path).unwrap();
    }
}
