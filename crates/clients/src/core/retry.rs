//! RetryPolicy: from Envoy's retry to gRPC's (A44).
//!
//! | Envoy | gRPC | if absent | caps and limits |
//! |---|---|---|---|
//! | `retry_on`: `cancelled`, `deadline-exceeded`, `internal`, `resource-exhausted`, `unavailable` | `retryableStatusCodes` | no retries | split at `,`, compared byte by byte: no trimming, lower case only; other tokens are lost |
//! | `num_retries` | `maxAttempts` = `num_retries` + 1 | 1, so 2 attempts | 0 is a NACK; more than 4 runs as 5 attempts; from 2,147,483,647 on the channel fails |
//! | `retry_back_off.base_interval` | `initialBackoff` | 25 ms (a NACK where `retry_back_off` is set) | whole milliseconds, rounded down; below 1 ms the channel fails |
//! | `retry_back_off.max_interval` | `maxBackoff` | 10 × base, or 250 ms without `retry_back_off` | like the base; not compared with it |
//! | – | `backoffMultiplier` | 2, always | |
//!
//! A route's policy replaces that of its virtual host as a whole, even if it retries on nothing.
//! A44 demands intervals above 0 (below 1 ms counts as 1 ms) and a maximum not below the base; this
//! client checks neither, which is what the `spec` rules are about. What the values do to a channel
//! counts only for a policy that a kept route uses and that names a code: see [`report_failures`].
//!
//! Follows C-core `RetryPolicyParse` (xds_route_config_parser.cc), `CreateMethodConfig`
//! (xds_resolver.cc) and `RetryMethodConfig` (retry_service_config.cc).

use std::collections::BTreeSet;

use prost_types::Duration;

use crate::shared::rules::{
    BACK_OFF_BELOW_1MS, BACK_OFF_TOO_LONG, BASE_INTERVAL_MISSING, MAX_INTERVAL_BELOW_BASE, NUM_RETRIES_TOO_BIG,
    NUM_RETRIES_ZERO,
};
use xdsctl_document::proto::duration;
use xdsctl_document::proto::meant::has_same_letters;
use xdsctl_document::proto::pb::envoy::config::route::v3::RetryPolicy as Pb;
use xdsctl_document::proto::pb::envoy::config::route::v3::retry_policy::RetryBackOff;
use xdsctl_model::diag::{Path, Seg, Validation, rules};
use xdsctl_model::profile::Family;
use xdsctl_model::resource::retry::{
    DEFAULT_BASE_INTERVAL, DEFAULT_NUM_RETRIES, MAX_ATTEMPTS, Unusable, default_max_interval,
};
use xdsctl_model::resource::route::{RetryBounds, RetryOn, RetryPolicy};
use xdsctl_model::resource::{MAX_DURATION_SECONDS, Millis};
use xdsctl_model::text::nearest;

rules! {
    /// A retry back-off of 0 in use breaks the whole channel.
    BACK_OFF_ZERO_FAILS = "rds-retry-back-off-zero-fails", RouteConfiguration, Fails, "C-core CreateMethodConfig, RetryMethodConfig";
    /// A retry back-off of one millisecond in use loses retries.
    BACK_OFF_1MS_LOSES_RETRIES = "rds-retry-back-off-1ms-fails", RouteConfiguration, Fails, "observed on C-core 1.85.1";
    /// A retry_on names conditions that gRPC does not have.
    RETRY_ON_UNSUPPORTED = "rds-retry-on-unsupported", RouteConfiguration, Ignored, "gRFC A44; C-core RetryPolicyParse",
        also [Go Java] "each reads the words that it knows";
    /// A retry_on has a word that nearly is a condition of gRPC.
    RETRY_ON_MISSPELT = "rds-retry-on-misspelt", RouteConfiguration, Advice, "gRFC A44; C-core RetryPolicyParse",
        every "no client knows the word; Java never reads the policy of a virtual host";
    /// A retry policy names no condition that gRPC has, so nothing is retried.
    RETRIES_NOTHING = "rds-retry-policy-without-codes", RouteConfiguration, Advice, "gRFC A44; C-core CreateMethodConfig",
        every "the codes are the same in every client; Go and Java take them with spaces and in upper case too, Java also with `_`, and have the finding only if no code is left then; Java never reads the policy of a virtual host";
    /// A num_retries above 4 is cut down.
    NUM_RETRIES_CLAMPED = "rds-num-retries-clamped", RouteConfiguration, Advice as Note, "gRFC A44; gRFC A6; C-core RetryMethodConfig";
}

/// Converts the policy at `at`, of a virtual host or of a route.
pub fn from_proto(message: &Pb, at: &Path<'_>, cx: &mut Validation<'_>) -> RetryPolicy {
    let mut retry_on = BTreeSet::new();
    let mut lost = Vec::new();
    for token in message.retry_on.split(',').filter(|token| !token.is_empty()) {
        match RetryOn::from_token(token) {
            Some(code) => _ = retry_on.insert(code),
            None => lost.push(token),
        }
    }
    let mut policy = RetryPolicy {
        retry_on,
        num_retries: message.num_retries.unwrap_or(DEFAULT_NUM_RETRIES),
        base_interval: DEFAULT_BASE_INTERVAL,
        max_interval: default_max_interval(DEFAULT_BASE_INTERVAL),
        lost_tokens: lost.iter().map(|token| (*token).to_owned()).collect(),
        bounds: RetryBounds::Channel,
    };
    let is_only_default = lost == [TRAFFIC_DIRECTOR_DEFAULT] && policy.num_retries == DEFAULT_NUM_RETRIES;
    let nothing_left = policy.retry_on.is_empty() && !is_only_default;
    note_lost_conditions(&lost, nothing_left, at, cx);
    if policy.num_retries == 0 {
        cx.report(
            &NUM_RETRIES_ZERO,
            &at.field("num_retries"),
            format_args!("num_retries is 0, must be at least 1"),
        )
        .help("leave retry_policy out to switch retries off");
    } else if policy.num_retries >= MAX_ATTEMPTS && policy.num_retries < i32::MAX.unsigned_abs() {
        cx.report(
            &NUM_RETRIES_CLAMPED,
            &at.field("num_retries"),
            format_args!(
                "num_retries is {}, but an RPC has at most {MAX_ATTEMPTS} attempts",
                policy.num_retries
            ),
        );
    }
    if let Some(back_off) = &message.retry_back_off {
        (policy.base_interval, policy.max_interval) = intervals(back_off, &at.field("retry_back_off"), cx);
    }
    policy
}

/// Converts retry_back_off to base and maximum.
fn intervals(back_off: &RetryBackOff, at: &Path<'_>, cx: &mut Validation<'_>) -> (Millis, Millis) {
    let base_at = at.field("base_interval");
    let base = back_off.base_interval.as_ref();
    let why = "missing, must be set where retry_back_off is";
    let base = cx.required(base, &BASE_INTERVAL_MISSING, &base_at, why);
    let base = base.map_or(Millis(0), |base| interval(base, &base_at, cx));
    let Some(max_interval) = &back_off.max_interval else {
        return (base, default_max_interval(base));
    };
    let at = at.field("max_interval");
    let max = interval(max_interval, &at, cx);
    if let Some(base_interval) = &back_off.base_interval {
        let key = |value: &Duration| (value.seconds, value.nanos);
        if max.0 >= 1 && key(max_interval) < key(base_interval) {
            cx.report(
                &MAX_INTERVAL_BELOW_BASE,
                &at,
                format_args!(
                    "max_interval {} is below base_interval {}",
                    text(max_interval),
                    text(base_interval)
                ),
            );
        }
    }
    (base, max)
}

/// Converts one interval, and notes one below a millisecond.
fn interval(value: &Duration, at: &Path<'_>, cx: &mut Validation<'_>) -> Millis {
    let mark = cx.mark();
    let millis = duration::parse(value, at, cx);
    if millis.0 < 1 && !cx.nacked_since(mark) {
        let reading = if value.nanos == 0 {
            "must be greater than 0"
        } else {
            "counts as 1 ms in the specification and as 0 here"
        };
        cx.report(
            &BACK_OFF_BELOW_1MS,
            at,
            format_args!("back-off of {}: {reading}", text(value)),
        );
    }
    millis
}

/// Returns a Duration in seconds, with as many decimals as it needs.
fn text(value: &Duration) -> String {
    if value.nanos == 0 {
        return format!("{}s", value.seconds);
    }
    let decimals = format!("{:09}", value.nanos.unsigned_abs());
    format!("{}.{}s", value.seconds, decimals.trim_end_matches('0'))
}

/// What Traffic Director sends, with one retry, if nobody has asked for retries.
const TRAFFIC_DIRECTOR_DEFAULT: &str = "gateway-error";

/// How many names of lost conditions a message spells out.
const NAMES_SHOWN: usize = 4;

/// Notes the conditions of retry_on that are lost, or a policy that is left with none.
fn note_lost_conditions(lost: &[&str], nothing_left: bool, policy: &Path<'_>, cx: &mut Validation<'_>) {
    let at = &policy.field("retry_on");
    if lost.is_empty() && !nothing_left {
        return;
    }
    let shown = lost.get(..NAMES_SHOWN).unwrap_or(lost);
    let names = match lost.len() - shown.len() {
        0 => format!("`{}`", shown.join("`, `")),
        more => format!("`{}` and {more} more", shown.join("`, `")),
    };
    let meant = |token: &&str| {
        RetryOn::ALL
            .into_iter()
            .find(|on| has_same_letters(on.token(), token.trim()))
    };
    let near = |token: &&str| {
        nearest(
            &token.trim().to_ascii_lowercase(),
            RetryOn::ALL.into_iter().map(RetryOn::token),
        )
    };
    let untidy = lost.iter().find_map(meant);
    let misspelt = lost.iter().find_map(near).filter(|_| untidy.is_none());
    let help = match (untidy, misspelt) {
        (Some(on), _) => Some(format!("write `{}`, without spaces and in lower case", on.token())),
        (None, near) => near.map(|near| format!("did you mean `{near}`?")),
    };
    if !nothing_left {
        let rule = match misspelt {
            Some(_) => &RETRY_ON_MISSPELT,
            None => &RETRY_ON_UNSUPPORTED,
        };
        let message = format_args!("{names}: no condition that gRPC retries on");
        let diagnostic = cx.report(rule, at, message);
        let diagnostic = diagnostic.with(|diagnostic| diagnostic.help = help);
        diagnostic.shared_with(who_reads(policy));
        return;
    }
    let has = match lost {
        [] => String::new(),
        _ => format!("{names}: "),
    };
    let diagnostic = cx.report(
        &RETRIES_NOTHING,
        at,
        format_args!(
            "{has}no condition that gRPC retries on, must have one of cancelled, deadline-exceeded, internal, \
             resource-exhausted, unavailable"
        ),
    );
    let diagnostic = diagnostic.with(|diagnostic| diagnostic.help = help);
    diagnostic.shared_with(who_retries_nothing(lost, policy));
}

/// Returns the families that, like C-core, get no code from the words in `lost`; `policy` is the
/// path of the retry policy.
fn who_retries_nothing(lost: &[&str], policy: &Path<'_>) -> &'static [Family] {
    let is_code = |word: &str| RetryOn::from_token(word).is_some();
    // grpc-go generateRetryConfig trims and lowers; grpc-java parseRetryPolicy trims and looks for
    // the name of a code.
    let is_kept = |word: &&str| {
        let word = word.trim();
        is_code(&word.to_lowercase()) || is_code(&word.to_uppercase().replace('_', "-").to_lowercase())
    };
    if lost.iter().any(is_kept) {
        &[Family::Cpp, Family::Node]
    } else {
        who_reads(policy)
    }
}

/// Returns the families that read the retry policy at `policy`.
fn who_reads(policy: &Path<'_>) -> &'static [Family] {
    if policy.to_owned().segs().any(|seg| matches!(seg, Seg::Field("route"))) {
        &Family::ALL
    } else {
        &[Family::Cpp, Family::Go, Family::Node]
    }
}

/// Reports what a policy does to the channel if a kept route has or inherits it.
///
/// `at` is the path of the policy itself. A policy without codes is not reported, because the
/// channel never sees it.
pub fn report_failures(policy: &RetryPolicy, at: &Path<'_>, cx: &mut Validation<'_>) {
    if policy.retry_on.is_empty() {
        return;
    }
    let unusable = policy.unusable();
    let is = |faults: [Unusable; 2]| unusable.iter().any(|fault| faults.contains(fault));
    if is([Unusable::AttemptsTooMany, Unusable::AttemptsTooFew]) {
        cx.report(
            &NUM_RETRIES_TOO_BIG,
            &at.field("num_retries"),
            format_args!(
                "num_retries is {}, above {}: every RPC of the channel fails",
                policy.num_retries,
                i32::MAX - 1
            ),
        );
    }
    let at = at.field("retry_back_off");
    let (base, max) = (policy.base_interval, policy.max_interval);
    let name = if base <= max { "base_interval" } else { "max_interval" };
    if is([Unusable::BaseZero, Unusable::MaxZero]) {
        cx.report(
            &BACK_OFF_ZERO_FAILS,
            &at.field(name),
            format_args!("{name} is less than 1 ms: every RPC of the channel fails, on other routes too"),
        );
    } else if base.0.min(max.0) == 1 {
        cx.report(
            &BACK_OFF_1MS_LOSES_RETRIES,
            &at.field(name),
            format_args!("{name} is 1 ms: about half of the retries never happen and the RPC hangs"),
        )
        .help("use 2 ms or more");
    }
    if is([Unusable::BaseTooLong, Unusable::MaxTooLong]) {
        cx.report(
            &BACK_OFF_TOO_LONG,
            &at.field("base_interval"),
            format_args!(
                "ten times the base_interval is {max}, above {MAX_DURATION_SECONDS}s: every RPC of the channel fails"
            ),
        )
        .help("set max_interval");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::profile::{Profile, ServerFacts};

    fn ms(millis: i64) -> Option<Duration> {
        Some(Duration {
            seconds: millis.div_euclid(1000),
            nanos: i32::try_from(millis.rem_euclid(1000) * 1_000_000).unwrap(),
        })
    }

    fn back_off(base: Option<Duration>, max: Option<Duration>) -> Pb {
        Pb {
            retry_on: "unavailable".to_owned(),
            retry_back_off: Some(RetryBackOff {
                base_interval: base,
                max_interval: max,
            }),
            ..Pb::default()
        }
    }

    /// Converts a policy that is in use; returns it with the rules and paths of all findings.
    fn convert(message: &Pb) -> (RetryPolicy, Vec<(&'static str, String)>) {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let at = Path::ROOT.field("retry_policy");
        let policy = from_proto(message, &at, &mut cx);
        if !cx.nacked() {
            report_failures(&policy, &at, &mut cx);
        }
        let findings = cx
            .finish()
            .into_iter()
            .map(|d| (d.rule.id, d.path.to_string().replace("retry_policy.", "")))
            .collect();
        (policy, findings)
    }

    #[track_caller]
    fn check(message: &Pb, expected: &[(&str, &str)]) {
        let (_, found) = convert(message);
        let expected: Vec<_> = expected.iter().map(|(id, path)| (*id, (*path).to_owned())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_five_grpc_conditions_are_kept() {
        let (policy, findings) = convert(&Pb {
            retry_on: "unavailable,cancelled,deadline-exceeded,internal,resource-exhausted".to_owned(),
            ..Pb::default()
        });
        let all = [
            RetryOn::Cancelled,
            RetryOn::DeadlineExceeded,
            RetryOn::Internal,
            RetryOn::ResourceExhausted,
            RetryOn::Unavailable,
        ];
        assert_eq!(policy.retry_on, all.into());
        assert_eq!(findings, []);
    }

    #[test]
    fn other_conditions_are_lost_and_so_are_spaces_and_upper_case() {
        let policy = |retry_on: &str| Pb {
            retry_on: retry_on.to_owned(),
            ..Pb::default()
        };
        check(
            &policy("5xx,unavailable,gateway-error"),
            &[("rds-retry-on-unsupported", "retry_on")],
        );
        check(
            &policy("unavailable, internal"),
            &[("rds-retry-on-unsupported", "retry_on")],
        );
        check(
            &policy("Unavailable"),
            &[("rds-retry-policy-without-codes", "retry_on")],
        );
        check(&policy(""), &[("rds-retry-policy-without-codes", "retry_on")]);
    }

    #[test]
    fn defaults_are_one_retry_25ms_and_250ms() {
        let (policy, _) = convert(&Pb::default());
        assert_eq!(policy.num_retries, 1);
        assert_eq!((policy.base_interval, policy.max_interval), (Millis(25), Millis(250)));
    }

    #[test]
    fn the_maximum_defaults_to_ten_times_the_base() {
        let (policy, findings) = convert(&back_off(ms(70), None));
        assert_eq!((policy.base_interval, policy.max_interval), (Millis(70), Millis(700)));
        assert_eq!(findings, []);
    }

    #[test]
    fn num_retries_from_the_least_to_the_greatest() {
        let policy = |num_retries| Pb {
            retry_on: "internal".to_owned(),
            num_retries: Some(num_retries),
            ..Pb::default()
        };
        check(&policy(0), &[("rds-num-retries-zero", "num_retries")]);
        check(&policy(1), &[]);
        check(&policy(4), &[]);
        check(&policy(5), &[("rds-num-retries-clamped", "num_retries")]);
        check(&policy(2_147_483_646), &[("rds-num-retries-clamped", "num_retries")]);
        check(&policy(2_147_483_647), &[("rds-num-retries-too-big", "num_retries")]);
        check(&policy(u32::MAX), &[("rds-num-retries-too-big", "num_retries")]);
    }

    #[test]
    fn a_base_is_needed_in_a_back_off() {
        check(
            &back_off(None, ms(5)),
            &[("rds-base-interval-missing", "retry_back_off.base_interval")],
        );
    }

    #[test]
    fn a_back_off_below_one_millisecond_breaks_the_specification_and_the_channel() {
        let base = "retry_back_off.base_interval";
        let max = "retry_back_off.max_interval";
        check(
            &back_off(ms(0), None),
            &[
                ("rds-retry-back-off-below-1ms", base),
                ("rds-retry-back-off-zero-fails", base),
            ],
        );
        check(
            &back_off(ms(5), ms(0)),
            &[
                ("rds-retry-back-off-below-1ms", max),
                ("rds-retry-back-off-zero-fails", max),
            ],
        );
        let below = Some(Duration {
            seconds: 0,
            nanos: 999_999,
        });
        let (policy, findings) = convert(&back_off(below, ms(5)));
        assert_eq!(policy.base_interval, Millis(0));
        assert_eq!(findings.len(), 2);
    }

    #[test]
    fn a_back_off_of_one_millisecond_loses_retries() {
        check(
            &back_off(ms(1), None),
            &[("rds-retry-back-off-1ms-fails", "retry_back_off.base_interval")],
        );
        check(&back_off(ms(2), None), &[]);
    }

    #[test]
    fn a_maximum_below_the_base_breaks_the_specification_only() {
        check(
            &back_off(ms(100), ms(99)),
            &[("rds-max-interval-below-base", "retry_back_off.max_interval")],
        );
        check(&back_off(ms(100), ms(100)), &[]);
    }

    #[test]
    fn the_derived_maximum_can_be_too_long_for_a_duration() {
        let seconds = |seconds, nanos| Some(Duration { seconds, nanos });
        check(&back_off(seconds(31_557_600_000, 99_000_000), None), &[]);
        check(
            &back_off(seconds(31_557_600_000, 100_000_000), None),
            &[("rds-retry-back-off-too-long", "retry_back_off.base_interval")],
        );
        check(
            &back_off(seconds(31_557_600_001, 0), seconds(315_576_000_000, 999_999_999)),
            &[],
        );
    }

    #[test]
    fn what_a_channel_never_sees_does_not_fail_it() {
        let policy = Pb {
            retry_on: "5xx".to_owned(),
            ..back_off(ms(0), None)
        };
        check(
            &policy,
            &[
                ("rds-retry-policy-without-codes", "retry_on"),
                ("rds-retry-back-off-below-1ms", "retry_back_off.base_interval"),
            ],
        );
    }
}
