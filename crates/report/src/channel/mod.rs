//! Reports on one channel: its tree of LB policies, and where an RPC goes and why.

pub mod graph;
pub mod layers;
pub mod pick;
pub mod retry;
pub mod route;
pub mod route_json;
pub mod several;
pub mod svg;
pub mod tree;
