//! Tests of the answer to each request.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::{Client, directory, edited, inside, uri};

// `tests/editors.sh` uses this world, too.
const ROUTES: &str = include_str!("shop/rds.yaml");
const LISTENER: &str = include_str!("shop/lds.yaml");
const CLUSTER: &str = include_str!("shop/cds.yaml");
const ENDPOINTS: &str = include_str!("shop/eds.yaml");

/// Makes a project of four documents and opens all of them.
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
    // The finding at the place is shown with its page.
    assert!(
        text.contains("**eds-locality-without-weight**") && text.contains("gRFC A27"),
        "{text}"
    );
    let file = project.join("cds.yaml");
    let cluster = format!("{CLUSTER}outlier_detection: {{interval: 7s}}\n");
    client.change(&file, 2, &cluster);
    let hover = client
        .at("textDocument/hover", &file, inside(&cluster, "interval"))
        .unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("If it is not set, gRPC C-core takes 10s."), "{text}");
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
    // Without a service name, a cluster and its endpoints share their name.
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
    // An empty name is rejected, and the name of a field cannot be changed.
    assert!(client.ask("textDocument/rename", rename("")).is_err());
    let nothing = client
        .at("textDocument/prepareRename", &file, inside(ROUTES, "domains"))
        .unwrap();
    assert_eq!(nothing, Value::Null);
    end(&project, client);
}

/// Returns the labels that are proposed at the bar in the text.
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
    assert_eq!(labels.len(), 4, "{labels:?}");
    assert!(
        has(&labels, "type.googleapis.com/envoy.config.cluster.v3.Cluster"),
        "{labels:?}"
    );
    let socket = "transport_socket:\n  name: tls\n  typed_config:\n    \"@type\": |\n";
    let labels = proposed(&mut client, &file, 5, &format!("{CLUSTER}{socket}"));
    let tls = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.";
    assert!(has(&labels, &format!("{tls}UpstreamTlsContext")), "{labels:?}");
    // CommonTlsContext is a part of that message.
    assert!(!has(&labels, &format!("{tls}CommonTlsContext")), "{labels:?}");
    client.change(&file, 6, CLUSTER);
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
    let text = "world: .\nsteps:\n- pick: {}\n  expect: {address: 10.0.0.1:80}\n";
    client.change(&suite, 3, text);
    for (word, meaning) in [
        ("pick", "are sent"),
        ("expect", "when the step has ended"),
        ("address", "IP:PORT"),
    ] {
        let hover = client.at("textDocument/hover", &suite, inside(text, word)).unwrap();
        assert!(
            hover["contents"]["value"].as_str().unwrap().contains(meaning),
            "{hover}"
        );
    }
    end(&project, client);
}

#[test]
fn the_settings_have_meanings_values_and_rules() {
    let project = directory("settings");
    let settings = project.join("xdsctl.toml");
    fs::write(&settings, "").unwrap();
    let mut client = Client::open(&project);
    client.did_open(&settings, "worlds = \"nowhere\"\n");
    let findings = client.findings(&settings, 1);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0]["range"]["start"], json!({"line": 0, "character": 9}));
    let labels = proposed(&mut client, &settings, 2, "[rules]\n\"|\" = \"off\"\n");
    let rule = "eds-locality-without-weight";
    assert!(labels.iter().any(|label| label == rule), "{} labels", labels.len());
    for (version, (text, wanted)) in (3..).zip([
        ("|\n", ["worlds", "rules", "ignore"]),
        ("worlds = \"|\"\n", ["auto", "file", "all"]),
        ("fail-on = |\n", ["error", "warning", "note"]),
        ("[[ignore]]\n|\n", ["rule", "resource", "until"]),
        ("[[policy]]\n|\n", ["id", "match", "expression"]),
        ("[rules]\ncds-dns = \"|\"\n", ["error", "note", "off"]),
    ]) {
        let labels = proposed(&mut client, &settings, version, text);
        let has_all = wanted.iter().all(|wanted| labels.iter().any(|label| label == wanted));
        assert!(
            has_all && !labels.iter().any(|label| label == "cds-dns"),
            "{text}: {labels:?}"
        );
    }
    let text = format!("worlds = \"file\"\n[rules]\n{rule} = \"off\"\n");
    client.change(&settings, 20, &text);
    for (word, meaning) in [
        ("worlds", "Which files one client sees"),
        (rule, "is dropped with all its endpoints"),
    ] {
        let hover = client.at("textDocument/hover", &settings, inside(&text, word)).unwrap();
        assert!(
            hover["contents"]["value"].as_str().unwrap().contains(meaning),
            "{hover}"
        );
    }
    end(&project, client);
}

#[test]
fn a_suite_says_where_rpcs_go_and_runs_its_tests() {
    let (project, mut client) = shop();
    let suite = project.join("suite.yaml");
    let text = "world: [lds.yaml, rds.yaml, cds.yaml, eds.yaml]\ntests:\n- name: one\n  target: xds:///shop.example\n  steps:\n  \
                - pick: {method: /shop.Cart/Get}\n    expect: {status: OK}\n- name: other\n  target: xds:///nobody\n  steps:\n  \
                - pick: {}\n    expect: {status: OK}\n";
    fs::write(&suite, text).unwrap();
    client.did_open(&suite, text);
    let document = json!({"textDocument": {"uri": uri(&suite)}});
    let lenses = client.ask("textDocument/codeLens", document).unwrap();
    let lenses = lenses.as_array().unwrap();
    let (leads, runs): (Vec<&Value>, Vec<&Value>) = lenses.iter().partition(|lens| lens.get("command").is_none());
    let mut said = Vec::new();
    for lead in &leads {
        let resolved = client.ask("codeLens/resolve", (*lead).clone()).unwrap();
        assert_eq!(resolved["range"], lead["range"]);
        said.push(resolved["command"]["title"].as_str().unwrap().to_owned());
    }
    // The other locality has no weight.
    assert_eq!(said[0], "RPC /shop.Cart/Get goes to 10.0.0.2:80, cluster cart");
    assert!(
        said[1].starts_with("RPC /pkg.Service/Method fails: UNAVAILABLE"),
        "{said:?}"
    );
    let play = |run: &Value| json!({"command": run["command"]["command"], "arguments": run["command"]["arguments"]});
    let played: Vec<Value> = runs
        .iter()
        .map(|run| client.ask("workspace/executeCommand", play(run)).unwrap())
        .collect();
    assert!(played[0].as_str().unwrap().contains("1 passed, 0 failed"), "{played:?}");
    assert!(played[1].as_str().unwrap().contains("0 passed, 1 failed"), "{played:?}");
    // The server refuses to answer about an older text.
    let waiting = client.request("codeLens/resolve", leads[0].clone());
    client.change(&suite, 2, &text.replace("shop.example", "example.shop"));
    let refused = client
        .answer(waiting)
        .map_or_else(|error| error["code"].as_i64(), |_| Some(0));
    assert!([Some(-32801), Some(0)].contains(&refused), "{refused:?}");
    let error = client.ask("codeLens/resolve", leads[0].clone()).unwrap_err();
    assert_eq!(error["code"], -32801);
    end(&project, client);
}

#[test]
fn a_share_and_a_cookie_are_told_as_clients_take_them() {
    let (project, mut client) = shop();
    let file = project.join("eds.yaml");
    let drops =
        "policy: {drop_overloads: [{category: a, drop_percentage: {numerator: 25, denominator: TEN_THOUSAND}}]}\n";
    let text = format!("{ENDPOINTS}{drops}");
    client.change(&file, 2, &text);
    let hover = client.at("textDocument/hover", &file, inside(&text, "25,")).unwrap();
    assert!(
        hover["contents"]["value"].as_str().unwrap().starts_with("0.25 %"),
        "{hover}"
    );
    let suite = project.join("suite.yaml");
    let cookie = "MTAuMC4wLjE6ODA7Y2x1c3Rlcl9h";
    let text = format!("world: .\nsteps:\n- pick: {{headers: {{cookie: session={cookie}}}}}\n");
    client.did_open(&suite, &text);
    let hover = client.at("textDocument/hover", &suite, inside(&text, cookie)).unwrap();
    assert!(
        hover["contents"]["value"].as_str().unwrap().contains("`10.0.0.1:80`"),
        "{hover}"
    );
    end(&project, client);
}

/// While somebody types, the valid parts of a document still have answers and proposals.
#[test]
fn what_is_whole_beside_what_is_broken_is_told_and_proposed() {
    let (project, mut client) = shop();
    let file = project.join("cds.yaml");
    let broken = format!("{CLUSTER}outlier_detection:\n  base_ejection_time: {{{{\n  interval: 7s\n");
    client.change(&file, 2, &broken);
    for (word, wanted) in [
        ("lb_policy", "LbPolicy"),
        ("interval", "OutlierDetection"),
        ("base_ejection", "OutlierDetection"),
    ] {
        let hover = client.at("textDocument/hover", &file, inside(&broken, word)).unwrap();
        let text = hover["contents"]["value"].as_str().unwrap_or_default();
        assert!(text.contains(wanted), "{word}: {hover}");
    }
    let labels = proposed(&mut client, &file, 3, &broken.replace("  interval: 7s\n", "  |\n"));
    assert!(labels.iter().any(|label| label == "interval"), "{labels:?}");
    // A key in JSON has no quotes yet.
    let json = "{\"@type\": \"type.googleapis.com/envoy.config.cluster.v3.Cluster\", \"name\": \"a\", |}";
    let labels = proposed(&mut client, &project.join("cds.yaml"), 4, json);
    assert!(labels.iter().any(|label| label == "lb_policy"), "{labels:?}");
    end(&project, client);
}

/// The types in the client's registry for a place are proposed, and no others.
#[test]
fn types_are_proposed_that_the_client_has_there() {
    let (project, mut client) = shop();
    let (cds, lds, rds) = (
        project.join("cds.yaml"),
        project.join("lds.yaml"),
        project.join("rds.yaml"),
    );
    let policy = "load_balancing_policy:\n  policies:\n  - typed_extension_config:\n      name: x\n      typed_config:\n        \"@type\": |\n";
    let policies = proposed(&mut client, &cds, 2, &format!("{CLUSTER}{policy}"));
    let own = "type.googleapis.com/envoy.extensions.load_balancing_policies.";
    let (others, policies): (Vec<&String>, Vec<&String>) = policies.iter().partition(|label| !label.starts_with(own));
    assert_eq!(others, ["type.googleapis.com/xds.type.v3.TypedStruct"]);
    assert!(policies.len() >= 5, "{policies:?}");
    let http = "type.googleapis.com/envoy.extensions.filters.http.";
    let filter = proposed(
        &mut client,
        &lds,
        2,
        &LISTENER.replace(&format!("{http}router.v3.Router"), "|"),
    );
    let overrides = format!("{ROUTES}  typed_per_filter_config:\n    x:\n      \"@type\": |\n");
    let overrides = proposed(&mut client, &rds, 2, &overrides);
    let has = |labels: &[String], name: &str| labels.iter().any(|label| *label == format!("{http}{name}"));
    assert!(
        has(&filter, "rbac.v3.RBAC") && has(&filter, "stateful_session.v3.StatefulSession"),
        "{filter:?}"
    );
    assert!(!has(&filter, "rbac.v3.RBACPerRoute"), "{filter:?}");
    assert!(
        has(&overrides, "rbac.v3.RBACPerRoute") && has(&overrides, "fault.v3.HTTPFault"),
        "{overrides:?}"
    );
    assert!(!has(&overrides, "router.v3.Router"), "{overrides:?}");
    end(&project, client);
}

/// A file that `policies` names has the same meanings and proposals as `[[policy]]` in the
/// settings. Another file of that format has none.
#[test]
fn a_file_of_policies_has_meanings_and_proposals() {
    let (project, mut client) = shop();
    fs::create_dir(project.join("own")).unwrap();
    fs::write(project.join("xdsctl.toml"), "policies = [\"own\"]\n").unwrap();
    let file = project.join("own/a.toml");
    let policy = "[[policy]]\nid = \"team-eds\"\nmatch = \"cluster\"\nexpression = \"parsed.discovery.type != 'EDS'\"\nmessage = \"ours\"\n";
    fs::write(&file, "").unwrap();
    client.did_open(&file, "");
    let labels = |client: &mut Client, version: i64, text: &str| proposed(client, &file, version, text);
    assert_eq!(labels(&mut client, 2, "|\n"), ["policy"]);
    assert!(labels(&mut client, 3, "[[policy]]\nmatch = \"|\"\n").contains(&"retry_policy".to_owned()));
    assert!(labels(&mut client, 4, "[[policy]]\n|\n").contains(&"messageExpression".to_owned()));
    assert!(labels(&mut client, 5, "[[policy.rejected]]\n|\n").contains(&"yaml".to_owned()));
    assert!(labels(&mut client, 6, "[[policy.accepted]]\nclient = \"|\"\n").contains(&"go".to_owned()));
    // The text in the editor counts at once.
    client.change(&file, 7, policy);
    assert_eq!(client.findings(&file, 7), Vec::<Value>::new());
    let cds = project.join("cds.yaml");
    let document = json!({"textDocument": {"uri": uri(&cds)}});
    client.ask("textDocument/foldingRange", document.clone()).unwrap();
    let found = client.findings(&cds, 1);
    assert!(found.iter().any(|finding| finding["code"] == "team-eds"), "{found:?}");
    let hover = client.at("textDocument/hover", &file, inside(policy, "match")).unwrap();
    assert!(
        hover["contents"]["value"].as_str().unwrap().contains("looked at"),
        "{hover}"
    );
    // Another file of that format belongs to no project.
    let other = project.join("Cargo.toml");
    client.did_open(&other, "[package]\nname = \"x\"\n");
    assert_eq!(client.at("textDocument/hover", &other, (1, 1)).unwrap(), Value::Null);
    assert!(!client.published.contains_key(&uri(&other)));
    end(&project, client);
}

/// The findings that one document causes in others follow the editor's text, not the file.
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

#[test]
fn arguments_of_an_editor_that_are_faulty_leave_those_of_the_command_line() {
    let project = directory("arguments");
    let file = project.join("cart.yaml");
    let mut client = Client::raw(&["--", "--client", "java"]);
    let options = json!({"arguments": ["--no-such-option"]});
    let params =
        json!({"processId": null, "rootUri": uri(&project), "initializationOptions": options, "capabilities": {}});
    client.ask("initialize", params).unwrap();
    client.tell("initialized", json!({}));
    // C-core rejects this policy, and grpc-java takes it.
    client.did_open(
        &file,
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: cart\ntype: EDS\n\
         eds_cluster_config: {eds_config: {ads: {}}}\nlb_policy: LEAST_REQUEST\n",
    );
    let found = client.findings(&file, 1);
    let codes: Vec<&Value> = found.iter().map(|finding| &finding["code"]).collect();
    assert!(!codes.contains(&&Value::from("cds-lb-policy-unsupported")), "{codes:?}");
    assert!(
        client
            .told
            .iter()
            .any(|told| told["params"]["message"].to_string().contains("--no-such-option"))
    );
    end(&project, client);
}
