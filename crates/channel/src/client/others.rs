//! The worlds of clients other than the base: each holds the resources that this client accepts.
//!
//! Everything that decides over worlds works on [`Checked`]. To look at another client's worlds,
//! [`OtherClients::swap_in`] swaps that client's verdict, facts and findings into the place of the
//! base's, and [`OtherClients::swap_out`] swaps them back. Clients with the same answers on every
//! resource share one set of worlds.

use std::sync::Arc;

use super::checked::{Checked, Keep, ValidationInput, Verdict};
use super::facts::Facts;
use super::joined::Joined;
use super::world::World;
use super::worlds::worlds_of;
use super::{removed, responses};
use xdsctl_clients::core::convert::resource_name::NameComparison;
use xdsctl_clients::judge::{FamilyAnswer, FamilyVerdict};
use xdsctl_document::envelope::RawResponse;
use xdsctl_lb::xds::LB_ENTRY_SKIPPED;
use xdsctl_model::diag::{Diagnostic, Effect, Packed};
use xdsctl_model::profile::{Client, Profile, ServerFacts};
use xdsctl_model::resource::Resource;

/// What other resources need to know of this one in each of the other clients, in the order of
/// [`Checked::answers`]. Most clients share it.
#[derive(Debug, Clone, Default)]
pub struct OtherFacts {
    facts: Vec<Arc<Facts>>,
    /// For each client, the position of its facts in `facts`, counted from 1; 0 if it has none, as
    /// when it rejects the resource.
    facts_places: Box<[u16]>,
    /// What each client keeps, if values are kept at all.
    values: Box<[Option<Arc<Resource>>]>,
}

impl OtherFacts {
    /// Collects the facts of what the clients of `others` keep. `of_base` are the facts of the
    /// base.
    pub(super) fn of(
        values: &[Option<Arc<Resource>>],
        (others, answers): (&[Profile], &[FamilyAnswer]),
        of_base: Option<&Arc<Facts>>,
    ) -> OtherFacts {
        let mut known: Vec<(&Arc<Resource>, NameComparison, u16)> = Vec::new();
        let mut facts: Vec<Arc<Facts>> = of_base.cloned().into_iter().collect();
        let mut facts_places = Vec::with_capacity(values.len());
        for ((value, profile), answer) in values.iter().zip(others).zip(answers) {
            let Some(value) = value.as_ref().filter(|_| profile.has_own_world()) else {
                facts_places.push(0);
                continue;
            };
            let names = NameComparison::of(profile);
            let same = known
                .iter()
                .find(|(other, compared, _)| Arc::ptr_eq(other, value) && *compared == names);
            if let Some((.., place)) = same {
                facts_places.push(*place);
                continue;
            }
            let mut own = Facts::of(value, names);
            own.note(&answer.diagnostics);
            let place = facts.iter().position(|known| **known == own).unwrap_or_else(|| {
                facts.push(Arc::new(own));
                facts.len() - 1
            });
            let place = u16::try_from(place + 1).unwrap_or(0);
            known.push((value, names, place));
            facts_places.push(place);
        }
        OtherFacts {
            facts,
            facts_places: facts_places.into(),
            values: Box::default(),
        }
    }

    /// Stores what each client keeps.
    pub(super) fn keep(&mut self, values: Vec<Option<Arc<Resource>>>) {
        self.values = values.into();
    }

    fn value(&self, client: usize) -> Option<&Arc<Resource>> {
        self.values.get(client)?.as_ref()
    }

    /// Says whether two clients keep the same, as far as values are stored.
    fn is_alike(&self, one: usize, other: usize) -> bool {
        match (self.value(one), self.value(other)) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one == other,
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    fn place(&self, client: usize) -> u16 {
        self.facts_places.get(client).copied().unwrap_or(0)
    }

    fn get(&self, client: usize) -> Option<&Arc<Facts>> {
        self.facts.get(usize::from(self.place(client)).checked_sub(1)?)
    }
}

impl Facts {
    /// Adds what only a finding shows.
    pub(super) fn note(&mut self, diagnostics: &[Diagnostic]) {
        if let Facts::Cluster(cluster) = self
            && let Some(policy) = cluster.policy_mut()
        {
            policy.passes_over = diagnostics.iter().any(|found| found.rule == &LB_ENTRY_SKIPPED);
        }
    }
}

/// The clients besides the base, and what their worlds are made of.
#[derive(Debug, Default)]
pub struct OtherClients {
    profiles: Vec<Profile>,
    server: ServerFacts,
    responses: Vec<RawResponse>,
}

/// Clients with the same answers on every resource, as indices into the other clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlikeClients(Vec<usize>);

impl AlikeClients {
    /// Makes a group of each of the clients.
    pub fn each(self) -> impl Iterator<Item = AlikeClients> {
        self.0.into_iter().map(|number| AlikeClients(vec![number]))
    }
}

/// The base's view of the resources, set aside while another client's view is in its place.
#[derive(Debug)]
pub struct BaseViews(Vec<ClientView>);

/// What one client makes of a resource, as far as worlds and lints ask.
#[derive(Debug)]
struct ClientView {
    verdict: Verdict,
    is_unknown: bool,
    facts: Option<Arc<Facts>>,
    diagnostics: Vec<Diagnostic>,
    ignored: Packed,
    parsed: Option<Arc<Resource>>,
    twin: Option<usize>,
    is_removed: bool,
}

impl ClientView {
    /// Makes the view of a client from its answer.
    ///
    /// With `takes`, the findings are moved out of the answer, until [`give`] puts others in.
    fn of(client: usize, checked: &mut Checked, takes: bool) -> ClientView {
        let diagnostics = match checked.answers.get_mut(client) {
            Some(answer) if takes => answer.diagnostics.take_list(),
            Some(answer) => answer.diagnostics.to_vec(),
            None => Vec::new(),
        };
        let answer = checked.answers.get(client);
        let verdict = match answer.map(|answer| answer.verdict) {
            Some(FamilyVerdict::Accepted | FamilyVerdict::Ignored) => Verdict::Accepted,
            Some(FamilyVerdict::Rejected | FamilyVerdict::Dies | FamilyVerdict::NotKnown) => Verdict::Rejected,
            // No client asks for it, or it was made for a proxy.
            None if checked.verdict == Verdict::Ignored && checked.resource_type.is_none() => Verdict::Ignored,
            None => Verdict::NotChecked,
        };
        ClientView {
            verdict,
            is_unknown: answer.is_some_and(|answer| answer.verdict == FamilyVerdict::NotKnown),
            facts: checked.of_others.get(client).cloned(),
            diagnostics,
            ignored: Packed::default(),
            parsed: checked.of_others.value(client).cloned(),
            twin: None,
            is_removed: false,
        }
    }

    fn swap(&mut self, checked: &mut Checked) {
        use std::mem::swap;
        swap(&mut self.verdict, &mut checked.verdict);
        swap(&mut self.is_unknown, &mut checked.is_unknown);
        swap(&mut self.facts, &mut checked.facts);
        swap(&mut self.diagnostics, &mut checked.diagnostics);
        swap(&mut self.ignored, &mut checked.ignored);
        swap(&mut self.parsed, &mut checked.parsed);
        swap(&mut self.twin, &mut checked.twin);
        swap(&mut self.is_removed, &mut checked.is_removed);
    }
}

impl OtherClients {
    pub(super) fn new(against: &ValidationInput<'_>, responses: Vec<RawResponse>) -> OtherClients {
        OtherClients {
            profiles: against.others.to_vec(),
            server: against.server.clone(),
            responses,
        }
    }

    /// Says whether a client, by its number among the others, has worlds of its own.
    pub fn has_own_world(&self, number: usize) -> bool {
        self.profiles.get(number).is_some_and(Profile::has_own_world)
    }

    /// The base, and the clients that have no worlds of their own.
    pub fn without_worlds(&self, base: Client) -> Vec<Client> {
        let others = self.profiles.iter().filter(|profile| !profile.has_own_world());
        [base].into_iter().chain(others.map(Profile::client)).collect()
    }

    /// The clients of a group.
    pub fn profiles<'c>(&'c self, AlikeClients(group): &'c AlikeClients) -> impl Iterator<Item = &'c Profile> {
        group.iter().filter_map(|number| self.profiles.get(*number))
    }

    /// The groups of clients that have worlds of their own. Clients with the same answers form one
    /// group.
    pub fn groups(&self, resources: &[Checked]) -> Vec<AlikeClients> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (number, profile) in self.profiles.iter().enumerate() {
            if !profile.has_own_world() {
                continue;
            }
            let is_like = |other: &Profile| {
                let (one, two) = (other.client(), profile.client());
                one.family == two.family
                    && NameComparison::of(other) == NameComparison::of(profile)
                    && one
                        .family
                        .defects()
                        .iter()
                        .all(|defect| defect.is_in(one.version) == defect.is_in(two.version))
            };
            let mut like = groups.iter_mut().filter_map(|group| {
                let first = self.profiles.get(*group.first()?)?;
                is_like(first).then_some(group)
            });
            match like.next() {
                Some(group) => group.push(number),
                None => groups.push(vec![number]),
            }
        }
        for checked in resources {
            let mut split: Vec<Vec<usize>> = Vec::with_capacity(groups.len());
            for group in groups {
                let start = split.len();
                for number in group {
                    let mut parts = split.iter_mut().skip(start);
                    let part = parts.find(|part| part.first().is_some_and(|first| is_same(checked, *first, number)));
                    match part {
                        Some(part) => part.push(number),
                        None => split.push(vec![number]),
                    }
                }
            }
            groups = split;
        }
        groups.into_iter().map(AlikeClients).collect()
    }

    /// Puts the answers of a group's clients in the place of the base's, and returns their worlds.
    pub fn swap_in(
        &self,
        AlikeClients(group): &AlikeClients,
        resources: &mut [Checked],
        joined: &Joined,
    ) -> (BaseViews, Vec<World>) {
        let first = group.first().copied().unwrap_or_default();
        let mut views = Vec::with_capacity(resources.len());
        for checked in &mut *resources {
            let mut view = ClientView::of(first, checked, group.len() == 1);
            view.swap(checked);
            views.push(view);
        }
        let Some(profile) = self.profiles.get(first) else {
            return (BaseViews(views), Vec::new());
        };
        let against = ValidationInput {
            profile,
            others: &[],
            server: &self.server,
            keep: Keep::Findings,
        };
        responses::check(&self.responses, resources, &against);
        removed::remove(&self.responses, resources, &against);
        let worlds = worlds_of(resources, joined, &against);
        (BaseViews(views), worlds)
    }

    /// Gives the clients of a group the findings of their worlds, and puts the base's view back.
    /// The findings for which `is_of_text` holds are about the text and stay with the base.
    pub fn swap_out(
        &self,
        AlikeClients(group): &AlikeClients,
        BaseViews(views): BaseViews,
        resources: &mut [Checked],
        is_of_text: impl Fn(&Diagnostic) -> bool,
    ) {
        for (checked, mut view) in resources.iter_mut().zip(views) {
            view.swap(checked);
            view.diagnostics.retain(|diagnostic| !is_of_text(diagnostic));
            give(group, view, &mut checked.answers);
        }
    }
}

/// Says whether two clients give the same answer.
fn is_same(checked: &Checked, one: usize, other: usize) -> bool {
    checked.of_others.place(one) == checked.of_others.place(other)
        && checked.of_others.is_alike(one, other)
        && match (checked.answers.get(one), checked.answers.get(other)) {
            (Some(one), Some(other)) => {
                one.verdict == other.verdict && (one.is_as(other) || one.diagnostics == other.diagnostics)
            }
            (one, other) => one.is_none() && other.is_none(),
        }
}

/// Stores the findings of a group's worlds in the answers of its clients.
fn give(group: &[usize], view: ClientView, answers: &mut [FamilyAnswer]) {
    let Some(first) = group.first().and_then(|first| answers.get(*first)) else {
        return;
    };
    let rejects = view.diagnostics.iter().any(|found| found.effect == Effect::Nack);
    let verdict = match (first.verdict, view.verdict) {
        (FamilyVerdict::Accepted, Verdict::Ignored) => FamilyVerdict::Ignored,
        (FamilyVerdict::Accepted, Verdict::Rejected) if rejects => FamilyVerdict::Rejected,
        (own, _) => own,
    };
    if let [one] = group {
        if let Some(answer) = answers.get_mut(*one) {
            answer.verdict = verdict;
            answer.diagnostics.put_list(view.diagnostics);
        }
        return;
    }
    let mut diagnostics = first.diagnostics.clone();
    diagnostics.put_list(view.diagnostics);
    for number in group {
        if let Some(answer) = answers.get_mut(*number) {
            answer.verdict = verdict;
            answer.diagnostics = diagnostics.clone();
        }
    }
}
