//! xdsctl: a gRPC xDS client with the network cut off.
//!
//! It takes the bytes that a control plane sent, or would send, does with them what gRPC C-core 1.85.1 does, and shows
//! every step: which resources the client rejects and at which field, what it silently drops or ignores, the LB policy
//! tree that it builds, and where one RPC goes.
//!
//! ```text
//! bytes ─ source ─ envelope ─ proto ─ validate ─ snapshot ─┬─ lint ─┐
//!                                     lb filter            ├─ tree ─┼─ report ─ cli
//!                                                          └─ sim ──┘
//! ```
//!
//! Modules in order of dependency: a module may use only modules above it.
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

pub mod cookie;
pub mod profile;
pub mod regex;
pub mod rng;
pub mod secret;
pub mod status;
pub mod text;

pub mod diag;

pub mod model;
pub mod source;

pub mod proto;

pub mod envelope;
pub mod load;

pub mod convert;
pub mod filter;
pub mod lb;
pub mod plugin;

pub mod bootstrap;
pub mod validate;

pub mod parsed;
pub mod snapshot;

pub mod lint;
pub mod select;
pub mod tree;

pub mod sim;

pub mod check;

pub mod catalogue;

pub mod report;

pub mod cli;
