//! The process that answers with 100 MB of client status or discovery responses.

use std::convert::Infallible;

use bytes::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use tokio_stream::StreamExt as _;
use tonic::{Request, Response, Status, Streaming};

use super::Raw;

/// The size of the answer, in bytes.
const BYTES: usize = 100 << 20;

/// The number of endpoints of one resource.
const ENDPOINTS: usize = 500;

/// The number of responses in which the endpoints are sent.
const RESPONSES: usize = 20;

pub const CSDS: &str = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";
pub const SOTW: &str = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
pub const DELTA: &str = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
pub const TYPES: [&str; 3] = [
    "type.googleapis.com/envoy.config.listener.v3.Listener",
    "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    EDS,
];
const EDS: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

#[derive(Clone, PartialEq, Message)]
pub struct FetchAnswer {
    #[prost(message, repeated, tag = "1")]
    pub config: Vec<ConnectedClient>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ConnectedClient {
    #[prost(message, repeated, tag = "3")]
    pub entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(string, tag = "3")]
    version_info: String,
    #[prost(message, optional, tag = "4")]
    pub resource: Option<PackedMessage>,
    #[prost(int32, tag = "7")]
    client_status: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct PackedMessage {
    #[prost(string, tag = "1")]
    pub type_url: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
}

/// Returns a resource with one locality of many endpoints, as JSON.
fn endpoints(number: usize) -> String {
    let all = (0..ENDPOINTS).map(|index| {
        format!(
            r#"{{"endpoint":{{"address":{{"socket_address":{{"address":"10.{}.{}.{}","port_value":{}}}}}}},"health_status":"HEALTHY","load_balancing_weight":{}}}"#,
            number % 256,
            index / 256,
            index % 256,
            8000 + index % 1000,
            1 + index % 100
        )
    });
    let all: Vec<String> = all.collect();
    format!(
        r#"{{"cluster_name":"endpoints-{number}","endpoints":[{{"locality":{{"region":"region","zone":"zone-{}"}},"lb_endpoints":[{}],"load_balancing_weight":100}}]}}"#,
        number % 3,
        all.join(",")
    )
}

fn packed(type_url: &str, json: &str) -> PackedMessage {
    let read = xdsctl_document::proto::transcode::named(json.as_bytes(), type_url.rsplit('/').next().unwrap()).unwrap();
    assert!(read.notes.is_empty(), "{:?}", read.notes[0]);
    PackedMessage {
        type_url: type_url.to_owned(),
        // The transcoder pads lengths, but a control plane does not.
        value: plain(&read.bytes, type_url),
    }
}

/// Returns the message as a control plane writes it.
fn plain(bytes: &[u8], type_url: &str) -> Bytes {
    let message = super::POOL
        .get_message_by_name(type_url.rsplit('/').next().unwrap())
        .unwrap();
    let message = prost_reflect::DynamicMessage::decode(message, bytes).unwrap();
    message.encode_to_vec().into()
}

/// A control plane, and a client that holds all its resources.
struct Served {
    status: Bytes,
    clusters: Vec<Wrapped>,
    endpoints: Vec<Wrapped>,
}

impl Served {
    fn new() -> Served {
        let (mut clusters, mut endpoints) = (Vec::new(), Vec::new());
        let mut size = 0;
        while size < BYTES {
            let number = endpoints.len();
            let name = format!("endpoints-{number}");
            let cluster =
                format!(r#"{{"name":"{name}","type":"EDS","eds_cluster_config":{{"eds_config":{{"ads":{{}}}}}}}}"#);
            clusters.push(Wrapped::new(&name, packed(TYPES[1], &cluster)));
            let resource = packed(EDS, &self::endpoints(number));
            size += resource.value.len() + 200;
            endpoints.push(Wrapped::new(&name, resource));
        }
        let entry = |wrapped: &Wrapped| Entry {
            type_url: EDS.to_owned(),
            name: wrapped.name.clone(),
            version_info: "1".to_owned(),
            resource: wrapped.resource.clone(),
            client_status: 3,
        };
        let entries = endpoints.iter().map(entry).collect();
        let status = FetchAnswer {
            config: vec![ConnectedClient { entries }],
        };
        Served {
            status: status.encode_to_vec().into(),
            clusters,
            endpoints,
        }
    }

    /// Returns the responses to the first request for a type.
    fn responses(&self, type_url: &str, is_delta: bool) -> Vec<Bytes> {
        let (all, count) = match TYPES.iter().position(|of| *of == type_url) {
            Some(1) => (&self.clusters[..], 1),
            Some(2) => (&self.endpoints[..], RESPONSES),
            _ => (&[][..], 1),
        };
        let chunks: Vec<&[Wrapped]> = match all {
            [] => vec![&[]],
            all => all.chunks(all.len().div_ceil(count)).collect(),
        };
        let responses = chunks.into_iter().map(|chunk| {
            if is_delta {
                let response = Delta {
                    version: "1".to_owned(),
                    resources: chunk.to_vec(),
                    type_url: type_url.to_owned(),
                    nonce: "1".to_owned(),
                };
                return response.encode_to_vec().into();
            }
            let response = Sotw {
                version: "1".to_owned(),
                resources: chunk.iter().filter_map(|wrapped| wrapped.resource.clone()).collect(),
                type_url: type_url.to_owned(),
                nonce: "1".to_owned(),
            };
            response.encode_to_vec().into()
        });
        responses.collect()
    }
}

#[derive(Clone, PartialEq, Message)]
pub struct Sotw {
    #[prost(string, tag = "1")]
    version: String,
    #[prost(message, repeated, tag = "2")]
    pub resources: Vec<PackedMessage>,
    #[prost(string, tag = "4")]
    pub type_url: String,
    #[prost(string, tag = "5")]
    pub nonce: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Delta {
    #[prost(string, tag = "1")]
    version: String,
    #[prost(message, repeated, tag = "2")]
    pub resources: Vec<Wrapped>,
    #[prost(string, tag = "4")]
    pub type_url: String,
    #[prost(string, tag = "5")]
    pub nonce: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Wrapped {
    #[prost(string, tag = "1")]
    version: String,
    #[prost(message, optional, tag = "2")]
    pub resource: Option<PackedMessage>,
    #[prost(string, tag = "3")]
    name: String,
}

impl Wrapped {
    fn new(name: &str, resource: PackedMessage) -> Wrapped {
        Wrapped {
            version: "1".to_owned(),
            resource: Some(resource),
            name: name.to_owned(),
        }
    }
}

/// The type and the nonce of a state-of-the-world request.
#[derive(Clone, PartialEq, Message)]
pub struct Asked {
    /// The names that the request asks for.
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub names: Vec<Vec<u8>>,
    #[prost(string, tag = "4")]
    pub type_url: String,
    #[prost(string, tag = "5")]
    pub nonce: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct AskedDelta {
    #[prost(string, tag = "2")]
    pub type_url: String,
    #[prost(string, tag = "6")]
    pub nonce: String,
}

struct Unary(Bytes);

impl tonic::server::UnaryService<Bytes> for Unary {
    type Response = Bytes;
    type Future = std::future::Ready<Result<Response<Bytes>, Status>>;

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        std::future::ready(Ok(Response::new(self.0.clone())))
    }
}

struct Stream {
    served: &'static Served,
    is_delta: bool,
}

type Responses = std::pin::Pin<Box<dyn tokio_stream::Stream<Item = Result<Bytes, Status>> + Send>>;

impl tonic::server::StreamingService<Bytes> for Stream {
    type Response = Bytes;
    type ResponseStream = Responses;
    type Future = std::future::Ready<Result<Response<Responses>, Status>>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let (served, is_delta) = (self.served, self.is_delta);
        let answered = request.into_inner().map(move |request| {
            let request = request?;
            let (type_url, nonce) = if is_delta {
                let asked = AskedDelta::decode(request).unwrap();
                (asked.type_url, asked.nonce)
            } else {
                let asked = Asked::decode(request).unwrap();
                (asked.type_url, asked.nonce)
            };
            let is_answer = !nonce.is_empty();
            Ok(if is_answer {
                Vec::new()
            } else {
                served.responses(&type_url, is_delta)
            })
        });
        let flat = answered.map(|responses: Result<Vec<Bytes>, Status>| match responses {
            Ok(responses) => responses.into_iter().map(Ok).collect(),
            Err(status) => vec![Err(status)],
        });
        std::future::ready(Ok(Response::new(Box::pin(Flat(flat, Vec::new().into_iter())))))
    }
}

/// A stream of the elements of the lists that arrive.
struct Flat<S>(S, std::vec::IntoIter<Result<Bytes, Status>>);

impl<S: tokio_stream::Stream<Item = Vec<Result<Bytes, Status>>> + Unpin> tokio_stream::Stream for Flat<S> {
    type Item = Result<Bytes, Status>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        loop {
            if let Some(next) = self.1.next() {
                return std::task::Poll::Ready(Some(next));
            }
            match std::pin::Pin::new(&mut self.0).poll_next(cx) {
                std::task::Poll::Ready(Some(list)) => self.1 = list.into_iter(),
                std::task::Poll::Ready(None) => return std::task::Poll::Ready(None),
                std::task::Poll::Pending => return std::task::Poll::Pending,
            }
        }
    }
}

pub fn serve() {
    let served: &'static Served = Box::leak(Box::new(Served::new()));
    super::runtime().block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{} {}", listener.local_addr().unwrap(), served.status.len());
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| async move {
                let mut grpc = tonic::server::Grpc::new(Raw).max_decoding_message_size(1 << 30);
                let is_delta = request.uri().path() == DELTA;
                Ok::<_, Infallible>(match request.uri().path() {
                    CSDS => grpc.unary(Unary(served.status.clone()), request).await,
                    _ => grpc.streaming(Stream { served, is_delta }, request).await,
                })
            });
            tokio::spawn(async move {
                let http = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                let _ = http.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
}
