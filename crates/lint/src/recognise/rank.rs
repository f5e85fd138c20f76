//! Which rules a message may be about, the likeliest first.

use std::ops::Range;

use super::line::About;
use super::marks::{Page, PageLine, Tail};
use xdsctl_model::profile::Family;

/// Most pages that are given for one fault.
pub(super) const MAX_PAGES: usize = 3;

/// Most letters of a mark that count; longer words are no better evidence.
const MAX_WORDS: usize = 40;

/// Score of a matching field at the end of the path, in letters of words.
const FIELD: usize = 12;

/// Score of a mark without a tail for a fault with a path.
const ANYWHERE: usize = 4;

/// Score of a matching tail `camelCase`.
const CAMEL_CASE: usize = 6;

/// Score of a matching type of resource.
const SUBJECT: usize = 3;

/// Least share of the best score that a page must reach: two thirds.
const NEAR: (usize, usize) = (2, 3);

/// Least number of letters by which the words of a rule are recognised without its path.
const BARE_LETTERS: usize = 15;

/// The words before the name of a resource in C-core's notes, for each of the four types.
const NOTES: [&str; 4] = ["ldsresource", "rdsresource", "cdsresource", "edsresource"];

/// A text and what is needed to compare it with marks.
#[derive(Debug, Clone, Copy)]
pub(super) struct ComparedText<'t> {
    /// The text in lower case and without white space.
    pub lower: &'t str,
    /// The marks that the text may contain.
    pub marks: &'t [&'static PageLine],
    /// Whether something in the text shows that gRPC wrote it.
    pub is_framed: bool,
}

impl ComparedText<'_> {
    /// Says whether the words of a mark are enough evidence: either gRPC wrote the text, or the
    /// text has hardly any other words.
    fn is_enough(self, mark: &PageLine, len: usize) -> bool {
        !mark.is_framed || self.is_framed || is_most(mark, len)
    }
}

/// Says whether a text of this many bytes consists almost only of the words of a mark.
fn is_most(mark: &PageLine, len: usize) -> bool {
    mark.letters() * 5 >= len * 4
}

/// A page that fits, and the evidence for it.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    pub page: Page,
    score: usize,
    /// Where the words of the mark are in the text.
    pub words: Vec<Range<usize>>,
    /// The end of the path that matched.
    pub tail: Option<String>,
    /// The client that writes these words.
    family: Family,
    /// Whether the mark counts only if the line says nothing else.
    is_alone: bool,
}

impl Fit {
    /// Makes the fit for the page of a mark whose words are at these places.
    fn of(mark: &PageLine, score: usize, words: Vec<Range<usize>>) -> Fit {
        Fit {
            page: mark.page,
            score,
            words,
            tail: None,
            family: mark.family,
            is_alone: mark.is_alone,
        }
    }
}

/// The pages for one fault.
#[derive(Debug, Default)]
pub(super) struct Ranked {
    /// The pages that fit best.
    pub fits: Vec<Fit>,
    /// How many more pages fit as well.
    pub more: usize,
    /// Score of the best page.
    pub best: usize,
    /// If no page fits: the pages that have these words, but with another path.
    pub near: Vec<Page>,
    /// The client that writes the best words, if it is not C-core and no other client writes them.
    pub writer: Option<Family>,
    /// Whether the best page is so general that a deeper cause may be reported next to it.
    pub is_general: bool,
}

/// Ranks the pages for the words in a range, for a fault with this path.
pub(super) fn at_path(path: &str, text: ComparedText<'_>, range: &Range<usize>, about: &About) -> Ranked {
    let fields = fields(path);
    let mut fits = Vec::new();
    let mut near = Vec::new();
    for mark in text.marks.iter().filter(|mark| mark.is_core() && !mark.is_alone) {
        let Some(words) = occurrence(mark, text.lower, range) else {
            continue;
        };
        let score = words_score(mark) + subject_score(mark, about);
        // Words at the start are better evidence than the same words later on.
        let is_at_start = words.first().is_some_and(|first| first.start == range.start);
        let fit = |more: usize, tail| Fit {
            tail,
            ..Fit::of(mark, score + usize::from(is_at_start) + more, words.clone())
        };
        match tail_score(mark, &fields) {
            Some((more, tail)) => fits.push(fit(more, tail)),
            None => near.push(fit(0, None)),
        }
    }
    ranked(fits, near)
}

/// Ranks the pages for the words of clients other than C-core, which write no paths.
pub(super) fn of_others(text: ComparedText<'_>, range: &Range<usize>) -> Ranked {
    let others = text.marks.iter().filter(|mark| !mark.is_core());
    let enough = others.filter(|mark| text.is_enough(mark, range.len()));
    let fit = |mark: &&'static PageLine| {
        let words = occurrence(mark, text.lower, range)?;
        Some((mark.is_alone, Fit::of(mark, words_score(mark), words)))
    };
    let (alone, said): (Vec<_>, Vec<_>) = enough.filter_map(fit).partition(|(is_alone, _)| *is_alone);
    let fits = if said.is_empty() { alone } else { said };
    ranked(fits.into_iter().map(|(_, fit)| fit).collect(), Vec::new())
}

/// Ranks the pages for a text without a path in the client's notation. Even a rule that needs a
/// path may fit: if the words are nearly the whole text, or if the text names the path in another
/// way.
pub(super) fn bare(text: ComparedText<'_>, original: &str) -> Ranked {
    let all = 0..text.lower.len();
    let mut fits = Vec::new();
    let mut near = Vec::new();
    for mark in text.marks.iter().filter(|mark| mark.is_core() && !mark.is_alone) {
        let is_all = is_most(mark, all.len());
        let is_near = mark.letters() * 5 >= all.len() * 3;
        if !is_near && !text.is_framed {
            continue;
        }
        let Some(words) = occurrence(mark, text.lower, &all) else {
            continue;
        };
        let tail = named_tail(mark, original);
        let more = match &tail {
            Some((more, _)) => *more,
            None if mark.tails.is_empty() => FIELD,
            None => 0,
        };
        let fit = Fit {
            tail: tail.map(|(_, tail)| tail),
            ..Fit::of(mark, words_score(mark) + more, words)
        };
        let is_told = more > 0 && (is_all || text.is_framed);
        if is_told || is_all && mark.letters() >= BARE_LETTERS {
            fits.push(fit);
        } else if is_near {
            near.push(fit);
        }
    }
    let ranked = ranked(fits, near);
    if ranked.more == 0 {
        return ranked;
    }
    // If so many rules have these words, they identify none.
    Ranked {
        near: ranked.fits.iter().map(|fit| fit.page).collect(),
        ..Ranked::default()
    }
}

/// Returns the pages that have the words of a text which gRPC did not demonstrably write. Those
/// with the most words come first.
pub(super) fn unframed(text: ComparedText<'_>) -> Ranked {
    let all = 0..text.lower.len();
    let telling = text.marks.iter().filter(|mark| mark.letters() >= BARE_LETTERS);
    let near = telling
        .filter(|mark| mark.is_framed && mark.tails.is_empty())
        .filter_map(|mark| {
            let words = occurrence(mark, text.lower, &all)?;
            Some(Fit::of(mark, words_score(mark), words))
        });
    ranked(Vec::new(), near.collect())
}

/// Returns the longest tail of a mark that the text names. Only tails with an underscore or a dot
/// count, because ordinary text has none.
fn named_tail(mark: &PageLine, text: &str) -> Option<(usize, String)> {
    let named = mark.tails.iter().filter_map(|tail| match tail {
        Tail::Fields(fields) => {
            let path = fields.iter().rev().copied().collect::<Vec<_>>().join(".");
            let is_named = path.contains(['_', '.']) && text.contains(&path);
            is_named.then_some((FIELD * fields.len(), path))
        }
        Tail::CamelCase => None,
    });
    named.max_by_key(|(score, _)| *score)
}

/// Returns the pages for the words of a text outside of its faults, each with its range.
pub(super) fn said(text: ComparedText<'_>, is_all: bool) -> Vec<(Range<usize>, Ranked)> {
    let all = 0..text.lower.len();
    let mut found: Vec<(Vec<Range<usize>>, usize, &PageLine)> = Vec::new();
    let anywhere = text.marks.iter().filter(|mark| mark.is_core() && mark.tails.is_empty());
    for mark in anywhere.filter(|mark| (is_all || !mark.is_alone) && text.is_enough(mark, all.len())) {
        let mut rest = all.clone();
        while let Some(words) = occurrence(mark, text.lower, &rest) {
            rest.start = span(&words).end;
            found.push((words, words_score(mark), mark));
        }
    }
    if found.iter().any(|(_, _, mark)| !mark.is_alone) {
        found.retain(|(_, _, mark)| !mark.is_alone);
    }
    found.sort_by_key(|(words, score, _)| (span(words).start, std::cmp::Reverse(*score)));
    let mut groups: Vec<(Range<usize>, Vec<Fit>)> = Vec::new();
    for (words, score, mark) in found {
        let range = span(&words);
        let fit = Fit::of(mark, score, words);
        match groups.last_mut() {
            Some((covered, fits)) if range.start < covered.end => {
                covered.end = covered.end.max(range.end);
                fits.push(fit);
            }
            _ => groups.push((range, vec![fit])),
        }
    }
    let rank = |(range, fits)| (range, ranked(fits, Vec::new()));
    groups.into_iter().map(rank).collect()
}

/// Returns the range from the first of some words to the last.
pub(super) fn span(words: &[Range<usize>]) -> Range<usize> {
    let start = words.first().map_or(0, |first| first.start);
    start..words.last().map_or(start, |last| last.end)
}

/// Ranks the pages by their best fit.
fn ranked(fits: Vec<Fit>, near: Vec<Fit>) -> Ranked {
    let writer = writer(&fits);
    let best_of = |mut fits: Vec<Fit>| {
        // The sort is stable, so the order of the rules decides between equals.
        fits.sort_by_key(|fit| std::cmp::Reverse(fit.score));
        let best = fits.first().map_or(0, |fit| fit.score);
        let mut pages: Vec<Fit> = Vec::new();
        for fit in fits {
            if fit.score * NEAR.1 >= best * NEAR.0 && pages.iter().all(|known| known.page.id() != fit.page.id()) {
                pages.push(fit);
            }
        }
        let more = pages.len().saturating_sub(MAX_PAGES);
        pages.truncate(MAX_PAGES);
        (pages, more, best)
    };
    let (fits, more, best) = best_of(fits);
    let near = if fits.is_empty() { best_of(near).0 } else { Vec::new() };
    let is_general = fits.first().is_some_and(|fit| fit.is_alone);
    Ranked {
        is_general,
        fits,
        more,
        best,
        near: near.into_iter().map(|fit| fit.page).collect(),
        writer,
    }
}

/// Returns the only client that writes the words of the best fits. Words of C-core count for all
/// clients that write the same, so they identify none.
fn writer(fits: &[Fit]) -> Option<Family> {
    let best = fits.iter().map(|fit| fit.score).max()?;
    let mut families = fits.iter().filter(|fit| fit.score == best).map(|fit| fit.family);
    let first = families.next()?;
    (first != Family::REFERENCE && families.all(|family| family == first)).then_some(first)
}

fn words_score(mark: &PageLine) -> usize {
    mark.letters().min(MAX_WORDS)
}

fn subject_score(mark: &PageLine, about: &About) -> usize {
    let is_same = about.subject.is_some() && mark.page.subject() == about.subject;
    if is_same { SUBJECT } else { 0 }
}

/// Returns the score of the end of the path, and the fields that match; `None` if the mark needs
/// another path.
fn tail_score(mark: &PageLine, fields: &[&str]) -> Option<(usize, Option<String>)> {
    if mark.tails.is_empty() {
        return Some((ANYWHERE, None));
    }
    let last = |count: usize| {
        fields
            .get(fields.len().saturating_sub(count)..)
            .map(|tail| tail.join("."))
    };
    let scores = mark.tails.iter().filter_map(|tail| match tail {
        Tail::Fields(tail) => {
            let is_end = tail.len() <= fields.len() && tail.iter().eq(fields.iter().rev().take(tail.len()));
            is_end.then(|| (FIELD * tail.len(), last(tail.len())))
        }
        Tail::CamelCase => {
            let is_camel = |field: &&str| field.contains(|c: char| c.is_ascii_uppercase());
            let fits = fields.last().is_some_and(is_camel);
            fits.then(|| (CAMEL_CASE, last(1)))
        }
    });
    scores.max_by_key(|(score, _)| *score)
}

/// Returns where the pieces of a mark occur in this range of `text`, in their order and as close
/// together as possible.
fn occurrence(mark: &PageLine, text: &str, within: &Range<usize>) -> Option<Vec<Range<usize>>> {
    let text = text.get(..within.end)?;
    let mut from = within.start;
    let (first, others) = mark.pieces.split_first()?;
    'start: loop {
        let mut start = from + text.get(from..)?.find(first.as_str())?;
        let mut end = start + first.len();
        let mut found: Vec<Range<usize>> = Vec::new();
        for (number, piece) in others.iter().enumerate() {
            let next = end + text.get(end..)?.find(piece.as_str())?;
            if number == 0 {
                // Use the last occurrence of the first piece before this one.
                start += text.get(start..next)?.rfind(first.as_str()).unwrap_or(0);
                end = start + first.len();
            }
            let gap = text.get(end..next).unwrap_or_default();
            found.push(next..next + piece.len());
            end = next + piece.len();
            if NOTES.iter().any(|note| gap.contains(note)) {
                // The following words are about another resource.
                from = end;
                continue 'start;
            }
        }
        found.insert(0, start..start + first.len());
        return Some(found);
    }
}

/// Returns the fields of a path, without indices, keys and types. An Any inside an Any is one step.
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
