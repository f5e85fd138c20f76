//! `any-type-url-without-slash`: completes a message name to a type URL.

use super::{Fix, Fixer};
use xdsctl_document::proto::any::ANY_TYPE_URL_WITHOUT_SLASH;
use xdsctl_document::proto::meant::is_message;

/// The prefix that protobuf puts before the name.
const PREFIX: &str = "type.googleapis.com/";

pub(super) const FIXER: Fixer = Fixer {
    rule: &ANY_TYPE_URL_WITHOUT_SLASH,
    fix: Fix::Scalar(|value, _| is_message(value).then(|| format!("{PREFIX}{value}"))),
};
