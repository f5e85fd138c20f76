//! The regex crate behind a translated pattern.
//!
//! RE2's budget has bounded the program before it comes here, so the crate's own limits are lifted. Its
//! compiler recurses, so a pattern with deeply nested groups is compiled on a thread with a stack to match.

use regex::bytes;

use super::translate::{Translation, translate};
use super::tree;

/// Nesting of groups up to which the caller's stack serves.
const SHALLOW: usize = 32;
/// Bytes of stack for one level of nesting; an unoptimized build of the compiler uses up to half of it.
const STACK_PER_LEVEL: usize = 32 << 10;
/// Bytes of stack besides.
const STACK_BASE: usize = 4 << 20;

/// A compiled pattern; without an engine it matches nothing.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    engine: Option<bytes::Regex>,
    captures: u32,
}

impl Matcher {
    /// Compiles for matching whole texts.
    pub(super) fn full(pattern: &str) -> Self {
        Self::compile(pattern, false)
    }

    /// Compiles for finding matches and their groups.
    pub(super) fn search(pattern: &str) -> Self {
        Self::compile(pattern, true)
    }

    fn compile(pattern: &str, captures: bool) -> Self {
        let Ok(tree) = tree::parse(pattern) else {
            return Self {
                engine: None,
                captures: 0,
            };
        };
        let mut translation = translate(&tree, captures);
        if !captures {
            translation.text = format!(r"\A(?:{})\z", translation.text);
        }
        Self {
            engine: build(translation),
            captures: tree.captures,
        }
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.engine
            .as_ref()
            .is_some_and(|engine| engine.is_match(text.as_bytes()))
    }

    /// Number of capturing groups.
    pub(super) fn captures(&self) -> u32 {
        self.captures
    }

    /// Leftmost match at or after byte `start`.
    pub(super) fn find<'t>(&self, text: &'t str, start: usize) -> Option<bytes::Captures<'t>> {
        self.engine.as_ref()?.captures_at(text.as_bytes(), start)
    }
}

fn build(translation: Translation) -> Option<bytes::Regex> {
    let compile = |text: &str| {
        bytes::RegexBuilder::new(text)
            .size_limit(usize::MAX)
            .nest_limit(u32::MAX)
            .build()
            .ok()
    };
    if translation.depth <= SHALLOW {
        return compile(&translation.text);
    }
    let stack = translation
        .depth
        .saturating_mul(STACK_PER_LEVEL)
        .saturating_add(STACK_BASE);
    let thread = std::thread::Builder::new()
        .stack_size(stack)
        .spawn(move || compile(&translation.text));
    thread.ok()?.join().ok()?
}
