//! The queue of events, by time and then by the order of scheduling.
//!
//! Most events are due at the moment when they are scheduled: what a policy hears of its connections. They stand in line;
//! only the others cost a search.

use std::collections::{BTreeMap, VecDeque};

use super::{Event, Time, TimerId};
use crate::lb::policy::{TreePath, What};

/// Room for so many events is never given back.
const KEPT_ROOM: usize = 1024;

/// Events that have not happened yet.
#[derive(Debug, Default)]
pub struct Queue {
    /// Those that were due when they were scheduled, in order; the first one is never a gap.
    due: VecDeque<(TimerId, Option<Event>)>,
    later: BTreeMap<TimerId, Later>,
    next_sequence: u64,
    /// The event that was taken last.
    taken: Option<TimerId>,
}

/// An event that waits, in little space: all back-offs of a large cluster wait at the same time.
#[derive(Debug)]
enum Later {
    Policy(Box<(TreePath, What)>),
    BackoffOver(u32, u32),
    Owner(u64, u64),
}

impl Later {
    fn of(event: Event) -> Later {
        match event {
            Event::Policy(at, what) => Later::Policy(Box::new((at, what))),
            Event::BackoffOver(subchannel, generation) => Later::BackoffOver(subchannel, generation),
            Event::Owner(first, second) => Later::Owner(first, second),
        }
    }

    fn event(self) -> Event {
        match self {
            Later::Policy(parts) => Event::Policy(parts.0, parts.1),
            Later::BackoffOver(subchannel, generation) => Event::BackoffOver(subchannel, generation),
            Later::Owner(first, second) => Event::Owner(first, second),
        }
    }
}

impl Queue {
    /// Adds an event after all of its time; `now` never goes back.
    pub fn add(&mut self, now: Time, at: Time, event: Event) -> TimerId {
        let id = TimerId(at, self.next_sequence);
        self.next_sequence += 1;
        if at <= now {
            self.due.push_back((id, Some(event)));
        } else {
            self.later.insert(id, Later::of(event));
        }
        id
    }

    /// Adds an event in the place of the one that was taken last: before all others.
    pub fn add_first(&mut self, event: Event) {
        if let Some(taken) = self.taken {
            self.due.push_front((taken, Some(event)));
        }
    }

    /// Adds another event behind each that was due when it was scheduled, where `other` makes one of it.
    pub fn repeat(&mut self, other: impl Fn(&Event) -> Option<Event>) {
        let due = std::mem::take(&mut self.due);
        for (id, event) in due {
            let another = event.as_ref().and_then(&other);
            self.due.push_back((id, event));
            self.due.extend(another.map(|event| (id, Some(event))));
        }
    }

    /// Says whether events wait that were due when they were scheduled.
    pub fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Events that have not happened yet.
    pub fn len(&self) -> usize {
        self.due.iter().filter(|(_, event)| event.is_some()).count() + self.later.len()
    }

    /// Takes an event out, if it is still there.
    pub fn cancel(&mut self, id: TimerId) {
        if self.later.remove(&id).is_some() {
            return;
        }
        if let Ok(index) = self.due.binary_search_by_key(&id, |(id, _)| *id)
            && let Some((_, event)) = self.due.get_mut(index)
        {
            *event = None;
            self.close_gaps();
        }
    }

    /// The time of the next event.
    pub fn next_time(&self) -> Option<Time> {
        let due = self.due.front().map(|(id, _)| id.0);
        let later = self.later.first_key_value().map(|(id, _)| id.0);
        due.into_iter().chain(later).min()
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(Time, Event)> {
        let due = self.due.front().map(|(id, _)| *id);
        let later = self.later.first_key_value().map(|(id, _)| *id);
        if due.is_some_and(|due| later.is_none_or(|later| due < later)) {
            let (id, event) = self.due.pop_front()?;
            self.taken = Some(id);
            self.close_gaps();
            // A large cluster that begins to connect fills it once.
            if self.due.capacity() > KEPT_ROOM && self.due.len() < self.due.capacity() / 4 {
                self.due.shrink_to(self.due.capacity() / 2);
            }
            return Some((id.0, event?));
        }
        let (id, event) = self.later.pop_first()?;
        self.taken = Some(id);
        Some((id.0, event.event()))
    }

    fn close_gaps(&mut self) {
        while self.due.front().is_some_and(|(_, event)| event.is_none()) {
            self.due.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_in_order() {
        let mut queue = Queue::default();
        let event = |number| Event::Owner(number, 0);
        let first = queue.add(0, 0, event(0));
        queue.add(0, 5, event(1));
        let gone = queue.add(0, 0, event(2));
        let late = queue.add(0, 9, event(3));
        queue.cancel(gone);
        queue.cancel(first);
        assert_eq!(queue.next_time(), Some(5));
        queue.add(0, 0, event(4));
        assert_eq!(queue.next_time(), Some(0));
        // In the place of one that is being worked off.
        assert_eq!(queue.pop(), Some((0, event(4))));
        queue.add(0, 0, event(6));
        queue.add_first(event(7));
        queue.repeat(|event| (*event == Event::Owner(6, 0)).then_some(Event::Owner(8, 0)));
        // Scheduled at its time, and after what was to come then.
        queue.add(5, 5, event(5));
        queue.cancel(late);
        let mut order = Vec::new();
        while let Some((time, Event::Owner(number, _))) = queue.pop() {
            order.push((time, number));
        }
        assert_eq!(order, [(0, 7), (0, 6), (0, 8), (5, 1), (5, 5)]);
    }

    #[test]
    fn a_queue_that_was_long_gives_its_room_back() {
        let mut queue = Queue::default();
        for number in 0..100_000 {
            queue.add(0, 0, Event::Owner(number, 0));
        }
        for number in 0..100_000 {
            assert_eq!(queue.pop(), Some((0, Event::Owner(number, 0))));
        }
        assert!(queue.due.capacity() <= 2 * KEPT_ROOM, "{}", queue.due.capacity());
    }
}
