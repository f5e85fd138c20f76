//! The queue of events, by time and then by the order of scheduling.
//!
//! Most events are due at the moment when they are scheduled: what a policy hears of its connections. They stand in line;
//! only the others cost a search.

use std::collections::{BTreeMap, VecDeque};

use super::{Event, Time, TimerId};
use crate::lb::policy::{TreePath, What};

/// Events of a part of the line: a long line never moves as a whole to where there is more room.
const PART: usize = 256;

/// Events that have not happened yet.
#[derive(Debug, Default)]
pub struct Queue {
    due: Line,
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

/// Events that were due when they were scheduled, in order; what is taken out of its middle leaves a gap.
#[derive(Debug, Default)]
struct Line {
    /// Only a lone one may be empty.
    parts: VecDeque<VecDeque<(TimerId, Option<Event>)>>,
}

impl Line {
    fn push_back(&mut self, id: TimerId, event: Event) {
        if self.parts.back().is_none_or(|part| part.len() >= PART) {
            // Most lines are short; behind a part comes another whole one.
            let room = if self.parts.is_empty() { 0 } else { PART };
            self.parts.push_back(VecDeque::with_capacity(room));
        }
        if let Some(part) = self.parts.back_mut() {
            part.push_back((id, Some(event)));
        }
    }

    fn push_front(&mut self, id: TimerId, event: Event) {
        match self.parts.front_mut() {
            Some(part) if part.len() < PART => part.push_front((id, Some(event))),
            _ => self.parts.push_front(VecDeque::from([(id, Some(event))])),
        }
    }

    fn front(&self) -> Option<TimerId> {
        Some(self.parts.front()?.front()?.0)
    }

    /// Takes the first event out, and the gaps behind it.
    fn pop_front(&mut self) -> Option<(TimerId, Option<Event>)> {
        let first = self.take_first();
        self.close_gaps();
        first
    }

    fn take_first(&mut self) -> Option<(TimerId, Option<Event>)> {
        let part = self.parts.front_mut()?;
        let first = part.pop_front();
        // A short line keeps its room.
        if part.is_empty() && self.parts.len() > 1 {
            self.parts.pop_front();
        }
        first
    }

    /// Leaves a gap where this event was.
    fn remove(&mut self, id: TimerId) {
        let place = self
            .parts
            .partition_point(|part| part.back().is_some_and(|(last, _)| *last < id));
        let Some(part) = self.parts.get_mut(place) else {
            return;
        };
        if let Ok(index) = part.binary_search_by_key(&id, |(id, _)| *id)
            && let Some((_, event)) = part.get_mut(index)
        {
            *event = None;
        }
        self.close_gaps();
    }

    fn close_gaps(&mut self) {
        while self
            .parts
            .front()
            .and_then(VecDeque::front)
            .is_some_and(|(_, event)| event.is_none())
        {
            self.take_first();
        }
    }

    fn len(&self) -> usize {
        self.parts.iter().flatten().filter(|(_, event)| event.is_some()).count()
    }
}

impl Queue {
    /// Adds an event after all of its time; `now` never goes back.
    pub fn add(&mut self, now: Time, at: Time, event: Event) -> TimerId {
        let id = TimerId(at, self.next_sequence);
        self.next_sequence += 1;
        if at <= now {
            self.due.push_back(id, event);
        } else {
            self.later.insert(id, Later::of(event));
        }
        id
    }

    /// Adds an event in the place of the one that was taken last: before all others.
    pub fn add_first(&mut self, event: Event) {
        if let Some(taken) = self.taken {
            self.due.push_front(taken, event);
        }
    }

    /// Adds another event behind each that was due when it was scheduled, where `other` makes one of it.
    pub fn repeat(&mut self, other: impl Fn(&Event) -> Option<Event>) {
        let due = std::mem::take(&mut self.due);
        for (id, event) in due.parts.into_iter().flatten() {
            let another = event.as_ref().and_then(&other);
            for event in event.into_iter().chain(another) {
                self.due.push_back(id, event);
            }
        }
    }

    /// Says whether events wait that were due when they were scheduled.
    pub fn has_due(&self) -> bool {
        self.due.front().is_some()
    }

    /// Events that have not happened yet.
    pub fn len(&self) -> usize {
        self.due.len() + self.later.len()
    }

    /// Takes an event out, if it is still there.
    pub fn cancel(&mut self, id: TimerId) {
        if self.later.remove(&id).is_none() {
            self.due.remove(id);
        }
    }

    /// The time of the next event.
    pub fn next_time(&self) -> Option<Time> {
        let due = self.due.front().map(|id| id.0);
        let later = self.later.first_key_value().map(|(id, _)| id.0);
        due.into_iter().chain(later).min()
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(Time, Event)> {
        let due = self.due.front();
        let later = self.later.first_key_value().map(|(id, _)| *id);
        if due.is_some_and(|due| later.is_none_or(|later| due < later)) {
            let (id, event) = self.due.pop_front()?;
            self.taken = Some(id);
            return Some((id.0, event?));
        }
        let (id, event) = self.later.pop_first()?;
        self.taken = Some(id);
        Some((id.0, event.event()))
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
        let room: usize = queue.due.parts.iter().map(VecDeque::capacity).sum();
        assert!(room <= PART, "{room}");
    }

    /// Compared with a list that is searched: events at both ends and out of the middle of several parts.
    #[test]
    fn a_line_of_several_parts_is_one_line() {
        let mut random = crate::rng::Rng::stream(7, "line");
        let (mut queue, mut expected, mut waiting) = (Queue::default(), VecDeque::new(), Vec::new());
        let mut most = 0;
        for number in 0..20_000 {
            match random.below(if number < 12_000 { 12 } else { 30 }) {
                0..=7 => {
                    waiting.push((queue.add(0, 0, Event::Owner(number, 0)), number));
                    expected.push_back(number);
                }
                8 => {
                    if queue.taken.is_some() {
                        queue.add_first(Event::Owner(number, 0));
                        expected.push_front(number);
                    }
                }
                9 | 10 if !waiting.is_empty() => {
                    let place = random.index(waiting.len());
                    let (id, number) = waiting.swap_remove(place);
                    queue.cancel(id);
                    expected.retain(|other| *other != number);
                }
                _ => {
                    let popped = queue.pop().map(|(_, event)| event);
                    let first = expected.pop_front();
                    assert_eq!(popped, first.map(|number| Event::Owner(number, 0)));
                    waiting.retain(|(_, number)| Some(*number) != first);
                }
            }
            most = most.max(queue.due.parts.len());
            assert_eq!(queue.has_due(), !expected.is_empty());
        }
        assert_eq!(queue.len(), expected.len());
        assert!(most > 4, "{most}");
    }
}
