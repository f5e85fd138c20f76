//! Which channels are too large in proportion to their inputs.

use super::SessionError;
use crate::client::config::XdsConfig;
use crate::tree::size::{self, BYTES_A_PART, MAX_PARTS};

/// The most clusters to which the routes of a channel may lead. Each is a child in the tree, which
/// takes some kilobytes.
const MAX_CLUSTERS: usize = 20_000;

/// How many channels of full size the trees of all channels of a test may add up to.
const CHANNELS_OF_FULL_SIZE: u64 = 4;

/// Refuses a channel whose tree would be far too large for its input. `channels` is how many
/// channels share that input.
///
/// # Errors
/// The channel has too many clusters, or too much below them.
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
