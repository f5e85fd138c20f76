//! What LB policies run on: time, connections, children, endpoints and picks. No policy is here.
//!
//! [`policy`] is the interface of a policy, [`runtime`] what a policy acts on, and [`picker`] what
//! a pick asks and answers. The others are parts that several policies have: one child, children by
//! name, lists of endpoints, counts of states.

pub mod child;
pub mod children;
pub mod endpoint;
pub mod endpoint_lists;
pub mod log;
pub mod looks;
pub mod metadata;
pub mod picker;
pub mod policy;
pub mod runtime;
pub mod tally;
pub mod unsimulated;
