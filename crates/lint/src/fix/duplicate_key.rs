//! `dump-duplicate-key`: removes the second of two equal keys if both have the same value.
//!
//! JSON readers disagree about which of two keys counts, so if the values differ, people must
//! choose.

use super::{Change, Fix, Fixer};
use xdsctl_document::proto::transcode::DUPLICATE_KEY;

pub(super) const FIXER: Fixer = Fixer {
    rule: &DUPLICATE_KEY,
    fix: Fix::Key(|members, number, _| {
        let second = members.list.get(number)?;
        let alike = members.spelt_like(number);
        let mut earlier = alike.iter().filter(|other| **other < number);
        // The keys of a map may differ in a hyphen only.
        let is_same = |other: &&&usize| {
            members
                .list
                .get(***other)
                .is_some_and(|member| member.name == second.name)
        };
        let first = earlier
            .clone()
            .find(|other| is_same(&other))
            .or_else(|| earlier.next())?;
        (members.list.get(*first)?.value == second.value).then_some(Change::Remove)
    }),
};
