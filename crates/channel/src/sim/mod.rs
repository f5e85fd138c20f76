//! A channel in simulated time: resources and RPCs go in, and what becomes of each RPC, and why,
//! comes out.
//!
//! A [`Client`](crate::client::Client) is what the control plane and DNS say. A [`Network`] is what
//! connections and backends do. A [`Channel`] is a client channel with its LB policies, connections
//! and RPCs. Time passes only from event to event, and random numbers come from a seed, so the same
//! inputs give the same answers. The policies themselves are in [`lb`](xdsctl_lb). [`script`] reads
//! steps from JSON lines and plays them.

mod call;
mod channel;
mod clusters;
mod failure_words;
mod leaf;
mod lookups;
mod network;
mod outcome;
mod place;
#[cfg(test)]
mod scale;
pub mod script;
mod selection;

pub use call::{DEFAULT_TIMEOUT_MS, Rpc, RpcId};
pub use channel::{Channel, ChannelOptions, LimitReached, MAX_EVENTS, MAX_MACHINES};
pub use lookups::{LOOKUP_MS, LookupReply, Lookups};
pub use network::{Backend, BackendAnswer, Loss, MIN_REPORT_MS, Network, Reachability, Reports, Respond, Unprocessed};
pub use outcome::{Class, EndpointPlace, Outcome, TRACE_KEPT, TRACES_KEPT};
