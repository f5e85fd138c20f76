//! The ring that a client builds of some endpoints, for picks and for who only looks at it.

use super::ring::EntryWays;
use super::{MAX_RING_SIZE, Ring, RingHashConfig, Size, by_key, sockets};
use crate::endpoint::Address;
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::endpoints::counted_weight;

/// How a client builds its rings.
#[derive(Debug, Clone, Copy)]
pub struct RingWays {
    /// The ring is the one of grpc-java, with these names.
    socket_names: Option<sockets::EntryNames>,
    /// The ring is built in the order of keys.
    pub(super) is_by_key: bool,
    entries: EntryWays,
    /// A weight of 0 is one; else it counts as 1.
    pub(super) takes_zero: bool,
    /// A ring may be as large as its config says.
    is_uncapped: bool,
    /// The header that a config names is one of the application's, and not `:path` or the timeout.
    pub(super) sees_sent_headers: bool,
}

/// An endpoint that is to be on a ring.
#[derive(Debug, Clone, Copy)]
pub struct RingMember<'e> {
    /// Its addresses, the primary one first; without one it has no entry.
    pub addresses: &'e [Address],
    /// Its hash key (A76), which not every client asks for.
    pub hash_key: Option<&'e str>,
    /// What its share goes by, of [`RingWays::weight`].
    pub weight: u32,
}

impl RingMember<'_> {
    /// Its first address.
    pub(super) fn name(&self) -> &str {
        self.addresses.first().map_or("", |address| &address.text)
    }
}

impl RingWays {
    /// Those of a client.
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

    /// How large a ring of a config is, under the cap of clients that have one.
    pub fn size(&self, config: &RingHashConfig, cap: u64) -> Size {
        Size::capped(config, self.cap(cap))
    }

    /// The most entries that a ring has: `cap` in clients that have one.
    pub fn cap(&self, cap: u64) -> u64 {
        if self.is_uncapped { MAX_RING_SIZE } else { cap }
    }

    /// The weight that counts of one that policies get.
    pub fn weight(&self, weight: u32) -> u32 {
        match (self.is_by_key, self.takes_zero) {
            (true, _) => weight.max(1),
            (false, true) => weight,
            (false, false) => counted_weight(weight),
        }
    }

    /// The ring of these members; `drawn` says which of several with one key gets the picks, where
    /// that is drawn.
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
