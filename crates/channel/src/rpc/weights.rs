//! The weight of an endpoint for the policies below a priority: the weight of its locality times
//! its own.
//!
//! The product may overflow 32 bits, as in the client. Policies use 1 for a weight that as a signed
//! number is not positive. With GRPC_EXPERIMENTAL_PF_WEIGHTED_SHUFFLING both weights are normalised
//! first (A113). Follows C-core `CdsPriorityEndpointIterator::ForEach` (cds.cc).

use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::endpoints::{Locality, counted_weight as counted};

/// The weights of a priority's endpoints, by locality, as they are passed down; see
/// [`counted_weight`](xdsctl_model::resource::endpoints::counted_weight).
///
/// ```
/// use xdsctl_channel::rpc::weights::endpoint_weights;
/// use xdsctl_model::profile::Profile;
/// assert!(endpoint_weights(&[], &Profile::default()).is_empty());
/// ```
pub fn endpoint_weights(priority: &[Locality], profile: &Profile) -> Vec<Vec<u32>> {
    let normalised = profile.has(Feature::PfWeightedShuffling);
    let zero_counts = profile.has(Feature::ZeroWeightsCount);
    let locality_sum: u64 = priority.iter().map(|locality| u64::from(locality.weight)).sum();
    priority
        .iter()
        .map(|locality| {
            let own = |weight| u64::from(counted(weight));
            let kept: u64 = locality.endpoints.iter().map(|endpoint| own(endpoint.weight)).sum();
            let sum = kept + locality.left_out_weight;
            let share = |part: u64, whole: u64| (part << 31) / whole.max(1);
            let of_locality = share(u64::from(locality.weight), locality_sum);
            locality
                .endpoints
                .iter()
                .map(|endpoint| {
                    if normalised {
                        let weight = (of_locality * share(own(endpoint.weight), sum)) >> 31;
                        u32::try_from(weight).unwrap_or(u32::MAX).max(1)
                    } else if zero_counts {
                        locality.weight.saturating_mul(endpoint.weight)
                    } else {
                        locality.weight.wrapping_mul(counted(endpoint.weight))
                    }
                })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::resource::endpoints::{Endpoint, LocalityName};

    fn locality(weight: u32, endpoints: &[u32]) -> Locality {
        let endpoint = |weight: &u32| Endpoint {
            weight: *weight,
            weight_is_default: false,
            ..Endpoint::of(0, ([10, 0, 0, 1], 80).into())
        };
        Locality {
            index: 0,
            name: LocalityName::default(),
            weight,
            left_out_weight: 0,
            endpoints: endpoints.iter().map(endpoint).collect(),
        }
    }

    #[test]
    fn products_overflow_as_in_the_client() {
        let profile = Profile::default();
        let weights = endpoint_weights(
            &[locality(65_536, &[65_536, 2]), locality(1, &[3_000_000_000])],
            &profile,
        );
        assert_eq!(weights, [vec![0, 131_072], vec![1]]);
        assert_eq!(counted(0), 1);
        assert_eq!(counted(3_000_000_000), 1);
        assert_eq!(counted(7), 7);
    }

    #[test]
    fn shares_are_normalised_with_the_switch() {
        let mut profile = Profile::default();
        profile
            .set_env("GRPC_EXPERIMENTAL_PF_WEIGHTED_SHUFFLING", "true")
            .unwrap();
        // Each has half of 2^31, divided into one quarter and three quarters.
        let weights = endpoint_weights(&[locality(5, &[1, 3]), locality(5, &[9])], &profile);
        assert_eq!(weights, [vec![1 << 28, 3 << 28], vec![1 << 30]]);
        // The sum counts all endpoints, some of which are left out.
        let some = Locality {
            left_out_weight: 4,
            ..locality(5, &[1, 3])
        };
        assert_eq!(endpoint_weights(&[some], &profile), [vec![1 << 28, 3 << 28]]);
    }
}
