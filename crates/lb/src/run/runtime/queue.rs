//! The queue of events, by time and then by the order of scheduling.
//!
//! Most events are due when they are scheduled, such as news of connections for a policy. They are
//! in a plain line; only the others cost a search.

use std::collections::{BTreeMap, VecDeque};

use super::{Event, Time, TimerId};

/// The events that have not happened yet.
#[derive(Debug, Default)]
pub struct Queue {
    /// Events that were due when they were scheduled; `None` in place of one that was cancelled.
    due: VecDeque<(TimerId, Option<Event>)>,
    later: BTreeMap<TimerId, Box<Event>>,
    next_sequence: u64,
    /// The event that was taken last.
    taken: Option<TimerId>,
}

impl Queue {
    /// Adds an event after all others of its time; `now` never goes back.
    pub fn add(&mut self, now: Time, at: Time, event: Event) -> TimerId {
        let id = TimerId(at, self.next_sequence);
        self.next_sequence += 1;
        if at <= now {
            self.due.push_back((id, Some(event)));
        } else {
            self.later.insert(id, Box::new(event));
        }
        id
    }

    /// Adds an event before all others, in the place of the event that was taken last.
    pub fn add_first(&mut self, event: Event) {
        if let Some(taken) = self.taken {
            self.due.push_front((taken, Some(event)));
        }
    }

    /// Adds a second event after each event that was due when it was scheduled, if `other` makes
    /// one from it.
    pub fn repeat(&mut self, other: impl Fn(&Event) -> Option<Event>) {
        for (id, event) in std::mem::take(&mut self.due) {
            let another = event.as_ref().and_then(&other);
            let both = event.into_iter().chain(another);
            self.due.extend(both.map(|event| (id, Some(event))));
        }
    }

    /// Says whether events are pending that were due when they were scheduled.
    pub fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Returns the number of events that have not happened yet.
    pub fn len(&self) -> usize {
        self.due.iter().filter(|(_, event)| event.is_some()).count() + self.later.len()
    }

    /// Removes an event, if it is still there.
    pub fn cancel(&mut self, id: TimerId) {
        if self.later.remove(&id).is_none()
            && let Ok(index) = self.due.binary_search_by_key(&id, |(id, _)| *id)
            && let Some((_, event)) = self.due.get_mut(index)
        {
            *event = None;
            self.close_gaps();
        }
    }

    /// Returns the time of the next event.
    pub fn next_time(&self) -> Option<Time> {
        self.next().map(|id| id.0)
    }

    fn next(&self) -> Option<TimerId> {
        let due = self.due.front().map(|(id, _)| *id);
        let later = self.later.first_key_value().map(|(id, _)| *id);
        due.into_iter().chain(later).min()
    }

    /// Removes and returns the next event.
    pub fn pop(&mut self) -> Option<(Time, Event)> {
        let next = self.next()?;
        self.taken = Some(next);
        if self.due.front().is_some_and(|(id, _)| *id == next) {
            let (_, event) = self.due.pop_front()?;
            self.close_gaps();
            return Some((next.0, event?));
        }
        let (_, event) = self.later.pop_first()?;
        Some((next.0, *event))
    }

    /// Removes cancelled events from the beginning of the line.
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
        let event = |number| Event::Deadline { call: number };
        let first = queue.add(0, 0, event(0));
        queue.add(0, 5, event(1));
        let gone = queue.add(0, 0, event(2));
        let late = queue.add(0, 9, event(3));
        queue.cancel(gone);
        queue.cancel(first);
        assert_eq!((queue.len(), queue.next_time()), (2, Some(5)));
        queue.add(0, 0, event(4));
        let middle = queue.add(0, 0, event(7));
        queue.add(0, 0, event(6));
        queue.cancel(middle);
        assert_eq!((queue.len(), queue.next_time()), (4, Some(0)));
        // The event takes the place of the one that is being handled.
        assert_eq!(queue.pop(), Some((0, event(4))));
        queue.add_first(event(8));
        queue.repeat(|event| (*event == Event::Deadline { call: 6 }).then_some(Event::Deadline { call: 9 }));
        assert!(queue.has_due());
        // The event comes at its time, after events that were already scheduled for the same time.
        queue.add(5, 5, event(5));
        queue.cancel(late);
        let mut order = Vec::new();
        while let Some((time, Event::Deadline { call })) = queue.pop() {
            order.push((time, call));
        }
        assert_eq!(order, [(0, 8), (0, 6), (0, 9), (5, 1), (5, 5)]);
    }
}
