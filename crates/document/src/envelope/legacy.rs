//! xDS v2, which no current gRPC client speaks. One finding says so, and nothing is checked.

use super::walker::Walker;
use super::{Clue, Shape, V2};
use crate::source::Span;

/// A section or resource of v2.
pub(super) static SHAPE: Shape = Shape {
    claims: |clue| matches!(clue, Clue::Type(name) if is_v2(name)),
    walk: |walker| {
        walker.tc.scan.peek();
        let start = walker.pos();
        walker.skip()?;
        report(walker, Span::new(start, start + 1));
        Ok(())
    },
};

/// Says whether a message type belongs to xDS v2.
pub(super) fn is_v2(type_name: &str) -> bool {
    let prefixes = [
        "envoy.api.v2.",
        "envoy.admin.v2alpha.",
        "envoy.service.status.v2.",
        "envoy.config.bootstrap.v2.",
        "envoy.config.filter.",
    ];
    prefixes.iter().any(|prefix| type_name.starts_with(prefix))
}

/// Reports once for each document that it is xDS v2.
pub(super) fn report(walker: &mut Walker<'_, '_>, span: Span) {
    walker.recognised = true;
    if std::mem::replace(&mut walker.legacy_noted, true) {
        return;
    }
    let message = "this is xDS v2, gRPC clients speak v3 only; v2 resources are not checked".to_owned();
    walker
        .report(&V2, span, message)
        .help("dump the configuration with `resource_api_version: V3`");
}
