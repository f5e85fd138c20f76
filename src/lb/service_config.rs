//! The service config that an RLS config holds for the channel to its lookup service.

use serde_json::Value;

use super::json::{self, At, Faults};
use crate::profile::Profile;

/// Checks a service config at `at`.
pub(super) fn check(config: &Value, at: &At<'_>, _profile: &Profile, faults: &mut Faults) {
    json::object(config, at, faults);
}
