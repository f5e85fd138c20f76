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
const CHARACTER: u64 = 32;
/// The bound for one range, which is cut into at most 16 sequences of bytes with 8 instructions
/// each.
const RANGE: u64 = 128;
/// The most ranges of an ASCII set, negated or not.
const ASCII_RANGES: u64 = 5;
/// The bound for the letters that folding may add to a class.
const FOLDED: u64 = 24_000;
/// The bound for a Unicode group: the largest has about 650 ranges.
const GROUP: u64 = 48_000;
/// The bound for what an operator, a group or a branch adds, including the visits of RE2's walkers.
const OPERATOR: u64 = 4;

/// An open group, or the whole pattern.
#[derive(Debug, Clone, Copy, Default)]
struct OpenGroup {
    /// Where the group begins, for errors.
    at: usize,
    /// The bound for the finished parts.
    size: u64,
    /// The largest product of nested counts among the finished parts.
    product: u32,
    /// The size and product of the latest part, to which a repetition would apply.
    last: Option<(u64, u32)>,
}

impl OpenGroup {
    fn push(&mut self, size: u64, product: u32) {
        self.flush();
        self.last = Some((size, product));
    }

    fn flush(&mut self) {
        if let Some((size, product)) = self.last.take() {
            self.size = self.size.saturating_add(size);
            self.product = self.product.max(product);
        }
    }

    fn finish(mut self) -> (u64, u32) {
        self.flush();
        (self.size.saturating_add(OPERATOR), self.product)
    }
}

/// What is kept of a group while a group inside it is open. There may be as many as the pattern has
/// bytes.
#[derive(Debug, Clone, Copy)]
struct Outer {
    at: usize,
    /// The bound for the size, cut to `u32::MAX`, which is beyond every budget.
    size: u32,
    product: u32,
}

impl From<OpenGroup> for Outer {
    fn from(mut frame: OpenGroup) -> Outer {
        // A repetition applies to the group that comes next, never to the part before it.
        frame.flush();
        Outer {
            at: frame.at,
            size: u32::try_from(frame.size).unwrap_or(u32::MAX),
            product: frame.product,
        }
    }
}

impl From<Outer> for OpenGroup {
    fn from(outer: Outer) -> OpenGroup {
        OpenGroup {
            at: outer.at,
            size: outer.size.into(),
            product: outer.product,
            last: None,
        }
    }
}

/// Checks the syntax and returns a bound for the number of instructions.
pub(super) fn check(pattern: &str) -> Result<u64, RegexError> {
    let mut lexer = Lexer::new(pattern);
    let mut outer: Vec<Outer> = Vec::new();
    let mut frame = OpenGroup::default();
    // Flags may turn folding on anywhere; the bound assumes the worst once they appear.
    let mut folded = 0;
    while let Some(token) = lexer.next()? {
        match token {
            Token::Literal(_) => frame.push(CHARACTER, 1),
            Token::Class { items, text } => frame.push(class_bound(text, items).saturating_add(folded), 1),
            Token::Set { set, .. } => frame.push(set_bound(set).saturating_add(folded), 1),
            Token::Dot
            | Token::Caret
            | Token::Dollar
            | Token::BeginText
            | Token::EndText
            | Token::WordBoundary
            | Token::NotWordBoundary
            | Token::AnyByte => frame.push(CHARACTER, 1),
            Token::Flags(_) => folded = FOLDED,
            Token::Bar => {
                frame.flush();
                frame.size = frame.size.saturating_add(2 * OPERATOR);
            }
            Token::Open { capture, .. } => {
                if !capture {
                    folded = FOLDED;
                }
                outer.push(frame.into());
                frame = OpenGroup {
                    at: lexer.start(),
                    ..OpenGroup::default()
                };
            }
            Token::Close => {
                let (size, product) = frame.finish();
                let around = outer.pop().ok_or(RegexError::CloseGroup { at: lexer.start() })?;
                frame = around.into();
                frame.push(size, product.max(1));
            }
            Token::Repeat { repeat, .. } => {
                let Some(last) = frame.last else {
                    return Err(RegexError::NothingToRepeat {
                        at: lexer.start(),
                        text: lexer.quote(),
                    });
                };
                frame.last = Some(repeated(last, repeat, &lexer)?);
            }
        }
    }
    if !outer.is_empty() {
        return Err(RegexError::OpenGroup { at: frame.at });
    }
    Ok(frame.finish().0.saturating_add(OPERATOR))
}

/// Returns the bound and the product of a repetition.
fn repeated((size, product): (u64, u32), repeat: Repeat, lexer: &Lexer<'_>) -> Result<(u64, u32), RegexError> {
    let Repeat::Count(min, max) = repeat else {
        return Ok((size.saturating_add(OPERATOR), product));
    };
    let product = multiply(product, min, max);
    if product > REPEAT_MAX && (min >= 2 || max.is_some_and(|max| max >= 2)) {
        return Err(RegexError::RepeatNesting {
            at: lexer.start(),
            text: lexer.quote(),
        });
    }
    let copies = u64::from(max.unwrap_or(min).max(1));
    Ok((
        size.saturating_add(OPERATOR)
            .saturating_mul(copies)
            .saturating_add(OPERATOR),
        product,
    ))
}

/// Returns the product of a count and those nested in its operand. A count without a maximum, or
/// with a maximum of 0, counts by its minimum.
pub(super) fn multiply(inner: u32, min: u32, max: Option<u32>) -> u32 {
    match max.unwrap_or(min) {
        0 => inner,
        count => inner.saturating_mul(count).min(REPEAT_MAX + 1),
    }
}

fn class_bound(text: &str, items: u32) -> u64 {
    let groups = text.matches(r"\p").count() + text.matches(r"\P").count();
    let ranges = u64::from(items).saturating_mul(ASCII_RANGES * RANGE);
    ranges.saturating_add((groups as u64).saturating_mul(GROUP))
}

fn set_bound(set: Set) -> u64 {
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
        let small = |pattern: &str| check(pattern).unwrap() <= super::super::size::INSTRUCTIONS_MAX / 4;
        assert!(small(r"/users/\d+/[a-z0-9_-]{3,32}"));
        assert!(small(r"^(?:GET|HEAD|POST) .*$"));
    }
}
