//! Writes a parsed pattern in the syntax of the matching engine.
//!
//! Everything that RE2 and the engine read differently is made explicit: classes are ranges of code
//! points, case folding is written out, flags apply to one construct each, and groups have no
//! names. The engine works on bytes, so that `\C` can be expressed. Surrogates never occur in text
//! and are left out.

use std::fmt::Write as _;

use super::ranges::Range;
use super::syntax::{FOLD, LAZY, Repeat};
use super::tree::{Id, Op, Tree};

/// A class without members.
const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

/// A translated pattern.
#[derive(Debug, Default)]
pub(super) struct Translation {
    pub(super) text: String,
    /// The deepest nesting of groups.
    pub(super) depth: usize,
}

/// What is still to be written; the next item is on top.
enum Work<'t> {
    Node(Id),
    /// An operand that needs a group around it.
    Grouped(Id),
    /// The remaining branches of an alternation.
    Branches(&'t [Id]),
    Repetition(Repeat, u8),
    Close,
}

/// Translates the pattern. Without `captures`, capturing groups are omitted.
pub(super) fn translate(tree: &Tree, captures: bool) -> Translation {
    let mut out = Translation::default();
    let mut depth = 0;
    let mut work: Vec<Work<'_>> = tree.root.map(Work::Node).into_iter().collect();
    while let Some(item) = work.pop() {
        match item {
            Work::Node(id) => {
                let id = if captures { id } else { inside_captures(tree, id) };
                let node = &tree[id];
                match &node.op {
                    Op::Concat => {
                        let operand = |&id: &Id| {
                            let bare = if captures { id } else { inside_captures(tree, id) };
                            if tree[bare].op == Op::Alternate {
                                Work::Grouped(bare)
                            } else {
                                Work::Node(bare)
                            }
                        };
                        work.extend(node.operands.iter().rev().map(operand));
                    }
                    Op::Alternate => {
                        if let [first, rest @ ..] = &node.operands[..] {
                            work.push(Work::Branches(rest));
                            work.push(Work::Node(*first));
                        }
                    }
                    Op::Repeat(repeat) => {
                        work.push(Work::Repetition(*repeat, node.flags));
                        work.extend(node.operands.first().map(|&id| {
                            let holds = tree.is_single(id) || (captures && matches!(tree[id].op, Op::Capture(_)));
                            if holds { Work::Node(id) } else { Work::Grouped(id) }
                        }));
                    }
                    Op::Capture(_) => {
                        out.text.push('(');
                        depth += 1;
                        work.push(Work::Close);
                        work.extend(node.operands.first().copied().map(Work::Node));
                    }
                    op => leaf(tree, op, node.flags, &mut out.text),
                }
            }
            Work::Grouped(id) => {
                out.text.push_str("(?:");
                depth += 1;
                work.push(Work::Close);
                work.push(Work::Node(id));
            }
            Work::Branches(branches) => {
                if let [first, rest @ ..] = branches {
                    out.text.push('|');
                    work.push(Work::Branches(rest));
                    work.push(Work::Node(*first));
                }
            }
            Work::Repetition(repeat, flags) => repetition(repeat, flags, &mut out.text),
            Work::Close => {
                depth -= 1;
                out.text.push(')');
            }
        }
        out.depth = out.depth.max(depth);
    }
    out
}

/// Returns the expression inside any number of capturing groups.
fn inside_captures(tree: &Tree, mut id: Id) -> Id {
    while let (Op::Capture(_), Some(&inner)) = (&tree[id].op, tree[id].operands.first()) {
        id = inner;
    }
    id
}

fn repetition(repeat: Repeat, flags: u8, out: &mut String) {
    match repeat {
        Repeat::Star => out.push('*'),
        Repeat::Plus => out.push('+'),
        Repeat::Quest => out.push('?'),
        Repeat::Count(min, max) => {
            // Writing to a String cannot fail.
            let _ = match max {
                Some(max) if max == min => write!(out, "{{{min}}}"),
                Some(max) => write!(out, "{{{min},{max}}}"),
                None => write!(out, "{{{min},}}"),
            };
        }
    }
    if flags & LAZY != 0 {
        out.push('?');
    }
}

fn leaf(tree: &Tree, op: &Op, flags: u8, out: &mut String) {
    match op {
        Op::Literal(rune) => literal(*rune, flags, out),
        Op::Text(text) => text.iter().for_each(|rune| literal(*rune, flags, out)),
        Op::Class(class) => class_text(&tree[*class], out),
        Op::AnyChar => out.push_str("(?s:.)"),
        Op::AnyByte => out.push_str("(?s-u:.)"),
        Op::BeginLine => out.push_str("(?m:^)"),
        Op::EndLine => out.push_str("(?m:$)"),
        Op::BeginText => out.push_str(r"\A"),
        Op::EndText => out.push_str(r"\z"),
        Op::WordBoundary => out.push_str(r"(?-u:\b)"),
        Op::NotWordBoundary => out.push_str(r"(?-u:\B)"),
        // The other kinds have operands, or match the empty text by writing nothing.
        _ => {}
    }
}

/// Writes a literal. A folding literal is an ASCII letter in either case; any other folding became
/// a class.
fn literal(rune: u32, flags: u8, out: &mut String) {
    match char::from_u32(rune) {
        Some(c) if flags & FOLD != 0 && c.is_ascii_alphabetic() => {
            out.extend(['[', c.to_ascii_uppercase(), c.to_ascii_lowercase(), ']']);
        }
        Some(c) if c.is_ascii_alphanumeric() || !c.is_ascii() => out.push(c),
        Some(_) => {
            let _ = write!(out, "\\x{{{rune:X}}}");
        }
        None => out.push_str(NOTHING),
    }
}

fn class_text(ranges: &[Range], out: &mut String) {
    let start = out.len();
    out.push('[');
    for &(low, high) in ranges {
        for (low, high) in [(low, high.min(0xD7FF)), (low.max(0xE000), high)] {
            if low <= high {
                let _ = write!(out, "\\x{{{low:X}}}-\\x{{{high:X}}}");
            }
        }
    }
    if out.len() == start + 1 {
        out.truncate(start);
        out.push_str(NOTHING);
    } else {
        out.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::parse;
    use super::*;

    fn check(pattern: &str, captures: bool, text: &str) {
        assert_eq!(translate(&parse(pattern).unwrap(), captures).text, text, "{pattern}");
    }

    #[test]
    fn groups_stand_only_where_needed() {
        check("((((ab))))c", false, "abc");
        check("((((ab))))c", true, "((((ab))))c");
        check("(ab)*|(?:c|de)f", false, "(?:ab)*|(?:c|de)f");
    }

    #[test]
    fn what_the_engine_reads_differently_is_written_out() {
        check(r"\d", true, r"[\x{30}-\x{39}]");
        check(
            r"\b.\C",
            true,
            r"(?-u:\b)[\x{0}-\x{9}\x{B}-\x{D7FF}\x{E000}-\x{10FFFF}](?s-u:.)",
        );
        check("(?i)a1", true, "[Aa]1");
        check("(?P<n>x)(?P<n>{,5})", true, r"(x)(\x{7B}\x{2C}5\x{7D})");
        check(
            r"\x{D800}|[\x{D800}-\x{DFFF}]x",
            true,
            r"[^\x{0}-\x{10FFFF}]|[^\x{0}-\x{10FFFF}]x",
        );
        check("(?U)a+b+?", true, "a+?b+");
    }
}
