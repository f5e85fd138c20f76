//! The stream itself: requests out, responses in, all of them bytes.

use bytes::Bytes;
use http::uri::PathAndQuery;
use tokio::sync::mpsc;
use tonic::Streaming;
use tonic::client::Grpc;

use crate::connect::{self, BytesCodec};
use crate::fetch::Error;
use crate::{Address, Options};

const SOTW: &str = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const DELTA: &str = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

/// Requests that may wait to be sent.
const QUEUE: usize = 64;

/// An ADS stream.
pub struct Stream {
    requests: mpsc::Sender<Bytes>,
    responses: Streaming<Bytes>,
}

/// What is sent, as a stream.
struct Requests(mpsc::Receiver<Bytes>);

impl tokio_stream::Stream for Requests {
    type Item = Bytes;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Bytes>> {
        self.0.poll_recv(cx)
    }
}

impl Stream {
    /// Connects, and sends the first requests.
    pub async fn open(
        address: &Address,
        options: &Options,
        first: Vec<Bytes>,
        is_delta: bool,
    ) -> Result<Stream, Error> {
        let channel = connect::channel(address, options).await?;
        let mut grpc = Grpc::new(channel).max_decoding_message_size(options.max_message_bytes);
        grpc.ready()
            .await
            .map_err(|e| connect::unreachable(address, &connect::chain(&e)))?;
        let (requests, receiver) = mpsc::channel(QUEUE);
        for request in first {
            // There are fewer first requests than places.
            let _ = requests.try_send(request);
        }
        let request = connect::request(Requests(receiver), options)?;
        let path = PathAndQuery::from_static(if is_delta { DELTA } else { SOTW });
        let answer = grpc.streaming(request, path, BytesCodec).await;
        let responses = answer
            .map_err(|status| connect::refused(address, &status, options))?
            .into_inner();
        Ok(Stream { requests, responses })
    }

    /// The next response; `None` at the end.
    pub async fn next(&mut self, address: &Address, options: &Options) -> Result<Option<Bytes>, Error> {
        let message = self.responses.message().await;
        message.map_err(|status| connect::refused(address, &status, options))
    }

    /// Sends a request. That the other side has gone is seen when the next response is read.
    pub async fn send(&self, request: Bytes) {
        let _ = self.requests.send(request).await;
    }
}
