//! Sets of features: what a client has switched on, what differs between two, what a converter asked for.
//!
//! A set is a few words of 64 bits, because every resource is judged with one.

use super::client::Client;
use super::feature::Feature;

/// A set of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features([u64; Features::WORDS]);

const _: () = assert!(
    Feature::ALL.len() <= 64 * Features::WORDS,
    "a set has a bit for each feature"
);

impl Default for Features {
    /// Those of the reference client in its default environment.
    fn default() -> Self {
        Self::of(Client::REFERENCE)
    }
}

impl Features {
    /// Words of 64 bits that have room for all features.
    pub(super) const WORDS: usize = 5;

    /// No feature.
    pub(super) const EMPTY: Features = Features([0; Features::WORDS]);

    /// What a client has in its default environment.
    pub fn of(client: Client) -> Self {
        let mut set = Features::EMPTY;
        for &feature in Feature::ALL {
            set.set(feature, feature.is_default_on(client));
        }
        set
    }

    /// What a variable switches in a client.
    pub(super) fn switches_of(client: Client) -> Self {
        let mut set = Features::EMPTY;
        for &feature in Feature::ALL {
            set.set(feature, feature.has_switch(client));
        }
        set
    }

    /// The features that one set has and the other does not.
    pub(super) fn differing(self, other: Self) -> Features {
        let mut differing = self;
        for (word, other) in differing.0.iter_mut().zip(other.0) {
            *word ^= other;
        }
        differing
    }

    /// Says whether `feature` is on.
    pub const fn has(self, feature: Feature) -> bool {
        let (word, bit) = Self::place(feature);
        self.0[word] & bit != 0
    }

    /// Switches `feature` on or off.
    pub const fn set(&mut self, feature: Feature, on: bool) {
        let (word, bit) = Self::place(feature);
        if on {
            self.0[word] |= bit;
        } else {
            self.0[word] &= !bit;
        }
    }

    /// The word that a feature is in, and its bit there.
    pub(super) const fn place(feature: Feature) -> (usize, u64) {
        (feature as usize / 64, 1 << (feature as usize % 64))
    }

    /// The set as words of 64 bits.
    pub(super) const fn words(self) -> [u64; Features::WORDS] {
        self.0
    }
}
