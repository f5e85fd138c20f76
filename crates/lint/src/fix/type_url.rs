//! `any-type-url-without-slash`: the name of a message where its URL belongs.

use super::{Fix, Fixer};
use xdsctl_document::proto::any::ANY_TYPE_URL_WITHOUT_SLASH;
use xdsctl_document::proto::meant::is_message;

/// What protobuf puts before the name.
const PREFIX: &str = "type.googleapis.com/";

pub(super) const FIXER: Fixer = Fixer {
    rule: &ANY_TYPE_URL_WITHOUT_SLASH,
    fix: Fix::Scalar(|value, _| is_message(value).then(|| format!("{PREFIX}{value}"))),
};
