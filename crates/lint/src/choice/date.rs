//! A day, for what ends on one.

use std::fmt;
use std::str::FromStr;

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
pub struct Date {
    year: u64,
    month: u8,
    day: u8,
}

const SECONDS_PER_DAY: u64 = 86_400;

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of(month: u8, year: u64) -> u8 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Date {
    /// The day of a time in seconds since 1970, in UTC.
    pub fn of_unix_seconds(seconds: u64) -> Date {
        let mut days = seconds / SECONDS_PER_DAY;
        // The calendar repeats itself every 400 years.
        const DAYS_PER_400_YEARS: u64 = 146_097;
        let mut year = 1970 + 400 * (days / DAYS_PER_400_YEARS);
        days %= DAYS_PER_400_YEARS;
        loop {
            let length = if is_leap(year) { 366 } else { 365 };
            if days < length {
                break;
            }
            days -= length;
            year += 1;
        }
        let mut month = 1;
        while days >= u64::from(days_of(month, year)) {
            days -= u64::from(days_of(month, year));
            month += 1;
        }
        let day = u8::try_from(days + 1).unwrap_or(u8::MAX);
        Date { year, month, day }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Date {
    type Err = String;

    /// # Errors
    /// Anything but `YYYY-MM-DD` with a day that there is.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is not a date, must be like 2027-01-31");
        let mut parts = text.splitn(3, '-');
        let mut number = |digits: usize| {
            let part = parts.next().filter(|part| part.len() == digits)?;
            let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| part.parse::<u16>().ok()).flatten()
        };
        let (Some(year), Some(month), Some(day)) = (number(4), number(2), number(2)) else {
            return Err(wrong());
        };
        let year = u64::from(year);
        match (u8::try_from(month), u8::try_from(day)) {
            (Ok(month @ 1..=12), Ok(day)) if (1..=days_of(month, year)).contains(&day) => Ok(Date { year, month, day }),
            _ => Err(wrong()),
        }
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
