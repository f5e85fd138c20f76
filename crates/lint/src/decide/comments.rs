//! Which suppressions in the comments of a document apply to a line, and the limit on the
//! comparisons that this takes.

use std::collections::BTreeMap;

use super::SuppressionInput;
use crate::choice::SuppressionPlace;
use xdsctl_document::source::SourceId;

/// Most comparisons of findings with suppressions in one run.
pub(super) const MAX_STEPS: usize = 5_000_000;

/// How many bytes of a name or a path count as one comparison.
pub(super) const BYTES_A_STEP: usize = 32;

/// How many comparisons have been made.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommentSteps(pub usize);

impl CommentSteps {
    pub const fn take(&mut self, steps: usize) {
        self.0 = self.0.saturating_add(steps);
    }

    pub const fn is_over(self) -> bool {
        self.0 > MAX_STEPS
    }
}

/// The suppressions in the comments of a document, by their lines.
#[derive(Debug, Default)]
pub(super) struct Comments {
    /// The suppressions that apply to a single line, by that line.
    single: BTreeMap<usize, Vec<usize>>,
    /// First line, last line and number of each suppression that applies to several lines, by the
    /// first line.
    long: Vec<(usize, usize, usize)>,
}

impl Comments {
    /// Collects the suppressions in comments that have not expired, by document.
    pub fn of_all(choice: &SuppressionInput<'_>) -> BTreeMap<SourceId, Comments> {
        let mut all: BTreeMap<SourceId, Comments> = BTreeMap::new();
        for (number, suppression) in choice.suppressions.iter().enumerate() {
            let SuppressionPlace::Comment(lines) = &suppression.written else {
                continue;
            };
            if suppression.is_expired(choice.today) {
                continue;
            }
            let comments = all.entry(suppression.source).or_default();
            match lines.start() == lines.end() {
                true => comments.single.entry(*lines.start()).or_default().push(number),
                false => comments.long.push((*lines.start(), *lines.end(), number)),
            }
        }
        all.values_mut().for_each(|comments| comments.long.sort_unstable());
        all
    }

    /// Returns the suppressions that apply to a line, in their order.
    pub fn at(&self, line: usize, steps: &mut CommentSteps) -> Vec<usize> {
        let end = self.long.partition_point(|(first, ..)| *first <= line);
        let single = self.single.get(&line).map_or(&[][..], Vec::as_slice);
        steps.take(1 + end / 8 + single.len());
        if steps.is_over() {
            return Vec::new();
        }
        let long = self.long.get(..end).unwrap_or_default().iter();
        let long = long.filter(|(_, last, _)| *last >= line).map(|(.., number)| *number);
        let mut at: Vec<usize> = single.iter().copied().chain(long).collect();
        at.sort_unstable();
        at
    }
}
