//! Who is let in: all that a server's policies and routes say, turned round into a table.
//!
//! [`admit`](crate::admit) answers for one connection and one RPC; a [`Table`] answers for all of
//! them. Its first column is a class of methods, as the routes and policies name them. What is
//! known about a class, such as whether a path matches, is applied to the conditions. What is left
//! is asked of the client's certificate, of its address and of headers. The table says the same as
//! `admit` about every connection and RPC (`who/tests.rs`).
//!
//! ```text
//! regions ─ methods ─ condition ─ rows ─ table
//!  chains    classes   and, or     cells
//! ```
//!
//! [`compare`] says who gains and who loses access between two tables.

mod compare;
mod condition;
mod known;
mod methods;
mod regions;
mod rows;
mod table;

pub use compare::{Access, AccessBy, AccessChanges, ChainAccess, ChainSide, HostAccess, MethodAccess, compare};
pub use condition::{Column, Condition, Fact};
pub use methods::{MethodClass, MethodNames};
pub use regions::{AddressSpan, Ports, Region};
pub use rows::{PolicyName, Row};
pub use table::{ChainTable, Exception, HostTable, MethodTable, Nobody, RouteOutcome, RouteTable, Table, TooLarge};

#[cfg(test)]
mod tests;
