//! The language server: it answers an editor's requests about a document while somebody types.
//!
//! ```text
//! wire ─ server ─┬─ diagnostics, hover, completion, ...   one file for each kind of request
//!  messages      └─ Host ─ Snapshot                       what the command line would say of the project now
//! ```
//!
//! The server knows no files, settings or clients. A [`Host`] makes a [`Snapshot`] of a project, in
//! which open documents replace their files. Requests are answered from the snapshot of the very
//! version that the editor has, or refused.

pub mod text;
pub mod uri;
pub mod wire;

pub mod project;

pub mod view;

mod defaults;
pub mod diagnostics;
mod mend;
mod outline;
mod rules;

mod definition;

mod actions;
mod completion;
mod hover;
mod lenses;
mod rename;
mod settings;
mod suite;
mod types;

pub mod server;

pub use project::{Host, OpenText, OpenTexts, Snapshot};
pub use server::serve;
