//! The chain from upstream_config to idle_timeout (A75).

use super::*;

const OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

fn with(typed_config: Option<Any>) -> Pb {
    Pb {
        upstream_config: Some(TypedExtensionConfig {
            typed_config,
            ..TypedExtensionConfig::default()
        }),
        ..eds()
    }
}

fn options(common_http_protocol_options: Option<CommonOptions>) -> Pb {
    let options = HttpProtocolOptions {
        common_http_protocol_options,
    };
    with(Some(any(OPTIONS, options.encode_to_vec())))
}

fn idle(seconds: i64, nanos: i32) -> Pb {
    options(Some(CommonOptions {
        idle_timeout: Some(Duration { seconds, nanos }),
        ..CommonOptions::default()
    }))
}

#[test]
fn one_hour_where_a_step_of_the_chain_is_absent() {
    for message in [eds(), options(None), options(Some(CommonOptions::default()))] {
        assert_eq!(kept(&message).connection_idle_timeout, Millis(3_600_000));
    }
}

#[test]
fn the_value_is_kept_in_whole_milliseconds() {
    for (seconds, nanos, millis) in [
        (0, 0, 0),
        (0, 999_999, 0),
        (1, 1_999_999, 1001),
        (315_576_000_000, 999_999_999, 315_576_000_000_999),
    ] {
        assert_eq!(kept(&idle(seconds, nanos)).connection_idle_timeout, Millis(millis));
    }
}

#[test]
fn each_part_of_the_duration_has_its_range() {
    let at = format!("upstream_config.typed_config.value[{OPTIONS}].common_http_protocol_options.idle_timeout");
    let seconds = ("duration-out-of-range", format!("{at}.seconds"));
    let nanos = ("duration-out-of-range", format!("{at}.nanos"));
    for (s, n, expected) in [
        (-1, 0, vec![seconds.clone()]),
        (315_576_000_001, 0, vec![seconds.clone()]),
        (0, -1, vec![nanos.clone()]),
        (0, 1_000_000_000, vec![nanos.clone()]),
        (-1, -1, vec![seconds, nanos]),
    ] {
        let (value, findings) = run(&idle(s, n), &[]);
        assert!(value.is_none());
        assert_eq!(pairs(&findings), expected, "{s} {n}");
    }
}

#[test]
fn anything_but_http_protocol_options_is_rejected() {
    let at = "upstream_config.typed_config";
    check(&with(None), &[("any-missing", at)]);
    check(
        &with(Some(any("a.B", vec![]))),
        &[("cds-upstream-config-unsupported", &format!("{at}.value[a.B].type_url"))],
    );
    check(
        &with(Some(any(OPTIONS, vec![0x0a, 5]))),
        &[("any-undecodable", &format!("{at}.value[{OPTIONS}]"))],
    );
}
