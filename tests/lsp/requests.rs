//! What each request is answered.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::{Client, directory, edited, inside, uri};

const ROUTES: &str = r#""@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: shop
virtual_hosts:
- name: all
  domains: ["*"]
  routes:
  - match: {prefix: ""}
    route:
      cluster: cart
      max_stream_duration: {max_stream_duration: 1.5s}
"#;

const LISTENER: &str = r#""@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: shop.example
api_listener:
  api_listener:
    "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
    rds: {route_config_name: shop, config_source: {ads: {}}}
    http_filters:
    - name: router
      typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
"#;

const CLUSTER: &str = r#""@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: cart
type: EDS
eds_cluster_config: {eds_config: {ads: {}}}
lb_policy: round_robin
"#;

const ENDPOINTS: &str = r#""@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
cluster_name: cart
endpoints:
- locality: {region: a}
  lb_endpoints:
  - endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}
- locality: {region: b}
  load_balancing_weight: 1
  lb_endpoints:
  - endpoint: {address: {socket_address: {address: 10.0.0.2, port_value: 80}}}
"#;

/// A project of four documents, all open.
fn shop() -> (PathBuf, Client) {
    let project = directory("shop");
    let mut client = Client::open(&project);
    fs::write(project.join("xdsctl.toml"), "").unwrap();
    for (name, text) in [
        ("cds.yaml", CLUSTER),
        ("eds.yaml", ENDPOINTS),
        ("lds.yaml", LISTENER),
        ("rds.yaml", ROUTES),
    ] {
        fs::write(project.join(name), text).unwrap();
    }
    for (name, text) in [
        ("cds.yaml", CLUSTER),
        ("eds.yaml", ENDPOINTS),
        ("lds.yaml", LISTENER),
        ("rds.yaml", ROUTES),
    ] {
        client.did_open(&project.join(name), text);
    }
    (project, client)
}

fn end(project: &Path, client: Client) {
    assert_eq!(client.end(), std::process::ExitCode::SUCCESS);
    fs::remove_dir_all(project).unwrap();
}

#[test]
fn a_field_is_told_with_its_readers_and_rules() {
    let (project, mut client) = shop();
    let file = project.join("eds.yaml");
    let hover = client
        .at("textDocument/hover", &file, inside(ENDPOINTS, "locality"))
        .unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains("**locality** of `envoy.config.endpoint.v3.LocalityLbEndpoints`"),
        "{text}"
    );
    assert!(text.contains("Read by"), "{text}");
    // The finding at the place comes with its page.
    assert!(
        text.contains("**eds-locality-without-weight**") && text.contains("gRFC A27"),
        "{text}"
    );
    let file = project.join("rds.yaml");
    let hover = client.at("textDocument/hover", &file, inside(ROUTES, "1.5s")).unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("1500 ms"), "{text}");
    end(&project, client);
}

#[test]
fn a_name_leads_to_where_it_is_given_and_to_all_that_refer_to_it() {
    let (project, mut client) = shop();
    let file = project.join("rds.yaml");
    let found = client
        .at("textDocument/definition", &file, inside(ROUTES, "cart"))
        .unwrap();
    assert_eq!(found[0]["uri"], uri(&project.join("cds.yaml")));
    assert_eq!(found[0]["range"]["start"], json!({"line": 1, "character": 6}));
    assert_eq!(found.as_array().unwrap().len(), 1);
    let file = project.join("lds.yaml");
    let found = client
        .at("textDocument/definition", &file, inside(LISTENER, "shop,"))
        .unwrap();
    assert_eq!(found[0]["uri"], uri(&project.join("rds.yaml")));
    // Without a service name a cluster and its endpoints share theirs.
    let place = inside(ENDPOINTS, "cart");
    let params = json!({
        "textDocument": {"uri": uri(&project.join("eds.yaml"))},
        "position": {"line": place.0, "character": place.1},
        "context": {"includeDeclaration": true},
    });
    let found = client.ask("textDocument/references", params).unwrap();
    let files: Vec<&str> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["uri"].as_str().unwrap())
        .collect();
    assert_eq!(
        files,
        ["cds.yaml", "eds.yaml", "rds.yaml"].map(|name| uri(&project.join(name)))
    );
    end(&project, client);
}

#[test]
fn a_rename_changes_every_document_and_nothing_else() {
    let (project, mut client) = shop();
    let file = project.join("rds.yaml");
    let place = inside(ROUTES, "cart");
    let rename = |name: &str| {
        json!({
            "textDocument": {"uri": uri(&file)},
            "position": {"line": place.0, "character": place.1},
            "newName": name,
        })
    };
    let prepared = client.at("textDocument/prepareRename", &file, place).unwrap();
    assert_eq!(prepared["placeholder"], "cart");
    let edit = client.ask("textDocument/rename", rename("basket")).unwrap();
    let changes = edit["changes"].as_object().unwrap();
    assert_eq!(changes.len(), 3);
    for (name, text) in [("cds.yaml", CLUSTER), ("eds.yaml", ENDPOINTS), ("rds.yaml", ROUTES)] {
        let new = edited(text, &changes[&uri(&project.join(name))]);
        assert_eq!(new, text.replace("cart", "basket"));
    }
    // A name that cannot be one, and one that is taken.
    assert!(client.ask("textDocument/rename", rename("")).is_err());
    let nothing = client
        .at("textDocument/prepareRename", &file, inside(ROUTES, "domains"))
        .unwrap();
    assert_eq!(nothing, Value::Null);
    end(&project, client);
}

/// The labels that are proposed where the text has a bar.
fn proposed(client: &mut Client, file: &Path, version: i64, text: &str) -> Vec<String> {
    let at = text.find('|').unwrap();
    let place = crate::client::place(text, at);
    client.change(file, version, &text.replacen('|', "", 1));
    let items = client.at("textDocument/completion", file, place).unwrap();
    let items = items.as_array().unwrap().iter();
    items.map(|item| item["label"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn fields_values_types_and_names_are_proposed() {
    let (project, mut client) = shop();
    let file = project.join("cds.yaml");
    let has = |labels: &[String], wanted: &str| labels.iter().any(|label| label == wanted);
    let labels = proposed(&mut client, &file, 2, &format!("{CLUSTER}lb_|\n"));
    assert!(
        has(&labels, "load_assignment") && has(&labels, "circuit_breakers"),
        "{labels:?}"
    );
    assert!(!has(&labels, "lb_policy"), "it is there already");
    let labels = proposed(&mut client, &file, 3, &CLUSTER.replace("round_robin", "RO|"));
    assert!(has(&labels, "ROUND_ROBIN") && has(&labels, "RING_HASH"), "{labels:?}");
    let labels = proposed(&mut client, &file, 4, "\"@type\": |\nname: x\n");
    assert!(
        labels.is_empty() || has(&labels, "type.googleapis.com/envoy.config.cluster.v3.Cluster"),
        "{labels:?}"
    );
    client.change(&file, 5, CLUSTER);
    let routes = project.join("rds.yaml");
    let labels = proposed(&mut client, &routes, 2, &ROUTES.replace("cluster: cart", "cluster: c|"));
    assert_eq!(labels, ["cart"]);
    let listener = project.join("lds.yaml");
    let labels = proposed(
        &mut client,
        &listener,
        2,
        &LISTENER.replace("http.router.v3.Router}", "|}"),
    );
    assert!(
        has(
            &labels,
            "type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault"
        ),
        "{labels:?}"
    );
    assert!(
        !labels.iter().any(|label| label.contains("transport_sockets")),
        "{labels:?}"
    );
    let labels = proposed(
        &mut client,
        &listener,
        3,
        &LISTENER.replace("name: shop.example", "name: shop.example # xdsctl: ignore[|] why"),
    );
    assert!(has(&labels, "eds-locality-without-weight"), "{} labels", labels.len());
    end(&project, client);
}

#[test]
fn a_certain_fix_and_a_comment_are_offered() {
    let (project, mut client) = shop();
    let file = project.join("cds.yaml");
    let findings = client.findings(&file, 1);
    let finding = findings
        .iter()
        .find(|finding| finding["message"].as_str().unwrap().contains("round_robin"));
    let finding = finding.unwrap_or_else(|| panic!("{findings:?}"));
    let ask = |client: &mut Client, file: &Path, finding: &Value| {
        let params = json!({
            "textDocument": {"uri": uri(file)},
            "range": finding["range"],
            "context": {"diagnostics": [finding]},
        });
        client.ask("textDocument/codeAction", params).unwrap()
    };
    let actions = ask(&mut client, &file, finding);
    let fix = actions
        .as_array()
        .unwrap()
        .iter()
        .find(|action| action["isPreferred"] == true);
    let fix = fix.unwrap_or_else(|| panic!("{actions}"));
    let new = edited(CLUSTER, &fix["edit"]["changes"][uri(&file)]);
    assert_eq!(new, CLUSTER.replace("round_robin", "ROUND_ROBIN"));
    let file = project.join("eds.yaml");
    let findings = client.findings(&file, 1);
    let rule = "eds-locality-without-weight";
    let finding = findings
        .iter()
        .find(|finding| finding["code"] == rule)
        .unwrap_or_else(|| panic!("{findings:?}"));
    let actions = ask(&mut client, &file, finding);
    let title = format!("Suppress {rule} here, with a reason");
    let action = actions
        .as_array()
        .unwrap()
        .iter()
        .find(|action| action["title"] == title.as_str())
        .unwrap();
    let new = edited(ENDPOINTS, &action["edit"]["changes"][uri(&file)]);
    client.change(&file, 2, &new);
    let findings = client.findings(&file, 2);
    assert!(findings.iter().all(|finding| finding["code"] != rule), "{findings:?}");
    end(&project, client);
}

#[test]
fn the_form_of_a_document_is_shown() {
    let (project, mut client) = shop();
    let file = project.join("rds.yaml");
    let document = json!({"textDocument": {"uri": uri(&file)}});
    let symbols = client.ask("textDocument/documentSymbol", document.clone()).unwrap();
    assert_eq!(symbols[0]["name"], "shop");
    assert_eq!(symbols[0]["detail"], "RouteConfiguration, accepted");
    let folds = client.ask("textDocument/foldingRange", document.clone()).unwrap();
    assert!(folds.as_array().unwrap().len() >= 3, "{folds}");
    let (line, character) = inside(ROUTES, "cart");
    let params = json!({"textDocument": {"uri": uri(&file)}, "positions": [{"line": line, "character": character}]});
    let selection = client.ask("textDocument/selectionRange", params).unwrap();
    let mut levels = 0;
    let mut at = &selection[0];
    while at.is_object() {
        levels += 1;
        at = &at["parent"];
    }
    assert!(levels > 5, "{selection}");
    let lenses = client
        .ask(
            "textDocument/codeLens",
            json!({"textDocument": {"uri": uri(&project.join("cds.yaml"))}}),
        )
        .unwrap();
    assert_eq!(lenses[0]["command"]["title"], "1 route leads here");
    end(&project, client);
}

#[test]
fn a_suite_and_the_settings_have_their_schemas() {
    let project = directory("suite");
    fs::write(project.join("xdsctl.toml"), "").unwrap();
    let suite = project.join("suite.yaml");
    let text = "world: .\ntarget: xds:///shop.example\nsteps:\n- nonsense: 2\n";
    fs::write(&suite, text).unwrap();
    let mut client = Client::open(&project);
    client.did_open(&suite, text);
    let findings = client.findings(&suite, 1);
    assert!(
        findings
            .iter()
            .any(|finding| finding["message"].as_str().unwrap().contains("nonsense")),
        "{findings:?}"
    );
    let hover = client.at("textDocument/hover", &suite, inside(text, "world")).unwrap();
    assert!(
        hover["contents"]["value"].as_str().unwrap().contains("control plane"),
        "{hover}"
    );
    let labels = proposed(&mut client, &suite, 2, "world: .\nsteps:\n- |\n");
    assert!(labels.iter().any(|label| label == "expect"), "{labels:?}");
    let settings = project.join("xdsctl.toml");
    let broken = "worlds = \"nowhere\"\n";
    client.did_open(&settings, broken);
    let findings = client.findings(&settings, 1);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0]["range"]["start"], json!({"line": 0, "character": 9}));
    let labels = proposed(&mut client, &settings, 2, "[rules]\n\"|\" = \"off\"\n");
    assert!(
        labels.iter().any(|label| label == "eds-locality-without-weight"),
        "{} labels",
        labels.len()
    );
    let hover = client.at("textDocument/hover", &settings, (0, 2)).unwrap();
    assert!(
        hover["contents"]["value"]
            .as_str()
            .is_some_and(|text| text.contains("rules")),
        "{hover}"
    );
    end(&project, client);
}

/// What one document says of another follows the editor, not the file.
#[test]
fn a_document_changes_what_is_found_in_others() {
    let (project, mut client) = shop();
    let (cds, rds) = (project.join("cds.yaml"), project.join("rds.yaml"));
    fs::write(
        project.join("other.yaml"),
        CLUSTER.replace("cart", "other").replace("round_robin", "ROUND_ROBIN"),
    )
    .unwrap();
    client.change(&cds, 2, &CLUSTER.replace("round_robin", "ROUND_ROBIN"));
    client.findings(&cds, 2);
    let before = client.findings(&rds, 1).len();
    client.change(&cds, 3, "");
    client.findings(&cds, 3);
    client
        .ask("textDocument/foldingRange", json!({"textDocument": {"uri": uri(&rds)}}))
        .unwrap();
    let after = client.findings(&rds, 1);
    assert!(after.len() > before, "{after:?}");
    end(&project, client);
}
