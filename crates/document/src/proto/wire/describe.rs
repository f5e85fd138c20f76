//! Which clients read a field, in which versions and with which switch, for editors.

use super::since::{Families, reads};
use crate::proto::message_type::FieldType;
use xdsctl_model::profile::{Family, Feature, FeatureChange};
use xdsctl_proto::tables::Listed;

/// What a family does with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldUse {
    /// The family reads the field in every known version.
    Read,
    /// The family reads the field in versions that have this feature.
    Since(Feature),
    /// The family never reads the field.
    Unread,
}

/// Returns what each family does with a field. Returns `None` if no client looks into its message.
pub fn uses(field: FieldType) -> Option<Vec<(Family, FieldUse)>> {
    let (message, field) = (field.owner, field.field);
    if message.listed != Listed::Client {
        return None;
    }
    let reads = reads(message.index());
    let reading = Families::reading(field).both(Families::knowing(message));
    let uses = Family::ALL.into_iter().map(|family| {
        let used = match (reading.has(family), reads.since(family, field)) {
            (false, _) | (true, Some(None)) => FieldUse::Unread,
            (true, Some(Some(feature))) => FieldUse::Since(feature),
            (true, None) => FieldUse::Read,
        };
        (family, used)
    });
    Some(uses.collect())
}

/// Returns the versions in which a family changed a feature, as text: ``from 1.60 on if `NAME` is
/// true, from 1.70 on``.
pub fn history(feature: Feature, family: Family) -> String {
    let env = feature.env().unwrap_or("a switch");
    let steps = feature.history(family).map(|(version, change)| match change {
        FeatureChange::Off => format!("from {version} on if `{env}` is true"),
        FeatureChange::On => format!("from {version} on unless `{env}` is false"),
        FeatureChange::Always => format!("from {version} on"),
        FeatureChange::Gone => format!("no longer from {version} on"),
    });
    steps.collect::<Vec<_>>().join(", ")
}
