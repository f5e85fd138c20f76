//! Compares real xDS servers (`fixtures/clients/servers`) with `validate --listen`: it has an error
//! or a warning exactly where a server does not serve its first RPC.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use xdsctl_model::profile::Client;

use crate::cli::xdsctl;
use crate::support::root;

/// Returns the rows, each from one line.
fn rows() -> Vec<Value> {
    let text = fs::read_to_string(root().join("fixtures/clients/servers.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Makes the bootstrap of a row: the template of the recording, with the row's additions.
fn bootstrap(row: &Value) -> String {
    let mut bootstrap = json!({
        "xds_servers": [{"server_uri": "a:1", "channel_creds": [{"type": "insecure"}]}],
        "node": {"id": "oracle"},
        "server_listener_resource_name_template": "grpc/server?address=%s",
    });
    for (key, value) in row["bootstrap"].as_object().into_iter().flatten() {
        bootstrap[key] = value.clone();
    }
    let name = format!("servers-{}.json", row["id"].as_str().unwrap());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bootstrap.to_string()).unwrap();
    path.display().to_string()
}

#[test]
fn a_server_that_does_not_serve_has_a_finding() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows() {
        let file = bootstrap(&row);
        for (client, answer) in row["answers"].as_object().unwrap() {
            if Client::parse_one(client).is_err() {
                continue;
            }
            count += 1;
            let host = if client.starts_with("java") {
                "0.0.0.0"
            } else {
                "127.0.0.1"
            };
            let text = |value: &Value| value.to_string().replace("HOST", host);
            let dump = text(&json!({"resources": row["resources"]}));
            let (asked, listen) = (format!("--client={client}"), format!("--listen={host}:7102"));
            let run = xdsctl(
                &[
                    "validate",
                    &asked,
                    &listen,
                    "--bootstrap",
                    &file,
                    "--format=json",
                    "--fail-on=warning",
                    "-",
                ],
                &dump,
            );
            if (run.code == Some(1)) != (answer["code"] != "OK") || run.code == Some(2) {
                wrong.push(format!(
                    "{} {client}: {answer}, {:?} {}",
                    row["id"],
                    run.findings(),
                    run.err
                ));
            }
        }
    }
    assert!(count > 60, "{count}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_server_has_no_name_without_a_bootstrap() {
    let run = xdsctl(&["validate", "--listen=0.0.0.0:80", "-"], "{}");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("--listen needs a bootstrap"), "{}", run.err);
}

#[test]
fn a_bootstrap_among_the_documents_makes_the_name() {
    let bootstrap =
        r#"{"xds_servers": [{"server_uri": "a:1", "channel_creds": [{"type": "insecure"}]}], "node": {"id": "n"}}"#;
    let run = xdsctl(
        &[
            "validate",
            "--listen=0.0.0.0:80",
            "--as=bootstrap",
            "--format=json",
            "-",
        ],
        bootstrap,
    );
    assert_eq!(
        (run.code, run.findings()),
        (Some(1), vec!["bootstrap-server-template-missing".to_owned()])
    );
}

#[test]
fn a_name_that_is_nearly_right_is_shown() {
    let row = rows().into_iter().find(|row| row["id"] == "missing").unwrap();
    let (file, dump) = (bootstrap(&row), json!({"resources": row["resources"]}).to_string());
    let dump = dump.replace("HOST", "0.0.0.0");
    let run = xdsctl(&["validate", "--listen=0.0.0.0:7102", "--bootstrap", &file, "-"], &dump);
    assert_eq!(run.code, Some(1));
    let wanted = [
        "Listener `grpc/server?address=0.0.0.0:7102` is not there: a server at 0.0.0.0:7102 does not serve",
        "did you mean `grpc/server?address=0.0.0.0:7103`?",
    ];
    for words in wanted {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
}
