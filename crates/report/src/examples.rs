//! Finds out what the clients do with the example on a rule's page.
//!
//! A page names no clients and no versions. Instead, every version that was measured is asked about
//! the page's example that breaks the rule. So the page, the report of `validate` and the tests of
//! the example cannot contradict each other.

use std::collections::BTreeMap;

use xdsctl_channel::client::{self, Keep, Reading, ValidationInput};
use xdsctl_clients::judge::FamilyVerdict;
use xdsctl_document::source::SourceMap;
use xdsctl_model::diag::{Diagnostic, Effect, Rule};
use xdsctl_model::profile::{Client, Fleet, ServerFacts};

use crate::findings::clients::who_of;

/// Says what the clients do with the first rejected example of a rule: `nack in cpp >=1.56, go;
/// resource accepted by java`. It is empty if the example has more than one resource, or needs a
/// bootstrap.
pub fn clients(rule: &'static Rule) -> String {
    let Some(text) = first_example(rule.page) else {
        return String::new();
    };
    let mut fleet = Fleet::new(&Client::all());
    for line in text.lines().take_while(|line| line.starts_with("# ")) {
        if let Some((name, value)) = line.strip_prefix("# env: ").and_then(|setting| setting.split_once('=')) {
            // A switch of another client is irrelevant here.
            let _ = fleet.set_env(name, value);
        }
        let needed = ["# bootstrap: ", "# target: ", "# listen: ", "# as: "];
        if needed.iter().any(|name| line.starts_with(name)) {
            return String::new();
        }
    }
    let said = ask(text, rule, &fleet);
    if said.effects.is_empty() {
        return String::new();
    }
    let mut parts = vec![who_of(&said.effects, &fleet)];
    let others = [
        (FamilyVerdict::Accepted, "resource accepted by"),
        (FamilyVerdict::Rejected, "rejected for another fault by"),
        (FamilyVerdict::Dies, "another fault kills"),
        (FamilyVerdict::Ignored, "resource replaced by another in"),
        (FamilyVerdict::NotKnown, "not known of"),
    ];
    for (verdict, words) in others {
        let is_quiet = |client: &Client| said.effects.iter().all(|(_, loud)| loud != client);
        let of_verdict = said
            .verdicts
            .iter()
            .filter(|(client, worst)| **worst == verdict && is_quiet(client));
        let clients: Vec<Client> = of_verdict.map(|(client, _)| *client).collect();
        if !clients.is_empty() {
            parts.push(format!("{words} {}", fleet.describe(&clients)));
        }
    }
    parts.join("; ")
}

/// The answers of the clients about an example.
#[derive(Debug, Default)]
struct Said {
    /// The clients that report the rule, each with the effect.
    effects: Vec<(Effect, Client)>,
    /// The worst verdict of each client on a resource of the example.
    verdicts: BTreeMap<Client, FamilyVerdict>,
}

impl Said {
    fn add(&mut self, client: Client, verdict: FamilyVerdict, diagnostics: &[Diagnostic], rule: &Rule) {
        for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.rule == rule) {
            if !self.effects.contains(&(diagnostic.effect, client)) {
                self.effects.push((diagnostic.effect, client));
            }
        }
        let worst = self.verdicts.entry(client).or_insert(verdict);
        *worst = verdict.max(*worst);
    }
}

fn ask(text: &str, rule: &Rule, fleet: &Fleet) -> Said {
    let mut said = Said::default();
    let mut sources = SourceMap::new();
    let id = sources.add("example.yaml", text.as_bytes().to_vec());
    let Some(source) = sources.get(id) else {
        return said;
    };
    let server = ServerFacts::default();
    let against = ValidationInput {
        profile: fleet.base(),
        others: fleet.others(),
        server: &server,
        keep: Keep::Findings,
    };
    let mut reading = Reading::default();
    reading.read(Some(1), &against, |loader, emit| {
        loader.document(id, source, Default::default(), emit);
    });
    for mut checked in reading.finish(&against, true).resources {
        std::mem::take(&mut checked.ignored).unpack_into(&mut checked.diagnostics);
        let verdict = match checked.verdict {
            client::Verdict::Rejected => FamilyVerdict::Rejected,
            _ => FamilyVerdict::Accepted,
        };
        said.add(fleet.base().client(), verdict, &checked.diagnostics, rule);
        for answer in &checked.answers {
            said.add(answer.client, answer.verdict, &answer.diagnostics, rule);
            if answer.verdict == FamilyVerdict::Accepted {
                let is_shared = |d: &&Diagnostic| d.shared.contains(&answer.client.family);
                let shared: Vec<Diagnostic> = checked.diagnostics.iter().filter(is_shared).cloned().collect();
                said.add(answer.client, answer.verdict, &shared, rule);
            }
        }
    }
    said
}

/// Returns the first YAML of the section *Rejected*.
fn first_example(page: &str) -> Option<&str> {
    let (_, section) = page.split_once("## Rejected\n")?;
    let (_, text) = section.split_once("```yaml\n")?;
    text.split_once("```").map(|(text, _)| text)
}
