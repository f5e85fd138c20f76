//! Regular expressions as the client reads them: RE2's syntax, limits and matching.
//!
//! gRPC C-core compiles every `safe_regex` with the RE2 that it contains (1.85.1: a release of
//! 2022-12, Unicode 14) and default options: UTF-8, at most 1000 repetitions, a budget of 8 MiB. If
//! RE2 rejects a pattern, the client rejects the resource. The check here is therefore RE2's own,
//! down to the number of instructions of the compiled program. It is cheap for almost every pattern
//! ([`check`]) and builds the tree only where the size may matter ([`tree`], [`size`]). A match
//! compares the literal beginning ([`start`]) and then translates the tree for an engine
//! ([`translate`]), on first use.
//!
//! ```
//! # use xdsctl_re2::Regex;
//! let regex = Regex::new(r"/v\d+/(?P<name>[[:alpha:]]+)").unwrap();
//! assert!(regex.is_full_match("/v1/x"));
//! assert_eq!(regex.replace_all("/v1/x /v2/y", r"\1"), b"x y");
//! assert!(Regex::new("(?<name>a)").is_err());
//! ```

mod check;
mod class;
mod error;
mod factor;
mod kept;
mod kept_class;
mod matcher;
mod ranges;
mod recent;
mod rewrite;
mod size;
mod start;
mod syntax;
mod translate;
mod tree;
mod trie;
mod unicode;

use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

pub use error::{Quoted, RegexError};
use kept::Kept;
use matcher::Matcher;

/// Characters that make a pattern more than a literal. A closing bracket or brace alone is a
/// literal.
const SPECIAL: &[u8] = br"\.+*?()|[{^$";

/// A regular expression that RE2 accepts, or one in the syntax of the crate `regex`
/// ([`Regex::of_rust`]).
///
/// Copies share the compiled form, so that a configuration that is simulated many times compiles
/// its patterns once.
#[derive(Debug, Clone)]
pub struct Regex(Arc<SharedPattern>);

#[derive(Debug)]
struct SharedPattern {
    pattern: Box<str>,
    syntax: PatternSyntax,
    /// The pattern is a literal, which matches only itself. It is needed for each match.
    is_literal: bool,
    /// The length of the literal beginning in bytes, computed at the first match.
    start: OnceLock<u32>,
    /// The pattern compiled for whole texts. It is compiled at the first match, so validation alone
    /// never needs it.
    full: Kept,
    search: OnceLock<Box<Matcher>>,
}

/// The syntax of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternSyntax {
    Re2,
    /// The syntax of the crate `regex`, which is the engine here.
    Rust,
}

impl Regex {
    /// Checks a pattern in the syntax of the crate `regex` and keeps it.
    ///
    /// # Errors
    ///
    /// Returns the last line of that crate's error.
    pub fn of_rust(pattern: &str) -> Result<Self, String> {
        if !is_literal(pattern) {
            recent::check(PatternSyntax::Rust, pattern, check_of_rust)?;
        }
        Ok(Regex::kept(pattern, PatternSyntax::Rust))
    }

    /// Checks the pattern and keeps it, but compiles nothing yet.
    ///
    /// # Errors
    ///
    /// Returns why RE2 would reject the pattern.
    pub fn new(pattern: &str) -> Result<Self, RegexError> {
        Regex::check(pattern)?;
        Ok(Regex::kept(pattern, PatternSyntax::Re2))
    }

    /// Keeps a pattern that is known to be valid.
    fn kept(pattern: &str, syntax: PatternSyntax) -> Self {
        Self(Arc::new(SharedPattern {
            pattern: pattern.into(),
            syntax,
            is_literal: is_literal(pattern),
            start: OnceLock::new(),
            full: Kept::default(),
            search: OnceLock::new(),
        }))
    }

    /// Checks the pattern, without an allocation if it is a plain literal.
    ///
    /// # Errors
    ///
    /// Returns why RE2 would reject the pattern.
    pub fn check(pattern: &str) -> Result<(), RegexError> {
        // A literal needs one instruction for each byte.
        if is_literal(pattern) && pattern.len() as u64 <= size::INSTRUCTIONS_MAX {
            return Ok(());
        }
        recent::check(PatternSyntax::Re2, pattern, |pattern| {
            if u64::from(check::check(pattern)?) <= size::INSTRUCTIONS_MAX {
                return Ok(());
            }
            size::check(tree::parse(pattern)?)
        })
    }

    /// Returns the pattern as given.
    pub fn as_str(&self) -> &str {
        &self.0.pattern
    }

    /// Returns the names of the capturing groups in order; empty for a group without a name.
    pub fn groups(&self) -> Vec<&str> {
        let mut lexer = syntax::Lexer::new(&self.0.pattern);
        let mut names = Vec::new();
        while let Ok(Some(token)) = lexer.next() {
            if let syntax::Token::Open { capture: true, .. } = token {
                let name = lexer.written().strip_prefix("(?P<");
                names.push(name.map_or("", |name| name.trim_end_matches('>')));
            }
        }
        names
    }

    /// Says whether the whole of `text` matches (RE2, `FullMatch`).
    pub fn is_full_match(&self, text: &str) -> bool {
        if self.0.is_literal {
            return *self.0.pattern == *text;
        }
        text.starts_with(self.literal_start()) && self.0.full.is_match(self.0.syntax, &self.0.pattern, text)
    }

    /// Returns the literal text that the pattern begins with. Every text that matches as a whole
    /// begins with it.
    fn literal_start(&self) -> &str {
        if self.0.syntax != PatternSyntax::Re2 {
            return "";
        }
        let start = self.0.start.get_or_init(|| {
            let literal = start::literal(&self.0.pattern);
            u32::try_from(literal.len()).unwrap_or(0)
        });
        self.0.pattern.get(..*start as usize).unwrap_or_default()
    }

    /// Returns the effort of a match with `text`, or with any text if `None`: the number of
    /// instructions of the program that has to be compiled, up to RE2's budget, and the number of
    /// ranges of its classes, each of which takes as long as an instruction.
    ///
    /// The effort is 0 if the text does not have the pattern's literal beginning. In the engine
    /// used here, each unit costs about 40 bytes and 40 ns.
    pub fn effort(&self, text: Option<&str>) -> u64 {
        if self.0.is_literal || text.is_some_and(|text| !text.starts_with(self.literal_start())) {
            return 0;
        }
        match self.0.syntax {
            PatternSyntax::Re2 => tree::parse(&self.0.pattern).map_or(0, |tree| tree.ranges() + size::of(tree)),
            PatternSyntax::Rust => matcher::rust_size(&self.0.pattern),
        }
    }

    /// Replaces every match by `rewrite`, where `\0` is the match and `\1` to `\9` are its groups.
    ///
    /// Does what RE2's `GlobalReplace` does. If `rewrite` names a group that the pattern does not
    /// have, the text stays as it is. At a stray backslash, the replacement of each match ends. The
    /// result may not be UTF-8: that takes `\C`, or a match between the bytes of a character.
    pub fn replace_all(&self, text: &str, rewrite: &str) -> Vec<u8> {
        let matcher = self.0.search.get_or_init(|| Box::new(Matcher::new(&self.0.pattern)));
        rewrite::replace_all(matcher, text, rewrite)
    }
}

impl PartialEq for Regex {
    fn eq(&self, other: &Self) -> bool {
        self.0.pattern == other.0.pattern
    }
}

impl Eq for Regex {}

impl Hash for Regex {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.pattern.hash(state);
    }
}

fn is_literal(pattern: &str) -> bool {
    !pattern.bytes().any(|byte| SPECIAL.contains(&byte))
}

/// Checks a pattern in the syntax of the crate `regex`.
fn check_of_rust(pattern: &str) -> Result<(), String> {
    if let Err(fault) = regex::Regex::new(pattern) {
        let text = fault.to_string();
        let last = text.lines().next_back().unwrap_or_default();
        return Err(last.trim_start_matches("error: ").to_owned());
    }
    match matcher::fits_in_reverse(pattern) {
        true => Ok(()),
        false => Err("the program that reads a text from its end is too large".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn fixture(name: &str) -> Vec<serde_json::Value> {
        let path = format!("{}/../../fixtures/regex/{name}", env!("CARGO_MANIFEST_DIR"));
        let mut text = String::new();
        flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
            .read_to_string(&mut text)
            .unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn patterns_on_the_border_get_the_verdict_of_the_client() {
        let rows = fixture("border.jsonl.gz");
        assert_eq!(rows.len(), 5440);
        let differing: Vec<&serde_json::Value> = rows
            .iter()
            .filter(|row| Regex::check(row["pattern"].as_str().unwrap()).is_ok() != row["ok"])
            .collect();
        assert_eq!(differing, [] as [&serde_json::Value; 0]);
    }

    #[test]
    fn texts_match_as_in_re2() {
        for row in fixture("match.jsonl.gz") {
            let field = |name: &str| row[name].as_str().unwrap();
            let regex = Regex::new(field("pattern")).unwrap();
            assert_eq!(regex.is_full_match(field("text")), row["full"], "{row}");
            assert_eq!(
                String::from_utf8_lossy(&regex.replace_all(field("text"), field("rewrite"))).as_ref(),
                row["replaced"],
                "{row}"
            );
        }
    }

    #[test]
    fn the_program_may_fill_the_budget_and_no_more() {
        let large = Err(RegexError::TooLarge { limit: 698_992 });
        for (fits, exceeds) in [
            (r"\pL{456}".to_owned(), r"\pL{457}".to_owned()),
            (".".repeat(58_249), ".".repeat(58_250)),
            ("a".repeat(698_992), "a".repeat(698_993)),
            // An anchored pattern does not need the loop of two instructions before it.
            (r"(^\pL{456})".to_owned(), r"(^\pL{457})".to_owned()),
            (format!("^b{}", "a*".repeat(349_495)), format!("^b{}x", r"\pL{457}")),
        ] {
            assert_eq!(Regex::check(&fits), Ok(()));
            assert_eq!(Regex::check(&exceeds), large);
        }
    }

    #[test]
    fn a_literal_before_which_all_is_anchored_costs_nothing() {
        assert_eq!(Regex::check(&format!("^{}", "a".repeat(900_000))), Ok(()));
    }

    #[test]
    fn nesting_and_groups_have_no_limit() {
        let nested = |open: &str, close: &str, depth: usize| format!("{}a{}", open.repeat(depth), close.repeat(depth));
        for pattern in [
            nested("(", ")", 5000),
            nested("(?:", ")*", 5000),
            nested("(?:b|", "c)", 5000),
            nested("(?U:", "c)+", 5000),
            format!("{}a", "(b)?".repeat(20_000)),
        ] {
            let regex = Regex::new(&pattern).unwrap();
            assert!(!regex.is_full_match("d"), "{}", &pattern[..10]);
        }
        assert!(Regex::new(&nested("(", ")", 5000)).unwrap().is_full_match("a"));
        assert_eq!(
            Regex::new(&nested("(", ")", 5000)).unwrap().replace_all("bab", r"<\9>"),
            b"b<a>b"
        );
    }

    #[test]
    fn hostile_patterns_are_refused_quickly() {
        for pattern in [
            "(", ")", "[", "[[:", "(?:", "(?P<", r"\", r"\x{", r"\p{", "a{1,", "(a|", "|*", "[[:a]", "{1111",
        ] {
            // Each pattern is read in one pass, whatever it repeats.
            let _ = Regex::check(&pattern.repeat(70_000 / pattern.len()));
        }
    }

    #[test]
    fn a_literal_is_compared() {
        let regex = Regex::new("/v1/x}]").unwrap();
        assert!(regex.is_full_match("/v1/x}]"));
        assert!(!regex.is_full_match("/v1/x}]y"));
        assert_eq!(regex.replace_all("a/v1/x}]b", "-"), b"a-b");
    }

    #[test]
    fn patterns_of_the_rust_crate_are_its_own() {
        let regex = |pattern: &str| Regex::of_rust(pattern).unwrap();
        assert!(regex("(?<name>a|ab)x{1001}").is_full_match(&format!("ab{}", "x".repeat(1001))));
        assert!(!regex("a|b").is_full_match("ab") && regex("a").is_full_match("a"));
        assert!(regex(r"\p{Greek}+").is_full_match("αβγ"));
        for pattern in ["(", "(?=a)", r"\C", "a{2,1}"] {
            assert!(Regex::of_rust(pattern).is_err(), "{pattern}");
        }
    }
}
