//! How many findings of many resources are kept together, because a hostile document may have very
//! many small resources.
//!
//! A [`Quota`](super::Quota) looks at one resource and is generous with small ones. A [`Budget`] is
//! for the resources of one batch of the loader: it grows with their bytes, and what is beyond is
//! counted, resource by resource. Of each rule and effect the first finding of a resource is always
//! kept, so none is rejected without a word. Batches are made by the reader alone, so the number of
//! threads makes no difference.

use super::quota::BYTES_PER_FINDING;
use super::{Diagnostic, Effect, Rule};

/// Findings that are kept of a batch of resources, however small they are.
pub const MIN_FINDINGS_TOGETHER: usize = 500;

/// Rejections that are kept of a batch when its other findings have taken all of that: they say
/// which fields to mend.
pub const MIN_REJECTIONS_TOGETHER: usize = 1_000;

/// What may still be kept of a batch of resources.
#[derive(Debug)]
pub struct Budget {
    left: usize,
    rejections: usize,
}

/// What may be kept of the findings of a resource that are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// The first of all findings.
    pub first: usize,
    /// The first of those behind them for which the client rejects the resource.
    pub rejections: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            left: MIN_FINDINGS_TOGETHER,
            rejections: MIN_REJECTIONS_TOGETHER,
        }
    }
}

/// The findings of one rule and effect in a resource.
struct FindingGroup {
    rule: &'static Rule,
    effect: Effect,
    kept: usize,
    omitted: usize,
}

impl Budget {
    /// Counts the findings of the next resource, which has so many bytes. Says what may be kept if
    /// they are too many; `rejections` counts those for which the client rejects it.
    pub fn spend(&mut self, bytes: usize, findings: usize, rejections: impl FnOnce() -> usize) -> Option<Allowance> {
        self.left += bytes / BYTES_PER_FINDING;
        if let Some(left) = self.left.checked_sub(findings) {
            self.left = left;
            return None;
        }
        let allowance = Allowance {
            first: std::mem::take(&mut self.left),
            rejections: self.rejections,
        };
        self.rejections = self.rejections.saturating_sub(rejections());
        Some(allowance)
    }
}

/// Keeps of some findings of a resource what is allowed, and the first of each rule and effect; the
/// others are counted in a finding of their rule at the end. Things that have a finding in them may
/// be cut, too: `whole` makes one of a count.
#[cold]
pub fn cut<F>(
    findings: &mut Vec<F>,
    Allowance {
        mut first,
        mut rejections,
    }: Allowance,
    of: impl Fn(&F) -> &Diagnostic,
    whole: impl Fn(Diagnostic) -> F,
) {
    let mut kinds: Vec<FindingGroup> = Vec::new();
    findings.retain(|finding| {
        let Diagnostic {
            rule, effect, count, ..
        } = of(finding);
        let is_same = |kind: &&mut FindingGroup| kind.rule == *rule && kind.effect == *effect;
        match kinds.iter_mut().find(is_same) {
            Some(kind) if first == 0 => {
                if *effect != Effect::Nack || rejections == 0 {
                    kind.omitted += count;
                    return false;
                }
                rejections -= 1;
                kind.kept += 1;
            }
            Some(kind) => kind.kept += 1,
            None => kinds.push(FindingGroup {
                rule,
                effect: *effect,
                kept: 1,
                omitted: 0,
            }),
        }
        first = first.saturating_sub(1);
        true
    });
    let omitted = kinds.into_iter().filter(|kind| kind.omitted > 0);
    findings.extend(omitted.map(|kind| {
        let mut diagnostic = Diagnostic::omitted(kind.rule, kind.omitted, kind.kept);
        diagnostic.effect = kind.effect;
        whole(diagnostic)
    }));
    findings.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use super::super::rule::examples::IGNORED as B;
    use super::super::rule::examples::REJECTED as A;
    use super::*;

    #[test]
    fn what_is_beyond_is_counted_and_the_first_of_each_kind_is_kept() {
        let finding = |rule: &'static Rule, effect| Diagnostic {
            effect,
            ..Diagnostic::of_whole(rule, "x".to_owned())
        };
        let mut findings = vec![finding(&A, Effect::Nack); 5];
        findings.push(finding(&A, Effect::Advice));
        findings.extend(vec![finding(&B, Effect::Nack); 3]);
        findings.push(Diagnostic {
            effect: Effect::Nack,
            ..Diagnostic::omitted(&B, 40, 3)
        });
        let all: usize = findings.iter().map(|finding| finding.count).sum();
        let cut_to = |first, rejections| {
            let mut cut_off = findings.clone();
            let allowance = Allowance { first, rejections };
            cut(&mut cut_off, allowance, |finding| finding, |closing| closing);
            let counts: Vec<_> = cut_off.iter().map(|d| (d.rule.id == A.id, d.effect, d.count)).collect();
            assert_eq!(counts.iter().map(|(_, _, count)| count).sum::<usize>(), all);
            counts
        };
        let (nack, advice) = (Effect::Nack, Effect::Advice);
        assert_eq!(
            cut_to(0, 0),
            [
                (true, nack, 1),
                (true, advice, 1),
                (false, nack, 1),
                (true, nack, 4),
                (false, nack, 42)
            ]
        );
        assert_eq!(cut_to(8, 0).len(), 9);
        assert_eq!(cut_to(9, 0).last(), Some(&(false, nack, 40)));
        // One of each kind, two rejections more, and the counts of the others.
        assert_eq!(
            cut_to(0, 2),
            [
                (true, nack, 1),
                (true, nack, 1),
                (true, nack, 1),
                (true, advice, 1),
                (false, nack, 1),
                (true, nack, 2),
                (false, nack, 42)
            ]
        );
    }

    #[test]
    fn a_budget_grows_with_the_bytes_of_resources() {
        let mut budget = Budget::default();
        let allowed = |first, rejections| Some(Allowance { first, rejections });
        assert_eq!(budget.spend(0, MIN_FINDINGS_TOGETHER - 1, || 0), None);
        assert_eq!(budget.spend(0, 2, || 2), allowed(1, MIN_REJECTIONS_TOGETHER));
        assert_eq!(budget.spend(0, 0, || 0), None);
        assert_eq!(budget.spend(10 * BYTES_PER_FINDING, 10, || 10), None);
        assert_eq!(
            budget.spend(BYTES_PER_FINDING - 1, 1, || 0),
            allowed(0, MIN_REJECTIONS_TOGETHER - 2)
        );
    }
}
