//! The stream: sends requests and receives responses, all of them as bytes.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::uri::PathAndQuery;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::client::Grpc;

use crate::connect::{self, BytesCodec};
use crate::error::Error;
use crate::{Address, FetchOptions, other_server};

const SOTW: &str = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const DELTA: &str = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

/// The number of requests that may wait to be sent.
const QUEUE: usize = 64;

/// A stream of requests and responses with a management server (ADS).
pub struct AdsStream<'o> {
    requests: mpsc::Sender<Bytes>,
    responses: ResponseState<'o>,
    /// Whether the server is known to speak gRPC.
    is_grpc: Arc<AtomicBool>,
}

/// The state of the server's side of the stream.
enum ResponseState<'o> {
    /// The server has sent nothing. Many servers send their headers with the first response, and
    /// some never send one.
    Silent(Pin<Box<dyn Future<Output = Result<Streaming<Bytes>, Error>> + 'o>>),
    Open(Box<Streaming<Bytes>>),
    Ended,
}

impl<'o> AdsStream<'o> {
    /// Connects, and sends the first requests.
    pub async fn open(
        address: &'o Address,
        options: &'o FetchOptions,
        first: Vec<Bytes>,
        is_delta: bool,
    ) -> Result<AdsStream<'o>, Error> {
        let channel = connect::channel(address, options).await?;
        let mut grpc = Grpc::new(channel.clone()).max_decoding_message_size(options.max_message_bytes);
        grpc.ready()
            .await
            .map_err(|e| connect::unreachable(address, &connect::chain(&e)))?;
        let (requests, receiver) = mpsc::channel(QUEUE);
        for request in first {
            // There are fewer first requests than places in the queue.
            let _ = requests.try_send(request);
        }
        let request = connect::request(ReceiverStream::new(receiver), options)?;
        let path = if is_delta { DELTA } else { SOTW };
        let is_grpc = Arc::new(AtomicBool::new(false));
        let known = Arc::clone(&is_grpc);
        let opening = async move {
            let answer = tokio::select! {
                answer = grpc.streaming(request, PathAndQuery::from_static(path), BytesCodec) => answer,
                error = other_server::revealed(channel, path, address, options, &known) => return Err(error),
            };
            match answer {
                Ok(answer) => Ok(answer.into_inner()),
                Err(status) => Err(other_server::named(address, &status, options).await),
            }
        };
        Ok(AdsStream {
            requests,
            responses: ResponseState::Silent(Box::pin(opening)),
            is_grpc,
        })
    }

    /// Says whether the server is known to speak gRPC. It may still have sent nothing on this
    /// stream.
    pub fn is_grpc(&self) -> bool {
        matches!(self.responses, ResponseState::Open(_)) || self.is_grpc.load(Ordering::Relaxed)
    }

    /// Returns the next response; `None` at the end.
    pub async fn next(&mut self, address: &Address, options: &FetchOptions) -> Result<Option<Bytes>, Error> {
        if let ResponseState::Silent(opening) = &mut self.responses {
            let opened = opening.as_mut().await;
            // A future that has completed must not be polled again.
            self.responses = ResponseState::Ended;
            self.responses = ResponseState::Open(Box::new(opened?));
        }
        let ResponseState::Open(responses) = &mut self.responses else {
            return Ok(None);
        };
        let message = responses.message().await;
        message.map_err(|status| connect::refused(address, &status, options))
    }

    /// Sends a request. If the server has gone, reading the next response reports that.
    pub async fn send(&self, request: Bytes) {
        let _ = self.requests.send(request).await;
    }
}
