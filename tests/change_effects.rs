//! Tests of what `diff` says about RPCs, when it fails, and what it writes for a pull request.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::run::{Run, in_process, program, spawned};

/// A world: a listener with sessions, a route to `cluster`, the clusters `a` and `b`, and the
/// endpoints of `a`.
#[derive(Clone)]
struct World {
    cluster: &'static str,
    /// The prefix of the route.
    prefix: &'static str,
    /// The path of the cookie.
    path: &'static str,
    statuses: &'static [&'static str],
    endpoints: Vec<(u16, &'static str)>,
    /// The fields of the route's action.
    action: Value,
    /// The fields of the cluster `a`.
    fields: Value,
    listens: bool,
}

impl World {
    fn new() -> World {
        World {
            cluster: "a",
            prefix: "",
            path: "/",
            statuses: &["UNKNOWN", "HEALTHY", "DRAINING"],
            endpoints: vec![(1, "HEALTHY"), (2, "HEALTHY")],
            action: json!({}),
            fields: json!({}),
            listens: true,
        }
    }

    fn resources(&self) -> Value {
        let http = "type.googleapis.com/envoy.extensions.filters.http";
        let session = json!({
            "@type": format!("{http}.stateful_session.v3.StatefulSession"),
            "session_state": {"name": "cookie", "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState",
                "cookie": {"name": "c", "path": self.path},
            }},
        });
        let listener = json!({
            "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
            "name": "shop",
            "api_listener": {"api_listener": {
                "@type":
                    "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                "rds": {"route_config_name": "r", "config_source": {"ads": {}}},
                "http_filters": [
                    {"name": "session", "typed_config": session},
                    {"name": "router", "typed_config": {"@type": format!("{http}.router.v3.Router")}},
                ],
            }},
        });
        let mut action = json!({"cluster": self.cluster});
        action
            .as_object_mut()
            .unwrap()
            .extend(self.action.as_object().unwrap().clone());
        let routes = json!({
            "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
            "name": "r",
            "virtual_hosts": [{"name": "h", "domains": ["*"], "routes": [{"match": {"prefix": self.prefix}, "route": action}]}],
        });
        let cluster = |name: &str| {
            json!({
                "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
                "name": name,
                "type": "EDS",
                "eds_cluster_config": {"eds_config": {"ads": {}}},
                "common_lb_config": {"override_host_status": {"statuses": self.statuses}},
            })
        };
        let mut a = cluster("a");
        a.as_object_mut()
            .unwrap()
            .extend(self.fields.as_object().unwrap().clone());
        let endpoint = |(port, health): &(u16, &str)| {
            let address = json!({"socket_address": {"address": "10.0.0.1", "port_value": port}});
            json!({"endpoint": {"address": address}, "health_status": health})
        };
        let endpoints = json!({
            "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
            "cluster_name": "a",
            "endpoints": [{"locality": {"zone": "z"}, "load_balancing_weight": 1,
                "lb_endpoints": self.endpoints.iter().map(endpoint).collect::<Vec<_>>()}],
        });
        let mut all = vec![routes, a, cluster("b"), endpoints];
        if self.listens {
            all.insert(0, listener);
        }
        Value::Array(all)
    }

    fn write(&self, path: &Path) {
        // Each resource is on a line of its own.
        let lines: Vec<String> = self
            .resources()
            .as_array()
            .unwrap()
            .iter()
            .map(Value::to_string)
            .collect();
        std::fs::write(path, format!("{{\"resources\": [\n{}\n]}}\n", lines.join(",\n"))).unwrap();
    }
}

struct Case {
    directory: PathBuf,
}

impl Case {
    fn new(test: &str, before: &World, after: &World) -> Case {
        let directory = crate::run::directory("change_effects", test);
        before.write(&directory.join("a.json"));
        after.write(&directory.join("b.json"));
        Case { directory }
    }

    fn diff(&self, options: &[&str]) -> Run {
        let mut command = program(&[&["diff"], options, &["a.json", "b.json"]].concat());
        command.current_dir(&self.directory);
        command.env_remove("GITHUB_STEP_SUMMARY").env_remove("GITHUB_WORKSPACE");
        spawned(command, "")
    }

    /// Returns the text below `For RPCs`.
    fn effects(&self) -> String {
        let out = self.diff(&[]).out;
        out.split_once("\nFor RPCs\n")
            .map_or("", |(_, effects)| {
                effects.trim_end_matches("\nasked: gRPC C-core 1.85.1\n")
            })
            .to_owned()
    }
}

#[test]
fn a_session_whose_endpoint_is_drained_is_told() {
    let of = |statuses: &'static [&'static str], second: Option<&'static str>| {
        let (mut before, mut after) = (World::new(), World::new());
        (before.statuses, after.statuses) = (statuses, statuses);
        after.endpoints = vec![(1, "HEALTHY")];
        after.endpoints.extend(second.map(|health| (2, health)));
        Case::new("drained", &before, &after).effects()
    };
    let all: &[&str] = &["UNKNOWN", "HEALTHY", "DRAINING"];
    let usual: &[&str] = &["UNKNOWN", "HEALTHY"];
    let anew = "    sessions with 10.0.0.1:2 are picked anew\n";
    let gone = format!("  cluster a\n    endpoints: 2 → 1\n{anew}");
    assert_eq!(
        of(all, Some("DRAINING")),
        "  cluster a\n    DRAINING now, without new RPCs but those of their sessions: 10.0.0.1:2\n"
    );
    assert_eq!(
        of(usual, Some("DRAINING")),
        format!("  cluster a\n    DRAINING now, without new RPCs: 10.0.0.1:2\n{anew}")
    );
    for (statuses, health) in [
        (all, Some("UNHEALTHY")),
        (all, None),
        (usual, Some("UNHEALTHY")),
        (usual, None),
    ] {
        assert_eq!(of(statuses, health), gone, "{statuses:?} {health:?}");
    }
    let mut before = World::new();
    before.endpoints[1].1 = "DRAINING";
    assert_eq!(
        Case::new("undrained", &before, &World::new()).effects(),
        "  cluster a\n    no longer DRAINING, with new RPCs: 10.0.0.1:2\n"
    );
}

#[test]
fn deadlines_and_retries_that_change_are_told_and_fail() {
    let retries = |times: u32, on: &str| json!({"retry_policy": {"retry_on": on, "num_retries": times}});
    let deadline = |time: &str| json!({"max_stream_duration": {"max_stream_duration": time}});
    let of = |before: Value, after: Value| {
        let (mut one, mut other) = (World::new(), World::new());
        (one.action, other.action) = (before, after);
        let case = Case::new("care", &one, &other);
        let code = case.diff(&["--fail-on", "rpcs"]).code;
        (case.effects(), code)
    };
    let told = |lines: &str| {
        let rpcs = "  to shop\n    authority `*`\n      /Service/Method (routes[0])\n";
        (format!("{rpcs}{lines}"), Some(1))
    };
    let three = "up to 3 attempts on unavailable, back-off 0.025s to 0.250s";
    for (before, after, expected) in [
        (json!({}), deadline("5s"), told("        deadline: none → 5s\n")),
        (
            deadline("5s"),
            deadline("0.5s"),
            told("        deadline: 5s → 0.500s\n"),
        ),
        (
            json!({}),
            retries(2, "unavailable"),
            told(&format!("        retries: none → {three}\n")),
        ),
        (
            retries(2, "unavailable"),
            retries(2, "cancelled,unavailable"),
            told(&format!(
                "        retries: {three} → up to 3 attempts on cancelled, unavailable, back-off 0.025s to 0.250s\n"
            )),
        ),
        // The client reads both the same way.
        (deadline("0s"), json!({}), (String::new(), Some(0))),
        (
            retries(4, "unavailable"),
            retries(9, "unavailable,5xx"),
            (String::new(), Some(0)),
        ),
    ] {
        assert_eq!(of(before.clone(), after.clone()), expected, "{before} {after}");
    }
    let mut after = World::new();
    (after.cluster, after.action) = ("b", deadline("5s"));
    assert_eq!(
        Case::new("care_and_cluster", &World::new(), &after)
            .effects()
            .lines()
            .next_back(),
        Some("        deadline: none → 5s")
    );
}

#[test]
fn sessions_are_told_where_the_cookie_leads() {
    let of = |prefix, path| {
        let mut before = World::new();
        (before.prefix, before.path) = (prefix, path);
        let mut after = before.clone();
        after.endpoints.pop();
        Case::new("cookie", &before, &after).effects()
    };
    let gone = "  cluster a\n    endpoints: 2 → 1\n";
    let anew = format!("{gone}    sessions with 10.0.0.1:2 are picked anew\n");
    for (prefix, path) in [("", "/"), ("", "/shop.Cart"), ("/shop.Cart/", "/shop.Cart")] {
        assert_eq!(of(prefix, path), anew, "{prefix} {path}");
    }
    assert_eq!(of("/shop.Search/", "/shop.Cart"), gone);
    assert_eq!(of("/shop.Cart/Get", "/shop.Cart/Add"), gone);
}

#[test]
fn endpoints_policies_and_drops_that_are_others_are_told() {
    let of = |change: fn(&mut World)| {
        let mut after = World::new();
        change(&mut after);
        Case::new("others", &World::new(), &after).effects()
    };
    assert_eq!(
        of(|after| after.endpoints[1].0 = 3),
        "  cluster a\n    endpoints: 2 → 2, 1 of them new\n    sessions with 10.0.0.1:2 are picked anew\n"
    );
    assert_eq!(
        of(|after| after.fields = json!({"lb_policy": "RING_HASH"})),
        "  cluster a\n    LB policy: xds_wrr_locality over round_robin → ring_hash\n"
    );
    let dns = json!({"type": "LOGICAL_DNS", "load_assignment": {"endpoints": [{"lb_endpoints": [
        {"endpoint": {"address": {"socket_address": {"address": "x.example", "port_value": 80}}}}]}]}});
    let mut after = World::new();
    after.fields = dns;
    let told = Case::new("dns", &World::new(), &after).effects();
    assert!(
        told.starts_with("  cluster a\n    from: EDS, by the cluster's name → DNS x.example:80\n"),
        "{told}"
    );
    let mut silent = World::new();
    silent.listens = false;
    assert_eq!(
        Case::new("silent", &World::new(), &silent).effects(),
        "  to shop\n    has no routes any more: every RPC fails\n"
    );
    assert_eq!(
        Case::new("heard", &silent, &World::new()).effects(),
        "  to shop\n    has routes now\n"
    );
}

#[test]
fn only_what_is_named_fails() {
    let elsewhere = World {
        cluster: "b",
        ..World::new()
    };
    let later = World {
        action: json!({"max_stream_duration": {"max_stream_duration": "3s"}}),
        ..World::new()
    };
    let hashed = World {
        action: json!({"hash_policy": [{"header": {"header_name": "x-user"}}]}),
        ..World::new()
    };
    let rejected = World {
        fields: json!({"lb_policy": "MAGLEV"}),
        ..World::new()
    };
    // In these worlds, no route leads to the cluster that changes.
    let unused = |world: World| World { cluster: "b", ..world };
    let cases = [
        ("same", World::new(), World::new(), [0, 0, 0, 0]),
        ("elsewhere", World::new(), elsewhere, [1, 0, 1, 1]),
        ("later", World::new(), later, [1, 0, 1, 1]),
        ("hashed", World::new(), hashed, [0, 0, 0, 1]),
        ("rejected", World::new(), rejected.clone(), [1, 1, 1, 1]),
        ("mended", rejected.clone(), World::new(), [1, 1, 1, 1]),
        ("unused", unused(World::new()), unused(rejected), [0, 1, 1, 1]),
    ];
    for (name, before, after, codes) in cases {
        let case = Case::new(name, &before, &after);
        let options = [
            "--fail-on=rpcs",
            "--fail-on=verdicts",
            "--fail-on=rpcs,verdicts",
            "--exit-code",
        ];
        let found = options.map(|option| case.diff(&[option]).code.unwrap());
        assert_eq!(found, codes, "{name}");
        assert_eq!(case.diff(&[]).code, Some(0), "{name}");
        // The exit code agrees with what is printed.
        assert_eq!(case.effects().is_empty(), codes[0] == 0, "{name}");
    }
    let case = Case::new("both", &World::new(), &World::new());
    assert_eq!(case.diff(&["--exit-code", "--fail-on", "rpcs"]).code, Some(2));
    assert_eq!(case.diff(&["--fail-on", "rpc"]).code, Some(2));
}

#[test]
fn a_pull_request_is_told_where_and_what() {
    let mut after = World {
        cluster: "b",
        ..World::new()
    };
    let mut before = World::new();
    before.endpoints[1].1 = "DRAINING";
    after.fields = json!({"lb_policy": "MAGLEV"});
    let case = Case::new("pull", &before, &after);
    let run = case.diff(&[
        "--format",
        "github",
        "--format",
        "markdown=out.md",
        "--format",
        "human=out.txt",
    ]);
    assert_eq!(
        run.out,
        "::error file=b.json,line=4,endLine=4,col=1,endColumn=1,title=rejected::Cluster a: is rejected now: at lb_policy: \
         lb_policy 5 (MAGLEV) is not supported, must be ROUND_ROBIN or RING_HASH\n\
         ::warning file=b.json,line=3,endLine=3,col=1,endColumn=1,title=RPCs go elsewhere::to shop%0A  authority `*`%0A    \
         /Service/Method (routes[0]): a → b\n"
    );
    let text = |name: &str| std::fs::read_to_string(case.directory.join(name)).unwrap();
    assert_eq!(text("out.txt"), case.diff(&[]).out + "(compared by xdsctl)\n");
    assert_eq!(
        text("out.md"),
        "### xdsctl diff: RPCs go elsewhere, verdicts change, 3 resources changed\n\nFor RPCs\n\n```text\n  to shop\n    \
         authority `*`\n      /Service/Method (routes[0]): a → b\n```\n\n<details><summary>3 resources changed</summary>\n\n\
         ```text\n~ RouteConfiguration r\n    virtual_hosts[h].routes[0].route.cluster: a → b\n~ Cluster a: is rejected \
         now: at lb_policy: lb_policy 5 (MAGLEV) is not supported, must be ROUND_ROBIN or RING_HASH\n\
         ~ ClusterLoadAssignment a\n    priorities[0].localities[/z].lb_endpoints[10.0.0.1:2].health_status: DRAINING → \
         HEALTHY\n```\n\n</details>\n\nasked: gRPC C-core 1.85.1\n"
    );
    // The summary of the job is the same text as the comment.
    let (one, other) = (case.directory.join("a.json"), case.directory.join("b.json"));
    let summary = case.directory.join("summary.md");
    let args = [
        "diff",
        "--format",
        "github",
        one.to_str().unwrap(),
        other.to_str().unwrap(),
    ];
    in_process(&args, "", |io| io.step_summary = Some(summary));
    assert_eq!(text("summary.md"), text("out.md"));
    let same = Case::new("pull-same", &before, &before);
    assert_eq!(
        same.diff(&["--format", "markdown"]).out,
        "### xdsctl diff: nothing changes for a client\n\nasked: gRPC C-core 1.85.1\n"
    );
    assert_eq!(same.diff(&["--format", "github"]).out, "");
    // Neither an input nor another report is overwritten.
    for formats in [
        &["--format", "json=a.json"][..],
        &["--format", "json=x", "--format", "markdown=x"],
        &["--format", "json", "--format", "markdown"],
    ] {
        assert_eq!(same.diff(formats).code, Some(2), "{formats:?}");
    }
    assert!(text("a.json").starts_with("{\"resources\""));
}

#[test]
fn nothing_of_a_name_leaves_its_block() {
    let directory = crate::run::directory("change_effects", "names");
    let cluster = |name: &str| {
        json!({"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": name, "type": "EDS",
        "eds_cluster_config": {"eds_config": {"ads": {}}}})
    };
    let write = |name: &str, list: &[Value]| std::fs::write(directory.join(name), json!(list).to_string()).unwrap();
    write("a.json", &[cluster("c")]);
    write("b.json", &[cluster("c"), cluster("x\n````\n::error::y")]);
    let mut command = program(&[
        "diff",
        "--format",
        "markdown",
        "--format",
        "github=out",
        "a.json",
        "b.json",
    ]);
    command.current_dir(&directory);
    let out = spawned(command, "").out;
    assert!(
        out.contains("\n`````text\n+ Cluster x\\n````\\n::error::y\n`````\n"),
        "{out}"
    );
    assert_eq!(std::fs::read_to_string(directory.join("out")).unwrap(), "");
}
