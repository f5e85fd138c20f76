//! What several clients say of a resource, as one list of findings.
//!
//! Findings of one rule at one place are one finding. What one client rejects and C-core never reads is one, too: the reader wants to know
//! of the field, not of the clients.

use std::collections::BTreeMap;

use xdsctl::client::{Checked, Verdict};
use xdsctl::diag::{Diagnostic, Effect, Rule, Subject};
use xdsctl::profile::{Client, Fleet};

/// What a client does with a resource.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ClientVerdict {
    /// `accepted`, `rejected`, `dies`, `not_known`; of the base also what a resource's verdict can be.
    pub verdict: &'static str,
    /// The rules that it breaks, sorted.
    pub rules: Vec<&'static str>,
}

/// What the clients of a fleet say of one resource.
#[derive(Debug, Default)]
pub struct Said {
    /// Beside each of the resource's diagnostics, who says so; empty if one client was asked, an empty text if all say the same.
    pub who: Vec<String>,
    /// By client, if several were asked for or another than the reference.
    pub verdicts: BTreeMap<Client, ClientVerdict>,
}

/// The clients that were asked: the reference with its full name, or the user's list.
pub fn asked(fleet: &Fleet) -> String {
    if fleet.clients() == [Client::default()] {
        return fleet.base().name();
    }
    let names: Vec<String> = fleet.clients().iter().map(Client::to_string).collect();
    names.join(", ")
}

/// What becomes of a resource: it is rejected if some client that was asked rejects it.
pub fn overall(of_base: Verdict, clients: &BTreeMap<Client, ClientVerdict>) -> Verdict {
    let rejects = |verdict: &ClientVerdict| matches!(verdict.verdict, "rejected" | "dies");
    match of_base {
        Verdict::Accepted | Verdict::Rejected if clients.values().any(rejects) => Verdict::Rejected,
        Verdict::Rejected if !clients.is_empty() => Verdict::Accepted,
        verdict => verdict,
    }
}

/// Says whether a finding is about the text, whoever reads it.
fn is_of_text(rule: &Rule) -> bool {
    rule.subject == Subject::Dump || xdsctl::client::is_live(rule)
}

/// Puts the answers of all clients among the resource's diagnostics.
pub fn merge(checked: &mut Checked, fleet: &Fleet) -> Said {
    if fleet.clients() == [Client::default()] {
        return Said::default();
    }
    let base = fleet.base().client();
    let mut merged = Merged::default();
    let mut of_base = std::mem::take(&mut checked.diagnostics);
    std::mem::take(&mut checked.ignored).unpack_into(&mut of_base);
    let mut verdicts = BTreeMap::new();
    if fleet.asks_base() {
        let rules = rules_of(of_base.iter().filter(|d| !is_of_text(d.rule)));
        let verdict = checked.verdict.name();
        verdicts.insert(base, ClientVerdict { verdict, rules });
    } else {
        of_base.retain(|diagnostic| is_of_text(diagnostic.rule));
    }
    for diagnostic in of_base {
        let client = (!is_of_text(diagnostic.rule)).then_some(base);
        merged.add(diagnostic, client);
    }
    for answer in std::mem::take(&mut checked.answers) {
        let rules = rules_of(answer.diagnostics.iter());
        let verdict = answer.verdict.name();
        verdicts.insert(answer.client, ClientVerdict { verdict, rules });
        for diagnostic in answer.diagnostics {
            merged.add(diagnostic, Some(answer.client));
        }
    }
    let (diagnostics, who) = merged.finish(fleet);
    checked.diagnostics = diagnostics;
    Said { who, verdicts }
}

fn rules_of<'d>(diagnostics: impl Iterator<Item = &'d Diagnostic>) -> Vec<&'static str> {
    let mut rules: Vec<&str> = diagnostics.map(|diagnostic| diagnostic.rule.id).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// Rules about fields that C-core never reads.
const UNREAD: [&str; 2] = ["field-ignored", "security-field-ignored"];

#[derive(Default)]
struct Merged {
    diagnostics: Vec<Diagnostic>,
    /// Beside each: which client has which effect.
    effects: Vec<Vec<(Effect, Client)>>,
    by_place: BTreeMap<String, Vec<usize>>,
}

impl Merged {
    fn add(&mut self, diagnostic: Diagnostic, client: Option<Client>) {
        let here = self.by_place.entry(diagnostic.path.to_string()).or_default();
        let known = here.iter().copied().find(|&n| {
            let other = &self.diagnostics[n];
            other.rule == diagnostic.rule || (client.is_some() && UNREAD.contains(&other.rule.id))
        });
        let effect = client.map(|client| (diagnostic.effect, client));
        match known {
            // Several findings of one client stay several.
            Some(n) if effect.is_some_and(|(_, client)| self.effects[n].iter().all(|(_, other)| *other != client)) => {
                if self.diagnostics[n].rule != diagnostic.rule {
                    self.diagnostics[n].turn_into(diagnostic.rule);
                    self.diagnostics[n].message = diagnostic.message;
                    self.diagnostics[n].effect = diagnostic.effect;
                }
                let worst = self.diagnostics[n].effect.min(diagnostic.effect);
                self.diagnostics[n].effect = worst;
                self.effects[n].extend(effect);
            }
            _ => {
                here.push(self.diagnostics.len());
                self.diagnostics.push(diagnostic);
                self.effects.push(effect.into_iter().collect());
            }
        }
    }

    fn finish(self, fleet: &Fleet) -> (Vec<Diagnostic>, Vec<String>) {
        let who = self.effects.iter().map(|effects| who(effects, fleet)).collect();
        (self.diagnostics, who)
    }
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
pub(super) fn who_of(effects: &[(Effect, Client)], fleet: &Fleet) -> String {
    let mut by_effect: BTreeMap<Effect, Vec<Client>> = BTreeMap::new();
    for (effect, client) in effects {
        by_effect.entry(*effect).or_default().push(*client);
    }
    let parts = by_effect
        .iter()
        .map(|(effect, clients)| format!("{effect} in {}", fleet.describe(clients)));
    parts.collect::<Vec<_>>().join("; ")
}
