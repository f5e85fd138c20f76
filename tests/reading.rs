//! Documents and messages in every format, and what reading them costs.

mod again;
mod allocations;
mod formats;
mod properties;
mod repeats;
mod support;
