//! Tests of `xdsctl test`: the suites of `fixtures/suites/`, suites that fail, invalid suites, and
//! the notes on suites.

mod drafts;
mod fleets;
mod forms;
mod hints;
mod kinds;
mod same;
mod servers;
mod timeline;
mod update;

use serde_json::Value;

use crate::cli_tree::run;
use crate::run::Run;
use crate::support::root;

const WORLD: &str = "world: fixtures/suites/world/shop.yaml\n";

/// Runs a suite from standard input.
fn suite(arguments: &str, text: &str) -> Run {
    run(&format!("test {arguments} -"), &format!("{WORLD}{text}"))
}

fn answer(text: &str) -> Value {
    let Run { out, err, .. } = suite("--format json", text);
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"))
}

/// Returns what happened where a suite of one test expected something else, each with the number of
/// further RPCs with the same failure.
fn happened(text: &str) -> Vec<(String, u64)> {
    let answer = answer(text);
    let test = &answer["suites"][0]["tests"][0];
    assert_eq!(test["error"], Value::Null, "{answer}");
    let failures = test["failures"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let of = |failure: &Value| {
        (
            failure["happened"].as_str().unwrap().to_owned(),
            failure["more"].as_u64().unwrap(),
        )
    };
    failures.iter().map(of).collect()
}

#[test]
fn the_suites_that_users_copy_pass() {
    let Run { code, out, err } = run("test fixtures/suites", "");
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let suites = std::fs::read_dir(root().join("fixtures/suites")).unwrap();
    let suites = suites.filter(|entry| entry.as_ref().unwrap().path().extension().is_some());
    let files: Vec<String> = suites
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(files.len(), 12);
    for file in files {
        assert!(out.contains(&format!("ok fixtures/suites/{file}: ")), "{file}: {out}");
    }
    // Notes about another client's words are allowed.
    let notes = out.lines().filter(|line| line.trim().starts_with("note: "));
    let odd: Vec<&str> = notes
        .filter(|note| !note.contains("but for the words of some messages"))
        .collect();
    assert!(odd.is_empty(), "{odd:?}");
}

#[test]
fn two_runs_give_the_same_bytes_in_any_order_of_files() {
    let once = |files: &str| run(&format!("test --format json {files}"), "").out;
    let first = once("fixtures/suites/ring.yaml fixtures/suites/brownout.yaml");
    assert_eq!(first, once("fixtures/suites/ring.yaml fixtures/suites/brownout.yaml"));
    let tests = |text: &str, file: &str| {
        let answer: Value = serde_json::from_str(text).unwrap();
        let suites = answer["suites"].as_array().unwrap();
        suites.iter().find(|suite| suite["file"] == file).unwrap().clone()
    };
    let other = once("fixtures/suites/brownout.yaml fixtures/suites/ring.yaml");
    for file in ["fixtures/suites/ring.yaml", "fixtures/suites/brownout.yaml"] {
        assert_eq!(tests(&first, file), tests(&other, file));
    }
}

#[test]
fn pages_show_what_the_suites_say() {
    let page = std::fs::read_to_string(root().join("docs/testing.md")).unwrap();
    let mark = "<!-- tests/suites.rs finds this in the file -->\n```yaml\n";
    let mut shown = page.split(mark).skip(1).map(|rest| rest.split("```").next().unwrap());
    let file = |name: &str| std::fs::read_to_string(root().join("fixtures/suites").join(name)).unwrap();
    for name in ["failover.yaml", "drain.yaml", "server.yaml", "lookups.yaml"] {
        let shown = shown.next().unwrap();
        assert!(file(name).contains(shown), "{name} has not\n{shown}");
    }
    assert_eq!(shown.next(), None);
}

/// Tests each expectation where it is met, and where it is not.
#[test]
fn expectations_hold_or_say_what_happened() {
    let pay =
        |expect: &str| format!("steps:\n- pick: {{method: /shop.Pay/Charge, count: 4}}\n  expect: {{{expect}}}\n");
    let first = "OK from 10.5.0.1:8080";
    for (good, bad, words, more) in [
        ("status: OK", "status: [INTERNAL, ABORTED]", first, 3),
        ("fails: false", "fails: true", first, 3),
        (
            "cluster: [pay, pay-canary]",
            "cluster: cart",
            "OK from 10.5.0.1:8080, in cluster `pay`",
            3,
        ),
        (
            "locality: eu/a/",
            "locality: us/a",
            "OK from 10.5.0.1:8080, in locality `eu/a`",
            3,
        ),
        (
            "virtual_host: shop",
            "virtual_host: other",
            "the virtual host is `shop`",
            3,
        ),
        ("route: pay", "route: 0", "routes[4] `pay` takes it", 3),
        ("attempts: 1", "attempts: 2..", "1 attempt: 10.5.0.1:8080", 3),
        ("within: 1", "within: 0", "OK from 10.5.0.1:8080, after 0.00", 3),
        (
            "cookie: none",
            "cookie: set",
            "the answer sets no cookie: OK from 10.5.0.1:8080",
            3,
        ),
        (
            "backends: 2..3",
            "backends: 1",
            "3 backends: 10.5.0.1:8080, 10.5.0.2:8080, 10.5.1.1:8080",
            0,
        ),
        ("count: 4", "count: 5", "4 RPCs", 0),
        (
            "tree: round_robin",
            "tree: weighted_round_robin",
            "`weighted_round_robin` is not among ",
            0,
        ),
        (
            "tree_lacks: rls",
            "tree_lacks: round_robin",
            "there is a `round_robin`",
            0,
        ),
        (
            "states: {channel: READY, 10.4.0.1:8080: none}",
            "states: {channel: IDLE, 10.5.0.1:8080: none}",
            "the channel is READY, 10.5.0.1:8080 is READY",
            0,
        ),
        (
            "priority: {pay: 0, checkout: 0, checkout-us: none}",
            "priority: {checkout: none, pay: 1}",
            "`checkout` uses priority 0, `pay` uses priority 0",
            0,
        ),
        (
            "priority: {cart: 0}",
            "priority: {carts: 0}",
            "no cluster `carts` has priorities, there is `cart`, ",
            0,
        ),
    ] {
        assert_eq!(happened(&pay(good)), [], "{good}");
        let failures = happened(&pay(bad));
        let [(happened, others)] = failures.as_slice() else {
            panic!("{bad}: {failures:?}");
        };
        assert!(*others == more || bad.contains("locality"), "{bad}: {others}");
        let is_start = happened.starts_with(words) || happened.starts_with(&words.replace("0.1:", "0.2:"));
        assert!(is_start, "{bad}: {happened}");
    }
}

#[test]
fn priorities_below_a_lookup_are_seen() {
    let text = "world: fixtures/suites/world/regions.yaml\nlookups:\n- {keys: {customer: ann}, targets: eu}\nsteps:\n\
        - pick: {method: /shop.Cart/Add, headers: {x-customer: ann}}\n  expect: {cluster: eu, priority: {eu: 0}}\n";
    let Run { code, out, .. } = run("test -", text);
    assert_eq!(code, Some(0), "{out}");
    let Run { code, out, .. } = run("test -", &text.replace("eu: 0", "eu: 1"));
    assert!(code == Some(1) && out.contains("`eu` uses priority 0"), "{out}");
}

#[test]
fn shares_that_are_off_say_how_far() {
    let shares = |shares: &str| {
        let text = format!("steps:\n- pick: {{method: /shop.Pay/Charge, count: 1000}}\n  expect: {{{shares}}}\n");
        happened(&text)
    };
    assert_eq!(shares("shares: {pay: 90%, pay-canary: 0.1}"), []);
    assert_eq!(shares("shares: {pay: 90%, pay-canary: 10%}, tolerance: 3%"), []);
    let off = shares("shares: {pay-canary: 20%}");
    let words = "% to `pay-canary` (";
    assert!(
        off[0].0.contains(words) && off[0].0.contains("expected 20 %"),
        "{off:?}"
    );
    assert!(
        off[0].0.contains("; elsewhere 4") && off[0].0.contains(" to 10.5.0.1:8080"),
        "{off:?}"
    );
    assert!(
        shares("shares: {pay-canary: 10%}, tolerance: 0%").len() == 1
            || shares("shares: {pay-canary: 10.3%}, tolerance: 0%").len() == 1
    );
}

#[test]
fn updates_are_rejected_by_the_rule_that_is_named() {
    let weight = |expect: &str| format!("steps:\n- weight: {{10.5.0.1:8080: 0}}\n  expect: {{{expect}}}\n");
    assert_eq!(happened(&weight("nack: eds-endpoint-weight-zero")), []);
    let happened_with = |expect: &str| happened(&weight(expect)).remove(0).0;
    let words = "the client rejects ClusterLoadAssignment `pay`: eds-endpoint-weight-zero";
    assert_eq!(happened_with("nack: none"), words);
    assert_eq!(happened_with("nack: eds-locality-weight-sum"), words);
    let good = "steps:\n- weight: {10.5.0.1:8080: 2}\n  expect: {nack: eds-endpoint-weight-zero}\n";
    assert_eq!(happened(good)[0].0, "the client accepts the update");
}

#[test]
fn what_must_never_be_is_found_anywhere_in_the_run() {
    let text = "never: [{fails: true}, {moves: true}]\nsteps:\n\
        - pick: {method: /shop.Cart/Add, jar: ann}\n\
        - health: {10.2.0.1:8080: UNHEALTHY, 10.2.0.2:8080: UNHEALTHY}\n\
        - pick: {method: /shop.Cart/Add, jar: ann}\n\
        - pick: {method: /shop.Nobody/Serves, count: 3}\n";
    let failures = happened(text);
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert_eq!(
        failures[0],
        ("UNAVAILABLE: No matching route found in xDS route config".to_owned(), 2)
    );
    assert!(
        failures[1]
            .0
            .starts_with("OK from 10.2.1.1:8080, the one before in its session was at 10.2.0."),
        "{failures:?}"
    );
}

#[test]
fn a_failure_shows_line_and_way() {
    let text = "steps:\n- pick: {method: /shop.Search/Find, headers: {user: ann, authorization: hunter2}}\n  expect: {address: 10.1.0.2:8080}\n";
    let Run { code, out, err } = suite("", text);
    assert_eq!((code, err.as_str()), (Some(1), ""), "{out}");
    for words in [
        "FAILED -: - (1 RPC in 0.002 s)\n\n  × expected `address: 10.1.0.2:8080`: OK from 10.1.0.1:8080\n",
        "╭─[-:4:12]\n",
        " 4 │   expect: {address: 10.1.0.2:8080}\n   ·            ──────────────────────\n",
        "\nRPC 1, at 0 s: OK from 10.1.0.1:8080 (complete, 2 ms)\n",
        "routes[1] `search`: takes it to cluster:search\n",
        "\n1 test: 0 passed, 1 failed\n",
    ] {
        assert!(out.contains(words), "{words}\nis not in\n{out}");
    }
    assert!(!out.contains("hunter2"), "{out}");
    assert!(suite("--show-secrets", text).out.contains("hunter2"));
}

#[test]
fn several_clients_are_dealt_rpcs_and_updated_one_by_one() {
    let text = "clients: {a: , b: {seed: 7}}\nsteps:\n\
        - remove: 10.5.0.1:8080\n  client: b\n\
        - pick: {method: /shop.Pay/Charge, count: 40}\n  expect: {backends: 3}\n\
        - pick: {method: /shop.Pay/Charge, count: 40}\n  client: b\n  expect: {address: [10.5.0.2:8080, 10.5.1.1:8080]}\n\
        - pick: {method: /shop.Pay/Charge, count: 40}\n  client: a\n  expect: {address: [10.5.0.2:8080, 10.5.1.1:8080]}\n";
    let answer = answer(text);
    let failures = answer["suites"][0]["tests"][0]["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{answer}");
    assert_eq!(
        (&failures[0]["line"], &failures[0]["rpc"]["client"]),
        (&13.into(), &"a".into())
    );
}

#[test]
fn a_suite_that_means_nothing_is_refused_at_its_line() {
    for (text, place, words) in [
        (
            "steps:\n- pik: {}\n",
            "-:3:3",
            "a step has no `pik`, did you mean `pick`?",
        ),
        (
            "steps:\n- {sleep: 1, pick: {}}\n",
            "-:3:14",
            "a step has one verb, this one has a second, `pick`",
        ),
        ("step: []\n", "-:2:1", "a suite has no `step`, did you mean `steps`?"),
        (
            "seed: -1\nsteps: [{sleep: 1}]\n",
            "-:2:7",
            "`seed` is `-1`, must be a whole number from 0",
        ),
        (
            "steps:\n- {sleep: 1, expect: {status: OK}}\n",
            "-:3:23",
            "the step waits for no RPC",
        ),
        (
            "steps:\n- {pick: {}, expect: {nack: none}}\n",
            "-:3:23",
            "the step sends no update",
        ),
        (
            "steps:\n- {pick: {}, expect: {tolerance: 1%}}\n",
            "-:3:34",
            "`tolerance` is about `shares`",
        ),
        (
            "steps:\n- {pick: {}, client: a}\n",
            "-:3:22",
            "`client` names one of the `clients`",
        ),
        (
            "tests:\n- {name: a, steps: [{sleep: 1}]}\n- {name: a, steps: [{sleep: 1}]}\n",
            "-:4:10",
            "a test before it is called `a` too",
        ),
        (
            "steps: [{sleep: 1}]\nsteps: [{sleep: 1}]\n",
            "-:3:1",
            "`steps` occurs twice in one object",
        ),
        ("never: {}\nsteps: [{sleep: 1}]\n", "-:2:8", "`never` says nothing"),
        (
            "target: a\ncluster: b\nsteps: [{sleep: 1}]\n",
            "-:3:10",
            "`cluster` and `target` cannot both be given",
        ),
        ("a: [\n", "-:2:4", "unclosed bracket"),
        ("", "-:1:1", "`xdsctl test --init FILE` begins one for a dump"),
        ("steps:\n", "-:2:1", "`steps` has nothing in it, must be a list"),
        (
            "steps:\n- pick: {}\nexpect: {status: OK}\n",
            "-:4:1",
            "`expect` belongs to a step, and stands in the list `steps`",
        ),
        ("pick: {}\n", "-:2:1", "`pick` belongs to a step"),
        (
            "steps:\n- pick: /a.B/C\n",
            "-:3:9",
            "`pick` is `\"/a.B/C\"`, must be an object like {method: /package.Service/Method}",
        ),
        (
            "steps:\n- {pick: {}, expect: {backend: 10.0.0.1:80}}\n",
            "-:3:23",
            "expect has no `backend`, did you mean `address`?",
        ),
        (
            "steps:\n- {sleep: 1, expect: {priority: {cart: -1}}}\n",
            "-:3:40",
            "`priority` is `-1`, must be the number of a priority from 0, or `none`",
        ),
        (
            "---\nsteps: [{sleep: 1}]\n",
            "-:3:1",
            "a second document, and a suite is a single one",
        ),
    ] {
        let Run { code, out, .. } = suite("", text);
        assert_eq!(code, Some(2), "{text}: {out}");
        assert!(
            out.contains(&format!("[{place}]")) && out.contains(words),
            "{text}: {out}"
        );
    }
}

#[test]
fn what_tests_have_in_common_is_limited() {
    let backends = |count: usize| {
        let line = |i| format!("  10.9.{}.{}:80: {{reach: refuse}}\n", i / 250, i % 250);
        (0..count).fold("backends:\n".to_owned(), |text, i| text + &line(i))
    };
    let tests = |count: usize| {
        let line = |i| format!("- {{name: t{i}, steps: [{{sleep: 0}}]}}\n");
        (0..count).fold("tests:\n".to_owned(), |text, i| text + &line(i))
    };
    let clients = |count: usize| {
        let names: Vec<String> = (0..count).map(|i| format!("c{i}")).collect();
        format!("clients: {{{}: }}\nsteps: [{{sleep: 0}}]\n", names.join(": , "))
    };
    let never = |count: usize| "never:\n".to_owned() + &"- {message: x}\n".repeat(count) + "steps: [{sleep: 0}]\n";
    for (good, bad, words) in [
        (
            backends(10) + &tests(10),
            backends(1001) + &tests(1000),
            "each of 1000 tests would begin with 1001 backends, clients, switches, DNS names and `never`, the limit is 1000000 in all",
        ),
        (
            backends(10) + &clients(10),
            backends(1001) + &clients(1000),
            "each of 1000 clients would begin with 1001 backends and DNS names, the limit is 1000000 in all",
        ),
        (never(1000), never(1001), "a test has at most 1000 `never`"),
    ] {
        let Run { code, out, .. } = suite("", &good);
        assert_eq!(code, Some(0), "{out}");
        let Run { code, out, .. } = suite("", &bad);
        assert_eq!((code, out.contains(words)), (Some(2), true), "{out}");
    }
}

#[test]
fn all_steps_together_end() {
    let sleeps = |count: usize| "idle_timeout: 0\nsteps:\n".to_owned() + &"- sleep: 36000\n".repeat(count);
    let Run { code, out, .. } = suite("--max-events 1000", &sleeps(3));
    assert_eq!(code, Some(0), "{out}");
    let Run { code, out, .. } = suite("--max-events 1000", &sleeps(1000));
    let words =
        "the steps so far needed more than 4000 timers and changes of connections, which is the limit for all steps";
    assert_eq!((code, out.contains(words)), (Some(2), true), "{out}");
}

#[test]
fn an_idle_channel_has_no_tree_and_begins_anew() {
    let text = "steps:\n- pick: {method: /shop.Cart/Add}\n- sleep: 1700\n  expect: {tree: round_robin}\n- sleep: 200\n  expect: {tree: round_robin}\n\
        - pick: {method: /shop.Cart/Add}\n  expect: {status: OK, tree: round_robin}\n";
    let Run { code, out, .. } = suite("", text);
    let words = "expected `tree: round_robin`: the channel is idle, and has no tree before the next RPC";
    assert_eq!((code, out.matches(words).count()), (Some(1), 1), "{out}");
    let Run { code, out, .. } = suite("", &format!("idle_timeout: 0\n{text}"));
    assert_eq!(code, Some(0), "{out}");
    let Run { code, out, err } = suite("", "idle_timeout: -1\nsteps:\n- sleep: 1\n");
    let words = "`idle_timeout` is `-1`, must be a number of seconds from 0 to 1e9";
    assert_eq!((code, (out + &err).contains(words)), (Some(2), true));
}

#[test]
fn a_new_channel_hears_nothing_before_its_first_rpc() {
    let pay = "- pick: {method: /shop.Pay/Charge}\n  expect: {status: OK, cluster: pay}\n";
    let broken = "- update:\n  - {\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: pay, lb_policy: MAGLEV}\n";
    let in_use = format!("steps:\n{broken}{pay}");
    let Run { code, out, .. } = suite("", &in_use);
    assert_eq!(code, Some(0), "{out}");
    let Run { code, out, .. } = suite("", &format!("starts_idle: true\n{in_use}"));
    assert_eq!((code, out.contains("UNAVAILABLE")), (Some(1), true), "{out}");
    let Run { code, out, .. } = suite("--coverage", &format!("starts_idle: true\nsteps:\n{pay}"));
    assert_eq!(
        (code, out.contains("virtual hosts         1 of 1 ")),
        (Some(0), true),
        "{out}"
    );
    let Run { code, out, .. } = suite("", &format!("starts_idle: perhaps\nsteps:\n{pay}"));
    let words = "`starts_idle` is `\"perhaps\"`, must be true or false";
    assert_eq!((code, out.contains(words)), (Some(2), true), "{out}");
}

#[test]
fn shares_count_an_rpc_once_under_each_of_its_names() {
    // The route's cluster is also the endpoint's.
    let text = "steps:\n- pick: {method: /shop.Cart/Add, count: 10}\n  expect: {shares: {cart: 100%}}\n\
        - pick: {method: /shop.Checkout/Pay, count: 10}\n  expect: {shares: {checkout-eu: 50%, checkout: 50%}, tolerance: 50%}\n";
    assert_eq!(happened(text), []);
}

#[test]
fn what_a_step_cannot_do_is_told_when_it_is_played() {
    for (text, words) in [
        (
            "steps:\n- {sleep: 2}\n- {at: 1}\n",
            "`at` is 1 s, and it is 2 s already",
        ),
        (
            "steps:\n- drain: 10.9.9.9:80\n",
            "no EDS resource of the channel has 10.9.9.9:80",
        ),
        (
            "steps:\n- scale: {carts: 3}\n",
            "is called `carts`, did you mean `cart`?",
        ),
        (
            "steps:\n- scale: {cart: 3}\n",
            "cluster `cart` has the localities `eu/a`, `eu/b`, scale one of them",
        ),
        (
            "backends: {default: {reach: silent}}\nsteps:\n- pick: {method: /shop.Pay/Charge, rate: 100000, for: 5}\n",
            "more than 100000 RPCs at a rate are in progress at once",
        ),
        (
            "steps:\n- stop: 10.9.9.9:80\n",
            "`stop` names 10.9.9.9:80, which is no address of the channel",
        ),
        ("steps:\n- begin: {name: a}\n", "no `finish` waits for the RPCs `a`"),
        (
            "steps:\n- pick: {method: /shop.Pay/Charge, session: 10.5.0.1:8080}\n",
            "`session` needs a stateful session filter",
        ),
        (
            "target: xds:///nobody\nsteps:\n- {sleep: 1}\n- pick: {}\n  expect: {status: OK}\n",
            "LDS resource nobody: does not exist",
        ),
        (
            "bootstrap: nowhere.json\nsteps: [{sleep: 1}]\n",
            "cannot read the bootstrap `nowhere.json`",
        ),
    ] {
        let Run { code, out, .. } = suite("", text);
        assert!(matches!(code, Some(1 | 2)), "{text}: {out}");
        assert!(out.contains(words), "{text}: {out}");
    }
}

#[test]
fn the_exit_code_tells_failures_from_trouble() {
    let good = "steps:\n- {pick: {method: /shop.Pay/Charge}, expect: {status: OK}}\n";
    let bad = "steps:\n- {pick: {method: /shop.Pay/Charge}, expect: {status: INTERNAL}}\n";
    assert_eq!(suite("", good).code, Some(0));
    assert_eq!(suite("", bad).code, Some(1));
    let Run { code, err, .. } = suite("--run nothing", good);
    assert_eq!(
        (code, err.as_str()),
        (
            Some(2),
            "xdsctl: no test has been run: `--run nothing` matches none of 1\n"
        )
    );
    assert_eq!(suite("--max-events 1", good).code, Some(2));
    // For a dump, the error says how to begin.
    let dump = run("test fixtures/examples/shop.yaml", "");
    let words = "this is not a suite, it has neither `steps` nor `tests`: a suite has `steps`, and names what a control plane sends as its `world`";
    assert!(dump.code == Some(2) && dump.out.contains(words), "{}", dump.out);
    // An invalid suite does not keep the other files from being run.
    let both = run("test fixtures/suites/headers.yaml fixtures/examples/checkout.yaml", "");
    assert_eq!(both.code, Some(2));
    assert!(both.out.contains("ok fixtures/suites/headers.yaml: "), "{}", both.out);
}

#[test]
fn files_of_router_check_tool_are_run_and_what_means_nothing_is_told() {
    let world = "--world fixtures/suites/world/shop.yaml";
    let Run { code, out, .. } = run(&format!("test {world} fixtures/router_check"), "");
    assert_eq!(code, Some(0), "{out}");
    assert!(
        out.contains("`path_rewrite` has no meaning in gRPC: a client rewrites no path"),
        "{out}"
    );
    let check = |validate: &str| {
        let text = format!(
            "tests:\n- test_name: a\n  input: {{authority: shop, path: /shop.Search/Find, method: POST, additional_request_headers: [{{key: tier, value: beta}}]}}\n  validate: {{{validate}}}\n"
        );
        run(&format!("test {world} -"), &text)
    };
    assert_eq!(
        check("cluster_name: search-next, virtual_host_name: shop").code,
        Some(0)
    );
    for (validate, words) in [
        (
            "cluster_name: search",
            "expected `cluster_name: search`: OK from 10.1.1.1:8080, in cluster `search-next`",
        ),
        ("cluster_name: ''", "in cluster `search-next`"),
        ("virtual_host_name: other", "the virtual host is `shop`"),
    ] {
        let Run { code, out, .. } = check(validate);
        assert!(code == Some(1) && out.contains(words), "{validate}: {out}");
    }
    let Run { code, out, .. } = check("cluster: a");
    assert!(
        code == Some(2) && out.contains("validate has no `cluster`; there is `cluster_name`"),
        "{out}"
    );
    // Without a world there is no client to ask.
    let Run { code, out, .. } = run("test fixtures/router_check/shop.yaml", "");
    assert!(code == Some(2) && out.contains("there is no --world"), "{out}");
}

#[test]
fn what_no_rpc_has_met_is_listed() {
    let text = "steps:\n- pick: {method: /shop.Checkout/Pay}\n";
    let Run { code, out, .. } = suite("--coverage", text);
    assert_eq!(code, Some(0));
    for words in [
        "\n  virtual hosts         1 of 1        100 %\n",
        "\n  routes                1 of 6       16.7 %\n    never met: shop-routes `shop` routes[0] `beta`\n",
        "\n  weighted entries      0 of 2          0 %\n    never met: shop-routes `shop` routes[4] `pay` to `pay-canary`\n",
        "\n  clusters              2 of 9       22.2 %\n    never met: cart\n    never met: checkout-us\n",
        "\n    never met: stock 10.6.0.2:8080\n  all                   5 of 33      15.2 %\n",
    ] {
        assert!(out.contains(words), "{words}\nis not in\n{out}");
    }
    let all = run("test --coverage --fail-under 100 --format json fixtures/suites", "");
    let answer: Value = serde_json::from_str(&all.out).unwrap();
    for kind in ["virtual_hosts", "routes", "weighted_entries", "clusters", "endpoints"] {
        let met = &answer["coverage"][kind];
        assert!(
            met["total"].as_u64() > Some(0) && met["missed"].as_array().unwrap().is_empty(),
            "{kind}: {met}"
        );
    }
    assert_eq!((all.code, all.err.as_str()), (Some(0), ""));
    let some = run("test --fail-under 60 fixtures/suites/headers.yaml", "");
    let words = "xdsctl: the tests have met 27.3 % of the configuration, less than 60 % (--fail-under)\n";
    assert_eq!((some.code, some.err.as_str()), (Some(1), words));
}

fn simulate(arguments: &str) -> Run {
    run(&format!("simulate {arguments}"), "")
}

#[test]
fn a_timeline_tells_steps_and_what_they_lead_to() {
    let Run { code, out, err } = simulate("--run answer --format jsonl fixtures/suites/failover.yaml");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let events: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let times: Vec<i64> = events.iter().map(|event| event["t_ms"].as_i64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let find = |event: &str, key: &str, value: &str| {
        let mut found = events
            .iter()
            .filter(|told| told["event"] == event && told["what"][key] == value);
        found.next().unwrap_or_else(|| panic!("{event} {key} {value}: {out}"))
    };
    let fired = find("failover_timer_fired", "child", "checkout-eu");
    assert_eq!(
        (&fired["t_ms"], &fired["what"]["cluster"]),
        (&10_000.into(), &"checkout".into())
    );
    assert_eq!(
        find("select", "child", "checkout-us")["what"]["why"],
        "failover timer pending"
    );
    let end = find("end", "code", "OK");
    assert_eq!(
        (&end["layer"], &end["what"]["backend"]),
        (&"rpc".into(), &"10.4.0.1:8080".into())
    );
    assert_eq!(
        simulate("--run answer --format jsonl fixtures/suites/failover.yaml").out,
        out
    );
}

#[test]
fn a_timeline_can_be_cut_and_drawn() {
    let failover = "--run answer fixtures/suites/failover.yaml";
    let early = simulate(&format!("--until 5 --only step,rpc {failover}")).out;
    assert!(
        early.contains("begin  rpc 1") && !early.contains("end  rpc 1"),
        "{early}"
    );
    let Run { code, err, .. } = simulate(&format!("--only sesion {failover}"));
    assert_eq!(code, Some(2));
    assert_eq!(
        err,
        "xdsctl: --only: there is no layer `sesion`, did you mean `session`?\n"
    );
    let Run { code, err, .. } = simulate("fixtures/suites/failover.yaml");
    assert_eq!(code, Some(2));
    assert!(
        err.contains("several tests to simulate, choose one with --run: `the near region serves alone`"),
        "{err}"
    );
    let Run { code, err, .. } = run(
        "simulate --run near -",
        &format!("{WORLD}steps:\n- pick: {{method: /shop.Pay/Charge}}\n"),
    );
    assert_eq!(code, Some(2));
    assert!(
        err.contains("-: no test to simulate, the only one has no name: leave --run out"),
        "{err}"
    );
    let chart = simulate(&format!("--only config --chart {failover}")).out;
    assert!(chart.contains("\nRPCs, 0 to 10.003 s\n  10.4.0.1:8080 "), "{chart}");
    let svg = simulate(&format!("--format svg {failover}")).out;
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.contains(">10.4.0.1:8080</text>"), "{svg}");
}

#[test]
fn a_timeline_tells_nothing_secret() {
    let text = format!("{WORLD}steps:\n- pick: {{method: /shop.Pay/Charge, headers: {{authorization: hunter2}}}}\n");
    let quiet = run("simulate --only step -", &text).out;
    assert!(quiet.contains("authorization: *******"), "{quiet}");
    assert!(
        run("simulate --only step --show-secrets -", &text)
            .out
            .contains("hunter2")
    );
}

#[test]
fn only_tests_that_match_are_run() {
    let Run { code, out, .. } = run("test --run drain.*moves fixtures/suites", "");
    assert_eq!(code, Some(0));
    assert_eq!(out.lines().count(), 2, "{out}");
    assert!(out.ends_with("\n1 test: 1 passed, 0 failed\n"), "{out}");
}

#[test]
fn a_report_for_machines_counts_suites_and_cases() {
    let bad = "tests:\n- {name: a<b, steps: [{pick: {method: /shop.Pay/Charge}, expect: {status: INTERNAL}}]}\n- {name: c, steps: [{sleep: 1}]}\n";
    let Run { code, out, .. } = suite("--format junit", bad);
    assert_eq!(code, Some(1));
    for words in [
        "<testsuites name=\"xdsctl\" tests=\"2\" failures=\"1\" errors=\"0\">",
        "<testcase classname=\"-\" name=\"a&lt;b\">",
        "<failure type=\"expectation\" message=\"expected `status: INTERNAL`: OK from 10.5.0.",
        "<testcase classname=\"-\" name=\"c\"/>",
    ] {
        assert!(out.contains(words), "{words}\nis not in\n{out}");
    }
    let github = suite("--format github", bad).out;
    assert!(github.starts_with("::error file=-,line=3,col="), "{github}");
    assert!(github.ends_with("\n2 tests: 1 passed, 1 failed\n"), "{github}");
}

#[test]
fn clients_share_what_a_test_may_take() {
    const ENVOY: &str = "type.googleapis.com/envoy.config";
    let cluster = |name: &str| {
        format!(
            r#"{{"@type":"{ENVOY}.cluster.v3.Cluster","name":"{name}","type":"EDS","eds_cluster_config":{{"eds_config":{{"ads":{{}}}}}}}}"#
        )
    };
    // All endpoints are in one locality, or each in its own.
    let endpoints = |name: &str, count: usize, localities: usize| {
        let one = |i: usize| {
            let (a, b) = (i >> 8, i & 255);
            format!(r#"{{"endpoint":{{"address":{{"socket_address":{{"address":"10.0.{a}.{b}","port_value":80}}}}}}}}"#)
        };
        let locality = |number: usize| {
            let list: Vec<String> = (0..count).filter(|i| i % localities == number).map(one).collect();
            let list = list.join(",");
            format!(r#"{{"locality":{{"zone":"{number}"}},"load_balancing_weight":1,"lb_endpoints":[{list}]}}"#)
        };
        let list: Vec<String> = (0..localities).map(locality).collect();
        let list = list.join(",");
        format!(
            r#"{{"@type":"{ENVOY}.endpoint.v3.ClusterLoadAssignment","cluster_name":"{name}","endpoints":[{list}]}}"#
        )
    };
    let error = |world: &[String]| {
        // All clients but the first start with the small cluster.
        let others: Vec<String> = (1..1_000).map(|i| format!(r#""n{i}":null"#)).collect();
        let text = format!(
            r#"{{"cluster":"small","world":[{}],"clients":{{"n0":{{"cluster":"big"}},{}}},"steps":[{{"pick":{{}}}}]}}"#,
            world.join(","),
            others.join(",")
        );
        let Run { code, out, err } = run("test --format json -", &text);
        assert_eq!((code, err.as_str()), (Some(2), ""), "{out}");
        let answer: Value = serde_json::from_str(&out).unwrap();
        let test = &answer["suites"][0]["tests"][0];
        test["error"]["message"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned()
    };
    let small = [cluster("small"), endpoints("small", 1, 1), cluster("big")];
    let with = |big: String| error(&[&small[..], &[big]].concat());
    assert_eq!(
        with(endpoints("big", 300, 300)),
        "the channel needs more than 500 LB policies and connections, which is the limit: nothing is known of its RPCs"
    );
    let tree = with(endpoints("big", 1_200, 1));
    assert!(
        tree.starts_with("the tree of each of 1000 clients would have ")
            && tree.ends_with(" policies, endpoints and values of configs, the limit for so many clients is 2000"),
        "{tree}"
    );
    let many: Vec<String> = (0..1_998).map(|i| cluster(&format!("c{i}"))).collect();
    assert_eq!(
        error(&[&small[..], &many[..]].concat()),
        "1000 clients would hold 2001 resources each, the limit is 2000000 together"
    );
}
