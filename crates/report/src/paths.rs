//! File names in the form that other tools expect: relative to the root of the repository, and as
//! URIs.

use std::path::{Component, Path, PathBuf};

/// The directories that printed file names are relative to.
#[derive(Debug, Clone, Default)]
pub struct PrintedPaths {
    /// The directory in which the command runs; if it is not known, names are printed unchanged.
    pub directory: Option<PathBuf>,
    /// The root of the repository; `directory` if it is not known.
    pub root: Option<PathBuf>,
}

impl PrintedPaths {
    /// Returns a file's name relative to the root, with `/` between the steps; unchanged if the
    /// file is elsewhere.
    pub fn relative(&self, file: &str) -> String {
        if is_uri(file) {
            return file.to_owned();
        }
        self.below_root(file).unwrap_or_else(|| file.to_owned())
    }

    /// Returns a file's name as a URI: relative to the root, or absolute if the file is elsewhere.
    /// The name of a running system is a URI already.
    pub fn uri(&self, file: &str) -> String {
        if is_uri(file) {
            return percent_encoded(file, b":/?#[]@!$&'()*+,;=%");
        }
        match self.below_root(file) {
            Some(relative) => percent_encoded(&relative, b"/"),
            None if Path::new(file).is_absolute() => format!("file://{}", percent_encoded(file, b"/")),
            None => percent_encoded(file, b"/"),
        }
    }

    fn below_root(&self, file: &str) -> Option<String> {
        let directory = self.directory.as_deref()?;
        let absolute = normal(&directory.join(file));
        let roots = [self.root.as_deref(), Some(directory)];
        let below = roots
            .into_iter()
            .flatten()
            .find_map(|root| absolute.strip_prefix(normal(root)).ok())?;
        let steps: Option<Vec<&str>> = below.iter().map(|step| step.to_str()).collect();
        steps.filter(|steps| !steps.is_empty()).map(|steps| steps.join("/"))
    }
}

/// Says whether a name has a scheme, as addresses of running systems do (RFC 3986, section 3.1).
fn is_uri(name: &str) -> bool {
    let is_in_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    name.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_in_scheme)
    })
}

/// Removes `.` and `..` from a path; links are not followed.
pub fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for step in path.components() {
        match step {
            Component::CurDir => {}
            Component::ParentDir => _ = out.pop(),
            step => out.push(step),
        }
    }
    out
}

/// Encodes a path for a URI (RFC 3986, section 3.3): every character that is neither unreserved nor
/// in `kept` is encoded.
fn percent_encoded(path: &str, kept: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte.into()),
            byte if kept.contains(&byte) => out.push(byte.into()),
            _ => _ = write!(out, "%{byte:02X}"),
        }
    }
    out
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn paths(directory: &str, root: Option<&str>) -> PrintedPaths {
        PrintedPaths {
            directory: Some(directory.into()),
            root: root.map(Into::into),
        }
    }

    #[test]
    fn names_are_relative_to_the_root_of_the_repository() {
        let here = paths("/repo", None);
        for (file, expected) in [
            ("a/b.yaml", "a/b.yaml"),
            ("./a/../b.yaml", "b.yaml"),
            ("/repo/a/b.yaml", "a/b.yaml"),
            ("/other/b.yaml", "/other/b.yaml"),
            ("../b.yaml", "../b.yaml"),
            ("-", "-"),
        ] {
            assert_eq!(here.relative(file), expected);
        }
        let below = paths("/repo/xds", Some("/repo"));
        assert_eq!(below.relative("a.yaml"), "xds/a.yaml");
        assert_eq!(below.relative("../a.yaml"), "a.yaml");
        assert_eq!(paths("/elsewhere/x", Some("/repo")).relative("a.yaml"), "a.yaml");
        assert_eq!(PrintedPaths::default().relative("./a.yaml"), "./a.yaml");
    }

    #[test]
    fn uris_hold_no_character_that_means_something_else() {
        let here = paths("/repo", None);
        assert_eq!(here.uri("a b/é#1?.yaml"), "a%20b/%C3%A9%231%3F.yaml");
        assert_eq!(here.uri("/other/b c.yaml"), "file:///other/b%20c.yaml");
        assert_eq!(here.uri("a:b"), "a%3Ab");
        let running = "ads://[::1]:15010?node=a b&target=xds:///c";
        assert_eq!(here.uri(running), running.replace(' ', "%20"));
        assert_eq!(here.relative(running), running);
    }
}
