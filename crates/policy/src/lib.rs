//! A team's own rules: expressions in CEL about what a gRPC client makes of its resources.
//!
//! ```text
//! text ─ Policy ──── check ─ walk ─ site ┬─ resource   as it is written
//!         cel        for each world      ├─ parsed     as this client keeps it
//!         schema                         └─ world      what refers to it, what it leads to
//! ```
//!
//! A finding of a policy is like any other: [`check`] gives it to the resource, and `decide` does
//! the rest. The text of policies and the clock are the command's.

pub mod cel;
pub mod schema;

mod view;

mod rpc;

mod policy;

mod reach;
mod site;
mod uses;

mod walk;

mod check;

pub use check::{PolicyInput, UNSAID, check, is_failed, places};
pub use policy::{Element, MAX_POLICIES, MAX_TEXT_BYTES, MAX_VARIABLES, Part, Policies, Policy, PolicyText, is_policy};
pub use rpc::{EndedRpc, is_true_of, of_rpc};
pub use site::{pointer, written};
