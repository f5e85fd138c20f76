//! Tests of the language server, in process over pipes: its findings are those of the command line,
//! for the version that the editor has.

#[path = "lsp/client.rs"]
mod client;
#[path = "lsp/edits.rs"]
mod edits;
#[path = "lsp/hostile.rs"]
mod hostile;
#[path = "lsp/requests.rs"]
mod requests;
#[path = "lsp/same.rs"]
mod same;
