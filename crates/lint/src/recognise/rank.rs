//! Which rules a message may be about, the likeliest first.

use std::ops::Range;

use super::line::About;
use super::marks::{Page, PageLine, Tail};
use xdsctl_model::profile::Family;

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

/// Words of a rule without its path are too few to tell it below this, in letters.
const BARE_LETTERS: usize = 15;

/// The words before one of the four resources in a note of the client.
const NOTES: [&str; 4] = ["ldsresource", "rdsresource", "cdsresource", "edsresource"];

/// What a text is compared by.
#[derive(Debug, Clone, Copy)]
pub(super) struct ComparedText<'t> {
    /// The text in lower case and without white space.
    pub lower: &'t str,
    /// The marks that it may have.
    pub marks: &'t [&'static PageLine],
    /// Something in it shows that gRPC wrote it.
    pub is_framed: bool,
}

impl ComparedText<'_> {
    /// Says whether the words of a mark are enough here: a frame is around them, or there is little
    /// else.
    fn is_enough(self, mark: &PageLine, len: usize) -> bool {
        !mark.is_framed || self.is_framed || is_most(mark, len)
    }
}

/// Says whether a text of so many bytes is little else than the words of a mark.
fn is_most(mark: &PageLine, len: usize) -> bool {
    mark.letters() * 5 >= len * 4
}

/// A page, and what it stands on.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    pub page: Page,
    score: usize,
    /// Where its words are.
    pub words: Vec<Range<usize>>,
    /// The end of the path that it needs.
    pub tail: Option<String>,
    /// Whose words they are.
    family: Family,
    /// They only count where nothing else is said.
    is_alone: bool,
}

impl Fit {
    /// The page of a mark, with what its words at these places are worth.
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

/// Pages for one fault.
#[derive(Debug, Default)]
pub(super) struct Ranked {
    /// The pages that fit best.
    pub fits: Vec<Fit>,
    /// How many more fit as well.
    pub more: usize,
    /// What speaks for the best of them.
    pub best: usize,
    /// If none fits: those whose words do, elsewhere.
    pub near: Vec<Page>,
    /// The client whose words the best are, if it is not C-core and no other client has them.
    pub writer: Option<Family>,
    /// The best fit says what went wrong in general, and a deeper cause may be told beside it.
    pub is_general: bool,
}

/// Ranks the pages for the words in a range, at a path.
pub(super) fn at_path(path: &str, text: ComparedText<'_>, range: &Range<usize>, about: &About) -> Ranked {
    let fields = fields(path);
    let mut fits = Vec::new();
    let mut near = Vec::new();
    for mark in text.marks.iter().filter(|mark| mark.is_core() && !mark.is_alone) {
        let Some(words) = occurrence(mark, text.lower, range) else {
            continue;
        };
        let score = words_score(mark) + subject_score(mark, about);
        // Words at the start tell more than the same words later on.
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

/// Ranks the pages for words of another client than C-core, which names no path.
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

/// Ranks the pages for words without a path: of a rule that needs one the words are all that there
/// is, or the path is named in another way.
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
    // Words of so many rules tell none of them.
    Ranked {
        near: ranked.fits.iter().map(|fit| fit.page).collect(),
        ..Ranked::default()
    }
}

/// The pages whose words a text has, where nothing shows that gRPC wrote them: those with the most
/// words.
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

/// The longest end of a path of a mark that a text names: fields whose names nobody else uses.
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

/// What a text says outside of its faults: where, and the pages for it.
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

/// From the first of some words to the last.
pub(super) fn span(words: &[Range<usize>]) -> Range<usize> {
    let start = words.first().map_or(0, |first| first.start);
    start..words.last().map_or(start, |last| last.end)
}

/// The best of each page, in order.
fn ranked(fits: Vec<Fit>, near: Vec<Fit>) -> Ranked {
    let writer = writer(&fits);
    let best_of = |mut fits: Vec<Fit>| {
        // Stable: the order of the rules decides among equals.
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

/// The client that alone writes the likeliest words. C-core's are on the pages for all clients that
/// write the same.
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

/// What the end of the path is worth, and which fields it is; `None` if it has to be another.
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

/// Where the pieces of a mark occur within a range of `text`, in their order: as near to each other
/// as they do.
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
                // The last occurrence of the first piece before this one.
                start += text.get(start..next)?.rfind(first.as_str()).unwrap_or(0);
                end = start + first.len();
            }
            let gap = text.get(end..next).unwrap_or_default();
            found.push(next..next + piece.len());
            end = next + piece.len();
            if NOTES.iter().any(|note| gap.contains(note)) {
                // What follows is said of another resource.
                from = end;
                continue 'start;
            }
        }
        found.insert(0, start..start + first.len());
        return Some(found);
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
