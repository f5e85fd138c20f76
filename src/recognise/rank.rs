//! Which rules a message may be about, the likeliest first.

use std::ops::Range;

use super::line::About;
use super::marks::{self, Mark, Page, Tail};

/// Pages that are named for one fault.
pub(super) const MAX_PAGES: usize = 3;

/// Longer words tell no more.
const MAX_WORDS: usize = 40;

/// What a field at the end of the path is worth, in letters of words.
const FIELD: usize = 12;

/// What it is worth that path and words are all there is to know.
const ANYWHERE: usize = 4;

/// What a field in camel case is worth.
const CAMEL_CASE: usize = 6;

/// What the right kind of resource is worth.
const SUBJECT: usize = 3;

/// How far behind the best a page may be, as a share of its score: below two thirds.
const NEAR: (usize, usize) = (2, 3);

/// The words before one of the four resources in a note of the client.
const NOTES: [&str; 4] = ["ldsresource", "rdsresource", "cdsresource", "edsresource"];

/// Pages with what speaks for them.
type Scored = Vec<(usize, Page)>;

/// Pages for one fault.
#[derive(Debug, Default)]
pub(super) struct Ranked {
    /// Those that fit, the best of them.
    pub pages: Vec<Page>,
    /// How many more fit as well.
    pub more: usize,
    /// What speaks for the best of them.
    pub best: usize,
    /// If none fits: those whose words do, elsewhere.
    pub near: Vec<Page>,
}

/// Ranks the pages for words at a path; both squeezed, the words in lower case.
pub(super) fn at_path(path: &str, words: &str, about: &About) -> Ranked {
    let fields = fields(path);
    let mut fits = Vec::new();
    let mut near = Vec::new();
    for mark in marks::all().iter().filter(|mark| !mark.is_alone) {
        let Some(range) = occurrence(mark, words, 0) else {
            continue;
        };
        let score = words_score(mark) + subject_score(mark, about);
        // Words at the start tell more than the same words later on.
        let score = score + usize::from(range.start == 0);
        match tail_score(mark, &fields) {
            Some(tail) => fits.push((score + tail, mark.page)),
            None => near.push((score, mark.page)),
        }
    }
    ranked(fits, near)
}

/// Ranks the pages for words of another client than C-core, which names no path.
pub(super) fn of_others(words: &str) -> Ranked {
    let marks = marks::of_others().iter();
    let fitting = marks.filter(|mark| occurrence(mark, words, 0).is_some());
    ranked(fitting.map(|mark| (words_score(mark), mark.page)).collect(), Vec::new())
}

/// Ranks the pages for words without a path.
pub(super) fn bare(words: &str, text: &str) -> Ranked {
    let mut fits = Vec::new();
    for mark in marks::all().iter().filter(|mark| !mark.is_alone) {
        if occurrence(mark, words, 0).is_some() {
            let named = mark.tails.iter().filter_map(|tail| match tail {
                Tail::Fields(fields) => {
                    let path: Vec<&str> = fields.iter().rev().copied().collect();
                    text.contains(&path.join(".")).then_some(FIELD * fields.len())
                }
                Tail::CamelCase => None,
            });
            let tail = if mark.tails.is_empty() {
                FIELD
            } else {
                named.max().unwrap_or(0)
            };
            fits.push((words_score(mark) + tail, mark.page));
        }
    }
    ranked(fits, Vec::new())
}

/// What a text says outside of its faults: where, and the pages for it.
pub(super) fn said(text: &str, is_all: bool) -> Vec<(Range<usize>, Ranked)> {
    let mut found: Vec<(Range<usize>, usize, &Mark)> = Vec::new();
    let anywhere = marks::all().iter().filter(|mark| mark.tails.is_empty());
    for mark in anywhere.filter(|mark| is_all || !mark.is_alone) {
        let mut from = 0;
        while let Some(range) = occurrence(mark, text, from) {
            from = range.end;
            found.push((range, words_score(mark), mark));
        }
    }
    if found.iter().any(|(_, _, mark)| !mark.is_alone) {
        found.retain(|(_, _, mark)| !mark.is_alone);
    }
    found.sort_by_key(|(range, score, _)| (range.start, std::cmp::Reverse(*score)));
    let mut groups: Vec<(Range<usize>, Scored)> = Vec::new();
    for (range, score, mark) in found {
        match groups.last_mut() {
            Some((covered, pages)) if range.start < covered.end => {
                covered.end = covered.end.max(range.end);
                pages.push((score, mark.page));
            }
            _ => groups.push((range, vec![(score, mark.page)])),
        }
    }
    let rank = |(range, fits)| (range, ranked(fits, Vec::new()));
    groups.into_iter().map(rank).collect()
}

/// The best of each page, in order.
fn ranked(fits: Scored, near: Scored) -> Ranked {
    let best_of = |mut scored: Scored| {
        // Stable: the order of the rules decides among equals.
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let best = scored.first().map_or(0, |(score, _)| *score);
        let mut pages: Vec<Page> = Vec::new();
        for (score, page) in scored {
            if score * NEAR.1 >= best * NEAR.0 && pages.iter().all(|known| known.id() != page.id()) {
                pages.push(page);
            }
        }
        let more = pages.len().saturating_sub(MAX_PAGES);
        pages.truncate(MAX_PAGES);
        (pages, more, best)
    };
    let (pages, more, best) = best_of(fits);
    let near = if pages.is_empty() { best_of(near).0 } else { Vec::new() };
    Ranked {
        pages,
        more,
        best,
        near,
    }
}

fn words_score(mark: &Mark) -> usize {
    let letters: usize = mark.pieces.iter().map(String::len).sum();
    letters.min(MAX_WORDS)
}

fn subject_score(mark: &Mark, about: &About) -> usize {
    let is_same = about.subject.is_some() && mark.page.subject() == about.subject;
    if is_same { SUBJECT } else { 0 }
}

/// What the end of the path is worth; `None` if it has to be another.
fn tail_score(mark: &Mark, fields: &[&str]) -> Option<usize> {
    if mark.tails.is_empty() {
        return Some(ANYWHERE);
    }
    let scores = mark.tails.iter().filter_map(|tail| match tail {
        Tail::Fields(tail) => {
            let is_end = tail.len() <= fields.len() && tail.iter().eq(fields.iter().rev().take(tail.len()));
            is_end.then_some(FIELD * tail.len())
        }
        Tail::CamelCase => {
            let is_camel = |field: &&str| field.contains(|c: char| c.is_ascii_uppercase());
            fields.last().is_some_and(is_camel).then_some(CAMEL_CASE)
        }
    });
    scores.max()
}

/// Where the pieces of a mark occur in `text` in their order, from `from` on: as near to each other as they do.
fn occurrence(mark: &Mark, text: &str, mut from: usize) -> Option<Range<usize>> {
    let (first, others) = mark.pieces.split_first()?;
    'start: loop {
        let mut start = from + text.get(from..)?.find(first.as_str())?;
        let mut end = start + first.len();
        for (number, piece) in others.iter().enumerate() {
            let next = end + text.get(end..)?.find(piece.as_str())?;
            if number == 0 {
                // The last occurrence of the first piece before this one.
                start += text.get(start..next)?.rfind(first.as_str()).unwrap_or(0);
                end = start + first.len();
            }
            let gap = text.get(end..next).unwrap_or_default();
            end = next + piece.len();
            if NOTES.iter().any(|note| gap.contains(note)) {
                // What follows is said of another resource.
                from = end;
                continue 'start;
            }
        }
        return Some(start..end);
    }
}

/// The fields of a path, without indices, keys and types; an Any within an Any is one step.
fn fields(path: &str) -> Vec<&str> {
    let mut fields: Vec<&str> = Vec::new();
    let mut depth = 0usize;
    let mut start = 0;
    let mut end = None;
    let mut push = |from: usize, to: usize| {
        let field = path.get(from..to).unwrap_or_default();
        let is_nested = field == "value" && fields.last() == Some(&"value");
        if !field.is_empty() && !is_nested {
            fields.push(field);
        }
    };
    for (at, c) in path.char_indices() {
        match c {
            '[' => {
                end = end.or(Some(at));
                depth += 1;
            }
            // A key may have brackets of its own.
            ']' if matches!(path.as_bytes().get(at + 1), None | Some(b'.' | b'[')) => depth = 0,
            ']' => depth = depth.saturating_sub(1),
            '.' if depth == 0 => {
                push(start, end.take().unwrap_or(at));
                start = at + 1;
            }
            _ => {}
        }
    }
    push(start, end.unwrap_or(path.len()));
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_path_are_those_outside_of_brackets() {
        for (path, expected) in [
            ("", &[][..]),
            ("lb_policy", &["lb_policy"]),
            ("a[3].b", &["a", "b"]),
            ("t[k.x[y]].value[p.T].value[q.U].c", &["t", "value", "c"]),
            ("targets[\"b\"].childPolicy[0]", &["targets", "childPolicy"]),
            ("a[", &["a"]),
            ("t[[a-].c", &["t", "c"]),
        ] {
            assert_eq!(fields(path), expected, "{path}");
        }
    }
}
