//! Measures how fast a large answer is fetched, compared with three plain gRPC clients: one decodes
//! the answer and throws it away, one also decodes the resources in it, and one prints it with
//! prost-reflect.
//!
//!   cargo bench -p xdsctl-net --features live
//!
//! A separate process serves 100 MB of endpoints, as client status and as a control plane. Each
//! measurement runs in a fresh process, so that its time and its peak of memory are its own. CPU
//! time is that of all threads, and includes writing to a file.
#![expect(clippy::unwrap_used, reason = "what cannot be measured ends the bench")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Instant;

use bytes::{Buf as _, BufMut as _, Bytes};
use http::uri::PathAndQuery;
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage};
use tokio_stream::StreamExt as _;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::{Request, Status};
use xdsctl_net::{Address, FetchOptions};

#[path = "fetch/server.rs"]
mod server;
#[path = "fetch/typed.rs"]
mod typed;

use server::{Asked, AskedDelta, CSDS, DELTA, Delta, FetchAnswer, PackedMessage, SOTW, Sotw, TYPES};

/// The number of measurements of each kind, of which the best counts.
const ROUNDS: usize = 5;

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(xdsctl_document::proto::pb::DESCRIPTOR_SET).unwrap());

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

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

async fn connect(address: &str) -> tonic::client::Grpc<tonic::transport::Channel> {
    let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{address}")).unwrap();
    let endpoint = endpoint
        .initial_stream_window_size(8 << 20)
        .initial_connection_window_size(8 << 20);
    let mut grpc = tonic::client::Grpc::new(endpoint.connect().await.unwrap()).max_decoding_message_size(1 << 30);
    grpc.ready().await.unwrap();
    grpc
}

/// Fetches the client status as a plain client of prost and tonic does.
fn status(address: &str) -> Bytes {
    runtime().block_on(async {
        let mut grpc = connect(address).await;
        let path = PathAndQuery::from_static(CSDS);
        let answer = grpc.unary(Request::new(Bytes::new()), path, Raw).await;
        answer.unwrap().into_inner()
    })
}

fn plain(address: &str, decodes: bool) -> usize {
    let answer = FetchAnswer::decode(status(address)).unwrap();
    let entries = answer.config.iter().flat_map(|client| &client.entries);
    entries.inspect(|entry| look(entry.resource.as_ref(), decodes)).count()
}

/// With `decodes`, decodes the endpoints in a resource.
fn look(resource: Option<&PackedMessage>, decodes: bool) {
    if let Some(resource) = resource.filter(|resource| decodes && resource.type_url == TYPES[2]) {
        assert!(typed::endpoints(resource.value.clone()) > 0);
    }
}

/// Fetches the client status, decodes it with prost-reflect and prints it.
fn reflect(address: &str) -> usize {
    let message = POOL
        .get_message_by_name("envoy.service.status.v3.ClientStatusResponse")
        .unwrap();
    let answer = DynamicMessage::decode(message, status(address)).unwrap();
    let out = std::io::BufWriter::with_capacity(1 << 20, Scratch::new().file);
    serde_json::to_writer_pretty(out, &answer).unwrap();
    plain(address, false)
}

/// Asks a control plane for three types on a stream, and reads everything that arrives.
fn plain_stream(address: &str, is_delta: bool, decodes: bool) -> usize {
    runtime().block_on(async {
        let mut grpc = connect(address).await;
        let (sender, receiver) = tokio::sync::mpsc::channel::<Bytes>(4);
        for type_url in TYPES {
            let type_url = type_url.to_owned();
            let request = match is_delta {
                true => AskedDelta {
                    type_url,
                    ..AskedDelta::default()
                }
                .encode_to_vec(),
                false => Asked {
                    type_url,
                    ..Asked::default()
                }
                .encode_to_vec(),
            };
            sender.send(request.into()).await.unwrap();
        }
        let requests = tokio_stream::wrappers::ReceiverStream::new(receiver);
        let path = PathAndQuery::from_static(if is_delta { DELTA } else { SOTW });
        let mut responses = grpc
            .streaming(Request::new(requests), path, Raw)
            .await
            .unwrap()
            .into_inner();
        let (mut count, mut clusters, mut kept) = (0, 0, Vec::new());
        while let Some(response) = responses.next().await {
            let response = response.unwrap();
            let (type_url, entries) = if is_delta {
                let response = Delta::decode(response.clone()).unwrap();
                response
                    .resources
                    .iter()
                    .for_each(|wrapped| look(wrapped.resource.as_ref(), decodes));
                (response.type_url, response.resources.len())
            } else {
                let response = Sotw::decode(response.clone()).unwrap();
                response
                    .resources
                    .iter()
                    .for_each(|resource| look(Some(resource), decodes));
                (response.type_url, response.resources.len())
            };
            kept.push(response);
            count += entries;
            clusters += if type_url == TYPES[1] { entries } else { 0 };
            if clusters > 0 && count == 2 * clusters {
                break;
            }
        }
        count
    })
}

/// A file that exists only while it is written.
struct Scratch {
    file: std::fs::File,
}

impl Scratch {
    fn new() -> Scratch {
        let path = std::env::temp_dir().join(format!("xdsctl-fetch-{}", std::process::id()));
        let file = std::fs::File::create(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        Scratch { file }
    }
}

fn fetch(address: &str, form: &str) -> usize {
    let options = FetchOptions {
        redacts: form == "json",
        is_wire: form == "wire",
        timeout: std::time::Duration::from_secs(120),
        ..FetchOptions::default()
    };
    let address = Address::parse(address).unwrap();
    let fetched = xdsctl_net::fetch(&address, &options, &mut Scratch::new().file, &mut |_| {}).unwrap();
    assert!(fetched.failure.is_none(), "{:?}", fetched.failure);
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

/// Returns the user and system time of all threads so far, in seconds.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|ticks| ticks.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    // The times are fields 14 and 15 of the file, in hundredths of a second.
    (ticks(11) + ticks(12)) / 100.0
}

fn measure(how: &str, address: &str) -> usize {
    match how.split_once(' ') {
        None if how == "plain" => plain(address, false),
        None if how == "decode" => plain(address, true),
        None if how == "reflect" => reflect(address),
        Some((how @ ("plain" | "decode"), form)) => plain_stream(address, form == "delta", how == "decode"),
        Some((form, "delta")) => fetch(&format!("ads://{address}?delta"), form),
        Some((form, _)) => fetch(&format!("ads://{address}"), form),
        None => fetch(&format!("csds://{address}"), how),
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let after = |flag: &str| args.iter().position(|arg| arg == flag).map(|at| args[at + 1].as_str());
    if args.iter().any(|arg| arg == "--serve") {
        return server::serve();
    }
    if let (Some(how), Some(address)) = (after("--how"), after("--address")) {
        let began = Instant::now();
        let entries = measure(how, address);
        println!(
            "{} {} {} {entries}",
            began.elapsed().as_secs_f64(),
            cpu_seconds(),
            peak_megabytes()
        );
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
    println!("an answer of {megabytes:.0} MB, the best of {ROUNDS}; CPU time is of all threads");
    let of_streams = ["sotw", "delta"].map(|form| {
        let ways = ["plain", "decode", "wire", "raw", "json"];
        ways.map(|how| format!("{how} {form}")).to_vec()
    });
    let of_status = ["plain", "decode", "reflect", "wire", "raw", "json"].map(str::to_owned);
    for ways in [of_status.to_vec()].iter().chain(&of_streams) {
        let mut best = vec![[f64::MAX; 3]; ways.len()];
        // Measure in turns, because the speed of a machine drifts.
        for _ in 0..ROUNDS {
            for (how, best) in ways.iter().zip(&mut best) {
                let output = Command::new(&own)
                    .args(["--how", how, "--address", address])
                    .output()
                    .unwrap();
                let text = String::from_utf8(output.stdout).unwrap();
                let numbers = text.split_whitespace().map(|word| word.parse().unwrap());
                best.iter_mut()
                    .zip(numbers)
                    .for_each(|(best, number): (_, f64)| *best = best.min(number));
            }
        }
        let (plain, decoding) = (best[0][0], best[1][0]);
        for (how, [time, cpu, peak]) in ways.iter().zip(best) {
            println!(
                "{how:12} {:6.0} MB/s  {:5.2} of plain  {:5.2} of decode  CPU {cpu:5.2} s  peak {peak:5.0} MB",
                megabytes / time,
                plain / time,
                decoding / time
            );
        }
        std::io::stdout().flush().unwrap();
    }
    server.kill().unwrap();
    server.wait().unwrap();
}
