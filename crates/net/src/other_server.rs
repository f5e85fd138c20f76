//! Recognises a server that does not speak gRPC, so that a fetch neither waits for it nor blames
//! missing TLS.
//!
//! Envoy's admin port accepts a call over HTTP/2 and answers when the call has ended, which an ADS
//! stream never does. Most other servers speak HTTP/1.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, SERVER};
use http::{Method, Request, StatusCode};
use tonic::Status;
use tonic::body::Body;
use tonic::client::GrpcService as _;
use tonic::transport::Channel;

use crate::connect::{self, To};
use crate::error::Error;
use crate::{Address, FetchOptions, ServerPlace, envoy};

/// How long a server may be silent before it is asked whether it speaks gRPC.
const SILENCE: Duration = Duration::from_secs(1);

/// How long the server may take to answer that question.
const PATIENCE: Duration = Duration::from_secs(2);

/// The number of characters of a header that are shown.
const MAX_HEADER_CHARS: usize = 60;

/// Text in the errors of the crate h2 that marks an HTTP/2 error sent by the other side.
const OF_HTTP2: &str = "error received";

/// Ends when a silent server turns out to speak HTTP/2 but not gRPC. Otherwise never ends.
///
/// Calls the same method once more and ends that call at once. A gRPC server then answers with a
/// status, and `is_grpc` is set.
pub async fn revealed(
    mut channel: Channel,
    path: &'static str,
    address: &Address,
    options: &FetchOptions,
    is_grpc: &AtomicBool,
) -> Error {
    tokio::time::sleep(SILENCE.min(options.timeout / 2)).await;
    let answer = async {
        let mut request = Request::new(Body::empty());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = http::Uri::from_static(path);
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, http::HeaderValue::from_static("application/grpc"));
        headers.insert(http::header::TE, http::HeaderValue::from_static("trailers"));
        let token = options.token.as_ref().map(|token| format!("Bearer {token}"));
        if let Some(token) = token.and_then(|token| token.parse().ok()) {
            headers.insert(AUTHORIZATION, token);
        }
        std::future::poll_fn(|cx| channel.poll_ready(cx)).await.ok()?;
        channel.call(request).await.ok()
    };
    let answer = tokio::time::timeout(options.timeout, answer).await.ok().flatten();
    match answer {
        Some(answer) if !has_grpc(answer.headers()) => no_grpc(address, &shown(answer.status(), answer.headers())),
        answer => {
            is_grpc.store(answer.is_some(), Ordering::Relaxed);
            std::future::pending().await
        }
    }
}

/// Returns the error for a call that failed at once: that of [`connect::refused`], unless the
/// server is known not to be a gRPC server.
pub async fn named(address: &Address, status: &Status, options: &FetchOptions) -> Error {
    let error = connect::refused(address, status, options);
    let cause = std::error::Error::source(status)
        .map(connect::chain)
        .unwrap_or_default();
    if cause.is_empty() || cause.contains(OF_HTTP2) {
        return error;
    }
    let way = match connect::way(address, options) {
        Ok(way) if !way.is_secure => way,
        _ => return error,
    };
    let Ok(client) = envoy::client(&way, options) else {
        return error;
    };
    let authority = match &way.to {
        To::Tcp(authority) => authority.as_str(),
        To::Unix(_) => "localhost",
    };
    let request = client.head(format!("http://{authority}/")).send();
    match tokio::time::timeout(PATIENCE, request).await {
        // A server with TLS gives this answer, too.
        Ok(Ok(answer)) if answer.status() != StatusCode::BAD_REQUEST => refused(
            address,
            &format!(
                "the server there speaks HTTP/1, and gRPC needs HTTP/2 ({})",
                shown(answer.status(), answer.headers())
            ),
        ),
        _ => error,
    }
}

/// Returns the error for an HTTP/2 answer that is not gRPC.
pub fn no_grpc(address: &Address, answer: &str) -> Error {
    refused(address, &format!("the server there is not a gRPC server ({answer})"))
}

fn has_grpc(headers: &HeaderMap) -> bool {
    let form = headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes);
    form.is_some_and(|form| form.starts_with(b"application/grpc"))
}

/// Returns the status of an answer, and what it says about its server.
fn shown(status: StatusCode, headers: &HeaderMap) -> String {
    let said = [SERVER, CONTENT_TYPE].map(|name| headers.get(name).map(http::HeaderValue::as_bytes));
    let [server, form] = said.map(|bytes| {
        let text = String::from_utf8_lossy(bytes?)
            .chars()
            .take(MAX_HEADER_CHARS)
            .collect::<String>();
        Some(text).filter(|text| !text.is_empty())
    });
    let parts = [server, Some(status.to_string()), form];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn refused(address: &Address, what: &str) -> Error {
    let place = match &address.place {
        ServerPlace::Tcp(authority) => format!("envoy://{authority}"),
        ServerPlace::Unix(path) => format!("envoy+unix://{}", path.display()),
        ServerPlace::Bootstrap => "envoy://HOST:PORT".to_owned(),
    };
    Error::no_answer(address, format!("{what}; Envoy's admin port is asked as {place}"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::time::Instant;

    use http_body_util::{BodyExt as _, Empty};
    use hyper::service::service_fn;
    use hyper_util::rt::{TokioExecutor, TokioIo};

    use super::*;

    /// Returns the error of a fetch from an address, and how long it took.
    fn said(scheme: &str, port: u16) -> (String, Duration) {
        let address = Address::parse(&format!("{scheme}://127.0.0.1:{port}")).unwrap();
        let began = Instant::now();
        let fetched = crate::fetch(&address, &FetchOptions::default(), &mut Vec::new(), &mut |_| ());
        (fetched.unwrap_err().to_string(), began.elapsed())
    }

    /// Starts an HTTP/2 server that answers when a request has ended, as Envoy's admin port does.
    /// Returns its port.
    fn admin() -> u16 {
        let (say, port) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                say.send(listener.local_addr().unwrap().port()).unwrap();
                loop {
                    let io = TokioIo::new(listener.accept().await.unwrap().0);
                    let answer = service_fn(|request: Request<hyper::body::Incoming>| async {
                        let _ = request.into_body().collect().await;
                        let answer = http::Response::builder().status(404).header(SERVER, "envoy");
                        answer
                            .header(CONTENT_TYPE, "text/plain")
                            .body(Empty::<bytes::Bytes>::new())
                    });
                    let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                    tokio::spawn(async move { server.serve_connection(io, answer).await });
                }
            });
        });
        port.recv().unwrap()
    }

    /// Starts an HTTP/1 server that gives this answer on every connection. Returns its port.
    fn old(answer: &'static str) -> u16 {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                let _ = connection.read(&mut [0; 4096]);
                let _ = connection.write_all(answer.as_bytes());
            }
        });
        port
    }

    #[test]
    fn an_admin_port_is_named_and_not_waited_for() {
        let port = admin();
        let (words, after) = said("ads", port);
        assert_eq!(
            words,
            format!(
                "`ads://127.0.0.1:{port}` gives no answer: the server there is not a gRPC server (envoy, 404 Not Found, text/plain); \
                 Envoy's admin port is asked as envoy://127.0.0.1:{port}"
            )
        );
        assert!(after < Duration::from_secs(8), "{after:?}");
    }

    #[test]
    fn a_server_of_http1_is_named() {
        let port = old("HTTP/1.1 403 Forbidden\r\nserver: nginx/1\r\ncontent-length: 0\r\n\r\n");
        for scheme in ["ads", "csds"] {
            let (words, _) = said(scheme, port);
            assert_eq!(
                words,
                format!(
                    "`{scheme}://127.0.0.1:{port}` gives no answer: the server there speaks HTTP/1, and gRPC needs HTTP/2 \
                     (nginx/1, 403 Forbidden); Envoy's admin port is asked as envoy://127.0.0.1:{port}"
                )
            );
        }
    }

    #[test]
    fn what_may_want_tls_is_not_named() {
        let port = old("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        let (words, _) = said("ads", port);
        assert!(
            words.ends_with("(does it want TLS? then --tls, or --ca FILE)"),
            "{words}"
        );
    }
}
