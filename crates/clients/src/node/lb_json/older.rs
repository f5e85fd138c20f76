//! JSON configs of LB policies in versions before one place watches all clusters (A74).

use prost_types::value::Kind;

use super::{JsonObject, Parsed, number};

/// Checks the fields of `xds_cluster_impl` that later versions lack: the EDS service name, drops,
/// and the server for load reports.
pub(super) fn cluster_impl(config: &JsonObject<'_>) -> Parsed {
    config.text("eds_service_name")?;
    number(config, "max_concurrent_requests")?;
    for category in &config.list("drop_categories")?.values {
        let Some(category) = &category.kind else { continue };
        let category = JsonObject::new(category)?;
        category.text("category")?;
        if !matches!(category.get("requests_per_million"), Some(Kind::NumberValue(_))) {
            return Err("`requests_per_million` is not a number".to_owned());
        }
    }
    load_reporting_server(config)
}

/// Checks `xds_cluster_resolver`, which later versions lack.
pub(super) fn cluster_resolver(config: &JsonObject<'_>) -> Parsed {
    let mechanisms = config.list("discovery_mechanisms")?;
    config.list("xds_lb_policy")?;
    for mechanism in &mechanisms.values {
        let Some(mechanism) = &mechanism.kind else { continue };
        let mechanism = JsonObject::new(mechanism)?;
        mechanism.text("cluster")?;
        let kind = mechanism.get("type");
        if !matches!(kind, Some(Kind::StringValue(kind)) if matches!(kind.as_str(), "EDS" | "LOGICAL_DNS")) {
            return Err("`type` is neither `EDS` nor `LOGICAL_DNS`".to_owned());
        }
        number(&mechanism, "max_concurrent_requests")?;
        for field in ["eds_service_name", "dns_hostname"] {
            if mechanism.get(field).is_some() {
                mechanism.text(field)?;
            }
        }
        load_reporting_server(&mechanism)?;
    }
    Ok(())
}

/// Checks `lrs_load_reporting_server` as a server of the bootstrap (`validateXdsServerConfig`);
/// absent, null and false are accepted.
fn load_reporting_server(config: &JsonObject<'_>) -> Parsed {
    let server = match config.get("lrs_load_reporting_server") {
        None | Some(Kind::NullValue(_) | Kind::BoolValue(false)) => return Ok(()),
        Some(Kind::NumberValue(number)) if *number == 0.0 || number.is_nan() => return Ok(()),
        Some(Kind::StringValue(text)) if text.is_empty() => return Ok(()),
        Some(server) => JsonObject::new(server)?,
    };
    server.text("server_uri")?;
    let mut is_supported = false;
    for creds in &server.list("channel_creds")?.values {
        let Some(creds) = &creds.kind else { continue };
        let creds = JsonObject::new(creds)?;
        creds.text("type")?;
        is_supported |= matches!(
            creds.get("type"),
            Some(Kind::StringValue(kind)) if matches!(kind.as_str(), "google_default" | "insecure")
        );
        if !matches!(
            creds.get("config"),
            None | Some(Kind::StructValue(_) | Kind::ListValue(_))
        ) {
            return Err("`config` of channel_creds is not an object".to_owned());
        }
    }
    if !is_supported {
        return Err("no entry of `channel_creds` is supported".to_owned());
    }
    if server.get("server_features").is_some() {
        server.list("server_features")?;
    }
    Ok(())
}
