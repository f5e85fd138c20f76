//! Conditions of RBAC policies whose answer is always the same, because gRPC lacks what they ask
//! for (A41).

use super::rules::RBAC_CONDITION_CONSTANT;
use xdsctl_model::diag::{Path, Validation};

/// Reports a metadata matcher at `at`: it always matches, or never.
pub(crate) fn metadata(always: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    let outcome = if always { "always" } else { "never" };
    let message = format_args!("gRPC has no metadata, so this {outcome} matches");
    cx.report(&RBAC_CONDITION_CONSTANT, at, message);
}

/// Reports a server name at `at`, which is compared with an empty text, whatever name the
/// connection was made for.
pub(crate) fn server_name(at: &Path<'_>, cx: &mut Validation<'_>) {
    let message = format_args!("gRPC compares with an empty text, not with the server name of the connection");
    cx.report(&RBAC_CONDITION_CONSTANT, at, message);
}
