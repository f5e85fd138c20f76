//! A calendar day, for settings that expire.

use std::fmt;
use std::str::FromStr;

use prost_types::Timestamp;

/// A day of the Gregorian calendar, as `2027-01-31`.
///
/// ```
/// use xdsctl_lint::choice::Date;
/// let day: Date = "2028-02-29".parse().unwrap();
/// assert!(day > "2027-12-31".parse().unwrap());
/// assert!("2027-02-29".parse::<Date>().is_err(), "no leap year");
/// assert_eq!(Date::of_unix_seconds(1_000_000_000).to_string(), "2001-09-09");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date([u8; 10]);

/// The last second of the year 9999.
const LAST_SECOND: i64 = 253_402_300_799;

impl Date {
    /// Returns the day, in UTC, of a time in seconds since 1970.
    pub fn of_unix_seconds(seconds: u64) -> Date {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX).min(LAST_SECOND);
        let text = Timestamp { seconds, nanos: 0 }.to_string();
        Date(*text.as_bytes().first_chunk().unwrap_or(b"1970-01-01"))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl FromStr for Date {
    type Err = String;

    /// # Errors
    /// Rejects a text that is not `YYYY-MM-DD`, or a day that does not exist.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = |(at, byte): (usize, &u8)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        };
        let day = <[u8; 10]>::try_from(text.as_bytes()).ok();
        let is_one = |day: &[u8; 10]| day.iter().enumerate().all(fits) && text.parse::<Timestamp>().is_ok();
        day.filter(is_one)
            .map(Date)
            .ok_or_else(|| format!("`{text}` is not a date, must be like 2027-01-31"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        // `date -u -d @N +%F`
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_798_761_599, "2026-12-31"),
            (1_798_761_600, "2027-01-01"),
            (4_107_542_400, "2100-03-01"),
            (13_569_465_600, "2400-01-01"),
        ] {
            assert_eq!(Date::of_unix_seconds(seconds).to_string(), day);
            assert_eq!(day.parse(), Ok(Date::of_unix_seconds(seconds)));
        }
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for text in [
            "",
            "2027",
            "2027-1-1",
            "2027-13-01",
            "2027-00-01",
            "2027-04-31",
            "2100-02-29",
            "27-01-01",
            "2027-01-01x",
        ] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
    }
}
