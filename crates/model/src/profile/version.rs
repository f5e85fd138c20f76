//! Versions of clients.

use std::fmt;
use std::str::FromStr;

/// A release of a client: `1.66.2`, or `1.85.0-dev` for one that is not out yet.
///
/// A development version comes after the release of the same number, so that it has whatever that number has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    /// 1 for every client that has xDS.
    pub major: u16,
    /// A new one about every six weeks.
    pub minor: u16,
    /// Counts from 0.
    pub patch: u16,
    /// Built from the branch, before the release.
    pub is_dev: bool,
}

impl Version {
    /// A release.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Version {
            major,
            minor,
            patch,
            is_dev: false,
        }
    }

    /// Reads `1.66`, `1.66.2` or `1.85.0-dev` in a table of this crate; a missing patch is 0.
    ///
    /// Any other text does not build.
    #[expect(clippy::panic, reason = "runs while the crate is compiled")]
    pub(super) const fn literal(text: &str) -> Self {
        match Self::read(text.as_bytes()) {
            Some((version, _)) => version,
            None => panic!("a table names a version that is none"),
        }
    }

    /// The version in `text`, and whether it names a patch.
    const fn read(text: &[u8]) -> Option<(Self, bool)> {
        let mut numbers = [0u16; 3];
        let mut count = 0;
        let mut has_digit = false;
        let mut at = 0;
        let mut is_dev = false;
        while at < text.len() {
            match text[at] {
                digit @ b'0'..=b'9' if numbers[count] < 1000 => {
                    numbers[count] = numbers[count] * 10 + (digit - b'0') as u16;
                    has_digit = true;
                }
                b'.' if has_digit && count < 2 => {
                    count += 1;
                    has_digit = false;
                }
                b'-' if has_digit && count == 2 && matches!(text.split_at(at).1, b"-dev") => {
                    is_dev = true;
                    break;
                }
                _ => return None,
            }
            at += 1;
        }
        if !has_digit || count == 0 {
            return None;
        }
        let version = Version {
            major: numbers[0],
            minor: numbers[1],
            patch: numbers[2],
            is_dev,
        };
        Some((version, count == 2))
    }

    /// Says whether both are patches of one minor release.
    pub const fn is_of_minor(self, other: Version) -> bool {
        self.major == other.major && self.minor == other.minor
    }
}

/// What a user wrote: a version, perhaps without its patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VersionRequest {
    pub version: Version,
    pub has_patch: bool,
}

impl FromStr for VersionRequest {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let (version, has_patch) = Version::read(text.as_bytes()).ok_or(())?;
        Ok(VersionRequest { version, has_patch })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dev = if self.is_dev { "-dev" } else { "" };
        write!(f, "{}.{}.{}{dev}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_two_or_three_numbers() {
        let read = |text: &str| {
            text.parse::<VersionRequest>()
                .ok()
                .map(|a| (a.version.to_string(), a.has_patch))
        };
        assert_eq!(read("1.66"), Some(("1.66.0".to_owned(), false)));
        assert_eq!(read("v1.66.2"), Some(("1.66.2".to_owned(), true)));
        assert_eq!(read("1.85.0-dev"), Some(("1.85.0-dev".to_owned(), true)));
        for text in [
            "",
            "1",
            "1.",
            ".1",
            "1.2.",
            "1.2.3.4",
            "1.2-dev",
            "1.2.3-rc1",
            "1.a",
            "1.99999",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_development_version_comes_after_its_number_and_before_the_next() {
        let of = |text: &str| text.parse::<VersionRequest>().unwrap().version;
        assert!(of("1.84.9") < of("1.85.0") && of("1.85.0") < of("1.85.0-dev"));
        assert!(of("1.85.0-dev") < of("1.85.1"));
    }
}
