//! The stream itself: requests out, responses in, all of them bytes.

use bytes::Bytes;
use http::uri::PathAndQuery;
use tokio::sync::mpsc;
use tonic::Streaming;
use tonic::client::Grpc;

use crate::connect::{self, BytesCodec};
use crate::fetch::Error;
use crate::{Address, Options, stranger};

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
        let mut grpc = Grpc::new(channel.clone()).max_decoding_message_size(options.max_message_bytes);
        grpc.ready()
            .await
            .map_err(|e| connect::unreachable(address, &connect::chain(&e)))?;
        let (requests, receiver) = mpsc::channel(QUEUE);
        for request in first {
            // There are fewer first requests than places.
            let _ = requests.try_send(request);
        }
        let request = connect::request(Requests(receiver), options)?;
        let path = if is_delta { DELTA } else { SOTW };
        let answer = tokio::select! {
            answer = grpc.streaming(request, PathAndQuery::from_static(path), BytesCodec) => answer,
            stranger = stranger::revealed(channel, path, address, options) => return Err(stranger),
        };
        match answer {
            Ok(answer) => Ok(Stream {
                requests,
                responses: answer.into_inner(),
            }),
            Err(status) => Err(stranger::named(address, &status, options).await),
        }
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
