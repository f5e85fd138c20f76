//! Stores many findings of one resource in little memory.
//!
//! A dump of a proxy has a quarter of a million fields that gRPC never reads, in a few patterns.
//! Neighbours share most of their path and their words. So each path is stored as its difference
//! from the path before, and each pair of rule and message is stored once. A finding takes about
//! twenty bytes, where a [`Diagnostic`] takes two hundred.
//!
//! Several clients mostly leave the same fields unread. One walk over the bytes therefore makes one
//! list for all of them, which holds each place once, with the clients that report it there.

mod runs;

use std::borrow::Cow;
use std::sync::Arc;

pub use self::runs::PackedPattern;
use self::runs::{RunPlaces, Runs};
use super::path::packed::{push_number, split_number};
use super::{Diagnostic, FieldPath, Path, Quota, Rule, Segs};

/// How many texts are searched for an equal one; beyond that, a text is just added.
const COMPARED: usize = 64;

/// How many clients can share one list.
pub(super) const MAX_CLIENTS: usize = u8::BITS as usize;

/// The findings of a client with a rule, a path and a message, in the order in which they were
/// added.
#[derive(Debug, Clone, Default)]
pub struct Packed {
    /// The list, which may be shared with other clients; `None` if nothing was ever added.
    list: Option<Arc<PackedList>>,
    /// The number of the client in the list.
    client: usize,
}

/// The findings of some clients on one resource.
#[derive(Debug, Clone, Default)]
pub(super) struct PackedList {
    /// For each place: the position in `groups` from 1, the number of bytes of the path that are
    /// shared with the path before, the number of other bytes, and these bytes. A 0 instead of the
    /// position stands for the next of `runs`.
    bytes: Vec<u8>,
    runs: Runs,
    groups: Vec<PackedGroup>,
    clients: Vec<ClientTexts>,
    /// The kinds of [`push_kind`](Self::push_kind), each with the position of its text among those
    /// of each client.
    kinds: Vec<(usize, TextOfEach)>,
    /// The path that was added last.
    last: Vec<u8>,
    /// The path that is being packed.
    next: Vec<u8>,
    /// The list of the last element, by its number in this walk, and how many bytes of `next` lead
    /// to it: neighbours are mostly in one list.
    way: (Option<usize>, usize),
}

/// For each client the position of a text among the client's texts, from 1; 0 if it has none.
type TextOfEach = [u32; MAX_CLIENTS];

/// What findings at several places share.
#[derive(Debug, Clone)]
struct PackedGroup {
    /// For each client that has these findings, the position of their text among the client's
    /// texts.
    texts: TextOfEach,
    /// The path of the first finding.
    first: FieldPath,
    count: usize,
}

/// The texts of one client in a list.
#[derive(Debug, Clone, Default)]
struct ClientTexts {
    texts: Vec<PackedText>,
    len: usize,
    quota: Quota,
}

/// What several findings share: everything but their paths.
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
    /// Returns the innermost field of the paths of these findings.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// Makes the finding with these words at this path.
    pub fn at(&self, path: FieldPath) -> Diagnostic {
        Diagnostic {
            path,
            help: self.help.map(str::to_owned),
            ..Diagnostic::of_whole(self.rule, self.message.as_ref().to_owned())
        }
    }
}

/// What a finding says about a field: the rule, the message and the help. Many resources share the
/// message.
pub type FieldWords = (&'static Rule, Arc<str>, Option<&'static str>);

/// Findings of a client that have the same words, and that the same clients have.
pub struct PackedPlaces<'p> {
    /// The position of their words among [`Packed::texts`].
    pub text: usize,
    /// The place of the first finding.
    pub first: Segs<'p>,
    /// The number of findings.
    pub count: usize,
}

impl Packed {
    /// Splits a list into the findings of each client.
    pub(super) fn of_each(mut list: PackedList) -> Vec<Packed> {
        list.end_run();
        if list.clients.len() > 1 {
            // Nothing is added to the list any more.
            list.shrink();
        }
        let list = Arc::new(list);
        let of = |client| Packed {
            list: Some(Arc::clone(&list)),
            client,
        };
        (0..list.clients.len()).map(of).collect()
    }

    /// Returns a list of only these findings, to which others can be added.
    pub(super) fn into_list(self) -> PackedList {
        match self.list {
            Some(list) if list.clients.len() == 1 => {
                let mut list = Arc::unwrap_or_clone(list);
                // The next walk numbers its lists anew.
                list.way = (None, 0);
                list.end_run();
                list
            }
            None => PackedList::new(1),
            Some(_) => self.kept(|| true),
        }
    }

    /// Moves those findings out of `diagnostics` that `wanted` selects and that can be packed:
    /// findings without help and related places.
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

    /// Asks for each finding, in order, whether it stays. Findings that were only counted before
    /// stay counted.
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

    /// Gives back memory that is only needed for adding.
    pub fn shrink(&mut self) {
        if let Some(list) = self.list.as_mut().and_then(Arc::get_mut) {
            list.shrink();
        }
    }

    fn own(&self) -> Option<&ClientTexts> {
        self.list.as_ref()?.clients.get(self.client)
    }

    /// Returns how many findings are kept.
    pub fn len(&self) -> usize {
        self.own().map_or(0, |own| own.len)
    }

    /// Says whether no findings are kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts the findings of each rule by the name of their field. Findings that were not kept are
    /// counted by rule alone.
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

    /// Returns the words of the findings.
    pub fn texts(&self) -> &[PackedText] {
        self.own().map_or(&[], |own| &own.texts)
    }

    /// Says whether both share one list, or one of them is empty. Equal places are then in the same
    /// [`groups`](Self::groups).
    pub fn is_beside(&self, other: &Packed) -> bool {
        let is_one = |(one, other)| Arc::ptr_eq(one, other);
        self.is_empty() || other.is_empty() || self.list.as_ref().zip(other.list.as_ref()).is_some_and(is_one)
    }

    /// Returns the findings in groups of equal words that the same clients have.
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

    /// Calls `each` for every finding with the index of its text among [`texts`](Self::texts), and
    /// with its steps.
    pub fn for_each_of_text(&self, mut each: impl FnMut(usize, Segs<'_>)) {
        self.unpack(|number, _, path| each(number, Segs::of(path)));
    }

    /// Returns a finding for each rule of which some findings were not kept.
    pub fn closing(&self) -> impl Iterator<Item = Diagnostic> {
        self.own().into_iter().flat_map(|own| own.quota.closing())
    }

    /// Appends every finding to `diagnostics`.
    pub fn unpack_into(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.reserve(self.len());
        self.unpack_if(|_| true, diagnostics);
    }

    /// Appends the first findings of each of [`counts`](Self::counts), as many as `wanted` says,
    /// and subtracts them there.
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

    /// Appends the findings for whose index among [`counts`](Self::counts) `takes` is true.
    fn unpack_if(&self, mut takes: impl FnMut(usize) -> bool, diagnostics: &mut Vec<Diagnostic>) {
        self.unpack(|number, text, path| {
            if takes(number) {
                diagnostics.push(text.at(FieldPath::from_packed(path)));
            }
        });
        let closing = (self.texts().len()..).zip(self.closing());
        diagnostics.extend(closing.filter(|(number, _)| takes(*number)).map(|(_, closing)| closing));
    }

    /// Calls `each` for every finding with the index of its text.
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

/// An iterator over the places of a client's findings.
struct Places<'p> {
    rest: &'p [u8],
    groups: &'p [PackedGroup],
    runs: RunPlaces<'p>,
    client: usize,
    /// The path of the last finding.
    path: Vec<u8>,
}

impl Places<'_> {
    /// Moves to the next finding of the client, and returns the index of its text.
    fn next(&mut self) -> Option<usize> {
        loop {
            let group = self.next_group()?;
            if let Some(text) = text_of(self.groups.get(group)?.texts, self.client) {
                return Some(text);
            }
        }
    }

    /// Moves to the next finding of any client, and returns its group.
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
    /// Makes an empty list for `clients` clients.
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

    /// Adds a finding at the field `field` of the message at `at`, for the clients whose bit in
    /// `clients` is set. Findings of one `kind` have the same rule and message for a client. `list`
    /// is the number of the list that `at` is an element of.
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
        // The path of a list is packed once for elements that follow each other.
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
        // Searches from the end, because the latest groups are the likeliest to continue.
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

/// Reads a path from the bytes of a list. `path` holds the path before, and then this one.
fn split_path<'b>(bytes: &'b [u8], path: &mut Vec<u8>) -> Option<&'b [u8]> {
    let (shared, after) = split_number(bytes)?;
    let (own, after) = split_number(after)?;
    let (own, after) = after.split_at_checked(own)?;
    path.truncate(shared);
    path.extend_from_slice(own);
    Some(after)
}

/// Returns the index of a client's text among the client's texts.
fn text_of(texts: TextOfEach, client: usize) -> Option<usize> {
    (*texts.get(client)? as usize).checked_sub(1)
}

impl ClientTexts {
    /// Adds a text and returns its position, from 1.
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

    /// Counts a finding with this text, and says whether it is to be kept.
    fn admits(&mut self, text: u32) -> bool {
        let rule = self.texts.get(text as usize - 1).map(|text| text.rule);
        let is_kept = rule.is_some_and(|rule| self.quota.admits(rule));
        if is_kept {
            self.count(text, 1);
        }
        is_kept
    }

    /// Counts `findings` findings with this text that are kept.
    fn count(&mut self, text: u32, findings: usize) -> Option<&'static Rule> {
        self.len += findings;
        let text = self.texts.get_mut(text as usize - 1)?;
        text.count += findings;
        Some(text.rule)
    }
}

/// Returns how many leading bytes two paths share. Compares eight at a time.
fn shared_len(one: &[u8], other: &[u8]) -> usize {
    let (words, _) = one.as_chunks::<8>();
    let words = words.iter().zip(other.as_chunks::<8>().0);
    let whole = 8 * words.take_while(|(one, other)| one == other).count();
    let rest = one.iter().zip(other).skip(whole);
    whole + rest.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests;
