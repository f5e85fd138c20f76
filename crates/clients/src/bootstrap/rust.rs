//! tonic-xds's bootstrap: serde decodes it into structs (bootstrap.rs, cert_provider_config.rs).
//!
//! A field that serde reads must not occur twice, and null is a wrong type unless the field is
//! optional. A struct may also be written as a list of its fields. A field that nobody reads may be
//! anything that looks like JSON.

use super::client_json::ClientJson;
use super::creds::{self, BOOTSTRAP_NO_KNOWN_CREDS, half_pair};
use super::dialect::BootstrapDialect;
use super::load::{self, wrong};
use super::providers::CertificateProvider;
use super::{
    BOOTSTRAP_NOT_JSON, BOOTSTRAP_SERVER_URI_SCHEME, Bootstrap, KEYS, LOCALITY_KEYS, NODE_KEYS, SERVER_KEYS, Server,
    known_features, servers_of, unknown_key, without_servers,
};
use xdsctl_model::diag::{Effect, Path, Validation};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::MAX_DURATION_SECONDS;

/// How deep containers may be nested for serde_json.
const MAX_DEPTH: usize = 127;

/// What serde does when a field of a struct is absent.
#[derive(Clone, Copy, PartialEq)]
enum Absence {
    /// The absence is an error.
    Fault,
    /// The field is optional, and null counts as absent. In a list it must be there.
    Nothing,
    /// The field gets its default.
    Default,
}

use Absence::{Default as Defaults, Fault, Nothing};

/// Reads a whole bootstrap.
pub(super) fn document(json: &ClientJson, cx: &mut Validation<'_>) -> Option<Bootstrap> {
    const FIELDS: [(&str, Absence); 3] = [
        ("xds_servers", Fault),
        ("node", Defaults),
        ("certificate_providers", Defaults),
    ];
    let root = Path::ROOT;
    let [servers, its_node, providers] = fields(json, &FIELDS, &KEYS, &root, cx)?;
    let mut bootstrap = Bootstrap::default();
    let at = root.field("xds_servers");
    if let Some(json) = servers {
        bootstrap.servers = servers_of(json, &at, cx, |i, json, at, cx| server(json, i == 0, at, cx));
        if bootstrap.servers.is_empty() && !cx.nacked() {
            without_servers(&at, cx);
        }
    }
    if let Some(json) = its_node {
        bootstrap.node_id = node(json, &root.field("node"), cx);
    }
    let at = root.field("certificate_providers");
    let providers = providers.and_then(|json| load::object(json, &at, cx));
    for (name, json) in providers.into_iter().flat_map(|map| map.pairs()) {
        let at = at.json_key(name);
        const FIELDS: [(&str, Absence); 2] = [("plugin_name", Fault), ("config", Defaults)];
        let Some([plugin, config]) = fields(json, &FIELDS, &["plugin_name", "config"], &at, cx) else {
            continue;
        };
        let plugin = text(plugin, &at.field("plugin_name"), cx);
        if let Some(json) = config {
            value(json, 3, &at.field("config"), cx);
        }
        let provider = CertificateProvider::of(plugin, json, None);
        bootstrap.certificate_providers.insert(name.to_owned(), provider);
    }
    Some(bootstrap)
}

/// Returns the fields of a struct in the order of `wanted`. The struct may be an object or a list.
fn fields<'j, const N: usize>(
    json: &'j ClientJson,
    wanted: &[(&str, Absence); N],
    known: &[&str],
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<[Option<&'j ClientJson>; N]> {
    let mut found = [None; N];
    let is_list = match json {
        ClientJson::Array(list) => {
            if list.len() > N {
                load::refuse(
                    at,
                    format_args!("has {} elements, must have at most {N}", list.len()),
                    cx,
                );
                return None;
            }
            for (into, json) in found.iter_mut().zip(list) {
                *into = Some(json);
            }
            true
        }
        other => {
            for (key, json) in load::object(other, at, cx)?.pairs() {
                match wanted.iter().position(|(name, _)| *name == key) {
                    Some(number) if found[number].is_some() => {
                        load::refuse(&at.field(key), format_args!("the key occurs twice in one object"), cx);
                    }
                    Some(number) => found[number] = Some(json),
                    None if known.contains(&key) => {}
                    None => unknown_key(key, known, at, cx),
                }
            }
            false
        }
    };
    for ((name, absence), json) in wanted.iter().zip(&mut found) {
        if json.is_none() && (*absence == Fault || is_list && *absence == Nothing) {
            load::missing(&at.field(name), cx);
        }
        if *absence == Nothing {
            *json = json.filter(|json| **json != ClientJson::Null);
        }
    }
    Some(found)
}

/// Reads a string, which must not have half of a surrogate pair.
fn read_text<'j>(json: &'j ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<&'j str> {
    if let ClientJson::Mended(_) = json {
        half_surrogate(at, cx);
    }
    load::text(json, at, cx)
}

fn half_surrogate(at: &Path<'_>, cx: &mut Validation<'_>) {
    load::refuse(at, format_args!("the string has half a surrogate pair"), cx);
}

fn text(json: Option<&ClientJson>, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    json.and_then(|json| read_text(json, at, cx))
        .unwrap_or_default()
        .to_owned()
}

/// Reads a server. The client connects to the first one.
fn server(json: &ClientJson, is_first: bool, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<Server> {
    const FIELDS: [(&str, Absence); 3] = [
        ("server_uri", Fault),
        ("channel_creds", Defaults),
        ("server_features", Defaults),
    ];
    let mark = cx.mark();
    let [uri, channel, features] = fields(json, &FIELDS, &SERVER_KEYS, at, cx)?;
    let uri = text(uri, &at.field("server_uri"), cx);
    let at_creds = at.field("channel_creds");
    let mut entries = Vec::new();
    let channel = channel.and_then(|json| load::array(json, &at_creds, cx));
    for (i, json) in channel.into_iter().flatten().enumerate() {
        let at = at_creds.index(i);
        const FIELDS: [(&str, Absence); 2] = [("type", Fault), ("config", Defaults)];
        if let Some([kind, config]) = fields(json, &FIELDS, &["type", "config"], &at, cx) {
            let kind = kind.map_or("", |json| type_of(json, &at.field("type"), cx));
            if let Some(json) = config {
                value(json, 5, &at.field("config"), cx);
            }
            entries.push((kind, config));
        }
    }
    let at_features = at.field("server_features");
    let features = features.and_then(|json| load::array(json, &at_features, cx));
    for (i, feature) in features.into_iter().flatten().enumerate() {
        read_text(feature, &at_features.index(i), cx);
    }
    let features = known_features(features.into_iter().flatten().filter_map(ClientJson::as_text));
    let mut server = Server {
        uri,
        channel_creds: String::new(),
        features,
    };
    if cx.nacked_since(mark) {
        return Some(server);
    }
    let types = BootstrapDialect::of(cx.profile()).channel_types;
    match entries.iter().enumerate().find(|(_, (kind, _))| types.contains(kind)) {
        None => creds::none_known(&at_creds, cx),
        Some((i, (kind, config))) => {
            if let ("tls", Some(json)) = (*kind, config) {
                tls(json, &at_creds.index(i).field("config"), cx);
            }
            (*kind).clone_into(&mut server.channel_creds);
            if *kind == "tls" && is_first && !cx.has(Feature::ProgramTls) {
                let why = format_args!(
                    "`tls` is rejected unless the program has the feature `tls-ring` or `tls-aws-lc` of tonic-xds: `--with tls` answers \
                     for one that has"
                );
                cx.report(&BOOTSTRAP_NO_KNOWN_CREDS, &at_creds.index(i), why);
            }
        }
    }
    match server.uri.as_str() {
        "" => load::missing(&at.field("server_uri"), cx),
        uri => scheme(uri, &server.channel_creds, &at.field("server_uri"), cx),
    }
    Some(server)
}

/// Reads a type of credentials: a string, or the other form that serde accepts for an enum, an
/// object whose only key is the type and whose value is null.
fn type_of<'j>(json: &'j ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> &'j str {
    if let ClientJson::Object(object) = json {
        let mut pairs = object.pairs();
        if let (Some((kind @ ("insecure" | "tls" | "google_default"), ClientJson::Null)), None) =
            (pairs.next(), pairs.next())
        {
            return kind;
        }
    }
    read_text(json, at, cx).unwrap_or_default()
}

/// Checks the config of `tls` credentials (`FileWatcherConfig`).
fn tls(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) {
    const NAMES: [&str; 4] = [
        "certificate_file",
        "private_key_file",
        "ca_certificate_file",
        "refresh_interval",
    ];
    let found = match json {
        // The client has read this object as a JSON value before, so the last value of a repeated
        // key counts.
        ClientJson::Object(object) => NAMES.map(|name| object.get(name)),
        other => match fields(other, &NAMES.map(|name| (name, Defaults)), &NAMES, at, cx) {
            Some(found) => found,
            None => return,
        },
    };
    let found = found.map(|json| json.filter(|json| **json != ClientJson::Null));
    let mark = cx.mark();
    for (name, json) in NAMES.into_iter().zip(found) {
        text(json, &at.field(name), cx);
    }
    if cx.nacked_since(mark) {
        return;
    }
    let [certificate, key, _, interval] = found;
    if let Some(text) = interval.and_then(ClientJson::as_text)
        && !is_duration(text)
    {
        let why = format_args!("`{text}` is no duration such as `12.5s` that is longer than 0");
        load::refuse(&at.field("refresh_interval"), why, cx);
    }
    half_pair(certificate.is_some(), key.is_some(), at, cx);
}

/// Says whether a text is a duration above 0 with at most nine decimals (`parse_proto_duration`).
fn is_duration(text: &str) -> bool {
    load::seconds(text).is_some_and(|(whole, fraction)| {
        fraction.is_none_or(|fraction| fraction.len() <= 9)
            && whole.parse().is_ok_and(|seconds: i64| seconds <= MAX_DURATION_SECONDS)
            && text.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
    })
}

/// Checks that the address of a server has a scheme that agrees with the credentials.
fn scheme(uri: &str, channel_creds: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    match (scheme_of(uri), channel_creds) {
        (Ok(None), "insecure") => {
            let why = "it has no scheme, so that the client never connects, must be like `http://xds.example.com:443`";
            cx.report(&BOOTSTRAP_SERVER_URI_SCHEME, at, format_args!("{why}"));
        }
        (Ok(Some(scheme)), "insecure") if scheme.eq_ignore_ascii_case("https") => {
            let why = format_args!("the scheme is https, and the credentials are `insecure`");
            cx.report_as(Effect::Nack, &BOOTSTRAP_SERVER_URI_SCHEME, at, why);
        }
        (Ok(Some(scheme)), "tls") if !scheme.eq_ignore_ascii_case("https") => {
            let why = format_args!("the scheme is {scheme}, and the credentials are `tls`, which need https or none");
            cx.report_as(Effect::Nack, &BOOTSTRAP_SERVER_URI_SCHEME, at, why);
        }
        (Err(NoUri), "tls") => {
            let why = format_args!(
                "`{uri}` is no URI, and the credentials are `tls`, which need one with https or no scheme"
            );
            cx.report_as(Effect::Nack, &BOOTSTRAP_SERVER_URI_SCHEME, at, why);
        }
        _ => {}
    }
}

/// The text is not a URI.
struct NoUri;

/// Returns the scheme of an address as the `http` crate reads it; `None` for an authority or a path
/// alone.
fn scheme_of(uri: &str) -> Result<Option<&str>, NoUri> {
    let is_scheme = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    match uri.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) && !scheme.is_empty() => match authority_end(rest)? {
            0 => Err(NoUri),
            _ => Ok(Some(scheme)),
        },
        _ if uri.starts_with('/') || authority_end(uri)? == uri.len() => Ok(None),
        _ => Err(NoUri),
    }
}

/// Returns where the authority at the beginning of a text ends.
fn authority_end(text: &str) -> Result<usize, NoUri> {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let authority = text.get(..end).unwrap_or_default();
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!$&'()*+,-.:;=@[]_~%".contains(&byte);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (inside, after) = host
        .rsplit_once(']')
        .map_or(("", host), |(inside, after)| (inside, after));
    let are_brackets_paired =
        authority.matches('[').count() == authority.matches(']').count() && authority.matches('[').count() < 2;
    let is_authority = authority.bytes().all(is_letter)
        && are_brackets_paired
        && inside.matches(':').count() <= 8
        && after.matches(':').count() <= 1
        && !after.contains('%')
        && !authority.ends_with('@');
    if is_authority { Ok(end) } else { Err(NoUri) }
}

fn node(json: &ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> String {
    const FIELDS: [(&str, Absence); 4] = [
        ("id", Defaults),
        ("cluster", Nothing),
        ("locality", Nothing),
        ("metadata", Defaults),
    ];
    let Some([id, cluster, locality, metadata]) = fields(json, &FIELDS, &NODE_KEYS, at, cx) else {
        return String::new();
    };
    text(cluster, &at.field("cluster"), cx);
    if let Some(json) = locality {
        let at = at.field("locality");
        let found = fields(
            json,
            &LOCALITY_KEYS.map(|name| (name, Defaults)),
            &LOCALITY_KEYS,
            &at,
            cx,
        );
        for (name, json) in LOCALITY_KEYS.into_iter().zip(found.into_iter().flatten()) {
            text(json, &at.field(name), cx);
        }
    }
    if let Some(json) = metadata {
        let at = at.field("metadata");
        match json {
            ClientJson::Object(_) => value(json, 2, &at, cx),
            other => _ = wrong::<()>(other, "an object", &at, cx),
        }
    }
    text(id, &at.field("id"), cx)
}

/// Checks a value that is kept whole and has `depth` containers around it.
fn value(json: &ClientJson, depth: usize, at: &Path<'_>, cx: &mut Validation<'_>) {
    match json {
        ClientJson::Array(_) | ClientJson::Object(_) if depth == MAX_DEPTH => {
            let why = format_args!("nested more than {MAX_DEPTH} deep");
            cx.report(&BOOTSTRAP_NOT_JSON, at, why);
        }
        ClientJson::Array(elements) => {
            for (i, element) in elements.iter().enumerate() {
                value(element, depth + 1, &at.index(i), cx);
            }
        }
        ClientJson::Object(object) => {
            for (key, inner) in object.pairs() {
                value(inner, depth + 1, &at.json_key(key), cx);
            }
        }
        ClientJson::Number(text) if json.is_infinite() => load::refuse(at, format_args!("{text} is too large"), cx),
        ClientJson::Mended(_) => half_surrogate(at, cx),
        _ => {}
    }
}
