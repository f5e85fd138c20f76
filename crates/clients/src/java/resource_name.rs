//! Names of resources, as grpc-java checks them (client/XdsClient.java `isResourceNameValid`).

use super::uri::Uri;
use crate::shared::rules::XDSTP_NAME_MALFORMED;
use crate::shared::{Checked, reject};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::ResourceType;

/// Checks a name: if it begins with `xdstp:`, it must be a URI whose path begins with the type.
pub(super) fn check(name: &str, kind: ResourceType, cx: &mut Validation<'_>) -> Checked {
    let has_federation = cx.has(Feature::Federation) || cx.profile().has_switch(Feature::Federation);
    if !name.starts_with("xdstp:") || !has_federation {
        return Ok(());
    }
    let path = Uri::parse(name).and_then(|uri| uri.path).unwrap_or_default();
    let mut filled = path.split('/').filter(|segment| !segment.is_empty());
    if filled.next() == Some(kind.type_name()) && filled.next().is_some() {
        return Ok(());
    }
    let type_name = kind.type_name();
    let message = format_args!("`{name}` is no name of a resource, must be `xdstp://authority/{type_name}/id`");
    Err(reject(&XDSTP_NAME_MALFORMED, &Path::ROOT.field("name"), message, cx))
}
