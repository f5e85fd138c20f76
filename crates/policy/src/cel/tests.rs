//! The language: values, faults with their places, and limits.

use super::*;
use crate::schema::Kind;
use serde_json::json;

fn scope() -> Scope {
    Scope {
        roots: vec![
            ("parsed", Kind::Any),
            ("world", Kind::Object("world")),
            ("cluster", Kind::Object("cluster")),
        ],
        variables: Vec::new(),
    }
}

/// Returns the value of an expression as text, or what is wrong with it.
fn value(text: &str) -> String {
    let program = match Program::new(text, &scope(), &[]) {
        Ok(program) => program,
        Err(fault) => return format!("{}..{}: {}", fault.span.start, fault.span.end, fault.message),
    };
    let parsed = json!({"n": 3, "list": [1, 2, 3], "text": "a/b", "null": null, "map": {"x": 1}});
    let parsed = Value::of_json(&parsed);
    let root = |number| if number == 0 { &parsed } else { &Value::Null };
    let mut budget = Budget::new(u64::MAX);
    budget.begin();
    match Evaluation::new(&root, &[], &mut budget, &mut Scratch::default()).value(&program) {
        Ok(value) => value.to_string(),
        Err(EvaluationStop::Failed(failure)) if failure.is_null => format!("failed: null {}", failure.why),
        Err(EvaluationStop::Failed(failure)) => format!("failed: {}", failure.why),
        Err(EvaluationStop::Limit) => "limit".to_owned(),
    }
}

#[test]
fn expressions_have_the_values_of_the_language() {
    for (text, expected) in [
        ("1 + 2 * 3 - 4 / 2", "5"),
        ("7 % 4 == 3 && !false", "true"),
        ("-2.5 * 2.0", "-5"),
        ("'a' + \"b\" + '''c\nd''' + r'\\d'", "abc\nd\\d"),
        ("'\\x41\\u00e9\\101'", "AéA"),
        ("0x1F == 31u", "true"),
        ("1 < 2.5", "true"),
        ("1 == 1.0", "true"),
        ("'a' in ['a', 'b'] && !('c' in ['a'])", "true"),
        ("'x' in parsed.map", "true"),
        ("parsed.list[1]", "2"),
        ("parsed['text']", "a/b"),
        ("parsed.list.all(x, x > 0) && parsed.list.exists(x, x == 3)", "true"),
        ("parsed.list.exists_one(x, x == 2)", "true"),
        ("parsed.list.filter(x, x > 1).map(x, x * 10)", "[20, 30]"),
        ("parsed.list.map(x, x > 1, x * 10)", "[20, 30]"),
        ("parsed.list.all(x, parsed.list.exists(y, x == y))", "true"),
        ("parsed.list.sum() + parsed.list.max() - parsed.list.min()", "8"),
        ("size(parsed.list) + parsed.text.size()", "6"),
        ("parsed.text.split('/').map(x, x.upperAscii()).join('+')", "A+B"),
        (
            "has(parsed.n) && !has(parsed.nothing) && !has(parsed.null) && !has(parsed.null.x)",
            "true",
        ),
        // has() may name a field at any depth.
        ("has(parsed.null.x.y.z) || has(parsed.map.z.y.x)", "false"),
        ("parsed.nothing == null", "true"),
        ("parsed.n > 2 ? 'many' : 'few'", "many"),
        ("'abc'.matches('b') && !'abc'.matches('^b')", "true"),
        ("duration('1m30s') > duration('89.5s')", "true"),
        ("duration('1h') - duration('1ms')", "3599.999s"),
        ("string(duration('250ms')) + string(7) + string(true)", "0.25s7true"),
        ("duration('90s').getSeconds()", "90"),
        (
            "percent('12.5%') == 0.125 && percent('1/4') == 0.25 && percent(30) == 0.3",
            "true",
        ),
        (
            "'10.1.2.3:80'.inRange('10.0.0.0/8') && cidr('10.0.0.0/8').containsIP('10.9.9.9')",
            "true",
        ),
        (
            "'10.1.0.0/16'.inRange('10.0.0.0/8') && !'10.0.0.0/7'.inRange('10.0.0.0/8')",
            "true",
        ),
        ("'[fd00::1]:443'.isPrivate() && !'8.8.8.8'.isPrivate()", "true"),
        ("'10.0.0.1:8080'.port()", "8080"),
        ("[1, 1, 2].distinct()", "[1, 2]"),
        // A part that decides counts even if another part cannot be computed.
        ("parsed.null.x == 1 || true", "true"),
        ("parsed.null.x == 1 && false", "false"),
        ("parsed.list.exists(x, 1 / (x - 1) == 1)", "true"),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn the_fields_of_the_first_root_are_known_before() {
    let scope = Scope {
        roots: vec![("cluster", Kind::Object("cluster")), ("world", Kind::Object("world"))],
        variables: Vec::new(),
    };
    for (text, expected) in [
        (
            "cluster.name == 'a' && has(cluster.outlier_detection)",
            Some("name outlier_detection"),
        ),
        ("cluster['name'] == world.name", Some("name")),
        ("world.name == ''", Some("")),
        ("cluster.name == '' || cluster == {}", None),
    ] {
        let fields = Program::new(text, &scope, &[]).unwrap().first;
        let fields = fields.map(|fields| fields.into_iter().collect::<Vec<_>>().join(" "));
        assert_eq!(fields.as_deref(), expected, "{text}");
    }
}

#[test]
fn what_cannot_be_computed_says_why() {
    for (text, expected) in [
        ("parsed.null.x", "failed: null has no `x`"),
        ("parsed.n / 0", "failed: a number is divided by 0"),
        ("9223372036854775807 + parsed.n", "failed: the number is beyond 64 bits"),
        ("parsed.list[3]", "failed: there is no element 3 of 3"),
        ("parsed.n < 'a'", "failed: an int and a text have no order"),
        ("duration(parsed.text)", "failed: duration(): `a/b` is no duration"),
        (
            "parsed.text.inRange(parsed.text)",
            "failed: inRange(): `a/b` is no range of addresses",
        ),
        (
            "parsed.text.split('/')[0].inRange('::/0')",
            "failed: inRange(): `a` is no address",
        ),
        ("parsed.n.inRange('::/0')", "failed: inRange(): it does not take an int"),
        ("[].max()", "failed: max(): the list is empty"),
        ("has(parsed.n.x.y)", "failed: an int has no `x`"),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn what_is_no_expression_is_an_error_at_its_place() {
    for (text, expected) in [
        ("", "0..0: the expression ends where a value should be"),
        ("1 +", "3..3: the expression ends where a value should be"),
        ("1 = 2", "2..3: `=` has no meaning here"),
        ("parsed.text.inRange('x')", "20..23: `x` is no range of addresses"),
        ("(1", "2..2: the expression ends where `)` should be"),
        ("'a", "0..2: the text has no end: '"),
        ("99999999999999999999", "0..20: no whole number of 64 bits"),
        ("parzed.x", "0..6: there is no `parzed` here: did you mean `parsed`?"),
        (
            "cluster.max_requests",
            "8..20: cluster has no field `max_requests`: it has",
        ),
        (
            "cluster.outlier_detection.intervall",
            "26..35: outlier_detection has no field `intervall`, did you mean `interval`?",
        ),
        ("cluster.name.x", "13..14: a text has no fields, so no `x`"),
        (
            "cluster.connection_idle_timeout < 30",
            "0..36: a duration and an int have no order: a duration is written duration('30s')",
        ),
        ("cluster.name == 1", "0..17: a text is never equal to an int"),
        ("cluster.name && true", "0..12: `&&` takes a bool, not a text"),
        (
            "cluster.name.startWith('a')",
            "13..22: there is no function `startWith`, did you mean `startsWith`?",
        ),
        (
            "cluster.name.startsWith(1)",
            "24..25: startsWith() does not take an int",
        ),
        ("cluster.name.matches('(')", "21..24: "),
        (
            "cluster.name.matches(cluster.name)",
            "21..33: the pattern of matches() is a text that stands here",
        ),
        (
            "cluster.name.all(x, true)",
            "0..12: all() goes through a list, not a text",
        ),
        (
            "cluster.lb_policies.all(x, x)",
            "27..28: all() takes a bool, not a text",
        ),
        (
            "duration('soon')",
            "9..15: no duration: one is written like '30s', '1.5h' or '250ms'",
        ),
        (
            "1 + 1.0",
            "0..7: `+` does not take an int and a double: double() makes a double of an int",
        ),
        (
            "has(cluster)",
            "4..11: has() takes a field, as in has(parsed.retry_policy)",
        ),
        ("b'x'", "0..1: bytes are not supported"),
        (
            "cluster.name.mathces('a')",
            "13..20: there is no function `mathces`, did you mean `matches`?",
        ),
        (
            "cluster.lb_policies.contains('round_robin')",
            "0..19: contains() does not take a list: `in` says whether a list has an element",
        ),
        (
            "cluster.connection_idle_timeout < cluster.name",
            "0..46: a duration and a text have no order: duration() makes a duration of a text",
        ),
        // Fields that always exist, and texts that a field never is.
        (
            "has(cluster.name)",
            "4..16: `name` is there whenever what it stands in is, so has() says nothing of it: compare it with a text",
        ),
        (
            "has(cluster.lb_policies)",
            "4..23: `lb_policies` is there whenever what it stands in is, so has() says nothing of it: ask for its elements",
        ),
        (
            "has(cluster.outlier_detection.interval)",
            "4..38: `interval` is there whenever what it stands in is, so has() says nothing of it: compare it, as in `> duration('0s')`",
        ),
        ("cluster.discovery.type != 'eds'", "26..31: it is never `eds`"),
        (
            "cluster.override_host_status.exists(status, status == 'DRAINNING')",
            "54..65: it is never `DRAINNING`, did you mean `DRAINING`?",
        ),
        (
            "cluster.discovery.type in ['EDS', 'STATIC']",
            "34..42: it is never `STATIC`: it is EDS, LOGICAL_DNS, AGGREGATE",
        ),
        (
            "'HEALTY' in cluster.override_host_status",
            "0..8: it is never `HEALTY`, did you mean `HEALTHY`?",
        ),
        (
            "world.filters.exists(filter, has(filter.config.cookei))",
            "47..53: filter_config has no field `cookei`, did you mean `cookie`?",
        ),
    ] {
        let found = value(text);
        assert!(found.starts_with(expected), "{text}: {found}");
    }
}

/// Returns what is said about an expression on `world`, in a policy that matches this element.
fn of_world(element: &str, text: &str) -> String {
    let policy = crate::Policy::new(crate::PolicyText {
        id: "team-x".to_owned(),
        matches: element.to_owned(),
        expression: text.to_owned(),
        ..Default::default()
    });
    policy.map_or_else(|(_, fault)| fault.message, |_| String::new())
}

#[test]
fn a_field_of_the_world_is_known_where_it_may_be_there() {
    for (element, text, expected) in [
        ("route", "world.deadline > duration('1s')", ""),
        ("cluster", "world.deadline > duration('1s')", ""),
        (
            "listener",
            "has(world.deadline)",
            "`world.deadline` is never there for a listener: match one of route, retry_policy, cluster, endpoints, \
             locality, endpoint",
        ),
        ("locality", "world.share > 0.5", ""),
        (
            "cluster",
            "!has(world.share) || world.share > 0.5",
            "`world.share` is never there for a cluster: match one of locality",
        ),
        ("cluster", "world.shar > 0.5", "world has no field `shar`"),
        ("listener", "world.filter_chains.size() > 0", ""),
        (
            "route",
            "world.filter_chains.size() > 0",
            "`world.filter_chains` is never there for a route: match one of listener",
        ),
    ] {
        let found = of_world(element, text);
        assert!(found.starts_with(expected), "{element} {text}: {found}");
        assert_eq!(found.is_empty(), expected.is_empty(), "{element} {text}: {found}");
    }
}

#[test]
fn the_sum_of_nothing_is_of_its_kind() {
    for text in [
        "[duration('1s')].filter(x, false).sum() <= duration('2s')",
        "[1.5].filter(x, false).sum() < 0.5",
        "[1].filter(x, false).sum() == 0",
    ] {
        assert_eq!(value(text), "true", "{text}");
    }
}

#[test]
fn an_expression_in_one_line_has_no_comments() {
    let text = "parsed.n > 1 // more than one\n  && 'a // b' != ''\n";
    assert_eq!(one_line(text), "parsed.n > 1 && 'a // b' != ''");
    assert_eq!(one_line("'no  end"), "'no end");
}

#[test]
fn nothing_is_deeper_or_longer_than_its_limit() {
    let limit = |text: &str| value(text).contains("the limit");
    assert!(limit(&format!("{}1{}", "(".repeat(100_000 / 100), ")".repeat(1_000))));
    assert!(limit(&format!("{}true", "!".repeat(1_000))));
    assert!(limit(&format!("parsed{}", ".a".repeat(1_000))));
    assert!(limit(&format!("1{}", "+1".repeat(1_000))));
    assert!(limit(&format!("1{}", "[1".repeat(1_000))));
    assert!(limit(&format!("true{}", "?true:true".repeat(500))));
    assert!(limit(&" ".repeat(MAX_BYTES + 1)));
    // A wide expression is not a deep one.
    assert_eq!(value(&format!("true{}", " && true".repeat(900))), "true");
}

#[test]
fn steps_are_counted_and_not_time() {
    // 3 to the power of 14 elements.
    let nested = (0..14).fold("true".to_owned(), |inner, number| {
        format!("parsed.list.all(x{number}, {inner})")
    });
    assert_eq!(value(&nested), "limit");
    // A list that grows by its square.
    let pairs = "parsed.list.map(a, parsed.list.map(b, parsed.list.map(c, parsed.list.map(d, [a, b, c, d])))).size()";
    assert_eq!(value(pairs), "3");
    // A text that doubles.
    let doubled = (0..30).fold("parsed.text".to_owned(), |inner, _| {
        format!("[{inner}].map(x, x + x)[0]")
    });
    assert_eq!(value(&doubled), "limit");
}

#[test]
fn durations_are_read_as_the_language_writes_them() {
    for (text, expected) in [
        ("30s", Some(30_000_000_000)),
        ("1.5h", Some(5_400_000_000_000)),
        ("1h2m3s", Some(3_723_000_000_000)),
        ("-250ms", Some(-250_000_000)),
        ("0", Some(0)),
        ("5us", Some(5_000)),
        ("30", None),
        ("s", None),
        ("1x", None),
        ("", None),
        ("99999999999999999999s", None),
    ] {
        assert_eq!(nanoseconds(text), expected, "{text}");
    }
}
