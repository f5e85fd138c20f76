//! What a gRPC client does with one resource: takes it, rejects it, and what it keeps of it.
//!
//! [`validate`] is C-core's converter, [`family`] has those of Go, Java and Node. They share the converters of messages that several
//! resources have ([`convert`]), HTTP filters ([`filter`]) and cluster specifier plugins ([`plugin`]). [`bootstrap`] reads the file
//! with which a client starts.
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

pub mod convert;

pub mod filter;
pub mod plugin;

pub mod bootstrap;
pub mod family;
pub mod validate;
