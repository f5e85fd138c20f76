//! Records on which features an answer depends.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Feature, Features};

/// The features that were asked about, as a set that grows. A copy of it begins empty.
#[derive(Default)]
pub(super) struct AskedFeatures([AtomicU64; Features::WORDS]);

impl AskedFeatures {
    pub(super) fn note(&self, feature: Feature) {
        let (word, bit) = Features::place(feature);
        // Several threads may ask one profile: a thread writes only a bit that is not set yet.
        if let Some(word) = self.0.get(word)
            && word.load(Ordering::Relaxed) & bit == 0
        {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Says whether one of the features that were asked about is in a set.
    pub(super) fn is_in(&self, set: Features) -> bool {
        let words = self.0.iter().zip(set.words());
        words
            .into_iter()
            .any(|(asked, word)| asked.load(Ordering::Relaxed) & word != 0)
    }
}

impl Clone for AskedFeatures {
    fn clone(&self) -> Self {
        AskedFeatures::default()
    }
}

impl fmt::Debug for AskedFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_asked = |feature: &&Feature| {
            let mut alone = Features::EMPTY;
            alone.set(**feature, true);
            self.is_in(alone)
        };
        let asked = Feature::ALL.iter().filter(is_asked);
        f.debug_set().entries(asked).finish()
    }
}
