//! The texts of numbers: how the client prints one and how it reads one back.
//!
//! The client keeps a JSON number as its text. In a TypedStruct every number is a double, which upb
//! prints with 15 digits, or with 17 if 15 lose something. So 10^15 becomes `1e+15`, which is not
//! read as a whole number. Reading follows absl's `SimpleAtoi` and `SimpleAtof`: blanks around the
//! number and one sign are fine, a float may be hexadecimal, and a parser of whole numbers that
//! fails leaves what it had read so far.

use serde_json::{Number, Value};

use super::json::LoadedNumber;

/// The number of digits that a double always keeps (`DBL_DIG`).
const SHORT_DIGITS: usize = 15;

/// The number of digits that distinguishes all doubles.
const LONG_DIGITS: usize = 17;

/// Whole numbers below this limit are printed without an exponent.
const SCIENTIFIC_FROM: u64 = 1_000_000_000_000_000;

/// The number of digits that absl `StrCat` prints of a float.
const FLOAT_DIGITS: usize = 6;

/// Says whether `SimpleAtoi` strips the character.
pub fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

/// Applies `parse` to a text, or to the text of a number. Returns `None` for any other value.
pub fn with_text<T>(value: &Value, parse: impl FnOnce(&str) -> T) -> Option<T> {
    match value {
        Value::String(text) => Some(parse(text)),
        Value::Number(number) => Some(parse(&print(number))),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the text as which the client keeps a number.
pub fn print(number: &Number) -> String {
    match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) if whole.unsigned_abs() < SCIENTIFIC_FROM => whole.to_string(),
        (_, Some(float)) => print_double(float),
        (_, None) => number.to_string(),
    }
}

/// Prints a double as upb does (`_upb_EncodeRoundTripDouble`).
fn print_double(value: f64) -> String {
    let short = print_general(value, SHORT_DIGITS);
    if short.parse() == Ok(value) {
        return short;
    }
    print_general(value, LONG_DIGITS)
}

/// Returns the JSON of a float that the client prints itself, with six digits. It is a text where
/// JSON has no such number.
pub fn float_to_json(value: f32) -> Value {
    let text = print_general(f64::from(value), FLOAT_DIGITS);
    if let Ok(whole) = text.parse::<i64>() {
        return Value::from(whole);
    }
    match text.parse().ok().and_then(Number::from_f64) {
        Some(number) => Value::Number(number),
        None => Value::String(text),
    }
}

/// Prints as C's `%.*g` does.
fn print_general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{:.*e}", digits.saturating_sub(1), value);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    if (-4..i64::try_from(digits).unwrap_or(i64::MAX)).contains(&exponent) {
        let decimals = i64::try_from(digits).unwrap_or(0) - 1 - exponent;
        let fixed = format!("{:.*}", usize::try_from(decimals).unwrap_or(0), value);
        return trim_zeros(&fixed).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim_zeros(mantissa), exponent.abs())
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// Splits a whole number into its sign (true is negative) and its digits. Returns `None` if nothing
/// follows the blanks and the sign.
fn sign_and_digits(text: &str) -> Option<(bool, &str)> {
    let text = text.trim_matches(is_blank);
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    (!digits.is_empty()).then_some((negative, digits))
}

/// Reads digits up to `max`. Stops at the first character that is not a digit, or at the first
/// digit that exceeds `max`.
fn digits_up_to(digits: &str, max: u64) -> LoadedNumber<u64> {
    let mut value = 0_u64;
    for byte in digits.bytes() {
        if !byte.is_ascii_digit() {
            return LoadedNumber { value, sound: false };
        }
        match value
            .checked_mul(10)
            .and_then(|v| v.checked_add(u64::from(byte - b'0')))
        {
            Some(next) if next <= max => value = next,
            _ => {
                return LoadedNumber {
                    value: max,
                    sound: false,
                };
            }
        }
    }
    LoadedNumber { value, sound: true }
}

/// Reads an unsigned number of at most `max`. Any minus sign is a fault.
pub fn parse_unsigned(text: &str, max: u64) -> LoadedNumber<u64> {
    match sign_and_digits(text) {
        Some((false, digits)) => digits_up_to(digits, max),
        Some((true, _)) | None => LoadedNumber { value: 0, sound: false },
    }
}

/// Reads a signed 64-bit number.
pub fn parse_signed(text: &str) -> LoadedNumber<i64> {
    let Some((negative, digits)) = sign_and_digits(text) else {
        return LoadedNumber { value: 0, sound: false };
    };
    let loaded = digits_up_to(digits, i64::MAX.unsigned_abs() + u64::from(negative));
    let value = if negative {
        0_i64.saturating_sub_unsigned(loaded.value)
    } else {
        i64::try_from(loaded.value).unwrap_or(i64::MAX)
    };
    LoadedNumber {
        value,
        sound: loaded.sound,
    }
}

/// Reads a float. A number that is too large is infinite; `nan` and `inf` are numbers.
pub fn parse_float(text: &str) -> Option<f32> {
    let text = text.trim_matches(is_blank);
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    // `nan(chars)` is the one spelling that Rust's parser does not have.
    let is_long_nan = unsigned.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("nan("))
        && unsigned
            .get(4..)
            .and_then(|tail| tail.strip_suffix(')'))
            .is_some_and(|inner| inner.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
    if is_long_nan {
        return Some(f32::NAN);
    }
    if let Some(digits) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        let value = parse_hex_float(digits)?;
        return Some(if text.starts_with('-') { -value } else { value });
    }
    text.parse().ok()
}

/// Reads the digits of a hexadecimal float after its `0x`, with an optional point and an optional
/// `p` exponent.
fn parse_hex_float(text: &str) -> Option<f32> {
    let (digits, exponent) = match text.split_once(['p', 'P']) {
        Some((digits, exponent)) => {
            let plain = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if plain.is_empty() || !plain.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            let limit = if exponent.starts_with('-') { i32::MIN } else { i32::MAX };
            (digits, exponent.parse().unwrap_or(limit))
        }
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0_f64;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let places = i32::try_from(fraction.len()).unwrap_or(i32::MAX).saturating_mul(4);
    let scaled = value * 2.0_f64.powi(exponent.saturating_sub(places));
    #[expect(clippy::cast_possible_truncation, reason = "the client keeps 32 bits")]
    Some(scaled as f32)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn doubles_are_printed_as_upb_does() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1.5, "1.5"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (1_000_000_000_000_001.0, "1000000000000001"),
            (1e20, "1e+20"),
            (1.0 / 3.0, "0.33333333333333331"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (-2.5e-7, "-2.5e-07"),
            (4_294_967_296.0, "4294967296"),
        ] {
            assert_eq!(print_double(value), text);
        }
        let Value::Number(whole) = json!(1_000_000_000_000_000_u64) else {
            panic!("a number is expected")
        };
        assert_eq!(print(&whole), "1e+15");
    }

    #[test]
    fn whole_numbers_are_read_as_absl_does() {
        let read = |text: &str| {
            let loaded = parse_unsigned(text, u64::MAX);
            (loaded.value, loaded.sound)
        };
        assert_eq!(read(" 12\t"), (12, true));
        assert_eq!(read("+12"), (12, true));
        assert_eq!(read("-0"), (0, false));
        assert_eq!(read("12x"), (12, false));
        assert_eq!(read("1.0"), (1, false));
        assert_eq!(read("1e3"), (1, false));
        assert_eq!(read(""), (0, false));
        assert_eq!(read("+ 1"), (0, false));
        assert_eq!(read("18446744073709551615"), (u64::MAX, true));
        assert_eq!(read("18446744073709551616"), (u64::MAX, false));
        assert!(!parse_unsigned("4294967296", u64::from(u32::MAX)).sound);
        assert_eq!(parse_signed("-9223372036854775808").value, i64::MIN);
        assert!(parse_signed("-9223372036854775808").sound);
        assert!(!parse_signed("9223372036854775808").sound);
    }

    #[test]
    fn floats_are_read_as_absl_does() {
        for (text, wanted) in [
            ("1", Some(1.0)),
            (" +1.5 ", Some(1.5)),
            (".5", Some(0.5)),
            ("1.", Some(1.0)),
            ("1e400", Some(f32::INFINITY)),
            ("INF", Some(f32::INFINITY)),
            ("0x10", Some(16.0)),
            ("-0X1.8p3", Some(-12.0)),
            ("0x.8", Some(0.5)),
            ("0x1p-99999999999", Some(0.0)),
            ("0x", None),
            ("0x1p", None),
            ("0x1g", None),
            ("+-1", None),
            (".", None),
            ("1e", None),
            ("", None),
        ] {
            assert_eq!(parse_float(text), wanted, "{text:?}");
        }
        assert!(parse_float("nan").is_some_and(f32::is_nan));
        assert!(parse_float("-NaN(a_1)").is_some_and(f32::is_nan));
        assert_eq!(parse_float("nan(-)"), None);
    }

    #[test]
    fn floats_of_the_client_have_six_digits() {
        assert_eq!(float_to_json(0.123_456_79), json!(0.123457));
        assert_eq!(float_to_json(1.0), json!(1));
        assert_eq!(float_to_json(f32::NAN), json!("nan"));
    }
}
