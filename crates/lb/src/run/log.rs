//! The log of a channel: the events of policies, connections and RPCs that a timeline is made of.
//!
//! Nothing is logged unless somebody listens; then each event costs an entry.

use std::fmt;
use std::sync::Arc;

use super::policy::TreePath;
use super::runtime::Time;

mod event;

pub use event::LogEvent;

/// An event of a channel: when it happened, and in which policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// The time, in milliseconds.
    pub at: Time,
    /// The policy's place in the tree; empty for an event that is not a policy's.
    pub place: TreePath,
    /// The event.
    pub event: LogEvent,
}

/// A detail of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// A name, an address, a state.
    Text(Arc<str>),
    /// A number, or milliseconds.
    Number(i64),
    /// True or false.
    Flag(bool),
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Detail::Text(text) => f.write_str(text),
            Detail::Number(number) => write!(f, "{number}"),
            Detail::Flag(flag) => write!(f, "{flag}"),
        }
    }
}

/// How many entries are kept until somebody takes them, some 200 bytes each.
pub const MAX_ENTRIES: usize = 1_000_000;

/// The details of an event, by name.
pub type Details = Vec<(&'static str, Detail)>;

/// The events since somebody last took them. Nothing is kept if nobody listens.
#[derive(Debug, Default)]
pub struct Log {
    told: Option<Vec<LogEntry>>,
    /// The number of entries that were not kept.
    left_out: u64,
}

impl Log {
    /// Keeps events from now on.
    pub fn listen(&mut self) {
        self.told.get_or_insert_default();
    }

    /// Says whether somebody listens.
    pub const fn is_on(&self) -> bool {
        self.told.is_some()
    }

    /// Adds an event, if somebody listens; `event` is not called otherwise.
    pub fn tell(&mut self, at: Time, place: &TreePath, event: impl FnOnce() -> LogEvent) {
        let Some(told) = &mut self.told else { return };
        if told.len() >= MAX_ENTRIES {
            self.left_out += 1;
            return;
        }
        let place = place.clone();
        told.push(LogEntry {
            at,
            place,
            event: event(),
        });
    }

    /// Returns the events since the last call, and how many more were not kept.
    pub fn take(&mut self) -> (Vec<LogEntry>, u64) {
        let told = self.told.as_mut().map(std::mem::take).unwrap_or_default();
        (told, std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_limit_is_counted() {
        let mut log = Log::default();
        log.listen();
        for at in 0..MAX_ENTRIES + 2 {
            log.tell(at as Time, &TreePath::default(), || LogEvent::Swept {});
        }
        let (told, left_out) = log.take();
        assert_eq!((told.len(), left_out), (MAX_ENTRIES, 2));
        log.tell(0, &TreePath::default(), || LogEvent::Swept {});
        assert_eq!(log.take().0.len(), 1);
    }
}
