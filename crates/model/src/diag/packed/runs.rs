//! Elements of a list of which the same is said: what is said is kept once, and how many there are.

use super::super::Path;
use super::{COMPARED, PackedList, split_path};
use crate::diag::path::packed::{push_number, split_number};

/// What is said of an element of a list, and can be said of others: a number of what its
/// [`Validation`](crate::diag::Validation) keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PackedPattern(usize);

/// The fields of an element of which something is said: each with its path from the element on, and
/// its group.
type Pattern = Vec<(Box<[u8]>, usize)>;

/// Neighbours in a list of which the same is said.
#[derive(Debug, Clone)]
struct Run {
    pattern: PackedPattern,
    /// The packed path of the list.
    way: Box<[u8]>,
    first: usize,
    count: usize,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Runs {
    patterns: Vec<Pattern>,
    runs: Vec<Run>,
    open: Option<OpenRun>,
}

/// The last run may go on.
#[derive(Debug, Clone)]
struct OpenRun {
    /// The number of the list.
    list: usize,
    /// So many more elements are kept.
    room: usize,
}

impl Runs {
    pub(super) fn places(&self) -> RunPlaces<'_> {
        RunPlaces {
            patterns: &self.patterns,
            runs: self.runs.iter(),
            ..RunPlaces::default()
        }
    }

    fn number(&mut self, pattern: Pattern) -> PackedPattern {
        let mut known = self.patterns.iter().enumerate().rev().take(COMPARED);
        let known = known.find(|(_, known)| **known == pattern).map(|(number, _)| number);
        PackedPattern(known.unwrap_or_else(|| {
            self.patterns.push(pattern);
            self.patterns.len() - 1
        }))
    }

    /// Adds the next element of the last run; says whether it is that.
    fn go_on(&mut self, pattern: PackedPattern, position: usize, list: usize) -> bool {
        let (Some(open), Some(run)) = (&mut self.open, self.runs.last_mut()) else {
            return false;
        };
        let is_next = run.pattern == pattern && run.first + run.count == position && open.list == list;
        let goes_on = is_next && open.room > 0;
        if goes_on {
            run.count += 1;
            open.room -= 1;
        }
        goes_on
    }
}

impl PackedList {
    /// How many bytes there are, to ask later for what was added.
    pub(in super::super) const fn size(&self) -> usize {
        self.bytes.len()
    }

    /// What was added after so many bytes, which is all of the element at `at`; `None` if that cannot
    /// be said of others.
    pub(in super::super) fn pattern(&mut self, size: usize, at: &Path<'_>) -> Option<PackedPattern> {
        // Some of it may only have been counted.
        if self.clients.iter().any(|client| client.quota.room() == 0) {
            return None;
        }
        let mut path = Vec::new();
        at.pack(&mut path);
        let way = path.len();
        let mut rest = self.bytes.get(size..)?;
        let mut pattern = Pattern::new();
        while let Some((group, after)) = split_number(rest) {
            let (shared, _) = split_number(after)?;
            // What was added before may be of the same element.
            path.get(..shared)?;
            rest = split_path(after, &mut path)?;
            pattern.push((path.get(way..)?.into(), group.checked_sub(1)?));
        }
        Some(self.runs.number(pattern))
    }

    /// Adds what is said of an element of the list of this number; says whether it did: not if some
    /// of it would only be counted.
    pub(in super::super) fn repeat(&mut self, number: PackedPattern, (at, list): (&Path<'_>, usize)) -> bool {
        let each = self.runs.patterns.get(number.0).map(Vec::len);
        let (Some(each), Some(position)) = (each, at.position()) else {
            return false;
        };
        if each == 0 || self.runs.go_on(number, position, list) {
            return true;
        }
        self.end_run();
        let room = self.clients.iter().map(|client| client.quota.room() / each).min();
        let Some(room) = room.and_then(|room| room.checked_sub(1)) else {
            return false;
        };
        let mut way = Vec::new();
        at.pack_parent(&mut way);
        self.runs.runs.push(Run {
            pattern: number,
            way: way.into(),
            first: position,
            count: 1,
        });
        self.runs.open = Some(OpenRun { list, room });
        push_number(&mut self.bytes, 0);
        true
    }

    /// Counts what the last run says, before something else is packed than its next element. Says
    /// whether it could have gone on.
    pub(super) fn end_run(&mut self) -> bool {
        let Some(run) = self.runs.open.take().and_then(|_| self.runs.runs.last()) else {
            return false;
        };
        let pattern = self.runs.patterns.get(run.pattern.0).into_iter().flatten();
        for (_, group) in pattern {
            let Some(group) = self.groups.get_mut(*group) else {
                continue;
            };
            group.count += run.count;
            let of_each = self.clients.iter_mut().zip(group.texts);
            for (client, text) in of_each.filter(|(_, text)| *text > 0) {
                if let Some(rule) = client.count(text, run.count) {
                    client.quota.keep(rule, run.count);
                }
            }
        }
        true
    }
}

/// The places of all runs, one after the other.
#[derive(Default)]
pub(super) struct RunPlaces<'p> {
    patterns: &'p [Pattern],
    runs: std::slice::Iter<'p, Run>,
    /// The run that is gone through.
    run: Option<&'p Run>,
    /// The element in it, from 0, and how many of its fields were gone through.
    at: (usize, usize),
}

impl RunPlaces<'_> {
    /// Begins with the next run.
    pub(super) fn begin(&mut self) -> Option<()> {
        (self.run, self.at) = (Some(self.runs.next()?), (0, 0));
        Some(())
    }

    /// The group of the next finding in the run, whose path is put in `path`; `None` at its end.
    pub(super) fn next(&mut self, path: &mut Vec<u8>) -> Option<usize> {
        let run = self.run?;
        let pattern = self.patterns.get(run.pattern.0)?;
        if self.at.1 == pattern.len() {
            self.at = (self.at.0 + 1, 0);
        }
        if self.at.0 == run.count {
            self.run = None;
            return None;
        }
        let (own, group) = pattern.get(self.at.1)?;
        self.at.1 += 1;
        path.clear();
        path.extend_from_slice(&run.way);
        Path::ROOT.index(run.first + self.at.0).pack_last(path);
        path.extend_from_slice(own);
        Some(*group)
    }
}
