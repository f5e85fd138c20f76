//! Runs commands on a document with a secret, and searches their output.

use serde_json::{Value, json};
use xdsctl_document::proto::print::{self, Printer};

use super::forms::{Form, bytes, unescaped};
use crate::run::run;

pub const RUNS: &[&[&str]] = &[
    &["validate", "--all", "--min-severity=note", "--show=parsed"],
    &["validate", "--format=json", "--show=parsed"],
    &["tree"],
    &["tree", "--format=json"],
    &["route", "--header=authorization=x"],
    &["route", "--format=json", "--header=authorization=x"],
    &["pick", "--explain"],
    &["retry"],
];

/// Commands that need files. `FILE` is the document, `OTHER` the same document with another secret,
/// `SUITE` a suite with the resource in it or the document beside it, and `OUT` the output of a
/// command. Each document gets one of the commands.
pub const FILED: &[&[&str]] = &[
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
    // These have secrets among their arguments.
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

/// A log that a client may have written; `$` stands for the secret.
pub const LOG: &str = r#"I0101 10:00:00.000 1 xds_client.cc:1] request: authorization: Bearer $
E0101 10:00:00.000 1 cds.cc:1] errors validating Cluster resource: [field:transport_socket error:unknown https://user:$@host/x]
{"level":"error","private_key":"$","msg":"xds: error parsing \"Bearer $\" of type.googleapis.com/envoy.config.cluster.v3.Cluster"}
E0101 10:00:00.000 1 lds.cc:1] field:api_listener error:-----BEGIN PRIVATE KEY-----\n$\n-----END PRIVATE KEY-----
"#;

/// Settings of a project that nobody should write; `$` stands for the secret.
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
pub fn filed_leak(
    number: usize,
    documents: [&[u8]; 2],
    value: &Value,
    form: Form,
    secrets: &[String],
) -> Option<String> {
    let directory =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("secret-files-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let ending = match form {
        Form::Compact | Form::Pretty | Form::Lines | Form::Escaped => "json",
        Form::Text | Form::Octal => "textproto",
        Form::Binary => "binpb",
        Form::Yaml(_) | Form::ConfigMap => "yaml",
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
    // Sometimes a brace is missing in the middle.
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

/// Writes what `fetch` writes for a resource from a client or control plane, and for one in Envoy's
/// own dump.
pub fn fetched(value: &Value) -> String {
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

/// Runs commands on a document and returns where a secret, or half of one, is printed.
pub fn leaks(document: &[u8], secrets: &[String], runs: &[&[&str]]) -> Option<String> {
    for args in runs {
        let (out, err) = run(args.iter().copied(), document);
        let text = String::from_utf8_lossy(&out).into_owned() + &String::from_utf8_lossy(&err);
        if let Some(leak) = leak_in(&text, secrets, args) {
            return Some(leak);
        }
    }
    None
}

/// Returns where a text has a secret, or half of one.
pub fn leak_in(text: &str, secrets: &[String], args: &[&str]) -> Option<String> {
    // The escapes are decoded twice: an excerpt in JSON has its escapes escaped.
    let once = unescaped(text);
    let texts = [text, &once, &unescaped(&once)];
    texts.into_iter().find_map(|text| plain_leak_in(text, secrets, args))
}

fn plain_leak_in(text: &str, secrets: &[String], args: &[&str]) -> Option<String> {
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
