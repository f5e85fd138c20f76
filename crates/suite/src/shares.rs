//! How RPCs are distributed, and how far that may be from what is expected.
//!
//! A share without a tolerance is compared with what chance does: `k` of `n` RPCs are too far from
//! a share `p` if `n * KL(k/n || p) > ln(2/α)`, where KL is the relative entropy of two coins. By
//! Chernoff's bound that happens with a probability of at most α = 1/1000 if each RPC is drawn
//! independently, and less if the client takes endpoints in turn and draws nothing.

use std::collections::BTreeMap;

use xdsctl_channel::sim::Outcome;
use xdsctl_model::text::percent;

/// The range that chance allows is missed with one seed in this many.
const SEEDS: f64 = 1000.0;

/// A share of RPCs, from 0 to 1.
pub type Share = f64;

/// Expected shares.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedShares {
    /// The share of each address, cluster, locality or status code.
    pub of: BTreeMap<String, Share>,
    /// How far off each share may be, as a share of all RPCs; `None` allows what is due to chance.
    pub tolerance: Option<Share>,
}

/// Returns the labels that an RPC counts for: its status if it has no backend, or else the backend,
/// its clusters and its locality. A label may occur twice.
pub fn labels(outcome: &Outcome) -> impl Iterator<Item = &str> {
    let place = outcome.place.as_ref().filter(|_| outcome.backend.is_some());
    let cluster = outcome.cluster.as_deref().filter(|_| outcome.backend.is_some());
    let end = outcome.backend.as_deref().unwrap_or(outcome.code.name());
    let places = place.into_iter().flat_map(|place| [&*place.cluster, &*place.locality]);
    std::iter::once(end).chain(places).chain(cluster)
}

/// Says what is wrong with a count, if it is too far from its share.
pub fn off(label: &str, count: u64, total: u64, expected: Share, tolerance: Option<Share>) -> Option<String> {
    let (least, most) = bounds(total, expected, tolerance);
    if (least..=most).contains(&count) {
        return None;
    }
    let why = match tolerance {
        Some(tolerance) => format!("within {}", whole(tolerance)),
        None if least == most => return Some(share_words(label, count, total, expected)),
        None => format!("{least} to {most} of them in {} of {SEEDS} seeds", SEEDS - 1.0),
    };
    Some(format!("{}, {why}", share_words(label, count, total, expected)))
}

/// Says why `shares` of this many RPCs hold whatever happens.
pub fn cannot_fail(shares: &ExpectedShares, total: u64) -> Option<String> {
    let holds_always = |total: u64| {
        let mut all = shares.of.values().map(|share| bounds(total, *share, shares.tolerance));
        all.all(|(least, most)| least == 0 && most >= total)
    };
    if !holds_always(total) {
        return None;
    }
    let words = format!("`shares` of {total} RPCs cannot fail, whatever they do");
    Some(match (total..=MOST_TRIED).find(|total| !holds_always(*total)) {
        Some(enough) => format!("{words}: from {enough} RPCs on they can"),
        None => format!("{words}: the `tolerance` is too large"),
    })
}

/// The most RPCs that are tried to find how many are enough.
const MOST_TRIED: u64 = 10_000;

fn share_words(label: &str, count: u64, total: u64, expected: Share) -> String {
    let got = percent(count, total);
    let expected = whole(expected);
    format!("{got} to `{label}` ({count} of {total} RPCs), expected {expected}")
}

/// Writes a share in percent, with up to two decimals.
fn whole(share: Share) -> String {
    let hundredths = (share * 10_000.0).round() / 100.0;
    format!("{hundredths} %")
}

/// Returns the fewest and the most RPCs that are close enough to a share.
fn bounds(total: u64, expected: Share, tolerance: Option<Share>) -> (u64, u64) {
    let n = total as f64;
    if let Some(tolerance) = tolerance {
        let least = ((expected - tolerance) * n - 1e-9).ceil().max(0.0);
        let most = ((expected + tolerance) * n + 1e-9).floor().min(n);
        return (least as u64, most as u64);
    }
    let is_near = |count: u64| n * entropy(count as f64 / n.max(1.0), expected) <= (2.0 * SEEDS).ln();
    let mean = ((expected * n).round() as u64).min(total);
    // The set of counts that are near is an interval around the mean.
    let edge = |mut inside: u64, mut outside: u64| {
        if is_near(outside) {
            return outside;
        }
        while inside.abs_diff(outside) > 1 {
            let middle = inside.midpoint(outside);
            if is_near(middle) {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    };
    (edge(mean, 0), edge(mean, total))
}

/// Computes the relative entropy of coins that show heads with probability `q` and `p`.
fn entropy(q: f64, p: f64) -> f64 {
    let term = |q: f64, p: f64| match (q == 0.0, p == 0.0) {
        (true, _) => 0.0,
        (false, true) => f64::INFINITY,
        (false, false) => q * (q / p).ln(),
    };
    term(q, p) + term(1.0 - q, 1.0 - p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::rng::Rng;

    #[test]
    fn none_and_all_are_exact() {
        assert_eq!(bounds(1000, 0.0, None), (0, 0));
        assert_eq!(bounds(1000, 1.0, None), (1000, 1000));
        assert_eq!(bounds(1000, 0.1, Some(0.02)), (80, 120));
        assert_eq!(bounds(0, 0.5, None), (0, 0));
    }

    /// By hand: of 1000 RPCs at 10 %, 1000 * KL(k/1000 || 0.1) is 7.57 at 64 and 7.12 at 65, 7.24 at 139 and 7.57 at 140; ln(2000) is 7.60.
    #[test]
    fn the_bound_is_chernoffs() {
        let (least, most) = bounds(1000, 0.1, None);
        let distance = |count: u64| 1000.0 * entropy(count as f64 / 1000.0, 0.1);
        let limit = 2000f64.ln();
        assert!(distance(least) <= limit && distance(least - 1) > limit);
        assert!(distance(most) <= limit && distance(most + 1) > limit);
        assert!(
            (60..70).contains(&least) && (135..145).contains(&most),
            "{least} {most}"
        );
    }

    #[test]
    fn fewer_seeds_than_one_in_a_thousand_are_out_of_bounds() {
        for (total, share) in [(100u64, 0.1), (1000, 0.5), (500, 0.01)] {
            let (least, most) = bounds(total, share, None);
            let mut outside = 0;
            for seed in 0..20_000 {
                let mut rng = Rng::stream(seed, "shares");
                let count = (0..total).filter(|_| rng.unit() < share).count() as u64;
                outside += u32::from(!(least..=most).contains(&count));
            }
            // 20 would be one in a thousand.
            assert!(outside <= 20, "{total} {share}: {outside}");
        }
    }

    #[test]
    fn what_is_off_says_how_far() {
        assert_eq!(off("a", 100, 1000, 0.1, None), None);
        let (least, most) = bounds(1000, 0.1, None);
        assert_eq!(
            off("a", 200, 1000, 0.1, None).as_deref(),
            Some(&*format!(
                "20 % to `a` (200 of 1000 RPCs), expected 10 %, {least} to {most} of them in 999 of 1000 seeds"
            ))
        );
        assert_eq!(
            off("a", 3, 1000, 0.0, None).as_deref(),
            Some("0.3 % to `a` (3 of 1000 RPCs), expected 0 %")
        );
        assert_eq!(
            off("a", 130, 1000, 0.1, Some(0.025)).as_deref(),
            Some("13 % to `a` (130 of 1000 RPCs), expected 10 %, within 2.5 %")
        );
    }
}
