//! What some versions of a client do and others do not.
//!
//! Some version of a family added the feature behind an environment switch that is off (`off`) or
//! on (`on`) by default, or without a switch (`always`); a later one may have removed it (`gone`).
//! The [family's file](super::family) says which, as measured by asking the versions
//! (`docs/clients.md`). Converters ask `cx.has(Feature::X)` and know no version.

pub use super::feature_set::Features;
#[macro_use]
mod core;
#[macro_use]
mod go;
#[macro_use]
mod grfcs;
#[macro_use]
mod java;
#[macro_use]
mod node;
#[macro_use]
mod tonic;

// Each list of features hands itself and those before it to the next one.
grfc_features! { core_features go_features java_features node_features tonic_features features => }
