//! Turns what the client's own loader rejects into findings: one for each fault, with the
//! rejections that follow from it as related.
//!
//! The client logs one error at the field that holds the config. The error quotes the loader's
//! places, with an error inside the error for each child policy on the way. A reader has one thing
//! to change for each fault.

use super::json::ConfigFault;
use super::xds::Chain;
use xdsctl_model::diag::{Path, Related, Validation};

/// Reports each of the loader's faults at its quoted place below the entry that holds it.
///
/// `rejected` is what the client says of the whole config; `at` is the path of the outermost list
/// of policies.
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
