//! Numbers and quoted text as the text format writes them.

/// Reads a decimal, octal or hexadecimal integer.
pub(super) fn integer(text: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(text).ok()?;
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(magnitude) => (true, magnitude.trim_ascii_start()),
        None => (false, text),
    };
    let value = if let Some(hex) = magnitude.strip_prefix("0x").or_else(|| magnitude.strip_prefix("0X")) {
        i128::from_str_radix(hex, 16)
    } else if magnitude.len() > 1 && magnitude.starts_with('0') {
        i128::from_str_radix(magnitude, 8)
    } else {
        magnitude.parse()
    };
    let is_digits = magnitude.as_bytes().first().is_some_and(u8::is_ascii_digit);
    value
        .ok()
        .filter(|_| is_digits)
        .map(|value| if negative { -value } else { value })
}

/// Reads a floating-point number, with `inf`, `nan` and the suffix `f`.
pub(super) fn float(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(magnitude) => (true, magnitude.trim_ascii_start()),
        None => (false, text),
    };
    let lower = magnitude.to_ascii_lowercase();
    let value = match lower.as_str() {
        "inf" | "infinity" => f64::INFINITY,
        "nan" => f64::NAN,
        _ if lower.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
            lower.strip_suffix('f').unwrap_or(&lower).parse().ok()?
        }
        _ => return None,
    };
    Some(if negative { -value } else { value })
}

/// Appends the bytes that the contents of a string stand for.
pub(super) fn unescape(mut raw: &[u8], out: &mut Vec<u8>) {
    while let Some(slash) = memchr::memchr(b'\\', raw) {
        out.extend_from_slice(raw.get(..slash).unwrap_or_default());
        raw = raw.get(slash + 1..).unwrap_or_default();
        let Some((&escape, rest)) = raw.split_first() else {
            return;
        };
        raw = rest;
        match escape {
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'v' => out.push(11),
            b'x' | b'X' => out.push(digits(&mut raw, 2, 16).to_le_bytes()[0]),
            b'0'..=b'7' => {
                let high = u32::from(escape - b'0');
                let before = raw.len();
                let low = digits(&mut raw, 2, 8);
                let count = u32::try_from(before - raw.len()).unwrap_or_default();
                out.push((high << (3 * count) | low).to_le_bytes()[0]);
            }
            b'u' => unicode(&mut raw, 4, out),
            b'U' => unicode(&mut raw, 8, out),
            other => out.push(other),
        }
    }
    out.extend_from_slice(raw);
}

/// Reads up to `most` digits.
fn digits(raw: &mut &[u8], most: usize, radix: u32) -> u32 {
    let mut value = 0;
    for _ in 0..most {
        let Some(digit) = raw.first().and_then(|byte| char::from(*byte).to_digit(radix)) else {
            break;
        };
        value = value * radix + digit;
        *raw = raw.get(1..).unwrap_or_default();
    }
    value
}

/// Reads a code point, or a surrogate pair. If it is not a character, appends a byte that is not
/// valid UTF-8, so that the reader reports it.
fn unicode(raw: &mut &[u8], most: usize, out: &mut Vec<u8>) {
    let mut code = digits(raw, most, 16);
    if (0xd800..0xdc00).contains(&code) && raw.starts_with(b"\\u") {
        let mut rest = raw.get(2..).unwrap_or_default();
        let low = digits(&mut rest, 4, 16);
        if (0xdc00..0xe000).contains(&low) {
            code = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            *raw = rest;
        }
    }
    match char::from_u32(code) {
        Some(character) => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        None => out.push(0xff),
    }
}
