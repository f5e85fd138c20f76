//! Keys that an object has twice: a reader that takes one of them passes over the other.

use std::collections::BTreeSet;

use crate::source::json::{Scanner, Str, Syntax};

/// The first key that an object of a JSON text has twice. The text has been read before, so that its nesting is bounded.
pub fn repeated(text: &str) -> Option<String> {
    let mut scanner = Scanner::new(text.as_bytes());
    in_value(&mut scanner).ok().flatten()
}

fn in_value(scanner: &mut Scanner<'_>) -> Result<Option<String>, Syntax> {
    match scanner.peek() {
        b'{' => in_object(scanner),
        b'[' => {
            let mut more = scanner.open(b']')?;
            while more {
                if let Some(key) = in_value(scanner)? {
                    return Ok(Some(key));
                }
                more = scanner.more(b']')?;
            }
            Ok(None)
        }
        _ => scanner.skip_value().map(|()| None),
    }
}

fn in_object(scanner: &mut Scanner<'_>) -> Result<Option<String>, Syntax> {
    let mut keys = BTreeSet::new();
    let mut more = scanner.open(b'}')?;
    while more {
        let token = scanner.key()?;
        let key = name(scanner, token);
        if keys.contains(&key) {
            return Ok(Some(key));
        }
        keys.insert(key);
        if let Some(key) = in_value(scanner)? {
            return Ok(Some(key));
        }
        more = scanner.more(b'}')?;
    }
    Ok(None)
}

fn name(scanner: &Scanner<'_>, token: Str) -> String {
    let mut scratch = Vec::new();
    scanner.text_of(token, &mut scratch).unwrap_or_default().to_owned()
}
