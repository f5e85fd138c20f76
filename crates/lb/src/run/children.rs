//! The children of cluster_manager, weighted_target, priority and rls: by name, with numbers for
//! their places in the tree.
//!
//! A child that is no longer wanted is kept for a quarter of an hour, in case it is wanted again.
//! Numbers are never used twice. Follows C-core xds_cluster_manager.cc, weighted_target.cc and
//! priority.cc, which do this alike.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::child::Child;
use super::looks::look;
use super::policy::{PolicyCx, PolicyEvent, Reports, TreePath};
use super::runtime::{TimerId, below};
use xdsctl_model::profile::Feature;

/// How long a child that is not wanted is kept (C-core `kChildRetentionInterval`).
pub const RETENTION_MS: i64 = 15 * 60 * 1000;

/// Returns how long a child that is not wanted is kept, in ms: 0 in clients with the feature
/// `is_forgotten`.
pub fn kept_ms(is_forgotten: Feature, cx: &PolicyCx<'_>) -> i64 {
    match cx.clusters.profile().has(is_forgotten) {
        true => 0,
        false => RETENTION_MS,
    }
}

/// The children of a policy, with the data that it keeps about each.
#[derive(Debug)]
pub struct Children<D> {
    at: TreePath,
    next_number: u32,
    /// Boxed: a node of the map has room for eleven, and most policies have one child.
    members: BTreeMap<Arc<str>, Box<NamedChild<D>>>,
    names: BTreeMap<u32, Arc<str>>,
}

/// A child policy, with what its parent keeps about it.
#[derive(Debug)]
pub struct NamedChild<D> {
    /// The number of its place below the policy.
    pub number: u32,
    /// The child itself.
    pub child: Child,
    /// What the parent knows about the child.
    pub data: D,
    removal: Option<TimerId>,
}

impl<D> NamedChild<D> {
    /// Says whether the child is only kept for a while.
    pub const fn is_retired(&self) -> bool {
        self.removal.is_some()
    }
}

/// Returns the number of a parent's own timer for a child. The timer of its removal has the next
/// number.
pub const fn own_timer(child: u32) -> u64 {
    child as u64 * 2
}

impl<D> Children<D> {
    /// Makes an empty collection; `at` is the parent's own place.
    pub const fn new(at: TreePath) -> Children<D> {
        Children {
            at,
            next_number: 0,
            members: BTreeMap::new(),
            names: BTreeMap::new(),
        }
    }

    /// Returns the place of the parent in the tree.
    pub const fn at(&self) -> &TreePath {
        &self.at
    }

    /// Returns the child of this name.
    pub fn get(&self, name: &str) -> Option<&NamedChild<D>> {
        look(1);
        self.members.get(name).map(|member| &**member)
    }

    /// Returns the child of this name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut NamedChild<D>> {
        look(1);
        self.members.get_mut(name).map(|member| &mut **member)
    }

    /// Returns the name of the child of this number.
    pub fn name(&self, number: u32) -> Option<Arc<str>> {
        self.names.get(&number).cloned()
    }

    /// Returns the name of the child that a timer of [`own_timer`] is for.
    pub fn name_of_timer(&self, timer: u64) -> Option<Arc<str>> {
        let number = u32::try_from(timer / 2).ok()?;
        timer.is_multiple_of(2).then(|| self.name(number)).flatten()
    }

    /// Returns the names of all children, in order.
    pub fn names(&self) -> Vec<Arc<str>> {
        look(self.members.len());
        self.members.keys().cloned().collect()
    }

    /// Returns all children, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &NamedChild<D>)> {
        self.members
            .iter()
            .inspect(|_| look(1))
            .map(|(name, member)| (name, &**member))
    }

    /// Returns all children, in the order of their names, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut NamedChild<D>> {
        self.members
            .values_mut()
            .inspect(|_| look(1))
            .map(|member| &mut **member)
    }

    /// Makes a child unless there is one of this name.
    pub fn add(&mut self, name: &str, data: impl FnOnce() -> D) -> &mut NamedChild<D> {
        // Looked up first: `entry` needs the name before it says whether there is a child.
        if !self.members.contains_key(name) {
            self.names.insert(self.next_number, name.into());
        }
        let (at, next_number) = (&self.at, &mut self.next_number);
        self.members.entry(name.into()).or_insert_with(|| {
            let number = *next_number;
            *next_number += 1;
            Box::new(NamedChild {
                number,
                child: Child::new(below(at, number)),
                data: data(),
                removal: None,
            })
        })
    }

    /// Passes an event to the child at the beginning of the path. Returns the child's name and its
    /// reports. An event of the parent itself can only be the timer that removes a child that is
    /// not wanted.
    pub fn handle(&mut self, path: &[u32], what: &PolicyEvent, cx: &mut PolicyCx<'_>) -> Option<(Arc<str>, Reports)> {
        let Some((&number, rest)) = path.split_first() else {
            if let PolicyEvent::Timer(timer) = what
                && let Some((_, mut member)) = self.expire(*timer, cx)
            {
                member.child.shutdown(cx);
            }
            return None;
        };
        let name = self.name(number)?;
        let said = self.get_mut(&name)?.child.handle(rest, what, cx);
        Some((name, said))
    }

    /// Keeps a child that is not wanted for `ms` milliseconds. Says whether it was wanted until
    /// now.
    pub fn retire(&mut self, name: &str, ms: i64, cx: &mut PolicyCx<'_>) -> bool {
        let Some(member) = self.members.get_mut(name).filter(|member| !member.is_retired()) else {
            return false;
        };
        let what = PolicyEvent::Timer(own_timer(member.number) + 1);
        member.removal = Some(cx.runtime.timer(ms, &self.at, what));
        if cx.clusters.profile().has(Feature::ConnectionsPooled) {
            cx.runtime.pool.keep_apart(below(&self.at, member.number));
        }
        true
    }

    /// Notes that a child is wanted again.
    pub fn revive(&mut self, name: &str, cx: &mut PolicyCx<'_>) {
        if let Some(member) = self.members.get_mut(name) {
            cx.runtime.cancel(&mut member.removal);
            cx.runtime.pool.share_again(&below(&self.at, member.number));
        }
    }

    /// Removes the child whose time is over by this timer, and returns it.
    pub fn expire(&mut self, timer: u64, cx: &mut PolicyCx<'_>) -> Option<(Arc<str>, NamedChild<D>)> {
        if timer.is_multiple_of(2) {
            return None;
        }
        let name = self.name(u32::try_from(timer / 2).ok()?)?;
        self.members.get(&name).filter(|member| member.is_retired())?;
        let member = self.remove(&name)?;
        cx.runtime.pool.share_again(&below(&self.at, member.number));
        Some((name, member))
    }

    /// Removes a child, and returns it.
    pub fn remove(&mut self, name: &str) -> Option<NamedChild<D>> {
        let member = self.members.remove(name)?;
        self.names.remove(&member.number);
        Some(*member)
    }

    /// Shuts down all children; `each` is called for each of them before.
    pub fn shutdown(&mut self, cx: &mut PolicyCx<'_>, mut each: impl FnMut(&mut D, &mut PolicyCx<'_>)) {
        self.names.clear();
        for (_, mut member) in std::mem::take(&mut self.members) {
            each(&mut member.data, cx);
            cx.runtime.cancel(&mut member.removal);
            member.child.shutdown(cx);
        }
    }
}
