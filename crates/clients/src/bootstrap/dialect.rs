//! How the families' bootstrap readers differ, apart from the order of their checks: in the JSON
//! that their parsers accept, and in the credentials that they have.
//!
//! Measured with channels of all families, and read in the sources of their parsers: encoding/json
//! of Go, Gson in grpc-java's `JsonParser`, `JSON.parse`, serde_json.

use super::client_json::{DEEPEST, JsonDialect};
use xdsctl_model::profile::{Family, Feature, Profile};

/// How one client reads a bootstrap.
#[derive(Debug, Clone, Copy)]
pub struct BootstrapDialect {
    /// The types of channel credentials that the client has.
    pub channel_types: &'static [&'static str],
    /// How the client's JSON parser differs from C-core's.
    pub json: JsonDialect,
    /// The client falls back to its second server; otherwise it never asks that server.
    pub falls_back: bool,
}

impl BootstrapDialect {
    /// Returns the dialect of a client.
    pub fn of(profile: &Profile) -> BootstrapDialect {
        let exact = JsonDialect {
            takes_last_key: true,
            mends_strings: true,
            is_exact: true,
            max_depth: DEEPEST,
            ..JsonDialect::default()
        };
        let (channel_types, json, falls_back): (&[&str], _, _) = match profile.client().family {
            Family::Cpp => (
                &["google_default", "insecure", "tls", "fake"],
                JsonDialect::default(),
                true,
            ),
            Family::Go => match profile.has(Feature::BootstrapTlsCreds) {
                true => (
                    &["google_default", "insecure", "tls"],
                    exact,
                    profile.has(Feature::ServerFallback),
                ),
                false => (&["google_default", "insecure"], exact, false),
            },
            Family::Java => {
                let gson = JsonDialect {
                    takes_last_key: profile.has(Feature::BootstrapLastKey),
                    ends_with_value: true,
                    is_gson: true,
                    max_depth: super::client_json::MAX_DEPTH,
                    ..exact
                };
                (
                    &["google_default", "insecure", "tls"],
                    gson,
                    profile.has(Feature::ServerFallback),
                )
            }
            Family::Node => (&["google_default", "insecure"], exact, false),
            Family::Rust => {
                let serde = JsonDialect {
                    needs_utf8: true,
                    ..exact
                };
                (&["insecure", "tls"], serde, false)
            }
        };
        BootstrapDialect {
            channel_types,
            json,
            falls_back,
        }
    }
}
