//! What a program brings to its client beside xDS itself: packages that register more than `import _ ".../grpc/xds"` does.

use super::feature::Feature;

/// A package that a program may bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Package {
    /// The RLS LB policy: `google.golang.org/grpc/balancer/rls`. grpc-java was measured with its
    /// `grpc-rls`, and C-core has it.
    Rls,
    /// TLS of tonic-xds: its Cargo feature `tls-ring` or `tls-aws-lc`.
    Tls,
}

impl Package {
    /// What a client has only with it.
    pub(super) const fn feature(self) -> Feature {
        match self {
            Package::Rls => Feature::RlsPolicy,
            Package::Tls => Feature::ProgramTls,
        }
    }
}
