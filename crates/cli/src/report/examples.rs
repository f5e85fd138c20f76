//! What the clients do with the example of a rule's page.
//!
//! A page names no client and no version: it has an example that breaks the rule, and every version that was measured is asked
//! about that. So the page, the report of `validate` and the tests of the example cannot contradict each other.

use xdsctl::client::{Circumstances, Keep, Reading};
use xdsctl::diag::{Effect, Rule};
use xdsctl::profile::{Client, Fleet, ServerFacts};
use xdsctl::source::SourceMap;

use super::clients::who_of;

/// What the clients do with the first rejected example of a rule: `nack in cpp >=1.56, go`; empty if it is about more than one resource,
/// or needs a bootstrap.
pub fn clients(rule: &'static Rule) -> String {
    let Some(text) = first_example(rule.page) else {
        return String::new();
    };
    let mut fleet = Fleet::new(&Client::all());
    for line in text.lines().take_while(|line| line.starts_with("# ")) {
        if let Some((name, value)) = line.strip_prefix("# env: ").and_then(|setting| setting.split_once('=')) {
            // A switch of another client's says nothing here.
            let _ = fleet.set_env(name, value);
        }
        if line.starts_with("# bootstrap: ") || line.starts_with("# target: ") || line.starts_with("# as: ") {
            return String::new();
        }
    }
    let mut effects = Vec::new();
    for (client, effect) in answers(text, rule, &fleet) {
        if !effects.contains(&(effect, client)) {
            effects.push((effect, client));
        }
    }
    who_of(&effects, &fleet)
}

/// Who reports the rule of the example, with which effect.
fn answers(text: &str, rule: &Rule, fleet: &Fleet) -> Vec<(Client, Effect)> {
    let mut sources = SourceMap::new();
    let id = sources.add("example.yaml", text.as_bytes().to_vec());
    let Some(source) = sources.get(id) else {
        return Vec::new();
    };
    let server = ServerFacts::default();
    let circumstances = Circumstances {
        profile: fleet.base(),
        others: fleet.others(),
        server: &server,
        keep: Keep::Findings,
    };
    let mut reading = Reading::default();
    reading.read(Some(1), &circumstances, |loader, emit| {
        loader.document(id, source, Default::default(), emit);
    });
    let settled = reading.settle(&circumstances, true);
    let mut said = Vec::new();
    for mut checked in settled.resources {
        std::mem::take(&mut checked.ignored).unpack_into(&mut checked.diagnostics);
        let base = checked.diagnostics.iter().map(|d| (fleet.base().client(), d));
        let others = checked
            .answers
            .iter()
            .flat_map(|a| a.diagnostics.iter().map(|d| (a.client, d)));
        said.extend(
            base.chain(others)
                .filter(|(_, diagnostic)| diagnostic.rule == rule)
                .map(|(client, diagnostic)| (client, diagnostic.effect)),
        );
    }
    said
}

/// The first YAML of the section *Rejected*.
fn first_example(page: &str) -> Option<&str> {
    let (_, section) = page.split_once("## Rejected\n")?;
    let (_, text) = section.split_once("```yaml\n")?;
    text.split_once("```").map(|(text, _)| text)
}
