//! Configurations that may be packed in others of their kind without end: composite filters, xDS
//! credentials.
//!
//! The client recurses until its stack ends; a validator must not, whatever it is given.

use xdsctl_model::diag::{Path, Validation, rules};

rules! {
    /// Configurations are packed in each other so often that xdsctl does not look further in.
    NESTED_NOT_CHECKED = "nested-not-checked", Common, Advice, "a limit of xdsctl; that of C-core is its stack";
}

/// How often a configuration may be packed in others of its kind before the check stops.
pub const MAX_NESTED: u32 = 32;

/// Runs `check` on the configuration at `at`, one level deeper.
///
/// Reports [`NESTED_NOT_CHECKED`] instead when there are [`MAX_NESTED`] levels already.
pub fn nested<R>(at: &Path<'_>, cx: &mut Validation<'_>, check: impl FnOnce(&mut Validation<'_>) -> R) -> Option<R> {
    let result = cx.nested(MAX_NESTED, |cx| check(cx));
    if result.is_none() {
        cx.report(
            &NESTED_NOT_CHECKED,
            at,
            format_args!("packed {MAX_NESTED} times in others of its kind, not checked from here on"),
        );
    }
    result
}
