//! Sets of features: those that a client has switched on, those that differ between two clients,
//! and those that a converter asked for.
//!
//! A set is a few words of 64 bits, because each resource is judged with one.

use super::client::Client;
use super::feature::Feature;
use super::history::FeatureChange;

/// A set of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features([u64; Features::WORDS]);

const _: () = assert!(
    Feature::ALL.len() <= 64 * Features::WORDS,
    "a set has a bit for each feature"
);

impl Default for Features {
    /// Returns the features of the reference client in its default environment.
    fn default() -> Self {
        Self::of(Client::REFERENCE)
    }
}

impl Features {
    /// The number of 64-bit words that have room for all features.
    pub(super) const WORDS: usize = 5;

    /// No feature.
    pub(super) const EMPTY: Features = Features([0; Features::WORDS]);

    /// Returns the features that a client has in its default environment.
    pub fn of(client: Client) -> Self {
        Self::last_changed(client, |change, _| change.is_default_on())
    }

    /// Returns the features that an environment variable switches in a client.
    pub(super) fn switches_of(client: Client) -> Self {
        Self::last_changed(client, |change, feature| feature.env().is_some() && change.has_switch())
    }

    /// Returns the features for which `is_in` is true of the last change that `client` or an older
    /// version made to them.
    fn last_changed(client: Client, is_in: impl Fn(FeatureChange, Feature) -> bool) -> Self {
        let mut set = Features::EMPTY;
        // Changes are sorted by version: a later change of a feature replaces an earlier one.
        for &(since, change, feature) in client.family.facts().changes {
            if since <= client.version {
                set.set(feature, is_in(change, feature));
            }
        }
        set
    }

    /// Returns the features that are in exactly one of two sets.
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

    /// Returns the index of the word that holds a feature, and the feature's bit in it.
    pub(super) const fn place(feature: Feature) -> (usize, u64) {
        (feature as usize / 64, 1 << (feature as usize % 64))
    }

    /// Returns the set as words of 64 bits.
    pub(super) const fn words(self) -> [u64; Features::WORDS] {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_what_each_feature_says_of_the_client() {
        for client in Client::all() {
            let (set, switches) = (Features::of(client), Features::switches_of(client));
            for &feature in Feature::ALL {
                let alone = (feature.is_default_on(client), feature.has_switch(client));
                assert_eq!((set.has(feature), switches.has(feature)), alone, "{client} {feature:?}");
            }
        }
    }
}
