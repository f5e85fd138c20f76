//! Which channels are too large for what they are made of.

use super::SessionError;
use crate::client::config::XdsConfig;
use crate::tree::size::{self, BYTES_A_PART, MAX_PARTS};

/// Clusters that the routes of a channel may lead to: a child of the tree each, which takes some
/// kilobytes.
const MAX_CLUSTERS: usize = 20_000;

/// How many times the parts of one channel the trees of all channels of a test may have together.
const CHANNELS_OF_FULL_SIZE: u64 = 4;

/// Refuses a channel, one of so many, whose tree would be out of all proportion to its input.
///
/// # Errors
/// It has too many clusters, or what is below them is too much.
pub(super) fn check(config: &XdsConfig, input_bytes: u64, channels: usize) -> Result<(), SessionError> {
    let count = config.clusters.len();
    if count > MAX_CLUSTERS {
        let most = MAX_CLUSTERS;
        return Err(SessionError::TooManyClusters { count, most });
    }
    let one = MAX_PARTS.max(input_bytes / BYTES_A_PART);
    let channels = u64::try_from(channels).unwrap_or(u64::MAX).max(1);
    let most = one.min(one.saturating_mul(CHANNELS_OF_FULL_SIZE) / channels);
    let parts = size::of(config);
    if parts > most {
        return Err(SessionError::TooLarge { parts, most, channels });
    }
    Ok(())
}
