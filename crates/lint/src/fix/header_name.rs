//! `header-name-upper-case`: replaces the name by the one that is on the wire.

use super::{Fix, Fixer};
use xdsctl_clients::shared::rules::HEADER_NAME_UPPER_CASE;

pub(super) const FIXER: Fixer = Fixer {
    rule: &HEADER_NAME_UPPER_CASE,
    fix: Fix::Scalar(|value, _| Some(value.to_ascii_lowercase())),
};
