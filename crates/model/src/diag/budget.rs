//! Limits how many findings of many resources are kept together, because a hostile document may
//! have very many small resources.
//!
//! A [`Quota`](super::Quota) looks at one resource and is generous with small ones. A [`Budget`] is
//! for the resources of one batch of the loader. It grows with their bytes, and findings beyond it
//! are only counted, resource by resource. The first finding of each rule and effect of a resource
//! is always kept, so no resource is rejected without a finding. The reader alone makes the
//! batches, so the number of threads makes no difference.

use super::quota::BYTES_PER_FINDING;
use super::{Diagnostic, Effect, Rule};

/// How many findings of a batch of resources are kept, however small the resources are.
pub const MIN_FINDINGS_TOGETHER: usize = 500;

/// How many rejections of a batch are still kept when its other findings have used up the budget:
/// they say which fields to mend.
pub const MIN_REJECTIONS_TOGETHER: usize = 1_000;

/// How many findings of a batch of resources may still be kept.
#[derive(Debug)]
pub struct Budget {
    left: usize,
    rejections: usize,
}

/// How many findings of a resource may be kept if it has too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// How many findings are kept from the first one on, whatever they are.
    pub first: usize,
    /// How many of the later findings are kept that make the client reject the resource.
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
    /// Counts the findings of the next resource, which has `bytes` bytes. Says how many may be kept
    /// if there are too many; `rejections` counts the findings for which the client rejects the
    /// resource.
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

/// Keeps the findings of a resource that `Allowance` permits, and the first of each rule and
/// effect. The others are counted in one finding for each rule and effect, at the end. The list may
/// also hold values that contain a finding: `of` returns the finding in a value, and `whole` makes
/// a value of a finding that counts others.
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
        // The first of each kind, two more rejections, and the counts of the others.
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
