//! Channel and call credentials of the bootstrap (A27, A65, A97).
//!
//! The first supported entry is used, but all supported ones are checked (C-core
//! `ParseXdsBootstrapChannelCreds`).

use super::client_json::ClientJson;
use super::dialect::{BootstrapDialect, FileRule};
use super::load::{self, BootstrapObject, field, text_at};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Profile;

rules! {
    /// None of the channel credentials is of a type that the client has.
    BOOTSTRAP_NO_KNOWN_CREDS = "bootstrap-no-known-creds", Bootstrap, Nack, "gRFC A27; C-core ParseXdsBootstrapChannelCreds";
    /// Only one of certificate_file and private_key_file is set.
    BOOTSTRAP_HALF_KEY_PAIR = "bootstrap-half-key-pair", Bootstrap, Nack, "gRFC A29, A65; C-core TlsConfig, FileWatcherCertificateProviderFactory";
}

/// The only type of call credentials that the client has.
const CALL_TYPE: &str = "jwt_token_file";

/// Checks `channel_creds` and returns the type in use; empty if there is none.
pub fn channel(object: &BootstrapObject, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    let at = at.field("channel_creds");
    let Some(json) = object.get("channel_creds") else {
        load::missing(&at, cx);
        return String::new();
    };
    let Some(entries) = entries(json, &at, cx) else {
        return String::new();
    };
    let mut chosen = None;
    let dialect = BootstrapDialect::of(cx.profile());
    for (i, (kind, config)) in entries.iter().enumerate() {
        if !dialect.channel_types.contains(kind) || dialect.reads_first_creds && chosen.is_some() {
            continue;
        }
        let mark = cx.mark();
        if *kind == "tls" && dialect.reads_tls_files {
            let entry = at.index(i);
            tls(config, &entry.field("config"), cx);
        }
        // An entry with errors yields no credentials.
        if !cx.nacked_since(mark) {
            chosen.get_or_insert(*kind);
        }
    }
    if chosen.is_none() {
        cx.report(
            &BOOTSTRAP_NO_KNOWN_CREDS,
            &at,
            format_args!(
                "no entry has a type that {} knows: {}",
                who(cx.profile()),
                dialect.channel_types.join(", ")
            ),
        );
    }
    chosen.unwrap_or_default().to_owned()
}

/// Who does not know something: gRPC for C-core, which stands for it.
fn who(profile: &Profile) -> String {
    match profile.is_core() {
        true => "gRPC".to_owned(),
        false => profile.name(),
    }
}

/// Checks `call_creds`, which may be absent.
pub fn call(object: &BootstrapObject, at: &Path<'_>, cx: &mut Validation<'_>) {
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

/// Type and config of each entry; `None` if any entry is malformed, for then the client looks no
/// further.
fn entries<'j>(
    json: &'j ClientJson,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<Vec<(&'j str, Option<&'j BootstrapObject>)>> {
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
                if BootstrapDialect::of(cx.profile()).needs_type {
                    load::missing(&at.field("type"), cx);
                }
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
fn tls(config: &Option<&BootstrapObject>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(config) = config else { return };
    for name in ["certificate_file", "private_key_file", "ca_certificate_file"] {
        text_at(config, name, at, cx);
    }
    if let Some(json) = field(config, "refresh_interval") {
        load::duration(json, &at.field("refresh_interval"), cx);
    }
    key_pair(config, at, cx);
}

/// Certificate and private key come together; that a key is there counts, even if it is null.
pub fn key_pair(config: &BootstrapObject, at: &Path<'_>, cx: &mut Validation<'_>) {
    let rule = BootstrapDialect::of(cx.profile()).files;
    let [certificate, key] = ["certificate_file", "private_key_file"].map(|name| file(config, name, rule));
    if certificate.is_some() != key.is_some() {
        cx.report(
            &BOOTSTRAP_HALF_KEY_PAIR,
            at,
            format_args!("certificate_file and private_key_file must both be set or both be absent"),
        );
    }
    if let (FileRule::Go, Some(certificate), Some(key)) = (rule, certificate, key)
        && directory(certificate) != directory(key)
    {
        let message = format_args!("certificate_file and private_key_file must be in the same directory");
        cx.report(&BOOTSTRAP_HALF_KEY_PAIR, at, message);
    }
}

/// A file that is named; one without a text where only the key counts is an empty one.
pub fn file<'c>(config: &'c BootstrapObject, name: &str, rule: FileRule) -> Option<&'c str> {
    let text = match config.get(name)? {
        ClientJson::String(text) => text.as_str(),
        _ => "",
    };
    (rule != FileRule::Go || !text.is_empty()).then_some(text)
}

/// What stands before the last slash of a file.
fn directory(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(directory, _)| directory)
}
