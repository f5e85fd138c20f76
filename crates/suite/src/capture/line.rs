//! The lines of C-core's log library, `I1122 10:29:13.023384    9225 xds_client.cc:407] words`, and
//! those of grpc-go, `2026/11/22 10:29:13 INFO: [xds] words`, of which only the time is used.

/// How many bytes others may have written before the client's own line, such as a time or a pod.
const PREFIX_LOOK: usize = 200;

/// A line that the client wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CapturedLine<'b> {
    /// The time in microseconds, counted from some day on.
    pub at: i64,
    /// The thread that wrote it.
    pub thread: &'b str,
    /// The file of the client's sources, without the number of the line.
    pub file: &'b str,
    /// The text of the line after its head.
    pub words: &'b str,
    /// Where the line begins in the document.
    pub start: usize,
}

/// Returns the client's lines of a log, and skips all others.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = CapturedLine<'_>> {
    let mut start = 0;
    bytes.split(|byte| *byte == b'\n').filter_map(move |line| {
        let at = start;
        start += line.len() + 1;
        let line = std::str::from_utf8(line).ok()?;
        read(line).map(|line| CapturedLine { start: at, ..line })
    })
}

fn read(line: &str) -> Option<CapturedLine<'_>> {
    of_cpp(line).or_else(|| of_go(line))
}

/// Reads a line such as `2026/11/22 10:29:13 INFO: [xds] words`.
fn of_go(line: &str) -> Option<CapturedLine<'_>> {
    let (head, words) = line.split_once(": [")?;
    let from = head.find('/')?.checked_sub(4)?;
    let mut parts = head.get(from..)?.split(' ');
    let (day, time) = (parts.next()?, parts.next()?);
    let (month, day) = day.get(5..)?.split_once('/')?;
    Some(CapturedLine {
        at: micros(month.parse().ok()?, day.parse().ok()?, time)?,
        thread: "",
        file: "",
        words,
        start: 0,
    })
}

/// Returns the microseconds of a time like `10:29:13.023384` on a day. Every month counts 31 days.
fn micros(month: i64, day: i64, time: &str) -> Option<i64> {
    // Before its library is set up, C-core writes the seconds since the epoch in place of the
    // seconds of a minute.
    let number_of = |text: &str| text.parse::<i64>().ok().filter(|number| (0..1 << 40).contains(number));
    let (time, fraction) = time.split_once('.').unwrap_or((time, "000000"));
    let mut parts = time.split(':').map(number_of);
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let micros = number_of(fraction).filter(|_| fraction.len() == 6 && parts.next().is_none())?;
    Some(((((month * 31 + day) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000_000 + micros)
}

fn of_cpp(line: &str) -> Option<CapturedLine<'_>> {
    let head = line.split_once("] ")?.0;
    let ends = head.char_indices().take_while(|(at, _)| *at <= PREFIX_LOOK);
    let starts = ends.filter(|(_, c)| matches!(c, 'I' | 'W' | 'E' | 'F' | 'D'));
    starts
        .filter(|(at, _)| {
            let before = line.get(..*at).unwrap_or_default();
            !before.ends_with(|c: char| c.is_ascii_alphanumeric())
        })
        .find_map(|(at, _)| client_line(line.get(at + 1..)?))
}

/// Reads a line after the letter of its severity.
fn client_line(rest: &str) -> Option<CapturedLine<'_>> {
    let (head, words) = rest.split_once("] ")?;
    let mut parts = head.split_ascii_whitespace();
    let (day, time, thread, place) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if parts.next().is_some() || day.len() != 4 || !is_number(day) || !is_number(thread) {
        return None;
    }
    let (file, _) = place.rsplit_once(':').filter(|(_, number)| is_number(number))?;
    let (month, day) = (day.get(..2)?, day.get(2..)?);
    Some(CapturedLine {
        at: micros(month.parse().ok()?, day.parse().ok()?, time)?,
        thread,
        file,
        words,
        start: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_the_client_are_read() {
        let log = "I0102 00:00:01.000002      17 a.cc:9] chand=0x1: b] c\n\
            resources {\n\
            2026-01-02T00:00:01Z stderr F pod-1 E0102 00:00:02.500000   18 d.cc:1] e\n\
            X0102 00:00:01.000002 17 a.cc:9] no\n\
            I0102 00:00:01.000002 a.cc:9] no\nI1";
        let found: Vec<(i64, &str, &str, &str)> = lines(log.as_bytes())
            .map(|line| (line.at, line.thread, line.file, line.words))
            .collect();
        let day = 33 * 24 * 3600 * 1_000_000;
        assert_eq!(
            found,
            [
                (day + 1_000_002, "17", "a.cc", "chand=0x1: b] c"),
                (day + 2_500_000, "18", "d.cc", "e")
            ]
        );
        let go = "2026/01/02 00:00:03 INFO: [xds] [xds-client 0x1] a";
        assert_eq!(lines(go.as_bytes()).next().unwrap().at, day + 3_000_000);
        assert_eq!(lines(log.as_bytes()).nth(1).unwrap().start, log.find("2026").unwrap());
    }
}
