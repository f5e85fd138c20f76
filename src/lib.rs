//! xdsctl: a gRPC xDS client with the network cut off.
//!
//! It takes the bytes that a control plane sent, or would send, does with them what gRPC C-core 1.85.1 does, and shows
//! every step: which resources the client rejects and at which field, what it silently drops or ignores, the LB policy
//! tree that it builds, and where one RPC goes.
//!
//! For the tests of a control plane there are three calls: [`check`](fn@check) this text, [`hold`] these resources, [`send`] this RPC. What it would
//! send goes in as JSON, YAML, text format or a serialized response; `examples/` of the repository has a test for each.
//!
//! ```
//! use xdsctl::{ResourceType, Verdict};
//!
//! let text = r#"{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "cart", "type": "STATIC"}"#;
//! let report = xdsctl::check(text);
//! assert_eq!(report.verdict(ResourceType::Cluster, "cart"), Some(Verdict::Rejected));
//! assert_eq!(report.errors().next().unwrap().path, "type");
//!
//! let client = xdsctl::hold(text)?;
//! assert_eq!(client.resources.rejected()[0].name, "cart");
//!
//! let outcome = xdsctl::send(client, "xds:///shop", "/shop.Cart/Get")?;
//! assert_eq!((outcome.code, outcome.backend), (xdsctl::Code::Unavailable, None));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The modules below are in layers, from the lowest to the highest, with an empty line between them: a module uses its own
//! layer and those before it. `tests/tidy.rs` reads the list here and holds every `use` against it.
#![cfg_attr(
    not(test),
    deny(
        clippy::dbg_macro,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]

mod api;

pub use xdsctl_channel::{client, parsed, rpc, sim, tree};
pub use xdsctl_clients::{bootstrap, convert, family, validate};
pub use xdsctl_document::{envelope, load, proto, secret, source};
pub use xdsctl_lb as lb;
pub use xdsctl_lint::{catalogue, check, choice, diff, fix, recognise};
pub use xdsctl_model::{backoff, cookie, diag, host_port, profile, resource as model, rng, status, target_uri, text};
pub use xdsctl_suite as scenario;

pub use api::{Problem, Report, ResourceVerdict, SendError, channel, check, hold, send};
pub use client::{Client, Verdict};
pub use diag::{Effect, Severity};
pub use model::ResourceType;
pub use sim::{Channel, Outcome, Rpc};
pub use status::Code;
