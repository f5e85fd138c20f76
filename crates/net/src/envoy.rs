//! Envoy's admin port: `/config_dump?include_eds`, and `/clusters` for what Envoy knows of its endpoints.

use std::io::Write;

use reqwest::tls::{Certificate, Identity};
use xdsctl::proto::print;

use crate::connect;
use crate::fetch::Error;
use crate::{Address, Options, Place};

/// What is asked for: paths, and whether the answer must be there.
const CONFIG: &str = "/config_dump?include_eds";
const CLUSTERS: &str = "/clusters?format=json";

/// Bytes in which the key must stand that tells what an answer is.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Fetches both and writes them as one object, `{"configs": [...], "cluster_statuses": [...]}`: a config dump with one key more.
pub async fn fetch(address: &Address, options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let client = client(address, options)?;
    let config = get(&client, address, CONFIG, options).await?;
    let config = object(&config, "configs").ok_or_else(|| malformed(address, CONFIG, "is no config dump"))?;
    let clusters = match get(&client, address, CLUSTERS, options).await {
        Ok(clusters) => clusters,
        // Some put only the dump behind a proxy.
        Err(Error::Refused { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut text = config.to_vec();
    if let Some(clusters) = object(&clusters, "cluster_statuses") {
        let inside = clusters
            .trim_ascii()
            .strip_prefix(b"{")
            .and_then(|rest| rest.strip_suffix(b"}"));
        if let Some(inside) = inside.map(<[u8]>::trim_ascii).filter(|inside| !inside.is_empty()) {
            text = text.trim_ascii_end().strip_suffix(b"}").unwrap_or_default().to_vec();
            text.extend_from_slice(b",\n");
            text.extend_from_slice(inside);
            text.extend_from_slice(b"}\n");
        }
    }
    if options.redacts {
        // What Envoy has not masked itself.
        text = print::redacted(text, "envoy.admin.v3.ConfigDump");
    }
    out.write_all(&text).map_err(Error::Output)
}

/// The text, if it is a JSON object with this key.
fn object<'t>(text: &'t [u8], key: &str) -> Option<&'t [u8]> {
    let quoted = format!("\"{key}\"");
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok();
    let has_key = text
        .windows(quoted.len())
        .take(MAX_HEAD_BYTES)
        .any(|window| window == quoted.as_bytes());
    (is_json && has_key && text.trim_ascii_start().starts_with(b"{")).then_some(text)
}

fn malformed(address: &Address, path: &str, why: &str) -> Error {
    Error::Malformed {
        address: address.text.clone(),
        why: format!("what answers at `{path}` {why}"),
    }
}

/// Who asks over HTTP.
pub fn client(address: &Address, options: &Options) -> Result<reqwest::Client, Error> {
    let tls_error = |e: reqwest::Error| Error::Tls(connect::chain(&e));
    let mut builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(options.timeout);
    if let Place::Unix(path) = &address.place {
        #[cfg(unix)]
        {
            builder = builder.unix_socket(path.as_path());
        }
        #[cfg(not(unix))]
        return Err(Error::Usage(format!(
            "`{}`: this system has no unix sockets",
            path.display()
        )));
    }
    if let Some(tls) = &options.tls {
        if let Some(ca) = &tls.ca {
            builder = builder.tls_certs_only(Certificate::from_pem_bundle(ca).map_err(tls_error)?);
        }
        if let Some((chain, key)) = &tls.identity {
            let both = [chain.as_slice(), b"\n", key.as_slice()].concat();
            builder = builder.identity(Identity::from_pem(&both).map_err(tls_error)?);
        }
    }
    builder.build().map_err(tls_error)
}

async fn get(client: &reqwest::Client, address: &Address, path: &str, options: &Options) -> Result<Vec<u8>, Error> {
    let is_secure = options.tls.is_some() || address.has("tls");
    let scheme = if is_secure { "https" } else { "http" };
    let authority = match &address.place {
        Place::Tcp(authority) => authority.as_str(),
        Place::Unix(_) | Place::Bootstrap => "localhost",
    };
    let broken = |e: &reqwest::Error| connect::unreachable(address, &connect::chain(e));
    let mut attempt = 0;
    let mut response = loop {
        let mut request = client.get(format!("{scheme}://{authority}{path}"));
        if let Some(token) = &options.token {
            request = request.bearer_auth(token);
        }
        match request.send().await {
            Ok(response) => break response,
            Err(error) if attempt >= options.retries || !error.is_connect() => return Err(broken(&error)),
            Err(_) => {
                attempt += 1;
                tokio::time::sleep(connect::pause(attempt)).await;
            }
        }
    };
    if !response.status().is_success() {
        return Err(Error::Refused {
            address: address.text.clone(),
            why: format!("`{path}` answers {}", response.status()),
        });
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|e| broken(&e))? {
        if body.len() + chunk.len() > options.max_message_bytes {
            let limit = options.max_message_bytes;
            return Err(Error::Limit(format!(
                "`{address}`: the answer at `{path}` has more than {limit} bytes; --max-size raises that"
            )));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
