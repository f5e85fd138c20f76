//! The cheap half of the check: syntax, nesting of counts, and an upper bound of the program's
//! size.
//!
//! It builds no tree and holds one small frame for each open group. Only a pattern whose bound
//! exceeds the budget needs the exact count of [`super::size`]: a pattern with large classes, large
//! counts, or tens of thousands of characters.

use super::class::{Members, Set};
use super::error::RegexError;
use super::syntax::{Lexer, REPEAT_MAX, Repeat, Token};

/// The bound for the instructions of a character with its other cases: up to four characters of up
/// to four bytes each.
const CHARACTER: u32 = 32;
/// The bound for one range, which is cut into at most 16 sequences of bytes with 8 instructions
/// each.
const RANGE: u32 = 128;
/// The most ranges of an ASCII set, negated or not.
const ASCII_RANGES: u32 = 5;
/// The bound for the letters that folding may add to a class.
const FOLDED: u32 = 24_000;
/// The bound for a Unicode group: the largest has about 650 ranges.
const GROUP: u32 = 48_000;
/// The bound for what an operator, a group or a branch adds, including the visits of RE2's walkers.
const OPERATOR: u32 = 4;

/// An open group, or the whole pattern. There may be as many as the pattern has bytes.
#[derive(Debug, Clone, Copy, Default)]
struct OpenGroup {
    /// Where the group begins, for errors.
    at: usize,
    /// The bound for the finished parts, cut to `u32::MAX`, which is beyond every budget.
    size: u32,
    /// The largest product of nested counts among the finished parts.
    product: u32,
}

/// The bound for a part of a group, and the product of its nested counts.
type Part = (u32, u32);

impl OpenGroup {
    /// Adds the latest part, to which no repetition can apply any more.
    fn add(&mut self, part: Option<Part>) {
        let (size, product) = part.unwrap_or_default();
        self.size = self.size.saturating_add(size);
        self.product = self.product.max(product);
    }
}

/// Checks the syntax and returns a bound for the number of instructions.
pub(super) fn check(pattern: &str) -> Result<u32, RegexError> {
    let mut lexer = Lexer::new(pattern);
    let mut outer: Vec<OpenGroup> = Vec::new();
    let mut group = OpenGroup::default();
    // The latest part, to which a repetition would apply.
    let mut last: Option<Part> = None;
    // Flags may turn folding on anywhere; the bound assumes the worst once they appear.
    let mut folded = 0;
    while let Some(token) = lexer.next()? {
        let size = match token {
            Token::Class { items, text } => class_bound(text, items).saturating_add(folded),
            Token::Set { set, .. } => set_bound(set).saturating_add(folded),
            Token::Literal(_)
            | Token::Dot
            | Token::Caret
            | Token::Dollar
            | Token::BeginText
            | Token::EndText
            | Token::WordBoundary
            | Token::NotWordBoundary
            | Token::AnyByte => CHARACTER,
            Token::Flags(_) => {
                folded = FOLDED;
                continue;
            }
            Token::Bar => {
                group.add(last.take());
                group.add(Some((2 * OPERATOR, 0)));
                continue;
            }
            Token::Open { capture, .. } => {
                if !capture {
                    folded = FOLDED;
                }
                group.add(last.take());
                outer.push(group);
                group = OpenGroup {
                    at: lexer.start(),
                    ..OpenGroup::default()
                };
                continue;
            }
            Token::Close => {
                group.add(last.take());
                last = Some((group.size.saturating_add(OPERATOR), group.product.max(1)));
                group = outer.pop().ok_or(RegexError::CloseGroup { at: lexer.start() })?;
                continue;
            }
            Token::Repeat { repeat, .. } => {
                let part = last.ok_or_else(|| RegexError::NothingToRepeat(lexer.quote()))?;
                last = Some(repeated(part, repeat, &lexer)?);
                continue;
            }
        };
        group.add(last.replace((size, 1)));
    }
    if !outer.is_empty() {
        return Err(RegexError::OpenGroup { at: group.at });
    }
    group.add(last);
    Ok(group.size.saturating_add(2 * OPERATOR))
}

/// Returns the bound and the product of a repetition.
fn repeated((size, product): Part, repeat: Repeat, lexer: &Lexer<'_>) -> Result<Part, RegexError> {
    let size = size.saturating_add(OPERATOR);
    let Repeat::Count(min, max) = repeat else {
        return Ok((size, product));
    };
    let product = multiply(product, min, max);
    if product > REPEAT_MAX && (min >= 2 || max.is_some_and(|max| max >= 2)) {
        return Err(RegexError::RepeatNesting(lexer.quote()));
    }
    let copies = max.unwrap_or(min).max(1);
    Ok((size.saturating_mul(copies).saturating_add(OPERATOR), product))
}

/// Returns the product of a count and those nested in its operand. A count without a maximum, or
/// with a maximum of 0, counts by its minimum.
pub(super) fn multiply(inner: u32, min: u32, max: Option<u32>) -> u32 {
    match max.unwrap_or(min) {
        0 => inner,
        count => inner.saturating_mul(count).min(REPEAT_MAX + 1),
    }
}

fn class_bound(text: &str, items: u32) -> u32 {
    let groups = text.matches(r"\p").count() + text.matches(r"\P").count();
    let groups = u32::try_from(groups).unwrap_or(u32::MAX).saturating_mul(GROUP);
    items.saturating_mul(ASCII_RANGES * RANGE).saturating_add(groups)
}

fn set_bound(set: Set) -> u32 {
    match set.members {
        Members::Ascii(_) => ASCII_RANGES * RANGE,
        Members::Unicode(_) => GROUP,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_multiply_up_to_a_thousand() {
        assert_eq!(multiply(10, 100, Some(100)), 1000);
        assert_eq!(multiply(1001, 0, Some(0)), 1001);
        assert_eq!(multiply(5, 7, None), 35);
        assert_eq!(multiply(1000, 1000, Some(1000)), 1001);
    }

    #[test]
    fn a_bound_is_small_where_no_tree_is_needed() {
        let small = |pattern: &str| u64::from(check(pattern).unwrap()) <= super::super::size::INSTRUCTIONS_MAX / 4;
        assert!(small(r"/users/\d+/[a-z0-9_-]{3,32}"));
        assert!(small(r"^(?:GET|HEAD|POST) .*$"));
    }
}
