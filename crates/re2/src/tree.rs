//! The tree that RE2's parser builds, for patterns that [`super::check`] has accepted.
//!
//! Its shape decides the size of the compiled program and, in a few corners, what matches: adjacent
//! literals become one text, flat concatenations and alternations absorb nested ones, alternatives
//! share common beginnings ([`super::factor`]), a class of one character is a literal, and
//! repetitions of repetitions with the same flags collapse. Nodes live in one vector and refer to
//! each other by index, so depth costs no stack. The source of each rule is RE2's `ParseState`.

use std::collections::HashMap;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

use super::class::{ClassItem, Cursor, Members, Set};
use super::error::RegexError;
use super::kept_class::{self, Class};
use super::ranges::{self, RUNE_MAX, Range};
use super::syntax::{DOT_NEWLINE, FOLD, LAZY, Lexer, MULTI_LINE, Repeat, Token};
use super::trie::Size;
use super::{factor, unicode};

/// Marks `$`, which RE2 distinguishes from `\z` when it compares expressions.
const DOLLAR: u8 = 16;
/// The most operands of one node (RE2, `kMaxNsub`); more make a second level.
pub(super) const OPERANDS_MAX: usize = 65_535;

/// A node, by its index in the tree's vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Id(u32);

/// A class, by its index in the tree's list of sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClassId(u32);

/// What a node matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Op {
    Empty,
    Literal(u32),
    /// Two or more literals.
    Text(Vec<u32>),
    Class(ClassId),
    AnyChar,
    AnyByte,
    BeginLine,
    EndLine,
    BeginText,
    EndText,
    WordBoundary,
    NotWordBoundary,
    Concat,
    Alternate,
    Repeat(Repeat),
    /// A capturing group and its number, from 1.
    Capture(u32),
    /// An open group, with its number if it captures; only on the parser's stack.
    Open(Option<u32>),
    /// A vertical bar; only on the parser's stack.
    Bar,
}

/// One node of the tree.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) op: Op,
    pub(super) flags: u8,
    pub(super) operands: Vec<Id>,
}

/// A parsed pattern.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    classes: Vec<Rc<Class>>,
    pub(super) root: Option<Id>,
    pub(super) captures: u32,
}

impl Index<Id> for Tree {
    type Output = Node;

    fn index(&self, id: Id) -> &Node {
        &self.nodes[id.0 as usize]
    }
}

impl IndexMut<Id> for Tree {
    fn index_mut(&mut self, id: Id) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }
}

impl Index<ClassId> for Tree {
    type Output = [Range];

    fn index(&self, id: ClassId) -> &[Range] {
        &self.classes[id.0 as usize].ranges
    }
}

impl ClassId {
    /// Returns the index in the list of sets.
    pub(super) fn place(self) -> usize {
        self.0 as usize
    }
}

impl Tree {
    pub(super) fn add(&mut self, op: Op, flags: u8, operands: Vec<Id>) -> Id {
        // A pattern has fewer than 2^32 bytes here, and each byte adds a bounded number of nodes.
        let id = Id(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { op, flags, operands });
        id
    }

    pub(super) fn add_class(&mut self, ranges: Vec<Range>) -> ClassId {
        self.share_class(Rc::new(Class::new(ranges)))
    }

    fn share_class(&mut self, class: Rc<Class>) -> ClassId {
        let id = ClassId(u32::try_from(self.classes.len()).unwrap_or(u32::MAX));
        self.classes.push(class);
        id
    }

    /// Returns the number of ranges of all classes.
    pub(super) fn ranges(&self) -> u64 {
        self.classes.iter().map(|class| class.ranges.len() as u64).sum()
    }

    /// Returns the number of instructions of a class that is neither empty nor full.
    pub(super) fn class_size(&self, id: ClassId) -> Size {
        self.classes[id.0 as usize].size()
    }

    /// Makes a concatenation of `operands`; a single operand is returned itself.
    pub(super) fn concat(&mut self, operands: Vec<Id>, flags: u8) -> Id {
        self.join(Op::Concat, operands, flags)
    }

    /// Makes an alternation of `operands` as they are.
    pub(super) fn alternate(&mut self, operands: Vec<Id>, flags: u8) -> Id {
        self.join(Op::Alternate, operands, flags)
    }

    fn join(&mut self, op: Op, operands: Vec<Id>, flags: u8) -> Id {
        if let [only] = operands[..] {
            return only;
        }
        if operands.len() <= OPERANDS_MAX {
            return self.add(op, flags, operands);
        }
        let parts = operands
            .chunks(OPERANDS_MAX)
            .map(|part| match *part {
                [only] => only,
                _ => self.add(op.clone(), flags, part.to_vec()),
            })
            .collect();
        self.add(op, flags, parts)
    }

    /// Says whether RE2 considers two expressions equal, each without operands or a repetition of
    /// such an expression.
    pub(super) fn same(&self, a: Id, b: Id) -> bool {
        let (a, b) = (&self[a], &self[b]);
        let differing = a.flags ^ b.flags;
        match (&a.op, &b.op) {
            (Op::Class(a), Op::Class(b)) => a == b || self[*a] == self[*b],
            (Op::Literal(a), Op::Literal(b)) => a == b && differing & FOLD == 0,
            (Op::EndText, Op::EndText) => differing & DOLLAR == 0,
            (Op::Repeat(Repeat::Count(..)), Op::Repeat(Repeat::Count(..))) => {
                a.op == b.op
                    && differing & LAZY == 0
                    && matches!((&a.operands[..], &b.operands[..]), (&[a], &[b]) if self.is_single(a) && self.same(a, b))
            }
            (
                Op::AnyChar
                | Op::AnyByte
                | Op::BeginLine
                | Op::EndLine
                | Op::BeginText
                | Op::WordBoundary
                | Op::NotWordBoundary,
                _,
            ) => a.op == b.op,
            _ => false,
        }
    }

    /// Says whether the node matches exactly one character or byte, whatever the text is.
    pub(super) fn is_single(&self, id: Id) -> bool {
        matches!(self[id].op, Op::Literal(_) | Op::Class(_) | Op::AnyChar | Op::AnyByte)
    }
}

/// Parses a pattern that the cheap check has accepted.
pub(super) fn parse(pattern: &str) -> Result<Tree, RegexError> {
    let mut parser = PatternParser {
        tree: Tree::default(),
        stack: Vec::new(),
        flags: 0,
        known: HashMap::new(),
    };
    let mut lexer = Lexer::new(pattern);
    while let Some(token) = lexer.next()? {
        parser.token(token)?;
    }
    parser.end_alternation();
    parser.tree.root = parser.stack.pop();
    Ok(parser.tree)
}

struct PatternParser<'p> {
    tree: Tree,
    stack: Vec<Id>,
    flags: u8,
    /// The classes by their text and whether they fold; only looked up, never iterated.
    known: HashMap<(&'p str, bool), ClassId>,
}

impl<'p> PatternParser<'p> {
    fn token(&mut self, token: Token<'p>) -> Result<(), RegexError> {
        match token {
            Token::Literal(rune) => self.literal(rune),
            Token::Class { text, .. } => {
                let class = self.class(text, true, |folds| bracketed(text, folds))?;
                self.push_class(class);
            }
            Token::Set { text, set } => {
                let class = self.class(text, true, |folds| Ok(predefined(set, folds)))?;
                self.push_class(class);
            }
            Token::Dot if self.flags & DOT_NEWLINE != 0 => self.simple(Op::AnyChar, 0),
            Token::Dot => {
                let class = self.class(".", false, |_| Ok(vec![(0, 0x09), (0x0B, RUNE_MAX)]))?;
                self.push_class(class);
            }
            Token::Caret if self.flags & MULTI_LINE != 0 => self.simple(Op::BeginLine, 0),
            Token::Caret | Token::BeginText => self.simple(Op::BeginText, 0),
            Token::Dollar if self.flags & MULTI_LINE != 0 => self.simple(Op::EndLine, 0),
            Token::Dollar => self.simple(Op::EndText, DOLLAR),
            Token::EndText => self.simple(Op::EndText, 0),
            Token::WordBoundary => self.simple(Op::WordBoundary, 0),
            Token::NotWordBoundary => self.simple(Op::NotWordBoundary, 0),
            Token::AnyByte => self.simple(Op::AnyByte, 0),
            Token::Flags(change) => self.flags = change.apply(self.flags),
            Token::Open { capture, flags } => {
                let number = capture.then(|| {
                    self.tree.captures += 1;
                    self.tree.captures
                });
                // The marker remembers the flags to return to.
                self.simple(Op::Open(number), 0);
                self.flags = flags.apply(self.flags);
            }
            Token::Close => self.close(),
            Token::Bar => self.bar(),
            Token::Repeat { repeat, lazy } => self.repeat(repeat, lazy),
        }
        Ok(())
    }

    fn class(
        &mut self,
        text: &'p str,
        may_fold: bool,
        build: impl FnOnce(bool) -> Result<Vec<Range>, RegexError>,
    ) -> Result<ClassId, RegexError> {
        let key = (text, may_fold && self.flags & FOLD != 0);
        if let Some(&class) = self.known.get(&key) {
            return Ok(class);
        }
        let class = kept_class::class(text, key.1, || build(key.1))?;
        let class = self.tree.share_class(class);
        self.known.insert(key, class);
        Ok(class)
    }

    /// Pushes a class. A class of one letter, or of one letter in both cases, becomes a literal.
    fn push_class(&mut self, class: ClassId) {
        let ranges = &self.tree[class];
        let (op, flags) = match *ranges {
            [(rune, last)] if rune == last => (Op::Literal(rune), self.flags),
            [(upper, a), (lower, b)] if upper == a && lower == b && is_cased_pair(upper, lower) => {
                (Op::Literal(lower), self.flags | FOLD)
            }
            _ => (Op::Class(class), self.flags & !FOLD),
        };
        let id = self.tree.add(op, flags, Vec::new());
        self.push(id);
    }

    fn literal(&mut self, rune: u32) {
        if self.flags & FOLD != 0 && unicode::next_fold(rune) != rune {
            if let Some(lower) = two_cased(rune) {
                return self.simple(Op::Literal(lower), 0);
            }
            let mut cycle = vec![(rune, rune)];
            ranges::close_under_folding(&mut cycle);
            let class = self.tree.add_class(cycle);
            return self.push_class(class);
        }
        if self.merge_literals(Some(rune)) {
            return;
        }
        self.simple(Op::Literal(rune), 0);
    }

    fn simple(&mut self, op: Op, extra: u8) {
        let id = self.tree.add(op, self.flags | extra, Vec::new());
        self.push(id);
    }

    fn push(&mut self, id: Id) {
        self.merge_literals(None);
        self.stack.push(id);
    }

    /// Joins the two topmost literals. If `rune` is given, it becomes the new topmost literal;
    /// returns whether it was placed.
    ///
    /// The latest literal stays separate until something follows, because a repetition would apply
    /// to it alone.
    fn merge_literals(&mut self, rune: Option<u32>) -> bool {
        let &[.., below, top] = &self.stack[..] else {
            return false;
        };
        let is_literal = |id: Id| matches!(self.tree[id].op, Op::Literal(_) | Op::Text(_));
        if !is_literal(top) || !is_literal(below) || (self.tree[top].flags ^ self.tree[below].flags) & FOLD != 0 {
            return false;
        }
        let next = match rune {
            Some(rune) => Op::Literal(rune),
            None => Op::Empty,
        };
        let upper = std::mem::replace(&mut self.tree[top].op, next);
        let text = &mut self.tree[below].op;
        if let Op::Literal(first) = *text {
            *text = Op::Text(vec![first]);
        }
        if let Op::Text(text) = text {
            match upper {
                Op::Literal(rune) => text.push(rune),
                Op::Text(mut more) => text.append(&mut more),
                _ => {}
            }
        }
        if rune.is_some() {
            self.tree[top].flags = self.flags;
            return true;
        }
        self.stack.pop();
        false
    }

    fn repeat(&mut self, repeat: Repeat, lazy: bool) {
        let flags = if lazy { self.flags ^ LAZY } else { self.flags };
        let op = Op::Repeat(repeat);
        let Some(&top) = self.stack.last() else { return };
        let operand = &mut self.tree[top];
        let unary = |op: &Op| matches!(op, Op::Repeat(Repeat::Star | Repeat::Plus | Repeat::Quest));
        if unary(&op) && unary(&operand.op) && operand.flags == flags {
            if operand.op != op {
                operand.op = Op::Repeat(Repeat::Star);
            }
            return;
        }
        let id = self.tree.add(op, flags, vec![top]);
        if let Some(slot) = self.stack.last_mut() {
            *slot = id;
        }
    }

    fn close(&mut self) {
        self.end_alternation();
        let (Some(inner), Some(open)) = (self.stack.pop(), self.stack.pop()) else {
            return;
        };
        self.flags = self.tree[open].flags;
        let group = match self.tree[open].op {
            Op::Open(Some(number)) => {
                let node = &mut self.tree[open];
                node.op = Op::Capture(number);
                node.operands = vec![inner];
                open
            }
            _ => inner,
        };
        self.push(group);
    }

    /// Ends a branch. The finished branches are below one bar on the stack, in order.
    fn bar(&mut self) {
        self.merge_literals(None);
        if self.stack.last().is_none_or(|&top| self.is_marker(top)) {
            self.simple(Op::Empty, 0);
        }
        self.collapse(&Op::Concat);
        if let &[.., bar, branch] = &self.stack[..]
            && self.tree[bar].op == Op::Bar
        {
            self.stack.truncate(self.stack.len() - 2);
            self.add_branch(branch);
            self.stack.push(bar);
            return;
        }
        self.simple(Op::Bar, 0);
    }

    /// Adds a branch. A branch of any character absorbs a neighbouring branch of one character.
    fn add_branch(&mut self, branch: Id) {
        let swallowed = |id: Id| matches!(self.tree[id].op, Op::Literal(_) | Op::Class(_) | Op::AnyChar);
        if let Some(&before) = self.stack.last() {
            if self.tree[before].op == Op::AnyChar && swallowed(branch) {
                return;
            }
            if self.tree[branch].op == Op::AnyChar && swallowed(before) {
                self.stack.pop();
            }
        }
        self.stack.push(branch);
    }

    fn end_alternation(&mut self) {
        self.bar();
        self.stack.pop();
        self.collapse(&Op::Alternate);
    }

    /// Joins everything above the topmost marker.
    fn collapse(&mut self, op: &Op) {
        let start = self
            .stack
            .iter()
            .rposition(|&id| self.is_marker(id))
            .map_or(0, |marker| marker + 1);
        if self.stack.len() - start <= 1 {
            return;
        }
        let parts = self.stack.split_off(start);
        let mut operands = Vec::with_capacity(parts.len());
        for part in parts {
            if self.tree[part].op == *op {
                let mut nested = std::mem::take(&mut self.tree[part].operands);
                if operands.is_empty() {
                    // Taking over the vector keeps left-nested groups linear.
                    operands = nested;
                } else {
                    operands.append(&mut nested);
                }
            } else {
                operands.push(part);
            }
        }
        let joined = if *op == Op::Alternate {
            let operands = factor::factor(&mut self.tree, operands, self.flags);
            self.tree.alternate(operands, self.flags)
        } else {
            self.tree.concat(operands, self.flags)
        };
        self.stack.push(joined);
    }

    fn is_marker(&self, id: Id) -> bool {
        matches!(self.tree[id].op, Op::Open(_) | Op::Bar)
    }
}

/// Returns the small letter, if the code point is an ASCII letter that has just its two cases.
fn two_cased(rune: u32) -> Option<u32> {
    let lower = u8::try_from(rune)
        .ok()
        .filter(u8::is_ascii_alphabetic)?
        .to_ascii_lowercase();
    // The Kelvin sign and the long s are further cases of `k` and `s`.
    (!matches!(lower, b'k' | b's')).then_some(u32::from(lower))
}

/// Says whether the two are the cases of an ASCII letter.
fn is_cased_pair(upper: u32, lower: u32) -> bool {
    (0x41..=0x5A).contains(&upper) && lower == upper + 0x20
}

/// Returns the members of a predefined set, closed under folding before a negation.
fn predefined(set: Set, folds: bool) -> Vec<Range> {
    let mut members = Vec::new();
    match set.members {
        Members::Ascii(list) => members.extend_from_slice(list),
        Members::Unicode(group) => members.extend_from_slice(&kept_class::group(group, folds)),
    }
    if matches!(set.members, Members::Ascii(_)) {
        ranges::normalize(&mut members);
        if folds {
            ranges::close_under_folding(&mut members);
        }
    }
    if set.negated {
        ranges::complement(&members)
    } else {
        members
    }
}

/// Returns the members of a bracketed class.
fn bracketed(text: &str, folds: bool) -> Result<Vec<Range>, RegexError> {
    let (mut members, mut sets) = (Vec::new(), Vec::new());
    let negated = Cursor::new(text).class(|item| match item {
        ClassItem::Range(low, high) => members.push((low, high)),
        ClassItem::Set(set) => sets.append(&mut predefined(set, folds)),
    })?;
    if folds {
        // The members of predefined sets, also of negated ones, have both cases already.
        ranges::close_under_folding(&mut members);
    }
    members.append(&mut sets);
    ranges::normalize(&mut members);
    Ok(if negated { ranges::complement(&members) } else { members })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(pattern: &str) -> (Op, usize) {
        let tree = parse(pattern).unwrap();
        let root = &tree[tree.root.unwrap()];
        (root.op.clone(), root.operands.len())
    }

    #[test]
    fn literals_join_unless_repeated_or_of_another_case() {
        assert_eq!(root("a(?:bc)d"), (Op::Text(vec![0x61, 0x62, 0x63, 0x64]), 0));
        assert_eq!(root("ab*"), (Op::Concat, 2));
        assert_eq!(root("a(?i)b"), (Op::Concat, 2));
    }

    #[test]
    fn a_class_of_one_letter_is_a_literal() {
        assert_eq!(root("[.]"), (Op::Literal(0x2E), 0));
        assert_eq!(root("[Aa]"), (Op::Literal(0x61), 0));
        assert!(matches!(root("(?i)k"), (Op::Class(_), 0)));
    }

    #[test]
    fn repetitions_of_the_same_kind_collapse() {
        assert_eq!(root("(?:a*)+"), (Op::Repeat(Repeat::Star), 1));
        assert_eq!(root("(?:a+)+"), (Op::Repeat(Repeat::Plus), 1));
        assert_eq!(root("(?:a?)?"), (Op::Repeat(Repeat::Quest), 1));
        // Repetitions with other flags stay separate.
        let tree = parse("(?i:a*)+").unwrap();
        assert_eq!(tree[tree.root.unwrap()].op, Op::Repeat(Repeat::Plus));
    }

    #[test]
    fn any_character_swallows_neighbouring_branches() {
        assert_eq!(root("(?s)a|.|[bc]"), (Op::AnyChar, 0));
        assert_eq!(root("(?s)ab|.|[bc]"), (Op::Alternate, 2));
    }

    #[test]
    fn nested_operands_are_taken_in() {
        assert_eq!(root("(?:ab|cd)|(?:ef|gh)"), (Op::Alternate, 4));
        assert_eq!(root("(?:a*b*)(?:c*d*)"), (Op::Concat, 4));
    }
}
