//! Limits how many findings of one rule are kept: enough for any reader, but not as many as a
//! hostile document causes.

use super::{Diagnostic, Rule};

/// How many findings of one rule are kept of one resource, or of one document; the rest is counted.
///
/// A document of 4 MB can make two million of them, and each takes hundreds of bytes.
pub const MAX_FINDINGS_PER_RULE: usize = 10_000;

/// How many findings of one rule are kept of any resource, however small it is.
pub const MIN_FINDINGS_PER_RULE: usize = 20;

/// The number of bytes of a resource that allow one further finding of one rule. So the findings of
/// many resources together stay in proportion to their bytes.
pub const BYTES_PER_FINDING: usize = 64;

/// Counts the findings of each rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    counts: Vec<Count>,
    /// How many findings of each rule are kept.
    limit: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Count {
    rule: &'static Rule,
    all: usize,
    kept: usize,
}

impl Default for Quota {
    fn default() -> Self {
        Quota {
            counts: Vec::new(),
            limit: MAX_FINDINGS_PER_RULE,
        }
    }
}

impl Quota {
    /// Sets the limit in proportion to a resource of `bytes` bytes.
    pub fn fit(&mut self, bytes: usize) {
        self.limit = (MIN_FINDINGS_PER_RULE + bytes / BYTES_PER_FINDING).min(MAX_FINDINGS_PER_RULE);
    }

    /// Counts a finding, and says whether it is to be kept.
    pub fn admits(&mut self, rule: &'static Rule) -> bool {
        // Few rules report anything on one resource.
        let Some(count) = self.counts.iter_mut().find(|count| std::ptr::eq(count.rule, rule)) else {
            let (all, kept) = (1, 1);
            self.counts.push(Count { rule, all, kept });
            return true;
        };
        count.all += 1;
        let is_kept = count.kept < self.limit;
        count.kept += usize::from(is_kept);
        is_kept
    }

    /// Returns how many more findings of any rule would be kept.
    pub fn room(&self) -> usize {
        let kept = self.counts.iter().map(|count| count.kept).max();
        self.limit.saturating_sub(kept.unwrap_or(0))
    }

    /// Counts `findings` findings of a rule for which there is [room](Self::room).
    pub fn keep(&mut self, rule: &'static Rule, findings: usize) {
        let of_rule = self.counts.iter_mut().filter(|count| std::ptr::eq(count.rule, rule));
        of_rule.for_each(|count| (count.all, count.kept) = (count.all + findings, count.kept + findings));
    }

    /// Returns how many findings of a rule were counted, including those that were not kept.
    pub fn counted(&self, rule: &'static Rule) -> usize {
        let of_rule = self.counts.iter().find(|count| std::ptr::eq(count.rule, rule));
        of_rule.map_or(0, |count| count.all)
    }

    /// Forgets the findings of a rule that were counted since [`counted`](Self::counted) returned
    /// `counted`. Of these, `kept` were kept.
    pub fn take_back(&mut self, rule: &'static Rule, counted: usize, kept: usize) {
        let of_rule = self.counts.iter_mut().filter(|count| std::ptr::eq(count.rule, rule));
        of_rule.for_each(|count| (count.all, count.kept) = (counted, count.kept - kept));
    }

    /// Forgets what was counted.
    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// Returns how many findings of each rule were not kept.
    pub fn omitted(&self) -> impl Iterator<Item = (&'static Rule, usize)> {
        let omitted = self.counts.iter().map(|count| (count.rule, count.all - count.kept));
        omitted.filter(|(_, count)| *count > 0)
    }

    /// Returns, for each rule with findings that were not kept, one finding that stands for them.
    pub fn closing(&self) -> impl Iterator<Item = Diagnostic> {
        let cut = self.counts.iter().filter(|count| count.all > count.kept);
        cut.map(|Count { rule, all, kept }| Diagnostic::omitted(rule, all - kept, *kept))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::examples::REJECTED;
    use super::*;

    fn kept(quota: &mut Quota, findings: usize) -> (usize, usize) {
        let kept = (0..findings).filter(|_| quota.admits(&REJECTED)).count();
        (kept, quota.closing().map(|closing| closing.count).sum())
    }

    #[test]
    fn what_is_kept_is_in_proportion_to_the_bytes() {
        for (bytes, findings, expected) in [
            (None, 10_000, (10_000, 0)),
            (None, 10_003, (10_000, 3)),
            (Some(0), 20, (20, 0)),
            (Some(0), 21, (20, 1)),
            (Some(32_000), 9_900, (520, 9_380)),
            (Some(1_000_000), 10_001, (10_000, 1)),
        ] {
            let mut quota = Quota::default();
            bytes.into_iter().for_each(|bytes| quota.fit(bytes));
            assert_eq!(kept(&mut quota, findings), expected, "{bytes:?}");
        }
    }
}
