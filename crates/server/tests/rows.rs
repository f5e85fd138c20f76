//! Real servers (`fixtures/servers`): each connection and each RPC of a row ends as it did when it was recorded.
//!
//! ```text
//! XDSCTL_DIFFER=1 cargo test -p xdsctl-server --test rows -- --nocapture     every row that differs
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use xdsctl_channel::client::Client;
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::rpc::Draws;
use xdsctl_clients::bootstrap::Bootstrap;
use xdsctl_model::profile::{self, Profile, ServerFacts};
use xdsctl_model::resource::ResourceType;
use xdsctl_model::resource::listener::FilterChain;
use xdsctl_model::resource::tls::CaCerts;
use xdsctl_model::status::Code;
use xdsctl_server::admit::{call, connect};
use xdsctl_server::dialect::ServerDialect;
use xdsctl_server::handshake::{Peer, Program, Provider, shake};
use xdsctl_server::serving::serving;
use xdsctl_server::{Connection, End, PeerCertificate, Rpc, Transport, chain};

/// Steps that no gRPC client can send: they are an affair of HTTP, and not compared.
const NOT_SENT: usize = 604;

/// The methods that the recorded servers have.
const METHODS: [&str; 3] = ["/pkg.Service/Method", "/pkg.Service/Other", "/admin.Console/Delete"];

/// The time of the recording, from which certificates count their days.
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

/// The certificates by name, as a server sees them.
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

/// The authority at the end of a certificate's chain. The one in the middle is always sent along.
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
        ..PeerCertificate::default()
    }
}

/// A connection of a row that was taken.
struct Open {
    connection: Connection,
    chain: FilterChain,
}

struct Play<'r> {
    row: &'r Value,
    client: Client,
    server: ListeningServer,
    dialect: ServerDialect,
    made: &'r BTreeMap<String, Value>,
    /// The certificate providers of the bootstrap, and the authority whose roots they have.
    providers: BTreeMap<String, Provider>,
    roots: BTreeMap<String, String>,
    open: BTreeMap<String, Open>,
    begun: BTreeMap<String, String>,
}

impl<'r> Play<'r> {
    fn begin(row: &'r Value, client: &str, made: &'r BTreeMap<String, Value>) -> Option<Play<'r>> {
        let (name, version) = client.split_once('@')?;
        let (family, switch) = name
            .split_once('+')
            .map_or((name, ""), |(family, switch)| (family, switch));
        let mut profile = Profile::of(profile::Client::parse_one(&format!("{family}@{version}")).ok()?);
        let switches = [
            ("rbac", "GRPC_XDS_EXPERIMENTAL_RBAC"),
            ("audit", "GRPC_EXPERIMENTAL_XDS_RBAC_AUDIT_LOGGING"),
        ];
        for (_, variable) in switches.iter().filter(|(word, _)| *word == switch) {
            // An older version may not have the switch, and takes no notice of it.
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
        let own = bootstrap["certificate_providers"].as_object().unwrap().clone();
        let file = |own: &Value, field: &str| -> String {
            let file = own["config"][field].as_str().unwrap_or_default();
            file.rsplit('/')
                .next()
                .unwrap_or_default()
                .trim_end_matches(".pem")
                .to_owned()
        };
        // Files with these names are not made.
        let is_there = |file: String| !file.is_empty() && !file.starts_with("missing");
        let roots = own
            .iter()
            .map(|(name, own)| (name.clone(), file(own, "ca_certificate_file")));
        let providers = own.iter().map(|(name, own)| {
            let provider = Provider {
                has_identity: is_there(file(own, "certificate_file")),
                has_roots: is_there(file(own, "ca_certificate_file")),
            };
            (name.clone(), provider)
        });
        let providers: BTreeMap<String, Provider> = providers.collect();
        let facts = ServerFacts {
            certificate_providers: Some(providers.keys().cloned().collect()),
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
        let mut client = Client {
            profile,
            server: facts,
            node_id: "oracle".to_owned(),
            ..Client::default()
        };
        client.update(&row["resources"]);
        Some(Play {
            row,
            client,
            // Without a template a server does not start: it has no Listener.
            server: ListeningServer::of(&(dialect.listens)(row["listen"].as_str()?), &template).unwrap_or(
                ListeningServer {
                    address: String::new(),
                    listener: String::new(),
                },
            ),
            dialect,
            made,
            providers,
            roots: roots.collect(),
            open: BTreeMap::new(),
            begun: BTreeMap::new(),
        })
    }

    /// What a step leads to; `None` for one that only changes something.
    fn step(&mut self, step: &Value) -> Option<String> {
        if let Some(name) = step["connect"].as_str() {
            self.open.remove(name);
            return Some(self.connect(name, step));
        }
        if let Some(name) = step["call"].as_str() {
            return Some(self.call(name, step));
        }
        if let Some(name) = step["begin"].as_str() {
            // What becomes of it is known once it is over, and decided now.
            let ended = self.call(name, step);
            self.begun.insert(name.to_owned(), ended);
            return None;
        }
        if let Some(name) = step["finish"].as_str() {
            return self.begun.remove(name);
        }
        self.change(step);
        None
    }

    /// What the control plane sends. A new Listener ends the connections that came before.
    fn change(&mut self, step: &Value) {
        let name = self.server.listener.clone();
        let listener = |client: &Client| {
            let held = client.resources.listeners.get(&name);
            held.and_then(|held| held.value()).map(|listener| (**listener).clone())
        };
        let before = listener(&self.client);
        let mut gone = texts(&step["remove"]);
        if let Some(list) = step["update"].as_array() {
            let is_own = |resource: &Value| resource["name"] == name.as_str();
            // A response has all Listeners; one about routes says nothing of them.
            let is_listener = |resource: &Value| resource["@type"] == ResourceType::Listener.type_url();
            if list.iter().any(is_listener) && !list.iter().any(is_own) {
                gone.push(format!("{}/{name}", ResourceType::Listener.type_name()));
            }
            self.client.update(&step["update"]);
        }
        for gone in gone {
            let (kind, name) = gone.split_once('/').unwrap();
            // Routes that are sent no more stay, and so does a Listener if the bootstrap says so.
            let is_listener = kind == ResourceType::Listener.type_name();
            if is_listener && !self.client.server.ignore_resource_deletion {
                self.client.resources.remove(ResourceType::Listener, name);
            }
        }
        if before != listener(&self.client) {
            self.open.clear();
        }
    }

    fn connect(&mut self, name: &str, step: &Value) -> String {
        let serving = match serving(&self.server, &self.client, &self.dialect) {
            Ok(serving) => serving,
            Err(_) => return "not serving".to_owned(),
        };
        let listener = &serving.listener;
        let port = self.row["listen"].as_str().unwrap().rsplit(':').next().unwrap();
        let to = step["to"].as_str().unwrap_or("127.0.0.1");
        let address =
            |ip: &str, port: &str| -> SocketAddr { SocketAddr::new(ip.parse().unwrap(), port.parse().unwrap()) };
        let from = step["from"]
            .as_str()
            .filter(|from| !from.is_empty())
            .unwrap_or("127.0.0.1");
        let from = from.parse().unwrap_or_else(|_| address(from, "0"));
        let shows = step["tls"]["certificate"].as_str();
        let transport = match step["tls"].is_object() {
            true => Transport::Tls(shows.map(|shows| certificate(shows, self.made))),
            false => Transport::Plaintext,
        };
        let mut connection = Connection {
            from,
            to: address(to, port),
            transport,
        };
        let chosen = chain::choose(listener, &connection, &self.dialect).chosen;
        let roots = chosen.and_then(|(_, chain)| match &chain.tls.as_ref()?.common.ca_certs {
            CaCerts::Provider(provider) => self.roots.get(&provider.instance_name).cloned(),
            CaCerts::None | CaCerts::SystemRoots => None,
        });
        if let (Transport::Tls(Some(own)), Some(shows)) = (&mut connection.transport, shows) {
            own.is_untrusted = roots != Some(root_of(shows, self.made));
        }
        let taken = connect(listener, &connection, &self.program(), &self.dialect);
        match (&taken.peer, chosen) {
            (Ok(_), Some((_, chain))) => {
                let chain = chain.clone();
                self.open.insert(name.to_owned(), Open { connection, chain });
                "connected".to_owned()
            }
            _ => "closed".to_owned(),
        }
    }

    fn program(&self) -> Program<'_> {
        Program {
            has_no_credentials: self.row["credentials"] == "insecure",
            at: Some(NOW),
            providers: Some(&self.providers),
        }
    }

    fn call(&self, name: &str, step: &Value) -> String {
        let Some(Open { connection, chain }) = self.open.get(name) else {
            return "closed".to_owned();
        };
        let Ok(peer) = shake(chain, connection, &self.program(), &self.dialect) else {
            return "closed".to_owned();
        };
        let mut headers = vec![("user-agent".to_owned(), "caller".to_owned())];
        for pair in step["headers"].as_array().into_iter().flatten() {
            let pair = texts(pair);
            headers.push((pair[0].to_lowercase(), value(&pair[0], &pair[1])));
        }
        let method = step["method"].as_str().unwrap_or(METHODS[0]);
        let rpc = Rpc {
            method: method.to_owned(),
            authority: step["authority"].as_str().unwrap_or("server.test").to_owned(),
            headers,
            is_unimplemented: !METHODS.contains(&method),
            is_https: peer != Peer::Plaintext,
        };
        self.ended(chain, peer, connection, &rpc)
    }

    fn ended(&self, chain: &FilterChain, peer: Peer<'_>, connection: &Connection, rpc: &Rpc) -> String {
        let mut draws = Draws::new(0);
        let draw = &mut |purpose, bound| draws.draw(purpose, bound);
        let handled = call(chain, peer, connection, rpc, &self.dialect, &self.client, draw);
        match handled.end {
            End::Served => Code::Ok.name().to_owned(),
            End::Refused(status) => status.code.name().to_owned(),
            end => end.name().to_owned(),
        }
    }
}

/// What a recorded answer to a step comes to.
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

/// The value of a header as an application gives it: binary ones go in Base64.
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

/// What no gRPC client sends is an affair of HTTP: other pseudo-headers, those of one hop, binary ones that are no Base64, other protocols.
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
        let is_joined = name.ends_with("-bin") && value.contains(',');
        is_upper || is_joined || name.starts_with(':') || hop_by_hop.contains(&name)
    };
    let protocols = step["tls"]["protocols"].as_array();
    let speaks_h2 = protocols.is_none_or(|names| names.iter().any(|name| name == "h2"));
    // No path is sent without a slash at its beginning.
    let is_path = step["method"].as_str().is_none_or(|method| method.starts_with('/'));
    speaks_h2 && is_path && !pairs_of(step).any(is_odd)
}

/// What differs in a row, and how many steps were not compared.
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
        let ours = if ours == "not serving" {
            "closed".to_owned()
        } else {
            ours
        };
        let theirs = recorded(answer);
        if ours != theirs {
            wrong.push(format!("{step}: {theirs}, ours {ours}"));
        }
    }
    Some((wrong, not_sent))
}

/// The rows that differ, as `CLIENT ID`, each under its reason.
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
    for row in rows() {
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
    let agreeing: Vec<_> = known.difference(&found).collect();
    assert!(
        agreeing.is_empty(),
        "these agree, and are listed in differ.txt: {agreeing:#?}"
    );
    assert_eq!(not_sent, NOT_SENT, "steps that cannot be sent");
}
