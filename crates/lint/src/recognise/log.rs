//! What a whole log tells: each fault once, with how often, and when first and last.
//!
//! The log is read as a stream; what is kept of it does not grow with it, but for a bounded number
//! of faults.

use std::collections::HashMap;

use super::records::{Record, Records};
use super::{Page, Recognised, of_record};
use xdsctl_model::resource::ResourceType;

/// Most faults that are told apart.
const MAX_FAULTS: usize = 1000;

/// Longest line that is kept in memory, in bytes; a longer one goes on as another.
const MAX_LINE_BYTES: usize = 1 << 20;

/// A place in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPlace {
    /// The number of the line that tells it, from 1; of several lines that are one the first.
    pub line: usize,
    /// The time, as the log has it; `None` if it has none.
    pub time: Option<String>,
}

/// One fault of a log.
#[derive(Debug, Clone)]
pub struct Summary {
    /// What was told of it first.
    pub told: Recognised,
    /// How often it was told.
    pub count: usize,
    /// Where it was told first.
    pub first: LogPlace,
    /// Where it was told last.
    pub last: LogPlace,
}

/// What makes two messages the same: the resource, the place, the pages, and the words but for
/// their numbers.
type FaultKey = (
    Option<&'static str>,
    Option<String>,
    Option<String>,
    Vec<&'static str>,
    String,
);

/// Reads a log, piece by piece.
///
/// ```
/// let mut log = xdsctl_lint::recognise::Log::default();
/// log.push(b"2026/11/22 10:00:00 rpc error: code = Unavailable desc = no children to pick from\n");
/// log.push(b"2026/11/22 10:00:05 rpc error: code = Unavailable desc = no children to pick from\n");
/// let (faults, _) = log.finish();
/// assert_eq!((faults.len(), faults[0].count), (1, 2));
/// assert_eq!(faults[0].last.time.as_deref(), Some("2026/11/22 10:00:05"));
/// ```
#[derive(Debug, Default)]
pub struct Log {
    records: Records,
    /// The line that has not ended.
    rest: Vec<u8>,
    found: FoundFaults,
}

/// What was found so far.
#[derive(Debug, Default)]
struct FoundFaults {
    faults: Vec<Summary>,
    numbers: HashMap<FaultKey, usize>, // never iterated
    /// Messages of faults beyond the limit.
    left_out: usize,
}

impl Log {
    /// Takes the next bytes.
    pub fn push(&mut self, mut bytes: &[u8]) {
        let Log { records, rest, found } = self;
        let mut line = |line: &[u8]| {
            let line = String::from_utf8_lossy(line);
            records.push(line.trim_end_matches(['\n', '\r']), &mut |record| found.add(&record));
        };
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            let (head, tail) = bytes.split_at(at + 1);
            if rest.is_empty() {
                line(head);
            } else {
                rest.extend_from_slice(head);
                line(rest);
                rest.clear();
            }
            bytes = tail;
        }
        rest.extend_from_slice(bytes);
        if rest.len() > MAX_LINE_BYTES {
            line(rest);
            rest.clear();
        }
    }

    /// The faults in the order in which they came, and how many messages of others were left out.
    pub fn finish(mut self) -> (Vec<Summary>, usize) {
        if !self.rest.is_empty() {
            self.push(b"\n");
        }
        let Log { records, found, .. } = &mut self;
        records.finish(&mut |record| found.add(&record));
        (self.found.faults, self.found.left_out)
    }
}

impl FoundFaults {
    fn add(&mut self, record: &Record) {
        for (line, told) in of_record(record) {
            // Words that are anybody's are no fault in a log.
            if told.pages.is_empty() && told.path.is_none() && told.resource_name.is_none() {
                continue;
            }
            let seen = LogPlace {
                line,
                time: record.time.clone(),
            };
            let key = key(&told);
            if let Some(summary) = self.numbers.get(&key).and_then(|number| self.faults.get_mut(*number)) {
                summary.count += 1;
                summary.last = seen;
            } else if self.faults.len() < MAX_FAULTS {
                self.numbers.insert(key, self.faults.len());
                self.faults.push(Summary {
                    told,
                    count: 1,
                    first: seen.clone(),
                    last: seen,
                });
            } else {
                self.left_out += 1;
            }
        }
    }
}

fn key(told: &Recognised) -> FaultKey {
    let is_symptom = matches!(told.pages.first().map(|lead| lead.page), Some(Page::Symptom(_)));
    let words = match (is_symptom, told.pages.first()) {
        // A symptom is the same at whatever address and time.
        (true, _) => String::new(),
        // A fault has a place.
        (false, Some(lead)) if told.path.is_some() || told.resource_name.is_some() => lead.words.concat(),
        (false, _) => told.words.chars().filter(|c| !c.is_ascii_digit()).collect(),
    };
    (
        told.resource_type.map(ResourceType::short_name),
        told.resource_name.clone(),
        told.path.clone(),
        told.pages.iter().map(super::Lead::id).collect(),
        words,
    )
}
