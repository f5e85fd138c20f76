//! Tests of `xdsctl admit`: what each form of the answer contains, how it ends, and what the
//! command refuses.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::run::{Run, directory, in_process, program};
use crate::server;
use crate::support::root;

/// A certificate of the cart service, valid in November 2026, made with `openssl req -x509`.
const CART: &str = "\
-----BEGIN CERTIFICATE-----
MIIBjjCCATWgAwIBAgIBATAKBggqhkjOPQQDAjAeMQ0wCwYDVQQKDARTaG9wMQ0w
CwYDVQQDDARjYXJ0MB4XDTI2MTEwMTAwMDAwMFoXDTI2MTIwMTAwMDAwMFowHjEN
MAsGA1UECgwEU2hvcDENMAsGA1UEAwwEY2FydDBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABOsynE5V3tQwLukvsyCCpyWUbgFrABm7DFPl0rY0YmZhanCJWf5BheyT
KBXfF3c8taBWUPgpUa7u8L4z+kBm136jZDBiMEEGA1UdEQQ6MDiGFXNwaWZmZTov
L3Nob3Avc2EvY2FydIIJY2FydC5zaG9wgQ5jYXJ0QHNob3AudGVzdIcECgAAATAd
BgNVHQ4EFgQULxPdsZVCNk/rrlnp80RiEnfIa/QwCgYIKoZIzj0EAwIDRwAwRAIg
RqpT1yzjICdkz2rOePof3YpaLBVTydRx+8yQojTUgiACIG8C+FKbU41jIEfJXN/p
KyIJQW9IZWG8GF6G7Na12O13
-----END CERTIFICATE-----
";

/// A PEM block that is not a certificate, as many files have one beside their certificate.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nTk9UIEEgS0VZ\n-----END PRIVATE KEY-----\n";

/// Runs `admit` on the server of `fixtures/examples/server`.
fn admit(file: &str, args: &[&str]) -> Run {
    let folder = root().join("fixtures/examples/server");
    let (file, bootstrap) = (folder.join(file), folder.join("bootstrap.json"));
    let mut all = vec![
        "admit",
        "--listen=0.0.0.0:8443",
        "--bootstrap",
        bootstrap.to_str().unwrap(),
    ];
    all.extend(args);
    all.push(file.to_str().unwrap());
    in_process(&all, b"", |_| {})
}

/// Writes the example with policies, with one change.
fn changed(name: &str, from: &str, to: &str) -> String {
    let text = fs::read_to_string(root().join("fixtures/examples/server/rbac.yaml")).unwrap();
    assert!(text.contains(from), "{from}");
    let file = directory("admit", name).join("changed.yaml");
    fs::write(&file, text.replace(from, to)).unwrap();
    file.to_str().unwrap().to_owned()
}

const CART_NAME: &str = "--san=uri:spiffe://shop/sa/cart";

#[test]
fn a_certificate_provider_must_be_there() {
    let file = changed("provider", "instance_name: mesh", "instance_name: other");
    let run = admit(&file, &[FROM, PLACE, CART_NAME]);
    assert!(run.out.ends_with("not serving\n"), "{}", run.out);
    let is_named = "certificate provider instance `other` is not in the bootstrap's certificate_providers";
    assert!(run.out.contains(is_named), "{}", run.out);
}

/// If a server compares only the URIs of a certificate that has some, it says so about DNS names.
#[test]
fn names_that_are_not_compared_are_named() {
    const DNS: &str = "--san=dns:cart.shop";
    const SAID: &str = "; DNS names are not compared beside a URI";
    let both = |client: &str| admit("rbac.yaml", &[FROM, PLACE, CART_NAME, DNS, client]).out;
    assert!(both("--client=go").contains(SAID), "{}", both("--client=go"));
    assert!(!both("--client=cpp").contains(SAID));
    assert!(
        !admit("rbac.yaml", &[FROM, PLACE, CART_NAME, "--client=go"])
            .out
            .contains(SAID)
    );
}

/// Go asks for a certificate only where one is required, so elsewhere no client has a name. C-core
/// always asks.
#[test]
fn names_that_nobody_is_asked_for_are_a_finding() {
    let file = changed(
        "unasked",
        "require_client_certificate: true",
        "require_client_certificate: false",
    );
    let told = |client: &str, file: &str| {
        let run = in_process(&["validate", client, file], b"", |_| {});
        run.out.contains("lds-policy-never-met") && run.out.contains("policies[carts]")
    };
    assert!(told("--client=go", &file));
    assert!(!told("--client=cpp", &file));
    let required = root().join("fixtures/examples/server/rbac.yaml");
    assert!(!told("--client=go", required.to_str().unwrap()));
}

#[test]
fn an_address_may_stand_in_brackets() {
    for from in ["--from=fd00::9", "--from=[fd00::9]", "--from=[fd00::9]:7"] {
        let run = admit("rbac.yaml", &[from, PLACE, CART_NAME]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{from}: {}", run.out);
    }
    assert_eq!(admit("rbac.yaml", &["--from=[10.0.0.1]", PLACE]).code, Some(2));
}

/// A row for a filter chain names only what a connection of that chain can have.
#[test]
fn rows_are_those_of_the_connections_of_a_chain() {
    let chain =
        "  filter_chains:\n  - filter_chain_match: {source_prefix_ranges: [{address_prefix: RANGE, prefix_len: 16}]}\n";
    let text = fs::read_to_string(root().join("fixtures/examples/server/rbac.yaml")).unwrap();
    let (head, rest) = text.split_once("  default_filter_chain:\n").unwrap();
    let who = |range: &str| {
        let file = directory("admit", &format!("rows-{range}")).join("changed.yaml");
        fs::write(&file, format!("{head}{}{rest}", chain.replace("RANGE", range))).unwrap();
        admit(file.to_str().unwrap(), &["--who"]).out
    };
    assert!(who("10.20.0.0").contains("probes"), "{}", who("10.20.0.0"));
    assert!(!who("11.20.0.0").contains("probes"), "{}", who("11.20.0.0"));
}

#[test]
fn a_method_that_ends_the_program_is_told() {
    let unknown = |client: &str| admit("rbac.yaml", &[FROM, PLACE, CART_NAME, "--unimplemented", client]);
    let run = unknown("--client=cpp");
    assert!(
        run.out.ends_with("program ended: Check failed: has_value()\n"),
        "{}",
        run.out
    );
    assert_eq!(run.code, Some(1));
    let older = unknown("--client=cpp@1.80.1").out;
    assert!(
        older.ends_with("refused: UNIMPLEMENTED: \n") || older.ends_with("refused: UNIMPLEMENTED\n"),
        "{older}"
    );
}

#[test]
fn shadow_rules_are_named() {
    let with = "            shadow_rules: {action: ALLOW}\n            rules:";
    let file = changed("shadow", "            rules:", with);
    let run = admit(&file, &[FROM, PLACE, CART_NAME]);
    let told = "shadow_rules: no server of gRPC evaluates them";
    assert!(run.out.contains(told), "{}", run.out);
    let none = admit("rbac.yaml", &[FROM, PLACE, CART_NAME]).out;
    assert!(!none.contains("shadow_rules"), "{none}");
}

fn pem(name: &str, text: &str) -> String {
    let file = directory("admit", name).join("cert.pem");
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

const PLACE: &str = "--method=/shop.Orders/Place";
const FROM: &str = "--from=10.0.0.7";

#[test]
fn json_names_the_policy_that_lets_in() {
    let run = admit(
        "rbac.yaml",
        &["--format=json", FROM, PLACE, "--san=uri:spiffe://shop/sa/cart"],
    );
    assert_eq!(run.code, Some(0), "{}", run.err);
    let mut answer = run.json();
    let layers: Vec<Value> = answer["layers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|layer| layer["part"].clone())
        .collect();
    answer.as_object_mut().unwrap().remove("layers");
    assert_eq!(
        answer,
        json!({
            "schema": "xdsctl.admit/v1",
            "end": "served",
            "error": null,
            "listener": "grpc/server?address=0.0.0.0:8443",
            "filter_chain": "default_filter_chain",
            "virtual_host": 0,
            "route": 0,
            "rbac": [{"filter": "who", "config_from": "listener", "allowed": true, "policy": "carts", "audit_loggers": [], "shadow_rules": false}],
            "seed": 0,
        })
    );
    assert_eq!(
        layers,
        [
            "listener",
            "filter chain",
            "handshake",
            "virtual host",
            "route",
            "rbac `who`"
        ]
    );
}

#[test]
fn json_says_who_denies() {
    let run = admit("rbac.yaml", &["--format=json", FROM, PLACE, "--san=dns:web.shop"]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    let answer = run.json();
    assert_eq!(answer["end"], "denied");
    assert_eq!(
        answer["error"],
        json!({"code": "PERMISSION_DENIED", "message": "Unauthorized RPC rejected"})
    );
    assert_eq!(answer["rbac"][0]["policy"], Value::Null);
}

#[test]
fn each_end_has_its_exit_code() {
    for (file, args, code, end) in [
        ("plaintext.yaml", &[FROM, PLACE][..], 0, "served\n"),
        ("plaintext.yaml", &[FROM], 0, "connected\n"),
        (
            "plaintext.yaml",
            &[FROM, "--method=/other/M"],
            1,
            "refused: UNAVAILABLE: UNAVAILABLE:no route matched\n",
        ),
        ("plaintext.yaml", &[FROM, "--over-tls"], 1, "handshake failed\n"),
        ("mtls.yaml", &[FROM], 1, "handshake failed\n"),
        (
            "rbac.yaml",
            &[FROM, PLACE, "--san=dns:a"],
            1,
            "denied: PERMISSION_DENIED: Unauthorized RPC rejected\n",
        ),
        ("rbac.yaml", &["--listen=0.0.0.0:1"], 1, "not serving\n"),
    ] {
        // A second --listen would be an error.
        let run = match args.first() {
            Some(listen) if listen.starts_with("--listen") => {
                let path = root().join("fixtures/examples/server").join(file);
                let mut all = vec!["admit", FROM, path.to_str().unwrap()];
                all.extend(args);
                in_process(&all, b"", |_| {})
            }
            _ => admit(file, args),
        };
        assert_eq!(run.code, Some(code), "{file} {args:?} {}", run.err);
        assert!(run.out.ends_with(end), "{file} {args:?} {}", run.out);
    }
}

#[test]
fn the_picture_has_every_layer_and_no_markup_of_others() {
    let run = admit(
        "rbac.yaml",
        &["--format=svg", FROM, "--method=/a.S/<script>", "--san=dns:a&b"],
    );
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(
        run.out.starts_with("<svg ") && run.out.ends_with("</svg>\n"),
        "{}",
        run.out
    );
    for text in [
        "handshake: TLS",
        "dns `a&amp;b`",
        "virtual host:",
        "route: none takes the RPC",
        "refused",
    ] {
        assert!(run.out.contains(text), "{text}: {}", run.out);
    }
    assert!(!run.out.contains("<script>"), "{}", run.out);
}

#[test]
fn arguments_that_mean_nothing_are_refused() {
    for (args, why) in [
        (
            &["--from=10.0.0.256"][..],
            "--from `10.0.0.256` must be an address like 10.0.0.1 or 10.0.0.1:4000",
        ),
        (
            &["--san=cart.shop"],
            "--san `cart.shop` must be dns:NAME, uri:URI, email:ADDRESS or ip:ADDRESS",
        ),
        (
            &["--san=ip:x"],
            "--san `ip:x` must be dns:NAME, uri:URI, email:ADDRESS or ip:ADDRESS",
        ),
        (&["--at=today"], "--at `today` must be a time like 2026-11-24T18:00:00Z"),
        (&["--in=other"], "--in: "),
        (&["--client=rust"], "--client: what a server of "),
        (&["--certificate=no-such-file.pem"], "cannot read `no-such-file.pem`: "),
        (&["--who", "--format=svg"], "--who has no picture"),
        (
            &["--who", "--client=cpp,go"],
            "--who is of one server: choose it with --client",
        ),
        (&["--who", FROM], "cannot be used with"),
    ] {
        let run = admit("plaintext.yaml", args);
        assert_eq!(run.code, Some(2), "{args:?} {}", run.out);
        assert!(run.out.is_empty() && run.err.contains(why), "{args:?} {}", run.err);
    }
}

#[test]
fn a_certificate_is_read_and_a_key_beside_it_is_not() {
    let file = pem("key", &format!("{KEY}{CART}{KEY}"));
    let at = |time: &str| {
        admit(
            "rbac.yaml",
            &[FROM, PLACE, "--certificate", &file, &format!("--at={time}")],
        )
    };
    let run = at("2026-11-24T18:00:00Z");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let names = "it shows uri `spiffe://shop/sa/cart`, dns `cart.shop`, email `cart@shop.test`, ip 10.0.0.1, subject `CN=cart,O=Shop`";
    assert!(run.out.contains(names), "{}", run.out);
    for (time, end) in [
        ("2026-12-24T18:00:00Z", "its own has expired at 2026-12-01T00:00:00Z"),
        (
            "2026-10-24T18:00:00Z",
            "its own is valid only from 2026-11-01T00:00:00Z",
        ),
    ] {
        let run = at(time);
        assert_eq!(run.code, Some(1));
        assert!(run.out.contains(end), "{}", run.out);
    }
    let only_key = pem("only-key", KEY);
    let run = admit("rbac.yaml", &["--certificate", &only_key]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.err.contains("no block in it begins with BEGIN CERTIFICATE"),
        "{}",
        run.err
    );
    for run in [run, at("2026-11-24T18:00:00Z")] {
        assert!(!run.out.contains("Tk9U") && !run.err.contains("Tk9U"));
    }
}

#[test]
fn who_says_everyone_loudly_and_nobody_with_a_reason() {
    let run = admit("plaintext.yaml", &["--who", PLACE]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(
        run.out.ends_with("\nEVERYONE may call: /shop.Orders/Place\n"),
        "{}",
        run.out
    );
    let run = admit("rbac.yaml", &["--who", "--format=json"]);
    let answer = run.json();
    assert_eq!(answer["open"], json!([]));
    let methods = answer["filter_chains"][0]["virtual_hosts"][0]["methods"]
        .as_array()
        .unwrap();
    let of = |name: &str| {
        methods
            .iter()
            .find(|one| one["method"] == name || one["prefix"] == name)
            .unwrap()
    };
    let check = &of("/grpc.health.v1.Health/Check")["routes"][0]["let_in"];
    assert_eq!(
        *check,
        json!([{
            "everyone": false,
            "principals": [],
            "sources": [{"is": {"field": "direct_remote_ip", "words": "10.0.0.0/8"}}],
            "headers": [],
            "others": [],
            "by": [{"filter": "who", "policy": "probes"}],
        }])
    );
    assert_eq!(
        of("/grpc.health.v1.Health/")["routes"][0]["nobody"],
        "no policy of `who` can match"
    );
    assert_eq!(of("/")["routes"][0]["nobody"], "no route takes it");
}

/// A condition that a table cell cannot hold is listed separately.
#[test]
fn who_leaves_out_neither_patterns_nor_exceptions() {
    let policies = json!({
        "mixed": {
            "permissions": [{"url_path": {"path": {"safe_regex": {"regex": "/a[.]S/Get.*"}}}}],
            "principals": [
                {"authenticated": {"principal_name": {"suffix": "/admin"}}},
                {"not_id": {"direct_remote_ip": {"address_prefix": "10.0.0.0", "prefix_len": 8}}},
            ],
        },
    });
    let denied = json!({"p": {"permissions": [{"any": true}], "principals": [{"header": {"name": "x-evil", "present_match": true}}]}});
    let run = in_process(&["admit", "--who"], listener(&policies, &denied).to_string(), |_| {});
    assert_eq!(run.code, Some(0), "{}", run.err);
    let table: Vec<String> = run
        .out
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    for line in [
        "any method routes[0] anyone not 10.0.0.0/8 the method matches `/a[.]S/Get.*` policy `mixed` of `allow`",
        "but not EVERYONE anywhere header `x-evil` is there policy `p` of `deny`",
        "no method is open to everyone",
    ] {
        assert!(table.iter().any(|own| own == line), "{line}\n{}", run.out);
    }
}

/// Makes a plaintext server with an ALLOW filter and a DENY filter.
fn listener(allow: &Value, deny: &Value) -> Value {
    let filters = [("allow", "ALLOW", allow), ("deny", "DENY", deny)];
    server::listener(&filters, &server::any_route())
}

#[test]
fn a_reader_who_has_seen_enough_is_no_failure() {
    let names: Vec<Value> = (0..20_000)
        .map(|number| json!({"authenticated": {"principal_name": {"exact": format!("spiffe://mesh/sa/{number}")}}}))
        .collect();
    let policies = json!({"p": {"permissions": [{"any": true}], "principals": names}});
    let file = directory("admit", "pipe").join("wide.json");
    fs::write(&file, listener(&policies, &json!({})).to_string()).unwrap();
    for args in [
        &["admit", "--who"][..],
        &["admit", "--who", "--format=json"],
        &["admit", FROM, PLACE],
    ] {
        let mut command = program(args);
        let mut child = command
            .arg(&file)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.code().is_some_and(|code| code <= 1), "{args:?}");
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.lines().all(|line| line.starts_with("note: ")), "{err}");
    }
}

/// Runs `diff` on two states of the server of orders.
fn diff(before: &str, after: &str, arguments: &str) -> Run {
    let file = |name: &str| format!("fixtures/examples/server/{name}.yaml");
    crate::cli_tree::run(&format!("diff {arguments} {} {}", file(before), file(after)), "")
}

#[test]
fn diff_says_who_gains_and_loses_access() {
    let Run { code, out, .. } = diff("plaintext", "rbac", "--fail-on access");
    assert_eq!(code, Some(1));
    let (_, access) = out.split_once("For servers\n").unwrap_or_else(|| panic!("{out}"));
    assert_eq!(
        access,
        "  grpc/server?address=0.0.0.0:8443
    default_filter_chain: plaintext → TLS; the client must show a certificate
      /grpc.health.v1.Health/*
        - loses: EVERYONE
      /grpc.health.v1.Health/Check
        + gains: anyone with a certificate, from 10.0.0.0/8, by policy `probes` of `who`
        - loses: EVERYONE
      /shop.Orders/*
        + gains: a name is `spiffe://shop/sa/cart`, by policy `carts` of `who`
        - loses: EVERYONE

asked: gRPC C-core 1.85.1
"
    );
    let Run { code, out, .. } = diff("mtls", "rbac", "");
    assert_eq!(code, Some(0));
    let kept = "        - loses: EVERYONE with a certificate\n        = keeps: a name is `spiffe://shop/sa/cart`, by policy `carts` of `who`\n";
    assert!(out.contains(kept), "{out}");
    assert!(!out.contains("EVERYONE may call now"), "{out}");
}

/// Every format says clearly that everyone gains access.
#[test]
fn diff_is_loud_where_everyone_gains_access() {
    let words = "EVERYONE may call now: /grpc.health.v1.Health/*, /grpc.health.v1.Health/Check, /shop.Orders/*";
    for (format, loud) in [
        ("human", format!("    {words}\n")),
        ("markdown", format!("**{}**", words.replace('*', "\\*"))),
        ("github", "title=access for everyone::grpc/server".to_owned()),
        ("json", "\"opened\": [\n".to_owned()),
    ] {
        let out = diff("rbac", "plaintext", &format!("--format {format}")).out;
        assert!(out.contains(&loud), "{format}: {out}");
    }
    // Everyone who could call in plaintext can call with a certificate.
    let moved = diff("plaintext", "mtls", "").out;
    assert!(
        !moved.contains("EVERYONE may call now") && moved.contains("+ gains: EVERYONE with a certificate"),
        "{moved}"
    );
    let same = diff("rbac", "rbac", "--fail-on access");
    assert_eq!((same.code, same.out.contains("For servers")), (Some(0), false));
}

/// Makes a server that denies every RPC, except those of its last domain with a `*` at the end.
fn server_of_domains(prefixes: usize, suffixes: usize) -> String {
    const EXTENSIONS: &str = "type.googleapis.com/envoy.extensions.filters";
    let rbac = format!("{EXTENSIONS}.http.rbac.v3.RBAC");
    let all = json!([{"any": true}]);
    let rules = json!({"action": "DENY", "policies": {"p": {"permissions": all, "principals": all}}});
    let denied = json!({"rbac": {"@type": format!("{rbac}PerRoute"), "rbac": {"rules": rules}}});
    let host = |(domain, is_open): (String, bool)| {
        let overrides = if is_open { json!({}) } else { denied.clone() };
        json!({"name": domain, "domains": [domain], "typed_per_filter_config": overrides,
            "routes": [{"match": {"prefix": ""}, "non_forwarding_action": {}}]})
    };
    let starts = (0..prefixes).map(|number| (format!("p{number}*"), number + 1 == prefixes));
    let ends = (0..suffixes).map(|number| (format!("*s{number}"), false));
    let hosts: Vec<Value> = starts.chain(ends).map(host).collect();
    let manager = json!({"@type": format!("{EXTENSIONS}.network.http_connection_manager.v3.HttpConnectionManager"),
        "route_config": {"name": "r", "virtual_hosts": hosts},
        "http_filters": [{"name": "rbac", "typed_config": {"@type": rbac}},
            {"name": "router", "typed_config": {"@type": format!("{EXTENSIONS}.http.router.v3.Router")}}]});
    let address = json!({"socket_address": {"address": "0.0.0.0", "port_value": 8080}});
    let listener = json!({"@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
        "name": "server", "address": address,
        "filter_chains": [{"filters": [{"name": "hcm", "typed_config": manager}]}]});
    json!({"resources": [listener]}).to_string()
}

#[test]
fn diff_tells_who_gains_access_by_two_of_many_domains_or_that_it_may_be() {
    let folder = directory("admit", "crossed");
    let diff = |prefixes: usize, suffixes: usize| {
        let (before, after) = (folder.join("before.json"), folder.join("after.json"));
        fs::write(&before, server_of_domains(prefixes, suffixes)).unwrap();
        fs::write(&after, server_of_domains(prefixes, suffixes - 1)).unwrap();
        let files = format!("{} {}", before.display(), after.display());
        crate::cli_tree::run(&format!("diff --fail-on access {files}"), "")
    };
    let all = diff(101, 101);
    let opened = "EVERYONE may call now: any other method";
    assert!(
        all.out.contains(opened) && all.out.contains("authority p100anys100"),
        "{}",
        all.out
    );
    assert!(!all.out.contains("not checked"), "{}", all.out);
    let cut = diff(3_000, 300);
    let words = "there is too much to compare: others may gain or lose access that are not listed";
    assert!(cut.out.contains(words), "{}", cut.out);
    let open = "who gains access, there is too much to compare in Listener `server`";
    assert!(cut.out.contains(open), "{}", cut.out);
    assert_eq!((all.code, cut.code), (Some(1), Some(1)));
}

/// Each family keeps policies in its own form, and none of these forms hides a change.
#[test]
fn diff_shows_a_policy_that_opens_to_every_client() {
    let folder = directory("admit", "opens");
    let before = fs::read_to_string(root().join("fixtures/examples/server/rbac.yaml")).unwrap();
    let named = "authenticated: {principal_name: {exact: spiffe://shop/sa/cart}}";
    assert!(before.contains(named));
    let (closed, open) = (folder.join("closed.yaml"), folder.join("open.yaml"));
    fs::write(&closed, &before).unwrap();
    fs::write(&open, before.replace(named, "any: true")).unwrap();
    let (closed, open) = (closed.to_str().unwrap(), open.to_str().unwrap());
    for client in ["cpp", "go", "java"] {
        let run = |one, other| in_process(&["diff", "--exit-code", "--client", client, one, other], b"", |_| {});
        let Run { code, out, .. } = run(closed, open);
        assert_eq!(code, Some(1), "{client}: {out}");
        let field = out.lines().find(|line| line.contains("policies.carts.principals[0]"));
        assert!(field.is_some_and(|line| line.contains("any")), "{client}: {out}");
        assert!(out.contains("\nFor servers\n"), "{client}: {out}");
        let same = run(closed, closed);
        assert_eq!(
            (same.code, same.out.lines().next()),
            (Some(0), Some("nothing changes for a client"))
        );
    }
}
