//! `dump-unknown-enum-value`: a name in other letters, or a number in quotes, as the value that it
//! is read as.

use super::{Fix, Fixer};
use xdsctl_document::proto::meant;
use xdsctl_document::proto::transcode::UNKNOWN_ENUM_VALUE;

pub(super) const FIXER: Fixer = Fixer {
    rule: &UNKNOWN_ENUM_VALUE,
    fix: Fix::Scalar(|value, at| meant::enum_value(at.type_name, at.path, value).map(str::to_owned)),
};
