//! Splits a log into records: what a logger wrote at one time, with all lines that belong to it.
//!
//! A record begins with a time or with a logger's letter and date (`E0126`). Lines without one
//! belong to the record before: the frames of a stack, a list of errors, or a line that a terminal
//! has wrapped. The lines of a record are kept apart unless they look wrapped, so that a message is
//! not attributed to the resource of another line. Lines before the first record are records of
//! their own.

/// Longest record that is kept in one piece, in bytes; the rest of a longer one is another record.
const MAX_RECORD_BYTES: usize = 256 << 10;

/// Most bytes before the time of a line: the names of a pod, a container or a stream may precede
/// it.
const MAX_BEFORE_TIME: usize = 96;

/// Most words before the time of a line: `app-1  | `.
const MAX_WORDS_BEFORE_TIME: usize = 3;

/// The narrowest terminal that may have wrapped lines, in columns.
const MIN_COLUMNS: usize = 60;

/// The beginnings of lines that start another message and so do not continue a wrapped line.
const STARTS: [&str; 10] = [
    "at ",
    "Caused by",
    "rpc error",
    "io.grpc",
    "java.",
    "javax.",
    "panic:",
    "goroutine",
    "UNAVAILABLE",
    "Traceback",
];

/// What a logger wrote at one time.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The time, as it is written in the log.
    pub time: Option<String>,
    /// Number of the record's first line, from 1.
    pub line: usize,
    /// The lines, each without the time and the text before it.
    pub text: String,
}

impl Record {
    /// Returns the lines, each with its number in the log. Lines that were wrapped are joined, and
    /// a line that ends in a colon is joined with the next. A line that a terminal may have wrapped
    /// is joined only if it does not report anything by itself, as `tells` says.
    pub fn lines(&self, tells: &mut dyn FnMut(&str) -> bool) -> Vec<(usize, &str)> {
        let widest = self.text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let mut lines: Vec<(usize, &str)> = Vec::new();
        let mut first = self.line;
        let mut start = 0;
        let mut depth = 0;
        let mut at = 0;
        let mut before = "";
        for (number, line) in self.text.split_inclusive('\n').enumerate() {
            let is_fresh = STARTS.iter().any(|words| line.trim_start().starts_with(words));
            let columns = before.trim_end_matches(['\n', '\r']).chars().count();
            let is_broken = columns == widest && widest >= MIN_COLUMNS;
            let is_head = before.trim_end().ends_with(':');
            if at > start && (is_fresh || depth == 0 && !is_head && (!is_broken || tells(before))) {
                lines.extend(self.text.get(start..at).map(|text| (first, text)));
                start = at;
                first = self.line + number;
                depth = 0;
            }
            depth = open(depth, line);
            before = line;
            at += line.len();
        }
        let last = self.text.get(start..at).filter(|line| !line.is_empty());
        lines.extend(last.map(|text| (first, text)));
        lines
    }
}

/// Returns how many brackets are open after a line.
fn open(depth: usize, line: &str) -> usize {
    line.bytes().fold(depth, |depth, byte| match byte {
        b'[' | b'(' | b'{' => depth + 1,
        b']' | b')' | b'}' => depth.saturating_sub(1),
        _ => depth,
    })
}

/// Joins lines to records. Only one record is in memory.
#[derive(Debug, Default)]
pub(super) struct Records {
    current: Record,
    /// Number of lines so far.
    count: usize,
}

impl Records {
    /// Reads the next line. `take` gets the record before it, if that is complete.
    pub fn push(&mut self, line: &str, take: &mut dyn FnMut(Record)) {
        self.count += 1;
        let (time, behind) = time(line).map_or((None, 0), |(time, end)| (Some(time), end));
        let is_full = self.current.text.len() + line.len() > MAX_RECORD_BYTES;
        if time.is_some() || is_full || line.trim().is_empty() {
            let before = self.current.time.clone().filter(|_| time.is_none());
            self.finish(take);
            self.current = Record {
                time: time.map(str::to_owned).or(before),
                line: self.count,
                text: String::new(),
            };
        }
        if self.current.text.is_empty() {
            self.current.line = self.count;
        }
        let mut rest = line.get(behind..).unwrap_or_default();
        while rest.len() > MAX_RECORD_BYTES {
            let (piece, behind) = rest.split_at(super::line::head(rest, MAX_RECORD_BYTES).len());
            self.current.text.push_str(piece);
            take(Record {
                text: std::mem::take(&mut self.current.text),
                time: self.current.time.clone(),
                line: self.count,
            });
            rest = behind;
        }
        self.current.text.push_str(rest);
        self.current.text.push('\n');
    }

    /// Passes on the last record.
    pub fn finish(&mut self, take: &mut dyn FnMut(Record)) {
        let record = std::mem::take(&mut self.current);
        if !record.text.trim().is_empty() {
            take(record);
        }
    }
}

/// Returns the time at the beginning of a line of a log, as it is written, and the position behind
/// it.
///
/// These notations are known: glog and absl (`E0126 19:17:05.07`); a date in numbers (ISO 8601,
/// grpc-go, log4j, istio) or with the name of a month (journald, java.util.logging); a clock alone;
/// the seconds in a collector's JSON (`"ts":1673022913.1`).
fn time(line: &str) -> Option<(&str, usize)> {
    let head = super::line::head(line, MAX_BEFORE_TIME);
    // A time that is quoted or named inside a message is not the time of the line.
    let limit = head
        .find(": ")
        .filter(|_| !head.starts_with('{'))
        .map_or(head.len(), |at| at + 1);
    let starts = head.char_indices().filter(|(at, _)| {
        let before = head.get(..*at).unwrap_or_default();
        let is_apart = |c: char| !c.is_ascii_alphanumeric() && !"=-:/.".contains(c);
        let is_head = before.split_whitespace().count() <= MAX_WORDS_BEFORE_TIME;
        *at <= limit && is_head && before.chars().next_back().is_none_or(is_apart)
    });
    for (at, c) in starts {
        let rest = line.get(at..)?;
        let len = match c {
            '0'..='9' => by_numbers(rest, at == 0),
            'E' | 'W' | 'I' | 'F' | 'D' => of_glog(rest),
            'A'..='S' => by_month(rest),
            _ => None,
        };
        if let Some(len) = len {
            return Some((rest.get(..len)?, at + len));
        }
    }
    Some((of_json(line)?, 0))
}

/// Returns the length of a shape if the text begins with it. In a shape, `9` is a digit, `_` a
/// digit or a blank, `d` a `-` or `/`; other characters stand for themselves.
fn shape(text: &str, shape: &str) -> Option<usize> {
    let mut bytes = text.bytes();
    let fits = shape.bytes().all(|wanted| {
        bytes.next().is_some_and(|byte| match wanted {
            b'9' => byte.is_ascii_digit(),
            b'_' => byte.is_ascii_digit() || byte == b' ',
            b'd' => byte == b'-' || byte == b'/',
            _ => byte == wanted,
        })
    });
    fits.then_some(shape.len())
}

/// Adds to `len` the length of the clock that may follow, with fractions and a time zone.
fn and_clock(text: &str, len: usize) -> usize {
    let rest = text.get(len..).unwrap_or_default();
    let clock = rest.strip_prefix([' ', 'T']).unwrap_or(rest);
    let blank = rest.len() - clock.len();
    let Some(seconds) = shape(clock, "_9:99:99").or_else(|| shape(clock, "9:99:99")) else {
        return len;
    };
    let end = len + blank + seconds;
    let rest = text.get(end..).unwrap_or_default();
    let fraction = match rest.strip_prefix(['.', ',']) {
        Some(digits) => 1 + digits.bytes().take_while(u8::is_ascii_digit).count(),
        None => 0,
    };
    let rest = rest.get(fraction..).unwrap_or_default();
    let zone = ["Z", " AM", " PM"]
        .iter()
        .find(|zone| rest.starts_with(**zone))
        .map(|zone| zone.len());
    let offset = ["+99:99", "-99:99", "+9999", "-9999"]
        .iter()
        .find_map(|zone| shape(rest, zone));
    end + fraction + zone.or(offset).unwrap_or(0)
}

fn by_numbers(text: &str, is_first: bool) -> Option<usize> {
    if let Some(date) = shape(text, "9999d99d99") {
        let end = and_clock(text, date);
        return (end > date).then_some(end);
    }
    // A clock without a date counts only at the start of the line.
    let end = and_clock(text, 0);
    (is_first && end > 0).then_some(end)
}

fn of_glog(text: &str) -> Option<usize> {
    let date = shape(text.get(1..)?, "9999 ")?;
    let end = and_clock(text, date);
    // Until absl's log is set up, its clock writes the seconds since 1970 behind two colons: `E0000
    // 00:00:1744724416.12`.
    let is_seconds = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let more = text.get(end..)?.bytes().take_while(|byte| is_seconds(byte)).count();
    Some(end + more)
}

fn by_month(text: &str) -> Option<usize> {
    const MONTHS: [&str; 12] = [
        "Jan ", "Feb ", "Mar ", "Apr ", "May ", "Jun ", "Jul ", "Aug ", "Sep ", "Oct ", "Nov ", "Dec ",
    ];
    MONTHS.iter().find(|month| text.starts_with(**month))?;
    let day = shape(text.get(4..)?, "_9").or_else(|| shape(text.get(4..)?, "9"))?;
    let date = 4 + day;
    let year = shape(text.get(date..)?, ", 9999").unwrap_or(0);
    let end = and_clock(text, date + year);
    (end > date + year).then_some(end)
}

/// Returns the time that a collector has written next to a message.
fn of_json(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if !line.starts_with('{') {
        return None;
    }
    ["\"ts\":", "\"time\":", "\"timestamp\":", "\"@timestamp\":"]
        .iter()
        .find_map(|key| {
            let rest = line.split_once(key)?.1.trim_start().trim_start_matches('"');
            let end = rest.find(['"', ',', '}']).filter(|end| (1..=40).contains(end))?;
            rest.starts_with(|c: char| c.is_ascii_digit())
                .then(|| rest.get(..end))?
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_loggers_are_found() {
        for (line, expected) in [
            (
                "E0126 19:17:05.078953408     339 xds_resolver.cc:921] x",
                Some("E0126 19:17:05.078953408"),
            ),
            (
                "E0000 00:00:1795420800.12    339 xds_client.cc:921] x",
                Some("E0000 00:00:1795420800.12"),
            ),
            ("I1122 started", Some("I1122")),
            ("2025/03/16 14:25:49 INFO: [xds] x", Some("2025/03/16 14:25:49")),
            (
                "2022-05-10 13:34:54.929+0000 [main] DEBUG x",
                Some("2022-05-10 13:34:54.929+0000"),
            ),
            ("2022-05-10 13:34:54,929 WARN x", Some("2022-05-10 13:34:54,929")),
            (
                "2022-09-09T00:05:31.979790Z\tinfo\t[xds] x",
                Some("2022-09-09T00:05:31.979790Z"),
            ),
            ("2022-09-09T02:05:31+02:00 x", Some("2022-09-09T02:05:31+02:00")),
            (
                "D 2024-01-01T00:00:00.000Z | v1.10.0 12 | xds_client | x",
                Some("2024-01-01T00:00:00.000Z"),
            ),
            (
                "May 10, 2022 1:34:54 PM io.grpc.xds.X run",
                Some("May 10, 2022 1:34:54 PM"),
            ),
            ("Nov 22 04:20:52 host shop[812]: x", Some("Nov 22 04:20:52")),
            (
                "[pod/shop-7d9f/app] 2026-11-22T04:20:52.149618Z stderr F x",
                Some("2026-11-22T04:20:52.149618Z"),
            ),
            ("app-1  | 2025/03/16 14:25:49 x", Some("2025/03/16 14:25:49")),
            ("13:34:54.929 [main] DEBUG x", Some("13:34:54.929")),
            (
                r#"{"level":"warn","ts":1673022913.123,"msg":"x"}"#,
                Some("1673022913.123"),
            ),
            (
                r#"{"log":"x","time":"2026-11-22T04:20:52Z"}"#,
                Some("2026-11-22T04:20:52Z"),
            ),
            ("rpc error: code = Unavailable desc = x", None),
            ("Failed processing LDS Response version 2022-05-10T13:32:29Z/4243", None),
            ("\tat io.grpc.Status.asRuntimeException(Status.java:539)", None),
            ("May be late", None),
            ("", None),
        ] {
            assert_eq!(time(line).map(|(time, _)| time), expected, "{line}");
        }
    }

    fn records(text: &str) -> Vec<(Option<String>, usize, usize)> {
        let mut all = Vec::new();
        let mut take =
            |record: Record| all.push((record.time.clone(), record.line, record.lines(&mut |_| false).len()));
        let mut records = Records::default();
        text.lines().for_each(|line| records.push(line, &mut take));
        records.finish(&mut take);
        all
    }

    #[test]
    fn a_stack_belongs_to_its_record_and_a_wrapped_line_is_one() {
        let text = "E0126 19:17:05.0 1 a.cc:1] a\n\tat b\nCaused by: c\nE0126 19:17:06.0 1 a.cc:1] d [e\nf] g\n";
        let time = |time: &str| Some(time.to_owned());
        assert_eq!(
            records(text),
            [(time("E0126 19:17:05.0"), 1, 3), (time("E0126 19:17:06.0"), 4, 1)]
        );
        let wide = format!("{}\nrest\n", "x".repeat(80));
        assert_eq!(records(&wide), [(None, 1, 1)]);
        let record = Record {
            text: wide,
            ..Record::default()
        };
        assert_eq!(record.lines(&mut |_| true).len(), 2);
    }

    #[test]
    fn a_record_that_is_too_long_goes_on_as_another() {
        let text = format!("{}\nb\n", "a".repeat(2 * MAX_RECORD_BYTES + 1));
        assert_eq!(records(&text).len(), 3);
    }
}
