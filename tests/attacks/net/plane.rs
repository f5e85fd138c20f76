//! A control plane that does what a test says.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message as _;
use tokio::sync::mpsc;
use tonic::server::{Grpc, StreamingService};
use tonic::{Request, Response, Status, Streaming};
use xdsctl_document::proto::transcode;
use xdsctl_model::resource::ResourceType;

use crate::connect::BytesCodec;
use crate::messages::{Any, DiscoveryRequest, DiscoveryResponse};

/// What the control plane sends for a request.
pub type Script = dyn Fn(DiscoveryRequest) -> Box<dyn Iterator<Item = Bytes> + Send> + Send + Sync;

/// Starts the control plane and returns its port. Like servers of grpc-go, it sends its headers
/// with its first response.
pub fn start(
    script: impl Fn(DiscoveryRequest) -> Box<dyn Iterator<Item = Bytes> + Send> + Send + Sync + 'static,
) -> u16 {
    let script: Arc<Script> = Arc::new(script);
    let (say, port) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            say.send(listener.local_addr().unwrap().port()).unwrap();
            loop {
                let io = TokioIo::new(listener.accept().await.unwrap().0);
                let script = Arc::clone(&script);
                let service = hyper::service::service_fn(move |request| {
                    let service = Service(Arc::clone(&script));
                    async move { Ok::<_, std::convert::Infallible>(Grpc::new(BytesCodec).streaming(service, request).await) }
                });
                let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                tokio::spawn(async move { server.serve_connection(io, service).await });
            }
        });
    });
    port.recv().unwrap()
}

struct Service(Arc<Script>);

struct Responses(Option<Bytes>, mpsc::Receiver<Bytes>);

impl tokio_stream::Stream for Responses {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.0.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        self.1.poll_recv(cx).map(|response| response.map(Ok))
    }
}

impl StreamingService<Bytes> for Service {
    type Response = Bytes;
    type ResponseStream = Responses;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Responses>, Status>> + Send>>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let (sender, mut responses) = mpsc::channel(4);
        let script = Arc::clone(&self.0);
        tokio::spawn(async move {
            let mut requests = request.into_inner();
            while let Ok(Some(request)) = requests.message().await {
                for response in script(DiscoveryRequest::decode(request).unwrap()) {
                    if sender.send(response).await.is_err() {
                        return;
                    }
                }
            }
        });
        Box::pin(async move {
            let first = responses.recv().await;
            Ok(Response::new(Responses(first, responses)))
        })
    }
}

/// Makes a resource from proto3 JSON.
pub fn resource(of: ResourceType, json: &str) -> Any {
    let type_url = of.type_url();
    let name = type_url.rsplit('/').next().unwrap();
    let read = transcode::named(json.as_bytes(), name).unwrap();
    assert!(read.notes.is_empty(), "{json}");
    Any {
        type_url,
        value: read.bytes.into(),
    }
}

/// Makes a Cluster without a fault.
pub fn cluster(name: &str) -> Any {
    let json =
        format!(r#"{{"name": "{name}", "type": "EDS", "eds_cluster_config": {{"eds_config": {{"ads": {{}}}}}}}}"#);
    resource(ResourceType::Cluster, &json)
}

/// Makes a Listener whose routes lead to these clusters.
pub fn listener(name: &str, clusters: &[&str]) -> Any {
    let routes = clusters
        .iter()
        .map(|cluster| format!(r#"{{"match": {{"prefix": "/{cluster}"}}, "route": {{"cluster": "{cluster}"}}}}"#));
    let routes: Vec<String> = routes.collect();
    let json = format!(
        r#"{{"name": "{name}", "api_listener": {{"api_listener": {{
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "route_config": {{"virtual_hosts": [{{"domains": ["*"], "routes": [{}]}}]}},
        "http_filters": [{{"name": "r", "typed_config": {{"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}}}]
        }}}}}}"#,
        routes.join(",")
    );
    resource(ResourceType::Listener, &json)
}

/// Makes a response of this type.
pub fn response(of: ResourceType, version: &str, resources: Vec<Any>) -> Bytes {
    let response = DiscoveryResponse {
        version_info: version.to_owned(),
        resources,
        type_url: of.type_url(),
        nonce: version.to_owned(),
    };
    response.encode_to_vec().into()
}
