//! Counts the instructions of the program that RE2 would compile.
//!
//! RE2 first joins neighbouring repetitions of the same character (`a*a` becomes `a{1,}`), then
//! expands counts into copies, then compiles. Here the copies are only counted: each node yields
//! the cost of its program and its shape, so the work is linear in the pattern. The program must
//! fit into two thirds of the budget of 8 MiB at 8 bytes an instruction. RE2's walkers also give up
//! after a number of visits, which only patterns of megabytes reach. Sources: RE2's `simplify.cc`
//! and `compile.cc`; the limits are in `RE2::Init` and `Compiler::Setup`.

use super::error::RegexError;
use super::ranges::RUNE_MAX;
use super::syntax::{FOLD, LAZY, Repeat};
use super::tree::{ClassId, Id, OPERANDS_MAX, Op, Tree};

/// The most instructions of a program: (8 MiB * 2 / 3 - 432 bytes) / 8 bytes.
const PROGRAM_MAX: u64 = ((8 << 20) * 2 / 3 - 432) / 8;
/// The instructions of every program (the failing and the matching one), and those of the loop
/// before an unanchored program.
const FIXED: u64 = 2;
const UNANCHORED: u64 = 2;
/// The most instructions of the pattern itself when it is not anchored, for messages and the cheap
/// check.
pub(super) const INSTRUCTIONS_MAX: u64 = PROGRAM_MAX - FIXED - UNANCHORED;
/// The number of visits after which the compiler gives up on the simplified tree.
const COMPILE_VISITS_MAX: u64 = 2 * PROGRAM_MAX;
/// The number of visits after which the simplifier gives up on the parsed tree.
const SIMPLIFY_VISITS_MAX: u64 = 1_000_000;
/// How deep an anchor at the beginning may be nested to be recognized.
const ANCHOR_DEPTH_MAX: u32 = 3;

/// Returns the number of instructions of the program, at most those that fit.
pub(super) fn of(tree: Tree) -> u64 {
    instructions(tree).unwrap_or(PROGRAM_MAX).min(PROGRAM_MAX)
}

/// Checks that the program of the pattern fits.
pub(super) fn check(tree: Tree) -> Result<(), RegexError> {
    match instructions(tree) {
        Some(needed) if needed <= PROGRAM_MAX => Ok(()),
        _ => Err(RegexError::TooLarge {
            limit: INSTRUCTIONS_MAX,
        }),
    }
}

/// Returns the most instructions that the compiler holds at any time; `None` if RE2 gives up before
/// it knows.
fn instructions(mut tree: Tree) -> Option<u64> {
    let root = tree.root?;
    strip_prefix(&mut tree, root);
    let order = post_order(&tree, root);
    if order.len() as u64 > SIMPLIFY_VISITS_MAX {
        return None;
    }
    for &id in &order {
        if tree[id].op == Op::Concat {
            coalesce(&mut tree, id);
        }
    }
    // Joining repetitions has moved nodes.
    let order = post_order(&tree, root);
    if order.len() as u64 > SIMPLIFY_VISITS_MAX {
        return None;
    }
    let shape = shape_of(&tree, &order);
    let anchored = shape.anchor.is_some_and(|depth| depth <= ANCHOR_DEPTH_MAX);
    let fixed = FIXED + if anchored { 0 } else { UNANCHORED };
    let cost = shape.cost;
    let needed = cost.size.saturating_add(fixed).max(cost.peak.saturating_add(1));
    (cost.visits <= COMPILE_VISITS_MAX).then_some(needed)
}

/// Removes anchors and a literal from the beginning: RE2 compares those without a program.
fn strip_prefix(tree: &mut Tree, root: Id) {
    let node = &tree[root];
    if node.op != Op::Concat {
        return;
    }
    let anchors = node
        .operands
        .iter()
        .take_while(|&&id| tree[id].op == Op::BeginText)
        .count();
    let literal = node
        .operands
        .get(anchors)
        .is_some_and(|&id| matches!(tree[id].op, Op::Literal(_) | Op::Text(_)));
    if anchors == 0 || !literal {
        return;
    }
    let mut rest = tree[root].operands.split_off(anchors + 1);
    match rest[..] {
        [] => tree[root].op = Op::Empty,
        [only] => {
            tree[root] = tree[only].clone();
            return;
        }
        _ => {}
    }
    std::mem::swap(&mut tree[root].operands, &mut rest);
}

/// Returns every node below `root`, each after its operands.
fn post_order(tree: &Tree, root: Id) -> Vec<Id> {
    let mut order = Vec::new();
    let mut stack = vec![root];
    while let Some(id) = stack.pop() {
        order.push(id);
        stack.extend_from_slice(&tree[id].operands);
    }
    order.reverse();
    order
}

/// Joins repetitions of one character with what follows them, from left to right.
fn coalesce(tree: &mut Tree, concat: Id) {
    let mut operands = std::mem::take(&mut tree[concat].operands);
    let mut joined = false;
    for place in 1..operands.len() {
        let (Some(&first), Some(&second)) = (operands.get(place - 1), operands.get(place)) else {
            break;
        };
        let Some((a, b)) = coalesce_pair(tree, first, second) else {
            continue;
        };
        joined = true;
        if let [left, right] = &mut operands[place - 1..=place] {
            (*left, *right) = (a, b);
        }
    }
    if joined {
        // Only a concatenation that was joined loses its empty operands.
        operands.retain(|&id| tree[id].op != Op::Empty);
    }
    tree[concat].operands = operands;
}

/// Returns the minimum and the maximum of a repetition.
fn counts(op: &Op) -> Option<(u32, Option<u32>)> {
    let Op::Repeat(repeat) = op else { return None };
    Some(match *repeat {
        Repeat::Star => (0, None),
        Repeat::Plus => (1, None),
        Repeat::Quest => (0, Some(1)),
        Repeat::Count(min, max) => (min, max),
    })
}

fn coalesce_pair(tree: &mut Tree, first: Id, second: Id) -> Option<(Id, Id)> {
    let (min, max) = counts(&tree[first].op)?;
    let operand = tree[first].operands.first().copied().filter(|&id| tree.is_single(id))?;
    let flags = tree[first].flags;
    let mut rest = None;
    let (more_min, more_max) = if let Some(more) = counts(&tree[second].op) {
        let other = tree[second].operands.first().copied()?;
        if !tree.same(operand, other) || (flags ^ tree[second].flags) & LAZY != 0 {
            return None;
        }
        more
    } else if tree.same(operand, second) {
        (1, Some(1))
    } else {
        let (Op::Literal(rune), Op::Text(text)) = (&tree[operand].op, &tree[second].op) else {
            return None;
        };
        let taken = text.iter().take_while(|other| *other == rune).count();
        if taken == 0 || (tree[operand].flags ^ tree[second].flags) & FOLD != 0 {
            return None;
        }
        rest = match text.get(taken..).unwrap_or_default() {
            [] => None,
            [rune] => Some(Op::Literal(*rune)),
            text => Some(Op::Text(text.to_vec())),
        };
        let taken = u32::try_from(taken).unwrap_or(u32::MAX);
        (taken, Some(taken))
    };
    // A count of this size has no program anyway.
    let max = max.zip(more_max).map(|(a, b)| a.saturating_add(b));
    let count = Repeat::Count(min.saturating_add(more_min), max);
    let repeat = tree.add(Op::Repeat(count), flags, vec![operand]);
    Some(match rest {
        Some(op) => {
            let flags = tree[second].flags;
            (repeat, tree.add(op, flags, Vec::new()))
        }
        None => (tree.add(Op::Empty, 0, Vec::new()), repeat),
    })
}

/// The cost of a compiled fragment.
#[derive(Debug, Clone, Copy)]
struct Cost {
    /// Instructions of the program that RE2 compiles it to.
    size: u64,
    /// The most instructions while the fragment is compiled.
    peak: u64,
    /// The number of nodes that the compiler visits.
    visits: u64,
    /// Whether the fragment may match the empty text.
    nullable: bool,
    /// Whether the fragment can match nothing; then it has no program.
    dead: bool,
}

impl Cost {
    fn leaf(size: u64, nullable: bool) -> Self {
        Self {
            size,
            peak: size,
            visits: 1,
            nullable,
            dead: false,
        }
    }

    /// Adds instructions after the others, and a visit for their node.
    fn and(mut self, instructions: u64) -> Self {
        self.size = self.size.saturating_add(instructions);
        self.peak = self.peak.max(self.size);
        self.visits = self.visits.saturating_add(1);
        self
    }

    fn then(self, next: Self) -> Self {
        let dead = self.dead || next.dead;
        Self {
            size: self.size.saturating_add(next.size),
            peak: self.peak.max(self.size.saturating_add(next.peak)),
            visits: self.visits.saturating_add(next.visits),
            nullable: !dead && self.nullable && next.nullable,
            dead,
        }
    }

    /// Returns the cost of `count` copies in a row.
    fn times(self, count: u64) -> Self {
        let before = self.size.saturating_mul(count.saturating_sub(1));
        Self {
            size: self.size.saturating_mul(count),
            peak: self.peak.saturating_add(before),
            visits: self.visits.saturating_mul(count),
            ..self
        }
    }
}

/// The properties of a simplified expression that matter to the expression around it.
#[derive(Debug, Clone, Copy)]
struct ExprShape {
    kind: ShapeKind,
    cost: Cost,
    /// How deep an anchor to the beginning of the text is nested, along the first operands.
    anchor: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
enum ShapeKind {
    Empty,
    /// A star, plus or quest with its flags and the cost of its operand.
    Unary(Repeat, u8, Cost),
    Other,
}

impl ExprShape {
    fn other(cost: Cost) -> Self {
        Self {
            kind: ShapeKind::Other,
            cost,
            anchor: None,
        }
    }

    fn leaf(size: u64, nullable: bool) -> Self {
        Self::other(Cost::leaf(size, nullable))
    }

    fn empty() -> Self {
        Self {
            kind: ShapeKind::Empty,
            ..Self::leaf(1, true)
        }
    }

    fn below(self, cost: Cost) -> Self {
        Self {
            kind: ShapeKind::Other,
            cost,
            anchor: self.anchor.map(|depth| depth + 1),
        }
    }

    fn unary(op: Repeat, flags: u8, operand: Cost) -> Self {
        let cost = match op {
            // A loop around something that may be empty needs a second branch.
            Repeat::Star => Cost {
                nullable: true,
                dead: false,
                ..operand.and(if operand.nullable { 2 } else { 1 })
            },
            Repeat::Plus => operand.and(1),
            // A count is expanded before.
            Repeat::Quest | Repeat::Count(..) => Cost {
                nullable: true,
                dead: false,
                ..operand.and(1)
            },
        };
        Self {
            kind: ShapeKind::Unary(op, flags, operand),
            cost,
            anchor: None,
        }
    }

    /// Returns a repetition that expands a count. It merges with one of the same flags directly
    /// below.
    fn squashed(op: Repeat, flags: u8, operand: Self) -> Self {
        match operand.kind {
            ShapeKind::Unary(inner, inner_flags, below) if inner_flags == flags => {
                if inner == op || inner == Repeat::Star {
                    operand
                } else {
                    Self::unary(Repeat::Star, flags, below)
                }
            }
            _ => Self::unary(op, flags, operand.cost),
        }
    }

    fn pair(self, next: Self) -> Self {
        self.below(self.cost.then(next.cost).and(0))
    }

    /// Returns a concatenation of `count` copies, the last of which may differ.
    fn copies(self, count: u64, last: Self) -> Self {
        if count <= 1 {
            return last;
        }
        let mut shape = self.below(self.cost.times(count - 1).then(last.cost).and(0));
        let most = OPERANDS_MAX as u64;
        if count > most {
            // The copies make a second level. A last part with one operand is that operand.
            let parts = count / most + u64::from(count % most > 1);
            shape.cost.visits = shape.cost.visits.saturating_add(parts);
            shape.anchor = shape.anchor.map(|depth| depth + 1);
        }
        shape
    }

    fn counted(self, min: u32, max: Option<u32>, flags: u8) -> Self {
        if matches!(self.kind, ShapeKind::Empty) {
            return self;
        }
        let Some(max) = max else {
            return match min {
                0 => Self::squashed(Repeat::Star, flags, self),
                _ => self.copies(min.into(), Self::squashed(Repeat::Plus, flags, self)),
            };
        };
        if max == 0 {
            return Self::empty();
        }
        let prefix = (min > 0).then(|| self.copies(min.into(), self));
        if max <= min {
            return prefix.unwrap_or(self);
        }
        let mut suffix = Self::squashed(Repeat::Quest, flags, self);
        for _ in min + 1..max {
            // Each round adds an instruction, so this ends even for counts in the millions.
            if suffix.cost.size > PROGRAM_MAX {
                break;
            }
            suffix = Self::squashed(Repeat::Quest, flags, self.pair(suffix));
        }
        match prefix {
            Some(prefix) => prefix.pair(suffix),
            None => suffix,
        }
    }
}

/// Combines the shapes of all nodes, given in post-order.
fn shape_of(tree: &Tree, order: &[Id]) -> ExprShape {
    let mut known: Vec<Option<ExprShape>> = Vec::new();
    // The operands of a node are the latest entries, in order.
    let mut done: Vec<ExprShape> = Vec::new();
    for &id in order {
        let node = &tree[id];
        let rest = done.len().saturating_sub(node.operands.len());
        let operands = done.get(rest..).unwrap_or_default();
        let first = operands.first().copied().unwrap_or(ExprShape::empty());
        let shape = match &node.op {
            Op::Empty => ExprShape::empty(),
            Op::Literal(rune) => ExprShape::leaf(literal_size(*rune), false),
            Op::Text(text) => ExprShape::leaf(text.iter().map(|rune| literal_size(*rune)).sum(), false),
            Op::Class(class) => class_shape(tree, *class, &mut known),
            Op::AnyChar => ExprShape::leaf(10, false),
            Op::AnyByte => ExprShape::leaf(1, false),
            Op::BeginText => ExprShape {
                anchor: Some(0),
                ..ExprShape::leaf(1, true)
            },
            Op::BeginLine | Op::EndLine | Op::EndText | Op::WordBoundary | Op::NotWordBoundary => {
                ExprShape::leaf(1, true)
            }
            Op::Concat => first.below(
                operands
                    .iter()
                    .skip(1)
                    .fold(first.cost, |cost, next| cost.then(next.cost))
                    .and(0),
            ),
            Op::Alternate => ExprShape::other(alternation(operands)),
            Op::Capture(_) => first.below(first.cost.and(if first.cost.dead { 0 } else { 2 })),
            Op::Repeat(Repeat::Count(min, max)) => first.counted(*min, *max, node.flags),
            Op::Repeat(repeat) => simplified(*repeat, node.flags, first),
            // Markers never leave the parser's stack.
            Op::Open(_) | Op::Bar => ExprShape::empty(),
        };
        done.truncate(rest);
        done.push(shape);
    }
    done.pop().unwrap_or(ExprShape::empty())
}

/// Returns the cost of branches, which are compiled one after the other and then joined. A branch
/// that can match nothing is not joined.
fn alternation(branches: &[ExprShape]) -> Cost {
    let alive = branches.iter().filter(|branch| !branch.cost.dead).count() as u64;
    let nullable = branches.iter().any(|branch| branch.cost.nullable);
    let none = Cost {
        visits: 0,
        ..Cost::leaf(0, false)
    };
    let all = branches
        .iter()
        .fold(none, |cost, branch| cost.then(branch.cost))
        .and(alive.saturating_sub(1));
    Cost {
        nullable,
        dead: alive == 0,
        ..all
    }
}

/// Returns the shape of a repetition that is written in the pattern.
fn simplified(op: Repeat, flags: u8, operand: ExprShape) -> ExprShape {
    match operand.kind {
        ShapeKind::Empty => operand,
        ShapeKind::Unary(inner, inner_flags, _) if inner == op && inner_flags == flags => operand,
        _ => ExprShape::unary(op, flags, operand.cost),
    }
}

fn class_shape(tree: &Tree, class: ClassId, known: &mut Vec<Option<ExprShape>>) -> ExprShape {
    let place = class.place();
    if known.len() <= place {
        known.resize(place + 1, None);
    }
    if let Some(Some(shape)) = known.get(place) {
        return *shape;
    }
    let shape = match &tree[class] {
        [] => ExprShape::other(Cost {
            dead: true,
            ..Cost::leaf(0, false)
        }),
        [(0, RUNE_MAX)] => ExprShape::leaf(10, false),
        _ => {
            let size = tree.class_size(class);
            ExprShape::other(Cost {
                peak: size.peak,
                ..Cost::leaf(size.end, false)
            })
        }
    };
    if let Some(slot) = known.get_mut(place) {
        *slot = Some(shape);
    }
    shape
}

/// Returns the instructions of a literal: one for each of its bytes.
fn literal_size(rune: u32) -> u64 {
    match rune {
        0..=0x7F => 1,
        0x80..=0x7FF => 2,
        0x800..=0xFFFF => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::parse;
    use super::*;

    #[test]
    fn programs_have_the_size_that_re2_gives_them() {
        for (pattern, size) in [
            (r"a", 5),
            (r"a*a", 6),
            (r"aa*ab", 8),
            (r"(?:ab|c)*d", 10),
            (r"x{2,5}", 12),
            (r"(a*)*", 10),
            (r"(?:a*){2,5}", 16),
            (r"[^\x00-\x{10FFFF}]*", 5),
            (r"a|[^\x00-\x{10FFFF}]", 5),
            (r"^a", 5),
            (r"^ab*", 6),
            (r"^.", 15),
            (r"(?i)k", 9),
            (r"日{3}", 13),
            (r"(a){0}b", 6),
        ] {
            assert_eq!(instructions(parse(pattern).unwrap()), Some(size), "{pattern}");
        }
    }

    #[test]
    fn copies_beyond_the_operands_of_a_node_cost_a_visit_for_each_part() {
        let copies = ExprShape::leaf(1, false).copies(65_537, ExprShape::leaf(1, false)).cost;
        // There are two parts, of 65,535 and of two operands, below the concatenation itself.
        assert_eq!((copies.size, copies.visits), (65_537, 65_537 + 3));
    }
}
