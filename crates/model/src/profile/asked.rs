//! Which features an answer hung on.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Feature;

/// The features that were asked about, as a set that grows. A copy of it begins empty.
#[derive(Default)]
pub(super) struct AskedFeatures([AtomicU64; 2]);

impl AskedFeatures {
    pub(super) fn note(&self, feature: Feature) {
        let (half, bit) = (feature as usize / 64, 1 << (feature as usize % 64));
        // A profile may be asked by several threads: they write only what is not there yet.
        if let Some(half) = self.0.get(half)
            && half.load(Ordering::Relaxed) & bit == 0
        {
            half.fetch_or(bit, Ordering::Relaxed);
        }
    }

    pub(super) fn bits(&self) -> u128 {
        let [low, high] = &self.0;
        u128::from(high.load(Ordering::Relaxed)) << 64 | u128::from(low.load(Ordering::Relaxed))
    }
}

impl Clone for AskedFeatures {
    fn clone(&self) -> Self {
        AskedFeatures::default()
    }
}

impl fmt::Debug for AskedFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.bits();
        let asked = Feature::ALL
            .iter()
            .filter(|feature| bits & (1 << **feature as u32) != 0);
        f.debug_set().entries(asked).finish()
    }
}
