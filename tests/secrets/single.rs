//! Tests of forms in which a secret was once printed, each in a document of its own.

use crate::run::run;

const SECRET: &str = "qRtZ4mWkP7xL";

/// A password in YAML, for which `$` stands, beside unknown fields that are therefore shown with
/// the lines around them.
const PASSWORDS: &[(&str, &str)] = &[
    ("folded", "inline_string: >-\n            first $\n            $ last"),
    ("literal", "inline_string: |\n            first $\n            $ last"),
    ("on the next line", "inline_string:\n            $"),
    (
        "double quotes on two lines",
        "inline_string: \"first\\\n            $\"",
    ),
    ("an explicit key", "? inline_string\n          : $"),
    ("a single quote in single quotes", "inline_string: 'it''s $'"),
    ("an alias without an anchor", "inline_string: *$"),
    ("an object", "inline_string: {x: $}"),
    ("a list", "inline_string: [$, 1]"),
    ("an object that does not end", "inline_string: {$: [$"),
];

/// Other documents with a secret.
const DOCUMENTS: &[(&str, &str, &str)] = &[
    (
        "a comma in a flow value",
        "x.yaml",
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: n\nmetadata: {filter_metadata: {m: {password: a,$ , bogus: {<<: 1}}}}\nbogus: 1\n",
    ),
    (
        "a comma in a flow value of a message",
        "x.yaml",
        "\"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: n\nrequest_headers_to_add: [{header: {key: x, value: a,$ , bogus: 1}}]\n",
    ),
    (
        "authorization_token",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"n","metadata":{"filter_metadata":{"m":{"authorization_token":"$"}}},"bogus":1}"#,
    ),
    (
        "json_key",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"n","metadata":{"filter_metadata":{"m":{"json_key":"$"}}},"bogus":1}"#,
    ),
    (
        "google_refresh_token",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"n","eds_cluster_config":{"eds_config":{"api_config_source":{"grpc_services":[{"google_grpc":{"call_credentials":[{"google_refresh_token":"$"}]},"bogus":1}]}}}}"#,
    ),
    (
        "a header that is added",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.route.v3.RouteConfiguration","name":"n","request_headers_to_add":[{"header":{"key":"x","value":"$","bogus":1}}]}"#,
    ),
    (
        "a token of a bootstrap",
        "bootstrap.json",
        r#"{"xds_servers":[{"server_uri":"a:1","channel_creds":[{"type":"x","config":{"token":"$"}},{"type":1}]}],"node":{"id":"n"}}"#,
    ),
    (
        "a query behind an escaped ampersand",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"n","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"alt_stat_name":"https://h/?x=1\u0026token=$","bogus":1}"#,
    ),
    (
        "a scheme with an escape in YAML",
        "x.yaml",
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: n\nalt_stat_name: \"\\x42earer $\"\nbogus: 1\n",
    ),
    (
        "a scheme with an octal escape",
        "x.textproto",
        r#"resources { [type.googleapis.com/envoy.config.cluster.v3.Cluster] { name: "n"
alt_stat_name: "\102earer $"
bogus: 1
 } }"#,
    ),
    (
        "a scheme on two lines",
        "x.yaml",
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: n\nalt_stat_name: \"Bea\\\n  rer $\"\nbogus: 1\n",
    ),
    (
        "a Struct",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"n","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metadata":{"filter_metadata":{"m":{"name":"$"}}},"bogus":1}"#,
    ),
    (
        "the key of a Struct",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"n","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metadata":{"filter_metadata":{"m":{"$":true}}},"bogus":1}"#,
    ),
    (
        "a type that nobody knows",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"n","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metadata":{"typed_filter_metadata":{"m":{"@type":"type.googleapis.com/x.Y","domains":["$"]}}},"bogus":1}"#,
    ),
    (
        "the configuration of a policy that nobody knows",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"n","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"load_balancing_policy":{"policies":[{"typed_extension_config":{"name":"l","typed_config":{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"t/mine","value":{"note":"$"}}},"bogus":1}]}}"#,
    ),
    (
        "unknown names by the dozen",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"n","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"k0":"$","k1":"$","k2":"$","k3":"$","k4":"$","k5":"$","k6":"$","k7":"$","k8":"$","k9":"$","k10":"$","k11":"$","k12":"$","k13":"$"}"#,
    ),
    (
        "a name that is almost right",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"n","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"metdata":{"note":"$"}}"#,
    ),
    (
        "what a peer says",
        "x.json",
        r#"{"configs":[{"@type":"type.googleapis.com/envoy.admin.v3.ClustersConfigDump","dynamic_active_clusters":[{"error_state":{"failed_configuration":{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"n"},"details":"unknown token $"}}]}]}"#,
    ),
    (
        "what a header without a name is compared with",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.route.v3.RouteConfiguration","name":"n","virtual_hosts":[{"name":"v","domains":["*"],"routes":[{"match":{"prefix":"","headers":[{"exact_match":"$"}]},"route":{"cluster":"c"}}]}]}"#,
    ),
    (
        "a header whose name has an escape that is none",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.route.v3.RouteConfiguration","name":"n","virtual_hosts":[{"name":"v","domains":["*"],"routes":[{"match":{"prefix":"","headers":[{"name":"authorizati\on","exact_match":"$"}]},"route":{"cluster":"c"}}]}]}"#,
    ),
    (
        "a key that became a part of a value",
        "x.yaml",
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: n\nalt_stat_name:\n  password:}\n    $\nbogus: 1\n",
    ),
    (
        "a text with an escape that is none",
        "x.json",
        r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"n","alt_stat_name":"https://h/?token=$\u,0073","bogus":1}"#,
    ),
    (
        "a comment",
        "x.yaml",
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: n\n# ours: $\nbogus: 1\n",
    ),
];

fn document(form: &str) -> String {
    format!(
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: n\ntransport_socket:\n  name: t\n  typed_config:\n    \
         \"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext\n    common_tls_context:\n      \
         tls_certificates:\n      - password:\n          bogus: 1\n          {form}\n          bogus2: 1\n"
    )
}

fn text(args: &[&str], document: &str) -> String {
    let (out, err) = run(args.iter().copied(), document.replace('$', SECRET).as_bytes());
    String::from_utf8(out).unwrap() + &String::from_utf8(err).unwrap()
}

#[test]
fn each_form_of_a_secret_is_masked() {
    let passwords = PASSWORDS.iter().map(|(what, form)| (*what, "x.yaml", document(form)));
    let others = DOCUMENTS
        .iter()
        .map(|(what, name, text)| (*what, *name, (*text).to_owned()));
    let mut leaking = Vec::new();
    for (what, name, document) in passwords.chain(others) {
        let stdin = format!("--stdin-filename={name}");
        let kind = if name.starts_with("bootstrap") {
            "--as=bootstrap"
        } else {
            "--show=parsed"
        };
        let human = ["validate", "--all", "--min-severity=note", kind, &stdin];
        for args in [&human[..], &["validate", "--format=json", kind, &stdin]] {
            leaking.extend(text(args, &document).contains(SECRET).then_some(what));
        }
        let shown = text(&[&human[..], &["--show-secrets"]].concat(), &document);
        assert!(shown.contains(SECRET), "{what}: nothing would be shown anyway\n{shown}");
    }
    assert_eq!(leaking, [""; 0]);
}

#[test]
fn the_value_of_a_header_that_does_not_match_is_not_told() {
    let routes = r#"{"@type":"type.googleapis.com/envoy.config.route.v3.RouteConfiguration","name":"n","virtual_hosts":[{"name":"v","domains":["*"],"routes":[{"match":{"prefix":"","headers":[{"name":"authorization","string_match":{"exact":"expected"}}]},"route":{"cluster":"c"}}]}]}"#;
    let header = format!("--header=authorization={SECRET}");
    for command in ["route", "pick"] {
        let args = [command, "--route-config=n", &header, "-"];
        let told = text(&args, routes);
        assert!(!told.contains(SECRET) && !told.contains("expected"), "{told}");
        let told = text(&[&args[..], &["--show-secrets"]].concat(), routes);
        assert!(told.contains(SECRET) && told.contains("expected"), "{told}");
    }
}

#[test]
fn a_baseline_has_no_name_that_looks_like_a_secret() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("secret-baseline.json");
    let option = format!("--write-baseline={}", path.display());
    let document = "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: https://user:$@host/c\n";
    text(&["validate", &option], document);
    let written = std::fs::read_to_string(path).unwrap();
    assert!(
        written.contains("https://user:************@host/c") && !written.contains(SECRET),
        "{written}"
    );
}
