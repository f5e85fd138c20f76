//! The history of a [`Feature`] in a family: which version added it, switched it on or removed it.

use super::client::Client;
use super::family::Family;
use super::feature::Feature;
use super::version::Version;

/// What a version did with a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureChange {
    /// The version added the feature behind a switch that is off by default.
    Off,
    /// The version switched the feature on by default; the switch can still turn it off.
    On,
    /// The version added the feature without a switch, or removed the switch of a feature that was
    /// on.
    Always,
    /// The version removed the feature, with its switch.
    Gone,
}

impl FeatureChange {
    /// Says whether the feature is on after this change, if the variable is not set.
    pub(super) const fn is_default_on(self) -> bool {
        matches!(self, FeatureChange::On | FeatureChange::Always)
    }

    /// Says whether a variable can switch the feature after this change.
    pub(super) const fn has_switch(self) -> bool {
        matches!(self, FeatureChange::On | FeatureChange::Off)
    }
}

/// A version, and what it did with a feature.
pub type VersionStep = (Version, FeatureChange);

impl Feature {
    /// Returns what the versions of a family did with the feature, oldest first.
    pub fn history(self, family: Family) -> impl Iterator<Item = VersionStep> {
        let changes = family.facts().changes.iter();
        let of_this = changes.filter(move |(_, _, feature)| *feature == self);
        of_this.map(|(version, change, _)| (*version, *change))
    }

    /// Returns the last change to the feature up to the version of `client`; `None` if there was
    /// none.
    pub fn of(self, client: Client) -> Option<FeatureChange> {
        let steps = self.history(client.family);
        let (_, last) = steps.take_while(|(since, _)| *since <= client.version).last()?;
        Some(last).filter(|change| *change != FeatureChange::Gone)
    }

    /// Says whether `client` has the feature switched on when the variable is not set.
    pub fn is_default_on(self, client: Client) -> bool {
        self.of(client).is_some_and(FeatureChange::is_default_on)
    }

    /// Says whether a variable switches the feature in `client`.
    pub fn has_switch(self, client: Client) -> bool {
        self.env().is_some() && self.of(client).is_some_and(FeatureChange::has_switch)
    }

    /// Reads a value of the variable as `client` does: whether the feature is then on.
    pub fn parse(self, value: &str, client: Client) -> bool {
        (client.family.facts().read_switch)(value, self, self.is_default_on(client))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Features;

    #[test]
    fn any_other_text_is_false_even_where_the_default_is_true() {
        let client = Client::REFERENCE;
        for text in ["", "on", "2", "TRUE ", "enabled"] {
            assert!(!Feature::Federation.parse(text, client), "{text:?}");
        }
        for text in ["1", "t", "True", "y", "YES"] {
            assert!(Feature::Federation.parse(text, client), "{text:?}");
        }
    }

    #[test]
    fn java_and_node_take_true_alone() {
        for family in [Family::Java, Family::Node] {
            let client = Client {
                family,
                version: family.newest(),
            };
            assert!(Feature::Federation.parse("true", client));
            assert!(!Feature::Federation.parse("1", client));
            assert_eq!(Feature::Federation.parse(" ", client), family == Family::Java);
        }
    }

    #[test]
    fn switches_of_the_reference_are_those_of_its_defaults() {
        let client = Client::REFERENCE;
        let on = |f: &&Feature| f.has_switch(client) && Features::default().has(**f);
        assert_eq!(Feature::ALL.iter().filter(on).count(), 6);
        assert_eq!(Feature::ALL.iter().filter(|f| f.has_switch(client)).count(), 17);
    }

    #[test]
    fn histories_are_in_order_and_change_something() {
        for &feature in Feature::ALL {
            for family in Family::ALL {
                let steps: Vec<VersionStep> = feature.history(family).collect();
                assert!(
                    steps.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 != two[1].1),
                    "{feature:?} {family}: {steps:?}"
                );
            }
        }
    }
}
