//! Merges the findings of several clients to one list.
//!
//! Findings of one rule at one place are one finding; for a policy only if they also have the same
//! message. A field that one client rejects and C-core never reads is one finding, too, because the
//! user wants to know about the field, not about the clients. There may be a quarter of a million
//! fields that are never read, so their findings get words only if they are shown.

use std::borrow::Cow;
use std::hash::BuildHasher;

use foldhash::HashMap;
use foldhash::fast::RandomState;

use super::clients::{EffectWays, EffectsId, Say};
use xdsctl_lint::decide::loudness::CountedEffect;
use xdsctl_model::diag::{Diagnostic, Effect, FieldPath, Packed, PackedText, Rule, Segs};
use xdsctl_model::profile::{Client, Fleet};
use xdsctl_policy::is_policy;

/// The rules about fields that C-core never reads.
const UNREAD: [&str; 3] = ["field-ignored", "behaviour-field-ignored", "security-field-ignored"];

/// A finding of a client, to be merged with those of others.
pub(super) enum ClientFinding<'f> {
    /// A finding with words of its own.
    Whole(Cow<'f, Diagnostic>),
    /// A field that is never read: the index of its text, and its path.
    Unread(usize, Segs<'f>),
}

/// A finding in the merged list.
#[derive(Debug)]
enum KeptFinding {
    Whole(Box<Diagnostic>),
    Unread(usize, FieldPath),
}

#[derive(Debug)]
struct MergedFinding {
    listed: KeptFinding,
    /// The clients that have the finding, each with its effect.
    effects: EffectsId,
    /// How many findings this one stands for; the others are the same except for their place.
    count: usize,
    /// Index of the next finding at the same place.
    next: Option<usize>,
}

impl MergedFinding {
    fn path(&self) -> &FieldPath {
        match &self.listed {
            KeptFinding::Whole(diagnostic) => &diagnostic.path,
            KeptFinding::Unread(_, path) => path,
        }
    }

    /// Says whether two neighbours are the same except for their place.
    fn is_like(&self, next: &MergedFinding) -> bool {
        match (&self.listed, &next.listed) {
            (KeptFinding::Unread(one, _), KeptFinding::Unread(other, _)) => {
                one == other && self.effects == next.effects
            }
            _ => false,
        }
    }
}

/// The state while findings are merged.
pub(super) struct Merging<'w> {
    items: Vec<MergedFinding>,
    texts: Vec<PackedText>,
    ways: &'w mut EffectWays,
    /// Index of the first finding at each place, by the hash of the path. Never iterated.
    by_place: HashMap<u64, usize>,
    hasher: RandomState,
}

impl<'w> Merging<'w> {
    pub(super) fn new(ways: &'w mut EffectWays) -> Merging<'w> {
        Merging {
            items: Vec::new(),
            texts: Vec::new(),
            ways,
            by_place: HashMap::default(),
            hasher: RandomState::default(),
        }
    }

    /// Adds the findings of a client on fields that it never reads. With `is_counted`, one finding
    /// stands for all that have the same words and the same clients. Their indexes and effects are
    /// added to `places`.
    pub(super) fn add_unread(
        &mut self,
        unread: &Packed,
        client: Client,
        is_counted: bool,
        places: &mut Vec<(usize, Effect)>,
    ) {
        let first = self.texts.len();
        self.texts.extend_from_slice(unread.texts());
        if is_counted {
            for group in unread.groups() {
                let place = self.add(ClientFinding::Unread(first + group.text, group.first), Some(client));
                if let Some(item) = self.items.get_mut(place.0) {
                    item.count = group.count;
                }
                places.push(place);
            }
        } else {
            unread.for_each_of_text(|text, steps| {
                places.push(self.add(ClientFinding::Unread(first + text, steps), Some(client)))
            });
        }
        let closing = unread
            .closing()
            .map(|closing| ClientFinding::Whole(Cow::Owned(closing)));
        places.extend(closing.map(|closing| self.add(closing, Some(client))));
    }

    /// Adds a finding and returns its index and effect.
    pub(super) fn add(&mut self, found: ClientFinding<'_>, client: Option<Client>) -> (usize, Effect) {
        let (effect, steps) = match &found {
            ClientFinding::Whole(diagnostic) => (diagnostic.effect, diagnostic.path.segs()),
            ClientFinding::Unread(text, steps) => (self.effect(*text), steps.clone()),
        };
        let hash = self.hasher.hash_one(steps.packed());
        let (mut before, mut at) = (None, self.by_place.get(&hash).copied());
        while let Some(number) = at
            && let Some(item) = self.items.get(number)
            && !(item.path().segs().packed() == steps.packed() && self.is_same(item, &found, client))
        {
            (before, at) = (at, item.next);
        }
        let number = at.unwrap_or(self.items.len());
        match at {
            Some(number) => self.take_in(number, &found),
            None => {
                match before.and_then(|before| self.items.get_mut(before)) {
                    Some(before) => before.next = Some(number),
                    None => _ = self.by_place.insert(hash, number),
                }
                self.items.push(MergedFinding {
                    listed: match found {
                        ClientFinding::Whole(diagnostic) => KeptFinding::Whole(Box::new(diagnostic.into_owned())),
                        ClientFinding::Unread(text, steps) => KeptFinding::Unread(text, steps.to_path()),
                    },
                    effects: EffectsId::default(),
                    count: 1,
                    next: None,
                });
            }
        }
        if let Some(client) = client {
            self.add_effect(number, effect, client);
        }
        (number, effect)
    }

    /// Adds another client that has a finding that is in the list already.
    pub(super) fn add_effect(&mut self, number: usize, effect: Effect, client: Client) {
        if let Some(item) = self.items.get_mut(number) {
            item.effects = self.ways.with(item.effects, effect, client);
        }
    }

    fn rule(&self, text: usize) -> Option<&'static Rule> {
        self.texts.get(text).map(|text| text.rule)
    }

    fn effect(&self, text: usize) -> Effect {
        self.rule(text).map_or(Effect::Ignored, |rule| rule.effect)
    }

    /// Says whether a client's finding is the same as one of other clients at the same place.
    /// Several findings of one client stay several.
    fn is_same(&self, item: &MergedFinding, found: &ClientFinding<'_>, client: Option<Client>) -> bool {
        let rule = match &item.listed {
            KeptFinding::Whole(known) => Some(known.rule),
            KeptFinding::Unread(text, _) => self.rule(*text),
        };
        let rule_found = match found {
            ClientFinding::Whole(diagnostic) => Some(diagnostic.rule),
            ClientFinding::Unread(text, _) => self.rule(*text),
        };
        let says_the_same = || match (&item.listed, found) {
            (KeptFinding::Whole(known), ClientFinding::Whole(diagnostic)) => {
                known.effect == diagnostic.effect && known.message == diagnostic.message
            }
            _ => true,
        };
        let is_same = rule.is_some_and(|rule| match rule_found == Some(rule) {
            // A policy looks at what each client keeps, so its message may differ from client to
            // client.
            true => !is_policy(rule) || says_the_same(),
            false => UNREAD.contains(&rule.id),
        });
        let effects = || self.ways.effects(item.effects);
        is_same && client.is_some_and(|client| effects().iter().all(|(_, other)| *other != client))
    }

    /// Merges another client's finding into one in the list. If one client rejects a field that
    /// others never read, the rejection is the more important finding.
    fn take_in(&mut self, number: usize, found: &ClientFinding<'_>) {
        let texts = &self.texts;
        let Some(item) = self.items.get_mut(number) else { return };
        if let (KeptFinding::Unread(known, _), ClientFinding::Unread(text, _)) = (&item.listed, found)
            && texts.get(*known).map(|text| text.rule) == texts.get(*text).map(|text| text.rule)
        {
            return;
        }
        let found = match found {
            ClientFinding::Whole(diagnostic) => Some(Cow::Borrowed(&**diagnostic)),
            ClientFinding::Unread(text, steps) => texts.get(*text).map(|text| Cow::Owned(text.at(steps.to_path()))),
        };
        let whole = std::mem::replace(&mut item.listed, KeptFinding::Unread(0, FieldPath::default())).whole(texts);
        if let (Some(mut whole), Some(found)) = (whole, found) {
            if whole.rule != found.rule {
                whole.turn_into(found.rule);
                whole.message.clone_from(&found.message);
                whole.effect = found.effect;
            }
            whole.effect = whole.effect.min(found.effect);
            item.listed = KeptFinding::Whole(whole);
        }
    }

    pub(super) fn finish(self, fleet: &Fleet, counted: &[Client]) -> Merged {
        let counts = |client: &Client| counted.is_empty() || counted.contains(client);
        let mut runs = Vec::new();
        for same in self.items.chunk_by(MergedFinding::is_like) {
            let Some(first) = same.first() else { continue };
            let [who, by] = self.ways.names(first.effects, fleet);
            let effects = self.ways.effects(first.effects);
            let of_clients = effects.iter().filter(|(_, client)| counts(client));
            let worst = of_clients.map(|(effect, _)| *effect).min();
            let of_first = || match &first.listed {
                KeptFinding::Whole(diagnostic) => diagnostic.effect,
                KeptFinding::Unread(text, _) => self.effect(*text),
            };
            let say = Say {
                who,
                by,
                // A finding without clients is about the text, and holds for every client.
                counted: match worst {
                    Some(worst) => CountedEffect::Worst(worst),
                    None if effects.is_empty() => CountedEffect::Worst(of_first()),
                    None => CountedEffect::OnlyExempt,
                },
            };
            let of_each = match &first.listed {
                KeptFinding::Whole(diagnostic) => diagnostic.count,
                KeptFinding::Unread(..) => 1,
            };
            let count = of_each * same.iter().map(|item| item.count).sum::<usize>();
            runs.push((same.len(), count, say));
        }
        Merged {
            items: self.items.into_iter().map(|item| item.listed).collect(),
            texts: self.texts,
            runs,
        }
    }
}

impl KeptFinding {
    fn whole(self, texts: &[PackedText]) -> Option<Box<Diagnostic>> {
        match self {
            KeptFinding::Whole(diagnostic) => Some(diagnostic),
            KeptFinding::Unread(text, path) => Some(Box::new(texts.get(text)?.at(path))),
        }
    }
}

/// The findings of all clients, in the order in which the clients report them.
#[derive(Debug, Default)]
pub struct Merged {
    items: Vec<KeptFinding>,
    texts: Vec<PackedText>,
    /// For each run of findings that are the same except for their place: its length, the number of
    /// findings that it stands for, and the clients that have them.
    runs: Vec<(usize, usize, Say)>,
}

/// A run of findings that are the same except for their place.
pub(super) struct FindingRun<'m> {
    /// The rule and effect of the findings.
    pub of: (&'static Rule, Effect),
    /// The innermost field of their paths.
    pub field: Option<&'m str>,
    /// The number of findings that they stand for.
    pub count: usize,
    /// The clients that have them.
    pub say: &'m Say,
}

impl Merged {
    /// Returns the runs of findings that are the same except for their place.
    pub(super) fn runs(&self) -> impl Iterator<Item = FindingRun<'_>> {
        let mut rest = self.items.as_slice();
        self.runs.iter().filter_map(move |(len, count, say)| {
            let first = rest.first()?;
            rest = rest.get(*len..)?;
            Some(match first {
                KeptFinding::Whole(diagnostic) => FindingRun {
                    of: (diagnostic.rule, diagnostic.effect),
                    field: diagnostic.path.segs().last_field(),
                    count: *count,
                    say,
                },
                KeptFinding::Unread(text, _) => {
                    let text = self.texts.get(*text)?;
                    FindingRun {
                        of: (text.rule, text.rule.effect),
                        field: text.field(),
                        count: *count,
                        say,
                    }
                }
            })
        })
    }

    /// Returns the first findings of each of [`runs`](Self::runs), as many as are wanted, with the
    /// clients that have each.
    pub(super) fn take(self, wanted: impl IntoIterator<Item = usize>) -> (Vec<Diagnostic>, Vec<Say>) {
        let (mut diagnostics, mut says) = (Vec::new(), Vec::new());
        let mut items = self.items.into_iter();
        for ((len, _, say), wanted) in self.runs.into_iter().zip(wanted) {
            let run = items.by_ref().take(len).enumerate();
            let run = run.filter(|(number, _)| *number < wanted);
            for whole in run.filter_map(|(_, listed)| listed.whole(&self.texts)) {
                diagnostics.push(*whole);
                says.push(say.clone());
            }
        }
        (diagnostics, says)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use xdsctl_document::proto::any::ANY_UNDECODABLE;
    use xdsctl_document::proto::wire::{BEHAVIOUR_FIELD_IGNORED, CLIENT_FIELD_IGNORED, FIELD_IGNORED};
    use xdsctl_model::diag::{Path, Validation};
    use xdsctl_model::profile::{Profile, ServerFacts};

    /// Returns one of a few findings, so that many have the same rule or place.
    fn finding(number: usize) -> Diagnostic {
        let rules = [
            &FIELD_IGNORED,
            &BEHAVIOUR_FIELD_IGNORED,
            &CLIENT_FIELD_IGNORED,
            &ANY_UNDECODABLE,
        ];
        let list = Path::ROOT.field("list");
        let at = list.index(number / 4 % 5);
        Diagnostic {
            path: at.field("field").to_owned(),
            ..Diagnostic::of_whole(rules[number % 4], format!("message {}", number / 20 % 2))
        }
    }

    /// Returns the merged findings of clients with these findings, in order.
    fn said(fleet: &Fleet, of_clients: &[Vec<Diagnostic>], packs: bool) -> Vec<(Diagnostic, String, CountedEffect)> {
        let mut ways = EffectWays::default();
        ways.begin();
        let mut merging = Merging::new(&mut ways);
        for (client, findings) in fleet.clients().iter().zip(of_clients) {
            let mut unread: Vec<Diagnostic> = findings.clone();
            let mut own: Vec<Diagnostic> = unread.extract_if(.., |found| found.effect == Effect::Nack).collect();
            let mut packed = Packed::default();
            match packs {
                true => packed.take_from(&mut unread, |_| true),
                false => own.append(&mut unread),
            }
            for one in own {
                merging.add(ClientFinding::Whole(Cow::Owned(one)), Some(*client));
            }
            merging.add_unread(&packed, *client, false, &mut Vec::new());
        }
        let (diagnostics, says) = merging.finish(fleet, &[]).take(std::iter::repeat(usize::MAX));
        let says = says.into_iter().map(|say| (say.who.to_string(), say.counted));
        let all = diagnostics.into_iter().zip(says);
        all.map(|(diagnostic, (who, counted))| (diagnostic, who, counted))
            .collect()
    }

    /// Returns a generator of numbers without a pattern that are always the same.
    fn numbers() -> impl FnMut() -> usize {
        let mut seed = 1usize;
        move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            seed >> 33
        }
    }

    #[test]
    fn packed_findings_are_merged_as_others_are() {
        let fleet = Fleet::new(&Client::current());
        let mut next = numbers();
        for _ in 0..300 {
            let of_clients: Vec<Vec<Diagnostic>> = fleet
                .clients()
                .iter()
                .map(|_| (0..next() % 8).map(|_| finding(next())).collect())
                .collect();
            assert_eq!(said(&fleet, &of_clients, true), said(&fleet, &of_clients, false));
        }
    }

    #[test]
    fn findings_that_are_only_counted_are_as_many_as_those_of_which_each_is_merged() {
        let fleet = Fleet::new(&Client::current());
        let profiles: Vec<Profile> = fleet.asked().cloned().collect();
        let server = ServerFacts::default();
        let rules = [&FIELD_IGNORED, &BEHAVIOUR_FIELD_IGNORED, &CLIENT_FIELD_IGNORED];
        let mut next = numbers();
        for round in 0..300 {
            let mut cx = Validation::new(&profiles[0], &server).reading_beside(&profiles[1..]);
            let list = Path::ROOT.field("list");
            for index in 0..next() % 60 {
                let (kind, clients) = (next() % 4, next() as u8 & 0b11111);
                // Versions of a family may differ in the rule, but for most fields families do not.
                let rule = |reader: &Profile| rules[(kind + round % 2 * reader.client().family as usize) % 3];
                let at = (&list.index(index), Some(1));
                cx.report_field((kind, clients), ["a", "b", "c", "d"][kind], at, |reader| {
                    (rule(reader), format!("{} does not", reader.name()).into(), None)
                });
            }
            let (own, beside) = cx.take_unread();
            let unread: Vec<Packed> = own.into_iter().chain(beside.into_iter().flatten()).collect();
            let counts = |is_counted: bool| {
                let mut ways = EffectWays::default();
                ways.begin();
                let mut merging = Merging::new(&mut ways);
                for (client, unread) in fleet.clients().iter().zip(&unread) {
                    merging.add_unread(unread, *client, is_counted, &mut Vec::new());
                }
                let merged = merging.finish(&fleet, &fleet.clients()[..2]);
                let mut counts: BTreeMap<_, usize> = BTreeMap::new();
                for FindingRun { of, field, count, say } in merged.runs() {
                    let field = field.map(str::to_owned);
                    *counts
                        .entry((of.0.id, of.1, field, say.who.to_string(), say.counted))
                        .or_default() += count;
                }
                counts
            };
            assert_eq!(counts(true), counts(false));
        }
    }

    #[test]
    fn neighbours_that_are_alike_are_one_run() {
        let fleet = Fleet::new(&Client::current());
        let mut ways = EffectWays::default();
        ways.begin();
        let mut merging = Merging::new(&mut ways);
        let mut unread: Vec<Diagnostic> = (0..5).map(|index| finding(4 * index)).collect();
        let mut packed = Packed::default();
        packed.take_from(&mut unread, |_| true);
        merging.add_unread(&packed, fleet.clients()[1], false, &mut Vec::new());
        let merged = merging.finish(&fleet, &[]);
        let runs: Vec<_> = merged.runs().map(|run| (run.of.0.id, run.field, run.count)).collect();
        assert_eq!(runs, [("field-ignored", Some("field"), 5)]);
        let (wanted, _) = merged.take([2]);
        assert_eq!(wanted, [finding(0), finding(4)]);
    }
}
