//! The literal beginning of everything that a pattern matches. It rules out most texts without a
//! program.

use super::syntax::{Lexer, Repeat, Token};

/// Returns the literal beginning of a pattern, as far as it is written unescaped.
///
/// It is empty if the pattern begins with something else, or has alternatives.
pub(super) fn literal(pattern: &str) -> &str {
    let mut lexer = Lexer::new(pattern);
    // The length of the literals so far, and of those before the last one, to which a repetition
    // may apply.
    let (mut end, mut before) = (0, 0);
    let (mut is_over, mut depth) = (false, 0_usize);
    // Flags may stand between a literal and its repetition.
    let mut is_last_literal = false;
    while let Ok(Some(token)) = lexer.next() {
        match token {
            Token::Literal(rune) if !is_over => {
                let found =
                    char::from_u32(rune).filter(|c| pattern.get(end..).is_some_and(|rest| rest.starts_with(*c)));
                match found {
                    Some(c) if lexer.start() == end => (before, end, is_last_literal) = (end, end + c.len_utf8(), true),
                    // The literal is written as an escape.
                    _ => (is_over, is_last_literal) = (true, false),
                }
                continue;
            }
            Token::Flags(_) => {
                is_over = true;
                continue;
            }
            Token::Repeat { repeat, .. } if is_last_literal => {
                is_over = true;
                if !matches!(repeat, Repeat::Plus) {
                    end = before;
                }
            }
            Token::Bar if depth == 0 => return "",
            Token::Open { .. } => (is_over, depth) = (true, depth + 1),
            Token::Close => depth = depth.saturating_sub(1),
            Token::Literal(_) => {}
            _ => is_over = true,
        }
        is_last_literal = false;
    }
    pattern.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn the_beginning_is_what_every_match_has() {
        for (pattern, expected) in [
            ("", ""),
            ("/a.B/[a-z]*", "/a"),
            ("/a/B.*", "/a/B"),
            ("/ab*", "/a"),
            ("/ab?c", "/a"),
            ("/ab+c", "/ab"),
            ("/ab{0,2}", "/a"),
            ("/ab{2}", "/a"),
            ("/ab{x", "/ab{x"),
            (r"/a\.b", "/a"),
            (r"/a\|b", "/a"),
            ("/a|b", ""),
            ("/a(b|c)", "/a"),
            ("/a(b|c)|d", ""),
            ("/a[|]b", "/a"),
            ("/a[(]|b", ""),
            (r"/a\(|b", ""),
            (r"/a\Q|b", "/a"),
            (r"\Qab|c", ""),
            ("(?i)/a", ""),
            ("/a(?i)b", "/a"),
            ("/a(?i)b|c", ""),
            ("/ab(?i)*", "/a"),
            ("/ab(?i)(?s)*", "/a"),
            ("/ab(?i)c*", "/ab"),
            ("/a\\Qb\\E*", "/a"),
            ("/ab\\Q\\E*", "/a"),
            ("^/a", ""),
            ("/é*", "/"),
            ("/é.", "/é"),
        ] {
            assert_eq!(literal(pattern), expected, "{pattern}");
        }
    }
}
