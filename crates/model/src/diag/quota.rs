//! How many findings of one rule are kept: enough for any reader, and not as many as a hostile
//! document asks for.

use super::{Diagnostic, Rule};

/// Findings of one rule that are kept of one resource, or of one document; the rest is counted.
///
/// A document of 4 MB can make two million of them, and each takes hundreds of bytes.
pub const MAX_FINDINGS_PER_RULE: usize = 10_000;

/// Findings of one rule that are kept of any resource, however small it is.
pub const MIN_FINDINGS_PER_RULE: usize = 20;

/// Bytes of a resource for each further finding of one rule: many resources stay in proportion to
/// their bytes together.
pub const BYTES_PER_FINDING: usize = 64;

/// How many findings there have been of each rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    counts: Vec<Count>,
    /// How many of each are kept.
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
    /// Keeps, from now on, what is in proportion to a resource of so many bytes.
    pub fn fit(&mut self, bytes: usize) {
        self.limit = (MIN_FINDINGS_PER_RULE + bytes / BYTES_PER_FINDING).min(MAX_FINDINGS_PER_RULE);
    }

    /// Counts a finding; says whether it is to be kept.
    pub fn admits(&mut self, rule: &'static Rule) -> bool {
        // Few rules report anything of one resource.
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

    /// How many more of any rule would be kept.
    pub fn room(&self) -> usize {
        let kept = self.counts.iter().map(|count| count.kept).max();
        self.limit.saturating_sub(kept.unwrap_or(0))
    }

    /// Counts so many findings of a rule for which there is [room](Self::room).
    pub fn keep(&mut self, rule: &'static Rule, findings: usize) {
        let of_rule = self.counts.iter_mut().filter(|count| std::ptr::eq(count.rule, rule));
        of_rule.for_each(|count| (count.all, count.kept) = (count.all + findings, count.kept + findings));
    }

    /// Forgets what was counted.
    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// How many findings of each rule were not kept.
    pub fn omitted(&self) -> impl Iterator<Item = (&'static Rule, usize)> {
        let omitted = self.counts.iter().map(|count| (count.rule, count.all - count.kept));
        omitted.filter(|(_, count)| *count > 0)
    }

    /// A finding for each rule that stands for those that were not kept.
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
