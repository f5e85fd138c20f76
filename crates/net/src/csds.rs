//! Client status discovery: what a gRPC process says it holds, or what a control plane with the
//! service says it has sent.

use bytes::Bytes;
use http::uri::PathAndQuery;
use prost::Message as _;
use tonic::Code;
use tonic::client::Grpc;

use crate::connect::{self, BytesCodec};
use crate::error::Error;
use crate::messages::{ClientConfig, ClientStatusRequest, ClientStatusResponse};
use crate::{Address, FetchOptions, other_server};

const FETCH: &str = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";
const STREAM: &str = "/envoy.service.status.v3.ClientStatusDiscoveryService/StreamClientStatus";

/// Asks for the status of all clients: by the unary call, or if there is none, by the first answer
/// of the streaming call.
pub async fn fetch(address: &Address, options: &FetchOptions) -> Result<Vec<ClientConfig>, Error> {
    let channel = connect::channel(address, options).await?;
    let mut grpc = Grpc::new(channel).max_decoding_message_size(options.max_message_bytes);
    let refused = |status: &tonic::Status| connect::refused(address, status, options);
    let ask = || Bytes::from(ClientStatusRequest {}.encode_to_vec());
    grpc.ready()
        .await
        .map_err(|e| connect::unreachable(address, &connect::chain(&e)))?;
    let request = connect::request(ask(), options)?;
    let answer = match grpc.unary(request, PathAndQuery::from_static(FETCH), BytesCodec).await {
        Ok(answer) => answer.into_inner(),
        Err(status) if status.code() == Code::Unimplemented => {
            grpc.ready()
                .await
                .map_err(|e| connect::unreachable(address, &connect::chain(&e)))?;
            let request = connect::request(tokio_stream::once(ask()), options)?;
            let stream = grpc
                .streaming(request, PathAndQuery::from_static(STREAM), BytesCodec)
                .await;
            let mut stream = stream.map_err(|status| refused(&status))?.into_inner();
            let first = stream.message().await.map_err(|status| refused(&status))?;
            first.ok_or_else(|| Error::no_answer(address, "the stream ended without an answer".to_owned()))?
        }
        Err(status) => return Err(other_server::named(address, &status, options).await),
    };
    let answer = ClientStatusResponse::decode(answer)
        .map_err(|e| Error::malformed(address, format!("the answer is not a ClientStatusResponse: {e}")))?;
    let scope = address.get("scope").or(options.scope.as_deref());
    let mut clients = answer.config;
    if let Some(scope) = scope {
        let scopes: Vec<String> = clients
            .iter()
            .map(|client| format!("`{}`", client.client_scope))
            .collect();
        clients.retain(|client| client.client_scope == scope);
        if clients.is_empty() {
            return Err(Error::Usage(format!(
                "`{address}`: no client has the scope `{scope}`, there are {}",
                scopes.join(", ")
            )));
        }
    }
    Ok(clients)
}
