//! What the client's messages are recognised by: the lines under `In a log` of each page.
//!
//! A line is `- words`, or `- `tail`, `tail`: words` where the words alone fit other rules too. The words occur in the
//! message in this order; `...` stands for anything between. A tail is the end of the field path, without indices, keys and
//! types; `camelCase` is any field so written, as only those of JSON configs are. `- alone: words` counts only in a line that
//! says nothing else. `- go: words` and `- java: words` are those of another client, which has no paths; they count where C-core says nothing. Case and
//! white space do not matter.

use std::sync::OnceLock;

use super::symptoms::{SYMPTOMS, Symptom};
use crate::catalogue;
use crate::diag::{Rule, Subject};
use crate::profile::Family;

/// The heading of the section.
const HEADING: &str = "## In a log";

/// What a message leads to.
#[derive(Debug, Clone, Copy)]
pub enum Page {
    /// A fault in a resource or bootstrap.
    Rule(&'static Rule),
    /// A state in which no resource has to be at fault.
    Symptom(&'static Symptom),
}

impl Page {
    /// The id of the rule or symptom.
    pub const fn id(self) -> &'static str {
        match self {
            Page::Rule(rule) => rule.id,
            Page::Symptom(symptom) => symptom.id,
        }
    }

    /// One sentence.
    pub fn summary(self) -> &'static str {
        match self {
            Page::Rule(rule) => rule.summary.trim(),
            Page::Symptom(symptom) => symptom.summary(),
        }
    }

    pub(super) const fn subject(self) -> Option<Subject> {
        match self {
            Page::Rule(rule) => Some(rule.subject),
            Page::Symptom(_) => None,
        }
    }
}

/// The end of a path.
#[derive(Debug)]
pub(super) enum Tail {
    /// These fields, the last one first.
    Fields(Vec<&'static str>),
    /// One field with a capital letter in it.
    CamelCase,
}

/// One line of a page.
#[derive(Debug)]
pub(super) struct Mark {
    pub page: Page,
    /// Where the path may end; anywhere if there is none.
    pub tails: Vec<Tail>,
    /// In lower case, without white space.
    pub pieces: Vec<String>,
    /// It only counts where nothing else is said.
    pub is_alone: bool,
    /// Whose words they are.
    family: Family,
}

/// C-core's marks of all pages, in the order of the rules.
pub(super) fn all() -> &'static [Mark] {
    &sorted().0
}

/// Those of other clients.
pub(super) fn of_others() -> &'static [Mark] {
    &sorted().1
}

/// C-core's marks, and the others.
fn sorted() -> &'static (Vec<Mark>, Vec<Mark>) {
    static ALL: OnceLock<(Vec<Mark>, Vec<Mark>)> = OnceLock::new();
    ALL.get_or_init(|| {
        let rules = catalogue::rules().map(|rule| (Page::Rule(rule), rule.page));
        let symptoms = SYMPTOMS.iter().map(|symptom| (Page::Symptom(symptom), symptom.page));
        rules
            .chain(symptoms)
            .flat_map(|(page, text)| lines(text).map(move |line| mark(page, line)))
            .partition(|mark| mark.family == Family::Cpp)
    })
}

/// The lines of the section.
fn lines(page: &'static str) -> impl Iterator<Item = &'static str> {
    page.lines()
        .skip_while(|line| *line != HEADING)
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("- "))
}

fn mark(page: Page, line: &'static str) -> Mark {
    let of_other = Family::ALL.into_iter().find_map(|family| {
        let rest = line.strip_prefix(family.name())?.strip_prefix(": ")?;
        Some((family, rest))
    });
    let (family, line) = of_other.unwrap_or((Family::Cpp, line));
    let (is_alone, line) = match line.strip_prefix("alone: ") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let (tails, words) = match line.split_once("`: ") {
        Some((tails, words)) if tails.starts_with('`') => (tails, words),
        _ => ("", line),
    };
    let tails = tails.split(", ").map(|tail| tail.trim_matches('`'));
    let squeeze = |piece: &str| piece.split_whitespace().collect::<String>().to_ascii_lowercase();
    Mark {
        page,
        tails: tails.filter(|tail| !tail.is_empty()).map(tail).collect(),
        pieces: words.split(" ... ").map(squeeze).collect(),
        is_alone,
        family,
    }
}

fn tail(text: &'static str) -> Tail {
    match text {
        "camelCase" => Tail::CamelCase,
        _ => Tail::Fields(text.rsplit('.').collect()),
    }
}
