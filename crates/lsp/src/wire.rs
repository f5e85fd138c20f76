//! Messages on a stream: each has a head with its length, then JSON.
//!
//! A message that cannot be parsed is refused, and reading goes on with the next one. Reading ends
//! only if the stream can no longer be split into messages, because a head has no length or the
//! length is above the limit.

use std::io::{self, BufRead, Read, Write};

use lsp_server::{ErrorCode, Message, RequestId, Response};
use serde_json::Value;

/// Longest message that is read, in bytes; nobody edits a document of that size.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Longest head of a message, in bytes.
const MAX_HEAD_BYTES: u64 = 8 << 10;

/// The next thing on the stream.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Message),
    /// Something that is not a valid message, with the answer to it.
    Refused(Response),
}

/// Reads the next message; `None` at the end of the stream.
///
/// # Errors
/// If reading fails, or if the stream can no longer be split into messages.
pub fn read(input: &mut dyn BufRead) -> io::Result<Option<Incoming>> {
    let Some(length) = head(input)? else {
        return Ok(None);
    };
    if length > MAX_MESSAGE_BYTES {
        return Err(bad(format!(
            "a message of {length} bytes, the limit is {MAX_MESSAGE_BYTES}"
        )));
    }
    let mut text = Vec::new();
    // The buffer grows with the bytes that arrive, so a large length alone costs nothing.
    let read = input.take(length as u64).read_to_end(&mut text)?;
    if read < length {
        return Ok(None);
    }
    Ok(Some(match serde_json::from_slice::<Message>(&text) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Refused(refusal(&text, &error.to_string())),
    }))
}

/// Returns the answer to an invalid message.
fn refusal(text: &[u8], why: &str) -> Response {
    let value: Option<Value> = serde_json::from_slice(text).ok();
    let code = if value.is_some() {
        ErrorCode::InvalidRequest
    } else {
        ErrorCode::ParseError
    };
    let id = value.as_ref().and_then(|value| value.get("id"));
    let id = id.and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    // The protocol requires null if the id is not known, but the type of the crate has no null.
    let id = id.unwrap_or_else(|| RequestId::from(String::new()));
    Response::new_err(id, code as i32, why.to_owned())
}

/// Reads a head and returns its length.
fn head(input: &mut dyn BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    let mut left = MAX_HEAD_BYTES;
    loop {
        let mut line = Vec::new();
        let read = input.take(left).read_until(b'\n', &mut line)?;
        left -= read as u64;
        if read == 0 {
            return match left {
                0 => Err(bad("a head without an end".to_owned())),
                _ => Ok(None),
            };
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_ascii();
        if text.is_empty() {
            return match length {
                Some(length) => Ok(Some(length)),
                None => Err(bad("a head without Content-Length".to_owned())),
            };
        }
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        if name.trim_ascii().eq_ignore_ascii_case("content-length") {
            let value = value.trim_ascii().parse();
            length = Some(value.map_err(|_| bad("a Content-Length that is no number".to_owned()))?);
        }
    }
}

fn bad(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Writes a message. Characters for which `is_plain` is false are escaped, as JSON allows for any
/// character.
///
/// # Errors
/// If writing fails.
pub fn write(message: &Message, is_plain: fn(char) -> bool, out: &mut dyn Write) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Framed<'m> {
        jsonrpc: &'static str,
        #[serde(flatten)]
        message: &'m Message,
    }
    let mut text = serde_json::to_string(&Framed {
        jsonrpc: "2.0",
        message,
    })?;
    if !text.is_ascii() || text.contains('\u{7f}') {
        text = escaped(&text, is_plain);
    }
    write!(out, "Content-Length: {}\r\n\r\n", text.len())?;
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Escapes characters in JSON text. Only strings contain characters other than ASCII.
fn escaped(json: &str, is_plain: fn(char) -> bool) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_plain(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string does not fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(text: &str) -> Vec<u8> {
        format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
    }

    #[test]
    fn what_is_no_message_is_answered_and_the_stream_goes_on() {
        let mut stream = framed("{nonsense");
        stream.extend(framed(r#"{"id": 7, "jsonrpc": "2.0"}"#));
        stream.extend(framed(r#"{"jsonrpc": "2.0", "method": "exit"}"#));
        let mut input = stream.as_slice();
        let mut code = || match read(&mut input).unwrap() {
            Some(Incoming::Refused(response)) => response.response_result.unwrap_err().code,
            Some(Incoming::Message(_)) => 1,
            None => 0,
        };
        assert_eq!([code(), code(), code(), code()], [-32700, -32600, 1, 0]);
    }

    #[test]
    fn a_length_alone_takes_no_memory_and_a_lie_ends_the_stream() {
        for (head, is_end) in [
            ("Content-Length: 60000000\r\n\r\n{", true),
            ("Content-Length: 99999999999999\r\n\r\n", false),
            ("Content-Length: -1\r\n\r\n", false),
            ("Content-Type: x\r\n\r\n", false),
            ("Content-Length: 5", true),
        ] {
            let read = read(&mut head.as_bytes());
            assert_eq!(matches!(read, Ok(None)), is_end, "{head}");
        }
        assert!(read(&mut "a".repeat(9_000).as_bytes()).is_err());
    }
}
