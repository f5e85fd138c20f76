//! From what a line tells to the findings of a dump.
//!
//! The findings are those that `validate` makes of the dump; none is made up for a line. Names and
//! paths of the line choose among them, then its rules, then the values in its words.

use std::collections::HashSet;

use super::{Page, Recognised};
use crate::decide::{CheckOutcome, FAULT_GONE, Reason};
use xdsctl_channel::client::{Checked, LIVE_REJECTED, Verdict};
use xdsctl_document::envelope::Finding;
use xdsctl_document::source::{SourceId, Span};
use xdsctl_model::diag::{Diagnostic, Effect, FieldPath, Rule};
use xdsctl_model::resource::ResourceType;

/// What the name of the resource is worth; more than all values of a message.
const NAME: usize = 1000;

/// What the likeliest rule is worth; each one after it a third less.
const RULE: usize = 90;

/// Why nobody knows of a fault: its resource has no verdict.
const NOT_CHECKED: &str =
    "the resource that the line names was not checked, so nothing says whether the fault is still there";

/// Why nobody knows of a fault: its words are those of no rule.
const NOT_KNOWN: &str = "the line tells of a fault that is not recognised, and no finding is at its place: \
                         nothing says whether it is still there";

/// The rules that say of a resource that it is not there: which of them does depends on what refers
/// to it, and on what is known of the input.
const MISSING: [&str; 6] = [
    "rds-cluster-missing",
    "aggregate-child-missing",
    "cds-endpoints-missing",
    "lds-route-config-missing",
    "target-listener-missing",
    "reference-to-nothing",
];

/// Says whether a line tells that a resource, which it names, did not come.
pub fn is_missing(one: &Recognised) -> bool {
    let says_so = |id: &str| id == "resource-missing" || MISSING.contains(&id);
    one.resource_name.is_some() && one.path.is_none() && one.pages.iter().any(|lead| says_so(lead.id()))
}

/// Says whether a line tells that a resource, which it names, is rejected, in words that no rule
/// has.
fn is_rejected(one: &Recognised) -> bool {
    one.resource_name.is_some() && one.leads_to("response-rejected")
}

/// Keeps those findings of an outcome that a line is about; where there is none for something that
/// it tells, a finding says so, at the resource or else at the start of `document`.
///
/// What could not be read stays, as the answer rests on it. Symptoms are no findings and pass. Why
/// nobody knows whether a resource that is there still has the fault, if so: it was not checked, or
/// no rule is known to be about the fault.
pub fn keep(outcome: &mut CheckOutcome, told: &[Recognised], document: Option<SourceId>) -> Option<&'static str> {
    let mut why = None;
    let mut wanted: Vec<Vec<usize>> = vec![Vec::new(); outcome.resources.len()];
    let mut wanted_findings: Vec<usize> = Vec::new();
    let mut gone: Vec<(Option<usize>, Diagnostic)> = Vec::new();
    for of_one in by_resource(told) {
        let chosen = choose(&of_one, &outcome.resources);
        for one in &of_one {
            let mut is_found = false;
            for number in &chosen {
                let best = outcome.resources.get(*number).and_then(|checked| best(one, checked));
                if let (Some((at, _)), Some(list)) = (best, wanted.get_mut(*number)) {
                    list.push(at);
                    is_found = true;
                }
            }
            let of_documents = outcome.findings.iter().enumerate();
            let fits: Vec<usize> = of_documents
                .filter(|(_, finding)| !is_found && score(one, None, &finding.diagnostic).is_some())
                .map(|(at, _)| at)
                .collect();
            is_found |= !fits.is_empty();
            wanted_findings.extend(fits);
            let has_rule = one.path.is_some()
                || one.pages.is_empty()
                || is_missing(one)
                || is_rejected(one)
                || one.pages.iter().any(|lead| matches!(lead.page, Page::Rule(_)));
            if !is_found && has_rule {
                let named = named(one, &outcome.resources);
                let found = named.and_then(|number| outcome.resources.get(number));
                if found.is_some_and(|checked| checked.verdict == Verdict::NotChecked) {
                    why = Some(NOT_CHECKED);
                    continue;
                }
                if one.pages.is_empty() && (named.is_some() || one.resource_name.is_none()) {
                    why = why.or(Some(NOT_KNOWN));
                    continue;
                }
                gone.push((
                    named,
                    Diagnostic::of_whole(&FAULT_GONE, what_is_gone(one, named.is_some())),
                ));
            }
        }
    }
    let CheckOutcome {
        resources,
        findings,
        withheld,
        ..
    } = outcome;
    let other = |is_wanted: bool| (!is_wanted).then_some(Reason::OtherLine);
    for (number, (checked, wanted)) in resources.iter_mut().zip(&wanted).enumerate() {
        let mut at = 0..;
        withheld.sift(number, &mut checked.diagnostics, |_| {
            other(at.next().is_some_and(|at| wanted.contains(&at)))
        });
        withheld.take_ignored(number, checked, &Reason::OtherLine);
        let source = checked.origin.source;
        withheld.sift_notes(number, &mut checked.notes, source, |_| other(false));
    }
    let mut at = 0..;
    withheld.sift_documents(findings, |finding| {
        let is_wanted = at.next().is_some_and(|at| wanted_findings.contains(&at));
        other(is_wanted || finding.diagnostic.effect == Effect::Fails)
    });
    outcome.proxy_worlds.clear();
    for (resource, diagnostic) in gone {
        match resource.and_then(|number| outcome.resources.get_mut(number)) {
            Some(checked) => checked.diagnostics.push(diagnostic),
            None => outcome.findings.extend(document.map(|source| Finding {
                source,
                span: Span::new(0, 0),
                diagnostic,
            })),
        }
    }
    why
}

/// What is told of each resource.
fn by_resource(told: &[Recognised]) -> Vec<Vec<&Recognised>> {
    let mut groups: Vec<Vec<&Recognised>> = Vec::new();
    let key = |one: &Recognised| {
        (
            one.resource_type.map(ResourceType::short_name),
            one.resource_name.clone(),
        )
    };
    for one in told {
        match groups
            .iter_mut()
            .find(|group| group.first().is_some_and(|first| key(first) == key(one)))
        {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// The resources that have most of what is told of one; several if they have the same.
fn choose(told: &[&Recognised], resources: &[Checked]) -> Vec<usize> {
    let mut best = 0;
    let mut chosen = Vec::new();
    for (number, checked) in resources.iter().enumerate() {
        let scores = told.iter().filter_map(|one| self::best(one, checked));
        let score: usize = scores.map(|(_, score)| score).sum();
        if score > best {
            best = score;
            chosen.clear();
        }
        if score == best && score > 0 {
            chosen.push(number);
        }
    }
    chosen
}

/// The finding of a resource that fits best, and how well.
fn best(one: &Recognised, checked: &Checked) -> Option<(usize, usize)> {
    if one.resource_type.is_some() && one.path.is_some() && one.resource_type != checked.resource_type {
        return None;
    }
    let mut best: Option<(usize, usize)> = None;
    for (at, diagnostic) in checked.diagnostics.iter().enumerate() {
        if let Some(score) = score(one, Some(&checked.name), diagnostic)
            && best.is_none_or(|(_, so_far)| score > so_far)
        {
            best = Some((at, score));
        }
    }
    best.or_else(|| Some((told_by_the_client(one, checked)?, 1)))
}

/// The finding that a live client has rejected the resource, if it says in the dump what the line
/// says.
fn told_by_the_client(one: &Recognised, checked: &Checked) -> Option<usize> {
    let error = checked.status.as_deref()?.error.as_deref()?;
    let is_named = one.resource_name.as_ref().is_none_or(|name| *name == checked.name);
    let found = || checked.diagnostics.iter().position(|d| d.rule == &LIVE_REJECTED);
    let says_so = |said: &Recognised| said.path == one.path && said.words == one.words;
    (is_named && super::recognised(error).iter().any(says_so)).then(found)?
}

/// How well a finding on a resource of this name fits; `None` if it does not.
fn score(one: &Recognised, name: Option<&str>, diagnostic: &Diagnostic) -> Option<usize> {
    let of_places = diagnostic
        .said()
        .filter_map(|said| score_at(one, name, diagnostic, said));
    of_places.max()
}

/// How well one of its places fits.
fn score_at(
    one: &Recognised,
    name: Option<&str>,
    diagnostic: &Diagnostic,
    (rule, at): (&Rule, &FieldPath),
) -> Option<usize> {
    if is_missing(one) && MISSING.contains(&rule.id) {
        return names_missing(one, diagnostic).then_some(NAME + RULE);
    }
    let rank = one.pages.iter().position(|lead| lead.id() == rule.id);
    let mut score = rank.map_or(0, |rank| RULE / (rank + 1)) + 1;
    match &one.path {
        // What comes to pass later has a path of its own, such as one of the service config.
        Some(_) if rank.is_some() && diagnostic.effect != Effect::Nack => {}
        // The client names paths of what it rejects only.
        Some(path) => {
            let is_there = diagnostic.effect == Effect::Nack;
            if !is_there || squeezed(path) != squeezed(&at.to_string()) {
                return None;
            }
        }
        // Words that no page has lead to a rejection by the fields that they name, of a resource
        // that they name.
        None if rank.is_none() => {
            let fields = fields_named(&one.words, diagnostic);
            let is_told = fields > 0 || is_rejected(one);
            if one.resource_name.is_none() || diagnostic.effect != Effect::Nack || !is_told {
                return None;
            }
            score += fields;
        }
        None => {}
    }
    if let Some(wanted) = &one.resource_name {
        // A message about a resource that is missing is found where it is referred to.
        let is_named = name.is_some_and(|name| squeezed(name) == squeezed(wanted))
            || one.path.is_none() && diagnostic.message.contains(&format!("`{wanted}`"));
        if !is_named {
            return None;
        }
        score += NAME;
    }
    Some(
        score
            + values(&one.words)
                .filter(|value| diagnostic.message.contains(value))
                .count(),
    )
}

/// Says whether a finding on a reference is about the resource that a line names.
fn names_missing(one: &Recognised, diagnostic: &Diagnostic) -> bool {
    let kind = one.resource_type.map_or("", ResourceType::short_name);
    let name = one.resource_name.as_deref().unwrap_or_default();
    diagnostic.message.contains(&format!("{kind} `{name}` is not there"))
}

/// How many of the fields that a finding names the words name too: names with an underscore, which
/// nobody else uses.
fn fields_named(words: &str, diagnostic: &Diagnostic) -> usize {
    let said = format!("{} {}", diagnostic.path, diagnostic.message);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fields: HashSet<&str> = said.split(|c| !is_word(c)).filter(|word| word.contains('_')).collect();
    let named: HashSet<&str> = words.split(|c| !is_word(c)).collect();
    fields.intersection(&named).count()
}

/// Numbers, and what stands in quotes.
fn values(words: &str) -> impl Iterator<Item = &str> {
    let quoted = words.split('"').skip(1).step_by(2);
    let bare = words.split(|c: char| c.is_whitespace() || "[](),;:\"".contains(c));
    let is_value = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
    quoted.chain(bare.filter(is_value)).filter(|value| !value.is_empty())
}

/// The resource that the line names, if it is there.
fn named(one: &Recognised, resources: &[Checked]) -> Option<usize> {
    let wanted = one.resource_name.as_deref().map(squeezed)?;
    let is_named = |checked: &Checked| {
        checked.resource_type.is_some()
            && (one.resource_type.is_none() || checked.resource_type == one.resource_type)
            && squeezed(&checked.name) == wanted
    };
    resources.iter().position(is_named)
}

fn what_is_gone(one: &Recognised, is_there: bool) -> String {
    let kind = one.resource_type.map_or("resource", ResourceType::short_name);
    let fault = match &one.path {
        Some(path) => format!("a fault at `{path}`"),
        None => format!("`{}`", one.words),
    };
    match (&one.resource_name, is_there) {
        (Some(name), true) if is_missing(one) => {
            format!(
                "the line tells that {kind} `{name}` is missing, and it is there: it has come since, or the client asks elsewhere"
            )
        }
        (Some(name), false) if is_missing(one) => format!(
            "the line tells that {kind} `{name}` is missing; it is not in the input, and nothing in the input refers to it"
        ),
        (Some(name), true) => {
            format!(
                "the line tells of {fault} in {kind} `{name}`, which is there without it: it has changed since, or the client is another"
            )
        }
        (Some(name), false) => format!("the line tells of {fault} in {kind} `{name}`, which is not in the input"),
        (None, _) => format!("the line tells of {fault}, which no {kind} of the input has"),
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}
