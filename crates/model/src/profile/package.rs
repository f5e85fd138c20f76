//! Packages that a program links in addition to xDS itself, and that register more than
//! `import _ ".../grpc/xds"` does.

use super::feature::Feature;

/// A package that a program may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Package {
    /// The RLS LB policy: `google.golang.org/grpc/balancer/rls`. grpc-java was measured with
    /// `grpc-rls`, and C-core always has the policy.
    Rls,
    /// TLS of tonic-xds: its Cargo feature `tls-ring` or `tls-aws-lc`.
    Tls,
}

impl Package {
    /// Returns the feature that a client has only with this package.
    pub(super) const fn feature(self) -> Feature {
        match self {
            Package::Rls => Feature::RlsPolicy,
            Package::Tls => Feature::ProgramTls,
        }
    }
}
