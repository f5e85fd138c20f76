//! Headers that C-core knows and keeps as values of their own types. Matchers and hash policies see
//! what the type writes, and of several values only the last one (metadata_batch.h, the traits that
//! are not `kRepeatable`).

use std::borrow::Cow;

use xdsctl_lb::metadata::joined;

/// Text headers of which only the last value is kept.
const TEXTS: [&str; 8] = [
    "grpc-message",
    "host",
    "lb-token",
    "traceparent",
    "user-agent",
    "x-envoy-peer-metadata",
    "x-forwarded-for",
    "x-forwarded-host",
];

/// Algorithms in the order in which a set of them is written.
const ALGORITHMS: [&str; 3] = ["identity", "deflate", "gzip"];

/// The value that matchers and hash policies see of a header, if it was sent.
pub fn value<'a>(headers: &'a [(String, String)], name: &str) -> Option<Cow<'a, str>> {
    let (_, last) = headers.iter().rev().find(|(key, _)| key == name)?;
    seen(name, last).unwrap_or_else(|| joined(headers, name))
}

/// What matchers see of a header that C-core knows, whose last value is `last`. The outer `None` is
/// for headers that are kept as they are, the inner one for a header that is never seen.
fn seen<'a>(name: &str, last: &'a str) -> Option<Option<Cow<'a, str>>> {
    Some(match name {
        "grpclb_client_stats" => None,
        "grpc-encoding" | "grpc-internal-encoding-request" => {
            let known = ALGORITHMS.contains(&last);
            Some(Cow::Borrowed(if known { last } else { "identity" }))
        }
        "grpc-accept-encoding" => Some(Cow::Owned(algorithms(last))),
        "grpc-previous-rpc-attempts" => {
            let attempts: u32 = last.trim_ascii().parse().unwrap_or(0);
            Some(Cow::Owned(attempts.to_string()))
        }
        "grpc-retry-pushback-ms" => {
            let delay: i64 = last.trim_ascii().parse().unwrap_or(i64::MIN);
            Some(Cow::Owned(delay.to_string()))
        }
        name if TEXTS.contains(&name) => Some(Cow::Borrowed(last)),
        _ => return None,
    })
}

/// The known algorithms of a list. `identity` always is one of them.
fn algorithms(list: &str) -> String {
    let named: Vec<&str> = list.split(',').map(str::trim_ascii).collect();
    let is_in = |name: &&str| *name == "identity" || named.contains(name);
    ALGORITHMS.into_iter().filter(is_in).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_is_what_the_type_writes() {
        for (name, last, wanted) in [
            ("grpclb_client_stats", "7", Some(None)),
            ("grpc-encoding", "gzip", Some(Some("gzip"))),
            ("grpc-encoding", "GZIP", Some(Some("identity"))),
            ("grpc-accept-encoding", "7", Some(Some("identity"))),
            (
                "grpc-accept-encoding",
                "gzip,deflate",
                Some(Some("identity, deflate, gzip")),
            ),
            ("grpc-previous-rpc-attempts", " 007", Some(Some("7"))),
            ("grpc-previous-rpc-attempts", "4294967296", Some(Some("0"))),
            ("grpc-retry-pushback-ms", "-1", Some(Some("-1"))),
            ("user-agent", "7", Some(Some("7"))),
            ("x-a", "7", None),
        ] {
            let seen = seen(name, last);
            let seen = seen.as_ref().map(|seen| seen.as_deref());
            assert_eq!(seen, wanted, "{name}: {last}");
        }
    }
}
