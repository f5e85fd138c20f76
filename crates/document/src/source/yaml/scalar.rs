//! Decides what a plain scalar means, by the core schema of YAML 1.2.
//!
//! Only the field decides whether `1.10` is a number or the text of a version, so the view keeps
//! both readings. A scalar that is a JSON literal is written as it is. One that only YAML reads as
//! a number or boolean (`0x1f`, `007`, `.inf`, `True`) becomes a string whose first character is
//! escaped, which no other string of a view has. Readers of strings accept both as text. Readers of
//! numbers call [`resolve`] for a string that [`is_marked`].

use crate::source::json::is_number;

/// How a plain scalar is written in a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarForm {
    /// The view has `null`.
    Null,
    /// The view has the scalar as it is written.
    Bare,
    /// The view has a marked string, whose first character is escaped.
    Marked,
    /// The view has a string.
    Text,
}

/// The meaning of a plain scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plain {
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number that is not whole, or infinite, or NaN.
    Float(f64),
    /// A text only.
    Text,
}

/// Says whether a string of a view was a plain scalar that only YAML reads as a number or boolean.
/// `raw` is the string without quotes but with its escapes.
pub fn is_marked(raw: &[u8]) -> bool {
    matches!(raw, [b'\\', b'u', b'0', b'0', high, _, ..] if *high != b'0' && *high != b'1')
}

/// Returns the form in which the plain scalar `text` is written.
pub(super) fn form(text: &str) -> ScalarForm {
    let Some(first) = text.as_bytes().first() else {
        return ScalarForm::Null;
    };
    match first {
        b'0'..=b'9' | b'-' | b'+' | b'.' => {
            if is_number(text.as_bytes()) {
                ScalarForm::Bare
            } else if resolve(text) == Plain::Text {
                ScalarForm::Text
            } else {
                ScalarForm::Marked
            }
        }
        b'~' if text.len() == 1 => ScalarForm::Null,
        b'n' | b'N' if matches!(text, "null" | "Null" | "NULL") => ScalarForm::Null,
        b't' | b'f' if matches!(text, "true" | "false") => ScalarForm::Bare,
        b'T' | b'F' if resolve(text) != Plain::Text => ScalarForm::Marked,
        _ => ScalarForm::Text,
    }
}

/// Reads a plain scalar by the core schema. `null` is not recognised here.
///
/// ```
/// use xdsctl_document::source::yaml::{Plain, resolve};
/// assert_eq!(resolve("007"), Plain::Int(7));
/// assert_eq!(resolve("0x1F"), Plain::Int(31));
/// assert_eq!(resolve("-.inf"), Plain::Float(f64::NEG_INFINITY));
/// assert_eq!(resolve("no"), Plain::Text);
/// ```
pub fn resolve(text: &str) -> Plain {
    match text {
        "true" | "True" | "TRUE" => return Plain::Bool(true),
        "false" | "False" | "FALSE" => return Plain::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Plain::Float(f64::NAN),
        _ => {}
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
                return Plain::Text;
            }
            // A number that does not fit is out of every range anyway.
            return Plain::Int(i128::from_str_radix(digits, radix).unwrap_or(i128::MAX));
        }
    }
    let (negative, magnitude) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or_default()),
        Some(b'+') => (false, text.get(1..).unwrap_or_default()),
        _ => (false, text),
    };
    if matches!(magnitude, ".inf" | ".Inf" | ".INF") {
        return Plain::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    if !magnitude.is_empty() && magnitude.bytes().all(|byte| byte.is_ascii_digit()) {
        let value = magnitude.parse::<i128>().unwrap_or(i128::MAX);
        return Plain::Int(if negative { -value } else { value });
    }
    match decimal(magnitude) {
        Some(value) => Plain::Float(if negative { -value } else { value }),
        None => Plain::Text,
    }
}

/// Reads digits with a point or an exponent. There must be a digit before the exponent.
fn decimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (text.get(..at)?, Some(text.get(at + 1..)?)),
        None => (text, None),
    };
    let mut points = 0;
    let mut digits = 0;
    for byte in mantissa.bytes() {
        match byte {
            b'.' => points += 1,
            b'0'..=b'9' => digits += 1,
            _ => return None,
        }
    }
    let exponent_is_whole = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    if points > 1 || digits == 0 || !exponent_is_whole {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_follow_the_core_schema() {
        for (text, expected) in [
            ("", ScalarForm::Null),
            ("~", ScalarForm::Null),
            ("Null", ScalarForm::Null),
            ("nUll", ScalarForm::Text),
            ("true", ScalarForm::Bare),
            ("True", ScalarForm::Marked),
            ("tRue", ScalarForm::Text),
            ("yes", ScalarForm::Text),
            ("no", ScalarForm::Text),
            ("on", ScalarForm::Text),
            ("0", ScalarForm::Bare),
            ("-1.5e+3", ScalarForm::Bare),
            ("1.10", ScalarForm::Bare),
            ("007", ScalarForm::Marked),
            ("+5", ScalarForm::Marked),
            ("0x1F", ScalarForm::Marked),
            ("0o17", ScalarForm::Marked),
            ("0x", ScalarForm::Text),
            (".5", ScalarForm::Marked),
            ("5.", ScalarForm::Marked),
            (".", ScalarForm::Text),
            ("-", ScalarForm::Text),
            ("+", ScalarForm::Text),
            (".inf", ScalarForm::Marked),
            ("-.INF", ScalarForm::Marked),
            (".nan", ScalarForm::Marked),
            ("-.nan", ScalarForm::Text),
            ("1_000", ScalarForm::Text),
            ("1.2.3", ScalarForm::Text),
            ("10.0.0.1", ScalarForm::Text),
            ("0.25s", ScalarForm::Text),
            ("1e", ScalarForm::Text),
            ("e1", ScalarForm::Text),
            (".e1", ScalarForm::Text),
            ("2024-01-01", ScalarForm::Text),
        ] {
            assert_eq!(form(text), expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_have_their_values() {
        assert_eq!(resolve("-017"), Plain::Int(-17));
        assert_eq!(resolve("0o17"), Plain::Int(15));
        assert_eq!(resolve("+.5e1"), Plain::Float(5.0));
        assert_eq!(resolve("5."), Plain::Float(5.0));
        assert_eq!(resolve(&"9".repeat(60)), Plain::Int(i128::MAX));
    }
}
