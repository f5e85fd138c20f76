//! What is said about a whole dump.
//!
//! [`check`] asks the clients and adds what is about several resources ([`lint`]), [`choice`] decides which findings are shown, [`fix`]
//! mends documents, [`diff`] compares two versions, [`recognise`] finds the cause of a line of a log. [`catalogue`] lists all rules.
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

pub mod lint;

pub mod check;

pub mod choice;

pub mod catalogue;

pub mod fix;
pub mod recognise;

pub mod diff;
