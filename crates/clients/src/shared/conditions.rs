//! Conditions of RBAC policies whose answer is always the same, because gRPC lacks what they ask
//! for (A41).

use super::rules::{RBAC_CONDITION_CONSTANT, RBAC_CONDITION_UNSUPPORTED};
use super::{Checked, reject};
use xdsctl_document::proto::pb::envoy::config::rbac::v3::Policy;
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

/// Checks that a policy has no condition in CEL.
pub(crate) fn none_in_cel(policy: &Policy, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    for (field, is_set) in [
        ("condition", policy.condition.is_some()),
        ("checked_condition", policy.checked_condition.is_some()),
    ] {
        if is_set {
            let message = format_args!("{field} is set, gRPC has no conditions in CEL");
            return Err(reject(&RBAC_CONDITION_UNSUPPORTED, &at.field(field), message, cx));
        }
    }
    Ok(())
}
