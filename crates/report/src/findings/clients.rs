//! What several clients do with a resource: their findings, merged to one list, and their verdicts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::HashMap;

use super::merged::{ClientFinding, Merged, Merging};
use super::resolve::ResolveOptions;
use xdsctl_channel::client::{Checked, Verdict};
use xdsctl_clients::judge::{self, FamilyAnswer};
use xdsctl_lint::decide::loudness::{CountedEffect, is_of_text};
use xdsctl_model::diag::{Diagnostic, Effect, Packed, PackedText};
use xdsctl_model::profile::{Client, ClientStanding, Fleet, Version};

/// What a client does with a resource.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ClientVerdict {
    /// `accepted`, `rejected`, `dies`, `not_known` or `ignored`; for the base also `not_checked`.
    pub verdict: &'static str,
    /// The worst effect of the findings on the resource and on what it refers to; `None` if there
    /// are no findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// The rules that the resource breaks for this client, sorted.
    pub rules: Vec<&'static str>,
    /// For a version that was not measured: the measured versions before and after it. If both
    /// agree, the verdict is that of the older one.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub like: Option<[String; 2]>,
}

/// What each client does with a resource. Neighbouring resources share it if all clients do the
/// same with them.
pub type Verdicts = Arc<BTreeMap<Client, ClientVerdict>>;

/// The clients that have a finding.
#[derive(Debug, Clone)]
pub struct Say {
    /// Which clients have which effect; empty if all have the same.
    pub who: Arc<str>,
    /// Which clients have which effect; empty if only one client was asked.
    pub by: Arc<str>,
    /// The worst effect in those clients whose findings can fail the run.
    pub counted: CountedEffect,
}

/// The findings and verdicts of the clients of a fleet for one resource.
#[derive(Debug, Default)]
pub struct Said {
    /// The findings of all clients; empty if only the reference client was asked.
    pub merged: Merged,
    /// The verdict of each client; empty if only the reference client was asked.
    pub verdicts: Verdicts,
}

/// The clients that have a finding, each with its effect, in the order in which they were asked.
type ClientEffects = Vec<(Effect, Client)>;

/// Number of a list of `ClientEffects` in `EffectWays`; 0 is the empty list.
pub(super) type EffectsId = usize;

/// How many lists of effects are kept from one resource to the next.
const KEPT_WAYS: usize = 4096;

/// The distinct lists of clients and effects. Most findings have one of a few lists.
#[derive(Debug, Default)]
pub(super) struct EffectWays {
    ways: Vec<EffectWay>,
    /// For a list and one more client, the list that results. Never iterated.
    after: HashMap<(EffectsId, Effect, Client), EffectsId>,
}

#[derive(Debug, Default)]
struct EffectWay {
    effects: ClientEffects,
    /// The words for the clients, made once: as in [`Say::who`] and as in [`Say::by`].
    names: Option<[Arc<str>; 2]>,
}

impl EffectWays {
    /// Prepares for another resource.
    pub(super) fn begin(&mut self) {
        if self.ways.is_empty() || self.ways.len() > KEPT_WAYS {
            self.ways = vec![EffectWay::default()];
            self.after.clear();
        }
    }

    pub(super) fn effects(&self, id: EffectsId) -> &[(Effect, Client)] {
        self.ways.get(id).map_or(&[], |way| &way.effects)
    }

    /// Returns the list that results if one more client is added.
    pub(super) fn with(&mut self, id: EffectsId, effect: Effect, client: Client) -> EffectsId {
        let ways = &mut self.ways;
        *self.after.entry((id, effect, client)).or_insert_with(|| {
            let mut effects = ways.get(id).map(|way| way.effects.clone()).unwrap_or_default();
            effects.push((effect, client));
            ways.push(EffectWay { effects, names: None });
            ways.len() - 1
        })
    }

    pub(super) fn names(&mut self, id: EffectsId, fleet: &Fleet) -> [Arc<str>; 2] {
        let Some(way) = self.ways.get_mut(id) else {
            return Default::default();
        };
        let effects = &way.effects;
        let names = way.names.get_or_insert_with(|| {
            let by = match fleet.clients() {
                [] | [_] => String::new(),
                _ => who_of(effects, fleet),
            };
            [who(effects, fleet).into(), by.into()]
        });
        names.clone()
    }
}

/// The results for the resources before. Most neighbouring resources have the same.
#[derive(Debug, Default)]
pub struct Before {
    ways: EffectWays,
    verdicts: Verdicts,
}

/// Names the clients that were asked: the reference client with its full name, or the user's list.
pub fn asked(fleet: &Fleet) -> String {
    if fleet.clients() == [Client::REFERENCE] {
        return fleet.base().name();
    }
    let name = |client: &Client| match neighbours(*client) {
        Some([before, after]) => format!("{client} (as {before} and {after} answer)"),
        None => client.to_string(),
    };
    let names: Vec<String> = fleet.clients().iter().map(name).collect();
    names.join(", ")
}

/// Returns the measured versions that stand in for a client that was not measured.
pub(crate) fn neighbours(client: Client) -> Option<[Version; 2]> {
    match client.standing() {
        ClientStanding::Between(before, after) => Some([before, after]),
        ClientStanding::Measured | ClientStanding::Unknown => None,
    }
}

fn is_measured(client: Client) -> bool {
    client.standing() == ClientStanding::Measured
}

/// Names the clients that were asked, and says where they are named.
pub fn asked_from(fleet: &Fleet, from: Option<&str>) -> String {
    let mut text = asked(fleet);
    if let Some(from) = from {
        text += &format!(" (from {from})");
    }
    text
}

/// Names the clients that were asked, and says where they are named and which of them can fail the
/// run.
pub fn asked_with(options: &ResolveOptions<'_>) -> String {
    let mut text = asked_from(options.fleet, options.fleet_from);
    if !options.counted.is_empty() {
        let quiet: Vec<Client> = options
            .fleet
            .clients()
            .iter()
            .filter(|client| !options.counted.contains(client))
            .copied()
            .collect();
        if !quiet.is_empty() {
            text += &format!("; only warns: {}", options.fleet.describe(&quiet));
        }
    }
    text
}

/// Returns the overall verdict on a resource: it is rejected if some client that was asked rejects
/// it, and not checked if the verdict of every client is unknown.
pub fn overall(of_base: Verdict, clients: &BTreeMap<Client, ClientVerdict>) -> Verdict {
    let rejects = |verdict: &ClientVerdict| matches!(verdict.verdict, "rejected" | "dies");
    match of_base {
        Verdict::Accepted | Verdict::Rejected if clients.values().any(rejects) => Verdict::Rejected,
        // No client that was asked is known to accept it.
        Verdict::Accepted | Verdict::Rejected if is_unknown(clients) => Verdict::NotChecked,
        Verdict::Rejected if !clients.is_empty() => Verdict::Accepted,
        verdict => verdict,
    }
}

fn is_unknown(clients: &BTreeMap<Client, ClientVerdict>) -> bool {
    !clients.is_empty() && clients.values().all(|said| said.verdict == "not_known")
}

/// Removes the findings of all clients from the resource and merges them. The findings of `counted`
/// can fail the run; if it is empty, those of all clients can. `is_quiet` says for which findings
/// only the number is wanted.
pub fn merge(
    checked: &mut Checked,
    (fleet, counted): (&Fleet, &[Client]),
    before: &mut Before,
    is_quiet: impl Fn(&PackedText) -> bool,
) -> Said {
    if fleet.clients() == [Client::REFERENCE] {
        return Said::default();
    }
    let base = fleet.base().client();
    before.ways.begin();
    let mut merged = Merging::new(&mut before.ways);
    let needs_shared = checked.answers.iter().any(|answer| !answer.client.has_own_world());
    let is_counted = !needs_shared && is_counted(checked, fleet, is_quiet);
    let mut of_base = std::mem::take(&mut checked.diagnostics);
    let unread = std::mem::take(&mut checked.ignored);
    if checked.dies {
        of_base.iter_mut().for_each(judge::turn_death_into_failure);
    }
    let mut verdicts = BTreeMap::new();
    let shared = if needs_shared {
        shared(&of_base, &unread)
    } else {
        Vec::new()
    };
    if fleet.asks_base() {
        let of_client = of_base.iter().filter(|d| !is_of_text(d.rule));
        let verdict = ClientVerdict::new(base, checked.verdict_word(), of_client, Some(&unread));
        verdicts.insert(base, verdict);
    } else {
        of_base.retain(|diagnostic| is_of_text(diagnostic.rule));
    }
    for diagnostic in of_base {
        let client = (!is_of_text(diagnostic.rule)).then_some(base);
        merged.add(ClientFinding::Whole(Cow::Owned(diagnostic)), client);
    }
    if fleet.asks_base() {
        merged.add_unread(&unread, base, is_counted, &mut Vec::new());
    }
    let mut heard: Vec<Heard> = Vec::new();
    for answer in std::mem::take(&mut checked.answers) {
        let client = answer.client;
        let like = |heard: &&Heard| {
            let same_kind = heard.answer.client.family == client.family && is_measured(heard.answer.client);
            same_kind && is_measured(client) && heard.answer.verdict == answer.verdict && heard.answer.is_as(&answer)
        };
        if let Some(same) = heard.iter().find(like) {
            for (place, effect) in &same.effects {
                merged.add_effect(*place, *effect, client);
            }
            verdicts.extend(
                verdicts
                    .get(&same.answer.client)
                    .cloned()
                    .map(|verdict| (client, verdict)),
            );
            continue;
        }
        let unread = answer.diagnostics.unread();
        let mut of_others: Vec<Diagnostic> = Vec::new();
        if answer.verdict == judge::FamilyVerdict::Accepted && !client.has_own_world() {
            let own = |d: &Diagnostic| answer.diagnostics.iter().any(|o| o.rule == d.rule && o.path == d.path);
            let is_true = |d: &&Diagnostic| d.shared.contains(&client.family) && !own(d);
            of_others.extend(shared.iter().filter(is_true).cloned());
        }
        let of_client = answer.diagnostics.iter().chain(&of_others);
        let verdict = ClientVerdict::new(client, answer.verdict.name(), of_client, unread);
        verdicts.insert(client, verdict);
        let own = answer
            .diagnostics
            .iter()
            .map(|one| ClientFinding::Whole(Cow::Borrowed(one)));
        let mut effects: Vec<(usize, Effect)> = own.map(|one| merged.add(one, Some(client))).collect();
        unread
            .into_iter()
            .for_each(|unread| merged.add_unread(unread, client, is_counted, &mut effects));
        let of_others = of_others.into_iter().map(|one| ClientFinding::Whole(Cow::Owned(one)));
        effects.extend(of_others.map(|one| merged.add(one, Some(client))));
        heard.push(Heard { effects, answer });
    }
    let merged = merged.finish(fleet, counted);
    if *before.verdicts != verdicts {
        before.verdicts = Arc::new(verdicts);
    }
    let verdicts = Arc::clone(&before.verdicts);
    Said { merged, verdicts }
}

/// Says whether the findings on unread fields can be counted without looking at each. They can if
/// all of them are quiet and from one list, and if nothing else is found at such a field.
fn is_counted(checked: &Checked, fleet: &Fleet, is_quiet: impl Fn(&PackedText) -> bool) -> bool {
    let of_base = fleet.asks_base().then_some(&checked.ignored);
    let of_others = checked.answers.iter().filter_map(|answer| answer.diagnostics.unread());
    let unread: Vec<&Packed> = of_base
        .into_iter()
        .chain(of_others)
        .filter(|unread| !unread.is_empty())
        .collect();
    let Some(first) = unread.first() else {
        return true;
    };
    let texts = || unread.iter().flat_map(|unread| unread.texts());
    let mut own = checked
        .diagnostics
        .iter()
        .chain(checked.answers.iter().flat_map(|answer| answer.diagnostics.iter()));
    unread.iter().all(|unread| unread.is_beside(first))
        && texts().all(is_quiet)
        && own.all(|own| {
            own.path
                .segs()
                .last_field()
                .is_none_or(|field| texts().all(|text| text.field() != Some(field)))
        })
}

/// Returns the findings of the base that also hold for other families, provided that these accept
/// the resource.
fn shared(of_base: &[Diagnostic], unread: &Packed) -> Vec<Diagnostic> {
    let mut all = of_base.to_vec();
    unread.unpack_into(&mut all);
    all.retain(|found| found.effect != Effect::Nack && !found.shared.is_empty());
    all
}

/// An answer with the indexes of its findings in the merged list. It is kept to recognise an equal
/// answer of another client.
struct Heard {
    answer: FamilyAnswer,
    /// Index and effect of each finding, including those that hold for the family without being
    /// asked.
    effects: Vec<(usize, Effect)>,
}

impl ClientVerdict {
    /// Makes a verdict from the findings, some of which are packed.
    fn new<'d>(
        client: Client,
        verdict: &'static str,
        diagnostics: impl Iterator<Item = &'d Diagnostic>,
        unread: Option<&Packed>,
    ) -> Self {
        let unread = unread.into_iter().flat_map(Packed::counts);
        let unread = unread.map(|(rule, ..)| (rule.id, rule.effect));
        let found = diagnostics.map(|found| (found.rule.id, found.effect)).chain(unread);
        let (mut rules, effects): (Vec<&str>, Vec<Effect>) = found.unzip();
        rules.sort_unstable();
        rules.dedup();
        ClientVerdict {
            verdict,
            effect: effects.into_iter().min().map(Effect::name),
            rules,
            like: neighbours(client).map(|versions| versions.map(|version| version.to_string())),
        }
    }
}

/// Says which clients have which effect: `nack in go, java <1.71; ignored in cpp`. It is empty if
/// all clients have the same.
fn who(effects: &[(Effect, Client)], fleet: &Fleet) -> String {
    let is_same = effects
        .iter()
        .all(|(effect, _)| effects.first().is_some_and(|first| first.0 == *effect));
    if is_same && effects.len() == fleet.clients().len() {
        return String::new();
    }
    who_of(effects, fleet)
}

/// Says which clients have which effect: `nack in go, java <1.71; ignored in cpp`.
pub(crate) fn who_of(effects: &[(Effect, Client)], fleet: &Fleet) -> String {
    let mut by_effect: BTreeMap<Effect, Vec<Client>> = BTreeMap::new();
    for (effect, client) in effects {
        by_effect.entry(*effect).or_default().push(*client);
    }
    let parts = by_effect
        .iter()
        .map(|(effect, clients)| format!("{effect} in {}", fleet.describe(clients)));
    parts.collect::<Vec<_>>().join("; ")
}
