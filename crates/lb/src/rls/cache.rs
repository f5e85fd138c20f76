//! The cache of rls: the answers of lookups, by their keys, until they are too old or take too much
//! room.
//!
//! The entry that was used longest ago is evicted first, and none within five seconds of its
//! creation. Sizes are those of C-core's own structures in a 64-bit build, as measured in the
//! client. Follows C-core rls.cc `Cache`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::policy::LookupAnswer;
use crate::runtime::Time;
use xdsctl_model::backoff::{Backoff, Growth};
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::Millis;
use xdsctl_model::status::Status;

/// The keys of a lookup.
pub type Keys = Arc<BTreeMap<String, String>>;

/// The key of a cache entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CacheKey {
    /// The keys of a lookup.
    pub keys: Keys,
    /// The path of the RPC, in clients that keep answers for each path, such as grpc-go.
    pub path: Option<Arc<str>>,
}

/// How a client keeps answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Keeping {
    /// For each set of keys. An entry counts with the size of the client's own structures.
    #[default]
    Core,
    /// For each path and set of keys. Only texts count for the size. An entry counts from its first
    /// answer on, and is safe from eviction for a while after each answer.
    Go,
    /// For each set of keys; the size of the keys does not count. A failed lookup discards the
    /// previous answer (CachingRlsLbClient.java `createBackOffEntry`).
    Java,
}

impl Keeping {
    /// Returns how a client keeps answers.
    pub fn of(profile: &Profile) -> Keeping {
        match (
            profile.has(Feature::AnswersByPath),
            profile.has(Feature::FirstLookupConfig),
        ) {
            (true, _) => Keeping::Go,
            (false, true) => Keeping::Java,
            (false, false) => Keeping::Core,
        }
    }
}

/// For how long an entry is safe from eviction (C-core `kMinExpirationTime`).
const MIN_EXPIRATION_MS: i64 = 5_000;

/// How often entries that are of no use any more are removed (C-core `kCacheCleanupTimerInterval`).
pub(super) const CLEANUP_MS: i64 = 60_000;

/// The back-off after failed lookups (C-core `kCacheBackoffInitial` and its neighbours).
const GROWTH: Growth = Growth {
    initial_ms: 1_000,
    multiplier: 1.6,
    max_ms: 120_000,
};

/// Bytes of an entry without its keys (`sizeof(Cache::Entry)`).
const ENTRY_BYTES: usize = 160;

/// Bytes of the keys of a lookup without their texts (`sizeof(RequestKey)`). An entry has the keys
/// twice.
const KEYS_BYTES: usize = 48;

/// A time before all others.
const NEVER: Time = Time::MIN;

/// What is known for the keys of a lookup.
#[derive(Debug)]
pub(super) struct CacheEntry {
    /// The targets of the last answer, in its order.
    pub targets: Vec<Arc<str>>,
    /// The header data of the last answer, which the backends get; empty if there is none.
    pub header_data: Arc<str>,
    /// Why the last lookup failed.
    pub failure: Option<Status>,
    /// The targets are used until this time.
    pub data_expires: Time,
    /// The keys are looked up again after this time.
    pub stale_at: Time,
    /// After a failed lookup, no other lookup is made until this time.
    pub backoff_until: Time,
    backoff_expires: Time,
    backoff: Option<Backoff>,
    evictable_after: Time,
    /// The bytes that the entry counts for.
    size: usize,
    used: u64,
}

impl CacheEntry {
    /// Says whether the targets may be used.
    pub const fn is_usable(&self, now: Time) -> bool {
        self.data_expires >= now
    }

    /// Says whether another lookup is due.
    pub const fn is_due(&self, now: Time) -> bool {
        self.stale_at < now && self.backoff_until < now
    }

    /// Notes that a lookup failed. Returns for how many milliseconds no other lookup is made.
    pub fn fail(&mut self, status: Status, backoff: Option<Backoff>, now: Time, unit: f64) -> i64 {
        let mut backoff = backoff.unwrap_or_else(|| Backoff::new(GROWTH));
        let delay = backoff.next_ms(unit);
        self.failure = Some(status);
        self.backoff = Some(backoff);
        self.backoff_until = now + delay;
        self.backoff_expires = now + 2 * delay;
        delay
    }

    /// Notes the answer of a lookup. Returns the previous targets.
    pub fn answer(
        &mut self,
        answer: &LookupAnswer,
        (max_age, stale_age): (Millis, Millis),
        now: Time,
    ) -> Vec<Arc<str>> {
        self.header_data = answer.header_data.clone();
        self.data_expires = now + max_age.0;
        self.stale_at = now + stale_age.0;
        self.failure = None;
        self.backoff = None;
        self.backoff_until = NEVER;
        self.backoff_expires = NEVER;
        std::mem::replace(&mut self.targets, answer.targets.clone())
    }

    /// Returns the last time at which the entry is of any use.
    fn over_after(&self) -> Time {
        self.data_expires.max(self.backoff_expires).max(self.evictable_after)
    }
}

/// An LRU cache of a limited number of bytes.
#[derive(Debug, Default)]
pub(super) struct Cache {
    limit: usize,
    size: usize,
    /// How the client keeps answers.
    pub keeping: Keeping,
    entries: BTreeMap<CacheKey, CacheEntry>,
    /// The keys in the order of their last use, the oldest first.
    order: BTreeMap<u64, CacheKey>,
    next_use: u64,
}

/// Returns the bytes that an entry of C-core takes.
fn size_of(key: &CacheKey) -> usize {
    let texts: usize = key.keys.iter().map(|(key, value)| key.len() + value.len()).sum();
    2 * (KEYS_BYTES + texts) + ENTRY_BYTES
}

/// Returns the bytes that an answer of grpc-go takes (picker.go `dcEntrySize`).
fn size_of_texts(key: &CacheKey, entry: &CacheEntry) -> usize {
    let texts = key.keys.iter().map(|(name, value)| name.len() + value.len() + 2);
    let texts = texts.sum::<usize>().saturating_sub(1);
    key.path.as_deref().map_or(0, str::len) + texts + entry.header_data.len()
}

/// Returns the bytes that an answer of grpc-java takes (CachingRlsLbClient.java
/// `DataCacheEntry.getSizeBytes`).
fn size_of_answer(entry: &CacheEntry) -> usize {
    let of_text = |text: &Arc<str>| 38 + 2 * text.encode_utf16().count();
    let targets: usize = entry.targets.iter().map(of_text).sum();
    targets + of_text(&entry.header_data) + 160
}

/// The bytes that a failed lookup of grpc-java takes (`BackoffCacheEntry.getSizeBytes`).
const FAILED_BYTES: usize = 120;

impl Cache {
    /// Returns the entry of a key. This does not count as a use.
    pub fn get(&self, key: &CacheKey) -> Option<&CacheEntry> {
        self.entries.get(key)
    }

    /// Returns the entry of a key. This counts as a use.
    pub fn find(&mut self, key: &CacheKey) -> Option<&mut CacheEntry> {
        let entry = self.entries.get_mut(key)?;
        let number = self.next_use;
        self.next_use += 1;
        if let Some(keys) = self.order.remove(&std::mem::replace(&mut entry.used, number)) {
            self.order.insert(number, keys);
        }
        Some(entry)
    }

    /// Creates an entry if there is none. Returns the entries that are evicted to make room for it.
    pub fn make(&mut self, key: &CacheKey, now: Time) -> Vec<(CacheKey, CacheEntry)> {
        if self.entries.contains_key(key) {
            return Vec::new();
        }
        let counts = self.keeping == Keeping::Core;
        let size = if counts { size_of(key) } else { 0 };
        let gone = self.shrink(self.limit.saturating_sub(size), now);
        let entry = CacheEntry {
            targets: Vec::new(),
            header_data: "".into(),
            failure: None,
            data_expires: NEVER,
            stale_at: NEVER,
            backoff_until: NEVER,
            backoff_expires: NEVER,
            backoff: Some(Backoff::new(GROWTH)),
            evictable_after: if counts { now + MIN_EXPIRATION_MS } else { NEVER },
            size,
            used: self.next_use,
        };
        self.order.insert(self.next_use, key.clone());
        self.next_use += 1;
        self.size += size;
        self.entries.insert(key.clone(), entry);
        gone
    }

    /// Takes the back-off of an entry for its next lookup. Returns it only while the answer may be
    /// used; in grpc-java, until as much time has passed again after the back-off.
    pub fn take_backoff(&mut self, key: &CacheKey, now: Time) -> Option<Backoff> {
        let entry = self.entries.get_mut(key)?;
        let goes_on = match self.keeping {
            Keeping::Java => entry.backoff_expires >= now,
            Keeping::Core | Keeping::Go => entry.is_usable(now),
        };
        entry.backoff.take().filter(|_| goes_on)
    }

    /// Counts the size of an entry that was answered, in clients that count it only then.
    pub fn count(&mut self, key: &CacheKey, now: Time) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        let size = match self.keeping {
            Keeping::Core => return,
            Keeping::Go => size_of_texts(key, entry),
            Keeping::Java => size_of_answer(entry),
        };
        self.size = self.size - entry.size + size;
        entry.size = size;
        entry.evictable_after = now + MIN_EXPIRATION_MS;
    }

    /// Discards the answer of an entry whose lookup has failed, in clients that do so. Returns its
    /// targets.
    pub fn lose(&mut self, key: &CacheKey) -> Vec<Arc<str>> {
        let Some(entry) = self.entries.get_mut(key).filter(|_| self.keeping == Keeping::Java) else {
            return Vec::new();
        };
        self.size = self.size - entry.size + FAILED_BYTES;
        entry.size = FAILED_BYTES;
        (entry.data_expires, entry.stale_at, entry.evictable_after) = (NEVER, NEVER, NEVER);
        entry.header_data = "".into();
        std::mem::take(&mut entry.targets)
    }

    /// Sets the limit in bytes. Returns the entries that are evicted for it.
    pub fn resize(&mut self, limit: usize, now: Time) -> Vec<(CacheKey, CacheEntry)> {
        self.limit = limit;
        self.shrink(limit, now)
    }

    fn remove(&mut self, key: &CacheKey) -> Option<(CacheKey, CacheEntry)> {
        let (key, entry) = self.entries.remove_entry(key)?;
        self.order.remove(&entry.used);
        self.size -= entry.size;
        Some((key, entry))
    }

    fn shrink(&mut self, limit: usize, now: Time) -> Vec<(CacheKey, CacheEntry)> {
        let mut gone = Vec::new();
        while self.size > limit {
            let Some(oldest) = self.order.values().next().cloned() else {
                break;
            };
            if self.get(&oldest).is_some_and(|entry| entry.evictable_after >= now) {
                break;
            }
            gone.extend(self.remove(&oldest));
        }
        gone
    }

    /// Removes the entries that are of no use any more, and returns them.
    pub fn clean(&mut self, now: Time) -> Vec<(CacheKey, CacheEntry)> {
        let over = self.entries.iter().filter(|(_, entry)| entry.over_after() < now);
        let over: Vec<CacheKey> = over.map(|(keys, _)| keys.clone()).collect();
        over.iter().filter_map(|keys| self.remove(keys)).collect()
    }

    /// Returns when the next entry can be removed; `None` if there is no entry.
    pub fn next_over(&self) -> Option<Time> {
        self.entries.values().map(|entry| entry.over_after() + 1).min()
    }

    /// Removes all entries, and returns them.
    pub fn clear(&mut self) -> Vec<(CacheKey, CacheEntry)> {
        self.size = 0;
        self.order.clear();
        std::mem::take(&mut self.entries).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(user: &str) -> CacheKey {
        CacheKey {
            keys: Arc::new([("user".to_owned(), user.to_owned())].into()),
            path: None,
        }
    }

    fn cache(limit: usize, users: &[&str]) -> Cache {
        let mut cache = Cache::default();
        assert!(cache.resize(limit, 0).is_empty());
        for user in users {
            assert!(cache.make(&keys(user), 0).is_empty());
        }
        cache
    }

    fn gone(entries: Vec<(CacheKey, CacheEntry)>) -> Vec<CacheKey> {
        entries.into_iter().map(|(keys, _)| keys).collect()
    }

    /// An entry of `user=a` takes 266 bytes: 2 * (48 + 5) + 160. This was seen in the client, with
    /// caches of 798 and 797 bytes.
    #[test]
    fn entries_make_room_for_others_after_five_seconds() {
        let mut enough = cache(798, &["a", "b"]);
        assert!(enough.make(&keys("c"), 5_001).is_empty());
        assert_eq!(gone(cache(797, &["a", "b"]).make(&keys("c"), 5_001)), [keys("a")]);
        let mut used = cache(797, &["a", "b"]);
        assert!(used.find(&keys("a")).is_some());
        assert_eq!(gone(used.make(&keys("c"), 5_001)), [keys("b")]);
        let mut young = cache(1, &["a", "b"]);
        assert!(young.make(&keys("c"), 5_000).is_empty());
        assert_eq!(gone(young.make(&keys("d"), 5_001)), [keys("a"), keys("b")]);
    }

    #[test]
    fn an_entry_is_cleaned_up_when_nothing_of_it_is_of_use() {
        let mut cache = cache(1000, &["a", "b"]);
        let answer = LookupAnswer {
            targets: vec!["x".into()],
            header_data: "".into(),
        };
        let ages = (Millis(90_000), Millis(1_000));
        cache.find(&keys("a")).unwrap().answer(&answer, ages, 0);
        let delay = cache
            .find(&keys("b"))
            .unwrap()
            .fail(Status::unavailable(""), None, 0, 0.5);
        assert_eq!(delay, 1_000);
        assert_eq!(cache.next_over(), Some(5_001));
        assert_eq!(gone(cache.clean(60_000)), [keys("b")]);
        assert_eq!(cache.next_over(), Some(90_001));
        assert_eq!(gone(cache.clean(120_000)), [keys("a")]);
        assert_eq!((cache.next_over(), cache.size), (None, 0));
    }
}
