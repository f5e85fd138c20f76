//! The tokens of an expression.

use std::ops::Range;

use super::Fault;

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Int(i64),
    Double(f64),
    Text(String),
    /// An operator or a bracket, or another sign.
    Sign(&'static str),
    End,
}

/// Operators and brackets, longer ones first.
const SIGNS: [&str; 24] = [
    "&&", "||", "==", "!=", "<=", ">=", "(", ")", "[", "]", "{", "}", "<", ">", "!", "?", ":", ".", ",", "+", "-", "*",
    "/", "%",
];

/// Splits a text into tokens with their places. The last one is the end.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, Fault> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip();
        let start = lexer.at;
        let token = lexer.next()?;
        let is_end = token == Token::End;
        tokens.push((token, start..lexer.at));
        if is_end {
            return Ok(tokens);
        }
    }
}

/// Writes an expression on one line, without its comments.
pub fn one_line(text: &str) -> String {
    let Ok(tokens) = tokens(text) else {
        return text.split_whitespace().collect::<Vec<_>>().join(" ");
    };
    let mut line = String::with_capacity(text.len());
    let mut end = 0;
    for (_, span) in tokens {
        if span.start > end && !line.is_empty() && span.start < text.len() {
            line.push(' ');
        }
        end = span.end;
        line.push_str(text.get(span).unwrap_or_default());
    }
    line.replace(['\n', '\r'], " ")
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Takes characters as long as they are wanted.
    fn take(&mut self, mut wanted: impl FnMut(char) -> bool) -> String {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        let taken = rest.get(..end).unwrap_or_default().to_owned();
        self.at += end;
        taken
    }

    /// Skips blanks and comments.
    fn skip(&mut self) {
        loop {
            self.take(char::is_whitespace);
            if !self.rest().starts_with("//") {
                return;
            }
            self.take(|c| c != '\n');
        }
    }

    fn next(&mut self) -> Result<Token, Fault> {
        let Some(first) = self.peek() else {
            return Ok(Token::End);
        };
        if first.is_ascii_digit() {
            return self.number();
        }
        let mut quotes = self.rest().chars().skip_while(|c| matches!(c, 'r' | 'R' | 'b' | 'B'));
        let prefix = self.rest().bytes().take_while(|c| b"rRbB".contains(c)).count();
        if prefix <= 2 && matches!(quotes.next(), Some('"' | '\'')) {
            return self.string(prefix);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            return Ok(Token::Name(self.take(|c| c.is_ascii_alphanumeric() || c == '_')));
        }
        let Some(sign) = SIGNS.into_iter().find(|sign| self.rest().starts_with(sign)) else {
            let span = self.at..self.at + first.len_utf8();
            return Err(Fault::new(
                &span,
                format!("`{}` has no meaning here", first.escape_debug()),
            ));
        };
        self.at += sign.len();
        Ok(Token::Sign(sign))
    }

    fn number(&mut self) -> Result<Token, Fault> {
        let start = self.at;
        if self.rest().starts_with("0x") || self.rest().starts_with("0X") {
            self.at += 2;
            let digits = self.take(|c| c.is_ascii_hexdigit());
            self.take(|c| matches!(c, 'u' | 'U'));
            return i64::from_str_radix(&digits, 16)
                .map(Token::Int)
                .map_err(|_| self.since(start, "no whole number of 64 bits"));
        }
        let mut digits = self.take(|c| c.is_ascii_digit());
        let mut is_double = false;
        let mut after = self.rest().chars();
        if after.next() == Some('.') && after.next().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
            digits.push('.');
            digits += &self.take(|c| c.is_ascii_digit());
            is_double = true;
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            self.at += 1;
            digits.push('e');
            digits += &self.take(|c| matches!(c, '+' | '-'));
            digits += &self.take(|c| c.is_ascii_digit());
            is_double = true;
        }
        if is_double {
            let number = digits.parse::<f64>().ok().filter(|number| number.is_finite());
            return number.map(Token::Double).ok_or_else(|| self.since(start, "no number"));
        }
        self.take(|c| matches!(c, 'u' | 'U'));
        let number = digits.parse().map(Token::Int);
        number.map_err(|_| self.since(start, "no whole number of 64 bits"))
    }

    fn since(&self, start: usize, message: &str) -> Fault {
        Fault::new(&(start..self.at), message)
    }

    fn string(&mut self, prefix: usize) -> Result<Token, Fault> {
        let start = self.at;
        let kind = self.rest().get(..prefix).unwrap_or_default().to_ascii_lowercase();
        self.at += prefix;
        if kind.contains('b') {
            return Err(self.since(start, "bytes are not supported: a text without the `b` is"));
        }
        let quote = self.bump().unwrap_or('"');
        let triple: String = std::iter::repeat_n(quote, 2).collect();
        let end: String = match self.rest().starts_with(&triple) {
            true => {
                self.at += 2;
                std::iter::repeat_n(quote, 3).collect()
            }
            false => quote.to_string(),
        };
        let mut text = String::new();
        loop {
            if self.rest().starts_with(&end) {
                self.at += end.len();
                return Ok(Token::Text(text));
            }
            match self.bump() {
                None => return Err(self.since(start, format!("the text has no end: {end}").as_str())),
                Some('\n') if end.len() == 1 => return Err(self.since(start, "the text has no end on its line")),
                Some('\\') if kind.is_empty() => text.push(self.escape()?),
                Some(other) => text.push(other),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at - 1;
        let number = |lexer: &mut Self, radix, count: usize| {
            let digits = lexer.rest().get(..count).unwrap_or_default().to_owned();
            let is_number = digits.len() == count && digits.chars().all(|c| c.is_digit(radix));
            lexer.at += if is_number { count } else { 0 };
            let number = is_number.then(|| u32::from_str_radix(&digits, radix).ok()).flatten();
            number.and_then(char::from_u32)
        };
        let escaped = match self.bump() {
            Some(same @ ('\\' | '?' | '"' | '\'' | '`')) => Some(same),
            Some('a') => Some('\x07'),
            Some('b') => Some('\x08'),
            Some('f') => Some('\x0c'),
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('v') => Some('\x0b'),
            Some('x' | 'X') => number(self, 16, 2),
            Some('u') => number(self, 16, 4),
            Some('U') => number(self, 16, 8),
            Some('0'..='3') => {
                self.at -= 1;
                number(self, 8, 3)
            }
            _ => None,
        };
        escaped.ok_or_else(|| self.since(start, "no escape: `\\\\` stands for a backslash, and r'...' has none"))
    }
}
