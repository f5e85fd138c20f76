//! `rds-retry-on-unsupported`, `rds-retry-policy-without-codes`: respells a condition that gRPC
//! has, if its letters differ in case or there are spaces around it.
//!
//! A condition that gRPC does not have under any spelling (`5xx`) stays, and so does its finding.

use super::{Fix, Fixer};
use xdsctl_clients::core::retry::{RETRIES_NOTHING, RETRY_ON_UNSUPPORTED};
use xdsctl_document::proto::meant::has_same_letters;
use xdsctl_model::resource::route::RetryOn;

pub(super) const FIXER: Fixer = Fixer {
    rule: &RETRY_ON_UNSUPPORTED,
    fix: Fix::Scalar(|value, _| Some(fixed(value))),
};

/// The fixer for a policy that lists no other condition.
pub(super) const ALONE: Fixer = Fixer {
    rule: &RETRIES_NOTHING,
    ..FIXER
};

fn fixed(value: &str) -> String {
    let conditions = value.split(',').map(|written| {
        let meant = |on: &RetryOn| has_same_letters(on.token(), written.trim());
        RetryOn::ALL.into_iter().find(meant).map_or(written, |on| on.token())
    });
    conditions.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_respelt_and_the_rest_stays() {
        for (value, expected) in [
            ("Cancelled", "cancelled"),
            ("deadline_exceeded, INTERNAL", "deadline-exceeded,internal"),
            (
                "5xx, ResourceExhausted ,gateway-error",
                "5xx,resource-exhausted,gateway-error",
            ),
            ("canceled, 5xx,", "canceled, 5xx,"),
        ] {
            assert_eq!(fixed(value), expected);
        }
    }
}
