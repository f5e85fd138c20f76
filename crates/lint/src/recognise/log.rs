//! Summary of a whole log: each fault once, with its number of occurrences, the first and the last.
//!
//! The log is read as a stream. Memory does not grow with it, apart from a bounded number of
//! faults.

use std::collections::HashMap;

use super::records::{Record, Records};
use super::{Page, Recognised, of_record};
use xdsctl_model::resource::ResourceType;

/// Most faults that are counted separately.
const MAX_FAULTS: usize = 1000;

/// Longest line that is kept in memory, in bytes; the rest of a longer one counts as another line.
const MAX_LINE_BYTES: usize = 1 << 20;

/// A place in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPlace {
    /// Number of the line, from 1. If several lines belong together, it is the first.
    pub line: usize,
    /// The time, as it is written in the log; `None` if there is none.
    pub time: Option<String>,
}

/// A fault that a log reports once or many times.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The first message about the fault.
    pub told: Recognised,
    /// Number of messages about the fault.
    pub count: usize,
    /// Place of the first message.
    pub first: LogPlace,
    /// Place of the last message.
    pub last: LogPlace,
}

/// The properties that two messages about the same fault share: type and name of the resource,
/// path, pages, and the words without their numbers.
type FaultKey = (
    Option<&'static str>,
    Option<String>,
    Option<String>,
    Vec<&'static str>,
    String,
);

/// Reads a log piece by piece.
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
    /// The line that has not ended yet.
    rest: Vec<u8>,
    found: FoundFaults,
}

/// The faults so far.
#[derive(Debug, Default)]
struct FoundFaults {
    faults: Vec<Summary>,
    numbers: HashMap<FaultKey, usize>, // never iterated
    /// Number of messages about faults above the limit.
    left_out: usize,
}

impl Log {
    /// Reads the next bytes.
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

    /// Returns the faults in the order of their first messages, and how many messages about other
    /// faults were left out.
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
            // Words that could be anybody's do not make a fault in a log.
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
        // A symptom is the same for all addresses and times.
        (true, _) => String::new(),
        // A fault with a path or a resource is identified by that, so its mark is enough.
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
