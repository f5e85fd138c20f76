//! Checks of whole scripts, for faults that a single step does not show.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use super::fault::hint;
use super::{MAX_AT_A_RATE, MAX_SENT, MAX_UNDER_WAY, Step, StepError};
use crate::sim::network::canonical;
use xdsctl_model::text;

/// Checks a whole script for faults that a single step does not show.
///
/// `known` are the addresses of the channel before the first step.
///
/// # Errors
/// The number of the first faulty step, counted from 0, and what is wrong with it.
pub fn check<'s>(
    steps: impl IntoIterator<Item = &'s Step> + Clone,
    known: &[SocketAddr],
) -> Result<(), (usize, StepError)> {
    let mut known: Vec<SocketAddr> = known.iter().copied().map(canonical).collect();
    known.extend(added(steps.clone()));
    known.sort_unstable();
    known.dedup();
    let mut under_way: BTreeMap<&str, (usize, u64, bool)> = BTreeMap::new();
    let (mut total, mut at_a_rate) = (0_u64, 0_usize);
    let mut sent = 0_u64;
    for (number, step) in steps.into_iter().enumerate() {
        let (verb, addresses) = step.addresses();
        for address in addresses {
            if known.binary_search(&canonical(address)).is_err() {
                let texts: Vec<String> = known.iter().map(ToString::to_string).collect();
                let near = text::nearest(&address.to_string(), texts.iter().map(String::as_str))
                    .map(|near| format!(", did you mean {near}?"));
                let error = StepError::NoAddress {
                    verb,
                    address: address.to_string(),
                    hint: near.unwrap_or_default(),
                };
                return Err((number, error));
            }
        }
        sent += step.sending().map_or(0, |sending| sending.count);
        if sent > MAX_SENT {
            return Err((number, StepError::TooManyInAll(sent)));
        }
        match step {
            Step::Begin { name, sending, .. } => {
                // RPCs at a rate are not kept when they have ended.
                let kept = if sending.rate.is_some() { 0 } else { sending.count };
                at_a_rate += usize::from(sending.rate.is_some());
                if at_a_rate > MAX_AT_A_RATE {
                    return Err((number, StepError::TooManyAtARate));
                }
                if under_way.insert(name, (number, kept, sending.rate.is_some())).is_some() {
                    return Err((number, StepError::BeginTwice(name.clone())));
                }
                total = total.saturating_add(kept);
                if total > MAX_UNDER_WAY {
                    return Err((number, StepError::TooMany(total)));
                }
            }
            Step::Finish(name) => match under_way.remove(name.as_str()) {
                Some((_, kept, has_rate)) => {
                    total = total.saturating_sub(kept);
                    at_a_rate = at_a_rate.saturating_sub(usize::from(has_rate));
                }
                None => {
                    let names: Vec<&str> = under_way.keys().copied().collect();
                    let error = StepError::FinishUnknown {
                        name: name.clone(),
                        hint: hint(name, &names),
                    };
                    return Err((number, error));
                }
            },
            _ => {}
        }
    }
    match under_way.into_iter().min_by_key(|(_, (number, ..))| *number) {
        Some((name, (number, ..))) => Err((number, StepError::NeverFinished(name.to_owned()))),
        None => Ok(()),
    }
}

/// The addresses in the resources that the control plane sends in the course of the steps.
pub fn added<'s>(steps: impl IntoIterator<Item = &'s Step>) -> Vec<SocketAddr> {
    let lists = steps.into_iter().filter_map(|step| match step {
        Step::Update { addresses, .. } => Some(addresses),
        _ => None,
    });
    let all: BTreeSet<SocketAddr> = lists.flatten().copied().collect();
    all.into_iter().collect()
}

/// The clusters to which lookups (RLS) may lead in the course of the steps.
pub fn lookup_targets<'s>(steps: impl IntoIterator<Item = &'s Step>) -> BTreeSet<String> {
    let answers = steps.into_iter().filter_map(|step| match step {
        Step::Lookups(lookups) => Some(lookups.targets()),
        _ => None,
    });
    answers.flatten().map(str::to_owned).collect()
}
