//! Factors out the common beginnings of alternatives, as RE2's parser does.
//!
//! There are three rounds over neighbouring alternatives. They find a common literal text, a common
//! first expression of a simple kind, and runs of single characters, which become one class. The
//! first two rounds leave suffixes that go through the same rounds again: `abc|abd|xy` becomes
//! `ab[c-d]|xy`. Factoring changes the number of instructions, and the merged class folds letters
//! by Unicode's rules where the literal alone would fold by ASCII's (RE2, `FactorAlternation`).

use super::ranges::{self, Range};
use super::syntax::{FOLD, Repeat};
use super::tree::{Id, Op, Tree};
use super::unicode;

/// Alternatives that one round has joined.
struct Splice {
    first: usize,
    count: usize,
    /// What replaces the alternatives; in the first two rounds their common beginning.
    joined: Id,
    /// The rest of each alternative, after the suffixes went through the rounds.
    suffixes: Vec<Id>,
}

/// Alternatives that are going through the rounds.
struct OpenAlternatives {
    alternatives: Vec<Id>,
    round: u8,
    splices: Vec<Splice>,
    /// The splice whose suffixes come next.
    due: usize,
}

impl OpenAlternatives {
    fn new(alternatives: Vec<Id>) -> Self {
        Self {
            alternatives,
            round: 0,
            splices: Vec::new(),
            due: 0,
        }
    }

    /// Joins the `count` alternatives from `first` on.
    fn join(&mut self, first: usize, count: usize, joined: Id) {
        self.splices.push(Splice {
            first,
            count,
            joined,
            suffixes: Vec::new(),
        });
    }
}

/// Factors the alternatives. The result stands for the same alternation.
pub(super) fn factor(tree: &mut Tree, alternatives: Vec<Id>, flags: u8) -> Vec<Id> {
    let mut outer: Vec<OpenAlternatives> = Vec::new();
    let mut frame = OpenAlternatives::new(alternatives);
    loop {
        // Suffixes come first: each list of suffixes is an alternation of its own.
        if frame.round < 3
            && let Some(splice) = frame.splices.get(frame.due)
        {
            let range = splice.first..splice.first + splice.count;
            let suffixes = frame.alternatives.get(range).unwrap_or_default().to_vec();
            outer.push(std::mem::replace(&mut frame, OpenAlternatives::new(suffixes)));
            continue;
        }
        apply(tree, &mut frame, flags);
        frame.round += 1;
        frame.due = 0;
        match frame.round {
            1 => common_texts(tree, &mut frame),
            2 => common_expressions(tree, &mut frame),
            3 => single_characters(tree, &mut frame, flags),
            _ => {
                let done = frame.alternatives;
                let Some(parent) = outer.pop() else { return done };
                frame = parent;
                if let Some(splice) = frame.splices.get_mut(frame.due) {
                    splice.suffixes = done;
                }
                frame.due += 1;
            }
        }
    }
}

/// Replaces the joined alternatives by the result.
fn apply(tree: &mut Tree, frame: &mut OpenAlternatives, flags: u8) {
    if frame.splices.is_empty() {
        return;
    }
    let mut out = Vec::with_capacity(frame.alternatives.len());
    let mut next = 0;
    for splice in frame.splices.drain(..) {
        out.extend_from_slice(frame.alternatives.get(next..splice.first).unwrap_or_default());
        next = splice.first + splice.count;
        if frame.round == 3 {
            out.push(splice.joined);
        } else {
            let rest = tree.alternate(splice.suffixes, flags);
            out.push(tree.concat(vec![splice.joined, rest], flags));
        }
    }
    out.extend_from_slice(frame.alternatives.get(next..).unwrap_or_default());
    frame.alternatives = out;
}

/// Returns the literal text that an expression begins with, and whether it folds.
fn leading_text(tree: &Tree, mut id: Id) -> (&[u32], u8) {
    while let (Op::Concat, Some(&first)) = (&tree[id].op, tree[id].operands.first()) {
        id = first;
    }
    let fold = tree[id].flags & FOLD;
    match &tree[id].op {
        Op::Literal(rune) => (std::slice::from_ref(rune), fold),
        Op::Text(text) => (text, fold),
        _ => (&[], fold),
    }
}

fn common_texts(tree: &mut Tree, frame: &mut OpenAlternatives) {
    let mut first = 0;
    while let Some(&head) = frame.alternatives.get(first) {
        let (text, fold) = leading_text(tree, head);
        let mut common = text.len();
        let mut count = 1;
        while let Some(&id) = frame.alternatives.get(first + count) {
            let (other, other_fold) = leading_text(tree, id);
            let same = text.iter().take(common).zip(other).take_while(|(a, b)| a == b).count();
            if same == 0 || other_fold != fold {
                break;
            }
            common = same;
            count += 1;
        }
        if count > 1 {
            let op = match text.get(..common).unwrap_or_default() {
                [rune] => Op::Literal(*rune),
                text => Op::Text(text.to_vec()),
            };
            let joined = tree.add(op, fold, Vec::new());
            for &id in frame.alternatives.get(first..first + count).unwrap_or_default() {
                drop_leading_text(tree, id, common);
            }
            frame.join(first, count, joined);
        }
        first += count;
    }
}

/// Removes the first `count` literals from an expression, in place.
fn drop_leading_text(tree: &mut Tree, id: Id, count: usize) {
    let mut path = Vec::new();
    let mut leaf = id;
    while let (Op::Concat, Some(&first)) = (&tree[leaf].op, tree[leaf].operands.first()) {
        path.push(leaf);
        leaf = first;
    }
    let rest = match &tree[leaf].op {
        Op::Text(text) => match text.get(count..) {
            None | Some([]) => Op::Empty,
            Some([rune]) => Op::Literal(*rune),
            Some(rest) => Op::Text(rest.to_vec()),
        },
        _ => Op::Empty,
    };
    tree[leaf].op = rest;
    while let Some(concat) = path.pop() {
        drop_first_if_empty(tree, concat);
    }
}

fn drop_first_if_empty(tree: &mut Tree, concat: Id) {
    let Some(&first) = tree[concat].operands.first() else {
        return;
    };
    if tree[first].op != Op::Empty {
        return;
    }
    if let [_, second] = tree[concat].operands[..] {
        tree[concat] = tree[second].clone();
    } else {
        tree[concat].operands.remove(0);
    }
}

/// Returns the expression that a concatenation begins with; `None` if that is empty.
fn leading_expression(tree: &Tree, id: Id) -> Option<Id> {
    let first = match (&tree[id].op, &tree[id].operands[..]) {
        (Op::Concat, [first, _, ..]) => *first,
        _ => id,
    };
    (tree[first].op != Op::Empty).then_some(first)
}

/// Says whether a beginning may be shared: it must match in one way only.
fn is_simple(tree: &Tree, id: Id) -> bool {
    match &tree[id].op {
        Op::BeginLine
        | Op::EndLine
        | Op::BeginText
        | Op::EndText
        | Op::WordBoundary
        | Op::NotWordBoundary
        | Op::Class(_)
        | Op::AnyChar
        | Op::AnyByte => true,
        Op::Repeat(Repeat::Count(min, max)) => {
            *max == Some(*min)
                && tree[id]
                    .operands
                    .first()
                    .is_some_and(|&operand| tree.is_single(operand))
        }
        _ => false,
    }
}

fn common_expressions(tree: &mut Tree, frame: &mut OpenAlternatives) {
    let mut first = 0;
    while let Some(&head) = frame.alternatives.get(first) {
        let mut count = 1;
        if let Some(joined) = leading_expression(tree, head).filter(|&id| is_simple(tree, id)) {
            while let Some(&id) = frame.alternatives.get(first + count)
                && leading_expression(tree, id).is_some_and(|other| tree.same(joined, other))
            {
                count += 1;
            }
            if count > 1 {
                for id in frame.alternatives.iter_mut().skip(first).take(count) {
                    *id = without_leading_expression(tree, *id);
                }
                frame.join(first, count, joined);
            }
        }
        first += count;
    }
}

fn without_leading_expression(tree: &mut Tree, id: Id) -> Id {
    match (&tree[id].op, &tree[id].operands[..]) {
        (Op::Concat, &[_, second]) => second,
        (Op::Concat, [_, _, ..]) => {
            tree[id].operands.remove(0);
            id
        }
        _ => {
            let flags = tree[id].flags;
            tree.add(Op::Empty, flags, Vec::new())
        }
    }
}

fn single_characters(tree: &mut Tree, frame: &mut OpenAlternatives, flags: u8) {
    let is_character = |tree: &Tree, id: Id| matches!(tree[id].op, Op::Literal(_) | Op::Class(_));
    let mut first = 0;
    while first < frame.alternatives.len() {
        let run = frame
            .alternatives
            .iter()
            .skip(first)
            .take_while(|&&id| is_character(tree, id))
            .count();
        if run > 1 {
            let members = merged(tree, frame.alternatives.get(first..first + run).unwrap_or_default());
            let class = tree.add_class(members);
            let joined = tree.add(Op::Class(class), flags, Vec::new());
            frame.join(first, run, joined);
        }
        first += run.max(1);
    }
}

/// Returns the union of literals and classes.
///
/// A folding literal adds all letters of its folding cycle, unless the literal itself is already a
/// member. RE2 then takes it for granted that its other cases are members too, which may be wrong.
fn merged(tree: &Tree, characters: &[Id]) -> Vec<Range> {
    let mut members: Vec<Range> = Vec::new();
    let mut folding: Vec<usize> = Vec::new();
    for &id in characters {
        match &tree[id].op {
            Op::Class(class) => members.extend_from_slice(&tree[*class]),
            Op::Literal(rune) => {
                if tree[id].flags & FOLD != 0 && unicode::next_fold(*rune) != *rune {
                    folding.push(members.len());
                }
                members.push((*rune, *rune));
            }
            _ => {}
        }
    }
    if !folding.is_empty() {
        members = add_folded(&members, &folding);
    }
    ranges::normalize(&mut members);
    members
}

/// Adds the folding cycles of the literals at the positions in `folding`. Whether a literal is
/// already a member depends on the members before it.
fn add_folded(members: &[Range], folding: &[usize]) -> Vec<Range> {
    let mut out = Vec::with_capacity(members.len() + 2 * folding.len());
    let mut seen = CycleMembers(0);
    let mut taken = 0;
    for &place in folding {
        for &range in members.get(taken..place).unwrap_or_default() {
            seen.add(range);
            out.push(range);
        }
        taken = place + 1;
        let Some(&(mut rune, _)) = members.get(place) else {
            continue;
        };
        while !seen.has(rune) {
            seen.add((rune, rune));
            out.push((rune, rune));
            rune = unicode::next_fold(rune);
        }
    }
    out.extend_from_slice(members.get(taken..).unwrap_or_default());
    out
}

/// Which members of the folding cycles of ASCII letters were seen: only such literals still fold
/// when they are merged.
///
/// There is a bit for each ASCII character; the two members outside ASCII use bits of control
/// characters.
struct CycleMembers(u128);

impl CycleMembers {
    const LONG_S: (u32, u32) = (0x17F, 0);
    const KELVIN: (u32, u32) = (0x212A, 1);

    fn bit(rune: u32) -> u128 {
        let place = if rune == Self::LONG_S.0 {
            Self::LONG_S.1
        } else if rune == Self::KELVIN.0 {
            Self::KELVIN.1
        } else {
            rune
        };
        1_u128.checked_shl(place).unwrap_or(0)
    }

    fn has(&self, rune: u32) -> bool {
        self.0 & Self::bit(rune) != 0
    }

    fn add(&mut self, (low, high): Range) {
        let ascii = low.max(0x41)..=high.min(0x7A);
        for rune in ascii.chain(
            [Self::LONG_S.0, Self::KELVIN.0]
                .into_iter()
                .filter(|rune| (low..=high).contains(rune)),
        ) {
            self.0 |= Self::bit(rune);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::translate::translate;
    use super::super::tree::parse;

    fn check(pattern: &str, factored: &str) {
        assert_eq!(translate(&parse(pattern).unwrap(), true).text, factored, "{pattern}");
    }

    #[test]
    fn common_beginnings_are_shared() {
        check("abc|abd|xy", r"ab[\x{63}-\x{64}]|xy");
        check("ab|a|ac", "a(?:b||c)");
        check("^x|^y", r"\A[\x{78}-\x{79}]");
        check("[a-c]x|[a-c]yz", r"[\x{61}-\x{63}](?:x|yz)");
    }

    #[test]
    fn repetitions_are_shared_only_when_fixed() {
        check("x{2}ab|x{2}cd", "x{2}(?:ab|cd)");
        check("x*ab|x*cd", "x*ab|x*cd");
    }

    #[test]
    fn a_folding_literal_brings_its_cycle_into_a_merged_class() {
        check("[Kk]|b", r"[\x{4B}-\x{4B}\x{62}-\x{62}\x{6B}-\x{6B}\x{212A}-\x{212A}]");
        // `A` is already a member, so RE2 takes its other case for a member too.
        check("[ab]|[Aa]", r"[\x{61}-\x{62}]");
    }
}
