//! Runs of list elements with the same findings: these are kept once, with the number of elements.

use super::super::Path;
use super::{COMPARED, PackedList, split_path};
use crate::diag::path::packed::{push_number, split_number};

/// The findings of a list element, if they can be repeated for other elements: a number that only
/// its [`Validation`](crate::diag::Validation) understands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PackedPattern(usize);

/// The findings of an element: for each its path from the element on, and its group.
type Pattern = Vec<(Box<[u8]>, usize)>;

/// Neighbouring elements of a list with the same findings.
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

/// The last run, as long as it may continue.
#[derive(Debug, Clone)]
struct OpenRun {
    /// The number of the list.
    list: usize,
    /// How many more elements can be added before findings are only counted.
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

    /// Adds the next element to the last run. Says whether it did: the element may not continue the
    /// run.
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
    /// Returns how many bytes the list has, to ask later what was added.
    pub(in super::super) const fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Returns what was added after the first `size` bytes, which must be all findings of the
    /// element at `at`. Returns `None` if that cannot be repeated for other elements.
    pub(in super::super) fn pattern(&mut self, size: usize, at: &Path<'_>) -> Option<PackedPattern> {
        // Some findings may have been counted only.
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
            // A shared beginning is only known if it is part of the path of this element.
            path.get(..shared)?;
            rest = split_path(after, &mut path)?;
            pattern.push((path.get(way..)?.into(), group.checked_sub(1)?));
        }
        Some(self.runs.number(pattern))
    }

    /// Repeats the findings of a pattern for the element at `at` of the list with this number. Says
    /// whether it did: it does not if some findings would only be counted.
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

    /// Ends the last run and counts its findings, before anything else than its next element is
    /// packed. Says whether there was an open run.
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

/// An iterator over the places of all runs.
#[derive(Default)]
pub(super) struct RunPlaces<'p> {
    patterns: &'p [Pattern],
    runs: std::slice::Iter<'p, Run>,
    /// The run that is being read.
    run: Option<&'p Run>,
    /// The index of the current element in the run, and how many of its findings were read.
    at: (usize, usize),
}

impl RunPlaces<'_> {
    /// Begins to read the next run.
    pub(super) fn begin(&mut self) -> Option<()> {
        (self.run, self.at) = (Some(self.runs.next()?), (0, 0));
        Some(())
    }

    /// Returns the group of the next finding in the run, and puts its path in `path`; `None` at the
    /// end of the run.
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
