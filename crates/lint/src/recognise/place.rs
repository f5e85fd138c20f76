//! Finds the findings of a dump that a line of a log is about.
//!
//! The findings are those that `validate` makes for the dump; none is invented for the line. They
//! are chosen by the names and paths in the line, then by its rules, then by the values in its
//! words.

use std::collections::HashSet;

use super::{Page, Recognised};
use crate::decide::{CheckOutcome, FAULT_GONE, Reason};
use xdsctl_channel::client::{Checked, LIVE_REJECTED, Verdict};
use xdsctl_document::envelope::Finding;
use xdsctl_document::source::{SourceId, Span};
use xdsctl_model::diag::{Diagnostic, Effect, FieldPath, Rule};
use xdsctl_model::resource::ResourceType;

/// Score of a matching resource name; it is more than all values of a message can add.
const NAME: usize = 1000;

/// Score of the likeliest rule. The second one gets half of it, the third one a third.
const RULE: usize = 90;

/// The reason why it is not known whether a fault still exists, if its resource was not checked.
const NOT_CHECKED: &str =
    "the resource that the line names was not checked, so nothing says whether the fault is still there";

/// The reason why it is not known whether a fault still exists, if its words belong to no rule.
const NOT_KNOWN: &str = "the line tells of a fault that is not recognised, and no finding is at its place: \
                         nothing says whether it is still there";

/// The rules which say that a resource is missing. Which of them applies depends on what refers to
/// the resource, and on what is known about the input.
const MISSING: [&str; 6] = [
    "rds-cluster-missing",
    "aggregate-child-missing",
    "cds-endpoints-missing",
    "lds-route-config-missing",
    "target-listener-missing",
    "reference-to-nothing",
];

/// Says whether a line names a resource and reports that the client did not get it.
pub fn is_missing(one: &Recognised) -> bool {
    let says_so = |id: &str| id == "resource-missing" || MISSING.contains(&id);
    one.resource_name.is_some() && one.path.is_none() && one.pages.iter().any(|lead| says_so(lead.id()))
}

/// Says whether a line names a resource and reports that it is rejected, in words that belong to no
/// rule.
fn is_rejected(one: &Recognised) -> bool {
    one.resource_name.is_some() && one.leads_to("response-rejected")
}

/// Keeps those findings of an outcome that a line is about. If something that the line reports has
/// no finding, a new finding says so, at the resource or else at the start of `document`.
///
/// Findings about input that could not be read stay, because the answer depends on them. Symptoms
/// have no findings and are ignored. Returns why it is not known whether an existing resource still
/// has the fault, if that is so: the resource was not checked, or the fault belongs to no known
/// rule.
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

/// Groups the messages by the resource that they are about.
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

/// Returns the resources that match the messages about one resource best; several if they match
/// equally well.
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

/// Returns the finding of a resource that matches best, and its score.
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

/// Returns the finding that a live client has rejected the resource, if the client's error in the
/// dump says the same as the line.
fn told_by_the_client(one: &Recognised, checked: &Checked) -> Option<usize> {
    let error = checked.status.as_deref()?.error.as_deref()?;
    let is_named = one.resource_name.as_ref().is_none_or(|name| *name == checked.name);
    let found = || checked.diagnostics.iter().position(|d| d.rule == &LIVE_REJECTED);
    let says_so = |said: &Recognised| said.path == one.path && said.words == one.words;
    (is_named && super::recognised(error).iter().any(says_so)).then(found)?
}

/// Returns the score of a finding on a resource of this name; `None` if it does not match.
fn score(one: &Recognised, name: Option<&str>, diagnostic: &Diagnostic) -> Option<usize> {
    let of_places = diagnostic
        .said()
        .filter_map(|said| score_at(one, name, diagnostic, said));
    of_places.max()
}

/// Returns the score of one place of a finding.
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
        // A failure after acceptance has another path than the message, such as one in the service
        // config.
        Some(_) if rank.is_some() && diagnostic.effect != Effect::Nack => {}
        // The client gives paths only for resources that it rejects.
        Some(path) => {
            let is_there = diagnostic.effect == Effect::Nack;
            if !is_there || squeezed(path) != squeezed(&at.to_string()) {
                return None;
            }
        }
        // If its words are on no page, a message that names a resource leads to a rejection by the
        // fields that it names.
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
        // A message about a missing resource leads to the resource that refers to it.
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

/// Says whether a finding on a reference is about the missing resource that a line names.
fn names_missing(one: &Recognised, diagnostic: &Diagnostic) -> bool {
    let kind = one.resource_type.map_or("", ResourceType::short_name);
    let name = one.resource_name.as_deref().unwrap_or_default();
    diagnostic.message.contains(&format!("{kind} `{name}` is not there"))
}

/// Returns how many of the fields that a finding names are also in the words. Only names with an
/// underscore count, because ordinary text has none.
fn fields_named(words: &str, diagnostic: &Diagnostic) -> usize {
    let said = format!("{} {}", diagnostic.path, diagnostic.message);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fields: HashSet<&str> = said.split(|c| !is_word(c)).filter(|word| word.contains('_')).collect();
    let named: HashSet<&str> = words.split(|c| !is_word(c)).collect();
    fields.intersection(&named).count()
}

/// Returns the words with digits, and the texts in quotes.
fn values(words: &str) -> impl Iterator<Item = &str> {
    let quoted = words.split('"').skip(1).step_by(2);
    let bare = words.split(|c: char| c.is_whitespace() || "[](),;:\"".contains(c));
    let is_value = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
    quoted.chain(bare.filter(is_value)).filter(|value| !value.is_empty())
}

/// Returns the resource that the line names, if it exists.
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
