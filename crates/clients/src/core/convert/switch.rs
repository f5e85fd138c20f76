//! Fields that the client reads only while one of its environment switches is on.

use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// A field is set that this client reads only under an environment switch, which is off.
    FIELD_SWITCHED_OFF = "field-switched-off", Common, Ignored, "C-core, the variable named in the finding";
}

/// Reports at `at` that the field is not read because `feature` is off.
pub fn report_off(feature: Feature, at: &Path<'_>, cx: &mut Validation<'_>) {
    let env = feature.env().unwrap_or_default();
    let when = if feature == Feature::EndpointHashKeyBackwardCompat {
        format!("while `{env}` is true, which it is by default")
    } else if !cx.profile().has_switch(feature) {
        "by this version of gRPC".to_owned()
    } else if cx.profile().is_default_on(feature) {
        format!("while `{env}` is false")
    } else {
        format!("unless `{env}` is true, which it is not by default")
    };
    cx.report(&FIELD_SWITCHED_OFF, at, format_args!("not read {when}"));
}
