//! The marks by which messages of clients are recognised: the lines under `In a log` of each page.
//!
//! A line is `- words`, or `- `tail`, `tail`: words` if the words alone would fit other rules too.
//! The words occur in the message in this order; `...` stands for anything in between. A tail is
//! the end of the field path, without indices, keys and types. The tail `camelCase` is any field in
//! camel case; only JSON configs have such fields. `- alone: words` counts only in a line that says
//! nothing else. `- go: words` and `- java: alone: words` are those of another client, whose
//! messages have no paths; they count if no words of C-core fit. Case and white space do not
//! matter.
//!
//! Words that anybody could write need a [frame](super::frame): all short ones, and those in `-
//! framed: words`.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use foldhash::{HashMap, HashMapExt};

use super::symptoms::{SYMPTOMS, Symptom};
use crate::catalogue;
use xdsctl_model::diag::{Rule, Subject};
use xdsctl_model::profile::Family;

/// The heading of the section with the marks.
const HEADING: &str = "## In a log";

/// Words with fewer letters than this could be anybody's.
const TELLING_LETTERS: usize = 20;

/// Number of bytes of a mark by which it is looked up before its words are compared.
const GRAM: usize = 4;

/// The page that a message leads to.
#[derive(Debug, Clone, Copy)]
pub enum Page {
    /// A fault in a resource or bootstrap.
    Rule(&'static Rule),
    /// A state that need not be the fault of any resource.
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

    /// Returns what the rule or symptom means, in one sentence.
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

/// The end of a field path.
#[derive(Debug)]
pub(super) enum Tail {
    /// These fields; the last field of the path comes first.
    Fields(Vec<&'static str>),
    /// A field with a capital letter in it.
    CamelCase,
}

/// A mark: one line under `In a log` of a page.
#[derive(Debug)]
pub(super) struct PageLine {
    pub page: Page,
    /// The ends that the path may have; any if the list is empty.
    pub tails: Vec<Tail>,
    /// The words between the gaps, in lower case and without white space.
    pub pieces: Vec<String>,
    /// Whether the mark counts only if the line says nothing else.
    pub is_alone: bool,
    /// Whether the mark counts only if something else shows that gRPC wrote the line.
    pub is_framed: bool,
    /// The client that writes these words.
    pub family: Family,
}

impl PageLine {
    /// Says whether the words are C-core's, and not those of another client.
    pub fn is_core(&self) -> bool {
        self.family == Family::REFERENCE
    }

    /// Returns the number of letters of the words.
    pub fn letters(&self) -> usize {
        self.pieces.iter().map(String::len).sum()
    }
}

/// Returns the marks that a text may contain, in the order of the rules. All that it contains are
/// among them, and perhaps others.
///
/// The text is in lower case, without white space. It is read once, however many marks there are.
pub(super) fn candidates(text: &str) -> Vec<&'static PageLine> {
    let index = index();
    let mut found = BTreeSet::new();
    for gram in text.as_bytes().windows(GRAM) {
        if let Ok(gram) = <[u8; GRAM]>::try_from(gram)
            && index.is_known(gram)
        {
            found.extend(index.by_gram.get(&gram).into_iter().flatten().copied());
        }
    }
    found.into_iter().filter_map(|number| index.marks.get(number)).collect()
}

/// All marks, with an index.
struct MarkIndex {
    marks: Vec<PageLine>,
    /// For each mark one sequence of bytes of its words, by which it is looked up.
    by_gram: HashMap<[u8; GRAM], Vec<usize>>, // never iterated
    /// A bit for each hash of a key of `by_gram`.
    known: Vec<u64>,
}

impl MarkIndex {
    fn is_known(&self, gram: [u8; GRAM]) -> bool {
        let (word, bit) = slot(gram);
        self.known.get(word).is_some_and(|bits| bits & bit != 0)
    }
}

/// Returns the position of the bit for these bytes.
fn slot(gram: [u8; GRAM]) -> (usize, u64) {
    let hash = u32::from_le_bytes(gram).wrapping_mul(0x9E37_79B1) >> 16;
    ((hash >> 6) as usize, 1 << (hash & 63))
}

fn index() -> &'static MarkIndex {
    static INDEX: OnceLock<MarkIndex> = OnceLock::new();
    INDEX.get_or_init(|| {
        let rules = catalogue::rules().map(|rule| (Page::Rule(rule), rule.page));
        let symptoms = SYMPTOMS.iter().map(|symptom| (Page::Symptom(symptom), symptom.page));
        let marks: Vec<PageLine> = rules
            .chain(symptoms)
            .flat_map(|(page, text)| lines(text).map(move |line| mark(page, line)))
            .collect();
        indexed(marks)
    })
}

/// Indexes each mark by the sequence of its bytes that is rarest among all marks.
fn indexed(marks: Vec<PageLine>) -> MarkIndex {
    let grams = |mark: &PageLine| -> Vec<[u8; GRAM]> {
        let windows = mark.pieces.iter().flat_map(|piece| piece.as_bytes().windows(GRAM));
        let mut grams: Vec<[u8; GRAM]> = windows.filter_map(|gram| gram.try_into().ok()).collect();
        grams.sort_unstable();
        grams.dedup();
        grams
    };
    let of_marks: Vec<Vec<[u8; GRAM]>> = marks.iter().map(grams).collect();
    let mut counts: HashMap<[u8; GRAM], usize> = HashMap::new(); // never iterated
    for gram in of_marks.iter().flatten() {
        *counts.entry(*gram).or_default() += 1;
    }
    let mut by_gram: HashMap<[u8; GRAM], Vec<usize>> = HashMap::new(); // never iterated
    let mut known = vec![0; 1 << 10];
    for (number, grams) in of_marks.iter().enumerate() {
        let rarest = grams.iter().min_by_key(|gram| counts.get(*gram).copied());
        let gram = *rarest.expect("the words of a mark are longer than the bytes that are looked up");
        by_gram.entry(gram).or_default().push(number);
        let (word, bit) = slot(gram);
        if let Some(bits) = known.get_mut(word) {
            *bits |= bit;
        }
    }
    MarkIndex { marks, by_gram, known }
}

/// Returns the lines of the section `In a log`.
fn lines(page: &'static str) -> impl Iterator<Item = &'static str> {
    page.lines()
        .skip_while(|line| *line != HEADING)
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("- "))
}

fn mark(page: Page, line: &'static str) -> PageLine {
    let of_other = Family::ALL.into_iter().find_map(|family| {
        let rest = line.strip_prefix(family.name())?.strip_prefix(": ")?;
        Some((family, rest))
    });
    let (family, line) = of_other.unwrap_or((Family::REFERENCE, line));
    let (is_alone, line) = match line.strip_prefix("alone: ") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let (is_framed, line) = match line.strip_prefix("framed: ") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let (tails, words) = match line.split_once("`: ") {
        Some((tails, words)) if tails.starts_with('`') => (tails, words),
        _ => ("", line),
    };
    let tails = tails.split(", ").map(|tail| tail.trim_matches('`'));
    let squeeze = |piece: &str| piece.split_whitespace().collect::<String>().to_ascii_lowercase();
    let pieces: Vec<String> = words.split(" ... ").map(squeeze).collect();
    let letters: usize = pieces.iter().map(String::len).sum();
    PageLine {
        page,
        tails: tails.filter(|tail| !tail.is_empty()).map(tail).collect(),
        pieces,
        is_alone,
        is_framed: is_framed || letters < TELLING_LETTERS,
        family,
    }
}

fn tail(text: &'static str) -> Tail {
    match text {
        "camelCase" => Tail::CamelCase,
        _ => Tail::Fields(text.rsplit('.').collect()),
    }
}
