//! Tests of `diff` and `who` from outside: what changes for a client, what refers to what, exit
//! codes, and revisions of a repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::cli_tree::run;
use crate::run::Run;
use crate::support::root;

const BEFORE: &str = "fixtures/examples/checkout.yaml";
const AFTER: &str = "fixtures/examples/checkout-next.yaml";

fn directory(test: &str) -> PathBuf {
    crate::run::directory("change", test)
}

fn eds(name: &str, localities: &Value) -> Value {
    json!({
        "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
        "cluster_name": name,
        "endpoints": localities,
    })
}

fn locality(zone: &str, weight: u32, ports: &[u16]) -> Value {
    let endpoint =
        |port: &u16| json!({"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": port}}}});
    json!({
        "locality": {"zone": zone},
        "load_balancing_weight": weight,
        "lb_endpoints": ports.iter().map(endpoint).collect::<Vec<_>>(),
    })
}

fn cluster(name: &str, extra: Value) -> Value {
    let mut cluster = json!({
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "name": name,
        "type": "EDS",
        "eds_cluster_config": {"eds_config": {"ads": {}}},
    });
    let fields = extra.as_object().unwrap().clone();
    cluster.as_object_mut().unwrap().extend(fields);
    cluster
}

/// Runs `diff` on two lists of resources and returns its answer.
fn diff(test: &str, before: &[Value], after: &[Value]) -> Value {
    let directory = directory(test);
    let write = |name: &str, resources: &[Value]| {
        let path = directory.join(name);
        std::fs::write(&path, json!({"resources": resources}).to_string()).unwrap();
        path
    };
    let (before, after) = (write("a.json", before), write("b.json", after));
    let line = format!("diff --format json {} {}", before.display(), after.display());
    let Run { code, out, err } = run(&line, "");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["schema"], "xdsctl.diff/v1");
    answer["worlds"][0].clone()
}

/// Makes the entry of a client's dump for a cluster whose update it has rejected; the update is not
/// in the dump.
fn nacked(details: &str) -> Value {
    json!({"config": [{"generic_xds_configs": [{
        "type_url": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "name": "c",
        "client_status": "NACKED",
        "error_state": {"details": details},
    }]}]})
}

#[test]
fn a_clients_words_and_ours_are_one_reason() {
    let directory = directory("reason");
    let path = |name: &str, value: &Value| {
        let path = directory.join(name);
        std::fs::write(&path, value.to_string()).unwrap();
        path.display().to_string()
    };
    let of = |fields: Value| json!({"resources": [cluster("c", fields)]});
    let client = "resource index 4: c: INVALID_ARGUMENT: errors validating Cluster resource: \
                  [field:lb_policy error:LB policy is not supported]";
    let other = client.replace("lb_policy error", "lb_policy error:x; field:type error");
    let told = path("told.json", &nacked(client));
    let elsewhere = path("elsewhere.json", &nacked(&client.replace("index 4", "index 0")));
    let more = path("more.json", &nacked(&other));
    let ours = path("ours.json", &of(json!({"lb_policy": "MAGLEV"})));
    let another = path("another.json", &of(json!({"type": "STATIC"})));
    // Error texts are searched up to a limit only.
    let padded = |number: usize, bytes: usize| {
        let client = client.replace("index 4", &format!("index {number}"));
        client.clone() + &" ".repeat(bytes - client.len())
    };
    let long = path("long.json", &nacked(&padded(4, 100_000)));
    let long_elsewhere = path("long-elsewhere.json", &nacked(&padded(0, 100_000)));
    let longer = path("longer.json", &nacked(&padded(4, 300_000)));
    let longer_elsewhere = path("longer-elsewhere.json", &nacked(&padded(0, 300_000)));
    let same = "nothing changes for a client\n";
    let differs = "~ Cluster c: is rejected for another reason: ";
    for (before, after, wanted) in [
        (&told, &ours, same),
        (&ours, &told, same),
        (&told, &elsewhere, same),
        (&told, &another, differs),
        (&told, &more, differs),
        (&ours, &another, differs),
        (&ours, &more, differs),
        (&long, &long_elsewhere, same),
        (&longer, &longer, same),
        (&longer, &longer_elsewhere, differs),
        (&ours, &longer, differs),
    ] {
        let Run { out, err, .. } = run(&format!("diff {before} {after}"), "");
        assert!(out.starts_with(wanted), "{before} {after}: {out}{err}");
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn nothing_to_compare_is_no_sameness() {
    let directory = directory("nothing");
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let bootstrap = |uri: &str| {
        format!(r#"{{"xds_servers":[{{"server_uri":"{uri}","channel_creds":[{{"type":"insecure"}}]}}],"node":{{}}}}"#)
    };
    let one = write("one.json", &bootstrap("a:1"));
    let other = write("other.json", &bootstrap("b:1"));
    let empty = write(
        "empty.json",
        r#"{"versionInfo":"1","typeUrl":"type.googleapis.com/envoy.config.cluster.v3.Cluster","resources":[]}"#,
    );
    for (before, after) in [(&one, &other), (&one, &empty), (&empty, &empty)] {
        let Run { code, out, err } = run(&format!("diff --fail-on rpcs {before} {after}"), "");
        assert_eq!(code, Some(2), "{before} {after}: {out}{err}");
        assert!(
            out.is_empty() && err.contains("nothing to check: neither input has a resource"),
            "{err}"
        );
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn only_exit_code_makes_a_difference_fail() {
    for (options, before, after, code) in [
        ("", BEFORE, AFTER, 0),
        ("--exit-code", BEFORE, AFTER, 1),
        ("--exit-code", BEFORE, BEFORE, 0),
        ("", BEFORE, "", 2),
        ("", BEFORE, "fixtures/examples/nothing.yaml", 2),
    ] {
        let run = run(&format!("diff {options} {before} {after}").replace("  ", " "), "");
        assert_eq!(run.code, Some(code), "{options} {before} {after}: {}", run.err);
    }
    assert_eq!(
        run(&format!("diff {BEFORE} {BEFORE}"), "").out,
        "nothing changes for a client\nasked: gRPC C-core 1.85.1\n"
    );
}

#[test]
fn order_defaults_and_fields_that_nobody_reads_are_no_change() {
    let before = [
        cluster("a", json!({})),
        eds("a", &json!([locality("x", 1, &[1, 2]), locality("y", 1, &[3])])),
    ];
    let after = [
        cluster(
            "a",
            json!({"connect_timeout": "3s", "circuit_breakers": {"thresholds": [{"max_requests": 1024}]}}),
        ),
        eds("a", &json!([locality("y", 1, &[3]), locality("x", 1, &[2, 1])])),
    ];
    let world = diff("order", &before, &after);
    assert_eq!((&world["resources"], &world["clusters"]), (&json!([]), &json!([])));
}

#[test]
fn verdicts_that_change_are_told() {
    let good = cluster("a", json!({}));
    let bad = cluster("a", json!({"lb_policy": "MAGLEV"}));
    for (before, after, states) in [
        (vec![], vec![good.clone()], ("absent", "accepted")),
        (vec![good.clone()], vec![], ("accepted", "absent")),
        (vec![good.clone()], vec![bad.clone()], ("accepted", "rejected")),
        (vec![bad.clone()], vec![good.clone()], ("rejected", "accepted")),
    ] {
        let mut sides = [before, after];
        for side in &mut sides {
            side.push(cluster("other", json!({})));
        }
        let world = diff("verdicts", &sides[0], &sides[1]);
        let change = &world["resources"][0];
        let found = (
            change["before"]["state"].as_str().unwrap(),
            change["after"]["state"].as_str().unwrap(),
        );
        assert_eq!(found, states);
        assert_eq!(world["resources"].as_array().unwrap().len(), 1);
    }
    let directory = directory("verdict-words");
    let paths = [("before.json", good), ("after.json", bad)].map(|(name, resource)| {
        let path = directory.join(name);
        std::fs::write(&path, json!([resource]).to_string()).unwrap();
        path
    });
    let told = run(&format!("diff {} {}", paths[0].display(), paths[1].display()), "").out;
    assert!(
        told.starts_with("~ Cluster a: is rejected now: at lb_policy: "),
        "{told}"
    );
}

#[test]
fn shares_of_localities_and_the_ring_are_compared_by_the_policy() {
    let before = eds("a", &json!([locality("x", 1, &[1, 2]), locality("y", 3, &[3, 4])]));
    let after = eds("a", &json!([locality("x", 2, &[1, 2]), locality("y", 2, &[3])]));
    let plain = cluster("a", json!({}));
    let of = |cluster: &Value| {
        let sides = [[cluster.clone(), before.clone()], [cluster.clone(), after.clone()]];
        diff("shares", &sides[0], &sides[1])["clusters"][0].clone()
    };
    let change = of(&plain);
    assert_eq!(
        change["localities"],
        json!([
            {"priority": 0, "locality": "/x", "before": 0.25, "after": 0.5},
            {"priority": 0, "locality": "/y", "before": 0.75, "after": 0.5},
        ])
    );
    assert_eq!(
        (&change["endpoints"], &change["ring_moves"]),
        (&json!([[4], [3]]), &Value::Null)
    );
    let change = of(&cluster("a", json!({"lb_policy": "RING_HASH"})));
    assert_eq!(change["localities"], json!([]));
    // Of 1 + 1 + 3 + 3 parts, 3 leave with their endpoint. The weights 2, 2 and 2 need 1/3 each, so
    // some more move.
    let moved = change["ring_moves"].as_f64().unwrap();
    assert!((0.375..0.6).contains(&moved), "{moved}");
}

#[test]
fn an_endpoint_that_leaves_a_ring_moves_its_own_keys_only() {
    let ring = cluster("a", json!({"lb_policy": "RING_HASH"}));
    let all: Vec<u16> = (1..=10).collect();
    let before = eds("a", &json!([locality("x", 1, &all)]));
    let after = eds("a", &json!([locality("x", 1, &all[..9])]));
    let world = diff("ring", &[ring.clone(), before], &[ring, after]);
    // A tenth moves, except for the spread of about 103 entries per endpoint and the entries that
    // the smaller ring adds.
    let moved = world["clusters"][0]["ring_moves"].as_f64().unwrap();
    assert!((0.08..0.25).contains(&moved), "{moved}");
}

#[test]
fn a_regex_header_or_password_is_no_way_for_a_secret_to_leak() {
    let routes = |token: &str| {
        json!({
            "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
            "name": "r",
            "virtual_hosts": [{"name": "h", "domains": ["*"], "routes": [
                {"match": {"prefix": "", "headers": [{"name": "authorization", "string_match": {"exact": token}}]},
                 "route": {"cluster": "a"}},
                {"match": {"prefix": ""}, "route": {"cluster": "b"}},
            ]}],
        })
    };
    for format in ["human", "json"] {
        let directory = directory(&format!("secret-{format}"));
        let write = |name: &str, token: &str| {
            let path = directory.join(name);
            std::fs::write(&path, routes(token).to_string()).unwrap();
            path.display().to_string()
        };
        let (before, after) = (write("a.json", "hunter2hunter2"), write("b.json", "hunter3hunter3"));
        let run = run(&format!("diff --format {format} --exit-code {before} {after}"), "");
        assert_eq!(run.code, Some(1), "the change is told: {}", run.out);
        assert!(!run.out.contains("hunter"), "{}", run.out);
    }
}

/// Runs git in `directory`.
fn git(directory: &Path, args: &[&str]) {
    let output = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_revision_of_a_file_or_directory_is_an_input() {
    let directory = directory("revisions");
    std::fs::create_dir_all(directory.join("xds/deep")).unwrap();
    let copy = |from: &str, to: &str| std::fs::copy(root().join(from), directory.join(to)).unwrap();
    copy(BEFORE, "xds/deep/checkout.yaml");
    std::fs::write(directory.join("xds/notes.txt"), "not xDS").unwrap();
    git(&directory, &["init", "-q"]);
    git(&directory, &["add", "."]);
    let who = [
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@example.com",
        "-c",
        "commit.gpgsign=false",
    ];
    git(&directory, &[&who[..], &["commit", "-q", "-m", "x"]].concat());
    copy(AFTER, "xds/deep/checkout.yaml");
    let run = |line: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_xdsctl"))
            .args(line.split(' '))
            .current_dir(&directory)
            .env_remove("GIT_DIR")
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let whole = run("diff git:HEAD:xds xds");
    assert_eq!(whole.0, Some(0), "{}", whole.2);
    assert!(whole.1.contains("checkout → 90 % checkout, 10 % fast"), "{}", whole.1);
    assert_eq!(
        whole.1,
        run("diff git:HEAD:xds/deep/checkout.yaml xds/deep/checkout.yaml").1
    );
    assert_eq!(
        run("diff git:HEAD:xds git:HEAD:xds").1,
        "nothing changes for a client\nasked: gRPC C-core 1.85.1\n"
    );
    for wrong in ["git:HEAD:nothing", "git:nowhere:xds", "git:--version", "git:"] {
        let (code, out, err) = run(&format!("diff {wrong} xds"));
        assert_eq!((code, out.as_str()), (Some(2), ""), "{wrong}: {err}");
        assert!(err.contains("expected `git:REVISION:PATH`"), "{wrong}: {err}");
    }
}

#[test]
fn who_says_what_is_not_there_and_what_was_meant() {
    let missing = run(&format!("who fast {AFTER}"), "");
    assert_eq!(missing.code, Some(1));
    assert!(
        missing
            .out
            .starts_with("Cluster fast (it is not there)\n  is used by\n    RouteConfiguration routes, at")
    );
    let rejected = run(&format!("who spare {AFTER}"), "");
    assert!(
        rejected.out.starts_with("Cluster spare (it is rejected)\n"),
        "{}",
        rejected.out
    );
    let misspelt = run(&format!("who checkotu {BEFORE}"), "");
    assert_eq!((misspelt.code, misspelt.out.as_str()), (Some(2), ""));
    assert!(misspelt.err.contains("did you mean `checkout`?"), "{}", misspelt.err);
    let forgotten = run(&format!("who {BEFORE}"), "{}");
    assert_eq!(forgotten.code, Some(2));
    assert!(
        forgotten
            .err
            .contains("which is a file: the name of the resource comes first, `xdsctl who NAME "),
        "{}",
        forgotten.err
    );
    let both = run(&format!("who near {BEFORE}"), "");
    assert_eq!(
        both.out.matches("leads to\n").count(),
        1,
        "endpoints lead nowhere: {}",
        both.out
    );
    let one = run(&format!("who --type eds near {BEFORE}"), "");
    assert!(one.out.starts_with("ClusterLoadAssignment near\n"), "{}", one.out);
}

#[test]
fn who_ends_where_aggregates_lead_back_to_themselves() {
    let aggregate = |name: &str, child: &str| {
        json!({
            "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
            "name": name,
            "cluster_type": {"name": "envoy.clusters.aggregate", "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig",
                "clusters": [child],
            }},
        })
    };
    let input = json!({"resources": [aggregate("a", "b"), aggregate("b", "a")]}).to_string();
    let human = run("who a -", &input);
    assert_eq!((human.code, human.err.as_str()), (Some(0), ""));
    assert!(human.out.contains("(see above)"), "{}", human.out);
    let answer: Value = serde_json::from_str(&run("who --format json a -", &input).out).unwrap();
    assert_eq!(answer["resources"][0]["leads_to"].as_array().unwrap().len(), 2);
}

#[test]
fn what_is_rejected_may_refer_to_a_resource() {
    let bad = cluster("a", json!({"lb_policy": "MAGLEV"}));
    let endpoints =
        json!({"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "a"});
    let input = json!({"resources": [bad, cluster("b", json!({})), endpoints]}).to_string();
    let human = run("who a -", &input);
    assert_eq!(
        (human.code, human.out.as_str()),
        (
            Some(0),
            "Cluster a (it is rejected)\n  nothing refers to it\n  it is rejected, so what it refers to is not followed\n\
             ClusterLoadAssignment a\n  nothing that the client accepts refers to it\n  \
             may be used by what is rejected, which is not followed: Cluster a\n  it refers to nothing\n"
        ),
        "{}",
        human.err
    );
    let answer: Value = serde_json::from_str(&run("who --format json a -", &input).out).unwrap();
    let rejected = json!([{"type": "Cluster", "name": "a"}]);
    assert_eq!(answer["resources"][0]["may_be_used_by"], json!([]));
    assert_eq!(answer["resources"][1]["may_be_used_by"], rejected);
}

#[test]
fn a_newline_in_a_name_makes_no_line_of_its_own() {
    let input = json!({"resources": [cluster("a\nb", json!({}))]}).to_string();
    let directory = directory("newline");
    let (empty, full) = (directory.join("a.json"), directory.join("b.json"));
    std::fs::write(&empty, json!({"resources": [cluster("c", json!({}))]}).to_string()).unwrap();
    std::fs::write(&full, &input).unwrap();
    let changed = run(&format!("diff {} {}", empty.display(), full.display()), "");
    assert!(
        changed.out.starts_with("+ Cluster a\\nb\n- Cluster c\n"),
        "{}",
        changed.out
    );
    let output = Command::new(env!("CARGO_BIN_EXE_xdsctl"))
        .args(["who", "a\nb"])
        .arg(&full)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("Cluster a\\nb\n  nothing refers to it\n  leads to\n    ClusterLoadAssignment a\\nb"),
        "{text}"
    );
}

#[test]
fn a_cluster_that_is_lost_is_told_to_those_who_send_rpcs() {
    let directory = directory("lost");
    let routes = |clusters: Value| {
        json!({
            "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
            "name": "r",
            "virtual_hosts": [{"name": "h", "domains": ["*"], "routes": [
                {"match": {"prefix": ""}, "route": {"weighted_clusters": {"clusters": clusters}}},
            ]}],
        })
    };
    let (one, two) = (
        json!([{"name": "a", "weight": 1}]),
        json!([{"name": "a", "weight": 1}, {"name": "b", "weight": 1}]),
    );
    let bad = cluster("b", json!({"lb_policy": "MAGLEV"}));
    let write = |name: &str, resources: &[Value]| {
        let path = directory.join(name);
        std::fs::write(&path, json!({"resources": resources}).to_string()).unwrap();
        path.display().to_string()
    };
    let good = [cluster("a", json!({})), cluster("b", json!({}))];
    let named = write("named.json", &[&good[..], &[routes(two.clone())]].concat());
    let lost = write("lost.json", &[good[0].clone(), bad.clone(), routes(two.clone())]);
    let text = run(&format!("diff {named} {lost}"), "").out;
    assert!(
        text.contains(
            "\nFor RPCs\n  cluster b\n    is lost: RPCs to it fail, and an aggregate cluster skips it\n\nasked: "
        ),
        "{text}"
    );
    let text = run(&format!("diff {lost} {named}"), "").out;
    assert!(
        text.contains("\nFor RPCs\n  cluster b\n    is there now: RPCs to it no longer fail\n\nasked: "),
        "{text}"
    );
    // An RPC that no route sends is not missed.
    let before = write("a.json", &[&good[..], &[routes(one.clone())]].concat());
    let after = write("b.json", &[good[0].clone(), bad, routes(one.clone())]);
    let without = write("c.json", &[good[0].clone(), routes(one)]);
    for (before, after) in [(&before, &after), (&before, &without), (&without, &before)] {
        let text = run(&format!("diff {before} {after}"), "").out;
        assert!(text.contains(" Cluster ") && !text.contains("For RPCs"), "{text}");
    }
    // The cluster goes together with its route.
    let text = run(&format!("diff {named} {without}"), "").out;
    assert!(
        text.contains("50 % a, 50 % b → a\n") && !text.contains("lost"),
        "{text}"
    );
    let moved = write(
        "d.json",
        &[
            good[0].clone(),
            cluster("b", json!({"lb_policy": "MAGLEV"})),
            routes(two),
        ],
    );
    let text = run(&format!("diff {before} {moved}"), "").out;
    assert!(text.contains("a → 50 % a, 50 % b (it is rejected)"), "{text}");
}

#[test]
fn a_target_compares_what_its_channel_uses() {
    const T: &str = "type.googleapis.com/envoy";
    let listener = |name: &str| {
        json!({"@type": format!("{T}.config.listener.v3.Listener"), "name": name, "api_listener": {"api_listener": {
            "@type": format!("{T}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
            "rds": {"route_config_name": "routes", "config_source": {"ads": {}}},
            "http_filters": [{"name": "router", "typed_config": {
                "@type": format!("{T}.extensions.filters.http.router.v3.Router"),
            }}],
        }}})
    };
    let host = |name: &str, cluster: &str| json!({"name": name, "domains": [name], "routes": [{"match": {"prefix": ""}, "route": {"cluster": cluster}}]});
    let routes = |to: &str| {
        json!({"@type": format!("{T}.config.route.v3.RouteConfiguration"), "name": "routes",
            "virtual_hosts": [host("one", to), host("other", "b")]})
    };
    let of = |to: &str, b: Value| {
        [
            listener("one"),
            listener("other"),
            routes(to),
            cluster("a", json!({})),
            cluster("b", b),
        ]
    };
    let directory = directory("target");
    let write = |name: &str, resources: &[Value]| {
        std::fs::write(directory.join(name), json!({"resources": resources}).to_string()).unwrap();
    };
    write("before.json", &of("a", json!({})));
    write("b-changes.json", &of("a", json!({"lb_policy": "RING_HASH"})));
    write("one-moves.json", &of("b", json!({})));
    let asked = |after: &str, target: &str| {
        let at = |name: &str| directory.join(name).display().to_string();
        let run = run(
            &format!(
                "diff --fail-on rpcs --target xds:///{target} {} {}",
                at("before.json"),
                at(after)
            ),
            "",
        );
        (run.code, run.out)
    };
    let nothing = |target: &str| {
        format!(
            "nothing changes for a client\ncompared: what a channel to xds:///{target} uses\nasked: gRPC C-core 1.85.1\n"
        )
    };
    assert_eq!(asked("b-changes.json", "one"), (Some(0), nothing("one")));
    let (code, out) = asked("b-changes.json", "other");
    assert_eq!(code, Some(1));
    assert!(out.contains("cluster b\n    LB policy"), "{out}");
    let (code, out) = asked("one-moves.json", "one");
    assert_eq!(code, Some(1));
    assert!(
        out.contains("authority `one`\n      /Service/Method (routes[0]): a → b"),
        "{out}"
    );
    assert!(!out.contains("+ Cluster b"), "{out}");
    // The resource has changed, but no RPC of this channel has moved.
    let (code, out) = asked("one-moves.json", "other");
    assert_eq!(code, Some(0));
    assert!(!out.contains("For RPCs"), "{out}");
    assert_eq!(asked("one-moves.json", "third"), (Some(2), String::new()));
}
