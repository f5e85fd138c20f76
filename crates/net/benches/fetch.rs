//! How fast a large answer is fetched, beside a plain gRPC client that decodes it and throws it away.
//!
//!   cargo bench -p xdsctl-net --features live
//!
//! A process of its own serves a ClientStatusResponse of 100 MB; each measurement runs in a fresh process, so that its peak of memory is its own.

use std::convert::Infallible;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::Instant;

use bytes::{Buf as _, BufMut as _, Bytes};
use http::uri::PathAndQuery;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::{Request, Response, Status};
use xdsctl_net::{Address, Options};

/// Size of the answer.
const BYTES: usize = 100 << 20;

/// Endpoints of one resource.
const ENDPOINTS: usize = 500;

/// Measurements of each kind; the best counts.
const ROUNDS: usize = 5;

const METHOD: &str = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";
const EDS: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(message, repeated, tag = "1")]
    config: Vec<Client>,
}

#[derive(Clone, PartialEq, Message)]
struct Client {
    #[prost(message, repeated, tag = "3")]
    entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
struct Entry {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(string, tag = "3")]
    version_info: String,
    #[prost(message, optional, tag = "4")]
    resource: Option<Any>,
    #[prost(int32, tag = "7")]
    client_status: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "bytes", tag = "2")]
    value: Bytes,
}

/// A resource with a locality of many endpoints, as JSON.
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

fn answer() -> Bytes {
    let mut entries = Vec::new();
    let mut size = 0;
    while size < BYTES {
        let number = entries.len();
        let name = EDS.rsplit('/').next().unwrap();
        let read = xdsctl::proto::transcode::named(endpoints(number).as_bytes(), name).unwrap();
        assert!(read.notes.is_empty(), "{:?}", read.notes[0]);
        // Lengths are padded there; a control plane's are not.
        let value: Bytes = read.bytes.into();
        size += value.len() + 200;
        entries.push(Entry {
            type_url: EDS.to_owned(),
            name: format!("endpoints-{number}"),
            version_info: "1".to_owned(),
            resource: Some(Any {
                type_url: EDS.to_owned(),
                value,
            }),
            client_status: 3,
        });
    }
    Answer {
        config: vec![Client { entries }],
    }
    .encode_to_vec()
    .into()
}

#[derive(Clone, Copy, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
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
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

struct Unary(Bytes);

impl tonic::server::UnaryService<Bytes> for Unary {
    type Response = Bytes;
    type Future = std::future::Ready<Result<Response<Bytes>, Status>>;

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        std::future::ready(Ok(Response::new(self.0.clone())))
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn serve() {
    let answer = answer();
    runtime().block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{} {}", listener.local_addr().unwrap(), answer.len());
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let answer = answer.clone();
            let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
                let answer = answer.clone();
                async move { Ok::<_, Infallible>(tonic::server::Grpc::new(Raw).unary(Unary(answer), request).await) }
            });
            tokio::spawn(async move {
                let http = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                let _ = http.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
}

/// What a client does that prost and tonic make of the protos.
fn plain(address: &str) -> usize {
    runtime().block_on(async {
        let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{address}")).unwrap();
        let endpoint = endpoint
            .initial_stream_window_size(8 << 20)
            .initial_connection_window_size(8 << 20);
        let mut grpc = tonic::client::Grpc::new(endpoint.connect().await.unwrap()).max_decoding_message_size(1 << 30);
        grpc.ready().await.unwrap();
        let answer = grpc
            .unary(Request::new(Bytes::new()), PathAndQuery::from_static(METHOD), Raw)
            .await
            .unwrap();
        let answer = Answer::decode(answer.into_inner()).unwrap();
        answer.config.iter().map(|client| client.entries.len()).sum()
    })
}

fn fetch(address: &str, form: &str) -> usize {
    let options = Options {
        redacts: form == "json",
        is_wire: form == "wire",
        ..Options::default()
    };
    let address = Address::parse(&format!("csds://{address}")).unwrap();
    let path = std::env::temp_dir().join(format!("xdsctl-fetch-{}", std::process::id()));
    let mut out = std::fs::File::create(&path).unwrap();
    let fetched = xdsctl_net::fetch(&address, &options, &mut out, &mut |_| {}).unwrap();
    drop(out);
    std::fs::remove_file(&path).unwrap();
    fetched.entries.unwrap()
}

fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap_or("0");
    line.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let after = |flag: &str| args.iter().position(|arg| arg == flag).map(|at| args[at + 1].as_str());
    if args.iter().any(|arg| arg == "--serve") {
        return serve();
    }
    if let (Some(how), Some(address)) = (after("--how"), after("--address")) {
        let began = Instant::now();
        let entries = if how == "plain" {
            plain(address)
        } else {
            fetch(address, how)
        };
        println!("{} {} {entries}", began.elapsed().as_secs_f64(), peak_megabytes());
        return;
    }
    let own = std::env::current_exe().unwrap();
    let mut server = Command::new(&own)
        .arg("--serve")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let (address, size) = line.trim().split_once(' ').unwrap();
    let megabytes = size.parse::<f64>().unwrap() / 1e6;
    println!("an answer of {megabytes:.0} MB, the best of {ROUNDS}");
    let mut base = 0.0;
    for how in ["plain", "wire", "raw", "json"] {
        let mut best = (f64::MAX, 0.0);
        for _ in 0..ROUNDS {
            let output = Command::new(&own)
                .args(["--how", how, "--address", address])
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let numbers: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
            if numbers[0] < best.0 {
                best = (numbers[0], numbers[1]);
            }
        }
        let speed = megabytes / best.0;
        if how == "plain" {
            base = speed;
        }
        println!(
            "{how:6} {speed:6.0} MB/s  {:5.2} of plain  peak {:5.0} MB",
            speed / base,
            best.1
        );
        std::io::stdout().flush().unwrap();
    }
    server.kill().unwrap();
    server.wait().unwrap();
}
