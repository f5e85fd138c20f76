//! The ring that a client builds of some endpoints. Picks use it, and so do commands that only show
//! it.

use super::ring::EntryWays;
use super::{MAX_RING_SIZE, Ring, RingHashConfig, Size, by_key, sockets};
use crate::endpoint::Address;
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::endpoints::counted_weight;

/// How a client builds its rings.
#[derive(Debug, Clone, Copy)]
pub struct RingWays {
    /// How entries are named, if the ring is that of grpc-java.
    socket_names: Option<sockets::EntryNames>,
    /// Whether the ring is built in the order of the hash keys.
    pub(super) is_by_key: bool,
    entries: EntryWays,
    /// Whether a weight of 0 is used as it is; otherwise it counts as 1.
    pub(super) takes_zero: bool,
    /// Whether a ring may be as large as its config says.
    is_uncapped: bool,
    /// Whether `requestHashHeader` can only name a header of the application, and not `:path` or
    /// `grpc-timeout`.
    pub(super) sees_sent_headers: bool,
}

/// An endpoint that gets entries on a ring.
#[derive(Debug, Clone, Copy)]
pub struct RingMember<'e> {
    /// The endpoint's addresses, the primary one first. An endpoint without an address has no
    /// entry.
    pub addresses: &'e [Address],
    /// The endpoint's hash key (A76), which not every client reads.
    pub hash_key: Option<&'e str>,
    /// The weight that decides the endpoint's share, as [`RingWays::weight`] returns it.
    pub weight: u32,
}

impl RingMember<'_> {
    /// Returns its first address.
    pub(super) fn name(&self) -> &str {
        self.addresses.first().map_or("", |address| &address.text)
    }
}

impl RingWays {
    /// Returns how a client builds its rings.
    pub fn of(profile: &Profile) -> RingWays {
        RingWays {
            socket_names: sockets::EntryNames::of(profile),
            is_by_key: profile.has(Feature::RingByKey),
            entries: EntryWays {
                has_plain_names: profile.has(Feature::RingNamesPlain),
                counts_on: profile.has(Feature::RingCountsOn),
                names_grow: false,
                sum_wraps: profile.has(Feature::RingByKey),
            },
            takes_zero: profile.has(Feature::ZeroWeightsCount),
            is_uncapped: profile.has(Feature::RingUncapped),
            sees_sent_headers: profile.has(Feature::HeadersAsSent) || profile.has(Feature::HeadersOfApplication),
        }
    }

    /// Returns the bounds of a config's ring. `cap` applies only to clients that cap rings.
    pub fn size(&self, config: &RingHashConfig, cap: u64) -> Size {
        let cap = self.cap(cap);
        Size {
            min: config.min_ring_size.min(cap),
            max: config.max_ring_size.min(cap),
        }
    }

    /// Returns the most entries that a ring may have: `cap` in clients that cap rings.
    pub fn cap(&self, cap: u64) -> u64 {
        if self.is_uncapped { MAX_RING_SIZE } else { cap }
    }

    /// Returns the weight that a ring uses for the weight of an endpoint.
    pub fn weight(&self, weight: u32) -> u32 {
        match (self.is_by_key, self.takes_zero) {
            (true, _) => weight.max(1),
            (false, true) => weight,
            (false, false) => counted_weight(weight),
        }
    }

    /// Builds the ring of these members. `drawn` decides which of several members with the same key
    /// gets the picks, in clients that draw it.
    pub fn ring(&self, members: &[RingMember<'_>], size: Size, drawn: u64) -> Ring {
        if let Some(names) = self.socket_names {
            let endpoints = members.iter().map(|member| (member.addresses, member.weight));
            return sockets::ring(endpoints, size, names);
        }
        if self.is_by_key {
            return by_key::ring(members, size, self.entries, drawn);
        }
        let keys = members
            .iter()
            .map(|member| (member.hash_key.unwrap_or(member.name()), member.weight));
        Ring::new(&keys.collect::<Vec<_>>(), size)
    }
}
