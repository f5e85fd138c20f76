//! The engines behind a translated pattern.
//!
//! RE2's budget has bounded the program before it comes here, so the engines' own limits are
//! lifted. Their compiler recurses, so a pattern with deeply nested groups is compiled on a thread
//! with a large stack. A configuration may have a hundred thousand patterns, each of which is
//! matched once or twice. Whole texts are therefore matched with no more than an automaton, which
//! takes a fifth of the memory of a `Regex` of the regex crate.

use std::cell::RefCell;

use regex::bytes;
use regex_automata::nfa::thompson::backtrack::BoundedBacktracker;
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

use super::translate::{Translation, translate};
use super::tree;

/// The depth of nested groups up to which the caller's stack suffices.
const SHALLOW: usize = 32;
/// The bytes of stack for one level of nesting. An unoptimized build of the compiler uses up to
/// half of them.
const STACK_PER_LEVEL: usize = 32 << 10;
/// The additional bytes of stack.
const STACK_BASE: usize = 4 << 20;
/// The size of an automaton in bytes from which on the compiler that made it is dropped.
const LARGE_BYTES: usize = 1 << 20;

/// A pattern compiled for whole texts; without an automaton it matches nothing.
#[derive(Debug, Clone)]
pub(super) struct Full {
    automaton: Option<NFA>,
}

impl Full {
    pub(super) fn new(pattern: &str) -> Self {
        let translation = tree::parse(pattern).map(|tree| translate(&tree, false));
        Self {
            automaton: translation.ok().and_then(|translation| build(translation, automaton)),
        }
    }

    /// Compiles a pattern of the crate `regex`, which matches from the beginning of a text.
    pub(super) fn of_rust(pattern: &str) -> Self {
        Self {
            automaton: rust_automaton(pattern),
        }
    }

    /// Returns the memory of the automaton in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.automaton.as_ref().map_or(0, NFA::memory_usage)
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        let Some(automaton) = &self.automaton else { return false };
        let input = Input::new(text.as_bytes()).anchored(Anchored::Yes).earliest(true);
        // The backtracker is quicker, but only accepts texts up to a certain length.
        let backtracker = BoundedBacktracker::new_from_nfa(automaton.clone()).ok();
        let answer = backtracker.and_then(|engine| {
            let mut cache = engine.create_cache();
            engine.try_is_match(&mut cache, input.clone()).ok()
        });
        answer.unwrap_or_else(|| {
            let engine = PikeVM::new_from_nfa(automaton.clone()).ok();
            engine.is_some_and(|engine| engine.is_match(&mut engine.create_cache(), input))
        })
    }
}

thread_local! {
    /// The compiler has tables of half a megabyte, which take longer to make than most patterns
    /// take to compile.
    static COMPILER: RefCell<thompson::Compiler> = RefCell::new(compiler());
}

fn compiler() -> thompson::Compiler {
    let mut compiler = thompson::Compiler::new();
    compiler
        .syntax(syntax::Config::new().utf8(false).nest_limit(u32::MAX))
        .configure(
            thompson::Config::new()
                .utf8(false)
                .nfa_size_limit(None)
                .which_captures(WhichCaptures::None),
        );
    compiler
}

/// Returns the automaton of a pattern of the crate `regex`.
fn rust_automaton(pattern: &str) -> Option<NFA> {
    let mut compiler = thompson::Compiler::new();
    let config = thompson::Config::new().utf8(false).which_captures(WhichCaptures::None);
    compiler.syntax(syntax::Config::new().utf8(false)).configure(config);
    compiler.build(pattern).ok()
}

/// The size of a program in bytes from which on the size of its reverse program is checked.
const LARGE_FORWARD_BYTES: usize = 1 << 20;

/// The largest reverse program in bytes that the crate `regex` accepts. With its default features
/// it compiles a reverse program, which reads a text from its end, for every pattern.
const REVERSE_BYTES_MAX: usize = 10 << 20;

/// Says whether the reverse program of a pattern is small enough.
pub(super) fn fits_in_reverse(pattern: &str) -> bool {
    if !pattern.contains('{') || rust_automaton(pattern).is_none_or(|it| it.memory_usage() < LARGE_FORWARD_BYTES) {
        return true;
    }
    let config = thompson::Config::new()
        .reverse(true)
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(REVERSE_BYTES_MAX));
    thompson::Compiler::new().configure(config).build(pattern).is_ok()
}

/// Returns the number of states in the automaton of a pattern of the crate `regex`.
pub(super) fn rust_size(pattern: &str) -> u64 {
    rust_automaton(pattern).map_or(0, |automaton| automaton.states().len() as u64)
}

/// Returns the automaton that matches whole texts.
fn automaton(text: &str) -> Option<NFA> {
    let whole = format!(r"\A(?:{text})\z");
    COMPILER.with_borrow_mut(|compiler| {
        let automaton = compiler.build(&whole).ok()?;
        if automaton.memory_usage() > LARGE_BYTES {
            // The compiler would keep the memory that it needed.
            *compiler = self::compiler();
        }
        Some(automaton)
    })
}

/// A pattern compiled to find matches and their groups; without an engine it matches nothing.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    engine: Option<bytes::Regex>,
    captures: u32,
}

impl Matcher {
    pub(super) fn new(pattern: &str) -> Self {
        let Ok(tree) = tree::parse(pattern) else {
            return Self {
                engine: None,
                captures: 0,
            };
        };
        Self {
            engine: build(translate(&tree, true), engine),
            captures: tree.captures,
        }
    }

    /// Returns the number of capturing groups.
    pub(super) fn captures(&self) -> u32 {
        self.captures
    }

    /// Returns the leftmost match at or after byte `start`.
    pub(super) fn find<'t>(&self, text: &'t str, start: usize) -> Option<bytes::Captures<'t>> {
        self.engine.as_ref()?.captures_at(text.as_bytes(), start)
    }
}

fn engine(text: &str) -> Option<bytes::Regex> {
    bytes::RegexBuilder::new(text)
        .size_limit(usize::MAX)
        .nest_limit(u32::MAX)
        .build()
        .ok()
}

/// Compiles a translated pattern on a stack that is deep enough.
fn build<T: Send + 'static>(translation: Translation, compile: fn(&str) -> Option<T>) -> Option<T> {
    // WebAssembly has one stack, and ends where that does.
    if translation.depth <= SHALLOW || cfg!(target_family = "wasm") {
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
