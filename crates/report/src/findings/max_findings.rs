//! `--max-findings`: only this many findings of each severity are passed on; the others are
//! counted.

use std::collections::BTreeMap;

use xdsctl_model::diag::Severity;

/// How many findings may still be passed on.
#[derive(Debug)]
pub(super) struct MaxFindings {
    /// Most findings of each severity; `None` for no limit.
    max: Option<usize>,
    left: BTreeMap<Severity, usize>,
    /// How many findings were wanted but not passed on.
    pub beyond: usize,
}

impl MaxFindings {
    /// Starts with the full number for each severity.
    pub const fn new(max: Option<usize>) -> Self {
        MaxFindings {
            max,
            left: BTreeMap::new(),
            beyond: 0,
        }
    }

    /// Returns how many of the wanted findings are passed on.
    pub fn take(&mut self, wanted: usize, severity: Severity) -> usize {
        let Some(max) = self.max else { return wanted };
        let left = self.left.entry(severity).or_insert(max);
        let taken = wanted.min(*left);
        *left -= taken;
        self.beyond += wanted - taken;
        taken
    }
}
