//! Many findings of one resource in little memory.
//!
//! A dump of a proxy has a quarter of a million fields that gRPC never reads, in a few patterns.
//! Neighbours share most of their path, and few words differ; so a path is kept as what differs
//! from the one before, and each pair of rule and message once. About twenty bytes a finding, where
//! a [`Diagnostic`] takes two hundred.
//!
//! Several clients leave mostly the same fields unread. One walk over the bytes makes one list for
//! all of them, in which each place is once, with who says it there.

mod runs;

use std::borrow::Cow;
use std::sync::Arc;

pub use self::runs::PackedPattern;
use self::runs::{RunPlaces, Runs};
use super::path::packed::{push_number, split_number};
use super::{Diagnostic, FieldPath, Path, Quota, Rule, Segs};

/// Texts that are looked through for an equal one; more are just added.
const COMPARED: usize = 64;

/// So many clients can have one list.
pub(super) const MAX_CLIENTS: usize = u8::BITS as usize;

/// Findings of a client with a rule, a path and a message, in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub struct Packed {
    /// The list, which other clients may have, too; `None` if nothing was ever added.
    list: Option<Arc<PackedList>>,
    /// The number of the client in it.
    client: usize,
}

/// The findings of some clients.
#[derive(Debug, Clone, Default)]
pub(super) struct PackedList {
    /// For each place: position in `groups` from 1, bytes of the path that are shared with the one
    /// before, bytes of its own, these bytes. 0 stands for the next of `runs`.
    bytes: Vec<u8>,
    runs: Runs,
    groups: Vec<PackedGroup>,
    clients: Vec<ClientTexts>,
    /// The kinds of [`push_kind`](Self::push_kind), for each client with the position among its
    /// texts.
    kinds: Vec<(usize, TextOfEach)>,
    /// The last path.
    last: Vec<u8>,
    /// A path that is being packed.
    next: Vec<u8>,
    /// The number of a list in this walk, and how much of `next` leads to it: neighbours are mostly in
    /// one.
    way: (Option<usize>, usize),
}

/// For each client the position of something among its texts, from 1; 0 if it has none.
type TextOfEach = [u32; MAX_CLIENTS];

/// What findings at several places have in common.
#[derive(Debug, Clone)]
struct PackedGroup {
    /// For each client that has them, the position among its texts.
    texts: TextOfEach,
    /// The path of the first.
    first: FieldPath,
    count: usize,
}

/// What one client says in a list.
#[derive(Debug, Clone, Default)]
struct ClientTexts {
    texts: Vec<PackedText>,
    len: usize,
    quota: Quota,
}

/// What a number of findings have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedText {
    /// The rule to which they belong, with its effect.
    pub rule: &'static Rule,
    message: Arc<str>,
    help: Option<&'static str>,
    /// The innermost field of their paths.
    field: Option<Cow<'static, str>>,
    count: usize,
}

impl PackedText {
    /// The innermost field of the paths of these findings.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// The one of these findings that has this path.
    pub fn at(&self, path: FieldPath) -> Diagnostic {
        Diagnostic {
            path,
            help: self.help.map(str::to_owned),
            ..Diagnostic::of_whole(self.rule, self.message.as_ref().to_owned())
        }
    }
}

/// What is said of a field: the rule, the message and the help. Many resources share the message.
pub type FieldWords = (&'static Rule, Arc<str>, Option<&'static str>);

/// Findings of a client that have in common their words, and which other clients have them.
pub struct PackedPlaces<'p> {
    /// The position of their words among [`Packed::texts`].
    pub text: usize,
    /// The place of the first.
    pub first: Segs<'p>,
    /// How many there are.
    pub count: usize,
}

impl Packed {
    /// The findings of each client of a list.
    pub(super) fn of_each(mut list: PackedList) -> Vec<Packed> {
        list.end_run();
        if list.clients.len() > 1 {
            // Nothing is added to it any more.
            list.shrink();
        }
        let list = Arc::new(list);
        let of = |client| Packed {
            list: Some(Arc::clone(&list)),
            client,
        };
        (0..list.clients.len()).map(of).collect()
    }

    /// A list with these findings alone, to add to.
    pub(super) fn into_list(self) -> PackedList {
        match self.list {
            Some(list) if list.clients.len() == 1 => {
                let mut list = Arc::unwrap_or_clone(list);
                // Lists are numbered anew.
                list.way = (None, 0);
                list.end_run();
                list
            }
            None => PackedList::new(1),
            Some(_) => self.kept(|| true),
        }
    }

    /// Takes out of `diagnostics` what `wanted` says and can be packed: findings without help and
    /// related places.
    pub fn take_from(&mut self, diagnostics: &mut Vec<Diagnostic>, wanted: impl Fn(&Diagnostic) -> bool) {
        let is_taken =
            |diagnostic: &Diagnostic| diagnostic.help.is_none() && diagnostic.related.is_empty() && wanted(diagnostic);
        if diagnostics.iter().any(is_taken) {
            let mut list = std::mem::take(self).into_list();
            diagnostics.retain(|diagnostic| {
                let take = is_taken(diagnostic);
                if take {
                    list.push(diagnostic.rule, &diagnostic.path, &diagnostic.message, None);
                }
                !take
            });
            self.list = Some(Arc::new(list));
        }
        diagnostics.shrink_to_fit();
    }

    /// Asks for each finding, in order, whether it stays. What was left out before stays counted.
    pub fn retain(&mut self, stays: impl FnMut() -> bool) {
        let mut list = self.kept(stays);
        list.shrink();
        *self = Packed {
            list: Some(Arc::new(list)),
            client: 0,
        };
    }

    fn kept(&self, mut stays: impl FnMut() -> bool) -> PackedList {
        let mut kept = PackedList::new(1);
        self.unpack(|_, text, path| {
            if stays() {
                kept.push(text.rule, &FieldPath::from_packed(path), &text.message, text.help);
            }
        });
        if let (Some(own), Some(kept)) = (self.own(), kept.clients.first_mut()) {
            kept.quota.clone_from(&own.quota);
        }
        kept
    }

    /// Gives back the memory that only adding needs.
    pub fn shrink(&mut self) {
        if let Some(list) = self.list.as_mut().and_then(Arc::get_mut) {
            list.shrink();
        }
    }

    fn own(&self) -> Option<&ClientTexts> {
        self.list.as_ref()?.clients.get(self.client)
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.own().map_or(0, |own| own.len)
    }

    /// Says whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many findings there are of each rule at fields of each name.
    pub fn counts(&self) -> impl Iterator<Item = (&'static Rule, Option<&str>, usize)> {
        let listed = self.texts().iter();
        listed
            .map(|text| (text.rule, text.field.as_deref(), text.count))
            .chain(self.omitted().map(|(rule, count)| (rule, None, count)))
    }

    fn omitted(&self) -> impl Iterator<Item = (&'static Rule, usize)> {
        self.own().into_iter().flat_map(|own| own.quota.omitted())
    }

    /// Calls `each` with the rule and the steps of every finding.
    pub fn for_each(&self, mut each: impl FnMut(&'static Rule, Segs<'_>)) {
        self.unpack(|_, text, path| each(text.rule, Segs::of(path)));
    }

    /// What findings have in common.
    pub fn texts(&self) -> &[PackedText] {
        self.own().map_or(&[], |own| &own.texts)
    }

    /// Says whether both are of one list, or one of them is empty: places that are the same are in
    /// the same [`groups`](Self::groups).
    pub fn is_beside(&self, other: &Packed) -> bool {
        let is_one = |(one, other)| Arc::ptr_eq(one, other);
        self.is_empty() || other.is_empty() || self.list.as_ref().zip(other.list.as_ref()).is_some_and(is_one)
    }

    /// The findings by what they have in common: their words, and the clients that have them.
    pub fn groups(&self) -> impl Iterator<Item = PackedPlaces<'_>> {
        let groups = self.list.iter().flat_map(|list| &list.groups);
        groups.filter_map(|group| {
            Some(PackedPlaces {
                text: text_of(group.texts, self.client)?,
                first: group.first.segs(),
                count: group.count,
            })
        })
    }

    /// Calls `each` for every finding with the number of its text among [`texts`](Self::texts), and
    /// with its steps.
    pub fn for_each_of_text(&self, mut each: impl FnMut(usize, Segs<'_>)) {
        self.unpack(|number, _, path| each(number, Segs::of(path)));
    }

    /// A finding for each rule of which some are not kept, after all others.
    pub fn closing(&self) -> impl Iterator<Item = Diagnostic> {
        self.own().into_iter().flat_map(|own| own.quota.closing())
    }

    /// Appends every finding to `diagnostics`.
    pub fn unpack_into(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.reserve(self.len());
        self.unpack_if(|_| true, diagnostics);
    }

    /// Appends the first findings of each of [`counts`](Self::counts): as many as `wanted` says of
    /// it, where what is left to want stays.
    pub fn unpack_first(&self, wanted: &mut [usize], diagnostics: &mut Vec<Diagnostic>) {
        if wanted.iter().all(|wanted| *wanted == 0) {
            return;
        }
        let takes = |of: usize| match wanted.get_mut(of) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        };
        self.unpack_if(takes, diagnostics);
    }

    /// Appends those of which `takes` says so, by their number among [`counts`](Self::counts).
    fn unpack_if(&self, mut takes: impl FnMut(usize) -> bool, diagnostics: &mut Vec<Diagnostic>) {
        self.unpack(|number, text, path| {
            if takes(number) {
                diagnostics.push(text.at(FieldPath::from_packed(path)));
            }
        });
        let closing = (self.texts().len()..).zip(self.closing());
        diagnostics.extend(closing.filter(|(number, _)| takes(*number)).map(|(_, closing)| closing));
    }

    /// Calls `each` for every finding with the number of what it has in common with others.
    fn unpack(&self, mut each: impl FnMut(usize, &PackedText, &[u8])) {
        let texts = self.texts();
        let mut places = self.places();
        while let Some(number) = places.next() {
            if let Some(text) = texts.get(number) {
                each(number, text, &places.path);
            }
        }
    }

    fn places(&self) -> Places<'_> {
        let list = self.list.as_deref();
        Places {
            rest: list.map_or(&[], |list| &list.bytes),
            groups: list.map_or(&[], |list| &list.groups),
            runs: list.map(|list| list.runs.places()).unwrap_or_default(),
            client: self.client,
            path: Vec::new(),
        }
    }
}

impl PartialEq for Packed {
    fn eq(&self, other: &Self) -> bool {
        if self.texts() != other.texts() || !self.omitted().eq(other.omitted()) || self.len() != other.len() {
            return false;
        }
        let (mut places, mut others) = (self.places(), other.places());
        loop {
            match (places.next(), others.next()) {
                (None, None) => return true,
                (one, other) if one == other && places.path == others.path => {}
                _ => return false,
            }
        }
    }
}

impl Eq for Packed {}

/// The places of a client's findings, one after the other.
struct Places<'p> {
    rest: &'p [u8],
    groups: &'p [PackedGroup],
    runs: RunPlaces<'p>,
    client: usize,
    /// The path of the last.
    path: Vec<u8>,
}

impl Places<'_> {
    /// The number of what the next finding has in common with others.
    fn next(&mut self) -> Option<usize> {
        loop {
            let group = self.next_group()?;
            if let Some(text) = text_of(self.groups.get(group)?.texts, self.client) {
                return Some(text);
            }
        }
    }

    /// The group of the next finding of any client.
    fn next_group(&mut self) -> Option<usize> {
        loop {
            if let Some(group) = self.runs.next(&mut self.path) {
                return Some(group);
            }
            let (group, after) = split_number(self.rest)?;
            self.rest = after;
            match group.checked_sub(1) {
                Some(group) => {
                    self.rest = split_path(after, &mut self.path)?;
                    return Some(group);
                }
                None => self.runs.begin()?,
            }
        }
    }
}

impl PackedList {
    /// An empty list for so many clients.
    pub(super) fn new(clients: usize) -> PackedList {
        PackedList {
            clients: vec![ClientTexts::default(); clients.min(MAX_CLIENTS)],
            ..PackedList::default()
        }
    }

    fn shrink(&mut self) {
        self.end_run();
        self.bytes.shrink_to_fit();
        self.groups.shrink_to_fit();
        self.clients.iter_mut().for_each(|client| client.texts.shrink_to_fit());
        (self.kinds, self.last, self.next, self.way) = Default::default();
    }

    /// Adds a finding at the field `field` of what is at `at`, for `clients`: a bit for each.
    /// Of one client, findings of one `kind` have the same rule and message. What is in one `list` has
    /// the number of that list.
    pub(super) fn push_kind(
        &mut self,
        (kind, clients): (usize, u8),
        field: &'static str,
        (at, list): (&Path<'_>, Option<usize>),
        say: impl Fn(usize) -> FieldWords,
    ) {
        let place = self.kinds.iter().position(|(known, _)| *known == kind);
        let place = place.unwrap_or_else(|| {
            self.kinds.push((kind, TextOfEach::default()));
            self.kinds.len() - 1
        });
        let Some((_, known)) = self.kinds.get_mut(place) else {
            return;
        };
        let mut texts = TextOfEach::default();
        let of_each = self.clients.iter_mut().zip(known).zip(&mut texts).enumerate();
        for (number, ((client, known), text)) in of_each.filter(|(number, _)| clients & 1 << number != 0) {
            if *known == 0 {
                *known = client.add_text(say(number), Some(Cow::Borrowed(field)));
            }
            if client.admits(*known) {
                *text = *known;
            }
        }
        if texts == TextOfEach::default() {
            return;
        }
        // The way to a list is packed once for all elements beside each other.
        if list.is_none() || self.way.0 != list {
            self.next.clear();
            at.pack_parent(&mut self.next);
            self.way = (list, self.next.len());
        }
        self.next.truncate(self.way.1);
        at.pack_last(&mut self.next);
        Path::ROOT.field(field).pack_last(&mut self.next);
        self.push_next(texts);
    }

    fn push(&mut self, rule: &'static Rule, path: &FieldPath, message: &str, help: Option<&'static str>) {
        let Some(client) = self.clients.first_mut() else {
            return;
        };
        if !client.quota.admits(rule) {
            return;
        }
        let field = path.segs().last_field();
        let is_equal = |text: &PackedText| {
            std::ptr::eq(text.rule, rule)
                && *text.message == *message
                && text.help == help
                && text.field.as_deref() == field
        };
        let text = match client.texts.iter().take(COMPARED).position(is_equal) {
            Some(known) => u32::try_from(known + 1).unwrap_or(u32::MAX),
            None => client.add_text((rule, message.into(), help), field.map(|field| field.to_owned().into())),
        };
        client.count(text, 1);
        self.next.clear();
        self.next.extend_from_slice(path.packed());
        self.way = (None, 0);
        let mut texts = TextOfEach::default();
        texts[0] = text;
        self.push_next(texts);
    }

    /// Adds the path in `next` for the clients that have a text.
    fn push_next(&mut self, texts: TextOfEach) {
        // Later groups are of what came later, which is mostly what goes on.
        let group = self.groups.iter().rposition(|group| group.texts == texts);
        let group = group.unwrap_or_else(|| {
            self.groups.push(PackedGroup {
                texts,
                first: FieldPath::from_packed(&self.next),
                count: 0,
            });
            self.groups.len() - 1
        });
        if let Some(group) = self.groups.get_mut(group) {
            group.count += 1;
        }
        if self.end_run() {
            self.last.clear();
        }
        let shared = shared_len(&self.next, &self.last);
        let own = self.next.get(shared..).unwrap_or_default();
        push_number(&mut self.bytes, group + 1);
        push_number(&mut self.bytes, shared);
        push_number(&mut self.bytes, own.len());
        self.bytes.extend_from_slice(own);
        self.last.truncate(shared);
        self.last.extend_from_slice(own);
    }
}

/// Takes a path off the bytes of a list; `path` is the one before.
fn split_path<'b>(bytes: &'b [u8], path: &mut Vec<u8>) -> Option<&'b [u8]> {
    let (shared, after) = split_number(bytes)?;
    let (own, after) = split_number(after)?;
    let (own, after) = after.split_at_checked(own)?;
    path.truncate(shared);
    path.extend_from_slice(own);
    Some(after)
}

/// The position of a client's text among its texts.
fn text_of(texts: TextOfEach, client: usize) -> Option<usize> {
    (*texts.get(client)? as usize).checked_sub(1)
}

impl ClientTexts {
    /// Adds a text; its position, from 1.
    fn add_text(&mut self, (rule, message, help): FieldWords, field: Option<Cow<'static, str>>) -> u32 {
        self.texts.push(PackedText {
            rule,
            message,
            help,
            field,
            count: 0,
        });
        u32::try_from(self.texts.len()).unwrap_or(u32::MAX)
    }

    /// Counts a finding with this text; says whether it is to be kept.
    fn admits(&mut self, text: u32) -> bool {
        let rule = self.texts.get(text as usize - 1).map(|text| text.rule);
        let is_kept = rule.is_some_and(|rule| self.quota.admits(rule));
        if is_kept {
            self.count(text, 1);
        }
        is_kept
    }

    /// Counts so many findings with this text that are kept.
    fn count(&mut self, text: u32, findings: usize) -> Option<&'static Rule> {
        self.len += findings;
        let text = self.texts.get_mut(text as usize - 1)?;
        text.count += findings;
        Some(text.rule)
    }
}

/// How many bytes two paths have in common; eight are compared at a time.
fn shared_len(one: &[u8], other: &[u8]) -> usize {
    let (words, _) = one.as_chunks::<8>();
    let words = words.iter().zip(other.as_chunks::<8>().0);
    let whole = 8 * words.take_while(|(one, other)| one == other).count();
    let rest = one.iter().zip(other).skip(whole);
    whole + rest.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests;
