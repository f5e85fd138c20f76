//! The client's node, and the server to ask, from a gRPC bootstrap or from options.

use bytes::Bytes;
use serde_json::{Value, json};
use xdsctl_document::proto::transcode;

use crate::connect::{To, Way};
use crate::error::Error;
use crate::{Address, FetchOptions, ServerKind, address};

/// The user agent of the node if the bootstrap has none, as a gRPC client sets its own.
const USER_AGENT: &str = "xdsctl";

/// The port of a server that names none (gRPC name resolution, doc/naming.md).
const DEFAULT_PORT: u16 = 443;

fn bootstrap(options: &FetchOptions) -> Result<Option<Value>, Error> {
    let Some(text) = &options.bootstrap else {
        return Ok(None);
    };
    let value = serde_json::from_slice(text).map_err(|e| Error::Usage(format!("the bootstrap is not JSON: {e}")))?;
    Ok(Some(value))
}

/// Returns the way to the first management server of the bootstrap, with the first credentials that
/// are known here.
pub fn server(options: &FetchOptions) -> Result<Way, Error> {
    let usage = |what: &str| Error::Usage(what.to_owned());
    let bootstrap = bootstrap(options)?;
    let bootstrap = bootstrap.ok_or_else(|| {
        usage("`ads://` takes the server from a bootstrap: give one with --bootstrap, GRPC_XDS_BOOTSTRAP or GRPC_XDS_BOOTSTRAP_CONFIG")
    })?;
    let server = &bootstrap["xds_servers"][0];
    let uri = server["server_uri"]
        .as_str()
        .ok_or_else(|| usage("the bootstrap names no server: xds_servers[0].server_uri is missing"))?;
    let creds = server["channel_creds"].as_array().map_or(&[][..], Vec::as_slice);
    let known = creds.iter().filter_map(|creds| creds["type"].as_str());
    let creds = known
        .into_iter()
        .find(|kind| ["insecure", "tls", "google_default"].contains(kind));
    let is_secure = match creds {
        Some("insecure") => false,
        Some(_) => true,
        None => {
            return Err(usage(
                "the bootstrap's xds_servers[0].channel_creds has none of `insecure`, `tls`, `google_default`",
            ));
        }
    };
    if let Some(path) = uri.strip_prefix("unix:") {
        return Ok(Way {
            to: To::Unix(path.strip_prefix("//").unwrap_or(path).into()),
            is_secure: false,
        });
    }
    let authority = uri.strip_prefix("dns:").unwrap_or(uri).trim_start_matches('/');
    let has_port = authority.rsplit(']').next().is_some_and(|end| end.contains(':'));
    let authority = if has_port {
        authority.to_owned()
    } else {
        format!("{authority}:{DEFAULT_PORT}")
    };
    address::check(&authority, uri, ServerKind::Ads.scheme()).map_err(|_| {
        let uri = address::shown(uri);
        Error::Usage(format!(
            "the bootstrap's xds_servers[0].server_uri `{uri}` is none of HOST:PORT, dns:///HOST:PORT, unix:PATH"
        ))
    })?;
    Ok(Way {
        to: To::Tcp(authority),
        is_secure,
    })
}

/// Returns the node as wire bytes: that of the bootstrap, changed by the address and the options,
/// with the features that a client declares if it reads state-of-the-world responses as gRPC does.
pub fn node(address: &Address, options: &FetchOptions) -> Result<Bytes, Error> {
    let mut node = bootstrap(options)?
        .map(|mut bootstrap| bootstrap["node"].take())
        .unwrap_or_default();
    if !node.is_object() {
        node = json!({});
    }
    if let Some(id) = address.get("node").or(options.node.as_deref()) {
        node["id"] = id.into();
    }
    if let Some(cluster) = address.get("cluster") {
        node["cluster"] = cluster.into();
    }
    node["user_agent_name"] = USER_AGENT.into();
    node["user_agent_version"] = env!("CARGO_PKG_VERSION").into();
    node["client_features"] = json!([
        "envoy.lb.does_not_support_overprovisioning",
        "xds.config.resource-in-sotw"
    ]);
    let text = node.to_string();
    let Some(read) = transcode::named(text.as_bytes(), "envoy.config.core.v3.Node") else {
        return Ok(Bytes::new());
    };
    if let Some(note) = read.notes.first() {
        return Err(Error::Usage(format!(
            "the node of the bootstrap: {}: {}",
            note.diagnostic.path, note.diagnostic.message
        )));
    }
    Ok(read.bytes.into())
}
