//! Which channels are too large for what they are made of.

use crate::Error;
use xdsctl_channel::client::config::XdsConfig;
use xdsctl_channel::tree::size::{self, BYTES_A_PART, MAX_PARTS};

/// Clusters that the routes of a channel may lead to: a child of the tree each, which takes some kilobytes.
const MAX_CLUSTERS: usize = 20_000;

/// How many times the parts of one channel the trees of all channels of a test may have together.
const CHANNELS_OF_FULL_SIZE: u64 = 4;

/// Refuses a channel, one of so many, whose tree would be out of all proportion to its input.
///
/// # Errors
/// It has too many clusters, or what is below them is too much.
pub(super) fn check(config: &XdsConfig, input_bytes: u64, channels: usize) -> Result<(), Error> {
    let help = "start at one of them with --cluster";
    let count = config.clusters.len();
    if count > MAX_CLUSTERS {
        return Err(Error::Usage(format!(
            "the channel has {count} clusters, the limit is {MAX_CLUSTERS}: {help}"
        )));
    }
    let one = MAX_PARTS.max(input_bytes / BYTES_A_PART);
    let channels = u64::try_from(channels).unwrap_or(u64::MAX).max(1);
    let most = one.min(one.saturating_mul(CHANNELS_OF_FULL_SIZE) / channels);
    let parts = size::of(config);
    if parts > most {
        if channels > 1 {
            return Err(Error::Usage(format!(
                "the tree of each of {channels} clients would have {parts} policies, endpoints and values of configs, the limit for \
                 so many clients is {most}"
            )));
        }
        return Err(Error::Usage(format!(
            "the tree of the channel would have {parts} policies, endpoints and values of configs, the limit for this input is \
             {most}: its clusters share endpoints, or have an LB policy for each of many localities; {help}"
        )));
    }
    Ok(())
}
