//! `dump-unknown-field`: corrects a field name that is spelt with other case, hyphens or
//! underscores. It also removes a field that the API has dropped because it had no effect any more.
//!
//! If a name is only similar to a field's, no fix is certain. A dropped field that had an effect
//! must be replaced by people.

use super::{Change, Fix, Fixer};
use xdsctl_document::proto::meant;
use xdsctl_document::proto::transcode::UNKNOWN_FIELD;

pub(super) const FIXER: Fixer = Fixer {
    rule: &UNKNOWN_FIELD,
    fix: Fix::Key(|members, number, at| {
        let written = members.list.get(number)?.name.as_str();
        let object = at.path.holder();
        match meant::field(at.type_name, &object, written) {
            // If the field is also given under its correct name, it is not certain which of the two
            // counts.
            Some(_) if members.spelt_like(number).len() > 1 => None,
            Some(name) => Some(Change::Rename(name)),
            None => meant::is_empty_field(at.type_name, &object, written).then_some(Change::Remove),
        }
    }),
};
