//! Envoy's admin port: `/config_dump?include_eds`, and `/clusters` for what Envoy knows about its
//! endpoints.

use std::io::Write;

use http::header::HOST;
use reqwest::Url;
use reqwest::tls::{Certificate, Identity};
use xdsctl_document::proto::print;
use xdsctl_document::source::secrets::SecretPlace;

use crate::connect::{self, To, Way};
use crate::error::Error;
use crate::{Address, FetchOptions, address};

/// The path of the config dump, and below it that of the clusters' state.
const CONFIG: &str = "/config_dump?include_eds";
const CLUSTERS: &str = "/clusters?format=json";

/// How many bytes of an answer are searched for the key that shows what it is.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Fetches both and writes them as one object, `{"configs": [...], "cluster_statuses": [...]}`: a
/// config dump with one more key.
pub async fn fetch(address: &Address, options: &FetchOptions, out: &mut dyn Write) -> Result<(), Error> {
    let asker = Asker::new(address, options).await?;
    let config = asker.get(CONFIG, address, options).await?;
    let config = object(&config, "configs");
    let not_one = || Error::malformed(address, format!("what answers at `{CONFIG}` is no config dump"));
    let config = config.ok_or_else(not_one)?;
    let clusters = match asker.get(CLUSTERS, address, options).await {
        Ok(clusters) => clusters,
        // Some users expose only the dump through a proxy.
        Err(Error::NoAnswer { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    // Mask the secrets that Envoy itself has not masked.
    let (mut text, clusters) = match options.redacts {
        true => (
            print::redacted(config.to_vec(), "envoy.admin.v3.ConfigDump"),
            print::redacted_at(clusters, SecretPlace::CLUSTERS),
        ),
        false => (config.to_vec(), clusters),
    };
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
    out.write_all(&text).map_err(Error::Output)
}

/// Returns the text, if it is a JSON object with this key.
fn object<'t>(text: &'t [u8], key: &str) -> Option<&'t [u8]> {
    let quoted = format!("\"{key}\"");
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok();
    let has_key = text
        .windows(quoted.len())
        .take(MAX_HEAD_BYTES)
        .any(|window| window == quoted.as_bytes());
    (is_json && has_key && text.trim_ascii_start().starts_with(b"{")).then_some(text)
}

/// Returns the client for requests over HTTP.
pub fn client(way: &Way, options: &FetchOptions) -> Result<reqwest::Client, Error> {
    builder(way, options)?.build().map_err(tls_error)
}

fn tls_error(error: reqwest::Error) -> Error {
    Error::Tls(connect::chain(&error))
}

fn builder(way: &Way, options: &FetchOptions) -> Result<reqwest::ClientBuilder, Error> {
    let mut builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(options.timeout);
    if let To::Unix(path) = &way.to {
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
    Ok(builder)
}

/// An HTTP client, and the beginning of the URLs that it asks for.
struct Asker {
    client: reqwest::Client,
    origin: String,
    /// The header `host`, if the name in the URL is the one that the certificate must have.
    host: Option<String>,
}

impl Asker {
    async fn new(address: &Address, options: &FetchOptions) -> Result<Asker, Error> {
        let way = connect::way(address, options)?;
        let scheme = if way.is_secure { "https" } else { "http" };
        let authority = match &way.to {
            To::Tcp(authority) => authority.as_str(),
            To::Unix(_) => "localhost",
        };
        let server_name = options.tls.as_ref().and_then(|tls| tls.server_name.as_deref());
        let Some(name) = server_name else {
            return Ok(Asker {
                client: client(&way, options)?,
                origin: format!("{scheme}://{authority}"),
                host: None,
            });
        };
        // The URL has the name that the certificate must have, so this name is resolved to the
        // addresses of the host.
        let (_, port) = authority.rsplit_once(':').unwrap_or((authority, "443"));
        let origin = format!("{scheme}://{name}:{port}");
        let is_domain = |url: Url| url.domain().is_some_and(|domain| domain.eq_ignore_ascii_case(name));
        if !Url::parse(&origin).is_ok_and(is_domain) {
            return Err(Error::Usage(format!(
                "`{address}`: --server-name must be a DNS name here, and `{}` is none",
                address::shown(name)
            )));
        }
        let mut builder = builder(&way, options)?;
        if let To::Tcp(authority) = &way.to {
            let found = tokio::net::lookup_host(authority.as_str()).await;
            let found: Vec<_> = found
                .map_err(|error| connect::unreachable(address, &error.to_string()))?
                .collect();
            builder = builder.resolve_to_addrs(&name.to_ascii_lowercase(), &found);
        }
        Ok(Asker {
            client: builder.build().map_err(tls_error)?,
            origin,
            host: Some(authority.to_owned()),
        })
    }

    async fn get(&self, path: &str, address: &Address, options: &FetchOptions) -> Result<Vec<u8>, Error> {
        let broken = |e: &reqwest::Error| connect::unreachable(address, &connect::chain(e));
        let mut attempt = 0;
        let mut response = loop {
            let mut request = self.client.get(format!("{}{path}", self.origin));
            if let Some(host) = &self.host {
                request = request.header(HOST, host);
            }
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
            let why = format!("`{path}` answers {}", response.status());
            return Err(Error::no_answer(address, why));
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
}
