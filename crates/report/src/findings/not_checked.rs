//! What a run did not check, and for which clients. It is at the end of every report.
//!
//! A verdict that is not known fails the run with exit code 2. Kinds of findings that do not exist
//! for a client are listed; they fail the run only if the user asks for that.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::clients::{ClientVerdict, neighbours};
use super::{ResourceReport, Summary};
use crate::plural;
use xdsctl_channel::client::Verdict;
use xdsctl_model::diag::{Effect, Rule, Severity};
use xdsctl_model::profile::{Client, Doubt, Fleet};

/// The kind of thing that was not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NotCheckedKind {
    /// Whether the client accepts a resource: the measured versions around it differ, or its
    /// version is unknown.
    Verdict,
    /// The client itself: it was never measured, and the versions around it stand in for it.
    Version,
    /// References of resources that the client accepts and C-core rejects.
    References,
    /// Kinds of findings that exist for other clients only.
    Findings,
    /// The effect of an environment switch.
    Switch,
    /// Where RPCs go.
    Rpcs,
    /// Who gains access to a server.
    Access,
    /// What the client keeps of a resource.
    Values,
    /// Whether a resource keeps the policies of the project.
    Policies,
}

/// Most versions that are named one by one.
const NAMES_SHOWN: usize = 8;

/// Something that was not checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotChecked {
    /// The kind of thing that was not checked.
    pub kind: NotCheckedKind,
    /// The clients, each as `go@1.70.0`; empty if it concerns no client in particular.
    pub clients: Vec<String>,
    /// The clients, family by family: `go, java <1.71`.
    #[serde(skip)]
    who: String,
    /// What was not checked, and why, in words for people.
    pub what: String,
    /// How many resources were not checked, if it is about resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<usize>,
    /// The effects of findings that may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<&'static str>,
}

impl NotChecked {
    pub(crate) fn new(kind: NotCheckedKind, clients: &[Client], fleet: &Fleet, what: String) -> NotChecked {
        let names: Vec<String> = clients.iter().map(Client::to_string).collect();
        NotChecked {
            kind,
            // A single version matters here, so versions are named one by one.
            who: match kind {
                NotCheckedKind::Verdict | NotCheckedKind::Version if names.len() <= NAMES_SHOWN => names.join(", "),
                _ => fleet.describe(clients),
            },
            clients: names,
            what,
            resources: None,
            effects: Vec::new(),
        }
    }

    /// Returns the clients and what was not checked: `go: drops`.
    pub fn sentence(&self) -> String {
        match self.who.is_empty() {
            true => self.what.clone(),
            false => format!("{}: {}", self.who, self.what),
        }
    }
}

/// Returns the line at the end of a report for people; `None` if everything was checked.
pub fn line(not_checked: &[NotChecked]) -> Option<String> {
    let parts: Vec<String> = not_checked.iter().map(NotChecked::sentence).collect();
    (!parts.is_empty()).then(|| format!("not checked: {}", parts.join("; ")))
}

/// The conditions under which a run fails.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    /// A finding of at least this severity fails the run.
    pub severity: Severity,
    /// Whether anything that was not checked fails the run.
    pub not_checked: bool,
}

impl Gate {
    /// Says whether the run has failed, apart from verdicts that are not known.
    pub fn is_failed(self, summary: &Summary) -> bool {
        summary.worst.is_some_and(|worst| worst >= self.severity)
            || (self.not_checked && !summary.not_checked.is_empty())
    }
}

/// Says why a verdict is not known; `None` if all are known.
pub fn unknown(not_checked: &[NotChecked]) -> Option<String> {
    let unknown = not_checked
        .iter()
        .filter(|entry| matches!(entry.kind, NotCheckedKind::Verdict | NotCheckedKind::Policies));
    let parts: Vec<String> = unknown.map(NotChecked::sentence).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Collects what was not checked, resource after resource.
#[derive(Debug, Default)]
pub struct NotCheckedTally {
    /// Switches whose effect is not fully known.
    pub doubts: Vec<Doubt>,
    /// Clients of a dump whose version cannot be parsed.
    pub unread: Vec<String>,
    /// Whether the project has policies.
    pub has_policies: bool,
    /// For each client the number of resources on which its verdict is not known, and the first of
    /// them.
    unknown: BTreeMap<Client, (usize, String)>,
    /// For each client the number of resources that it accepts and the base rejects.
    beyond_base: BTreeMap<Client, usize>,
    /// For each policy that failed the number of places, and the resource of the first.
    policies: BTreeMap<&'static str, (usize, String)>,
}

impl NotCheckedTally {
    /// Adds a resource on which the base has this verdict, and on which these policies failed.
    pub fn add(&mut self, of_base: Verdict, resource: &ResourceReport, failed: &[&'static Rule]) {
        let first = || format!("{} `{}`", resource.type_name, resource.name);
        for rule in failed {
            self.policies.entry(rule.id).or_insert_with(|| (0, first())).0 += 1;
        }
        for (client, ClientVerdict { verdict, .. }) in &*resource.clients {
            if *verdict == "not_known" {
                self.unknown.entry(*client).or_insert_with(|| (0, first())).0 += 1;
            }
            if *verdict == "accepted" && of_base == Verdict::Rejected && !client.has_own_world() {
                *self.beyond_base.entry(*client).or_default() += 1;
            }
        }
    }

    /// Returns everything that was not checked, ordered by kind.
    pub fn finish(&self, fleet: &Fleet) -> Vec<NotChecked> {
        let mut list: Vec<NotChecked> = self.unread.iter().map(|agent| unread(agent)).collect();
        list.extend(unclear(NotCheckedKind::Verdict, "the verdict on", &self.unknown, fleet));
        list.extend(versions(fleet));
        let counts: BTreeSet<&usize> = self.beyond_base.values().collect();
        for count in counts {
            let clients = of_value(&self.beyond_base, count);
            let base = fleet.base().name();
            let what = format!("what {} that {base} rejects refer to", plural(*count, "resource"));
            let entry = NotChecked::new(NotCheckedKind::References, &clients, fleet, what);
            list.push(NotChecked {
                resources: Some(*count),
                ..entry
            });
        }
        list.extend(findings(fleet));
        let unmeasured = clients(fleet, |client| !client.has_own_world());
        if self.has_policies && !unmeasured.is_empty() {
            let what = "the project's policies: it was not measured what it keeps".to_owned();
            list.push(NotChecked::new(NotCheckedKind::Findings, &unmeasured, fleet, what));
        }
        list.extend(self.policies.iter().map(|(id, (count, first))| {
            let what = format!("policy `{id}` at {}, the first in {first}", plural(*count, "place"));
            NotChecked::new(NotCheckedKind::Policies, &[], fleet, what)
        }));
        list.extend(switches(&self.doubts, fleet));
        list
    }
}

/// Returns an entry for each set of resources that were not checked. Clients with the same
/// resources are combined.
pub(crate) fn unclear(
    kind: NotCheckedKind,
    what: &str,
    of: &BTreeMap<Client, (usize, String)>,
    fleet: &Fleet,
) -> Vec<NotChecked> {
    let alike: BTreeSet<&(usize, String)> = of.values().collect();
    let entry = |same: &(usize, String)| {
        let what = match same {
            (1, only) => format!("{what} {only}"),
            (count, first) => format!("{what} {count} resources, the first is {first}"),
        };
        let mut entry = NotChecked::new(kind, &of_value(of, same), fleet, what);
        entry.resources = Some(same.0);
        entry
    };
    alike.into_iter().map(entry).collect()
}

/// Returns an entry for each version that was never measured.
pub(crate) fn versions(fleet: &Fleet) -> impl Iterator<Item = NotChecked> {
    fleet.clients().iter().filter_map(|client| {
        let [before, after] = neighbours(*client)?;
        let what = format!("the version, which was never measured: {before} answers where {after} agrees");
        Some(NotChecked::new(NotCheckedKind::Version, &[*client], fleet, what))
    })
}

/// Returns an entry for each switch whose effect is not fully known.
pub(crate) fn switches(doubts: &[Doubt], fleet: &Fleet) -> impl Iterator<Item = NotChecked> {
    let switch = |doubt: &Doubt| NotChecked::new(NotCheckedKind::Switch, &doubt.clients, fleet, doubt.why());
    doubts.iter().map(switch)
}

/// Returns the entry for a client of a dump that cannot be asked.
pub(crate) fn unread(agent: &str) -> NotChecked {
    NotChecked {
        kind: NotCheckedKind::Verdict,
        clients: vec![agent.to_owned()],
        who: agent.to_owned(),
        what: "everything, its version is not known".to_owned(),
        resources: None,
        effects: Vec::new(),
    }
}

pub(crate) fn of_value<T: PartialEq>(map: &BTreeMap<Client, T>, wanted: &T) -> Vec<Client> {
    let alike = map.iter().filter(|(_, value)| *value == wanted);
    alike.map(|(client, _)| *client).collect()
}

pub(crate) fn clients(fleet: &Fleet, is_wanted: impl Fn(&Client) -> bool) -> Vec<Client> {
    fleet.clients().iter().copied().filter(is_wanted).collect()
}

/// Returns entries for the kinds of findings that do not exist for some clients. Rules that hold
/// for every client do not count.
fn findings(fleet: &Fleet) -> Vec<NotChecked> {
    let clients = clients(fleet, |client| !client.has_own_world());
    if clients.is_empty() {
        return Vec::new();
    }
    let what = "what it drops, never reads or fails on later, and advice that depends on the client";
    let entry = NotChecked::new(NotCheckedKind::Findings, &clients, fleet, what.to_owned());
    let all_but_nack = Effect::ALL.into_iter().filter(|effect| *effect != Effect::Nack);
    vec![NotChecked {
        effects: all_but_nack.map(Effect::name).collect(),
        ..entry
    }]
}
