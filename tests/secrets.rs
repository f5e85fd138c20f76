//! Secrets planted wherever gRPC or Envoy reads one, in every format, in good documents and broken ones: no output has them.
//!
//! The places come from the descriptor tables: each text field of a message that holds credentials, reached from a resource
//! by the shortest way. What the tables do not know (Structs, headers, URLs, the bootstrap) stands in a list beside them.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use xdsctl::proto::pb::tables::{self, Cardinality, Kind, Message, WellKnown};
use xdsctl::proto::print::{self, Printer};
use xdsctl::proto::transcode;
use xdsctl::rng::Rng;

use crate::run::run;

/// Secrets planted in a run; all of them with `XDSCTL_SECRETS=10000`.
const PLANTED: usize = 400;

/// Resources that the walk over the tables starts at.
const ROOTS: [&str; 4] = [
    "envoy.config.cluster.v3.Cluster",
    "envoy.config.listener.v3.Listener",
    "envoy.config.route.v3.RouteConfiguration",
    "envoy.config.endpoint.v3.ClusterLoadAssignment",
];

/// Messages that an Any may hold.
const PACKED: &[&str] = &[
    "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
    "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor",
    "envoy.extensions.filters.http.gcp_authn.v3.Audience",
    "envoy.extensions.filters.http.rbac.v3.RBAC",
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    "envoy.extensions.grpc_service.call_credentials.access_token.v3.AccessTokenCredentials",
    "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
    "envoy.extensions.transport_sockets.tls.v3.Secret",
    "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
];

/// Text fields of such messages that say where a secret is or what it is for.
const NOT_SECRET: &[&str] = &[
    "account",
    "authority_selector",
    "environment_variable",
    "filename",
    "key",
    "name",
    "provider_name",
    "scopes",
];

/// Steps from a resource to a field: names, and for an Any the type in it.
#[derive(Clone, Debug)]
enum Step {
    Field(&'static str, bool, Option<&'static str>),
    Packed(&'static str),
}

/// Where a secret goes: from a resource down to a field.
#[derive(Clone, Debug)]
struct Target {
    root: &'static str,
    steps: Vec<Step>,
    is_bytes: bool,
}

/// The shortest ways to every message that has fields which are secret, and their text fields.
fn targets() -> Vec<Target> {
    let mut found = Vec::new();
    for root in ROOTS {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let mut open: VecDeque<(&'static Message, Vec<Step>)> = VecDeque::new();
        open.push_back((tables::message(root).unwrap(), Vec::new()));
        while let Some((message, steps)) = open.pop_front() {
            let holds = message.fields.iter().any(|field| field.secret);
            // A few ways to a message that holds a secret, one to the others.
            let count = seen.entry(message.full_name).or_default();
            *count += 1;
            if *count > if holds { 12 } else { 1 } {
                continue;
            }
            for field in message.fields {
                if field.deprecated && !holds {
                    continue;
                }
                let is_list = matches!(field.cardinality, Cardinality::Repeated);
                let (kind, key) = match field.cardinality {
                    Cardinality::Map { value, .. } => (value, Some("k")),
                    Cardinality::Singular | Cardinality::Repeated => (field.kind, None),
                };
                let mut way = steps.clone();
                way.push(Step::Field(field.name, is_list, key));
                match kind {
                    Kind::String | Kind::Bytes if holds && !NOT_SECRET.contains(&field.name) => found.push(Target {
                        root,
                        steps: way,
                        is_bytes: kind == Kind::Bytes,
                    }),
                    _ => {
                        let Some(below) = kind.message() else { continue };
                        match below.well_known {
                            WellKnown::None => open.push_back((below, way)),
                            WellKnown::Any => {
                                for name in PACKED {
                                    let mut way = way.clone();
                                    way.push(Step::Packed(name));
                                    open.push_back((tables::message(name).unwrap(), way));
                                }
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
    }
    found
}

/// The JSON of a resource with `leaf` at the end of the way, and `beside` next to it.
fn resource(target: &Target, name: &str, leaf: Value, beside: &[(String, Value)]) -> Value {
    let mut value = leaf;
    let mut is_first = true;
    for step in target.steps.iter().rev() {
        value = match step {
            Step::Packed(type_name) => {
                let mut map = Map::new();
                map.insert("@type".to_owned(), format!("type.googleapis.com/{type_name}").into());
                map.extend(value.as_object().cloned().unwrap_or_default());
                Value::Object(map)
            }
            Step::Field(field, is_list, key) => {
                let mut value = value;
                if let Some(key) = key {
                    value = json!({ *key: value });
                }
                if *is_list {
                    value = json!([value]);
                }
                let mut map = Map::new();
                if is_first {
                    map.extend(beside.iter().cloned());
                    is_first = false;
                }
                map.insert((*field).to_owned(), value);
                Value::Object(map)
            }
        };
    }
    let mut map = Map::new();
    map.insert(
        "@type".to_owned(),
        format!("type.googleapis.com/{}", target.root).into(),
    );
    map.insert(
        if target.root.ends_with("Assignment") {
            "cluster_name"
        } else {
            "name"
        }
        .to_owned(),
        name.into(),
    );
    map.extend(value.as_object().cloned().unwrap_or_default());
    Value::Object(map)
}

/// Places that the tables do not know, with `$` for the secret.
const TEMPLATES: &[&str] = &[
    r#"{"@type":"R","name":"r","virtual_hosts":[{"name":"v","domains":["*"],"routes":[{"match":{"prefix":"","headers":[{"name":"authorization","string_match":{"exact":"Bearer $"}}]},"route":{"cluster":"c"}}]}]}"#,
    r#"{"@type":"R","name":"r","virtual_hosts":[{"name":"v","domains":["*"],"routes":[{"match":{"prefix":"","headers":[{"exact_match":"$","name":"X-Api-Key"}]},"route":{"cluster":"c"}}]}]}"#,
    r#"{"@type":"R","name":"r","virtual_hosts":[{"name":"v","domains":["*"],"routes":[{"match":{"prefix":"","headers":[{"name":"cookie","safe_regex_match":{"regex":"($"}}]},"route":{"cluster":"c"}}]}]}"#,
    r#"{"@type":"R","name":"r","virtual_hosts":[{"name":"v","domains":["*"],"routes":[{"match":{"prefix":"","headers":[{"name":"authorization","string_match":{"safe_regex":{"regex":"a{$"}}}]},"route":{"cluster":"c"}}]}]}"#,
    r#"{"@type":"R","name":"r","virtual_hosts":[{"name":"v","domains":["*"],"request_headers_to_add":[{"header":{"key":"x","value":"$"}}],"routes":[{"match":{"prefix":"/","cookies":[{"name":"n","string_match":{"exact":"$"}}]},"route":{"cluster":"c"}}]}]}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metadata":{"filter_metadata":{"m":{"password":"$","user":"u"}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metadata":{"filter_metadata":{"m":{"a":{"client_secret":["$"]}}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metadata":{"typed_filter_metadata":{"m":{"@type":"type.googleapis.com/x.Y","api_key":"$"}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metadata":{"filter_metadata":{"m":{"url":"https://user:$@host/x"}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"transport_socket":{"name":"t","typed_config":{"@type":"type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext","common_tls_context":{"tls_certificates":[{"pasword":{"inline_string":"$"}}]}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"transport_socket":{"name":"t","typed_config":{"@type":"type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext","common_tls_context":{"tls_certificates":[{"private_ky":"$"}]}}}}"#,
    r#"{"@type":"C","name":"c","type":"EDS","load_balancing_policy":{"policies":[{"typed_extension_config":{"name":"l","typed_config":{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"type.googleapis.com/x.Y","value":{"token":"$"}}}}]},"eds_cluster_config":{"eds_config":{"ads":{}}}}"#,
    r#"{"@type":"L","name":"l","api_listener":{"api_listener":{"@type":"type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager","rds":{"route_config_name":"r","config_source":{"ads":{}}},"http_filters":[{"name":"f","typed_config":{"@type":"type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC","rules":{"policies":{"p":{"permissions":[{"header":{"name":"x-auth-token","string_match":{"prefix":"$"}}}],"principals":[{"any":true}]}}}}},{"name":"r","typed_config":{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}}"#,
    r#"{"@type":"L","name":"l","api_listener":{"api_listener":{"@type":"type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager","rds":{"route_config_name":"r","config_source":{"ads":{}}},"http_filters":[{"name":"f","typed_config":{"@type":"type.googleapis.com/x.OAuth2Credentials","x":"$"}},{"name":"r","typed_config":{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}}"#,
];

const BOOTSTRAPS: &[&str] = &[
    r#"{"xds_servers":[{"server_uri":"a:1","channel_creds":[{"type":"google_default","config":{"token":"$"}}]}],"node":{"id":"n"}}"#,
    r#"{"xds_servers":[{"server_uri":"a:1","channel_creds":[{"type":"tls","config":{"x":"$"}}],"call_creds":[{"type":"jwt_token_file","config":{"jwt":"$"}}]}],"node":{"id":"n"}}"#,
    r#"{"xds_servers":[{"server_uri":"https://user:$@host:1","channel_creds":[{"type":"insecure"}]}],"node":{"id":"n","metadata":{"api_key":"$"}}}"#,
];

/// How a document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Compact,
    Pretty,
    Yaml(Scalar),
    Text,
    Binary,
}

/// How YAML writes the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    Plain,
    Double,
    Single,
    Literal,
    Folded,
    NextLine,
    DoubleFolded,
    Explicit,
    Flow,
    FlowComma,
    Alias,
    Anchor,
    BrokenFlow,
}

const FORMS: &[Form] = &[
    Form::Compact,
    Form::Pretty,
    Form::Text,
    Form::Binary,
    Form::Yaml(Scalar::Plain),
    Form::Yaml(Scalar::Double),
    Form::Yaml(Scalar::Single),
    Form::Yaml(Scalar::Literal),
    Form::Yaml(Scalar::Folded),
    Form::Yaml(Scalar::NextLine),
    Form::Yaml(Scalar::DoubleFolded),
    Form::Yaml(Scalar::Explicit),
    Form::Yaml(Scalar::Flow),
    Form::Yaml(Scalar::FlowComma),
    Form::Yaml(Scalar::Alias),
    Form::Yaml(Scalar::Anchor),
    Form::Yaml(Scalar::BrokenFlow),
];

/// Writes block YAML; strings that have a secret in the style asked for.
fn yaml(value: &Value, indent: usize, style: Scalar, secrets: &[String], out: &mut String) {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(map) if map.is_empty() => out.push_str(" {}\n"),
        Value::Object(map) => {
            out.push('\n');
            for (key, value) in map {
                match value {
                    Value::String(text) if secrets.iter().any(|secret| text.contains(secret)) => {
                        secret_yaml(key, text, &pad, style, out);
                    }
                    _ => {
                        let _ = write!(out, "{pad}{}:", json!(key));
                        yaml(value, indent + 2, style, secrets, out);
                    }
                }
            }
        }
        Value::Array(list) => {
            out.push('\n');
            for item in list {
                let _ = write!(out, "{pad}-");
                yaml(item, indent + 2, style, secrets, out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let _ = writeln!(out, " {value}");
        }
    }
}

fn secret_yaml(key: &str, text: &str, pad: &str, style: Scalar, out: &mut String) {
    let (head, tail) = text.split_at(text.len() / 2);
    let quoted = json!(text).to_string();
    let _ = match style {
        Scalar::Plain => writeln!(out, "{pad}{key}: {text}"),
        Scalar::Double => writeln!(out, "{pad}{key}: {quoted} # {text} is the secret"),
        Scalar::Single => writeln!(out, "{pad}{key}: 'it''s {}'", text.replace('\'', "''")),
        Scalar::Literal => writeln!(out, "{pad}{key}: |\n{pad}  {text}\n{pad}  name: {text}"),
        Scalar::Folded => writeln!(out, "{pad}{key}: >-\n{pad}  {head}\n{pad}  {tail}"),
        Scalar::NextLine => writeln!(out, "{pad}{key}:\n{pad}  {text}"),
        Scalar::DoubleFolded => writeln!(out, "{pad}{key}: \"{head}\\\n{pad}  {tail}\""),
        Scalar::Explicit => writeln!(out, "{pad}? {key}\n{pad}: {text}"),
        Scalar::Flow => writeln!(out, "{pad}{key}: !!str {quoted}"),
        Scalar::FlowComma => writeln!(out, "{pad}{key}: {text}, {text}"),
        Scalar::Alias => writeln!(out, "{pad}{key}: *{text}"),
        Scalar::Anchor => writeln!(out, "{pad}{key}: &a{pad}{text}\n{pad}other: *a", pad = ""),
        Scalar::BrokenFlow => writeln!(out, "{pad}{key}: {{{text}: [{text}"),
    };
}

/// A resource as text format, through its bytes.
fn textproto(value: &Value) -> Option<Vec<u8>> {
    let (type_name, bytes) = bytes(value)?;
    let message = tables::message(&type_name)?;
    let text = xdsctl::source::textproto::print(&bytes, message);
    Some(format!("resources {{\n  [type.googleapis.com/{type_name}] {{\n{text}\n  }}\n}}\n").into_bytes())
}

fn bytes(value: &Value) -> Option<(String, Vec<u8>)> {
    let type_name = value["@type"].as_str()?.rsplit('/').next()?.to_owned();
    let mut value = value.clone();
    value.as_object_mut()?.remove("@type");
    let message = tables::message(&type_name)?;
    let read = transcode::json(value.to_string().as_bytes(), message, transcode::Options::default());
    Some((type_name, read.bytes))
}

/// A DiscoveryResponse with one resource.
fn binary(value: &Value) -> Option<Vec<u8>> {
    let (type_name, bytes) = bytes(value)?;
    let field = |number: u8, bytes: &[u8]| {
        let mut out = vec![number << 3 | 2];
        let mut len = bytes.len();
        while len >= 0x80 {
            out.push(len as u8 | 0x80);
            len >>= 7;
        }
        out.push(len as u8);
        out.extend_from_slice(bytes);
        out
    };
    let url = format!("type.googleapis.com/{type_name}");
    let any = [field(1, url.as_bytes()), field(2, &bytes)].concat();
    Some([field(1, b"1"), field(2, &any), field(4, url.as_bytes())].concat())
}

fn write(value: &Value, form: Form, secrets: &[String]) -> Option<Vec<u8>> {
    let document = json!({ "resources": [value] });
    Some(match form {
        Form::Compact => document.to_string().into_bytes(),
        Form::Pretty => serde_json::to_vec_pretty(&document).unwrap(),
        Form::Text => textproto(value)?,
        Form::Binary => binary(value)?,
        Form::Yaml(style) => {
            let mut out = String::new();
            yaml(&document, 0, style, secrets, &mut out);
            out.into_bytes()
        }
    })
}

/// A text that nothing else has.
fn secret(rng: &mut Rng) -> String {
    const LETTERS: &[u8] = b"abcdefghkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    (0..16)
        .map(|_| char::from(LETTERS[rng.below(LETTERS.len() as u64) as usize]))
        .collect()
}

/// A value with a secret in it, of some shape.
fn value(secret: &str, rng: &mut Rng) -> String {
    match rng.below(12) {
        0 => format!("-----BEGIN PRIVATE KEY-----\n{secret}\"{secret}\n-----END PRIVATE KEY-----"),
        1 => format!("BEARER {secret}"),
        2 => format!("{secret}\u{7}"),
        3 => format!("https://user:{secret}@host"),
        4 => format!("*{secret}"),
        5 => format!("a, {secret}: b"),
        6 => format!("{secret} {secret}"),
        _ => secret.to_owned(),
    }
}

/// What makes findings beside a secret, or breaks what it is in.
fn beside(rng: &mut Rng, secret: &str) -> Vec<(String, Value)> {
    match rng.below(6) {
        0 => vec![("bogus".to_owned(), json!(1))],
        1 => vec![("aaa_unknown".to_owned(), json!({ "x": secret }))],
        2 => vec![
            ("inline_strng".to_owned(), json!(secret)),
            ("valeu".to_owned(), json!([secret])),
        ],
        3 => vec![("filename".to_owned(), json!({ "password": secret }))],
        _ => Vec::new(),
    }
}

const RUNS: &[&[&str]] = &[
    &["validate", "--all", "--min-severity=note", "--show=parsed"],
    &["validate", "--format=json", "--show=parsed"],
    &["tree"],
    &["tree", "--format=json"],
    &["route", "--header=authorization=x"],
    &["route", "--format=json", "--header=authorization=x"],
    &["pick", "--explain"],
    &["retry"],
];

/// Commands that need files, of which each document gets one: `FILE` is the document, `OTHER` the same with another secret, `SUITE` a
/// suite with the resource in it or the document beside it, `OUT` what a command writes.
const FILED: &[&[&str]] = &[
    &["validate", "--format=jsonl", "FILE"],
    &["validate", "--format=sarif", "FILE"],
    &["validate", "--format=junit", "FILE"],
    &["validate", "--format=github", "FILE"],
    &["validate", "--format=gitlab", "FILE"],
    &["validate", "--format=markdown", "FILE"],
    &["validate", "--format=concise", "FILE"],
    &["validate", "--format=json=OUT", "FILE"],
    &["validate", "--matrix", "--client=all", "FILE"],
    &["validate", "--client=all", "--format=json", "FILE"],
    &["validate", "--fix", "--diff", "FILE"],
    &["validate", "--write-baseline=OUT", "FILE"],
    &["diff", "--all", "FILE", "OTHER"],
    &["diff", "--all", "--format=json", "FILE", "OTHER"],
    &["who", "--all", "n", "FILE"],
    &["who", "--all", "--format=json", "n", "FILE"],
    &["tree", "--format=dot", "FILE"],
    &["tree", "--format=mermaid", "FILE"],
    &["tree", "--format=svg", "FILE"],
    &["tree", "--cluster=n", "--layout=a37", "FILE"],
    &["pick", "--explain", "--format=json", "--cluster=n", "FILE"],
    &["pick", "--requests=SCRIPT", "FILE"],
    &["test", "SUITE"],
    &["test", "--explain", "--coverage", "--format=json", "SUITE"],
    &["test", "--format=junit", "--coverage", "SUITE"],
    &["test", "--format=github", "SUITE"],
    &["test", "--format=json=OUT", "SUITE"],
    &["simulate", "--chart", "--run=one", "SUITE"],
    &["simulate", "--format=jsonl", "--run=two", "SUITE"],
    &["simulate", "--format=svg", "--run=one", "SUITE"],
    &["simulate", "--run=three", "SUITE"],
    &["test", "--format=sarif", "SUITE"],
    &["test", "--format=gitlab", "SUITE"],
    &["test", "--format=markdown", "SUITE"],
    &["test", "--update", "SUITE"],
    &["test", "--init", "FILE"],
    &[
        "validate",
        "--statistics",
        "--explain-error=field:name error:must be non-empty",
        "FILE",
    ],
    &["validate", "--config=CONFIG", "FILE"],
    &["config", "show", "--config=CONFIG"],
    &["config", "show", "--format=json", "--config=CONFIG"],
    // Secrets among the arguments.
    &[
        "route",
        "--header=authorization=Bearer SECRET",
        "--header=x-api-key: SECRET",
        "--cookie=session=SECRET",
        "--route-config=n",
        "FILE",
    ],
    &[
        "route",
        "--format=json",
        "--header=authorization=SECRET",
        "--cookie=session=SECRET",
        "--route-config=n",
        "FILE",
    ],
    &[
        "pick",
        "--explain",
        "--header=authorization=SECRET",
        "--header=x-auth-token: SECRET",
        "--cluster=n",
        "FILE",
    ],
    &[
        "pick",
        "--explain",
        "--format=json",
        "--header=cookie=a=SECRET",
        "--cookie=session=SECRET",
        "--route-config=n",
        "FILE",
    ],
    &["retry", "--header=authorization=SECRET", "--route-config=n", "FILE"],
    &["pick", "--header=authorization SECRET", "FILE"],
    &["pick", "--cookie=SECRET", "FILE"],
    &["route", "--headr=authorization=SECRET", "FILE"],
    &["validate", "https://user:SECRET@host/dump.json"],
    &["validate", "ads://127.0.0.1:1?token=SECRET"],
];

/// What a client may have logged, with `$` for the secret.
const LOG: &str = r#"I0101 10:00:00.000 1 xds_client.cc:1] request: authorization: Bearer $
E0101 10:00:00.000 1 cds.cc:1] errors validating Cluster resource: [field:transport_socket error:unknown https://user:$@host/x]
{"level":"error","private_key":"$","msg":"xds: error parsing \"Bearer $\" of type.googleapis.com/envoy.config.cluster.v3.Cluster"}
E0101 10:00:00.000 1 lds.cc:1] field:api_listener error:-----BEGIN PRIVATE KEY-----\n$\n-----END PRIVATE KEY-----
"#;

/// Settings of a project that nobody should have written.
const CONFIGS: &[&str] = &[
    "bootstrap = \"https://user:$@host/b.json\"\n",
    "password = \"$\"\n",
    "[validate]\ntoken = \"$\"\n",
    "private_key = \"\"\"\n-----BEGIN PRIVATE KEY-----\n$\n-----END PRIVATE KEY-----\n\"\"\"\n",
    "api_key = \"$\nx = 1\n",
    "format = \"json\" # x\nclients = [\"go\"]\nrules = { api_key = \"$\" }\n",
    "token = \"\"\"\n$\\q\n\"\"\"\n",
];

/// Writes the files that [`FILED`] names, and runs one of its commands.
fn filed_leak(number: usize, documents: [&[u8]; 2], value: &Value, form: Form, secrets: &[String]) -> Option<String> {
    let directory =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("secret-files-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let ending = match form {
        Form::Compact | Form::Pretty => "json",
        Form::Text => "textproto",
        Form::Binary => "binpb",
        Form::Yaml(_) => "yaml",
    };
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let [file, other] = ["planted", "other"].map(|name| path(&format!("{name}.{ending}")));
    for (name, document) in [&file, &other].into_iter().zip(documents) {
        std::fs::write(name, document).unwrap();
    }
    let secret = &secrets[0];
    let request = json!({"headers": {"authorization": format!("Bearer {secret}"), "x-api-key": secret}});
    let update = json!({"update": [value]});
    let named = json!({"pick": request, "expect": {"status": "CANCELLED", "cluster": "n", "attempts": 7}});
    let pairs = json!({"pick": {"headers": [["cookie", format!("a={secret}")]]}, "never": 1});
    let suite = json!({"tests": [
        {"name": "one", "world": [value], "steps": [named, update]},
        {"name": "two", "world": file, "route_config": "n", "steps": [named, {"begin": request, "finsh": 1}]},
        {"name": "three", "world": [value], "cluster": "n", "never": {"fails": true}, "steps": [pairs]},
    ]});
    // A suite with a fault is not played.
    let suite = match number / FILED.len() % 3 {
        0 => suite,
        which => {
            json!({"world": suite["tests"][which - 1]["world"], "cluster": "n", "name": if which == 1 { "one" } else { "two" },
            "steps": [named, update, {"pick": {"headers": [["authorization", secret]]}, "expect": {"status": "OK"}}]})
        }
    };
    let mut suite = format!("{suite:#}");
    let mut script = format!("{}\n{update}\n", json!({"pick": request}));
    // Now and then a brace is missing in the middle.
    for (text, every) in [(&mut suite, 5), (&mut script, 7)] {
        if number / FILED.len() % every == 4 {
            let middle = text.len() / 2;
            let brace = text.bytes().skip(middle).position(|byte| byte == b'}').unwrap();
            text.remove(middle + brace);
        }
    }
    std::fs::write(path("suite.yaml"), suite).unwrap();
    std::fs::write(path("script"), script).unwrap();
    let config = CONFIGS[number / FILED.len() % CONFIGS.len()].replace('$', secret);
    std::fs::write(path("config.toml"), config).unwrap();
    let _ = std::fs::remove_file(path("out"));
    let args: Vec<String> = FILED[number % FILED.len()]
        .iter()
        .map(|arg| {
            let arg = arg
                .replace("FILE", &file)
                .replace("OTHER", &other)
                .replace("OUT", &path("out"));
            arg.replace("SUITE", &path("suite.yaml"))
                .replace("SCRIPT", &path("script"))
                .replace("CONFIG", &path("config.toml"))
                .replace("SECRET", secret)
        })
        .collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    leaks(b"", secrets, &[&args]).or_else(|| {
        let written = std::fs::read(path("out")).unwrap_or_default();
        leak_in(&String::from_utf8_lossy(&written), secrets, &args)
    })
}

/// What `fetch` writes of a resource that a client or control plane has sent, and of one in Envoy's own dump.
fn fetched(value: &Value) -> String {
    let mut printer = Printer::new(true);
    if let Some((type_name, bytes)) = bytes(value) {
        printer.named(&bytes, &type_name);
    }
    let dump = json!({"configs": [{
        "@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump",
        "dynamic_active_clusters": [{"cluster": value}],
    }]});
    let masked = print::redacted(dump.to_string().into_bytes(), "envoy.admin.v3.ConfigDump");
    String::from_utf8_lossy(&printer.out).into_owned() + &String::from_utf8_lossy(&masked)
}

/// Runs commands on a document and says where a secret, or a half of one, is printed.
fn leaks(document: &[u8], secrets: &[String], runs: &[&[&str]]) -> Option<String> {
    for args in runs {
        let (out, err) = run(args.iter().copied(), document);
        let text = String::from_utf8_lossy(&out).into_owned() + &String::from_utf8_lossy(&err);
        if let Some(leak) = leak_in(&text, secrets, args) {
            return Some(leak);
        }
    }
    None
}

/// Says where a text has a secret, or a half of one.
fn leak_in(text: &str, secrets: &[String], args: &[&str]) -> Option<String> {
    for secret in secrets {
        let (head, tail) = secret.split_at(8);
        for part in [head, tail] {
            if let Some(at) = text.find(part) {
                let bytes = &text.as_bytes()[at.saturating_sub(600)..(at + 300).min(text.len())];
                let around = String::from_utf8_lossy(bytes);
                return Some(format!("{args:?} printed {part}:\n{around}"));
            }
        }
    }
    None
}

#[test]
fn planted_secrets_appear_in_no_output() {
    let wanted = std::env::var("XDSCTL_SECRETS")
        .ok()
        .and_then(|count| count.parse().ok());
    let wanted: usize = wanted.unwrap_or(PLANTED);
    let targets = targets();
    let names: Vec<String> = targets
        .iter()
        .map(|t| format!("{:?}", t.steps.last().unwrap()))
        .collect();
    assert!(targets.len() > 40, "{names:?}");
    let mut rng = Rng::stream(7, "planted secrets");
    let (mut planted, mut round, mut failures) = (0, 0, Vec::new());
    let started = std::time::Instant::now();
    while planted < wanted {
        let form = FORMS[round % FORMS.len()];
        let (secret, other) = (secret(&mut rng), self::secret(&mut rng));
        let secrets = [secret.clone(), other.clone()];
        let place = rng.below((targets.len() + 2 * TEMPLATES.len()) as u64) as usize;
        let value = match targets.get(place) {
            Some(target) => {
                let mut target = target.clone();
                // Now and then the text stands where the object should be that holds it.
                let is_short = rng.below(8) == 0 && matches!(target.steps.iter().rev().nth(1), Some(Step::Field(..)));
                if is_short {
                    target.steps.pop();
                }
                let target = &target;
                let text = value(&secret, &mut rng);
                let leaf = match rng.below(10) {
                    0 => json!([text]),
                    1 => json!({ "x": text }),
                    _ if target.is_bytes => {
                        use base64::Engine as _;
                        // Text that is no base64 is quoted; the base64 of it is as secret.
                        if rng.below(2) == 0 {
                            json!(text)
                        } else {
                            json!(base64::engine::general_purpose::STANDARD.encode(&text))
                        }
                    }
                    _ => json!(text),
                };
                // What stands beside that object is in another message.
                let beside = beside(&mut rng, &secret);
                resource(target, "n", leaf, if is_short { &[] } else { &beside })
            }
            None => {
                let text = TEMPLATES[(place - targets.len()) % TEMPLATES.len()];
                let text = text
                    .replace(
                        "\"@type\":\"R\"",
                        "\"@type\":\"type.googleapis.com/envoy.config.route.v3.RouteConfiguration\"",
                    )
                    .replace(
                        "\"@type\":\"C\"",
                        "\"@type\":\"type.googleapis.com/envoy.config.cluster.v3.Cluster\"",
                    )
                    .replace(
                        "\"@type\":\"L\"",
                        "\"@type\":\"type.googleapis.com/envoy.config.listener.v3.Listener\"",
                    )
                    .replace('$', &secret);
                serde_json::from_str(&text).unwrap()
            }
        };
        round += 1;
        let Some(mut document) = write(&value, form, &secrets) else {
            continue;
        };
        // Broken: cut somewhere behind the middle, a stray byte, or a brace too many.
        match rng.below(5) {
            0 => document.truncate(document.len() - rng.below(document.len() as u64 / 2 + 1) as usize),
            1 => {
                let at = rng.below(document.len() as u64) as usize;
                document.insert(at, b"\"{}:,\\\n"[rng.below(7) as usize]);
            }
            2 => document.extend_from_slice(b"\n}]"),
            _ => {}
        }
        planted += 1;
        let runs = if planted % 8 == 0 { RUNS } else { &RUNS[..2] };
        let leak = leaks(&document, &secrets, runs).or_else(|| leak_in(&fetched(&value), &secrets, &["fetch"]));
        let log = LOG.replace('$', &secret);
        let leak = leak.or_else(|| {
            let runs: &[&[&str]] = &[&["explain", "-"], &["explain", "--format=json", "-"]];
            leaks(log.as_bytes(), &secrets, runs).filter(|_| planted % 8 == 1)
        });
        let leak = leak.or_else(|| {
            let changed: Value = serde_json::from_str(&value.to_string().replace(&secret, &other)).unwrap();
            let changed = write(&changed, form, &secrets).unwrap_or_default();
            filed_leak(planted, [&document, &changed], &value, form, &secrets)
        });
        if let Some(leak) = leak {
            failures.push(format!("{form:?}\n{}\n{leak}", String::from_utf8_lossy(&document)));
        }
    }
    let places = targets.len() + TEMPLATES.len();
    println!("{planted} secrets in {places} places, {:?}", started.elapsed());
    assert!(
        failures.is_empty(),
        "{} of {planted} leak:\n{}",
        failures.len(),
        failures[..failures.len().min(12)].join("\n\n")
    );
}

#[test]
fn a_bootstrap_keeps_its_secrets() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("secret-bootstraps");
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("bootstrap.json");
    let mut rng = Rng::stream(7, "bootstraps");
    for template in BOOTSTRAPS {
        for broken in [false, true] {
            let secret = secret(&mut rng);
            let text = template.replace('$', &secret);
            let text = if broken {
                text[..text.len() - 2].to_owned()
            } else {
                text
            };
            std::fs::write(&path, &text).unwrap();
            let option = format!("--bootstrap={}", path.display());
            for form in [
                text.clone(),
                serde_json::from_str::<Value>(&text).map_or(text, |value| format!("{value:#}")),
            ] {
                let runs: &[&[&str]] = &[
                    &["validate", "--as=bootstrap", "--all", "--min-severity=note"],
                    &["validate", "--as=bootstrap", "--format=json"],
                    &["validate", &option, "--all", "--min-severity=note"],
                    &["tree", &option],
                ];
                assert_eq!(
                    leaks(form.as_bytes(), std::slice::from_ref(&secret), runs),
                    None,
                    "{form}"
                );
            }
        }
    }
}

#[test]
fn secrets_are_shown_to_those_who_ask() {
    let value = json!({
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
        "eds_cluster_config": { "eds_config": { "ads": {} } },
        "metadata": { "filter_metadata": { "m": { "password": "hunter2hunter2" } } },
    });
    let document = json!({ "resources": [value] }).to_string();
    for (args, shown) in [
        (&["validate", "--show=parsed"][..], false),
        (&["validate", "--show=parsed", "--show-secrets"], true),
        (&["validate", "--show=parsed", "--format=json"], false),
        (&["validate", "--show=parsed", "--format=json", "--show-secrets"], true),
    ] {
        let (out, _) = run(args.iter().copied(), document.as_bytes());
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.contains("hunter2hunter2"), shown, "{text}");
        assert_eq!(text.contains("[redacted]"), !shown, "{text}");
    }
}
