//! Envoy's `/clusters?format=json`: states and statistics, no configuration.

use super::{CLUSTERS_STATUS, Shape};
use crate::source::Span;

/// The shape `{"cluster_statuses": [...]}`.
pub(super) static SHAPE: Shape = Shape {
    claims: |clue| clue.is("cluster_statuses", b'['),
    walk: |walker| {
        walker.recognised = true;
        walker.tc.scan.peek();
        let start = walker.pos();
        walker.skip()?;
        let message = "a list of cluster states, which holds no configuration to check".to_owned();
        walker
            .report(&CLUSTERS_STATUS, Span::new(start, start + 1), message)
            .help("take the configuration from `/config_dump?include_eds`");
        Ok(())
    },
};
