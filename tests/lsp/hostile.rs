//! Checks that no message ends the server, except on a stream that is out of step.

use std::fs;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::client::{Client, directory, uri};

const METHODS: [&str; 11] = [
    "textDocument/hover",
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/selectionRange",
    "textDocument/codeAction",
    "textDocument/codeLens",
];

/// Makes parameters for any request at a place.
pub fn params(document: &str, line: u64, character: u64) -> Value {
    let place = json!({"line": line, "character": character});
    json!({
        "textDocument": {"uri": document},
        "position": place,
        "positions": [place],
        "range": {"start": place, "end": place},
        "context": {"diagnostics": [], "includeDeclaration": true, "triggerKind": 1},
        "newName": "x",
    })
}

/// Sends every request at a place. No answer may be an internal error of the server.
pub fn ask_all(
    client: &mut Client,
    document: &str,
    line: u64,
    character: u64,
) -> Vec<(&'static str, Result<Value, Value>)> {
    let answers = METHODS.map(|method| (method, client.ask(method, params(document, line, character))));
    for (method, answer) in &answers {
        if let Err(error) = answer {
            assert_eq!(error["code"], -32803, "{method}: {error}");
        }
    }
    answers.into()
}

#[test]
fn messages_that_are_none_are_answered_and_the_server_goes_on() {
    let project = directory("hostile");
    let mut client = Client::raw(&[]);
    // These come before `initialize`, or are not messages.
    let early = client.ask("textDocument/hover", json!({})).unwrap_err();
    assert_eq!(early["code"], -32002);
    client.send("{");
    client.send("[1,2]");
    client.send(r#"{"jsonrpc": "2.0", "id": {"a": 1}, "method": "x"}"#);
    client.tell("textDocument/didOpen", json!({"textDocument": 1}));
    client
        .ask(
            "initialize",
            json!({"workspaceFolders": [{"uri": 7}], "capabilities": {"general": 1}}),
        )
        .unwrap();
    assert_eq!(client.ask("initialize", json!({})).unwrap_err()["code"], -32600);
    assert_eq!(client.ask("no/such", json!({})).unwrap_err()["code"], -32601);
    assert_eq!(
        client
            .ask("workspace/executeCommand", json!({"command": "rm"}))
            .unwrap_err()["code"],
        -32602
    );
    for method in METHODS {
        for params in [Value::Null, json!([]), json!({"textDocument": {"uri": 1}})] {
            assert_eq!(client.ask(method, params).unwrap_err()["code"], -32602, "{method}");
        }
        let params = json!({"textDocument": {"uri": "file:///not/open"}});
        assert_eq!(client.ask(method, params).unwrap(), Value::Null);
    }
    let file = project.join("a.yaml");
    client.did_open(&file, "name: a\n");
    client.tell(
        "textDocument/didChange",
        json!({"textDocument": {"uri": uri(&file), "version": 2}}),
    );
    client.tell(
        "textDocument/didChange",
        json!({"textDocument": {"uri": "nonsense", "version": 2}, "contentChanges": [{"text": ""}]}),
    );
    let far = u64::from(u32::MAX);
    for (line, character) in [(0, 0), (far, far), (0, far), (1, 0)] {
        ask_all(&mut client, &uri(&file), line, character);
    }
    assert_eq!(
        client
            .ask("textDocument/hover", params(&uri(&file), 1 << 40, 0))
            .unwrap_err()["code"],
        -32602
    );
    client.tell("$/cancelRequest", json!({"id": 12345}));
    client.tell("$/unknown", json!({}));
    assert_eq!(client.end(), ExitCode::SUCCESS);
    fs::remove_dir_all(project).unwrap();
}

#[test]
fn a_stream_out_of_step_ends_with_a_word() {
    for bytes in [
        &b"Content-Length: 99999999999999\r\n\r\n"[..],
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00\xff\r\n\r\n",
    ] {
        let mut client = Client::raw(&[]);
        client.bytes(bytes);
        assert_eq!(client.leave(), ExitCode::from(2));
    }
    // The editor has gone without `shutdown`.
    assert_eq!(Client::raw(&[]).leave(), ExitCode::from(1));
    assert_eq!(Client::raw(&["--", "--fix"]).leave(), ExitCode::from(2));
}

#[test]
fn texts_that_attack_a_reader_are_documents_as_others() {
    let project = directory("texts");
    fs::write(project.join("xdsctl.toml"), "").unwrap();
    let mut client = Client::open(&project);
    let deep = |open: &str, count: usize| open.repeat(count);
    let anchors = {
        let mut text = "a0: &a0 [x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 1..12 {
            let name = format!("*a{}", level - 1);
            text += &format!("a{level}: &a{level} [{}]\n", [name.as_str(); 8].join(","));
        }
        text
    };
    let any = r#"{"@type":"type.googleapis.com/google.protobuf.Any","value":"#;
    let any = format!("{}{{}}{}", any.repeat(90), "}".repeat(90));
    let texts = [
        deep("[", 100_000),
        deep("{\"a\":", 50_000),
        deep("- ", 20_000),
        anchors,
        any,
        "\u{feff}\u{202e}\u{0}\u{7f}: \u{1b}[31m\n".to_owned(),
        "\r\r\n\r".to_owned(),
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: |\n".to_owned(),
        "key: \"unterminated\n".to_owned(),
        "😀".repeat(3_000),
        "# xdsctl: ignore[".repeat(1_000),
    ];
    let file = project.join("a.yaml");
    client.did_open(&file, "");
    for (version, text) in (2..).zip(&texts) {
        client.change(&file, version, text);
        client.findings(&file, version);
        let lines = text.lines().count() as u64;
        for (line, character) in [(0, 0), (0, 7), (lines / 2, 3), (lines, 0)] {
            ask_all(&mut client, &uri(&file), line, character);
        }
    }
    assert_eq!(client.end(), ExitCode::SUCCESS);
    fs::remove_dir_all(project).unwrap();
}

/// The server answers nothing about an older text, and reports what is cancelled.
#[test]
fn a_request_is_answered_for_its_version_or_refused() {
    let project = directory("versions");
    fs::write(project.join("xdsctl.toml"), "").unwrap();
    let file = project.join("a.yaml");
    let mut client = Client::open(&project);
    let text = |name: usize| format!("\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: c{name}\n");
    client.did_open(&file, &text(1));
    let document = json!({"textDocument": {"uri": uri(&file)}});
    let mut asked = Vec::new();
    for version in 2..60_usize {
        client.change(&file, version as i64, &text(version));
        let number = client.request("textDocument/documentSymbol", document.clone());
        if version.is_multiple_of(5) {
            client.tell("$/cancelRequest", json!({"id": number}));
        }
        asked.push((version, number));
    }
    let last = asked.len() - 1;
    for (at, (version, number)) in asked.into_iter().enumerate() {
        match client.answer(number) {
            Ok(symbols) => assert_eq!(symbols[0]["name"], format!("c{version}")),
            Err(error) => {
                assert!(at != last, "the last one is answered: {error}");
                assert!([-32801, -32800].contains(&error["code"].as_i64().unwrap()), "{error}");
            }
        }
    }
    assert_eq!(client.end(), ExitCode::SUCCESS);
    fs::remove_dir_all(project).unwrap();
}

#[test]
fn a_document_that_is_not_looked_at_is_in_the_log() {
    let project = directory("left-out");
    let mut client = Client::open(&project);
    let logged = |client: &Client| -> Vec<String> {
        let told = client.told.iter().filter(|told| told["method"] == "window/logMessage");
        told.map(|told| told["params"]["message"].as_str().unwrap().to_owned())
            .collect()
    };
    let grown = project.join("grown.yaml");
    client.did_open(&grown, "name: a\n");
    client.change(&grown, 2, &"#".repeat((32 << 20) + 1));
    let document = |number: usize| project.join(format!("{number}.txt"));
    (0..=1000).for_each(|number| client.did_open(&document(number), ""));
    // The answer comes after everything that was said of these messages.
    assert!(client.ask("no/such", json!({})).is_err());
    let wanted = [
        format!(
            "{} has more than 33554432 bytes: xdsctl does not look at it",
            uri(&grown)
        ),
        format!(
            "more than 1000 documents are open: xdsctl does not look at {}",
            uri(&document(1000))
        ),
    ];
    assert_eq!(logged(&client), wanted);
    assert_eq!(client.end(), ExitCode::SUCCESS);
    fs::remove_dir_all(project).unwrap();
}
