//! What a client answers to a resource.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use xdsctl_model::diag::{self, Allowance, Diagnostic, Packed};
use xdsctl_model::profile::Client;

/// The verdict of a client on a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FamilyVerdict {
    /// The client accepts the resource.
    Accepted,
    /// The client rejects the resource, and says so to the control plane (NACK).
    Rejected,
    /// The client's process dies of the resource.
    Dies,
    /// The client would accept the resource, but has another version in its place, or the resource
    /// was removed. Found only where all resources are known.
    Ignored,
    /// Nobody knows: this version was not measured, and the versions around it differ.
    NotKnown,
}

impl FamilyVerdict {
    /// The word used in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            FamilyVerdict::Accepted => "accepted",
            FamilyVerdict::Rejected => "rejected",
            FamilyVerdict::Dies => "dies",
            FamilyVerdict::Ignored => "ignored",
            FamilyVerdict::NotKnown => "not_known",
        }
    }
}

/// The answer of one client.
#[derive(Debug, Clone)]
pub struct FamilyAnswer {
    /// The client whose answer it is.
    pub client: Client,
    /// What the client does with the resource.
    pub verdict: FamilyVerdict,
    /// The reasons and other findings, in the order in which the client comes across them.
    pub diagnostics: Findings,
}

/// The findings of a client. Equal lists of several versions are mostly kept in memory once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings(Option<Arc<FindingLists>>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct FindingLists {
    list: Vec<Diagnostic>,
    /// The fields that the client never reads.
    unread: Packed,
}

impl Deref for Findings {
    type Target = [Diagnostic];

    fn deref(&self) -> &[Diagnostic] {
        self.0.as_ref().map_or(&[], |lists| lists.list.as_slice())
    }
}

impl From<Vec<Diagnostic>> for Findings {
    fn from(list: Vec<Diagnostic>) -> Findings {
        Findings::new(list, Packed::default())
    }
}

impl Findings {
    /// Makes the findings of a client, with those on fields that it never reads.
    pub fn new(list: Vec<Diagnostic>, unread: Packed) -> Findings {
        let is_any = !list.is_empty() || unread.counts().next().is_some();
        Findings(is_any.then(|| Arc::new(FindingLists { list, unread })))
    }

    /// Returns the findings on fields that the client never reads, which are not among the others.
    pub fn unread(&self) -> Option<&Packed> {
        self.0.as_ref().map(|lists| &lists.unread)
    }

    /// Removes the findings that `keep` does not want; it is asked once for each, in order.
    pub fn retain(&mut self, mut keep: impl FnMut(&Diagnostic) -> bool) {
        let kept: Vec<bool> = self.iter().map(&mut keep).collect();
        if kept.contains(&false)
            && let Some(lists) = &mut self.0
        {
            let mut kept = kept.into_iter();
            Arc::make_mut(lists).list.retain(|_| kept.next().unwrap_or(true));
        }
    }

    /// Removes the findings on fields that are never read that `keep` does not want; it is asked
    /// once for each, in order.
    pub fn retain_unread(&mut self, mut keep: impl FnMut() -> bool) {
        let kept: Vec<bool> = (0..self.unread().map_or(0, Packed::len)).map(|_| keep()).collect();
        if kept.contains(&false)
            && let Some(lists) = &mut self.0
        {
            let mut kept = kept.into_iter();
            Arc::make_mut(lists).unread.retain(|| kept.next().unwrap_or(true));
        }
    }

    /// Adds findings at the end.
    pub fn extend(&mut self, more: Vec<Diagnostic>) {
        Arc::make_mut(self.0.get_or_insert_default()).list.extend(more);
    }

    /// Keeps as many findings as are allowed, and the first of each kind; the others are counted.
    pub fn cut(&mut self, allowance: Allowance) {
        if self.len() > allowance.first
            && let Some(lists) = &self.0
        {
            // Other answers may share the list, so only what is kept is copied.
            let mut list: Vec<Cow<'_, Diagnostic>> = lists.list.iter().map(Cow::Borrowed).collect();
            diag::cut(&mut list, allowance, |finding| finding, Cow::Owned);
            let list = list.into_iter().map(Cow::into_owned).collect();
            *self = Findings::new(list, lists.unread.clone());
        }
    }

    /// Takes all findings but those on fields that are never read, so that others can be put in
    /// their place ([`put_list`](Self::put_list)). A list that other answers share is copied
    /// instead.
    pub fn take_list(&mut self) -> Vec<Diagnostic> {
        match self.0.as_mut().and_then(Arc::get_mut) {
            Some(lists) => std::mem::take(&mut lists.list),
            None => self.to_vec(),
        }
    }

    /// Replaces all findings but those on fields that are never read.
    pub fn put_list(&mut self, list: Vec<Diagnostic>) {
        if **self == *list {
            return;
        }
        match self.0.as_mut().and_then(Arc::get_mut) {
            Some(lists) => lists.list = list,
            None => *self = Findings::new(list, self.unread().cloned().unwrap_or_default()),
        }
    }

    /// Says whether both share one list in memory.
    pub fn is_same(&self, other: &Findings) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl FamilyAnswer {
    /// Says whether this answer shares its list of findings with another one. Two lists may be
    /// equal without being shared.
    pub fn is_as(&self, other: &FamilyAnswer) -> bool {
        self.diagnostics.is_same(&other.diagnostics)
    }

    /// Shares the findings with one of the answers just before this one, if they are equal.
    pub fn share(&mut self, before: &[FamilyAnswer]) {
        let mut near = before.iter().rev().take(NEAR);
        if let Some(same) = near.find(|other| other.diagnostics == self.diagnostics) {
            self.diagnostics = same.diagnostics.clone();
        }
    }
}

/// With how many earlier answers an answer is compared: versions are in order, so neighbours are
/// alike.
const NEAR: usize = 2;
