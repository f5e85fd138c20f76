//! What a gRPC client does with one resource: whether it accepts or rejects it, and what it keeps
//! of it.
//!
//! [`core`], `go`, `java`, `node` and `rust` are the families, each with the converters of that
//! client. No family knows of another, and what they have in common is in [`shared`]. [`judge`]
//! asks all clients that are wanted. [`discovery`] is about the response around the resources, and
//! [`bootstrap`] about the file with which a client starts.

pub mod shared;

pub mod core;
mod go;
mod java;
mod node;
mod rust;

pub mod judge;

pub mod discovery;

pub mod bootstrap;
