//! The live part of xdsctl: fetches what gRPC clients, Envoy and control planes hold into one dump,
//! and serves a dump to real clients.
//!
//! ```text
//! Address ─┬─ envoy    GET /config_dump, /clusters ────────────────────────────┐
//! Options  ├─ csds     ClientStatusDiscoveryService ───────── dump ─ printer ─ JSON
//!          └─ ads      subscriber (asks, judges, holds) ──────┘
//! JSON ─ Served ─ serve   ADS, SotW and Delta ─ ledger (ACK, NACK, prediction)
//! pages, Shelf ── show    HTTP on this machine alone ─ a browser
//! ```
//!
//! Everything that needs a runtime is behind the feature `live`. The calls at the top ([`fetch()`],
//! [`watch`], [`serve()`], [`show()`]) block: no async code leaves this crate. This crate does not
//! validate resources itself; it asks [`xdsctl_channel::client`] what a client does with them.

mod address;
mod options;

#[cfg(feature = "live")]
mod ads;
#[cfg(test)]
#[cfg(feature = "live")]
#[path = "../../../tests/attacks/net/mod.rs"]
mod attacks;
#[cfg(feature = "live")]
mod connect;
#[cfg(feature = "live")]
mod csds;
#[cfg(feature = "live")]
mod dump;
#[cfg(feature = "live")]
mod envoy;
#[cfg(feature = "live")]
mod error;
#[cfg(feature = "live")]
mod fetch;
#[cfg(feature = "live")]
mod messages;
#[cfg(feature = "live")]
mod node;
#[cfg(feature = "live")]
mod ordered;
#[cfg(feature = "live")]
mod other_server;
#[cfg(feature = "live")]
mod serve;
#[cfg(feature = "live")]
mod show;

pub use address::{Address, AddressError, ServerKind, ServerPlace};
pub use options::{FetchOptions, Tls};

#[cfg(feature = "live")]
pub use error::Error;
#[cfg(feature = "live")]
pub use fetch::{Fetched, StreamEvent, fetch, watch};
#[cfg(feature = "live")]
pub use serve::{LedgerCounts, LedgerLine, Prediction, ServerTls, Serving, SnapshotResource, serve};
#[cfg(feature = "live")]
pub use show::{Fetch, PageFile, Shelf, Showing, show};
