//! What a gRPC client holds, and what becomes of an RPC.
//!
//! [`client`] keeps the resources of each world and resolves targets, [`rpc`] chooses virtual host,
//! route and cluster and forges the request, [`tree`] builds the LB policies of a channel, and
//! [`sim`] lets channels run in simulated time. [`session`] opens a channel for whoever asks, and
//! [`parsed`] prints a resource as the client keeps it.

pub mod client;

pub mod rpc;

pub mod parsed;

pub mod tree;

pub mod sim;

pub mod session;
