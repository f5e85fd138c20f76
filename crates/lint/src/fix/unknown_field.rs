//! `dump-unknown-field`: a field's name in other letters is respelt, a field that the API has
//! dropped because it said nothing is taken out.
//!
//! A name that is near to a field's is not certain, and a dropped field that asked for something is
//! for people to replace.

use super::{Change, Fix, Fixer};
use xdsctl_document::proto::meant;
use xdsctl_document::proto::transcode::UNKNOWN_FIELD;

pub(super) const FIXER: Fixer = Fixer {
    rule: &UNKNOWN_FIELD,
    fix: Fix::Key(|members, number, at| {
        let written = members.list.get(number)?.name.as_str();
        let object = at.path.holder();
        match meant::field(at.type_name, &object, written) {
            // Given under its own name too: which of the two counts is not certain.
            Some(_) if members.spelt_like(number).len() > 1 => None,
            Some(name) => Some(Change::Rename(name)),
            None => meant::is_empty_field(at.type_name, &object, written).then_some(Change::Remove),
        }
    }),
};
