//! An ADS server that serves a dump to real clients, and compares their answers with what xdsctl
//! predicts.

mod ledger;
mod peer;
mod snapshot;
mod tls;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;
use tokio_stream::wrappers::ReceiverStream;
use tonic::server::{Grpc, StreamingService};
use tonic::{Request, Response, Status, Streaming};
use xdsctl_model::profile::UserAgent;

pub use ledger::{LedgerCounts, LedgerLine};
pub use snapshot::{Prediction, SnapshotResource};
pub use tls::ServerTls;

use crate::connect::BytesCodec;
use crate::error::Error;
use crate::fetch::{ended, run};
use ledger::Ledger;
use peer::{Peer, PeerAnswer, ProtocolForm};
use snapshot::Snapshot;

const SOTW: &str = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const DELTA: &str = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

/// The number of responses that may wait to be sent to one client.
const QUEUE: usize = 16;

/// How often the inputs are checked for changes.
const RELOAD_INTERVAL: Duration = Duration::from_secs(1);

/// How long the next response of a type waits for the answer to the last one, while nothing else
/// arrives.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// How long no client must be connected before the comparison ends, because a client may open one
/// stream after the other.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long a client may take for the TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest request that is accepted, in bytes.
const MAX_REQUEST_BYTES: usize = 64 << 20;

/// What to serve, and the callbacks of the server.
pub struct Serving<'s> {
    /// The address to listen on; port 0 means any free port.
    pub listen: SocketAddr,
    /// The TLS settings; `None` for plain text.
    pub tls: Option<ServerTls>,
    /// The resources. If several have the same type and name, the last one counts.
    pub resources: Vec<SnapshotResource>,
    /// Whether to end when all clients have left.
    pub until_alone: bool,
    /// Called with the server's address when the socket is open.
    pub listening: &'s mut dyn FnMut(SocketAddr),
    /// Called regularly. If it returns resources, they replace the present ones.
    pub reload: &'s mut dyn FnMut() -> Option<Vec<SnapshotResource>>,
    /// Returns the prediction for the client of a node.
    pub predict: &'s mut dyn FnMut(&UserAgent) -> Prediction,
    /// Returns a text on that client's channel to this Listener; `None` if there is nothing to say.
    pub channel: &'s mut dyn FnMut(&UserAgent, &str) -> Option<String>,
    /// Called for each line to print.
    pub told: &'s mut dyn FnMut(&LedgerLine),
}

/// The state that all streams share.
struct ServerState {
    snapshot: watch::Sender<Arc<Snapshot>>,
    heard: mpsc::UnboundedSender<StreamNews>,
    acceptor: Option<TlsAcceptor>,
    /// How many streams there have been.
    streams: AtomicUsize,
}

/// A message from a stream to the server.
enum StreamNews {
    /// A line to print.
    Line(LedgerLine),
    /// A client has answered.
    Answer(PeerAnswer),
    /// A client opens channels to these Listeners.
    Channels(UserAgent, Vec<String>),
}

impl ServerState {
    fn tell(&self, heard: StreamNews) {
        // The receiver lives as long as the server.
        let _ = self.heard.send(heard);
    }
}

/// Processes the messages of the streams.
struct NewsHandler<'s> {
    ledger: Ledger,
    /// The predictions, by the user agent of the clients' nodes.
    predictions: BTreeMap<UserAgent, Prediction>,
    /// The channels for which a text was printed.
    channels: BTreeSet<(UserAgent, String)>,
    serving: Serving<'s>,
}

impl NewsHandler<'_> {
    fn handle(&mut self, heard: StreamNews) {
        match heard {
            StreamNews::Line(line) => (self.serving.told)(&line),
            StreamNews::Answer(answer) => {
                let predict = &mut self.serving.predict;
                let predicted = self.predictions.entry(answer.agent.clone());
                let predicted = predicted.or_insert_with_key(|agent| predict(agent));
                let lines = self.ledger.take(&answer, predicted);
                lines.iter().for_each(&mut *self.serving.told);
            }
            StreamNews::Channels(agent, listeners) => {
                for listener in listeners {
                    if self.channels.insert((agent.clone(), listener.clone()))
                        && let Some(text) = (self.serving.channel)(&agent, &listener)
                    {
                        (self.serving.told)(&LedgerLine::plain(text));
                    }
                }
            }
        }
    }

    /// Forgets everything that depends on the resources, which have changed.
    fn forget(&mut self) {
        self.predictions.clear();
        self.channels.clear();
    }
}

/// Serves until Ctrl-C or SIGTERM, or until all clients have left.
///
/// # Errors
/// It is not possible to listen on the address.
pub fn serve(mut serving: Serving<'_>) -> Result<LedgerCounts, Error> {
    run(async move {
        let listen = serving.listen;
        let cannot = |e: std::io::Error| Error::Usage(format!("cannot listen on `{listen}`: {e}"));
        let acceptor = serving.tls.take().map(|tls| tls.acceptor()).transpose()?;
        let listener = TcpListener::bind(listen).await.map_err(cannot)?;
        (serving.listening)(listener.local_addr().map_err(cannot)?);
        let (sender, mut heard) = mpsc::unbounded_channel();
        let snapshot = Arc::new(Snapshot::first(std::mem::take(&mut serving.resources)));
        let mut handler = NewsHandler {
            ledger: Ledger::default(),
            predictions: BTreeMap::new(),
            channels: BTreeSet::new(),
            serving,
        };
        let shared = Arc::new(ServerState {
            snapshot: watch::Sender::new(snapshot),
            heard: sender,
            acceptor,
            streams: AtomicUsize::new(0),
        });
        let mut ticks = tokio::time::interval(RELOAD_INTERVAL);
        let mut streams = 0;
        let mut alone_since = tokio::time::Instant::now();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    if let Ok((stream, _)) = accepted {
                        tokio::spawn(connection(stream, Arc::clone(&shared)));
                    }
                }
                Some(heard) = heard.recv() => handler.handle(heard),
                _ = ticks.tick() => {
                    // A client may connect and leave between two ticks.
                    let streams_before = std::mem::replace(&mut streams, shared.streams.load(Ordering::Relaxed));
                    if streams > streams_before || shared.snapshot.receiver_count() > 0 {
                        alone_since = tokio::time::Instant::now();
                    }
                    if handler.serving.until_alone && streams > 0 && alone_since.elapsed() >= FAREWELL {
                        break;
                    }
                    if let Some(resources) = (handler.serving.reload)() {
                        shared.snapshot.send_modify(|snapshot| *snapshot = Arc::new(snapshot.next(resources)));
                        let version = shared.snapshot.borrow().version;
                        handler.forget();
                        handler.handle(StreamNews::Line(LedgerLine::plain(format!("the input has changed: version {version}"))));
                    }
                }
                () = ended() => break,
            }
        }
        while let Ok(heard) = heard.try_recv() {
            handler.handle(heard);
        }
        let snapshot = Arc::clone(&shared.snapshot.borrow());
        Ok(handler.ledger.compared(&snapshot))
    })
}

/// Serves one connection to its end, after the TLS handshake if TLS is used.
async fn connection(stream: TcpStream, shared: Arc<ServerState>) {
    let _ = stream.set_nodelay(true);
    let Some(acceptor) = shared.acceptor.clone() else {
        return http(stream, shared).await;
    };
    let why = match tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => return http(stream, shared).await,
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("nothing within {} s", HANDSHAKE_TIMEOUT.as_secs()),
    };
    let text = format!("a client and this server do not agree on TLS: {why}");
    shared.tell(StreamNews::Line(LedgerLine::loud(text)));
}

async fn http(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, shared: Arc<ServerState>) {
    let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer(request, shared).await) }
    });
    let mut http = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    // A gRPC client has a stream for each channel, all on one connection. If there were a limit, a
    // stream beyond it would wait silently.
    http.max_concurrent_streams(None);
    // A client that breaks the connection has left, which is not an error.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(
    request: http::Request<hyper::body::Incoming>,
    shared: Arc<ServerState>,
) -> http::Response<tonic::body::Body> {
    let form = match request.uri().path() {
        SOTW => ProtocolForm::Sotw,
        DELTA => ProtocolForm::Delta,
        other => {
            let mut response =
                Status::unimplemented(format!("`{other}` is not served, only aggregated discovery is")).into_http();
            *response.status_mut() = http::StatusCode::OK;
            return response;
        }
    };
    let mut grpc = Grpc::new(BytesCodec).max_decoding_message_size(MAX_REQUEST_BYTES);
    grpc.streaming(Ads { form, shared }, request).await
}

/// The ADS service for one stream.
struct Ads {
    form: ProtocolForm,
    shared: Arc<ServerState>,
}

/// The responses that are sent on a stream.
type SnapshotStream = ReceiverStream<Result<Bytes, Status>>;

impl StreamingService<Bytes> for Ads {
    type Response = Bytes;
    type ResponseStream = SnapshotStream;
    type Future = std::future::Ready<Result<Response<SnapshotStream>, Status>>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let (sender, receiver) = mpsc::channel(QUEUE);
        tokio::spawn(converse(
            request.into_inner(),
            sender,
            self.form,
            Arc::clone(&self.shared),
        ));
        std::future::ready(Ok(Response::new(SnapshotStream::new(receiver))))
    }
}

/// Handles one stream from its first request to its end.
async fn converse(
    mut requests: Streaming<Bytes>,
    responses: mpsc::Sender<Result<Bytes, Status>>,
    form: ProtocolForm,
    shared: Arc<ServerState>,
) {
    let mut snapshots = shared.snapshot.subscribe();
    shared.streams.fetch_add(1, Ordering::Relaxed);
    let mut peer = Peer::new(form);
    loop {
        let to_send = tokio::select! {
            request = requests.message() => match request {
                Ok(Some(request)) => {
                    let snapshot = Arc::clone(&snapshots.borrow());
                    match peer.take(&request, &snapshot) {
                        Ok(taken) => {
                            if !taken.listeners.is_empty() {
                                shared.tell(StreamNews::Channels(peer.agent(), taken.listeners));
                            }
                            if let Some(answer) = taken.answer {
                                shared.tell(StreamNews::Answer(answer));
                            }
                            taken.responses
                        }
                        Err(why) => {
                            let text = format!("a client sent something that is not a request, so the stream ends: {why}");
                            shared.tell(StreamNews::Line(LedgerLine::plain(text)));
                            return;
                        }
                    }
                }
                Ok(None) | Err(_) => return,
            },
            changed = snapshots.changed() => {
                if changed.is_err() {
                    return;
                }
                let snapshot = Arc::clone(&snapshots.borrow_and_update());
                peer.refresh(&snapshot)
            }
            () = tokio::time::sleep(ANSWER_TIMEOUT), if peer.awaits_an_answer() => {
                let snapshot = Arc::clone(&snapshots.borrow());
                peer.wait_no_longer(&snapshot)
            }
        };
        for response in to_send {
            if responses.send(Ok(response)).await.is_err() {
                return;
            }
        }
    }
}

/// The node of a request.
#[derive(Clone, PartialEq, prost::Message)]
struct RequestNode {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "6")]
    user_agent_name: String,
    #[prost(string, tag = "7")]
    user_agent_version: String,
}

impl RequestNode {
    fn agent(&self) -> UserAgent {
        UserAgent {
            name: self.user_agent_name.clone(),
            version: self.user_agent_version.clone(),
        }
    }
}
