//! The workbench in a browser: serves the pages that are built into the command, and the files that
//! the user has opened, on a port that only this machine can reach.
//!
//! Every program of the machine and every page of another site can reach that port. Therefore each
//! path begins with a token that only the user is told, the Host header must name this server
//! (against DNS rebinding), and requests from pages of other origins are refused. What is served is
//! looked up in two lists, so no path leads to a file. The page itself may load nothing from
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

/// The number of simultaneous connections. A browser opens six.
const MAX_CONNECTIONS: usize = 64;

/// How long a request may take to arrive.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a request for the next version waits for it.
const PATIENCE: Duration = Duration::from_secs(25);

/// The longest address of a running system that a page may ask for, in bytes.
const MAX_ADDRESS_BYTES: usize = 4096;

/// What a page may load: only files of this server, no inline scripts, and inline styles only with
/// the nonce of this answer. Compiling WebAssembly needs a keyword of its own.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; \
     connect-src 'self'; img-src data:; style-src 'self' 'nonce-NONCE'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// A file of the pages.
#[derive(Debug, Clone, Copy)]
pub struct PageFile {
    /// The path of the file, such as `assets/index.js`.
    pub path: &'static str,
    /// The bytes of the file, or of its gzip form.
    pub bytes: &'static [u8],
    /// Whether the bytes are compressed with gzip.
    pub is_gzip: bool,
}

/// A function that fetches a running system, or says why it cannot.
pub type Fetch = dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync;

/// What to show, and the callbacks of the server.
pub struct Showing<'s> {
    /// The port to listen on; 0 means any free port.
    pub port: u16,
    /// The pages. `index.html` is the first that a browser asks for.
    pub pages: &'static [PageFile],
    /// The files that are open.
    pub shelf: Arc<Shelf>,
    /// Fetches the system that the user names on the page.
    pub fetch: Arc<Fetch>,
    /// Called with the server's address when the socket is open.
    pub listening: &'s mut dyn FnMut(&str),
}

/// The state that all requests share.
struct ShowState {
    pages: &'static [PageFile],
    shelf: Arc<Shelf>,
    fetch: Arc<Fetch>,
    /// The first part of each path.
    token: String,
    /// The values that the Host header may have.
    hosts: [String; 2],
}

/// Serves until Ctrl-C or SIGTERM.
///
/// # Errors
/// It is not possible to listen on the port.
pub fn show(showing: Showing<'_>) -> Result<(), Error> {
    run(async move {
        let port = showing.port;
        let cannot = |e: std::io::Error| Error::Usage(format!("cannot listen on port {port} of 127.0.0.1: {e}"));
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
            .await
            .map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let state = Arc::new(ShowState {
            pages: showing.pages,
            shelf: showing.shelf,
            fetch: showing.fetch,
            token: drawn()?,
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
        });
        (showing.listening)(&format!("http://127.0.0.1:{port}/{}/", state.token));
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

/// Returns 128 random bits of the system, in hexadecimal.
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
    // A browser that breaks the connection has left, which is not an error.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

/// Returns the answer to a request, with the headers that all answers have.
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
    // A worker has the policy of its own script's answer.
    let policy = headers.entry(header::CONTENT_SECURITY_POLICY);
    policy.or_insert_with(|| HeaderValue::from_static("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'"));
    response
}

impl ShowState {
    /// Returns the answer, or the status of a refusal without any details.
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

    /// Refuses requests that come neither from a page of this server nor from the user.
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
            // The user may follow a link, for example from a terminal in a web page.
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

    /// Returns a file of the pages.
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

    /// Returns the names of the open files. `?after=N` waits for a version other than N.
    async fn list(&self, query: Option<&str>) -> Result<Response<Full<Bytes>>, StatusCode> {
        if let Some(after) = query.and_then(|query| query.strip_prefix("after=")) {
            let after: u64 = after.parse().map_err(|_| StatusCode::BAD_REQUEST)?;
            // If there is no new version in time, the answer has the old one.
            let _ = tokio::time::timeout(PATIENCE, self.shelf.other_than(after)).await;
        }
        Ok(typed(Bytes::from(self.shelf.list().to_string()), "application/json"))
    }

    /// Returns one of the open files.
    fn opened(&self, path: &str) -> Result<Response<Full<Bytes>>, StatusCode> {
        let number = path.strip_prefix("opened/").and_then(|number| number.parse().ok());
        let bytes = number.and_then(|number| self.shelf.bytes(number));
        Ok(typed(bytes.ok_or(StatusCode::NOT_FOUND)?, "application/octet-stream"))
    }

    /// Fetches a running system, and adds its dump to the open files.
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

/// Returns the only value of a header.
fn one(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok();
    value.filter(|_| values.next().is_none())
}

/// Compares two texts in constant time, so that the time does not reveal how much is right.
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
