//! Tests of suppressions: in comments and in the configuration, used, unused and expired.

use super::{Project, cluster, maglev, routes};

const NACK: &str = "cds-lb-policy-unsupported";

/// Returns the findings on one document.
fn of(name: &str, text: &str, args: &[&str]) -> Vec<String> {
    let project = Project::new(name, &[("a.yaml", text)]);
    let all: Vec<&str> = args.iter().copied().chain(["a.yaml"]).collect();
    project.validate(&all).named_findings()
}

#[test]
fn a_comment_takes_out_findings_on_its_line() {
    let with = |comment: &str| format!("{}lb_policy: MAGLEV # {comment}\n", cluster("c"));
    let none: [&str; 0] = [];
    assert_eq!(of("line", &with(&format!("xdsctl: ignore[{NACK}] why")), &[]), none);
    assert_eq!(of("line", &with("xdsctl: ignore[nack,spec] why"), &[]), none);
    let other = of("line", &with("xdsctl: ignore[spec] why"), &[]);
    assert_eq!(other, [format!("{NACK} c"), "suppression-unused -".into()]);
}

#[test]
fn a_comment_alone_takes_out_findings_in_the_next_node() {
    let text = |comment: &str| {
        format!(
            "- {}\n{comment}\n- {}",
            maglev("a").trim_end().replace('\n', "\n  "),
            maglev("b").trim_end().replace('\n', "\n  ")
        )
    };
    let found = of("node", &text("# xdsctl: ignore[nack] why"), &[]);
    assert_eq!(found, [format!("{NACK} a")]);
}

#[test]
fn a_comment_ends_on_its_day() {
    let text = format!(
        "{}lb_policy: MAGLEV # xdsctl: ignore[nack] until 2027-01-31: why\n",
        cluster("c")
    );
    assert_eq!(of("day", &text, &["--today=2027-01-31"]), [""; 0]);
    let after = of("day", &text, &["--today=2027-02-01"]);
    assert_eq!(after, [format!("{NACK} c"), "suppression-expired -".into()]);
}

/// Makes two files with a rejected cluster each, and one `[[ignore]]`.
fn ignoring(name: &str, conditions: &str) -> Project {
    let config = format!("[[ignore]]\nrule = \"{NACK}\"\nreason = \"why\"\n{conditions}\n");
    Project::new(
        name,
        &[
            ("xdsctl.toml", &config),
            ("prod/cart.yaml", &maglev("cart")),
            ("prod/shop.yaml", &maglev("shop")),
            ("stage/cart.yaml", &maglev("cart-2")),
        ],
    )
}

#[test]
fn the_configuration_ignores_by_resource_path_and_file() {
    for (conditions, left) in [
        ("", &[][..]),
        ("resource = 'cart*'", &["shop"]),
        ("resource = 'cart'", &["cart-2", "shop"]),
        ("file = 'prod/*.yaml'", &["cart-2"]),
        ("file = 'cart.yaml'", &["shop"]),
        ("file = '**/cart.yaml'\nresource = 'cart'", &["cart-2", "shop"]),
        ("path = 'lb_*'", &[]),
    ] {
        let run = ignoring("config", conditions).validate(&["prod", "stage"]);
        let left: Vec<String> = left.iter().map(|name| format!("{NACK} {name}")).collect();
        assert_eq!(run.named_findings(), left, "{conditions}");
        let suppressed = run.json()["summary"]["suppressed"].as_u64();
        assert_eq!(suppressed, Some(3 - left.len() as u64), "{conditions}");
        assert_eq!(run.code, Some(i32::from(!left.is_empty())), "{conditions}");
    }
}

#[test]
fn files_are_named_from_the_configuration_on_wherever_the_command_runs() {
    let project = ignoring("elsewhere", "file = 'prod/cart.yaml'");
    let run = project.run_in("stage", &["validate", "--format=json", "../prod", "cart.yaml"]);
    assert_eq!(run.named_findings(), [format!("{NACK} cart-2"), format!("{NACK} shop")]);
}

#[test]
fn what_takes_out_nothing_is_reported_where_it_is_written() {
    let project = ignoring("unused", "path = 'name'\nresource = 'cart'");
    let run = project.validate(&["prod"]);
    assert!(
        run.named_findings().contains(&"suppression-unused -".to_owned()),
        "{}",
        run.out
    );
    let finding = &run.json()["findings"][0];
    assert_eq!((&finding["file"], &finding["line"]), (&"xdsctl.toml".into(), &1.into()));
    // The file that the suppression is about was not read.
    let elsewhere = project.validate(&["stage"]);
    assert_eq!(elsewhere.named_findings(), [format!("{NACK} cart-2")]);
    let complete = project.validate(&["--complete", "stage"]);
    assert!(
        complete.named_findings().contains(&"suppression-unused -".to_owned()),
        "{}",
        complete.out
    );
}

#[test]
fn an_ignore_of_the_configuration_ends_on_its_day() {
    let project = ignoring("until", "until = 2027-01-31");
    assert_eq!(
        project.validate(&["--today=2027-01-31", "prod"]).named_findings(),
        [""; 0]
    );
    let after = project.validate(&["--today=2027-02-01", "prod"]).named_findings();
    assert_eq!(
        after,
        [
            format!("{NACK} cart"),
            format!("{NACK} shop"),
            "suppression-expired -".into()
        ]
    );
    // The place is shown as it is written in the file.
    let human = project.run(&["validate", "--today=2027-02-01", "prod"]).out;
    assert!(human.contains(" 1 │ [[ignore]]\n"), "{human}");
    assert!(
        human.contains("this suppression expired on `2027-01-31` and has no effect any more: "),
        "{human}"
    );
}

#[test]
fn fields_that_are_not_read_are_suppressed_too() {
    let text = format!(
        "{}# xdsctl: ignore[field-ignored=connect_timeout] proxies read it\nconnect_timeout: 1s\ndns_refresh_rate: 5s\n",
        cluster("c")
    );
    assert_eq!(of("fields", &text, &[]), ["field-ignored c"]);
}

#[test]
fn what_follows_from_a_silent_rejection_is_silent_too() {
    let with = |comment: &str| {
        let cluster = format!("{}lb_policy: MAGLEV{comment}\n", cluster("c"));
        format!("{}---\n{cluster}", routes("r", &["c"]))
    };
    let follows = "reference-to-rejected r".to_owned();
    let nack = format!("{NACK} c");
    assert_eq!(of("both", &with(""), &[]), [nack.clone(), follows.clone()]);
    let why = " # xdsctl: ignore[cds-lb-policy-unsupported] for proxies only";
    assert_eq!(of("comment", &with(why), &[]), [""; 0]);
    assert_eq!(of("allowed", &with(""), &["-A", NACK]), [""; 0]);
    // The rejection as a whole decides, not a single fault.
    assert_eq!(of("other", &with(""), &["-A", "reference-to-rejected"]), [nack]);
    let twice = format!("{why}\ntype: STATIC");
    let left = of("twice", &with(&twice).replace("type: EDS\n", ""), &[]);
    assert_eq!(left, ["cds-discovery-unsupported c".to_owned(), follows]);
}
