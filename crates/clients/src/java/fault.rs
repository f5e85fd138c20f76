//! The fault filter and the cache of gcp_authn, as grpc-java reads them (FaultFilter,
//! GcpAuthenticationFilter).

use super::{thrown, to_nanos};
use crate::shared::rules::{FAULT_STATUS_UNKNOWN, GCP_AUTHN_CACHE_SIZE_ZERO};
use crate::shared::{Checked, reject};
use xdsctl_document::proto::pb::envoy::extensions::filters::common::fault::v3::fault_delay::FaultDelaySecifier;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::fault::v3::HttpFault;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::fault::v3::fault_abort::ErrorType;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::gcp_authn::v3::GcpAuthnFilterConfig;
use xdsctl_document::proto::pb::envoy::r#type::v3::FractionalPercent;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// A percentage of the fault filter has a denominator that does not exist.
    FAULT_DENOMINATOR_UNKNOWN = "fault-denominator-unknown", Filter, Nack, "grpc-java FaultFilter.parsePercent";
}

/// The number after the last status code (`Status.fromCodeValue`).
const AFTER_LAST: u32 = 17;

/// Converts the config (`parseHttpFault`).
pub(super) fn parse(message: &HttpFault, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    if let Some(delay) = &message.delay {
        let at = at.field("delay");
        percent(delay.percentage.as_ref(), &at, cx)?;
        // Without either kind, the delay is 0.
        if let Some(FaultDelaySecifier::FixedDelay(delay)) = &delay.fault_delay_secifier {
            to_nanos(delay, &at.field("fixed_delay"), cx)?;
        }
    }
    if let Some(abort) = &message.abort {
        let at = at.field("abort");
        percent(abort.percentage.as_ref(), &at, cx)?;
        if let Some(ErrorType::GrpcStatus(AFTER_LAST)) = abort.error_type
            && !cx.has(Feature::StatusCodesEnd)
        {
            let message =
                format_args!("grpc_status is {AFTER_LAST}, one above the last code, which this version looks up");
            return Err(thrown(&FAULT_STATUS_UNKNOWN, &at.field("grpc_status"), message, cx));
        }
        if abort.error_type.is_none() {
            let message = format_args!("neither http_status, grpc_status nor header_abort is set");
            return Err(reject(&FAULT_STATUS_UNKNOWN, &at, message, cx));
        }
    }
    Ok(())
}

/// Checks a percentage (`parsePercent`).
fn percent(percentage: Option<&FractionalPercent>, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let denominator = percentage.map_or(0, |percentage| percentage.denominator);
    if (0..=2).contains(&denominator) {
        return Ok(());
    }
    let at = at.field("percentage");
    let message = format_args!("denominator {denominator} is not known");
    let at = at.field("denominator");
    Err(thrown(&FAULT_DENOMINATOR_UNKNOWN, &at, message, cx))
}

/// Checks the size of the token cache, if it is set.
pub(super) fn cache_size(message: &GcpAuthnFilterConfig, at: &Path<'_>, cx: &mut Validation<'_>) -> Checked {
    let size = message.cache_config.as_ref().and_then(|cache| cache.cache_size);
    if size != Some(0) {
        return Ok(());
    }
    let at = at.field("cache_config");
    let message = format_args!("cache_size is 0, must be at least 1");
    Err(reject(&GCP_AUTHN_CACHE_SIZE_ZERO, &at.field("cache_size"), message, cx))
}
