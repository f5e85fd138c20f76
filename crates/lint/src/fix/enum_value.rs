//! `dump-unknown-enum-value`: replaces a name that is spelt with other case, hyphens or
//! underscores, or a number in quotes, by the correct name of the value.

use super::{Fix, Fixer};
use xdsctl_document::proto::meant;
use xdsctl_document::proto::transcode::UNKNOWN_ENUM_VALUE;

pub(super) const FIXER: Fixer = Fixer {
    rule: &UNKNOWN_ENUM_VALUE,
    fix: Fix::Scalar(|value, at| meant::enum_value(at.type_name, at.path, value).map(str::to_owned)),
};
