//! Patterns for names and paths, in which only `*` is special.

use std::fmt;

/// A text with `*` for any run of characters; everything else, also a bracket, stands for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wildcard(String);

impl Wildcard {
    /// Makes a pattern of this text.
    pub fn new(text: impl Into<String>) -> Self {
        Wildcard(text.into())
    }

    /// Returns the length of the pattern in bytes.
    pub const fn bytes(&self) -> usize {
        self.0.len()
    }

    /// Says whether the pattern matches the whole of `text`.
    ///
    /// ```
    /// use xdsctl_model::wildcard::Wildcard;
    /// let pattern = Wildcard::new("virtual_hosts[*].routes[*].name");
    /// assert!(pattern.matches("virtual_hosts[0].routes[12].name"));
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
        // The first match of a piece between two stars is as good as any later one.
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

    #[test]
    fn many_stars_take_no_time() {
        let wildcard = Wildcard::new(format!("{}b", "*a".repeat(10_000)));
        assert!(!wildcard.matches(&"a".repeat(1_000_000)));
    }
}
