//! Finds the rules that a line of a client's log, or the error of an RPC, is about.
//!
//! A message is recognised by the end of its field path and a few characteristic words, which are
//! kept on the page of each rule under `In a log` ([`marks`]). Words that anybody could write count
//! only in a line that gRPC wrote ([`frame`]). Prefixes of loggers, colours, wrapped lines and
//! escapes of JSON do not matter. Each fault of a line is reported separately. Clients other than
//! C-core write no paths; their words are on the same pages. A message without a fault in a
//! resource behind it, for example that all connections fail, is a [`Symptom`]. A text with several
//! [`records`] is read record by record; a [`Log`] counts their messages. [`place`] then finds the
//! resource in a dump.

mod frame;
mod line;
mod log;
mod marks;
pub mod place;
mod rank;
mod records;
mod server;
mod squeeze;
mod symptoms;

use std::collections::HashSet;
use std::ops::Range;

use line::{About, LineFault};
use rank::{ComparedText, Fit, Ranked};
use records::Records;
use squeeze::Squeezed;

use xdsctl_model::profile::Family;
use xdsctl_model::resource::ResourceType;

pub use log::{Log, LogPlace, Summary};
pub use marks::Page;
pub use server::AtServer;
pub use symptoms::{SYMPTOMS, Symptom, find as symptom, search as search_symptoms};

/// Longest words of a message that are kept, in bytes.
const MAX_WORDS_BYTES: usize = 400;

/// The words before the name of a resource in which a client reports a fault, without white space:
/// in grpc-go and C-core.
const REPORTS: [&str; 2] = ["Receivederrorforresource\"", "[resourceindex"];

/// Most lines of a log that are read to find out which client wrote it.
const MAX_WRITER_LINES: usize = 10_000;

/// Longest record, in bytes, whose lines are also read as one text if they lead nowhere by
/// themselves.
const MAX_WRAPPED_BYTES: usize = 16 << 10;

/// A page that a line leads to, and the reason.
#[derive(Debug, Clone)]
pub struct Lead {
    /// The rule or symptom.
    pub page: Page,
    /// The words of the line that led to the page, as they were pasted.
    pub words: Vec<String>,
    /// The end of the field path that led to the page; `None` if the words were enough.
    pub tail: Option<String>,
}

impl Lead {
    /// The id of the rule or symptom.
    pub const fn id(&self) -> &'static str {
        self.page.id()
    }
}

/// One thing that a line reports.
#[derive(Debug, Clone)]
pub struct Recognised {
    /// Type of the resource, if the line has it.
    pub resource_type: Option<ResourceType>,
    /// Name of the resource, if the line has it.
    pub resource_name: Option<String>,
    /// The field path; `None` for a message without one.
    pub path: Option<String>,
    /// The words of the message as they were pasted, without line breaks.
    pub words: String,
    /// The rules and symptoms that it may be about: at most three, the likeliest first.
    pub pages: Vec<Lead>,
    /// How many more pages have words like these; without a path there can be many.
    pub more: usize,
    /// If the message is not recognised: pages that have its words, but with another path, or for
    /// lines that gRPC demonstrably wrote.
    pub near: Vec<Page>,
    /// The client that wrote the message, if no other client writes such a message.
    pub writer: Option<Family>,
    /// What a server's line says about a connection or an RPC.
    pub server: Option<AtServer>,
    /// Whether the message is so general that a deeper cause may be reported next to it.
    is_general: bool,
}

impl Recognised {
    /// Says whether the message leads to this rule or symptom.
    pub fn leads_to(&self, id: &str) -> bool {
        self.pages.iter().any(|lead| lead.id() == id)
    }
}

/// Returns what a text reports: each fault in a line of a log, or the error of an RPC; empty if
/// nothing in it is known.
///
/// Nothing is returned twice. A fault with a path is always returned, whether or not it is
/// recognised. So is the report of a client that names a resource.
///
/// ```
/// let line = "E1122 xds_client.cc:1335] ... [resource index 0: c: INVALID_ARGUMENT: errors validating Cluster resource: \
///             [field:lb_policy error:LB policy is not supported]]";
/// let found = xdsctl_lint::recognise::recognised(line);
/// assert_eq!(found[0].resource_name.as_deref(), Some("c"));
/// assert_eq!(found[0].path.as_deref(), Some("lb_policy"));
/// assert_eq!(found[0].pages[0].id(), "cds-lb-policy-unsupported");
/// ```
pub fn recognised(text: &str) -> Vec<Recognised> {
    let mut all: Vec<Recognised> = Vec::new();
    let mut seen = HashSet::new(); // never iterated
    let mut records = Records::default();
    let mut take = |record: records::Record| {
        for (_, one) in of_record(&record) {
            // A log repeats the same messages.
            let kind = one.resource_type.map(ResourceType::short_name);
            let key = (kind, one.resource_name.clone(), one.path.clone(), one.words.clone());
            if seen.insert(key) {
                all.push(one);
            }
        }
    };
    text.lines().for_each(|line| records.push(line, &mut take));
    records.finish(&mut take);
    all
}

/// Returns the client that wrote a log, if the log has no lines of other clients.
///
/// ```
/// use xdsctl_lint::recognise::writer_of;
/// let log = "2026/01/01 INFO: [xds] [xds-client 0xc0001] ADS stream created";
/// assert_eq!(writer_of(log).map(|family| family.name()), Some("go"));
/// ```
pub fn writer_of(log: &str) -> Option<Family> {
    let mut writers = log
        .lines()
        .take(MAX_WRITER_LINES)
        .filter_map(|line| frame::writer(&squeezed(line).to_ascii_lowercase()));
    let first = writers.next()?;
    writers.all(|writer| writer == first).then_some(first)
}

/// Returns the content of a line that names a resource, but whose words are on no page.
pub fn unknown(line: &str) -> Option<Recognised> {
    let squeezed = Squeezed::of(line);
    let about = line::abouts(&squeezed).pop()?.1;
    about.name.as_ref()?;
    let all = 0..squeezed.text.len();
    Some(new(&squeezed, about, None, all, Ranked::default()))
}

/// Returns what a record of a log reports, with the numbers of the lines. The lines are read one by
/// one, or all together if they lead nowhere by themselves.
fn of_record(record: &records::Record) -> Vec<(usize, Recognised)> {
    let frame = || frame::is_ours(&squeezed(&record.text), &squeezed(&record.text).to_ascii_lowercase());
    let mut is_framed = None;
    let mut is_framed = || *is_framed.get_or_insert_with(frame);
    let lines = record.lines(&mut |line| !of_line(line, &mut is_framed).is_empty());
    let mut told = Vec::new();
    for (number, line) in &lines {
        let of_line = of_line(line, &mut is_framed);
        told.extend(of_line.into_iter().map(|one| (*number, one)));
    }
    // A line with the deeper cause says more than the general one above it: `UNAVAILABLE: io
    // exception`, `Caused by: ...`.
    if told.iter().any(|(_, one)| !one.pages.is_empty() && !one.is_general) {
        told.retain(|(_, one)| !one.is_general || one.resource_name.is_some());
    }
    let is_one = lines.len() == 1;
    if told.is_empty() && !is_one && record.text.len() <= MAX_WRAPPED_BYTES {
        let of_all = of_line(&record.text, &mut is_framed);
        told = of_all.into_iter().map(|one| (record.line, one)).collect();
        if !told.is_empty() {
            return told;
        }
    }
    for (number, line) in lines {
        if told.iter().all(|(known, _)| *known != number) {
            told.extend(reported(line, &mut is_framed).map(|one| (number, one)));
        }
    }
    told.sort_by_key(|(number, _)| *number);
    told
}

/// Returns a client's report about a resource that it names, in words that are on no page.
fn reported(line: &str, is_framed: &mut dyn FnMut() -> bool) -> Option<Recognised> {
    let text = squeezed(line);
    let is_report = REPORTS.iter().any(|words| text.contains(words));
    (is_report && is_framed()).then(|| unknown(line))?
}

/// Returns what a line reports: its faults with a path, and the words outside of them.
fn of_line(line: &str, is_framed: &mut dyn FnMut() -> bool) -> Vec<Recognised> {
    let squeezed = Squeezed::of(line);
    let marks = marks::candidates(&squeezed.lower);
    let faults = line::faults(&squeezed);
    if marks.is_empty() && faults.is_empty() {
        return Vec::new();
    }
    let abouts = line::abouts(&squeezed);
    let about = |at: usize| {
        let next = abouts.partition_point(|(start, _)| *start <= at);
        let before = next.checked_sub(1).and_then(|number| abouts.get(number));
        before.map(|(_, about)| about.clone()).unwrap_or_default()
    };
    let whole = ComparedText {
        lower: &squeezed.lower,
        marks: &marks,
        is_framed: marks.iter().any(|mark| mark.is_framed) && is_framed(),
    };
    let mut all: Vec<(usize, Recognised)> = Vec::new();
    for fault in &faults {
        of_fault(&squeezed, whole, fault, &about(fault.path.start), &mut all);
    }
    // Blank out the faults, so that the words outside of them remain.
    let mut outside = squeezed.lower.clone().into_bytes();
    for fault in &faults {
        if let Some(covered) = outside.get_mut(fault.path.start..fault.words.end) {
            covered.fill(0);
        }
    }
    // The ranges begin and end at ASCII characters, so the rest is still UTF-8.
    let outside = String::from_utf8(outside).unwrap_or_default();
    let text = ComparedText {
        lower: &outside,
        ..whole
    };
    let said = rank::said(text, faults.is_empty());
    let best = said.iter().map(|(_, ranked)| ranked.best).max().unwrap_or(0);
    // Other clients write no faults with a path. Their words count if more of them match than of
    // C-core's.
    let mut of_others = if faults.is_empty() {
        others(&squeezed, whole)
    } else {
        Vec::new()
    };
    of_others.retain(|(_, ranked)| ranked.best > best);
    if of_others.is_empty() {
        for (range, ranked) in said {
            // The name of the resource may be within these words, so look at their end.
            let about = about(range.end.saturating_sub(1));
            all.push((range.start, new(&squeezed, about, None, range, ranked)));
        }
    }
    for (range, ranked) in of_others {
        let words = ranked
            .fits
            .first()
            .map_or_else(|| range.clone(), |fit| rank::span(&fit.words));
        let about = about(words.end.saturating_sub(1));
        all.push((range.start, new(&squeezed, about, None, range, ranked)));
    }
    if all.is_empty() {
        let mut ranked = rank::bare(whole, &squeezed.text);
        if ranked.fits.is_empty() && ranked.near.is_empty() && !whole.is_framed && !frame::is_of_stranger(whole.lower) {
            ranked = rank::unframed(whole);
        }
        if !ranked.fits.is_empty() || !ranked.near.is_empty() {
            let range = 0..squeezed.text.len();
            all.push((0, new(&squeezed, About::default(), None, range, ranked)));
        }
    }
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, told)| told).collect()
}

/// Returns what clients other than C-core report: for each resource that a line names, or for the
/// line as a whole.
fn others(squeezed: &Squeezed, text: ComparedText<'_>) -> Vec<(Range<usize>, Ranked)> {
    let ranked = |range: Range<usize>| {
        let ranked = rank::of_others(text, &range);
        (!ranked.fits.is_empty()).then_some((range, ranked))
    };
    // The words before the first resource only announce what follows.
    let parts: Vec<_> = line::parts(squeezed).into_iter().filter_map(ranked).collect();
    if parts.is_empty() {
        return ranked(0..text.lower.len()).into_iter().collect();
    }
    parts
}

/// Adds a message for each error of a fault with a path.
fn of_fault(
    squeezed: &Squeezed,
    text: ComparedText<'_>,
    fault: &LineFault,
    about: &About,
    all: &mut Vec<(usize, Recognised)>,
) {
    let path = squeezed.text.get(fault.path.clone()).unwrap_or_default();
    let lower = squeezed.lower.get(fault.words.clone()).unwrap_or_default();
    let mut start = fault.words.start;
    let mut is_first = true;
    let parts: Vec<&str> = if fault.is_list {
        lower.split(';').collect()
    } else {
        vec![lower]
    };
    for part in parts {
        let range = start..start + part.len();
        start = range.end + 1;
        let ranked = rank::at_path(path, text, &range, about);
        // A semicolon inside an error's words does not end them.
        if ranked.fits.is_empty() && !is_first {
            continue;
        }
        is_first = false;
        let pasted = squeezed.pasted(fault.path.clone());
        let told = new(squeezed, about.clone(), Some(pasted), range, ranked);
        all.push((fault.path.start, told));
    }
}

fn new(squeezed: &Squeezed, about: About, path: Option<String>, words: Range<usize>, ranked: Ranked) -> Recognised {
    let mut words = squeezed.pasted(words);
    if words.len() > MAX_WORDS_BYTES {
        words.truncate(line::head(&words, MAX_WORDS_BYTES).len());
        words.push('…');
    }
    let lead = |fit: Fit| Lead {
        page: fit.page,
        words: fit.words.into_iter().map(|words| squeezed.pasted(words)).collect(),
        tail: fit.tail,
    };
    let server = ranked
        .fits
        .first()
        .and_then(|fit| server::told(squeezed, fit.page.id(), about.name.as_deref()));
    Recognised {
        server,
        resource_type: about.resource_type,
        resource_name: about.name,
        path,
        words,
        pages: ranked.fits.into_iter().map(lead).collect(),
        more: ranked.more,
        near: ranked.near,
        is_general: ranked.is_general,
        writer: squeezed.writer().or(ranked.writer),
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<(Option<String>, &'static str)> {
        let first = |one: Recognised| (one.resource_name.clone(), one.pages.first().map_or("-", Lead::id));
        recognised(text).into_iter().map(first).collect()
    }

    #[test]
    fn each_note_is_of_its_own_resource() {
        let text = "no children in weighted_target policy (CDS resource a: invalid resource: what; EDS resource b: does not exist; \
                    EDS resource c: contains no localities; CDS resource d: does not exist)";
        let name = |name: &str| Some(name.to_owned());
        assert_eq!(
            ids(text),
            [
                (name("b"), "cds-endpoints-missing"),
                (name("c"), "eds-without-localities"),
                // The cluster of a route, or else the child of an aggregate.
                (name("d"), "rds-cluster-missing"),
            ]
        );
        assert!(
            recognised(text)
                .last()
                .is_some_and(|one| one.leads_to("aggregate-child-missing"))
        );
    }

    #[test]
    fn a_line_that_was_cut_off_does_not_swallow_the_next() {
        let cut = "[field:lb_policy error:LB policy is not supp";
        let rest = "x ".repeat(5000);
        let text = format!("{cut}\n{rest}\nNo matching route found in xDS route config");
        assert_eq!(ids(&text), [(None, "-"), (None, "no-route-matches")]);
    }

    #[test]
    fn names_may_have_colons_and_may_be_missing() {
        let name = |text: &str| recognised(text).first().and_then(|one| one.resource_name.clone());
        let line = |name: &str| format!("[resource index 10: {name}INVALID_ARGUMENT: Can't parse Cluster resource.]");
        assert_eq!(name(&line("xdstp://a/b: c: ")).as_deref(), Some("xdstp://a/b: c"));
        assert_eq!(name(&line("")), None);
        let malformed = "[resource index 0: xdstp:: Cannot parse xDS resource name]";
        assert_eq!(name(malformed).as_deref(), Some("xdstp:"));
    }
}
