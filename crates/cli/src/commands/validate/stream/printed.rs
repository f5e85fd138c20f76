//! Reads the documents of a stream: one per line, or JSON that is printed over several lines.
//!
//! A line that opens an object or list and has nothing else but keys is the beginning of a printed
//! document. The document ends where its brackets are closed, and nothing after it is waited for. A
//! snapshot that is on one line and cut off is not taken for such a beginning, because its writer
//! waits for a verdict.

use std::io::{self, BufRead};

/// Reads the next document with its last line break. Returns the number of its lines, or 0 at the
/// end.
pub(super) fn read(lines: &mut dyn BufRead, bytes: &mut Vec<u8>) -> io::Result<usize> {
    if lines.read_until(b'\n', bytes)? == 0 {
        return Ok(0);
    }
    let mut count = 1;
    if !begins(bytes) {
        return Ok(count);
    }
    let mut open = opened(bytes);
    while open > 0 {
        let before = bytes.len();
        if lines.read_until(b'\n', bytes)? == 0 {
            break;
        }
        open += opened(&bytes[before..]);
        count += 1;
    }
    Ok(count)
}

/// Says whether a line opens brackets that it does not close and has no value: `{`, `[`,
/// `{"config": [`.
fn begins(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    matches!(line.first(), Some(b'{' | b'[')) && matches!(line.last(), Some(b'{' | b'[')) && !line.contains(&b',')
}

/// Returns how many brackets a line opens and does not close. A JSON string never spans lines.
fn opened(line: &[u8]) -> i64 {
    let mut open = 0;
    let mut bytes = line.iter();
    let mut is_in_string = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_in_string = !is_in_string,
            b'\\' if is_in_string => _ = bytes.next(),
            b'{' | b'[' if !is_in_string => open += 1,
            b'}' | b']' if !is_in_string => open -= 1,
            _ => (),
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the documents of a text, each with the number of its lines.
    fn read_all(text: &str) -> Vec<(String, usize)> {
        let mut lines = text.as_bytes();
        let mut found = Vec::new();
        loop {
            let mut bytes = Vec::new();
            match read(&mut lines, &mut bytes).unwrap() {
                0 => return found,
                count => found.push((String::from_utf8(bytes).unwrap(), count)),
            }
        }
    }

    #[test]
    fn a_printed_document_is_one() {
        let printed = "{\"a\": [\n{\n \"b\": \"}]\\\"}\",\n \"c\": {}\n}\n]}\n";
        let text = format!("{{}}\n{printed}\n[\n]\n{{\"x\": 1}}");
        let found = read_all(&text);
        let whole: Vec<(&str, usize)> = found.iter().map(|(text, count)| (text.as_str(), *count)).collect();
        assert_eq!(
            whole,
            [("{}\n", 1), (printed, 6), ("\n", 1), ("[\n]\n", 2), ("{\"x\": 1}", 1)]
        );
    }

    #[test]
    fn what_is_cut_off_or_no_json_is_a_line() {
        for line in [
            "{\"a\": 1, \"b\": [\n",
            "{\"a\":\n",
            "{\"a\": {\"b\": 1}, [\n",
            "clusters: [\n",
            "- {\n",
        ] {
            assert_eq!(read_all(&format!("{line}}}\n"))[0], (line.to_owned(), 1));
        }
        // A printed document that is cut off ends with the stream.
        assert_eq!(read_all("[\n{\n"), [("[\n{\n".to_owned(), 2)]);
    }
}
