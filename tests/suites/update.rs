//! Tests of `test --update`: it writes what happened into the file, and changes nothing else.

use std::fs;

use super::WORLD;
use crate::cli_tree::run_args;
use crate::run::{Run, directory};

/// Updates a file with this text. Returns its new text, and the run.
fn updated(test: &str, name: &str, text: &str) -> (String, Run) {
    let path = directory("update", test).join(name);
    fs::write(&path, text).unwrap();
    let run = {
        let root = crate::support::root();
        let args = [
            "test",
            "--quiet",
            "--update",
            "--allow-read",
            root.to_str().unwrap(),
            path.to_str().unwrap(),
        ];
        run_args(&args, "")
    };
    (fs::read_to_string(&path).unwrap(), run)
}

fn world() -> String {
    let root = crate::support::root();
    format!("world: {}\n", root.join("fixtures/suites/world/shop.yaml").display())
}

/// Splits `«old|new»` into the text before and after the update.
fn sides(text: &str) -> (String, String) {
    let (mut before, mut after) = (String::new(), String::new());
    let mut rest = text;
    while let Some((plain, change)) = rest.split_once('«') {
        let (change, behind) = change.split_once('»').unwrap();
        let (old, new) = change.split_once('|').unwrap();
        before += &format!("{plain}{old}");
        after += &format!("{plain}{new}");
        rest = behind;
    }
    (before + rest, after + rest)
}

#[test]
fn what_happened_is_written_where_another_thing_stood() {
    let text = format!(
        "# of the shop\r\n{}tests:
- name: a   # first
  steps:
  - pick: {{method: /shop.Search/Find, headers: {{user: ann}}, count: 5}}
    expect: {{address: «10.1.0.2:8080|10.1.0.1:8080», cluster: \"«x|search»\",   route: «'7'|'search'»}} # why
  - pick: {{method: /shop.Pay/Charge, count: 40}}
    expect:
      # block
      address:
      - 10.5.0.1:8080 # one
      - 10.5.0.2:8080
      - «10.5.0.3:8080|10.5.1.1:8080»
      cluster: «pay|[pay, pay-canary]»
      attempts: «2..3|1»
      count: 40
      states:
        channel: «IDLE|READY» # not at first

        10.5.0.1:8080: «none|READY»
    client: \n",
        world()
    );
    let text = text.replace("    client: \n", "");
    let text = format!(
        "{text}  - weight: {{10.5.0.1:8080: 0}}
    expect: {{nack: «none|eds-endpoint-weight-zero», priority: {{pay: «1|0»}}}}
  - {{pick: {{method: /shop.Cart/Add}}, expect: {{cookie: «none|10.2.0.1:8080»}}}}
  - {{pick: {{method: /shop.A/B}}, expect: {{status: «[OK, INTERNAL]|UNAVAILABLE»}}}}\n"
    );
    let (before, after) = sides(&text);
    let (now, Run { code, out, err }) = updated("all", "suite.yaml", &before);
    assert_eq!(now, after, "{out}{err}");
    assert_eq!((code, out.as_str()), (Some(0), ""));
    let states = ": `states: channel: IDLE 10.5.0.1:8080: none` becomes `{10.5.0.1:8080: READY, channel: READY}`\n";
    assert!(err.contains(states), "{err}");
    let last = err.lines().last().unwrap();
    assert_eq!(last, "xdsctl: updated 11 expectations in 1 file");
    assert!(
        err.contains("suite.yaml:7:14: `address: 10.1.0.2:8080` becomes `10.1.0.1:8080`\n"),
        "{err}"
    );
    let (again, Run { code, err, .. }) = updated("again", "suite.yaml", &after);
    assert_eq!((again, code), (after, Some(0)));
    assert_eq!(err, "xdsctl: nothing is updated\n");
}

#[test]
fn a_suite_in_json_stays_json() {
    let text = format!(
        "{{\n\t\"world\": \"{}\",\n\t\"steps\": [{{\"pick\": {{\"method\": \"/shop.Pay/Charge\", \"count\": 20}},
\t\t\"expect\": {{\"cluster\": «\"cart\"|[\"pay\",\"pay-canary\"]», \"backends\": «1|3»}}}}]\n}}",
        world().trim_start_matches("world: ").trim_end()
    );
    let (before, after) = sides(&text);
    let (now, Run { code, err, .. }) = updated("json", "suite.json", &before);
    assert_eq!((now, code), (after, Some(0)), "{err}");
}

#[test]
fn what_is_wanted_or_shared_stays_and_says_why() {
    for (test, expect, why) in [
        (
            "within",
            "steps:\n- {pick: {method: /shop.Pay/Charge}, expect: {within: 0}}\n",
            "`within: 0` stays: how long RPCs may take is your decision",
        ),
        (
            "shares",
            "steps:\n- {pick: {method: /shop.Pay/Charge, count: 9}, expect: {shares: {cart: 100%}}}\n",
            "stays: shares are your decision, a run shows only what chance made of them",
        ),
        (
            "never",
            "never: {fails: false}\nsteps:\n- {pick: {method: /shop.Pay/Charge}}\n",
            "`fails: false` stays: it says what must never be",
        ),
        (
            "anchor",
            "steps:\n- {pick: {method: /shop.Pay/Charge}, expect: {cluster: &c cart}}\n- {pick: {method: /shop.Cart/Add}, expect: {cluster: *c}}\n",
            "stays: the text there says more than this one value",
        ),
        (
            "lines",
            "steps:\n- pick: {method: /shop.Pay/Charge}\n  expect:\n    address: [10.1.0.1:8080,\n      10.1.0.2:8080]\n",
            "stays: it stands on several lines: write it on one, and it can be updated",
        ),
        (
            "failed",
            "steps:\n- {pick: {method: /shop.A/B}, expect: {address: 10.5.0.1:8080}}\n",
            "stays: an RPC failed, and has no address",
        ),
        (
            "shared",
            "never: []\nsteps:\n- {pick: {method: /shop.Pay/Charge, count: 900}, expect: {within: 0}}\n",
            "stays: ",
        ),
    ] {
        let text = format!("{}{expect}", world()).replace("never: []\n", "");
        let (now, Run { code, err, .. }) = updated(test, "suite.yaml", &text);
        assert_eq!((now, code), (text, Some(1)), "{err}");
        assert!(
            err.contains(why) && err.ends_with("xdsctl: nothing is updated\n"),
            "{err}"
        );
    }
}

#[test]
fn only_files_and_only_tests_that_end_are_updated() {
    let run = run_args(&["test", "--update", "-"], &format!("{WORLD}steps: [{{sleep: 1}}]\n"));
    assert_eq!(run.code, Some(2));
    assert_eq!(
        run.err,
        "xdsctl: --update writes files, and standard input is none: name the file\n"
    );
    let text = format!(
        "{}tests:\n- {{name: a, steps: [{{pick: {{method: /shop.Pay/Charge}}, expect: {{cluster: x}}}}, {{drain: 10.9.9.9:80}}]}}\n",
        world()
    );
    let (now, Run { code, err, .. }) = updated("trouble", "suite.yaml", &text);
    assert_eq!((now, code), (text, Some(2)), "{err}");
}
