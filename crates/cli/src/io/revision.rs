//! Files of an earlier revision: `git:REVISION:PATH`, read from the repository of the current
//! directory.
//!
//! The name is looked up once (`git rev-parse`) and then read by the id of its object, so that no
//! part of the argument is taken for an option. In a directory, the files with a known extension
//! are read.

use std::borrow::Cow;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use super::files;

/// The beginning of arguments of this kind.
pub const SCHEME: &str = "git:";

/// A file of a revision: its name, `git:REVISION:PATH` with the whole path, and its bytes.
pub type Revised = (String, Vec<u8>);

/// Reads what an argument after [`SCHEME`] names, at most `most` bytes in total, and says whether
/// it is a directory.
///
/// # Errors
/// There is no `git`, or no such revision or path, or it is larger.
pub fn read(named: &str, most: u64) -> io::Result<(Vec<Revised>, bool)> {
    let id = id_of(&from_here(named)).map_err(|_| io::Error::other(missing(named)))?;
    if is_file(&id)? {
        let bytes = objects(&[id], most)?.pop().unwrap_or_default();
        return Ok((vec![(format!("{SCHEME}{named}"), bytes)], false));
    }
    let (names, ids) = documents(named, &id)?;
    let bytes = objects(&ids, most)?;
    Ok((names.into_iter().zip(bytes).collect(), true))
}

/// Says whether a revision has nothing at a path, or no document below it, although the path is
/// known from the work tree or `elsewhere`. A path that is known nowhere is misspelt, and a
/// revision that does not exist is not an empty one.
pub fn lacks(named: &str, elsewhere: &Path) -> bool {
    let Some((revision, path)) = named.split_once(':') else {
        return false;
    };
    if id_of(&format!("{revision}^{{tree}}")).is_err() {
        return false;
    }
    if let Ok(id) = id_of(&from_here(named)) {
        let is_empty = || documents(named, &id).is_ok_and(|(names, _)| names.is_empty());
        return is_file(&id).is_ok_and(|is_file| !is_file) && is_empty();
    }
    let other = elsewhere.to_str().and_then(|other| other.strip_prefix(SCHEME));
    let is_of_other = |other: &str| {
        other.split_once(':').is_some_and(|(_, of_other)| of_other == path) && id_of(&from_here(other)).is_ok()
    };
    other.is_some_and(is_of_other) || is_in_work_tree(path)
}

/// Says whether a path, as it is written after a revision, exists in the work tree.
fn is_in_work_tree(path: &str) -> bool {
    if path.starts_with('.') {
        return Path::new(path).exists();
    }
    let top = one_line(&["rev-parse", "--show-toplevel"]);
    top.is_ok_and(|top| Path::new(&top).join(path).exists())
}

fn is_file(id: &str) -> io::Result<bool> {
    Ok(one_line(&["cat-file", "-t", id])? == "blob")
}

/// Returns the names and the ids of the documents of a directory.
fn documents(named: &str, id: &str) -> io::Result<(Vec<String>, Vec<String>)> {
    let listed = git(&["ls-tree", "-r", "-z", "--full-tree", id])?;
    let below = named.trim_end_matches('/');
    let colon = if below.contains(':') { "" } else { ":" };
    let mut names = Vec::new();
    let mut ids = Vec::new();
    for entry in listed.split(|byte| *byte == 0) {
        let entry = String::from_utf8_lossy(entry);
        // `MODE blob ID<tab>PATH`
        let Some((head, path)) = entry.split_once('\t') else {
            continue;
        };
        let (Some("blob"), Some(id)) = (head.split(' ').nth(1), head.split(' ').nth(2)) else {
            continue;
        };
        // Hidden files are skipped, as in a directory on disk.
        let is_hidden = path.split('/').any(|step| step.starts_with('.'));
        if !is_hidden && files::ending(Path::new(path)).is_some() {
            if let Cow::Owned(_) = &entry {
                return Err(io::Error::other(format!("`{path}`: {}", files::NOT_UTF_8)));
            }
            let slash = if below.ends_with(':') || !colon.is_empty() {
                ""
            } else {
                "/"
            };
            names.push(format!("{SCHEME}{below}{colon}{slash}{path}"));
            ids.push(id.to_owned());
        }
    }
    Ok((names, ids))
}

fn id_of(named: &str) -> io::Result<String> {
    one_line(&["rev-parse", "--verify", "--quiet", "--end-of-options", named])
}

/// Adds a slash to the current directory and the one above it, which git needs.
fn from_here(named: &str) -> String {
    let slash = match named.ends_with(":.") || named.ends_with(":..") || named.ends_with("/..") {
        true => "/",
        false => "",
    };
    format!("{named}{slash}")
}

/// Returns the error message for a name that git does not know.
fn missing(named: &str) -> String {
    if let Some((revision, path)) = named.split_once(':')
        && !revision.is_empty()
        && !path.starts_with('.')
    {
        let here = format!("{revision}:./{path}");
        if id_of(&here).is_ok() {
            return format!(
                "no such path from the root of the repository, `{SCHEME}{here}` is one from the current directory"
            );
        }
    }
    "no such revision or path in this repository, expected `git:REVISION:PATH`".to_owned()
}

fn git(args: &[&str]) -> io::Result<Vec<u8>> {
    let output = Command::new("git").args(args).stdin(Stdio::null()).output();
    let output = output.map_err(no_git)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(
        words.lines().next().unwrap_or("git failed").to_owned(),
    ))
}

fn no_git(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => io::Error::other("there is no command `git`"),
        _ => error,
    }
}

fn one_line(args: &[&str]) -> io::Result<String> {
    let output = git(args)?;
    Ok(String::from_utf8_lossy(&output).trim_end().to_owned())
}

/// Reads objects by their ids, in order.
fn objects(ids: &[String], most: u64) -> io::Result<Vec<Vec<u8>>> {
    let mut git = Command::new("git")
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(no_git)?;
    let (stdin, stdout) = (git.stdin.take(), git.stdout.take());
    let asked: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let mut answer = Vec::new();
    // Write and read at the same time: git answers while it is asked, and a pipe holds little.
    std::thread::scope(|scope| -> io::Result<()> {
        let writer = scope.spawn(move || stdin.map_or(Ok(()), |mut stdin| stdin.write_all(asked.as_bytes())));
        if let Some(stdout) = stdout {
            stdout.take(most.saturating_add(1)).read_to_end(&mut answer)?;
        }
        // If git stops reading early, its answer is too short, and `split` reports that.
        let _ = writer.join();
        Ok(())
    })?;
    let is_too_large = answer.len() as u64 > most;
    if is_too_large {
        let _ = git.kill();
    }
    git.wait()?;
    if is_too_large {
        return Err(io::Error::other(format!("more than {most} bytes")));
    }
    split(&answer, ids.len())
}

/// Splits `ID TYPE SIZE<newline>BYTES<newline>`, once for each object.
fn split(mut answer: &[u8], count: usize) -> io::Result<Vec<Vec<u8>>> {
    let broken = || io::Error::other("git gave an answer that cannot be read");
    let mut objects = Vec::with_capacity(count);
    for _ in 0..count {
        let end = answer.iter().position(|byte| *byte == b'\n').ok_or_else(broken)?;
        let head = String::from_utf8_lossy(answer.get(..end).unwrap_or_default()).into_owned();
        let size: usize = head
            .rsplit(' ')
            .next()
            .and_then(|size| size.parse().ok())
            .ok_or_else(broken)?;
        let start = end + 1;
        let stop = start.checked_add(size).ok_or_else(broken)?;
        objects.push(answer.get(start..stop).ok_or_else(broken)?.to_vec());
        answer = answer.get(stop + 1..).unwrap_or_default();
    }
    Ok(objects)
}
