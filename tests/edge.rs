//! Checks that no command prints a control character of a document or an argument on the terminal.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::run::run;

/// Characters that move a cursor, ring, hide, turn or end a line, surrounded by letters.
const NASTY: &str =
    "a\u{1b}[2J\u{7}\u{8}\r\u{b}\u{7f}\u{80}\u{9b}31m\u{85}\u{202e}\u{2066}\u{200f}\u{2028}\u{feff}\u{fffe}\u{ffff}z";

/// The characters of these that JSON accepts unescaped.
const C1: &str = "a\u{7f}\u{80}\u{9b}31m\u{85}\u{202e}\u{2066}\u{200f}\u{2028}\u{feff}\u{fffe}\u{ffff}z";

fn xdsctl(args: &[&str], input: &[u8]) -> (String, String) {
    let (out, err) = run(args.iter().copied(), input);
    (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// Returns the text without codes for colours and styles.
fn without_styles(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some(start) = rest.find("\x1b[") {
        let (before, code) = rest.split_at(start);
        out.push_str(before);
        let end = code[2..]
            .find(|c: char| !c.is_ascii_digit() && c != ';')
            .map(|at| at + 2);
        match end.filter(|end| code[*end..].starts_with('m')) {
            Some(end) => rest = &code[end + 1..],
            None => {
                out.push('\x1b');
                rest = &code[1..];
            }
        }
    }
    out + rest
}

#[track_caller]
fn check(args: &[&str], input: &[u8]) -> String {
    let (out, err) = xdsctl(args, input);
    for (stream, text) in [("out", &out), ("err", &err)] {
        let is_coloured = args.contains(&"--color=always");
        let text = if is_coloured {
            without_styles(text)
        } else {
            text.clone()
        };
        let raw: Vec<char> = text
            .chars()
            .filter(|c| *c != '\n' && (c.is_control() || NASTY.contains(*c) && !c.is_ascii() || *c == '\u{2029}'))
            .collect();
        assert!(raw.is_empty(), "{args:?}: std{stream} has {raw:?}:\n{text:?}");
    }
    out + &err
}

/// Makes a world in which every name and value is hostile.
fn world() -> Vec<u8> {
    let name = |what: &str| format!("{what}{NASTY}");
    // The client's own JSON breaks at a C0 character in a cluster's name.
    let cluster = || format!("c{C1}");
    let type_url = |name: &str| format!("type.googleapis.com/envoy.{name}");
    let eds = json!({ "eds_config": { "ads": {} }, "service_name": name("e") });
    let resources: Vec<Value> = vec![
        json!({
            "@type": type_url("config.listener.v3.Listener"), "name": "l",
            "api_listener": { "api_listener": {
                "@type": type_url("extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
                "rds": { "route_config_name": name("r"), "config_source": { "ads": {} } },
                "http_filters": [{ "name": name("f"), "typed_config": { "@type": type_url("extensions.filters.http.router.v3.Router") } }],
            }},
        }),
        json!({
            "@type": type_url("config.route.v3.RouteConfiguration"), "name": name("r"), name("unknown"): 1,
            "virtual_hosts": [{ "name": name("v"), "domains": ["*"], "routes": [
                { "name": name("first"), "match": { "prefix": name("/p"), "headers": [{ "name": "h", "string_match": { "exact": name("w") } }] },
                  "route": { "cluster": cluster() } },
                { "name": name("second"), "match": { "prefix": "" }, "route": { "cluster": cluster() } },
            ]}],
        }),
        json!({
            "@type": type_url("config.cluster.v3.Cluster"), "name": cluster(), "type": "EDS", "eds_cluster_config": eds,
            "metadata": { "filter_metadata": { name("m"): { name("k"): name("v") } } }, "connect_timeout": name("t"),
        }),
        json!({ "@type": type_url("config.cluster.v3.Cluster"), "name": name("bad"), "type": "EDS", "lb_policy": "MAGLEV" }),
        json!({
            "@type": type_url("config.endpoint.v3.ClusterLoadAssignment"), "cluster_name": name("e"),
            "endpoints": [{ "locality": { "region": name("region") }, "load_balancing_weight": 1, "lb_endpoints": [
                { "endpoint": { "address": { "socket_address": { "address": "10.0.0.1", "port_value": 80 } }, "hostname": name("h") } },
            ]}],
        }),
    ];
    serde_json::to_vec(&json!({ "resources": resources })).unwrap()
}

#[test]
fn no_command_writes_a_control_character_of_a_document() {
    let world = world();
    for args in [
        &["validate", "--min-severity=note", "--all", "--show=parsed"][..],
        &["validate", "--color=always", "--min-severity=note", "--all"],
        &["validate", "--format=json", "--show=parsed"],
        &["tree"],
        &["tree", "--color=always", "--all"],
        &["tree", "--format=json"],
        &["tree", "--format=dot"],
        &["tree", "--format=mermaid"],
        &["tree", "--format=svg"],
        &["tree", "--layout=a37"],
        &["route", "--header=h=x"],
        &["route", "--color=always", "--header=h=x"],
        &["route", "--format=json"],
        &["pick", "--explain"],
        &["pick", "--explain", "--color=always"],
        &["pick", "--format=json"],
        &["pick", "--count=10"],
        &["pick", "--address=10.0.0.1:80"],
        &["retry"],
        &["retry", "--format=json"],
    ] {
        let text = check(args, &world);
        assert!(
            text.contains('z') || args.contains(&"--count=10") || args[0] == "retry",
            "{args:?}: {text}"
        );
        if args.contains(&"--format=json") {
            let mut documents = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
            assert!(matches!(documents.next(), Some(Ok(_))), "{args:?}: {text}");
        }
    }
}

/// Some characters are harmful without any other; here each is in a name of its own.
#[test]
fn one_such_character_alone_is_enough() {
    for c in "\u{7f}\u{85}\u{9b}\u{61c}\u{200b}\u{200e}\u{200f}\u{2028}\u{202a}\u{202e}\u{2066}\u{2069}\u{feff}\u{fffe}"
        .chars()
    {
        let name = format!("a{c}z");
        let world = json!([{
            "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": name, "type": "EDS",
            "eds_cluster_config": { "eds_config": { "ads": {} } }, "lb_policy": "MAGLEV",
        }]);
        let cluster = format!("--cluster={name}");
        for args in [
            &["validate"][..],
            &["validate", "--format=concise"],
            &["validate", "--format=json"],
            &["who", &name, "-"],
            &["pick", &cluster],
        ] {
            let text = check(args, world.to_string().as_bytes());
            assert!(text.contains(&format!("a\\u{:04x}z", c as u32)), "{args:?}: {text}");
        }
        check(&["explain", &name], b"");
    }
}

#[test]
fn a_newline_in_a_name_begins_no_line() {
    let inner = |text: &str| json!(text).to_string().trim_matches('"').to_owned();
    let world = String::from_utf8(world()).unwrap();
    let world = world.replace(&inner(NASTY), r"\nFAKE").replace(&inner(C1), r"\nFAKE");
    assert!(world.contains(r"c\nFAKE"));
    for args in [
        &["validate", "--min-severity=note", "--all"][..],
        &["validate", "--target=xds:///l\nFAKE"],
        &["tree"],
        &["tree", "--cluster=x\nFAKE"],
        &["tree", "--format=dot"],
        &["tree", "--format=mermaid"],
        &["route", "--header=h=x"],
        &["route", "--method=/p\nFAKE", "--header=h=w\nFAKE"],
        &["pick", "--explain"],
        &["pick", "--explain", "--method=/\nFAKE"],
        &["pick", "--count=10"],
        &["pick", "--down=\nFAKE"],
        &["pick", "--requests=/nonexistent/\nFAKE"],
        &["retry"],
        &["cookie", "encode", "10.0.0.1:80\nFAKE"],
        &["cookie", "decode", "a=\nFAKE"],
        &["explain", "\nFAKE"],
    ] {
        let (out, err) = xdsctl(args, world.as_bytes());
        for text in [&out, &err] {
            let forged = text.lines().find(|line| line.starts_with("FAKE"));
            assert_eq!(forged, None, "{args:?}:\n{text}");
        }
    }
}

#[test]
fn json_says_the_same_as_before() {
    let (out, _) = xdsctl(&["validate", "--format=json"], &world());
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["resources"][2]["name"], format!("c{C1}"));
    assert!(out.contains("\\u009b31m") && out.contains("\\u202e"), "{out}");
}

#[test]
fn pictures_stay_valid() {
    let (svg, _) = xdsctl(&["tree", "--format=svg"], &world());
    let is_xml = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(svg.chars().all(is_xml), "{svg}");
    assert!(svg.contains(r"\u009b31m"), "{svg}");
    let (dot, _) = xdsctl(&["tree", "--format=dot"], &world());
    assert!(dot.contains(r"\\u001b[2J"), "{dot}");
}

#[test]
fn no_command_writes_a_control_character_of_an_argument() {
    let world = world();
    let nasty = NASTY.replace('\0', "");
    let with = |flag: &str| format!("{flag}{nasty}");
    let file = with("/nonexistent/");
    for args in [
        &["validate", &file][..],
        &["validate", &with("--stdin-filename=")],
        &["validate", &with("--allow=")],
        &["validate", &with("--bootstrap=")],
        &["validate", &with("--env=")],
        &["validate", &with("--format=")],
        &[&with("")],
        &["tree", &with("--target=xds:///")],
        &["tree", &with("--target=")],
        &["tree", &with("--cluster=")],
        &["tree", &with("--authority=")],
        &["tree", &with("--resolve=")],
        &["route", &with("--method=/")],
        &["route", &with("--method=")],
        &["route", &with("--header=h=")],
        &["route", &with("--header=")],
        &["route", &with("--cookie=")],
        &["pick", &with("--method=/"), "--explain"],
        &["pick", &with("--header=h="), "--explain"],
        &["pick", &with("--down=")],
        &["pick", &with("--eject=")],
        &["pick", &with("--state=")],
        &["pick", &with("--session=")],
        &["pick", &with("--address=")],
        &["pick", &with("--reachable=")],
        &["pick", &with("--respond=")],
        &["pick", &with("--requests=/nonexistent/")],
        &["retry", &with("--retry-on=")],
        &["retry", &with("--script=")],
        &["cookie", "encode", &nasty],
        &["cookie", "encode", "10.0.0.1:80", &with("--name=")],
        &["cookie", "decode", &nasty],
        &["cookie", "decode", &with("a=")],
        &["explain", &nasty],
        &["explain", &nasty, "--format=json"],
        &["generate", &nasty],
    ] {
        check(args, &world);
    }
}

#[test]
fn a_cookie_may_hold_control_characters() {
    let value = xdsctl_model::cookie::encode(&format!("10.0.0.1:80,{NASTY}"), NASTY);
    for format in ["human", "json"] {
        let text = check(&["cookie", "decode", &value, &format!("--format={format}")], b"");
        assert!(text.contains(r"\u001b[2J"), "{text}");
    }
}

#[test]
fn no_command_writes_a_control_character_of_a_file_name_or_a_broken_document() {
    let directory: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("edge-names");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join(format!("{NASTY}.yaml"));
    for text in [
        world(),
        format!("a: {NASTY}\n  b: [").into_bytes(),
        format!("name: \"{NASTY}\nx: {{").into_bytes(),
        format!("{{\"name\": \"{NASTY}").into_bytes(),
        format!("resources {{ {NASTY}").into_bytes(),
        b"\x1b[2J\x9b\x00\xff\xfe name: \x07".to_vec(),
    ] {
        std::fs::write(&path, text).unwrap();
        let file = path.to_str().unwrap();
        for args in [
            &["validate", "--min-severity=note", "--color=always", file][..],
            &["validate", file],
            &["tree", file],
            &["route", file],
            &["pick", file],
            &["retry", file],
        ] {
            check(args, b"");
        }
    }
}
