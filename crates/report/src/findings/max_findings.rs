//! `--max-findings`: so many findings of each severity are handed out, and the others are counted.

use std::collections::BTreeMap;

use xdsctl_model::diag::Severity;

/// How many findings may still be handed out.
#[derive(Debug)]
pub(super) struct MaxFindings {
    /// Findings of a severity at most; `None` for all.
    max: Option<usize>,
    left: BTreeMap<Severity, usize>,
    /// Findings that were wanted and not handed out.
    pub beyond: usize,
}

impl MaxFindings {
    /// Nothing is handed out yet.
    pub const fn new(max: Option<usize>) -> Self {
        MaxFindings {
            max,
            left: BTreeMap::new(),
            beyond: 0,
        }
    }

    /// How many of the wanted findings are handed out.
    pub fn take(&mut self, wanted: usize, severity: Severity) -> usize {
        let Some(max) = self.max else { return wanted };
        let left = self.left.entry(severity).or_insert(max);
        let taken = wanted.min(*left);
        *left -= taken;
        self.beyond += wanted - taken;
        taken
    }
}
