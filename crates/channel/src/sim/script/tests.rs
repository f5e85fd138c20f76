//! Steps as they are read and checked.

use super::*;

/// Reads and checks a script; the line and words of the first fault.
fn fault(lines: &[&str]) -> Option<(usize, String)> {
    let mut steps = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        match Step::read(line) {
            Ok(step) => steps.push(step),
            Err(error) => return Some((number, error.to_string())),
        }
    }
    let known = ["10.0.0.1:80".parse().unwrap()];
    check(&steps, &known)
        .err()
        .map(|(number, error)| (number, error.to_string()))
}

#[track_caller]
fn check_fault(lines: &[&str], number: usize, words: &str) {
    assert_eq!(fault(lines), Some((number, words.to_owned())), "{lines:?}");
}

#[test]
fn a_step_says_one_thing_that_there_is() {
    check_fault(&[r#"{"pik": {}}"#], 0, "a step has no `pik`, did you mean `pick`?");
    check_fault(
        &[r#"{"pick": {}, "sleep": 1}"#],
        0,
        "a step has one verb, this one has `pick`, `sleep`: write a line for each",
    );
    check_fault(
        &[r#"{"pick": {"metod": "/a/b"}}"#],
        0,
        "pick has no `metod`, did you mean `method`?",
    );
    check_fault(
        &[r#"{"pick": {"name": "a"}}"#],
        0,
        "pick has no `name`; there is `method`, `headers`, `count`, `timeout`, `wait_for_ready`, `rate`, `for`, `jar`, `session`",
    );
    check_fault(
        &[r#"{"pick": 3}"#],
        0,
        "`pick` is `3`, must be an object like {method: /package.Service/Method}",
    );
    check_fault(
        &["[]"],
        0,
        "a step is an object with one of `pick`, `begin`, `finish`, `sleep`, `at`, `stop`, `start`, `silence`, `speak`, \
         `drop`, `orca`, `backend`, `lookups`, `update`, `remove`, `drain`, `health`, `weight`, `scale`, not `[]`",
    );
}

#[test]
fn a_key_stands_once() {
    for (line, key) in [
        (r#"{"pick": {}, "pick": {"count": 2}}"#, "pick"),
        (r#"{"pick": {"count": 1, "count": 2}}"#, "count"),
        (r#"{"pick": {"count": 1, "\u0063ount": 2}}"#, "count"),
        (
            r#"{"update": [{"@type": "x"}, {"@type": "x", "a": [1, {"b": 1, "b": 1}]}]}"#,
            "b",
        ),
    ] {
        let words = format!("`{key}` occurs twice in one object, where only one can count");
        check_fault(&[line], 0, &words);
    }
    assert_eq!(
        fault(&[r#"{"update": [{"@type": "x", "a": {"b": 1}, "b": [{"b": 1}, {"b": 1}]}]}"#]),
        None
    );
}

#[test]
fn members_have_their_types() {
    for (line, words) in [
        (
            r#"{"pick": {"count": -1}}"#,
            "`count` is `-1`, must be a number up to 10,000,000",
        ),
        (
            r#"{"begin": {"count": 1000000}}"#,
            "`count` is `1000000`, must be a number up to 100,000",
        ),
        (r#"{"begin": {"name": 1}}"#, "`name` is `1`, must be a text"),
        (
            r#"{"sleep": "1"}"#,
            "`sleep` is `\"1\"`, must be a number of seconds from 0 to 1e9",
        ),
        (
            r#"{"sleep": null}"#,
            "`sleep` is `null`, must be a number of seconds from 0 to 1e9",
        ),
        (
            r#"{"stop": "a"}"#,
            "`stop` is `\"a\"`, must be an address like 10.0.0.1:80",
        ),
        (
            r#"{"update": {}}"#,
            "`update` is `{}`, must be a list of resources, each an object with an `@type`",
        ),
        (
            r#"{"orca": {"10.0.0.1:80": {"qps": 1}}}"#,
            "orca has no `qps`, did you mean `eps`?",
        ),
        (
            r#"{"orca": {"10.0.0.1:80": {"eps": "1"}}}"#,
            "`eps` is `\"1\"`, must be a number",
        ),
        (
            r#"{"remove": [["a"]]}"#,
            "`remove` is `[[\"a\"]]`, must be an address like 10.0.0.1:80, or a list of pairs of type URL and name",
        ),
        (
            r#"{"pick": {"rate": 0}}"#,
            "`rate` is `0`, must be a number of RPCs a second above 0, up to 1,000,000",
        ),
        (
            r#"{"pick": {"rate": 1000, "for": 1000001}}"#,
            "`for` is `1000001`, must be a number up to 1,000,000,000",
        ),
        (r#"{"pick": {"for": 3}}"#, "`for` is `3`, must be beside a `rate`"),
        (
            r#"{"pick": {"for": 3, "count": 1, "rate": 1}}"#,
            "`count` and `for` cannot both be given",
        ),
        (
            r#"{"begin": {"rate": 1, "settle": 1}}"#,
            "`settle` and `rate` cannot both be given",
        ),
        (
            r#"{"backend": {"10.0.0.1:80": {"reach": "yes"}}}"#,
            "`reach` is `\"yes\"`, must be `accept`, `refuse` or `silent`",
        ),
        (
            r#"{"backend": {"default": {"share": "10%"}}}"#,
            "`share` is `\"10%\"`, must be beside a `status`",
        ),
        (
            r#"{"backend": {"default": {"load": {}}}}"#,
            "`load` and `default` cannot both be given",
        ),
        (
            r#"{"health": {"10.0.0.1:80": "ILL"}}"#,
            "`health` is `\"ILL\"`, must be a HealthStatus like HEALTHY, UNHEALTHY or DRAINING",
        ),
        (
            r#"{"backend": {"default": {"unprocessed": "gone"}}}"#,
            "`unprocessed` is `\"gone\"`, must be `goaway`, `refused_stream` or `close`, or an object with that as `by` and a `count`",
        ),
        (
            r#"{"backend": {"default": {"unprocessed": {"by": "close", "count": -1}}}}"#,
            "`count` is `-1`, must be a number of calls",
        ),
        (
            r#"{"backend": {"default": {"reports": "push"}}}"#,
            "`reports` is `\"push\"`, must be `both`, `trailers`, `out_of_band` or `none`",
        ),
        (
            r#"{"backend": {"default": {"reports": "trailers", "report_period": 1}}}"#,
            "`report_period` is `1`, must be beside reports out of band",
        ),
        (r#"{"lookups": {}}"#, "`lookups` is `{}`, must be a list of answers"),
        (
            r#"{"lookups": [{"keys": {"a": "b"}}]}"#,
            "`lookups` is `{\"keys\":{\"a\":\"b\"}}`, must be answers with `targets`, or a `status`",
        ),
        (
            r#"{"lookups": [{"targets": "c", "status": "INTERNAL"}]}"#,
            "`status` and `targets` cannot both be given",
        ),
        (
            r#"{"lookups": [{"targets": "c", "message": "m"}]}"#,
            "`message` is `\"m\"`, must be beside a `status`",
        ),
        (
            r#"{"lookups": [{"status": "OK"}]}"#,
            "`status` is `\"OK\"`, must be a code other than OK, or `targets`",
        ),
        (
            r#"{"lookups": [{"targets": "c", "key": {}}]}"#,
            "lookups has no `key`, did you mean `keys`?",
        ),
        (
            r#"{"scale": {"c": 100001}}"#,
            "`scale` is `100001`, must be a number of endpoints up to 100,000",
        ),
    ] {
        check_fault(&[line], 0, words);
    }
}

#[test]
fn what_backends_and_lookup_services_do_is_read() {
    let lines = [
        r#"{"backend": {"10.0.0.1:80": {"unprocessed": {"by": "goaway", "count": 2}, "reports": "out_of_band", "report_period": 5}}}"#,
        r#"{"backend": {"default": {"unprocessed": "close", "reports": "none"}}}"#,
        r#"{"lookups": [{"service": "s", "keys": {"a": 1}, "targets": ["c", "d"], "header_data": "h", "delay": 0.5}, {"status": "INTERNAL", "message": "m"}]}"#,
        r#"{"lookups": []}"#,
    ];
    assert_eq!(fault(&lines), None);
    let Step::Lookups(lookups) = Step::read(lines[2]).unwrap() else {
        panic!("{lines:?}");
    };
    assert_eq!(lookups.targets().collect::<Vec<_>>(), ["c", "d"]);
}

#[test]
fn what_begins_is_finished_once() {
    let begin = r#"{"begin": {"name": "a"}}"#;
    assert_eq!(fault(&[begin, r#"{"finish": "a"}"#, begin, r#"{"finish": "a"}"#]), None);
    check_fault(
        &[begin, r#"{"finish": "b"}"#],
        1,
        "`finish` names `b`, which no `begin` before it has; there is `a`",
    );
    check_fault(
        &[begin, begin],
        1,
        "`begin` names `a`, whose RPCs are under way already: finish them first, or name these otherwise",
    );
    check_fault(
        &[r#"{"pick": {}}"#, begin],
        1,
        "no `finish` waits for the RPCs `a` of this `begin`, so nothing would be said of them",
    );
    check_fault(
        &[
            r#"{"begin": {"name": "a", "count": 99999}}"#,
            r#"{"begin": {"name": "b", "count": 2}}"#,
        ],
        1,
        "100001 RPCs would be in progress at once, the limit is 100000",
    );
    // RPCs that were waited for no longer count.
    let many = r#"{"begin": {"name": "a", "count": 99999}}"#;
    assert_eq!(fault(&[many, r#"{"finish": "a"}"#, many, r#"{"finish": "a"}"#]), None);
}

#[test]
fn as_many_go_on_at_a_rate_as_can_be_told_apart() {
    let lines = |count: usize| -> Vec<String> {
        let begin = |i| format!(r#"{{"begin": {{"name": "n{i}", "rate": 1, "count": 1}}}}"#);
        let finish = |i| format!(r#"{{"finish": "n{i}"}}"#);
        // The first one ends before the last begins.
        let begun = (0..count).map(begin).chain([finish(0), begin(count)]);
        begun.chain((1..=count).map(finish)).collect()
    };
    let fault = |count: usize| {
        let lines = lines(count);
        fault(&lines.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(fault(1_000), None);
    let (number, words) = fault(1_001).unwrap();
    assert_eq!(
        (number, words.as_str()),
        (
            1_000,
            "more than 1000 `begin`s at a rate would go on at a time, which is the limit"
        )
    );
}

#[test]
fn what_has_finished_is_not_under_way() {
    let all = [
        r#"{"begin": {"name": "a", "count": 99999}}"#,
        r#"{"finish": "a"}"#,
        r#"{"begin": {"name": "b", "count": 99999}}"#,
        r#"{"finish": "b"}"#,
    ];
    assert_eq!(fault(&all), None);
}

#[test]
fn all_steps_together_send_so_many_rpcs() {
    let most = r#"{"pick": {"rate": 1000, "for": 999999}}"#;
    assert_eq!(fault(&[most, r#"{"pick": {"count": 1000}}"#]), None);
    check_fault(
        &[most, r#"{"pick": {"count": 1001}}"#],
        1,
        "with those of the steps before there would be 1000000001 RPCs, the limit is 1000000000 in all",
    );
}

#[test]
fn addresses_are_the_channels_or_of_an_update() {
    check_fault(
        &[r#"{"stop": "10.0.0.1:8"}"#],
        0,
        "`stop` names 10.0.0.1:8, which is no address of the channel or of an `update`, did you mean 10.0.0.1:80?",
    );
    let update = r#"{"update": [{"@type": "x", "a": [{"address": "10.0.0.2", "port_value": 81}]}]}"#;
    assert_eq!(fault(&[r#"{"stop": "[::ffff:10.0.0.2]:81"}"#, update]), None);
}
