//! The workbench in a browser: the pages that are built into the command, and the files that the
//! user has opened, on a port of this machine alone.
//!
//! Every program of the machine and every page of another site can reach that port. So each address
//! begins with a token that only the user is told, the Host header must name this server (DNS
//! rebinding), and a request that a page of another origin makes is refused. What is served is
//! looked up in two lists, and no path leads to a file. The page itself may load nothing from
//! elsewhere (Content-Security-Policy).

mod shelf;

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

pub use shelf::Shelf;

use crate::error::Error;
use crate::fetch::{ended, run};

/// Connections at a time; a browser opens six.
const MAX_CONNECTIONS: usize = 64;

/// How long a request may take to arrive.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a question for the next version waits for it.
const PATIENCE: Duration = Duration::from_secs(25);

/// The longest address of a running system that a page may ask for, in bytes.
const MAX_ADDRESS_BYTES: usize = 4096;

/// What a page may load: nothing that is not from here, no script that stands in the page, and of
/// styles only those with the nonce of this answer. WebAssembly is compiled, which needs a word of
/// its own.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; \
     connect-src 'self'; img-src data:; style-src 'self' 'nonce-NONCE'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// A file of the pages.
#[derive(Debug, Clone, Copy)]
pub struct PageFile {
    /// Where it is asked for, such as `assets/index.js`.
    pub path: &'static str,
    /// The file, or what gzip makes of it.
    pub bytes: &'static [u8],
    /// What the bytes are.
    pub is_gzip: bool,
}

/// Fetches a running system, or says why not.
pub type Fetch = dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync;

/// What to show, and how.
pub struct Showing<'s> {
    /// The port to listen at; 0 takes any free one.
    pub port: u16,
    /// The pages. `index.html` is the first that is asked for.
    pub pages: &'static [PageFile],
    /// What is open.
    pub shelf: Arc<Shelf>,
    /// Fetches what the user asks for on the page.
    pub fetch: Arc<Fetch>,
    /// The socket is open, at this address.
    pub listening: &'s mut dyn FnMut(&str),
}

/// What all requests share.
struct ShowState {
    pages: &'static [PageFile],
    shelf: Arc<Shelf>,
    fetch: Arc<Fetch>,
    /// The first part of each path.
    token: String,
    /// What the Host header may be.
    hosts: [String; 2],
}

/// Serves until Ctrl-C or SIGTERM.
///
/// # Errors
/// The port cannot be listened on.
pub fn show(showing: Showing<'_>) -> Result<(), Error> {
    run(async move {
        let Showing {
            port,
            pages,
            shelf,
            fetch,
            listening,
        } = showing;
        let cannot = |e: std::io::Error| Error::Usage(format!("cannot listen on port {port} of 127.0.0.1: {e}"));
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
            .await
            .map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let state = Arc::new(ShowState {
            pages,
            shelf,
            fetch,
            token: drawn()?,
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
        });
        listening(&format!("http://127.0.0.1:{port}/{}/", state.token));
        let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    if let (Ok((stream, _)), Ok(place)) = (accepted, Arc::clone(&room).try_acquire_owned()) {
                        let state = Arc::clone(&state);
                        tokio::spawn(async move {
                            connection(stream, state).await;
                            drop(place);
                        });
                    }
                }
                () = ended() => return Ok(()),
            }
        }
    })
}

/// 128 random bits of the system, in hexadecimal.
fn drawn() -> Result<String, Error> {
    let mut bits = [0_u8; 16];
    let random = rustls::crypto::ring::default_provider().secure_random;
    random
        .fill(&mut bits)
        .map_err(|_| Error::Start(std::io::Error::other("the system gives no random numbers")))?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

async fn connection(stream: TcpStream, state: Arc<ShowState>) {
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let state = Arc::clone(&state);
        async move { Ok::<_, Infallible>(answer(request, &state).await) }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(REQUEST_TIMEOUT);
    // A browser that breaks off has left, which is no fault.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

/// An answer with the headers that all have.
async fn answer(request: Request<Incoming>, state: &ShowState) -> Response<Full<Bytes>> {
    let mut response = state.respond(request).await.unwrap_or_else(|status| {
        let mut refused = Response::new(Full::default());
        *refused.status_mut() = status;
        refused
    });
    let headers = response.headers_mut();
    let always = [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in always {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for name in ["cross-origin-resource-policy", "cross-origin-opener-policy"] {
        headers.insert(name, HeaderValue::from_static("same-origin"));
    }
    // A worker has the policy of its own answer.
    let policy = headers.entry(header::CONTENT_SECURITY_POLICY);
    policy.or_insert_with(|| HeaderValue::from_static("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'"));
    response
}

impl ShowState {
    /// The answer, or the status of a refusal, which says nothing else.
    async fn respond(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, StatusCode> {
        self.admit(&request)?;
        let path = request.uri().path().strip_prefix('/').unwrap_or_default();
        let (token, path) = path.split_once('/').ok_or(StatusCode::NOT_FOUND)?;
        if !is_same(token, &self.token) {
            return Err(StatusCode::NOT_FOUND);
        }
        let path = path.to_owned();
        match (request.method().clone(), path.as_str()) {
            (Method::GET | Method::HEAD, "opened") => self.list(request.uri().query()).await,
            (Method::GET | Method::HEAD, _) if path.starts_with("opened/") => self.opened(&path),
            (Method::GET | Method::HEAD, _) => self.page(&path),
            (Method::POST, "fetch") => self.fetch(request).await,
            _ => Err(StatusCode::METHOD_NOT_ALLOWED),
        }
    }

    /// Refuses what no page of this server and no user asks.
    fn admit(&self, request: &Request<Incoming>) -> Result<(), StatusCode> {
        let headers = request.headers();
        let is_own = |host: &str| self.hosts.iter().any(|own| own == host);
        let host = one(headers, header::HOST).ok_or(StatusCode::FORBIDDEN)?;
        let named = request.uri().authority().map(http::uri::Authority::as_str);
        let origin = match headers.contains_key(header::ORIGIN) {
            true => one(headers, header::ORIGIN).and_then(|origin| origin.strip_prefix("http://")),
            false => Some(host),
        };
        let is_from_here = match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
            None | Some(b"same-origin" | b"none") => true,
            // A link that the user follows, from a terminal that is a page itself, say.
            Some(_) => {
                let says = |name: &str, what: &[u8]| headers.get(name).is_some_and(|value| value.as_bytes() == what);
                request.method() == Method::GET
                    && says("sec-fetch-mode", b"navigate")
                    && says("sec-fetch-dest", b"document")
            }
        };
        let is_fit = is_own(host) && named.is_none_or(is_own) && origin.is_some_and(is_own) && is_from_here;
        is_fit.then_some(()).ok_or(StatusCode::FORBIDDEN)
    }

    /// A file of the pages.
    fn page(&self, path: &str) -> Result<Response<Full<Bytes>>, StatusCode> {
        let path = if path.is_empty() { "index.html" } else { path };
        let file = self.pages.iter().find(|file| file.path == path);
        let file = file.ok_or(StatusCode::NOT_FOUND)?;
        let kind = match path.rsplit_once('.').map(|(_, ending)| ending) {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("wasm") => "application/wasm",
            _ => "application/octet-stream",
        };
        if path != "index.html" {
            let mut response = typed(Bytes::from_static(file.bytes), kind);
            if file.is_gzip {
                let gzip = HeaderValue::from_static("gzip");
                response.headers_mut().insert(header::CONTENT_ENCODING, gzip);
            }
            return Ok(response);
        }
        let nonce = drawn().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
        let text = String::from_utf8_lossy(file.bytes).replace("%NONCE%", &nonce);
        let mut response = typed(Bytes::from(text.replace("%SERVED%", "yes")), kind);
        let policy = HeaderValue::from_str(&POLICY.replace("NONCE", &nonce));
        let policy = policy.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        Ok(response)
    }

    /// The names of what is open; `?after=N` waits for another version than N.
    async fn list(&self, query: Option<&str>) -> Result<Response<Full<Bytes>>, StatusCode> {
        if let Some(after) = query.and_then(|query| query.strip_prefix("after=")) {
            let after: u64 = after.parse().map_err(|_| StatusCode::BAD_REQUEST)?;
            // Without a new one, the answer has the old.
            let _ = tokio::time::timeout(PATIENCE, self.shelf.other_than(after)).await;
        }
        Ok(typed(Bytes::from(self.shelf.list().to_string()), "application/json"))
    }

    /// One of the files that are open.
    fn opened(&self, path: &str) -> Result<Response<Full<Bytes>>, StatusCode> {
        let number = path.strip_prefix("opened/").and_then(|number| number.parse().ok());
        let bytes = number.and_then(|number| self.shelf.bytes(number));
        Ok(typed(bytes.ok_or(StatusCode::NOT_FOUND)?, "application/octet-stream"))
    }

    /// Fetches a running system, and puts it to what is open.
    async fn fetch(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, StatusCode> {
        let body = Limited::new(request.into_body(), MAX_ADDRESS_BYTES);
        let body = tokio::time::timeout(REQUEST_TIMEOUT, body.collect()).await;
        let body = body.map_err(|_| StatusCode::REQUEST_TIMEOUT)?;
        let body = body.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?.to_bytes();
        let address = String::from_utf8(body.to_vec()).map_err(|_| StatusCode::BAD_REQUEST)?;
        let (fetch, name) = (Arc::clone(&self.fetch), address.clone());
        let fetched = tokio::task::spawn_blocking(move || fetch(&name)).await;
        let fetched = fetched.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
        let error = match fetched {
            Ok(bytes) => {
                self.shelf.put(&address, bytes);
                None
            }
            Err(why) => Some(why),
        };
        let told = serde_json::json!({ "error": error }).to_string();
        Ok(typed(Bytes::from(told), "application/json"))
    }
}

/// The only value of a header.
fn one(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok();
    value.filter(|_| values.next().is_none())
}

/// Compares without telling by the time it takes how much was right.
fn is_same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    one.len() == other.len() && pairs.fold(0, |different, (one, other)| different | (one ^ other)) == 0
}

fn typed(body: Bytes, kind: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests;
