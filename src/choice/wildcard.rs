//! Patterns: for names and paths, in which only `*` means something, and for files, as in `.gitignore`.

use std::fmt;

use glob::{MatchOptions, Pattern};

/// A text with `*` for any run of characters; everything else, brackets too, stands for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wildcard(String);

impl Wildcard {
    /// The pattern of this text.
    pub fn new(text: impl Into<String>) -> Self {
        Wildcard(text.into())
    }

    /// Says whether the whole of `text` is meant.
    ///
    /// ```
    /// use xdsctl::choice::Wildcard;
    /// assert!(Wildcard::new("virtual_hosts[*].routes[*].route.cluster").matches("virtual_hosts[0].routes[12].route.cluster"));
    /// assert!(!Wildcard::new("cart").matches("cart-v2"));
    /// ```
    pub fn matches(&self, text: &str) -> bool {
        let Some((head, rest)) = self.0.split_once('*') else {
            return self.0 == text;
        };
        let Some(mut text) = text.strip_prefix(head) else {
            return false;
        };
        let Some((middle, tail)) = rest.rsplit_once('*') else {
            return text.ends_with(rest);
        };
        // The first place is as good as any for what lies between two stars.
        for piece in middle.split('*') {
            match text.split_once(piece) {
                Some((_, after)) => text = after,
                None => return false,
            }
        }
        text.ends_with(tail)
    }
}

impl fmt::Display for Wildcard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A pattern for files: `*` within a name, `**` for directories; one without a slash is for names in any directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePattern {
    pattern: Pattern,
    is_name: bool,
}

impl FilePattern {
    /// # Errors
    /// What is no pattern, in words.
    pub fn new(text: &str) -> Result<Self, String> {
        let pattern = Pattern::new(text).map_err(|error| format!("`{text}` is no pattern: {}", error.msg))?;
        Ok(FilePattern {
            pattern,
            is_name: !text.contains('/'),
        })
    }

    /// Says whether a file is meant; `path` has slashes.
    ///
    /// ```
    /// use xdsctl::choice::FilePattern;
    /// let is_legacy = FilePattern::new("legacy/**").unwrap();
    /// assert!(is_legacy.matches("legacy/eu/cart.yaml"));
    /// assert!(!is_legacy.matches("prod/legacy/cart.yaml"));
    /// assert!(FilePattern::new("*.pb").unwrap().matches("prod/a.pb"));
    /// ```
    pub fn matches(&self, path: &str) -> bool {
        let path = if self.is_name {
            path.rsplit('/').next().unwrap_or(path)
        } else {
            path
        };
        let options = MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: false,
        };
        self.pattern.matches_with(path, options)
    }
}

impl fmt::Display for FilePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.pattern.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_run_of_characters() {
        for (pattern, text, is_match) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("a*", "ab", true),
            ("*a", "ba", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "axbxbxc", true),
            ("a*b*c", "ac", false),
            ("*b*", "abc", true),
            ("[*]", "[0]", true),
            ("a**c", "abc", true),
        ] {
            assert_eq!(Wildcard::new(pattern).matches(text), is_match, "{pattern} {text}");
        }
    }
}
