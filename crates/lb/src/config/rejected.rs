//! What the client's own loader rejects, as findings: each fault is one, and what follows from it
//! belongs to it.
//!
//! The client logs one error at the field that holds the config, with the loader's places quoted in
//! it, and an error in an error for each child policy on the way. Whoever reads that has one thing
//! to change for each fault.

use super::json::ConfigFault;
use super::xds::Chain;
use xdsctl_model::diag::{Path, Related, Validation};

/// Reports the loader's faults as quoted places below the entry that they are in.
///
/// `rejected` is what the client says of the whole config, `at` the outermost list of policies.
#[cold]
pub fn report(faults: &[ConfigFault], rejected: Related, chain: &Chain, at: &Path<'_>, cx: &mut Validation<'_>) {
    let mut follows = vec![rejected];
    report_at(faults, 0, &mut follows, (chain, at), cx);
}

fn report_at(
    faults: &[ConfigFault],
    depth: usize,
    follows: &mut Vec<Related>,
    (chain, at): (&Chain, &Path<'_>),
    cx: &mut Validation<'_>,
) {
    for fault in faults {
        chain.visit(depth, at, &mut |entry| {
            let place = entry.quoted(&fault.path);
            if fault.inner.is_empty() {
                let finding = cx.report(fault.rule, &place, format_args!("{}", fault.message));
                finding.with(|finding| finding.related.clone_from(follows));
            } else {
                follows.push(Related {
                    path: place.to_owned(),
                    message: fault.message.clone(),
                    rule: Some(fault.rule),
                });
            }
        });
        if !fault.inner.is_empty() {
            report_at(&fault.inner, depth + 1, follows, (chain, at), cx);
            follows.pop();
        }
    }
}
