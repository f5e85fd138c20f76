//! Tells text format from YAML: `name: "x"` is valid in both.

/// Comments that name the type of the message. Only text format has them.
const HEADERS: &[&str] = &["proto-message:", "proto-file:", "proto-import:"];

/// Says whether text that is neither JSON nor binary is text format rather than YAML.
///
/// It is text format if it has such a comment. It also is if all of `text` can be read as text
/// format and has something that YAML does not allow: a name before an opening brace without a
/// colon, or a second field on the line of the first.
pub fn looks_like(text: &[u8]) -> bool {
    let mut probe = Probe { text, pos: 0 };
    let mut depth = 0;
    let mut value_line = None;
    loop {
        if probe.space() {
            return true;
        }
        match probe.peek() {
            None => return false,
            Some(b'}' | b'>') if depth > 0 => {
                probe.pos += 1;
                depth -= 1;
            }
            Some(b',' | b';') => {
                probe.pos += 1;
                value_line = None;
            }
            Some(b'[') if probe.bracketed_name() => {
                probe.space();
                if matches!(probe.peek(), Some(b'{' | b'<')) {
                    return true;
                }
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let line = probe.line();
                probe.word();
                let named_at = probe.pos;
                probe.space();
                match probe.peek() {
                    Some(b'{' | b'<') => return true,
                    Some(b':') if named_at == probe.pos => {
                        // Two fields are on one line, without a comma.
                        if value_line == Some(line) {
                            return true;
                        }
                        probe.pos += 1;
                        probe.space();
                        match probe.value() {
                            Some(ValueStart::Opened) => depth += 1,
                            Some(ValueStart::Scalar) => value_line = Some(probe.line()),
                            None => return false,
                        }
                    }
                    _ => return false,
                }
            }
            Some(_) => return false,
        }
    }
}

enum ValueStart {
    /// The value began with `{`, `<` or `[`, which has been consumed.
    Opened,
    Scalar,
}

struct Probe<'t> {
    text: &'t [u8],
    pos: usize,
}

impl Probe<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    fn line(&self) -> usize {
        let head = self.text.get(..self.pos).unwrap_or_default();
        memchr::memrchr(b'\n', head).map_or(0, |newline| newline + 1)
    }

    /// Consumes white space and comments. Says whether one of them has a header.
    fn space(&mut self) -> bool {
        let mut found = false;
        while let Some(byte) = self.peek() {
            if byte == b'#' {
                let rest = self.text.get(self.pos..).unwrap_or_default();
                let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                let comment = rest.get(1..end).unwrap_or_default().trim_ascii_start();
                found |= HEADERS.iter().any(|header| comment.starts_with(header.as_bytes()));
                self.pos += end;
            } else if byte.is_ascii_whitespace() {
                self.pos += 1;
            } else {
                break;
            }
        }
        found
    }

    fn word(&mut self) {
        while self
            .peek()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            self.pos += 1;
        }
    }

    /// Consumes `[name]`. If something else is next, returns false and consumes nothing.
    fn bracketed_name(&mut self) -> bool {
        let rest = self.text.get(self.pos + 1..).unwrap_or_default();
        let end = rest
            .iter()
            .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'_' | b'-')))
            .unwrap_or(rest.len());
        if end == 0 || rest.get(end) != Some(&b']') {
            return false;
        }
        self.pos += end + 2;
        true
    }

    fn value(&mut self) -> Option<ValueStart> {
        match self.peek()? {
            b'{' | b'<' => {
                self.pos += 1;
                Some(ValueStart::Opened)
            }
            quote @ (b'"' | b'\'') => {
                self.pos += 1;
                loop {
                    match self.peek()? {
                        b'\\' => self.pos += 2,
                        b'\n' => return None,
                        byte if byte == quote => {
                            self.pos += 1;
                            return Some(ValueStart::Scalar);
                        }
                        _ => self.pos += 1,
                    }
                }
            }
            b'[' => {
                // Lists are in both formats. Consume the bracket and read the first element as a
                // value.
                let rest = self.text.get(self.pos..).unwrap_or_default();
                self.pos += memchr::memchr(b']', rest)? + 1;
                Some(ValueStart::Scalar)
            }
            byte if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_') => {
                let start = self.pos;
                while self
                    .peek()
                    .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'+'))
                {
                    self.pos += 1;
                }
                let is_list = self.text.get(start..self.pos) == Some(b"-");
                (!is_list).then_some(ValueStart::Scalar)
            }
            _ => None,
        }
    }
}
