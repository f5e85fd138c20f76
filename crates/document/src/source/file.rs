//! Reads files into memory.
//!
//! A file is read, never mapped. Another program may truncate or overwrite a mapped file at any
//! moment; the reader then dies of a signal or sees two versions at once. Bytes that were read do
//! not change.
//!
//! A large dump is read by several threads into huge pages. The copy costs 0.1 to 0.3 ms a
//! megabyte; having fewer pages makes up for a part of that (`cargo bench --bench load`,
//! docs/speed.md).

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

/// The most bytes that are read of all files of a run. They stay in memory until the report is
/// written.
pub const MAX_INPUT_BYTES: u64 = 4 << 30;

/// The most bytes that are read of a pipe, a device or standard input. These report no length and
/// may never end.
pub const MAX_STREAM_BYTES: u64 = 1 << 30;

/// The most bytes that are read of a regular file that reports length 0, as files in /proc do.
pub const MAX_UNSIZED_BYTES: u64 = 16 << 20;

/// Regular files with more bytes than this are read by several threads.
#[cfg(unix)]
const LARGE_BYTES: u64 = 8 << 20;

/// The number of threads that read a large file. More threads would only wait for memory.
#[cfg(unix)]
const THREADS: usize = 4;

/// The bytes of a document.
#[derive(Debug)]
pub(super) enum Bytes {
    Owned(Vec<u8>),
    /// Bytes that are shared with another owner.
    Shared(bytes::Bytes),
    /// Memory in huge pages, for a large file.
    #[cfg(unix)]
    Large(memmap2::MmapMut),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Shared(bytes) => bytes,
            #[cfg(unix)]
            Bytes::Large(bytes) => bytes,
        }
    }
}

/// Reads a file of at most `most` bytes.
///
/// If a regular file grows meanwhile, as a log does, only the bytes that it had at first are read.
///
/// # Errors
/// The file cannot be opened or read, is too large, or becomes shorter while it is read.
pub(super) fn read(path: &Path, most: u64) -> io::Result<Bytes> {
    if path.metadata()?.is_file() {
        return read_regular(path, most);
    }
    let mut file = File::open(path)?;
    read_stream(&mut file, most.min(MAX_STREAM_BYTES)).map(Bytes::Owned)
}

/// Opens a file that is known to be regular. Opening does not block, even if the path is now a
/// pipe.
fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.open(path)
}

fn read_regular(path: &Path, most: u64) -> io::Result<Bytes> {
    let mut file = open_regular(path)?;
    let len = file.metadata()?.len();
    if len == 0 {
        let bytes = read_stream(&mut file, most.min(MAX_UNSIZED_BYTES));
        return bytes.map(Bytes::Owned).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => io::Error::other("it says that it is empty, and has no end"),
            _ => error,
        });
    }
    if len > most {
        return Err(too_large(most));
    }
    let size = usize::try_from(len).map_err(|_| too_large(most))?;
    #[cfg(unix)]
    if len > LARGE_BYTES {
        return read_large(&file, size).map(Bytes::Large);
    }
    read_whole(&mut file, size).map(Bytes::Owned)
}

/// Reads the `size` bytes that a file had when it was opened.
fn read_whole(file: &mut dyn Read, size: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size);
    file.take(size as u64).read_to_end(&mut bytes)?;
    if bytes.len() < size {
        return Err(shrunk());
    }
    Ok(bytes)
}

/// Reads a stream to its end, which must come within `most` bytes.
///
/// # Errors
/// The stream cannot be read, or has more than `most` bytes.
pub fn read_stream(stream: &mut dyn Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(most));
    }
    Ok(bytes)
}

#[cfg(unix)]
fn read_large(file: &File, size: usize) -> io::Result<memmap2::MmapMut> {
    let mut bytes = memmap2::MmapMut::map_anon(size)?;
    #[cfg(target_os = "linux")]
    let _ = bytes.advise(memmap2::Advice::HugePage);
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get());
    let part_bytes = size.div_ceil(processors.min(THREADS));
    std::thread::scope(|scope| {
        let parts = bytes.chunks_mut(part_bytes).enumerate();
        let readers: Vec<_> = parts
            .map(|(number, part)| scope.spawn(move || read_at(file, part, (number * part_bytes) as u64)))
            .collect();
        readers
            .into_iter()
            .try_for_each(|reader| reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(bytes)
}

#[cfg(unix)]
fn read_at(file: &File, chunk: &mut [u8], offset: u64) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    file.read_exact_at(chunk, offset).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => shrunk(),
        _ => error,
    })
}

fn shrunk() -> io::Error {
    io::Error::other("it became shorter while it was read")
}

fn too_large(most: u64) -> io::Error {
    io::Error::other(format!("more than {most} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns bytes that each depend on their offset.
    fn pattern(size: usize) -> Vec<u8> {
        (0..size).map(|place| (place / 251) as u8 ^ place as u8).collect()
    }

    /// Returns an open file without a name that holds `bytes`.
    #[cfg(unix)]
    fn file(bytes: &[u8], name: &str) -> File {
        use std::io::Write as _;
        let path = std::env::temp_dir().join(format!("xdsctl-{name}-{}", std::process::id()));
        let open = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path);
        let mut file = open.unwrap();
        std::fs::remove_file(&path).unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn a_file_that_became_shorter_is_an_error() {
        let bytes = pattern(10_000);
        assert_eq!(read_whole(&mut bytes.as_slice(), 10_000).unwrap(), bytes);
        let error = read_whole(&mut bytes.as_slice(), 10_001).unwrap_err();
        assert_eq!(error.to_string(), "it became shorter while it was read");
        // The file grew: only the bytes that it had at first are read.
        assert_eq!(read_whole(&mut bytes.as_slice(), 9_999).unwrap(), bytes[..9_999]);
    }

    #[test]
    #[cfg(unix)]
    fn a_large_file_that_became_shorter_is_an_error() {
        // The file has several parts, and the last one is shorter.
        let bytes = pattern((9 << 20) + 17);
        let file = file(&bytes, "large");
        assert!(*read_large(&file, bytes.len()).unwrap() == *bytes);
        for missing in [1, 1 << 20, 5 << 20] {
            file.set_len((bytes.len() - missing) as u64).unwrap();
            let error = read_large(&file, bytes.len()).unwrap_err();
            assert_eq!(error.to_string(), "it became shorter while it was read", "{missing}");
        }
    }
}
