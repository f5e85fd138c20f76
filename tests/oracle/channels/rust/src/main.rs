//! A gRPC client that is told what to do on standard input, one JSON line each, and answers a line each (see channels.py).

use std::collections::HashMap;
use std::str::FromStr;
use std::time::{Duration, Instant};

use bytes::{Buf, BufMut};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, BufReader};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::{AsciiMetadataKey, BinaryMetadataKey, BinaryMetadataValue, MetadataMap};
use tonic::{Request, Status};
use tonic_xds::{XdsChannelBuilder, XdsChannelConfig, XdsChannelGrpc, XdsUri};

#[derive(Deserialize, Clone)]
struct Step {
    #[serde(default = "default_method")]
    method: String,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default = "default_timeout")]
    timeout: f64,
    #[serde(default = "one")]
    count: usize,
}

fn default_method() -> String {
    "/pkg.Service/Method".into()
}

fn default_timeout() -> f64 {
    5.0
}

fn one() -> usize {
    1
}

#[derive(Deserialize)]
struct Message {
    uri: Option<String>,
    pick: Option<Step>,
    begin: Option<Step>,
    name: Option<String>,
    finish: Option<String>,
}

#[derive(Serialize)]
struct Answer {
    code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backend: Option<String>,
    set_cookie: Vec<String>,
    seconds: f64,
}

/// Bytes in, bytes out: no message is generated for the test's method.
#[derive(Clone, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let mut item = vec![0; from.remaining()];
        from.copy_to_slice(&mut item);
        Ok(Some(item))
    }
}

fn cookies(metadata: &MetadataMap) -> Vec<String> {
    metadata.get_all("set-cookie").iter().filter_map(|v| v.to_str().ok()).map(Into::into).collect()
}

/// The request of a step, or why it cannot be made.
fn request(step: &Step) -> Result<Request<Vec<u8>>, String> {
    let mut request = Request::new(Vec::new());
    for (name, value) in &step.headers {
        if name.ends_with("-bin") {
            let name = BinaryMetadataKey::from_str(name).map_err(|_| format!("{name}: a header's name"))?;
            request.metadata_mut().append_bin(name, BinaryMetadataValue::from_bytes(value.as_bytes()));
        } else {
            let name = AsciiMetadataKey::from_str(name).map_err(|_| format!("{name}: a header's name"))?;
            let value = value.parse().map_err(|_| format!("{value:?}: a header's value"))?;
            request.metadata_mut().append(name, value);
        }
    }
    request.set_timeout(Duration::from_secs_f64(step.timeout));
    Ok(request)
}

async fn unary(channel: XdsChannelGrpc, path: PathAndQuery, request: Request<Vec<u8>>) -> Result<tonic::Response<Vec<u8>>, Status> {
    let mut client = tonic::client::Grpc::new(channel);
    if let Err(error) = client.ready().await {
        return Err(Status::unknown(format!("not ready: {error}")));
    }
    client.unary(request, path, Raw).await
}

/// What the application gets that cannot make its RPC.
fn thrown(details: String) -> Answer {
    Answer {
        code: "THROWN".into(),
        details: Some(details),
        backend: None,
        set_cookie: Vec::new(),
        seconds: 0.0,
    }
}

async fn call(channel: XdsChannelGrpc, step: Step) -> Answer {
    let began = Instant::now();
    let request = match request(&step) {
        Ok(request) => request,
        Err(why) => return thrown(why),
    };
    let Ok(path) = step.method.parse() else { return thrown(format!("{:?}: a path", step.method)) };
    let reply = match tokio::time::timeout(Duration::from_secs_f64(step.timeout), unary(channel, path, request)).await {
        Ok(reply) => reply,
        Err(_) => Err(Status::deadline_exceeded("the recorder's own timeout")),
    };
    let seconds = began.elapsed().as_secs_f64();
    match reply {
        Ok(reply) => Answer {
            code: "OK".into(),
            details: None,
            set_cookie: cookies(reply.metadata()),
            backend: Some(String::from_utf8_lossy(reply.get_ref()).into_owned()),
            seconds,
        },
        Err(status) => Answer {
            code: code(status.code()).into(),
            details: Some(status.message().into()),
            set_cookie: cookies(status.metadata()),
            backend: None,
            seconds,
        },
    }
}

fn code(code: tonic::Code) -> &'static str {
    use tonic::Code::*;
    match code {
        Ok => "OK",
        Cancelled => "CANCELLED",
        Unknown => "UNKNOWN",
        InvalidArgument => "INVALID_ARGUMENT",
        DeadlineExceeded => "DEADLINE_EXCEEDED",
        NotFound => "NOT_FOUND",
        AlreadyExists => "ALREADY_EXISTS",
        PermissionDenied => "PERMISSION_DENIED",
        ResourceExhausted => "RESOURCE_EXHAUSTED",
        FailedPrecondition => "FAILED_PRECONDITION",
        Aborted => "ABORTED",
        OutOfRange => "OUT_OF_RANGE",
        Unimplemented => "UNIMPLEMENTED",
        Internal => "INTERNAL",
        Unavailable => "UNAVAILABLE",
        DataLoss => "DATA_LOSS",
        Unauthenticated => "UNAUTHENTICATED",
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tokio::task::LocalSet::new().run_until(answer_lines()).await
}

async fn answer_lines() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut channel: Option<XdsChannelGrpc> = None;
    let mut under_way = HashMap::new();
    while let Some(line) = lines.next_line().await? {
        let message: Message = serde_json::from_str(&line)?;
        let answer = match (&channel, message) {
            (None, Message { uri: Some(uri), .. }) => {
                let config = XdsChannelConfig::new(XdsUri::parse(&uri)?);
                match XdsChannelBuilder::new(config).build_grpc_channel() {
                    Ok(built) => {
                        channel = Some(built);
                        serde_json::json!({"client": "tonic-xds 0.1.0-alpha.4"})
                    }
                    Err(error) => serde_json::json!({"error": error.to_string()}),
                }
            }
            (Some(channel), Message { pick: Some(step), .. }) => serde_json::to_value(call(channel.clone(), step).await)?,
            (Some(channel), Message { begin: Some(step), name: Some(name), .. }) => {
                let calls: Vec<_> = (0..step.count).map(|_| tokio::task::spawn_local(call(channel.clone(), step.clone()))).collect();
                under_way.insert(name, calls);
                serde_json::json!({})
            }
            (Some(_), Message { finish: Some(name), .. }) => {
                let mut answers = Vec::new();
                for call in under_way.remove(&name).unwrap_or_default() {
                    answers.push(serde_json::to_value(call.await?)?);
                }
                answers.into()
            }
            _ => serde_json::json!({"error": "unknown step"}),
        };
        println!("{answer}");
    }
    Ok(())
}
