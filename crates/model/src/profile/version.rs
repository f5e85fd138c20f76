//! Versions of clients.

use std::fmt;
use std::str::FromStr;

/// A version of a client: a release such as `1.66.2`, an alpha such as `0.1.0-alpha.4`, or
/// `1.85.0-dev`, which is built from the branch.
///
/// A development version comes after the release of the same number, so that it has whatever that
/// release has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    /// 1, or 0 for a client that has no release yet.
    pub major: u16,
    /// The minor number; a new one comes about every six weeks.
    pub minor: u16,
    /// The patch number, from 0.
    pub patch: u16,
    /// Whether this is an alpha, a release or a development version.
    pub stage: VersionStage,
}

/// How far a version is from the release of its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VersionStage {
    /// An alpha release before the release, by number.
    Alpha(u16),
    /// The release itself.
    Release,
    /// A version built from the branch, with whatever the release has.
    Dev,
}

impl Version {
    /// Makes the version of a release.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Version {
            major,
            minor,
            patch,
            stage: VersionStage::Release,
        }
    }

    /// Reads `1.66`, `1.66.2`, `0.1.0-alpha.4` or `1.85.0-dev` in a table of this crate; a missing
    /// patch is 0.
    ///
    /// Any other text is a build error.
    #[expect(clippy::panic, reason = "runs while the crate is compiled")]
    pub(super) const fn literal(text: &str) -> Self {
        match Self::read(text.as_bytes()) {
            Some((version, _)) => version,
            None => panic!("a table names a version that is none"),
        }
    }

    /// Returns the version in `text`, and whether the text names a patch.
    const fn read(text: &[u8]) -> Option<(Self, bool)> {
        let mut numbers = [0u16; 3];
        let mut count = 0;
        let mut has_digit = false;
        let mut at = 0;
        let mut stage = VersionStage::Release;
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
                b'-' if has_digit && count == 2 => {
                    match VersionStage::read(text.split_at(at).1) {
                        Some(found) => stage = found,
                        None => return None,
                    }
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
            stage,
        };
        Some((version, count == 2))
    }

    /// Says whether both are patches of one minor release.
    pub const fn is_of_minor(self, other: Version) -> bool {
        self.major == other.major && self.minor == other.minor
    }
}

impl VersionStage {
    /// Reads what follows the numbers: `-dev`, `-alpha.4`.
    const fn read(text: &[u8]) -> Option<Self> {
        let mut number = match text {
            b"-dev" => return Some(VersionStage::Dev),
            [b'-', b'a', b'l', b'p', b'h', b'a', b'.', number @ ..] => number,
            _ => return None,
        };
        let mut alpha = 0u16;
        if number.is_empty() {
            return None;
        }
        while let [digit @ b'0'..=b'9', rest @ ..] = number {
            if alpha >= 1000 {
                return None;
            }
            alpha = alpha * 10 + (*digit - b'0') as u16;
            number = rest;
        }
        if number.is_empty() {
            Some(VersionStage::Alpha(alpha))
        } else {
            None
        }
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
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        match self.stage {
            VersionStage::Alpha(number) => write!(f, "-alpha.{number}"),
            VersionStage::Release => Ok(()),
            VersionStage::Dev => f.write_str("-dev"),
        }
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
        assert_eq!(read("0.1.0-alpha.4"), Some(("0.1.0-alpha.4".to_owned(), true)));
        for text in [
            "",
            "1",
            "1.",
            ".1",
            "1.2.",
            "1.2.3.4",
            "1.2-dev",
            "1.2.3-rc1",
            "1.2.3-alpha",
            "1.2.3-alpha.",
            "1.2.3-alpha.4x",
            "1.2-alpha.4",
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

    #[test]
    fn an_alpha_comes_before_its_number() {
        let of = |text: &str| text.parse::<VersionRequest>().unwrap().version;
        assert!(of("0.1.0-alpha.4") < of("0.1.0-alpha.10") && of("0.1.0-alpha.10") < of("0.1.0"));
        assert!(of("0.0.9") < of("0.1.0-alpha.1"));
    }
}
