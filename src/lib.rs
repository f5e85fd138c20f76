//! xdsctl: a gRPC xDS client with the network cut off.
//!
//! The library takes the bytes that a control plane sent, or would send, does with them what gRPC
//! C-core 1.85.1 does, and shows every step: which resources the client rejects and at which field,
//! what it silently drops or ignores, the LB policy tree that it builds, and where one RPC goes.
//!
//! The tests of a control plane need three functions: [`check`](fn@check) checks a text, [`hold`]
//! makes a client hold resources, [`send`] sends an RPC. The input is JSON, YAML, text format or a
//! serialized response; `examples/` in the repository has a program for each function. The
//! functions answer for C-core; a [`Checker`] answers for another client or version, and takes a
//! bootstrap. A [`Session`] opens a channel in a [`Network`] of which you decide who answers.
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
//! This is the library for embedders; the crates below it promise no stable API.
//! `docs/architecture.md` in the repository says which crate answers which question.
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

pub use api::{Checker, Problem, Report, ResourceVerdict, SendError, channel, check, hold, send};
pub use xdsctl_channel::client::dns::DnsAnswers;
pub use xdsctl_channel::client::target::{Target, TargetError};
pub use xdsctl_channel::client::{
    Cache, Client, EndpointChange, HeldResource, Nacked, Rejected, Resources, Start, Updated, Verdict,
};
pub use xdsctl_channel::session::{PlannedStart, Session, SessionError, SessionInputs, SessionNote, SessionPlan};
pub use xdsctl_channel::sim::{
    Backend, BackendAnswer, Channel, ChannelOptions, Class, LimitReached, LookupReply, Lookups, Network, Outcome,
    Reachability, Respond, Rpc, RpcId,
};
pub use xdsctl_clients::bootstrap::Bootstrap;
pub use xdsctl_model::diag::{Effect, Severity};
pub use xdsctl_model::profile::{Profile, ServerFacts, UnknownClient};
pub use xdsctl_model::resource::ResourceType;
pub use xdsctl_model::status::Code;
