//! The families, each with the dialect of its servers. None knows of another.

mod core;
mod go;
mod java;
mod node;

use crate::dialect::ServerDialect;
use xdsctl_model::profile::{Family, Profile};

impl ServerDialect {
    /// Returns the dialect of a client's servers; `None` for a family that has no servers, or whose
    /// servers are not followed yet.
    pub fn of(profile: &Profile) -> Option<ServerDialect> {
        match profile.client().family {
            Family::Cpp => Some(core::dialect(profile)),
            Family::Go => Some(go::dialect(profile)),
            Family::Java => Some(java::dialect(profile)),
            Family::Node => Some(node::dialect(profile)),
            Family::Rust => None,
        }
    }
}
