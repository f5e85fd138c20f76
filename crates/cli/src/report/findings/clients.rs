//! What several clients say of a resource, as one list of findings.
//!
//! Findings of one rule at one place are one finding; of a policy, only those with the same
//! message. What one client rejects and C-core never reads is one, too: the reader wants to know of
//! the field, not of the clients.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::HashMap;

use super::resolve::ResolveOptions;
use xdsctl_channel::client::{Checked, Verdict};
use xdsctl_clients::judge::{self, FamilyAnswer};
use xdsctl_lint::decide::loudness::is_of_text;
use xdsctl_model::diag::{Diagnostic, Effect, FieldPath};
use xdsctl_model::profile::{Client, ClientStanding, Fleet, Version};
use xdsctl_policy::is_policy;

/// What a client does with a resource.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ClientVerdict {
    /// `accepted`, `rejected`, `dies`, `not_known`, `ignored`; of the base also `not_checked`.
    pub verdict: &'static str,
    /// The worst that it does with it, what it refers to included; `None` if nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// The rules that it breaks, sorted.
    pub rules: Vec<&'static str>,
    /// The measured versions before and after it, of one that was not measured: where both agree,
    /// the answer is the older's.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub like: Option<[String; 2]>,
}

/// What each client does with a resource. Neighbours that all clients do the same with share it.
pub type Verdicts = Arc<BTreeMap<Client, ClientVerdict>>;

/// Who says a finding.
#[derive(Debug, Default)]
pub struct Say {
    /// Which clients do what; empty if all do the same.
    pub who: Arc<str>,
    /// Which clients do what; empty if one client was asked.
    pub by: Arc<str>,
    /// The worst that a client does whose findings can fail the run; `None` if only others say it.
    pub counted: Option<Effect>,
}

/// What the clients of a fleet say of one resource.
#[derive(Debug, Default)]
pub struct Said {
    /// Beside each of the resource's diagnostics; empty if one client was asked.
    pub says: Vec<Say>,
    /// By client, if several were asked for or another than the reference.
    pub verdicts: Verdicts,
}

/// Which clients do what, as they were asked.
type ClientEffects = Vec<(Effect, Client)>;

/// The number of a way in which clients do what; 0 if none does anything.
type EffectsId = usize;

/// Ways in which clients differ that are kept from one resource to the next.
const KEPT_WAYS: usize = 4096;

/// Ways in which clients do what, each once: most findings have one of few.
#[derive(Debug, Default)]
struct EffectWays {
    ways: Vec<EffectWay>,
    /// The way with one more client. Looked up only.
    after: HashMap<(EffectsId, Effect, Client), EffectsId>,
}

#[derive(Debug, Default)]
struct EffectWay {
    effects: ClientEffects,
    /// Words for the clients, made once: if they differ, and if there are several.
    names: Option<[Arc<str>; 2]>,
}

impl EffectWays {
    /// Begins with another resource.
    fn begin(&mut self) {
        if self.ways.is_empty() || self.ways.len() > KEPT_WAYS {
            self.ways = vec![EffectWay::default()];
            self.after.clear();
        }
    }

    fn effects(&self, id: EffectsId) -> &[(Effect, Client)] {
        self.ways.get(id).map_or(&[], |way| &way.effects)
    }

    /// The way with one more client.
    fn with(&mut self, id: EffectsId, effect: Effect, client: Client) -> EffectsId {
        let ways = &mut self.ways;
        *self.after.entry((id, effect, client)).or_insert_with(|| {
            let mut effects = ways.get(id).map(|way| way.effects.clone()).unwrap_or_default();
            effects.push((effect, client));
            ways.push(EffectWay { effects, names: None });
            ways.len() - 1
        })
    }

    fn names(&mut self, id: EffectsId, fleet: &Fleet) -> [Arc<str>; 2] {
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

/// What was said of the resources before: of most neighbours the same is said.
#[derive(Debug, Default)]
pub struct Before {
    ways: EffectWays,
    sketch: Sketch,
    verdicts: Verdicts,
}

/// The verdicts of a resource, each once.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sketch {
    verdicts: Vec<ClientVerdict>,
    /// Which of them each client has.
    of: Vec<(Client, usize)>,
}

impl Sketch {
    /// Adds a verdict, and says where it is.
    fn add(&mut self, verdict: ClientVerdict) -> usize {
        self.verdicts.push(verdict);
        self.verdicts.len() - 1
    }

    fn expand(&self) -> Verdicts {
        let of = |(client, place): &(Client, usize)| Some((*client, self.verdicts.get(*place)?.clone()));
        Arc::new(self.of.iter().filter_map(of).collect())
    }
}

/// The clients that were asked: the reference with its full name, or the user's list.
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

/// The measured versions that answer for a client that was not measured.
pub(crate) fn neighbours(client: Client) -> Option<[Version; 2]> {
    match client.standing() {
        ClientStanding::Between(before, after) => Some([before, after]),
        ClientStanding::Measured | ClientStanding::Unknown => None,
    }
}

fn is_measured(client: Client) -> bool {
    client.standing() == ClientStanding::Measured
}

/// The clients that were asked, and where they are named.
pub fn asked_from(fleet: &Fleet, from: Option<&str>) -> String {
    let mut text = asked(fleet);
    if let Some(from) = from {
        text += &format!(" (from {from})");
    }
    text
}

/// The clients that were asked, where they are named, and which of them can fail the run.
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

/// What becomes of a resource: it is rejected if some client that was asked rejects it, and not
/// checked if nothing is known of any.
pub fn overall(of_base: Verdict, clients: &BTreeMap<Client, ClientVerdict>) -> Verdict {
    let rejects = |verdict: &ClientVerdict| matches!(verdict.verdict, "rejected" | "dies");
    match of_base {
        Verdict::Accepted | Verdict::Rejected if clients.values().any(rejects) => Verdict::Rejected,
        // Nobody who was asked is known to take it.
        Verdict::Accepted | Verdict::Rejected if is_unknown(clients) => Verdict::NotChecked,
        Verdict::Rejected if !clients.is_empty() => Verdict::Accepted,
        verdict => verdict,
    }
}

fn is_unknown(clients: &BTreeMap<Client, ClientVerdict>) -> bool {
    !clients.is_empty() && clients.values().all(|said| said.verdict == "not_known")
}

/// Puts the answers of all clients among the resource's diagnostics. The findings of `counted` can
/// fail the run, none for all.
pub fn merge(checked: &mut Checked, fleet: &Fleet, counted: &[Client], before: &mut Before) -> Said {
    if fleet.clients() == [Client::REFERENCE] {
        return Said::default();
    }
    let base = fleet.base().client();
    before.ways.begin();
    let mut merged = Merged::new(&mut before.ways);
    let mut of_base = std::mem::take(&mut checked.diagnostics);
    std::mem::take(&mut checked.ignored).unpack_into(&mut of_base);
    if checked.dies {
        of_base.iter_mut().for_each(judge::told_of_death);
    }
    let mut sketch = Sketch::default();
    let is_shared = |d: &&Diagnostic| d.effect != Effect::Nack && !d.shared.is_empty();
    let shared: Vec<Diagnostic> = of_base.iter().filter(is_shared).cloned().collect();
    if fleet.asks_base() {
        let of_client: Vec<&Diagnostic> = of_base.iter().filter(|d| !is_of_text(d.rule)).collect();
        let place = sketch.add(ClientVerdict::new(base, checked.verdict_word(), &of_client));
        sketch.of.push((base, place));
    } else {
        of_base.retain(|diagnostic| is_of_text(diagnostic.rule));
    }
    for diagnostic in of_base {
        let client = (!is_of_text(diagnostic.rule)).then_some(base);
        merged.add(Cow::Owned(diagnostic), client);
    }
    let mut heard: Vec<Heard> = Vec::new();
    for answer in std::mem::take(&mut checked.answers) {
        let client = answer.client;
        let like = |heard: &&Heard| {
            let same_kind = heard.answer.client.family == client.family && is_measured(heard.answer.client);
            same_kind && is_measured(client) && heard.answer.verdict == answer.verdict && heard.answer.is_as(&answer)
        };
        if let Some(same) = heard.iter().find(like) {
            merged.add_to(same, client);
            sketch.of.push((client, same.verdict));
            continue;
        }
        let mut unread = Vec::new();
        answer
            .diagnostics
            .unread()
            .into_iter()
            .for_each(|packed| packed.unpack_into(&mut unread));
        let mut of_others: Vec<Diagnostic> = Vec::new();
        let has_own_world = client.has_own_world();
        if answer.verdict == judge::FamilyVerdict::Accepted && !has_own_world {
            let own = |d: &Diagnostic| answer.diagnostics.iter().any(|o| o.rule == d.rule && o.path == d.path);
            let is_true = |d: &&Diagnostic| d.shared.contains(&client.family) && !own(d);
            of_others.extend(shared.iter().filter(is_true).cloned());
        }
        let of_client: Vec<&Diagnostic> = answer.diagnostics.iter().chain(&unread).chain(&of_others).collect();
        let verdict = sketch.add(ClientVerdict::new(client, answer.verdict.name(), &of_client));
        sketch.of.push((client, verdict));
        let own = answer.diagnostics.iter().map(Cow::Borrowed);
        let of_client = own.chain(unread.into_iter().chain(of_others).map(Cow::Owned));
        let effects = of_client.map(|one| {
            let effect = one.effect;
            (merged.add(one, Some(client)), effect)
        });
        let effects = effects.collect();
        heard.push(Heard {
            effects,
            verdict,
            answer,
        });
    }
    let (diagnostics, says) = merged.finish(fleet, counted);
    checked.diagnostics = diagnostics;
    if before.sketch != sketch {
        before.verdicts = sketch.expand();
        before.sketch = sketch;
    }
    let verdicts = Arc::clone(&before.verdicts);
    Said { says, verdicts }
}

/// An answer, to recognise that of another client as the same, and where its findings are in the
/// list.
struct Heard {
    answer: FamilyAnswer,
    /// Its place in the sketch.
    verdict: usize,
    /// What is found, those findings among it that need no asking.
    effects: Vec<(usize, Effect)>,
}

impl ClientVerdict {
    fn new(client: Client, verdict: &'static str, diagnostics: &[&Diagnostic]) -> Self {
        let mut rules: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.rule.id).collect();
        rules.sort_unstable();
        rules.dedup();
        ClientVerdict {
            verdict,
            effect: diagnostics.iter().map(|found| found.effect).min().map(Effect::name),
            rules,
            like: neighbours(client).map(|versions| versions.map(|version| version.to_string())),
        }
    }
}

/// Rules about fields that C-core never reads.
const UNREAD: [&str; 3] = ["field-ignored", "behaviour-field-ignored", "security-field-ignored"];

struct Merged<'w> {
    diagnostics: Vec<Diagnostic>,
    /// Beside each: which client has which effect.
    effects: Vec<EffectsId>,
    ways: &'w mut EffectWays,
    /// The findings at each place, as numbers. Looked up only.
    by_place: HashMap<FieldPath, Vec<usize>>,
}

impl<'w> Merged<'w> {
    fn new(ways: &'w mut EffectWays) -> Merged<'w> {
        Merged {
            diagnostics: Vec::new(),
            effects: Vec::new(),
            ways,
            by_place: HashMap::default(),
        }
    }

    /// Adds a finding of a client, and says where it is.
    fn add(&mut self, diagnostic: Cow<'_, Diagnostic>, client: Option<Client>) -> usize {
        let here = self.by_place.get(&diagnostic.path).map_or(&[][..], Vec::as_slice);
        // Several findings of one client stay several.
        let has_none_yet = |n: usize, client: Client| {
            let effects = self.effects.get(n).map_or(&[][..], |id| self.ways.effects(*id));
            effects.iter().all(|(_, other)| *other != client)
        };
        let known = here.iter().copied().find(|&n| {
            let is_same = |other: &Diagnostic| match other.rule == diagnostic.rule {
                // Of what each client keeps, a policy says something else to each.
                true => !is_policy(other.rule) || is_like(other, &diagnostic),
                false => UNREAD.contains(&other.rule.id),
            };
            self.diagnostics.get(n).is_some_and(is_same) && client.is_some_and(|client| has_none_yet(n, client))
        });
        let n = known.unwrap_or(self.diagnostics.len());
        let effect = diagnostic.effect;
        match self.diagnostics.get_mut(n) {
            Some(other) => take_in(other, &diagnostic),
            None => {
                match self.by_place.get_mut(&diagnostic.path) {
                    Some(here) => here.push(n),
                    None => _ = self.by_place.insert(diagnostic.path.clone(), vec![n]),
                }
                self.diagnostics.push(diagnostic.into_owned());
                self.effects.push(EffectsId::default());
            }
        }
        if let Some(client) = client {
            self.add_effect(n, effect, client);
        }
        n
    }

    /// Adds what another client says as one before it did.
    fn add_to(&mut self, heard: &Heard, client: Client) {
        for (place, effect) in &heard.effects {
            self.add_effect(*place, *effect, client);
        }
    }

    fn add_effect(&mut self, place: usize, effect: Effect, client: Client) {
        if let Some(id) = self.effects.get_mut(place) {
            *id = self.ways.with(*id, effect, client);
        }
    }

    fn finish(self, fleet: &Fleet, counted: &[Client]) -> (Vec<Diagnostic>, Vec<Say>) {
        let counts = |client: &Client| counted.is_empty() || counted.contains(client);
        let mut says = Vec::with_capacity(self.diagnostics.len());
        let mut diagnostics = self.diagnostics.iter();
        // Findings of one rule are mostly said by the same clients.
        for same in self.effects.chunk_by(|one, next| one == next) {
            let Some(&id) = same.first() else { continue };
            let [who, by] = self.ways.names(id, fleet);
            let effects = self.ways.effects(id);
            let of_clients = effects.iter().filter(|(_, client)| counts(client));
            let worst = of_clients.map(|(effect, _)| *effect).min();
            says.extend(diagnostics.by_ref().take(same.len()).map(|diagnostic| Say {
                who: Arc::clone(&who),
                by: Arc::clone(&by),
                // A finding that no client has is about the text, and true for every reader.
                counted: if effects.is_empty() {
                    Some(diagnostic.effect)
                } else {
                    worst
                },
            }));
        }
        (self.diagnostics, says)
    }
}

/// Says whether two findings of a rule say the same.
fn is_like(one: &Diagnostic, other: &Diagnostic) -> bool {
    one.effect == other.effect && one.message == other.message
}

/// Makes a finding that of another client, too: what one client rejects says more than that others
/// never read it.
fn take_in(known: &mut Diagnostic, diagnostic: &Diagnostic) {
    if known.rule != diagnostic.rule {
        known.turn_into(diagnostic.rule);
        known.message.clone_from(&diagnostic.message);
        known.effect = diagnostic.effect;
    }
    known.effect = known.effect.min(diagnostic.effect);
}

/// `nack in go, java <1.71; ignored in cpp`, or nothing if there is no difference.
fn who(effects: &[(Effect, Client)], fleet: &Fleet) -> String {
    let is_same = effects
        .iter()
        .all(|(effect, _)| effects.first().is_some_and(|first| first.0 == *effect));
    if is_same && effects.len() == fleet.clients().len() {
        return String::new();
    }
    who_of(effects, fleet)
}

/// Which clients do what: `nack in go, java <1.71; ignored in cpp`.
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
