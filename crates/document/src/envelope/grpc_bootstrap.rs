//! A gRPC bootstrap file. Only its place is recorded; another crate validates its text.

use super::{BootstrapPlace, Shape};
use crate::source::Span;

/// The shape `{"xds_servers": [...]}`.
pub(super) static SHAPE: Shape = Shape {
    claims: |clue| {
        clue.is("xds_servers", b'[') || clue.is("certificate_providers", b'{') || clue.is("authorities", b'{')
    },
    walk: |walker| {
        walker.recognised = true;
        walker.tc.scan.peek();
        let start = walker.pos();
        walker.skip()?;
        let bootstrap = BootstrapPlace {
            source: walker.source,
            span: Span::new(start, walker.pos()),
        };
        walker.loader.bootstraps.push(bootstrap);
        Ok(())
    },
};
