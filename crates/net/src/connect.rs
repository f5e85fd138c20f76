//! A gRPC connection whose messages are plain bytes, and the messages for its errors.

use std::error::Error as _;
use std::path::PathBuf;
use std::time::Duration;

use bytes::{Buf as _, BufMut as _, Bytes};
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Request, Status};

use crate::error::Error;
use crate::node;
use crate::{Address, FetchOptions, ServerKind, ServerPlace, other_server};

/// How many bytes the server may send before they are read, for a stream and for the connection.
const WINDOW_BYTES: u32 = 8 << 20;

/// The longest pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// A codec that leaves messages as bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct BytesCodec;

impl Codec for BytesCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = BytesCodec;
    type Decoder = BytesCodec;

    fn encoder(&mut self) -> BytesCodec {
        BytesCodec
    }

    fn decoder(&mut self) -> BytesCodec {
        BytesCodec
    }
}

impl Encoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put(item);
        Ok(())
    }
}

impl Decoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

/// Returns the pause before attempt number `attempt`, which counts from 1: one second, two, four,
/// up to [`MAX_PAUSE`].
pub fn pause(attempt: u32) -> Duration {
    let seconds = 1_u64.checked_shl(attempt.saturating_sub(1)).unwrap_or(u64::MAX);
    Duration::from_secs(seconds).min(MAX_PAUSE)
}

/// The other end of an address, and whether TLS is used.
#[derive(Debug)]
pub struct Way {
    pub to: To,
    /// Whether the connection uses TLS.
    pub is_secure: bool,
}

/// The other end of a connection.
#[derive(Debug)]
pub enum To {
    /// `HOST:PORT`.
    Tcp(String),
    /// The path of a socket.
    Unix(PathBuf),
}

/// Finds out where an address leads. Every connection is made through this function, which ensures
/// that a token is not sent where others can read it.
///
/// # Errors
/// A token would be sent in clear text to another machine, or `ads://` has no server in the
/// bootstrap.
pub fn way(address: &Address, options: &FetchOptions) -> Result<Way, Error> {
    let wants_tls = address.has("tls") || options.tls.is_some();
    let (to, is_secure) = match &address.place {
        ServerPlace::Bootstrap => {
            let own = node::server(options)?;
            (own.to, own.is_secure || wants_tls)
        }
        ServerPlace::Tcp(authority) => (To::Tcp(authority.clone()), wants_tls),
        ServerPlace::Unix(path) => (To::Unix(path.clone()), wants_tls),
    };
    match &to {
        To::Tcp(authority) if options.token.is_some() && !is_secure && !is_loopback(authority) => Err(Error::Usage(
            format!("`{address}`: a token is sent over TLS or to this machine only: add --tls, or --ca FILE"),
        )),
        _ => Ok(Way { to, is_secure }),
    }
}

/// Returns the endpoint to connect to, with TLS if it is used.
fn endpoint(address: &Address, options: &FetchOptions) -> Result<Endpoint, Error> {
    let invalid = |what: String| Error::Usage(format!("`{address}`: {what}"));
    let Way { to, is_secure } = way(address, options)?;
    let uri = match &to {
        To::Unix(_) if is_secure => return Err(invalid("TLS is not spoken on a unix socket".to_owned())),
        To::Unix(path) => format!("unix:{}", path.display()),
        To::Tcp(authority) if is_secure => format!("https://{authority}"),
        To::Tcp(authority) => format!("http://{authority}"),
    };
    let mut endpoint = Endpoint::from_shared(uri).map_err(|e| invalid(e.to_string()))?;
    if is_secure {
        let tls = options.tls.clone().unwrap_or_default();
        let mut config = ClientTlsConfig::new();
        config = match &tls.ca {
            Some(ca) => config.ca_certificate(Certificate::from_pem(ca)),
            None => config.with_native_roots(),
        };
        if let Some((chain, key)) = &tls.identity {
            config = config.identity(Identity::from_pem(chain, key));
        }
        if let Some(name) = &tls.server_name {
            config = config.domain_name(name);
        }
        endpoint = endpoint.tls_config(config).map_err(|e| Error::Tls(chain(&e)))?;
    }
    Ok(endpoint
        .connect_timeout(options.timeout)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .tcp_nodelay(true))
}

/// Says whether `HOST:PORT` is on this machine.
fn is_loopback(authority: &str) -> bool {
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Connects to a gRPC server.
pub async fn channel(address: &Address, options: &FetchOptions) -> Result<Channel, Error> {
    let endpoint = endpoint(address, options)?;
    let mut attempt = 0;
    loop {
        match endpoint.connect().await {
            Ok(channel) => return Ok(channel),
            Err(error) if attempt >= options.retries => return Err(unreachable(address, &chain(&error))),
            Err(_) => {
                attempt += 1;
                tokio::time::sleep(pause(attempt)).await;
            }
        }
    }
}

/// Returns a request with the metadata that identifies the user.
pub fn request<T>(message: T, options: &FetchOptions) -> Result<Request<T>, Error> {
    let mut request = Request::new(message);
    if let Some(token) = &options.token {
        let value: MetadataValue<Ascii> = format!("Bearer {token}")
            .parse()
            .map_err(|_| Error::Usage("the token has characters that no header can hold".to_owned()))?;
        request.metadata_mut().insert("authorization", value);
    }
    Ok(request)
}

/// The errors of hyper for a server that speaks first, or that speaks only HTTP/2. Which one it is
/// depends on which bytes come first, and when.
const NO_HTTP1: [&str; 3] = [
    "unexpected message from connection",
    "invalid HTTP version",
    "connection was not ready",
];

/// Returns the error for a connection that cannot be made.
pub fn unreachable(address: &Address, why: &str) -> Error {
    let hint = if why.contains("InvalidContentType") || why.contains("corrupt message") {
        ": the server there does not speak TLS"
    } else if why.contains("UnknownIssuer") || why.contains("NotValidForName") || why.contains("certificate") {
        ": --ca names who is trusted, --server-name the name to expect"
    } else if address.kind == ServerKind::Envoy && NO_HTTP1.iter().any(|words| why.contains(words)) {
        ": a gRPC port is asked as csds:// or ads://"
    } else {
        ""
    };
    Error::Unreachable {
        address: address.text.clone(),
        why: format!("{why}{hint}"),
    }
}

/// Returns the error for a call that failed.
pub fn refused(address: &Address, status: &Status, options: &FetchOptions) -> Error {
    let mut why = match status.code() {
        Code::Unimplemented => "the service is not there".to_owned(),
        code => format!("{code:?}"),
    };
    let message = status.message();
    if status.code() == Code::OutOfRange && message.contains("message length too large") {
        // tonic's message has the size that was found, and the limit.
        let sizes = message.split("too large: ").nth(1).unwrap_or(message);
        return Error::Limit(format!(
            "`{address}` sends a message that is too large: {sizes}; --max-size raises that"
        ));
    }
    // tonic's message for an HTTP answer that is not gRPC.
    if let Some((_, answer)) = message.split_once("while receiving response with status: ") {
        return other_server::no_grpc(address, answer);
    }
    // The message of a broken connection repeats that of its cause.
    if !message.is_empty() && status.source().is_none() {
        why = format!("{why}, {message}");
    }
    let cause = status.source().map(chain).unwrap_or_default();
    if !cause.is_empty() {
        why = format!("{why}: {cause}");
    }
    let has_tls = way(address, options).is_ok_and(|way| way.is_secure);
    let has_identity = options.tls.as_ref().is_some_and(|tls| tls.identity.is_some());
    if is_broken_connection(status) && !has_tls {
        why.push_str(" (does it want TLS? then --tls, or --ca FILE)");
    }
    if is_broken_connection(status) && has_tls && !has_identity {
        why.push_str(" (does it want to know who asks? then --cert and --key)");
    }
    Error::no_answer(address, why)
}

fn is_broken_connection(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled
    ) && status.source().is_some()
}

/// Returns the messages of an error and of all its causes, without repetitions.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        // A link to the library's documentation does not help xdsctl's users.
        let text = text.split(": https://").next().unwrap_or_default().to_owned();
        let is_said = words.iter().any(|said| said.contains(&text)) || text == "transport error";
        if !is_said {
            words.retain(|said| !text.contains(said.as_str()));
            words.push(text);
        }
        next = error.source();
    }
    words.join(": ")
}
