//! Recorded rows, and the comparison of xdsctl's answers with them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read as _;

use base64::Engine as _;
use prost::Message as _;
use serde::Deserialize;
use serde_json::Value;
use xdsctl_clients::judge::Validated;
use xdsctl_clients::judge::{FamilyAnswer, FamilyVerdict};
use xdsctl_model::diag::{Diagnostic, Effect, Validation};
use xdsctl_model::profile::{Client, Family, Fleet, Package, ServerFacts};
use xdsctl_model::resource::ResourceType;

use crate::support::{compares_all, recorded, root, sample};

/// A resource that clients were asked about.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub id: String,
    #[serde(default)]
    pub rule: String,
    kind: String,
    any_b64: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
    bootstrap: Option<Value>,
    #[serde(default)]
    wrapped: bool,
}

impl Case {
    /// Returns the resource as it was sent, in an Any.
    fn any(&self) -> xdsctl_document::proto::pb::Any {
        let bytes = base64::engine::general_purpose::STANDARD.decode(&self.any_b64).unwrap();
        xdsctl_document::proto::pb::Any::decode(bytes.as_slice()).unwrap()
    }

    /// Says whether the resource was sent in a discovery Resource.
    pub fn is_wrapped(&self) -> bool {
        self.wrapped || self.any().type_url.ends_with("/envoy.service.discovery.v3.Resource")
    }
}

/// What a client answered, as recorded.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub case: Case,
    pub client: String,
    /// The verdict: `ACK`, `NACK` or `CRASH`.
    pub verdict: String,
    /// The client's words.
    pub words: String,
    /// The field paths, where the client gives them.
    pub paths: Option<BTreeSet<String>>,
    /// Names that C-core never reads were corrected before the client was asked.
    pub is_unmasked: bool,
}

/// What xdsctl answers for the client.
pub struct Ours {
    pub verdict: &'static str,
    pub diagnostics: Vec<Diagnostic>,
}

/// Returns the rows of `fixtures/clients/NAME.jsonl.gz`.
pub fn answers(name: &str) -> Vec<Value> {
    let path = root().join(format!("fixtures/clients/{name}.jsonl.gz"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the resources of `fixtures/conformance`, by file and id.
pub fn cases() -> BTreeMap<(String, String), Case> {
    let mut cases = BTreeMap::new();
    for file in ["rules-lds", "rules-rds", "rules-cds-eds", "validate"] {
        for line in recorded(file).lines() {
            let case: Case = serde_json::from_str(line).unwrap();
            cases.insert((file.to_owned(), case.id.clone()), case);
        }
    }
    cases
}

/// Returns the resource of a row of `fresh-*`.
pub fn fresh_case(row: &Value) -> Case {
    let mut case: Case = serde_json::from_value(row.clone()).unwrap();
    // The id `cds-cl2-17` says what was mutated, and how often.
    case.rule = case.id.rsplit_once('-').map_or("", |(kind, _)| kind).to_owned();
    case
}

/// Returns the rows of a single version in `fixtures/clients/NAME.jsonl.gz`: `rules` or `validate`
/// files, each row with `verdict` and `words`.
pub fn of_one_version(name: &str, client: &str, words: &str, wanted: impl Fn(&str) -> bool) -> Vec<Recorded> {
    let cases = cases();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    answers(name)
        .iter()
        .filter(|row| wanted(row["file"].as_str().unwrap()))
        .map(|row| Recorded {
            case: cases[&(text(row, "file"), text(row, "id"))].clone(),
            client: client.to_owned(),
            verdict: text(row, "verdict"),
            words: text(row, words),
            paths: None,
            is_unmasked: false,
        })
        .collect()
}

/// Returns the rows of `fixtures/clients/NAME.jsonl.gz` that have a verdict for each of several
/// versions.
pub fn of_versions(name: &str, family: &str) -> Vec<Recorded> {
    let cases = cases();
    let mut all = Vec::new();
    for row in answers(name).iter() {
        let key = (
            row["file"].as_str().unwrap().to_owned(),
            row["id"].as_str().unwrap().to_owned(),
        );
        for (version, verdict) in row["answers"].as_object().unwrap() {
            all.push(Recorded {
                case: cases[&key].clone(),
                client: format!("{family}@{version}"),
                verdict: verdict.as_str().unwrap().to_owned(),
                words: String::new(),
                paths: None,
                is_unmasked: row["unmasked"] == true,
            });
        }
    }
    all
}

/// Returns the rows of a single version whose names were corrected, with the client's answer to
/// them.
pub fn of_unmasked(name: &str, client: &str, verdict: &str, words: &str) -> Vec<Recorded> {
    let cases = cases();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    answers(name)
        .iter()
        .filter(|row| row.get(verdict).is_some())
        .map(|row| Recorded {
            case: cases[&(text(row, "file"), text(row, "id"))].clone(),
            client: client.to_owned(),
            verdict: text(row, verdict),
            words: text(row, words),
            paths: None,
            is_unmasked: true,
        })
        .collect()
}

/// Returns the rows of `fresh-open` or `fresh-held` as `client` answered them; `key` is its name
/// there.
pub fn of_fresh(name: &str, client: &str, key: &str) -> Vec<Recorded> {
    let rows = answers(name);
    let rows = rows.iter().filter(|row| row.get(key).is_some());
    rows.map(|row| Recorded {
        case: fresh_case(row),
        client: client.to_owned(),
        verdict: row[key][0].as_str().unwrap().to_owned(),
        words: row[key][1].as_str().unwrap_or_default().to_owned(),
        paths: row[key][1]
            .as_array()
            .map(|list| list.iter().map(|p| p.as_str().unwrap().to_owned()).collect()),
        is_unmasked: false,
    })
    .collect()
}

/// Returns the facts of `fixtures/conformance/bootstrap.json` with a row's additions.
fn server_facts(bootstrap: Option<&Value>) -> ServerFacts {
    let of = |name: &str| bootstrap.and_then(|b| b.get(name));
    let providers = of("certificate_providers").and_then(Value::as_object).map_or_else(
        || BTreeSet::from(["id".to_owned(), "ca".to_owned()]),
        |p| p.keys().cloned().collect(),
    );
    let features = of("server_features").and_then(Value::as_array);
    let has_feature = |name: &str| features.is_some_and(|f| f.iter().any(|x| x == name));
    let allowed = of("allowed_grpc_services")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    ServerFacts {
        certificate_providers: Some(providers),
        trusted_xds_server: has_feature("trusted_xds_server"),
        allowed_grpc_services: allowed.map(|(uri, _)| (uri.clone(), "insecure".to_owned())).collect(),
        ..ServerFacts::default()
    }
}

/// Returns the type, the bytes and the outer name of what a client was sent.
fn sent(row: &Recorded) -> (ResourceType, bytes::Bytes, Option<String>) {
    let case = &row.case;
    let any = case.any();
    let is_wrapped = case.is_wrapped();
    let (name, bytes) = if is_wrapped {
        let wrapper = xdsctl_document::proto::pb::envoy::service::discovery::v3::Resource::decode(any.value).unwrap();
        (Some(wrapper.name), wrapper.resource.unwrap().value)
    } else {
        // grpc-java got each resource under its id, whatever its own name.
        (row.client.starts_with("java").then(|| case.id.clone()), any.value)
    };
    let bytes = if !is_wrapped { named(&bytes, &case.id) } else { bytes };
    let bytes = if row.is_unmasked {
        unmasked(&bytes, &case.kind, row.client.starts_with("java"))
    } else {
        bytes
    };
    let resource_type = match case.kind.as_str() {
        "lds" => ResourceType::Listener,
        "rds" => ResourceType::RouteConfiguration,
        "cds" => ResourceType::Cluster,
        _ => ResourceType::Endpoints,
    };
    (resource_type, bytes, name)
}

/// Asks xdsctl what the clients of a row (a list as in `--client`) and the reference say.
fn validated(row: &Recorded) -> Validated {
    // `go+rls@1.85.0` is a program that uses the RLS package.
    let mut clients = Client::parse_list(&row.client.replace("+rls", "")).unwrap();
    if clients.iter().all(|client| client.family != Family::REFERENCE) {
        clients.push(Client::REFERENCE);
    }
    // The reference decodes. The row's client is among the others, even if it is a C-core.
    let mut fleet = Fleet::new(&clients);
    for (name, value) in &row.case.env {
        let _ = fleet.set_env(name, value);
    }
    if row.client.contains("+rls") {
        fleet.bring(Package::Rls);
    }
    let (resource_type, bytes, name) = sent(row);
    let server = server_facts(row.case.bootstrap.as_ref());
    let cx = Validation::new(fleet.base(), &server);
    xdsctl_clients::judge::within(cx, resource_type, &bytes, (name.as_deref(), fleet.others()))
}

/// Returns the answers of these clients about a resource.
pub fn answers_of(case: &Case, clients: &str) -> Vec<FamilyAnswer> {
    let row = Recorded {
        case: case.clone(),
        client: clients.to_owned(),
        verdict: String::new(),
        words: String::new(),
        paths: None,
        is_unmasked: false,
    };
    validated(&row).answers
}

/// Asks xdsctl what the client of a row says.
pub fn ask(row: &Recorded) -> Ours {
    let validated = validated(row);
    match validated.answers.into_iter().next() {
        Some(answer) => Ours {
            verdict: match answer.verdict {
                FamilyVerdict::Accepted | FamilyVerdict::Ignored => "ACK",
                FamilyVerdict::Rejected => "NACK",
                FamilyVerdict::Dies => "CRASH",
                FamilyVerdict::NotKnown => "?",
            },
            diagnostics: answer.diagnostics.to_vec(),
        },
        None => {
            let is_rejected = validated.diagnostics.iter().any(|d| d.effect == Effect::Nack);
            Ours {
                verdict: if is_rejected { "NACK" } else { "ACK" },
                diagnostics: validated.diagnostics,
            }
        }
    }
}

/// Returns the resource with the names that Go and Java expect for network filters, transport
/// sockets and the aggregate type; for Java without `transport_socket_matches`.
fn unmasked(bytes: &bytes::Bytes, kind: &str, is_java: bool) -> bytes::Bytes {
    use xdsctl_document::proto::pb::envoy::config::{
        cluster::v3 as cluster, core::v3 as core, listener::v3 as listener,
    };
    fn socket(socket: &mut Option<core::TransportSocket>) {
        if let Some(socket) = socket {
            socket.name = "envoy.transport_sockets.tls".to_owned();
        }
    }
    match kind {
        "lds" => {
            let Ok(mut message) = listener::Listener::decode(bytes.clone()) else {
                return bytes.clone();
            };
            for chain in message
                .filter_chains
                .iter_mut()
                .chain(&mut message.default_filter_chain)
            {
                for (i, filter) in chain.filters.iter_mut().enumerate() {
                    filter.name = format!("f{i}");
                }
                socket(&mut chain.transport_socket);
            }
            message.encode_to_vec().into()
        }
        "cds" => {
            let Ok(mut message) = cluster::Cluster::decode(bytes.clone()) else {
                return bytes.clone();
            };
            socket(&mut message.transport_socket);
            if is_java {
                message.transport_socket_matches.clear();
            }
            if let Some(cluster::cluster::ClusterDiscoveryType::ClusterType(custom)) =
                &mut message.cluster_discovery_type
            {
                custom.name = "envoy.clusters.aggregate".to_owned();
            }
            message.encode_to_vec().into()
        }
        _ => bytes.clone(),
    }
}

/// Returns the resource as the client saw it: with its id as its name, if it has no name of its
/// own. The name is field 1 of all four types.
fn named(bytes: &bytes::Bytes, name: &str) -> bytes::Bytes {
    let has_name =
        xdsctl_document::proto::wire::fields(bytes).any(|field| field.number == 1 && !field.payload.is_empty());
    if has_name {
        return bytes.clone();
    }
    let mut named = bytes.to_vec();
    let name = name.as_bytes();
    let mut len = name.len();
    named.push(10);
    while len > 0x7f {
        named.push((len & 0x7f) as u8 | 0x80);
        len >>= 7;
    }
    named.push(len as u8);
    named.extend_from_slice(name);
    named.into()
}

/// Says whether the developer selects rows.
fn is_selected() -> bool {
    std::env::var_os("XDSCTL_ROWS").is_some()
}

/// Says whether the developer selects this row.
fn is_wanted(case: &Case) -> bool {
    let wanted = std::env::var("XDSCTL_ROWS").unwrap_or_default();
    let mut starts = wanted.split(',').filter(|w| !w.is_empty()).peekable();
    starts.peek().is_none() || starts.any(|w| case.id.starts_with(w) || case.rule.starts_with(w) || case.kind == w)
}

/// A comparison of rows, and how many of them may differ.
pub struct Measure<'a> {
    pub what: &'a str,
    pub differing: usize,
    /// Says whether the client's answer and that of xdsctl are equal; `None` for a row that is not
    /// compared.
    pub is_equal: &'a dyn Fn(&Recorded, &Ours) -> Option<bool>,
}

/// The rows that differ, by their rule and the answers.
type Wrong = BTreeMap<(String, String), Vec<String>>;

/// Compares the verdicts, and fails if more than `differing` rows differ.
pub fn compare(what: &str, rows: &[Recorded], differing: usize) {
    compare_with(what, rows, differing, |row, ours| ours.verdict == row.verdict);
}

/// Compares every row with `is_equal`, and fails if more than `differing` rows differ.
pub fn compare_with(what: &str, rows: &[Recorded], differing: usize, is_equal: impl Fn(&Recorded, &Ours) -> bool) {
    let measure = Measure {
        what,
        differing,
        is_equal: &|row, ours| Some(is_equal(row, ours)),
    };
    compare_by(rows, &[measure]);
}

/// The number of rows that are compared of a recording if not every row is.
const SAMPLED: usize = 100;

/// Returns the rows to compare: those that the developer selects, otherwise a sample. The step is
/// odd, so that the sample has rows of every kind.
pub fn wanted(rows: &[Recorded]) -> Vec<&Recorded> {
    let rows: Vec<&Recorded> = rows.iter().filter(|row| is_wanted(&row.case)).collect();
    let step = if is_selected() { 1 } else { (rows.len() / SAMPLED) | 1 };
    sample(rows, step)
}

/// Compares by each of the measures, and fails if more rows differ than may. Where every row is
/// compared, exactly that number must differ.
pub fn compare_by(rows: &[Recorded], measures: &[Measure]) {
    let rows = wanted(rows);
    let mut wrong: Vec<Wrong> = measures.iter().map(|_| Wrong::new()).collect();
    let mut compared = vec![0; measures.len()];
    for row in &rows {
        let ours = ask(row);
        for (number, measure) in measures.iter().enumerate() {
            let Some(is_equal) = (measure.is_equal)(row, &ours) else {
                continue;
            };
            compared[number] += 1;
            if !is_equal {
                let verdicts = format!("{}, here {}", row.verdict, ours.verdict);
                let key = (row.case.rule.clone(), verdicts);
                wrong[number].entry(key).or_default().push(told(row, &ours));
            }
        }
    }
    for ((measure, wrong), compared) in measures.iter().zip(&wrong).zip(compared) {
        judge(measure, wrong, compared);
    }
}

/// Writes a row that differs, with the client's words and the findings of xdsctl.
fn told(row: &Recorded, ours: &Ours) -> String {
    let mut line = format!("{} [{}] {}", row.case.id, row.client, row.words);
    if let Some(paths) = &row.paths {
        write!(line, " {paths:?}").unwrap();
    }
    let nacks = ours.diagnostics.iter();
    for diagnostic in nacks.filter(|d| matches!(d.effect, Effect::Nack | Effect::Fails)) {
        let (id, path, message) = (diagnostic.rule.id, &diagnostic.path, &diagnostic.message);
        write!(line, "\n        {id} {path} {message}").unwrap();
    }
    line
}

/// Prints what differs, and fails if more differs than may.
fn judge(measure: &Measure, wrong: &Wrong, compared: usize) {
    let per_rule: usize = std::env::var("XDSCTL_DIFFER")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    if per_rule > 0 {
        for ((rule, verdicts), lines) in wrong {
            println!("{} {rule}: client {verdicts}", lines.len());
            lines.iter().take(per_rule).for_each(|line| println!("    {line}"));
        }
    }
    let (what, differing) = (measure.what, measure.differing);
    let count: usize = wrong.values().map(Vec::len).sum();
    let share = 100.0 - 100.0 * count as f64 / compared.max(1) as f64;
    println!("{what}: {count} of {compared} rows differ, {share:.2} % agree");
    let is_right = if compares_all() {
        count == differing
    } else {
        count <= differing
    };
    assert!(
        is_right,
        "{what}: {count} of {compared} rows differ, {differing} may; XDSCTL_DIFFER=5 shows them"
    );
}

/// The result of comparing a client's words with the rule that xdsctl reports.
#[derive(Debug, Default)]
pub struct Reasons {
    pub rows: usize,
    /// The rows whose words were cut off before they say why.
    cut: usize,
    /// The other rows, by the rule that xdsctl reports and what the words lead to.
    other: BTreeMap<(String, String), Vec<String>>,
}

impl Reasons {
    /// Returns the number of rows whose words lead to the rule that xdsctl reports.
    pub fn led(&self) -> usize {
        self.rows - self.cut - self.other.values().map(Vec::len).sum::<usize>()
    }
}

/// Checks that `docs/clients.md` has these words, if every row was compared.
pub fn page_says(words: &str) {
    if compares_all() {
        let page = std::fs::read_to_string(root().join("docs/clients.md")).unwrap();
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(words), "docs/clients.md: {words}");
    }
}

/// Compares the reasons for rejections that the client and xdsctl share. The client's words,
/// recognised by the pages' texts, must lead to the rule that xdsctl reports first. Fails if they
/// do not in more than `differing` rows. Words of `limit` characters are cut off, and may lead
/// nowhere.
pub fn compare_reasons(what: &str, rows: &[Recorded], limit: usize, differing: usize) -> Reasons {
    let mut reasons = Reasons::default();
    for row in wanted(rows).into_iter().filter(|row| row.verdict == "NACK") {
        let ours = ask(row);
        let Some(first) = ours.diagnostics.iter().find(|d| d.effect == Effect::Nack) else {
            continue;
        };
        let told = xdsctl_lint::recognise::recognised(&row.words);
        reasons.rows += 1;
        if told.iter().any(|one| one.leads_to(first.rule.id)) {
            continue;
        }
        let pages: Vec<&str> = told.iter().flat_map(|one| &one.pages).map(|page| page.id()).collect();
        // Where the fault itself is cut off, the words lead to a rule about what surrounds it.
        let is_vague = pages
            .iter()
            .all(|page| matches!(*page, "any-undecodable" | "response-rejected"));
        if is_vague && row.words.chars().count() == limit {
            reasons.cut += 1;
            continue;
        }
        let key = (first.rule.id.to_owned(), pages.join(", "));
        let words: String = row.words.chars().take(200).collect();
        reasons
            .other
            .entry(key)
            .or_default()
            .push(format!("{} {words}", row.case.id));
    }
    let count: usize = reasons.other.values().map(Vec::len).sum();
    println!(
        "{what}: of {} rows {count} have another reason, {} words are cut off",
        reasons.rows, reasons.cut
    );
    for ((ours, theirs), rows) in &reasons.other {
        println!("{} {ours}, the words lead to {theirs}: {}", rows.len(), rows[0]);
    }
    assert!(
        count <= differing,
        "{what}: {count} of {} rows have another reason, {differing} may",
        reasons.rows
    );
    reasons
}

/// Returns the rows, with the verdict `CRASH` for those where `fixtures/clients/NAME.jsonl.gz` says
/// that the process dies `then`.
pub fn and_then(mut rows: Vec<Recorded>, name: &str) -> Vec<Recorded> {
    let answers = answers(name);
    let dies: BTreeSet<&str> = answers
        .iter()
        .filter(|row| row["then"] == "CRASH")
        .map(|row| row["id"].as_str().unwrap())
        .collect();
    for row in &mut rows {
        if row.verdict == "ACK" && dies.contains(row.case.id.as_str()) {
            row.verdict = "CRASH".to_owned();
        }
    }
    rows
}

/// Returns the rows of `fixtures/clients/NAME.jsonl.gz`, each of which was asked with its own
/// environment.
pub fn of_switches(name: &str, client: &str) -> Vec<Recorded> {
    let cases = cases();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    answers(name)
        .iter()
        .map(|row| {
            let mut case = cases[&(text(row, "file"), text(row, "id"))].clone();
            case.env = serde_json::from_value(row["env"].clone()).unwrap();
            case.rule = case.env.keys().cloned().collect();
            Recorded {
                case,
                client: client.to_owned(),
                verdict: text(row, "verdict"),
                words: text(row, "details"),
                paths: None,
                is_unmasked: false,
            }
        })
        .collect()
}

/// Returns the rows of the file that `variable` names, in the form of `fresh-*`; none if the
/// variable is not set. It is meant for thousands of resources about which a developer has asked a
/// client.
pub fn of_file(variable: &str, client: &str) -> Vec<Recorded> {
    let Ok(path) = std::env::var(variable) else {
        return Vec::new();
    };
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| Recorded {
        case: fresh_case(&row),
        client: client.to_owned(),
        verdict: row[client][0].as_str().unwrap().to_owned(),
        words: row[client][1].as_str().unwrap_or_default().to_owned(),
        paths: None,
        is_unmasked: false,
    })
    .collect()
}
