//! Real servers (`fixtures/servers`): each connection and each RPC of a row ends as it did when it
//! was recorded.
//!
//! ```text
//! XDSCTL_DIFFER=1 cargo test -p xdsctl-server --test rows -- --nocapture     every row that differs
//! ```
#![expect(clippy::unwrap_used, reason = "a row that cannot be read fails the test")]

#[path = "../../../tests/support/mod.rs"]
#[allow(dead_code, reason = "these rows are read otherwise")]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::client::{Client, SentTexts};
use xdsctl_channel::rpc::Draws;
use xdsctl_clients::bootstrap::Bootstrap;
use xdsctl_model::profile::{self, Profile, ServerFacts};
use xdsctl_model::resource::ResourceType;
use xdsctl_model::status::Code;
use xdsctl_server::dialect::ServerDialect;
use xdsctl_server::handshake::{Peer, Provider, Roots};
use xdsctl_server::running::{ConnectionState, NewFiles, RunningServer, Setup};
use xdsctl_server::{Connection, End, PeerCertificate, Rpc, Transport};

/// How many steps no gRPC client can send. They are a matter of HTTP, and are not compared.
const NOT_SENT: usize = 1630;

/// The methods that the recorded servers have.
const METHODS: [&str; 3] = ["/pkg.Service/Method", "/pkg.Service/Other", "/admin.Console/Delete"];

/// The time of the recording, from which the validity of certificates is counted.
const NOW: i64 = 1_000_000_000;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/servers")
}

fn rows() -> Vec<Value> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(fixtures())
        .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
        .unwrap_or_default();
    files.retain(|path| path.to_string_lossy().ends_with(".jsonl.gz"));
    files.sort();
    let mut rows = Vec::new();
    for file in files {
        let mut text = String::new();
        flate2::read::GzDecoder::new(std::fs::File::open(file).unwrap())
            .read_to_string(&mut text)
            .unwrap();
        rows.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
    }
    rows
}

/// Reads the certificates by name, as a server sees them.
fn certificates() -> BTreeMap<String, Value> {
    let Ok(text) = std::fs::read_to_string(fixtures().join("certificates.json")) else {
        return BTreeMap::new();
    };
    let list: Vec<Value> = serde_json::from_str(&text).unwrap();
    list.into_iter()
        .map(|one| (one["name"].as_str().unwrap().to_owned(), one))
        .collect()
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Returns the authority at the end of a certificate's chain. The one in the middle is always sent
/// along.
fn root_of(name: &str, made: &BTreeMap<String, Value>) -> String {
    let issuer = made[name]["issuer"].as_str().unwrap();
    match issuer == name {
        true => name.to_owned(),
        false => root_of(issuer, made),
    }
}

fn certificate(name: &str, made: &BTreeMap<String, Value>) -> PeerCertificate {
    let one = &made[name];
    let day = |field: &str| one[field].as_i64().map(|days| NOW + days * 86_400);
    let escaped = texts(&one["subject"]).into_iter().map(|part| {
        let (key, value) = part.split_once('=').unwrap();
        let value = value.replace(',', "\\,").replace('+', "\\+");
        format!("{key}={value}")
    });
    PeerCertificate {
        uris: texts(&one["uri"]),
        dns_names: texts(&one["dns"]),
        emails: texts(&one["email"]),
        ips: texts(&one["ip"]).iter().map(|ip| ip.parse().unwrap()).collect(),
        subject: escaped.collect::<Vec<_>>().join(","),
        not_before: day("from"),
        not_after: day("until"),
        is_for_others: one["usage"] == "server",
        issuer: root_of(name, made),
        ..PeerCertificate::default()
    }
}

struct Play<'r> {
    row: &'r Value,
    server: RunningServer,
    made: &'r BTreeMap<String, Value>,
    /// The files of certificates by name, and whose content each has.
    files: BTreeMap<String, String>,
    bootstrap: Value,
}

impl<'r> Play<'r> {
    fn begin(row: &'r Value, client: &str, made: &'r BTreeMap<String, Value>) -> Option<Play<'r>> {
        let (name, version) = client.split_once('@')?;
        let (family, switch) = name
            .split_once('+')
            .map_or((name, ""), |(family, switch)| (family, switch));
        let mut profile = Profile::of(profile::Client::parse_one(&format!("{family}@{version}")).ok()?).serving();
        let switches = [
            ("rbac", "GRPC_XDS_EXPERIMENTAL_RBAC"),
            ("audit", "GRPC_EXPERIMENTAL_XDS_RBAC_AUDIT_LOGGING"),
        ];
        for (_, variable) in switches.iter().filter(|(word, _)| *word == switch) {
            // An older version may not have the switch, and ignores it.
            let _ = profile.set_env(variable, "true");
        }
        for (variable, value) in row["env"].as_object().into_iter().flatten() {
            // A variable that is no switch has another meaning for the recording.
            let _ = profile.set_env(variable, value.as_str().unwrap_or_default());
        }
        let dialect = ServerDialect::of(&profile)?;
        let mut bootstrap: Value =
            serde_json::from_str(&std::fs::read_to_string(fixtures().join("bootstrap.json")).unwrap()).unwrap();
        for (key, value) in row["bootstrap"].as_object().into_iter().flatten() {
            bootstrap[key] = value.clone();
        }
        let own = bootstrap["certificate_providers"].as_object().unwrap();
        let facts = ServerFacts {
            certificate_providers: Some(own.keys().cloned().collect()),
            authorities: Some(
                bootstrap["authorities"]
                    .as_object()
                    .into_iter()
                    .flat_map(|all| all.keys().cloned())
                    .collect(),
            ),
            ignore_resource_deletion: texts(&bootstrap["server_features"]).contains(&"ignore_resource_deletion".into()),
            ..ServerFacts::default()
        };
        let template = Bootstrap {
            server_listener_template: bootstrap["server_listener_resource_name_template"]
                .as_str()
                .unwrap_or_default()
                .into(),
            ..Bootstrap::default()
        };
        // Without a template a server does not start: it has no Listener.
        let listening = ListeningServer::of(&(dialect.listens)(row["listen"].as_str()?), &template);
        let client = Client {
            profile,
            server: facts,
            node_id: "oracle".to_owned(),
            ..Client::default()
        };
        let has_no_template = listening.is_none();
        let options = &row["options"][family];
        let of_core = options[0][1].as_i64();
        let mut play = Play {
            row,
            made,
            files: BTreeMap::new(),
            bootstrap,
            server: RunningServer::new(
                client,
                listening.unwrap_or(ListeningServer {
                    address: String::new(),
                    listener: String::new(),
                }),
                dialect,
                Setup::default(),
            ),
        };
        let providers = play.bootstrap["certificate_providers"].as_object().unwrap().keys();
        let providers = providers.map(|name| {
            let provider = Provider {
                identity: play.identity(name).flatten(),
                roots: play.roots(name).map(Roots::Of),
            };
            (name.clone(), provider)
        });
        let setup = Setup {
            has_no_credentials: row["credentials"] == "insecure",
            has_no_template,
            at: Some(NOW),
            providers: Some(providers.collect()),
            drain_grace: of_core.or(options["drainGraceTimeMs"].as_i64()),
        };
        let RunningServer {
            client,
            server,
            dialect,
            ..
        } = play.server;
        play.server = RunningServer::new(client, server, dialect, setup);
        play.server.update(&SentTexts::of(&row["resources"]));
        Some(play)
    }

    /// Returns the content of a provider's file.
    fn file(&self, provider: &str, field: &str) -> Option<String> {
        let file = self.bootstrap["certificate_providers"][provider]["config"][field].as_str()?;
        let name = file.rsplit('/').next()?;
        match self.files.get(name) {
            Some(content) => Some(content.clone()),
            // Files with these names are not created.
            None => (!name.starts_with("missing")).then(|| name.to_owned()),
        }
    }

    /// Returns the server's certificate in the files of a provider; `None` if they are not there,
    /// `Some(None)` if it cannot be used.
    fn identity(&self, provider: &str) -> Option<Option<String>> {
        let certificate = self.file(provider, "certificate_file")?;
        let key = self.file(provider, "private_key_file")?;
        let name = certificate.strip_suffix(".pem");
        let is_whole = name.is_some() && name == key.strip_suffix(".key");
        Some(name.filter(|_| is_whole).map(str::to_owned))
    }

    fn roots(&self, provider: &str) -> Option<Vec<String>> {
        let roots = self.file(provider, "ca_certificate_file")?;
        Some(vec![roots.trim_end_matches(".pem").to_owned()])
    }

    /// Returns what a step leads to; `None` for a step that only changes something.
    fn step(&mut self, step: &Value) -> Option<String> {
        if let Some(name) = step["connect"].as_str() {
            return Some(self.connect(name, step));
        }
        let mut draws = Draws::new(0);
        let draw = &mut |purpose, bound| draws.draw(purpose, bound);
        if let Some(name) = step["call"].as_str() {
            let rpc = self.rpc(name, step);
            return Some(ended(self.server.call(name, &rpc, draw).end));
        }
        if let Some(name) = step["begin"].as_str() {
            let rpc = self.rpc(name, step);
            self.server.begin(name, name, &rpc, draw);
            return None;
        }
        if let Some(name) = step["finish"].as_str() {
            return self.server.finish(name).map(|(_, _, called)| ended(called.end));
        }
        if let Some(name) = step["state"].as_str() {
            let is_open = self.server.state(name) == ConnectionState::Open;
            return Some(if is_open { "open" } else { "not open" }.to_owned());
        }
        self.change(step);
        None
    }

    /// Plays what the control plane sends, and which files are replaced.
    fn change(&mut self, step: &Value) {
        let mut gone = texts(&step["remove"]);
        if let Some(list) = step["update"].as_array() {
            let name = self.server.server.listener.clone();
            let is_own = |resource: &Value| resource["name"] == name.as_str();
            // A response has all Listeners; a response about routes says nothing about Listeners.
            let is_listener = |resource: &Value| resource["@type"] == ResourceType::Listener.type_url();
            if list.iter().any(is_listener) && !list.iter().any(is_own) {
                gone.push(format!("{}/{name}", ResourceType::Listener.type_name()));
            }
            self.server.update(&SentTexts::of(&step["update"]));
        }
        let gone = gone.iter().map(|gone| {
            let (kind, name) = gone.split_once('/').unwrap();
            (ResourceType::from_type_name(kind).unwrap(), name.to_owned())
        });
        self.server.remove(&gone.collect::<Vec<_>>());
        for (to, from) in step["rotate"].as_object().into_iter().flatten() {
            self.files.insert(to.clone(), from.as_str().unwrap().to_owned());
        }
        let written: Vec<&String> = step["rotate"]
            .as_object()
            .into_iter()
            .flat_map(|files| files.keys())
            .collect();
        let providers = self.bootstrap["certificate_providers"].as_object().unwrap().clone();
        for (name, provider) in &providers {
            let is_written = |field: &str| {
                let file = provider["config"][field].as_str().unwrap_or_default();
                written
                    .iter()
                    .any(|name| file.rsplit('/').next() == Some(name.as_str()))
            };
            let files = NewFiles {
                identity: self.identity(name).filter(|_| is_written("certificate_file")),
                roots: self.roots(name).filter(|_| is_written("ca_certificate_file")),
            };
            self.server.rotate(name, files).unwrap();
        }
        // What a server does while the recording waits has happened.
        self.server.sleep(1000);
    }

    fn connect(&mut self, name: &str, step: &Value) -> String {
        let port = self.row["listen"].as_str().unwrap().rsplit(':').next().unwrap();
        let to = step["to"].as_str().unwrap_or("127.0.0.1");
        let address =
            |ip: &str, port: &str| -> SocketAddr { SocketAddr::new(ip.parse().unwrap(), port.parse().unwrap()) };
        let from = step["from"]
            .as_str()
            .filter(|from| !from.is_empty())
            .unwrap_or("127.0.0.1");
        let from = from.parse().unwrap_or_else(|_| address(from, "0"));
        let tls = &step["tls"];
        let transport = match (tls.is_object(), tls["certificate"].as_str()) {
            (true, shows) => Transport::Tls(shows.map(|shows| certificate(shows, self.made))),
            (false, _) => Transport::Plaintext,
        };
        let connection = Connection {
            from,
            to: address(to, port),
            transport,
        };
        if self.server.connect(name, connection) != End::Connected {
            return "closed".to_owned();
        }
        let open = self.server.connection(name).unwrap();
        let shown = open.chain.tls.as_ref().and_then(|_| self.server.shows(&open.chain));
        if tls.is_object() && !shown.is_none_or(|shown| self.trusts(tls, &shown)) {
            self.server.close(name);
            return "closed".to_owned();
        }
        "connected".to_owned()
    }

    /// Says whether the client of the recording accepts the server's certificate. Without roots it
    /// accepts any.
    fn trusts(&self, tls: &Value, shown: &str) -> bool {
        let roots = tls["roots"].as_str().unwrap_or_default();
        let own = &self.made[shown];
        let is_named = texts(&own["dns"])
            .iter()
            .any(|name| tls["server_name"] == name.as_str());
        roots.is_empty() || is_named && root_of(shown, self.made) == roots
    }

    fn rpc(&self, name: &str, step: &Value) -> Rpc {
        let mut headers = vec![("user-agent".to_owned(), "caller".to_owned())];
        for pair in step["headers"].as_array().into_iter().flatten() {
            let pair = texts(pair);
            headers.push((pair[0].to_lowercase(), value(&pair[0], &pair[1])));
        }
        let method = step["method"].as_str().unwrap_or(METHODS[0]);
        let open = self.server.connection(name);
        Rpc {
            method: method.to_owned(),
            authority: step["authority"].as_str().unwrap_or("server.test").to_owned(),
            headers,
            is_unimplemented: !METHODS.contains(&method),
            is_https: open.is_some_and(|open| open.peer() != Peer::Plaintext),
        }
    }
}

fn ended(end: End) -> String {
    match end {
        End::Served => Code::Ok.name().to_owned(),
        End::Refused(status) if says_words(status.code.name()) => {
            format!("{}: {}", status.code.name(), status.message)
        }
        End::Refused(status) => status.code.name().to_owned(),
        End::Ended(_) => "closed".to_owned(),
        end => end.name().to_owned(),
    }
}

/// Says whether the message of a status is compared with the one that the caller saw.
fn says_words(code: &str) -> bool {
    ["PERMISSION_DENIED", "UNAVAILABLE", "UNKNOWN", "NOT_FOUND"].contains(&code)
}

/// Returns what a recorded answer to a step amounts to.
fn recorded(answer: &Value) -> String {
    if let Some(code) = answer["code"].as_str() {
        return code.to_owned();
    }
    for (member, what) in [("connected", "connected"), ("refused", "closed"), ("closed", "closed")] {
        if answer[member] == true {
            return what.to_owned();
        }
    }
    if !answer["reset"].is_null() {
        return "reset".to_owned();
    }
    match answer["handshake"].is_string() || answer["silent"] == true {
        true => "closed".to_owned(),
        false => answer.to_string(),
    }
}

/// Returns the value of a header as an application gives it. Binary values are in Base64.
fn value(name: &str, value: &str) -> String {
    match name.ends_with("-bin") {
        false => value.to_owned(),
        true => String::from_utf8_lossy(&decoded(value)).into_owned(),
    }
}

fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = 0_u32;
    let mut count = 0;
    let mut bytes = Vec::new();
    for digit in text
        .bytes()
        .filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte))
    {
        bits = (bits << 6) | u32::try_from(digit).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

fn pairs_of(step: &Value) -> impl Iterator<Item = &Value> {
    step["headers"].as_array().into_iter().flatten()
}

/// Says whether a gRPC client can send a step. All else is a matter of HTTP: other pseudo-headers,
/// hop-by-hop headers, binary headers that are not Base64, other protocols.
fn is_grpc(step: &Value) -> bool {
    let hop_by_hop = [
        "connection",
        "keep-alive",
        "proxy-connection",
        "transfer-encoding",
        "upgrade",
        "te",
        "host",
    ];
    let is_odd = |pair: &Value| {
        let (name, value) = (pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
        let is_upper = name.bytes().any(|byte| byte.is_ascii_uppercase());
        let is_no_base64 = name.ends_with("-bin") && value.contains([',', '!']);
        is_upper || is_no_base64 || name.starts_with(':') || hop_by_hop.contains(&name)
    };
    let protocols = step["tls"]["protocols"].as_array();
    let speaks_h2 = protocols.is_none_or(|names| names.iter().any(|name| name == "h2"));
    // No path is sent without a slash at its beginning.
    let is_path = step["method"].as_str().is_none_or(|method| method.starts_with('/'));
    speaks_h2 && is_path && !pairs_of(step).any(is_odd)
}

/// Returns what differs in a row, and how many steps were not compared.
fn differences(row: &Value, client: &str, made: &BTreeMap<String, Value>) -> Option<(Vec<String>, usize)> {
    let mut play = Play::begin(row, client, made)?;
    let mut wrong = Vec::new();
    let mut odd = BTreeSet::new();
    let mut not_sent = 0;
    let answers = row["answers"][client]["steps"].as_array();
    for (step, answer) in row["steps"]
        .as_array()
        .unwrap()
        .iter()
        .zip(answers.into_iter().flatten())
    {
        let Some(ours) = play.step(step) else { continue };
        let name = step["connect"].as_str().or(step["call"].as_str()).unwrap_or_default();
        if step["connect"].is_string() {
            odd.remove(name);
        }
        if !is_grpc(step) && step["connect"].is_string() {
            odd.insert(name);
        }
        if !is_grpc(step) || odd.contains(name) {
            not_sent += 1;
            continue;
        }
        let mut theirs = match step["state"].is_string() {
            true if answer["open"] == true => "open".to_owned(),
            true => "not open".to_owned(),
            false => recorded(answer),
        };
        if let Some(words) = answer["details"].as_str().filter(|_| says_words(&theirs)) {
            theirs = format!("{theirs}: {words}");
        }
        // A client describes a fault in routes that it rejects in its own words.
        let is_of_fault = [ours.as_str(), theirs.as_str()]
            .iter()
            .all(|words| words.starts_with("UNAVAILABLE"))
            && ["invalid resource", "received route is invalid"]
                .iter()
                .any(|words| theirs.contains(words));
        // Where several DENY policies match, a server of Go names any of them.
        let unnamed = |words: &str| words.split("deny policy").next().map(str::to_owned);
        if unnamed(&ours) != unnamed(&theirs) && !is_of_fault {
            wrong.push(format!("{step}: {theirs}, ours {ours}"));
        }
    }
    Some((wrong, not_sent))
}

/// Returns the rows that are known to differ, as `CLIENT ID`. The file has a reason above each.
fn known() -> BTreeSet<String> {
    let text = std::fs::read_to_string(fixtures().join("differ.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

#[test]
fn recorded_servers_take_and_let_in_the_same() {
    let made = certificates();
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut found = BTreeSet::new();
    let mut not_sent = 0;
    let shows = std::env::var_os("XDSCTL_DIFFER").is_some();
    for row in support::sample(rows(), 8) {
        for client in row["answers"].as_object().unwrap().keys() {
            let (wrong, skipped) = differences(&row, client, &made).expect("each recorded client is followed");
            not_sent += skipped;
            let (all, differ) = counts.entry(client.clone()).or_default();
            *all += 1;
            if !wrong.is_empty() {
                *differ += 1;
                found.insert(format!("{client} {}", row["id"].as_str().unwrap()));
                if shows {
                    println!("{} {client}: {}", row["id"], json!(wrong));
                }
            }
        }
    }
    println!("rows and differences: {counts:?}; {not_sent} steps cannot be sent");
    let known = known();
    let others: Vec<_> = found.difference(&known).collect();
    assert!(others.is_empty(), "these differ: {others:#?}");
    if !support::compares_all() {
        return;
    }
    let agreeing: Vec<_> = known.difference(&found).collect();
    assert!(
        agreeing.is_empty(),
        "these agree, and are listed in differ.txt: {agreeing:#?}"
    );
    assert_eq!(not_sent, NOT_SENT, "steps that cannot be sent");
}
