//! Compares what a client reached by random draws with the results of several seeds.
//!
//! No seed is that of the client, because its draws are not recorded. A wrong model may reach any
//! answer by a rare draw, so that one of hundreds of seeds proves little; several of them must
//! agree.

use std::collections::{BTreeMap, BTreeSet};

/// How many seeds must lead to what the client reached by random draws. A single one of hundreds
/// may do so by luck.
pub const AGREEING: usize = 3;

/// Returns what was recorded and fewer than [`AGREEING`] of the seeds lead to, with some of their
/// results. If there are fewer seeds, all must lead to it.
pub fn unmet<W, O: std::fmt::Debug>(
    recorded: BTreeMap<usize, W>,
    seeds: usize,
    play: impl Fn(u64) -> Vec<O>,
    is_met: impl Fn(&W, Option<&O>) -> bool,
) -> Vec<(usize, W, String)> {
    let mut open: Vec<_> = recorded
        .into_iter()
        .map(|(index, wanted)| (index, wanted, 0, BTreeSet::new()))
        .collect();
    for seed in 1..=seeds as u64 {
        if open.is_empty() {
            break;
        }
        let ours = play(seed);
        open.retain_mut(|(index, wanted, met, seen)| {
            let ours = ours.get(*index);
            if is_met(wanted, ours) {
                *met += 1;
            } else if seen.len() < 3 {
                seen.insert(ours.map_or("nothing".to_owned(), |ours| format!("{ours:?}")));
            }
            *met < AGREEING.min(seeds)
        });
    }
    let told = |(index, wanted, met, seen): (usize, W, usize, BTreeSet<String>)| {
        let seen: Vec<String> = seen.into_iter().collect();
        (
            index,
            wanted,
            format!(
                "as the client with {met} of {seeds} seeds, else {}",
                seen.join("\n           ")
            ),
        )
    };
    open.into_iter().map(told).collect()
}
