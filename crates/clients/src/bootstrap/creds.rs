//! Channel and call credentials of the bootstrap (A27, A65, A97), as C-core reads them.
//!
//! The first supported entry is used, but all supported ones are checked (C-core
//! `ParseXdsBootstrapChannelCreds`).

use super::client_json::{ClientJson, JsonObject};
use super::dialect::BootstrapDialect;
use super::load::{self, field, text_at};
use xdsctl_model::diag::{Path, Validation, rules};

rules! {
    /// None of the channel credentials is of a type that the client has.
    BOOTSTRAP_NO_KNOWN_CREDS = "bootstrap-no-known-creds", Bootstrap, Nack, "gRFC A27; C-core ParseXdsBootstrapChannelCreds";
    /// Only one of certificate_file and private_key_file is set.
    BOOTSTRAP_HALF_KEY_PAIR = "bootstrap-half-key-pair", Bootstrap, Nack, "gRFC A29, A65; C-core TlsConfig, FileWatcherCertificateProviderFactory";
}

/// The only type of call credentials that the client has.
pub(super) const CALL_TYPE: &str = "jwt_token_file";

/// Checks `channel_creds` and returns the type in use; empty if there is none.
pub fn channel(object: &JsonObject, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let at = at.field("channel_creds");
    let Some(json) = object.get("channel_creds") else {
        load::missing(&at, cx);
        return String::new();
    };
    let Some(entries) = entries(json, &at, cx) else {
        return String::new();
    };
    let mut chosen = None;
    let types = BootstrapDialect::of(cx.profile()).channel_types;
    for (i, (kind, config)) in entries.iter().enumerate().filter(|(_, (kind, _))| types.contains(kind)) {
        let mark = cx.mark();
        if *kind == "tls" {
            let entry = at.index(i);
            tls(config, &entry.field("config"), cx);
        }
        // An entry with errors yields no credentials.
        if !cx.nacked_since(mark) {
            chosen.get_or_insert(*kind);
        }
    }
    if chosen.is_none() {
        none_known(&at, cx);
    }
    chosen.unwrap_or_default().to_owned()
}

/// Reports that no entry has a type that the client has.
pub fn none_known(at: &Path<'_>, cx: &mut Validation<'_>) {
    let profile = cx.profile();
    let who = if profile.is_core() {
        "gRPC".to_owned()
    } else {
        profile.name()
    };
    let types = BootstrapDialect::of(profile).channel_types.join(", ");
    let why = format_args!("no entry has a type that {who} knows: {types}");
    cx.report(&BOOTSTRAP_NO_KNOWN_CREDS, at, why);
}

/// Checks `call_creds`, which may be absent.
pub fn call(object: &JsonObject, at: &Path<'_>, cx: &mut Validation<'_>) {
    let at = at.field("call_creds");
    let Some(json) = object.get("call_creds") else {
        return;
    };
    for (i, (kind, config)) in entries(json, &at, cx).into_iter().flatten().enumerate() {
        if kind != CALL_TYPE {
            continue;
        }
        let entry = at.index(i);
        let config_at = entry.field("config");
        match config.and_then(|c| field(c, CALL_TYPE)) {
            None => load::missing(&config_at.field(CALL_TYPE), cx),
            Some(json) => _ = load::text(json, &config_at.field(CALL_TYPE), cx),
        }
    }
}

/// Returns type and config of each entry; `None` if any entry is malformed, because the client
/// stops there.
fn entries<'j>(
    json: &'j ClientJson,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<Vec<(&'j str, Option<&'j JsonObject>)>> {
    let mark = cx.mark();
    let list = load::array(json, at, cx)?;
    let mut entries = Vec::with_capacity(list.len());
    for (i, json) in list.iter().enumerate() {
        let at = at.index(i);
        let Some(object) = load::object(json, &at, cx) else {
            continue;
        };
        let kind = match field(object, "type") {
            None => {
                load::missing(&at.field("type"), cx);
                None
            }
            Some(json) => load::text(json, &at.field("type"), cx),
        };
        let config = field(object, "config").and_then(|json| load::object(json, &at.field("config"), cx));
        entries.push((kind.unwrap_or_default(), config));
    }
    (!cx.nacked_since(mark)).then_some(entries)
}

/// Checks the config of TLS credentials (A65).
fn tls(config: &Option<&JsonObject>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(config) = config else { return };
    for name in ["certificate_file", "private_key_file", "ca_certificate_file"] {
        text_at(config, name, at, cx);
    }
    if let Some(json) = field(config, "refresh_interval") {
        load::duration(json, &at.field("refresh_interval"), cx);
    }
    key_pair(config, at, cx);
}

/// Checks that certificate and private key are set together. A key whose value is null counts as
/// set.
pub fn key_pair(config: &JsonObject, at: &Path<'_>, cx: &mut Validation<'_>) {
    let has = |name: &str| config.contains_key(name);
    half_pair(has("certificate_file"), has("private_key_file"), at, cx);
}

/// Reports that one of certificate and private key is set without the other.
pub fn half_pair(has_certificate: bool, has_key: bool, at: &Path<'_>, cx: &mut Validation<'_>) {
    if has_certificate != has_key {
        let why = format_args!("certificate_file and private_key_file must both be set or both be absent");
        cx.report(&BOOTSTRAP_HALF_KEY_PAIR, at, why);
    }
}
