//! Names of headers in matchers that no request has: on the wire, names are in lower case.

use crate::shared::rules::HEADER_NAME_UPPER_CASE;
use xdsctl_model::diag::{Path, Validation};

/// Notes a header name that is compared byte by byte and has an upper-case letter.
pub fn note_upper_case(name: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    if name.bytes().any(|b| b.is_ascii_uppercase()) {
        cx.report(
            &HEADER_NAME_UPPER_CASE,
            at,
            format_args!("header `{name}` has an upper-case letter and counts as missing in every request"),
        )
        .help(format!("write `{}`", name.to_ascii_lowercase()));
    }
}
