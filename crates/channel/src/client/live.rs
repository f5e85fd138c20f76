//! What a live client or control plane said about its resources, in CSDS and admin dumps.
//!
//! The two points of view differ: a client that rejected an update shows the last version that it
//! accepted, and a control plane shows the version that was rejected. The findings say which one it
//! is.

use super::checked::{Checked, Verdict};
use xdsctl_document::envelope::{LiveStatus, REMOVED, Stage};
use xdsctl_model::diag::{Diagnostic, rules};

rules! {
    /// A live client has rejected an update of this resource.
    LIVE_REJECTED = "live-resource-rejected", Dump, Fails, "envoy.admin.v3.ClientResourceStatus NACKED; UpdateFailureState";
    /// A live client could not get this resource.
    LIVE_MISSING = "live-resource-missing", Dump, Fails, "envoy.admin.v3.ClientResourceStatus DOES_NOT_EXIST, RECEIVED_ERROR, TIMEOUT";
    /// A live client is still waiting for this resource.
    LIVE_REQUESTED = "live-resource-requested", Dump, Advice, "envoy.admin.v3.ClientResourceStatus REQUESTED";
    /// A control plane has sent this version and has no answer from the client yet.
    LIVE_STALE = "live-resource-stale", Dump, Advice as Note, "envoy.service.status.v3.ConfigStatus STALE";
    /// A control plane takes this resource away.
    LIVE_REMOVED = "live-resource-removed", Dump, Advice as Note, "DeltaDiscoveryResponse.removed_resources; gRFC A53, C-core xds_client.cc AdsCall::OnRecvMessage";
    /// A later response of the same stream has a newer version of this resource.
    LIVE_UPDATED = "live-resource-updated", Dump, Advice as Note, "C-core xds_client.cc AdsCall::OnRecvMessage";
}

/// Prefix of the error of an update that xdsctl itself rejected while it fetched the dump.
pub const OWN_WORDS: &str = "xdsctl: ";

/// Says whether this is an update that xdsctl rejected while it fetched the dump. It counts as the
/// newest version, and each client that is asked about judges it afresh.
pub(super) fn is_own_rejection(checked: &Checked) -> bool {
    let told = checked.status.as_deref().and_then(|status| status.error.as_deref());
    checked.stage == Stage::Failed && told.is_some_and(|words| words.starts_with(OWN_WORDS))
}

/// Says whether a live client has rejected an update of the resource; the dump may hold that update
/// or not.
pub(super) fn has_rejected_update(checked: &Checked) -> bool {
    if is_own_rejection(checked) {
        return false;
    }
    let is_told = checked.status.as_deref().is_some_and(is_rejection);
    // A client's log may report a rejection without naming the resource.
    checked.stage == Stage::Failed || (is_told && !checked.name.is_empty())
}

fn is_rejection(status: &LiveStatus) -> bool {
    let client = status.client.as_deref().unwrap_or_default();
    let is_absent = matches!(client, "RECEIVED_ERROR" | "TIMEOUT" | "DOES_NOT_EXIST");
    client == "NACKED" || (status.error.is_some() && !is_absent)
}

/// Adds a finding on what was said about the resource.
pub(super) fn check(checked: &mut Checked) {
    let Some(status) = checked.status.as_deref().filter(|_| !is_own_rejection(checked)) else {
        return;
    };
    // The peer's words stand in backticks: a report prints only those that reveal nothing.
    let error = match status.error.as_deref() {
        Some(error) => format!("`{}`", error.replace('`', "'")),
        None => "no reason is given".to_owned(),
    };
    let client = status.client.as_deref().unwrap_or_default();
    let server = status.server.as_deref().unwrap_or_default();
    let found = if server == REMOVED {
        Some((&LIVE_REMOVED, "the control plane takes it away".to_owned()))
    } else if is_rejection(status) {
        let shown = if checked.stage == Stage::Failed {
            "shown is the rejected version".to_owned()
        } else if checked.verdict == Verdict::NotChecked {
            "no accepted version is shown".to_owned()
        } else {
            shown_version(status.version.as_deref(), status.rejected_version.as_deref())
        };
        Some((
            &LIVE_REJECTED,
            format!("the client rejected an update: {error}; {shown}"),
        ))
    } else if server == "ERROR" {
        Some((
            &LIVE_REJECTED,
            format!("the client rejected this version, which the control plane shows: {error}"),
        ))
    } else if server == "STALE" && client.is_empty() {
        let message = "the control plane has sent this version and has no answer yet";
        Some((&LIVE_STALE, message.to_owned()))
    } else {
        match client {
            "DOES_NOT_EXIST" => Some((&LIVE_MISSING, "the control plane does not have it".to_owned())),
            "RECEIVED_ERROR" => Some((&LIVE_MISSING, format!("the control plane sent an error: {error}"))),
            "TIMEOUT" => Some((&LIVE_MISSING, "the control plane did not send it in time".to_owned())),
            "REQUESTED" => Some((
                &LIVE_REQUESTED,
                "the client has asked for it and has no answer yet".to_owned(),
            )),
            _ => None,
        }
    };
    if let Some((rule, message)) = found {
        // The client's own words come first.
        checked.diagnostics.insert(0, Diagnostic::of_whole(rule, message));
    }
}

fn shown_version(shown: Option<&str>, rejected: Option<&str>) -> String {
    let version = |v: Option<&str>| v.filter(|v| !v.is_empty()).map(|v| format!(" {v}")).unwrap_or_default();
    format!(
        "shown is the last accepted version{}, the rejected one{} is not in this dump",
        version(shown),
        version(rejected)
    )
}
