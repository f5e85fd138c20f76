//! One client looking at one resource: the profile, the bootstrap's facts, and the findings so far.

use std::cell::Cell;
use std::fmt;

use super::packed::{MAX_CLIENTS, PackedList};
use super::{Diagnostic, Effect, FieldPath, FieldWords, Packed, PackedPattern, Path, Quota, Rule};
use crate::profile::{Family, Feature, Profile, ServerFacts};

/// What a converter reads and writes while it validates one resource.
///
/// On the valid path nothing is allocated: `report` is marked as cold.
#[derive(Debug)]
pub struct Validation<'p> {
    profile: &'p Profile,
    server: &'p ServerFacts,
    /// The client for which unread fields are reported; usually `profile`.
    reader: &'p Profile,
    beside: Readers<'p>,
    diagnostics: Vec<Diagnostic>,
    /// Findings that count only if the resource is accepted.
    if_accepted: Vec<Diagnostic>,
    if_accepted_quota: Quota,
    quota: Quota,
    nacks: usize,
    nested: u32,
    /// Whether findings are discarded.
    is_unheard: bool,
    known: BytesKnowledge,
    /// The unread fields of the reader and of the clients beside it; `None` if nothing is packed.
    unread: Option<PackedList>,
    /// How many lists were numbered.
    lists: usize,
}

/// What is known of the bytes of a resource before they are checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BytesKnowledge {
    /// They may be anything.
    #[default]
    Nothing,
    /// The bytes are well-formed for the client's parser: the loader wrote them, field by field and
    /// to no great depth.
    WellFormed,
    /// The bytes are well-formed, and C-core reads every field in them. Their check has nothing to
    /// report, except for the clients beside C-core.
    Plain,
}

/// Further clients whose unread fields are reported in the same walk over the bytes.
#[derive(Debug, Default)]
struct Readers<'p> {
    profiles: &'p [Profile],
    /// A bit for each further client for which a converter would have taken another way.
    parted: Cell<u8>,
}

/// The most further clients whose unread fields can be reported in one walk.
pub const READERS_BESIDE: usize = MAX_CLIENTS - 1;

/// A point in the list of rejections, to ask later whether anything was rejected since.
#[derive(Debug, Clone, Copy)]
pub struct RejectionMark(usize);

/// A finding that was just reported, to which details can be added. Details of a finding that is
/// only counted are ignored.
#[derive(Debug)]
pub struct Reported<'f>(Option<&'f mut Diagnostic>);

impl Reported<'_> {
    /// Applies `add` to the finding.
    pub fn with(mut self, add: impl FnOnce(&mut Diagnostic)) -> Self {
        if let Some(finding) = &mut self.0 {
            add(finding);
        }
        self
    }

    /// Adds the one action that the reader can take.
    pub fn help(self, text: impl Into<String>) -> Self {
        self.with(|finding| _ = finding.help(text))
    }

    /// Adds another place that the finding is about, with a text that says what it is.
    pub fn related(self, path: FieldPath, message: impl Into<String>) -> Self {
        self.with(|finding| _ = finding.related(path, message))
    }

    /// Restricts the families that share the rule's finding to these.
    pub fn shared_with(self, families: &'static [Family]) -> Self {
        self.with(|finding| _ = finding.shared_with(families))
    }
}

impl<'p> Validation<'p> {
    /// Makes a validation for one client, without findings.
    pub fn new(profile: &'p Profile, server: &'p ServerFacts) -> Self {
        Validation {
            profile,
            server,
            reader: profile,
            beside: Readers::default(),
            diagnostics: Vec::new(),
            if_accepted: Vec::new(),
            if_accepted_quota: Quota::default(),
            quota: Quota::default(),
            nacks: 0,
            nested: 0,
            is_unheard: false,
            known: BytesKnowledge::Nothing,
            unread: None,
            lists: 0,
        }
    }

    /// Sets what the loader knows of the bytes; the check of the bytes leaves that out.
    #[must_use]
    pub fn knowing(mut self, known: BytesKnowledge) -> Self {
        self.known = known;
        self
    }

    /// Keeps findings of one rule in proportion to a resource of `bytes` bytes; the others are
    /// counted.
    #[must_use]
    pub fn sized(mut self, bytes: usize) -> Self {
        self.quota.fit(bytes);
        self.if_accepted_quota.fit(bytes);
        self
    }

    /// Returns what is known of the bytes; nothing unless [`knowing`](Self::knowing) set it.
    pub fn known(&self) -> BytesKnowledge {
        self.known
    }

    /// Keeps findings of [`report_field`](Self::report_field) in little memory. Only
    /// [`take_unread`](Self::take_unread) returns them.
    #[must_use]
    pub fn packing(self) -> Self {
        self.packing_after(Some(Packed::default()))
    }

    /// Says whether findings of [`report_field`](Self::report_field) are packed.
    pub const fn is_packing(&self) -> bool {
        self.unread.is_some()
    }

    /// Packs findings after those in `packed`; `None` if nothing is to be packed.
    #[must_use]
    pub fn packing_after(mut self, packed: Option<Packed>) -> Self {
        self.unread = packed.map(Packed::into_list);
        self
    }

    /// Reports the unread fields of another client, after the findings in `packed`.
    #[must_use]
    pub fn reading_as(mut self, reader: &'p Profile, packed: Packed) -> Self {
        self.reader = reader;
        self.packing_after(Some(packed))
    }

    /// Also reports the unread fields of further clients, up to [`READERS_BESIDE`]. Each is of a
    /// family of its own. All findings are packed, beginning with none.
    #[must_use]
    pub fn reading_beside(mut self, readers: &'p [Profile]) -> Self {
        let profiles = readers.get(..READERS_BESIDE).unwrap_or(readers);
        self.unread = Some(PackedList::new(1 + profiles.len()));
        self.beside = Readers {
            profiles,
            parted: Cell::default(),
        };
        self
    }

    /// Returns the clients whose unread fields are reported: the one that validates, or the one set
    /// by [`reading_as`](Self::reading_as), and those beside it.
    pub fn readers(&self) -> (&'p Profile, &'p [Profile]) {
        (self.reader, self.beside.profiles)
    }

    /// Returns what is true of the client whose unread fields are reported. A further client of
    /// which the opposite is true takes no part in the findings any more.
    pub fn of_reader(&self, is_true: impl Fn(&Profile) -> bool) -> bool {
        let of_reader = is_true(self.reader);
        let others = self.beside.profiles.iter().zip(0..);
        for (_, number) in others.filter(|(other, _)| is_true(other) != of_reader) {
            self.beside.parted.set(self.beside.parted.get() | 1 << number);
        }
        of_reader
    }

    /// Hands over what was packed: the findings of the reader, `None` if nothing is packed, and
    /// those of each client beside it. They are `None` for a client that differs in something that
    /// [`of_reader`](Self::of_reader) asked.
    pub fn take_unread(&mut self) -> (Option<Packed>, Vec<Option<Packed>>) {
        let parted = self.beside.parted.get();
        let mut of_each = self.unread.take().into_iter().flat_map(Packed::of_each);
        let of_reader = of_each.next();
        let beside = of_each.zip(0..);
        let beside = beside.map(|(unread, number)| (parted & 1 << number == 0).then_some(unread));
        (of_reader, beside.collect())
    }

    /// Returns a number for a list, which no other list of this validation has.
    pub const fn new_list(&mut self) -> usize {
        self.lists += 1;
        self.lists
    }

    /// Records a finding on the field `field` of the message at `at`. There may be a hundred
    /// thousand such findings.
    ///
    /// `clients` has a bit for each of the [`readers`](Self::readers), in their order: those that
    /// have the finding. `kind` stands for the field of the message type: findings of one kind have
    /// the same rule, message and help for a client. The rule must not be a [`Effect::Nack`]. If
    /// `at` is an element of a list, the list has a [number](Self::new_list).
    #[cold]
    pub fn report_field(
        &mut self,
        (kind, clients): (usize, u8),
        field: &'static str,
        (at, list): (&Path<'_>, Option<usize>),
        say: impl Fn(&Profile) -> FieldWords,
    ) {
        let (reader, beside) = self.readers();
        if let Some(unread) = &mut self.unread {
            let beside = |number: usize| beside.get(number.checked_sub(1)?);
            let reader = |number: usize| beside(number).unwrap_or(reader);
            unread.push_kind((kind, clients), field, (at, list), |number| say(reader(number)));
        } else if clients & 1 != 0 {
            let (rule, message, help) = say(reader);
            let finding = self.report(rule, &at.field(field), format_args!("{message}"));
            if let Some(help) = help {
                finding.help(help);
            }
        }
    }

    /// Returns how much is packed now, to pass to [`fields_since`](Self::fields_since).
    pub fn mark_fields(&self) -> usize {
        self.unread.as_ref().map_or(0, PackedList::size)
    }

    /// Returns the findings that were packed since `mark`, which must be all those of the element
    /// at `at`. Returns `None` if nothing is to be packed, or if they cannot be repeated.
    pub fn fields_since(&mut self, mark: usize, at: &Path<'_>) -> Option<PackedPattern> {
        self.unread.as_mut()?.pattern(mark, at)
    }

    /// Reports the findings of `pattern` for the element at `at`, in the list with this number.
    /// Says whether it did; otherwise they must be reported field by field.
    pub fn repeat_fields(&mut self, pattern: PackedPattern, at: (&Path<'_>, usize)) -> bool {
        self.unread.as_mut().is_some_and(|unread| unread.repeat(pattern, at))
    }

    /// Says whether the client has `feature` switched on.
    pub fn has(&self, feature: Feature) -> bool {
        self.profile.has(feature)
    }

    /// Returns the client with its switches.
    pub fn profile(&self) -> &'p Profile {
        self.profile
    }

    /// Returns the facts from the bootstrap.
    pub fn server(&self) -> &'p ServerFacts {
        self.server
    }

    /// Records a finding at `at`.
    ///
    /// The caller can add help or a related place to what it returns. Findings of a rule beyond
    /// [`MAX_FINDINGS_PER_RULE`](super::MAX_FINDINGS_PER_RULE) are counted only.
    #[cold]
    pub fn report(&mut self, rule: &'static Rule, at: &Path<'_>, message: fmt::Arguments<'_>) -> Reported<'_> {
        self.report_as(rule.effect, rule, at, message)
    }

    /// Records a finding at `at` with an effect that may differ from the rule's: another client may
    /// reject what C-core overlooks.
    #[cold]
    pub fn report_as(
        &mut self,
        effect: Effect,
        rule: &'static Rule,
        at: &Path<'_>,
        message: fmt::Arguments<'_>,
    ) -> Reported<'_> {
        if effect == Effect::Nack {
            self.nacks += 1;
        }
        if self.is_unheard || !self.quota.admits(rule) {
            return Reported(None);
        }
        self.diagnostics.push(Diagnostic {
            effect,
            path: at.to_owned(),
            ..Diagnostic::of_whole(rule, message.to_string())
        });
        Reported(self.diagnostics.last_mut())
    }

    /// Returns a part that must be there; reports `rule` at `at` if it is missing.
    pub fn required<T>(
        &mut self,
        part: Option<T>,
        rule: &'static Rule,
        at: &Path<'_>,
        why: impl fmt::Display,
    ) -> Option<T> {
        self.check(part.is_some(), rule, at, why)?;
        part
    }

    /// Returns `None` after reporting `rule` at `at` if something does not hold.
    pub fn check(&mut self, holds: bool, rule: &'static Rule, at: &Path<'_>, why: impl fmt::Display) -> Option<()> {
        if !holds {
            self.report(rule, at, format_args!("{why}"));
        }
        holds.then_some(())
    }

    /// Records a failure that happens later if the client accepts the resource. If it rejects the
    /// resource, the finding is dropped.
    #[cold]
    pub fn report_if_accepted(&mut self, rule: &'static Rule, at: &Path<'_>, message: fmt::Arguments<'_>) {
        if self.is_unheard || !self.if_accepted_quota.admits(rule) {
            return;
        }
        self.if_accepted.push(Diagnostic {
            effect: Effect::Fails,
            path: at.to_owned(),
            ..Diagnostic::of_whole(rule, message.to_string())
        });
    }

    /// Records findings that were collected before it was known whether they apply.
    #[cold]
    pub fn add_all(&mut self, findings: Vec<Diagnostic>) {
        for finding in findings {
            let recorded = self.report(finding.rule, &Path::ROOT, format_args!(""));
            recorded.with(|recorded| *recorded = finding);
        }
    }

    /// Runs `step` one level deeper; `None` if there are `limit` levels already.
    ///
    /// For messages that can be nested in Any values without limit: the protobuf parser does not
    /// count these levels.
    pub fn nested<R>(&mut self, limit: u32, step: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.nested >= limit {
            return None;
        }
        self.nested += 1;
        let result = step(self);
        self.nested -= 1;
        Some(result)
    }

    /// Runs `step` and discards its findings: the client converts the message without checking it.
    pub fn unheard<R>(&mut self, step: impl FnOnce(&mut Self) -> R) -> R {
        let (nacks, is_unheard) = (self.nacks, std::mem::replace(&mut self.is_unheard, true));
        let result = step(self);
        (self.nacks, self.is_unheard) = (nacks, is_unheard);
        result
    }

    /// Returns how many rejections there are, for [`nacked_since`](Self::nacked_since).
    pub fn mark(&self) -> RejectionMark {
        RejectionMark(self.nacks)
    }

    /// Says whether anything was rejected since `mark`.
    pub fn nacked_since(&self, mark: RejectionMark) -> bool {
        self.nacks > mark.0
    }

    /// Says whether the resource is rejected so far.
    pub fn nacked(&self) -> bool {
        self.nacks > 0
    }

    /// Says whether there is no finding yet.
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// Returns the findings so far.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Ends the validation and returns the findings, in the order in which the client finds the
    /// faults.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        if self.nacks == 0 {
            self.diagnostics.append(&mut self.if_accepted);
            self.diagnostics.extend(self.if_accepted_quota.closing());
        }
        self.diagnostics.extend(self.quota.closing());
        self.diagnostics
    }
}
