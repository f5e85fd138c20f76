//! The families, each with the ways of its servers; none knows of another.

mod core;
mod go;
mod java;

use crate::dialect::ServerDialect;
use xdsctl_model::profile::{Family, Profile};

impl ServerDialect {
    /// The ways of a client's servers; `None` for a family that has none, or whose servers are not followed yet.
    pub fn of(profile: &Profile) -> Option<ServerDialect> {
        match profile.client().family {
            Family::Cpp => Some(core::dialect()),
            Family::Go => Some(go::dialect(profile)),
            Family::Java => Some(java::dialect(profile)),
            Family::Node | Family::Rust => None,
        }
    }
}
