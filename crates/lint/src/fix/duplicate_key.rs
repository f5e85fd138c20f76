//! `dump-duplicate-key`: the second of two keys goes if both say the same.
//!
//! JSON readers disagree about which of two keys counts, so different values are for people to
//! choose from.

use super::{Change, Fix, Fixer};
use xdsctl_document::proto::transcode::DUPLICATE_KEY;

pub(super) const FIXER: Fixer = Fixer {
    rule: &DUPLICATE_KEY,
    fix: Fix::Key(|members, number, _| {
        let second = members.list.get(number)?;
        let alike = members.spelt_like(number);
        let mut earlier = alike.iter().filter(|other| **other < number);
        // A map may have keys that differ in a hyphen.
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
