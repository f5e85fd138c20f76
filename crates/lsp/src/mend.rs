//! Finds places in a text that cannot be parsed to its end, for example while somebody types.
//!
//! Lines with faults are blanked one by one, and the rest is parsed. Every byte keeps its offset.
//! If the broken line is the one in question, its key stays.

use xdsctl_document::envelope::{LoadOptions, Loader};
use xdsctl_document::proto::place::{self, Part, Place};
use xdsctl_document::proto::transcode::SYNTAX;
use xdsctl_document::source::sniff::DocumentFormat;
use xdsctl_document::source::{SourceMap, Span};

/// Most lines that are blanked.
const MAX_BLANKED: usize = 8;

/// Longest text, in bytes, that is parsed again after a line has been blanked.
const MAX_BYTES: usize = 4 << 20;

/// Returns the place at a byte of a text, and the format of the text; `None` if the byte is in no
/// resource.
pub fn place_of(name: &str, text: String, at: usize) -> Option<(Place, DocumentFormat)> {
    let mut text = text;
    let most = if text.len() > MAX_BYTES { 0 } else { MAX_BLANKED };
    for _ in 0..=most {
        let (found, faults) = read(name, &text, at);
        let is_inside = |found: &(Place, DocumentFormat)| found.0.part != Part::Around;
        if faults.is_empty() || found.as_ref().is_some_and(is_inside) {
            return found;
        }
        // A fault is reported at its start. For a bracket that is not closed, it is reported at the
        // end of the content.
        let blanked = faults.iter().find_map(|fault| blank(&text, fault.start, at));
        text = blanked?;
    }
    None
}

/// Parses a text. Returns the place at a byte, and where the text is broken.
fn read(name: &str, text: &str, at: usize) -> (Option<(Place, DocumentFormat)>, Vec<Span>) {
    let mut sources = SourceMap::new();
    let id = sources.add(name, text.as_bytes().to_vec());
    let Some(source) = sources.get(id) else {
        return (None, Vec::new());
    };
    let mut around: Option<(Span, String)> = None;
    let mut loader = Loader::new();
    loader.document(id, source, LoadOptions::default(), &mut |resources| {
        for resource in resources {
            let span = resource.origin.span;
            let is_inner = around
                .as_ref()
                .is_none_or(|(outer, _)| span.end - span.start <= outer.end - outer.start);
            if span.start <= at && at <= span.end && is_inner {
                let name = resource.type_url.rsplit('/').next().unwrap_or_default();
                around = Some((span, name.to_owned()));
            }
        }
    });
    let found = around.and_then(|(span, type_name)| {
        let place = place::at(source, span, &type_name, at)?;
        Some((place, source.format()?))
    });
    let faults = loader.findings.iter();
    let faults = faults.filter(|finding| finding.diagnostic.rule == &SYNTAX);
    (found, faults.map(|finding| finding.span).collect())
}

/// Blanks the line of a byte. If that is the line of `at`, its key stays. Returns `None` if there
/// is nothing left to blank.
fn blank(text: &str, fault: usize, at: usize) -> Option<String> {
    let fault = fault.min(text.len());
    let before = text.as_bytes().get(..fault)?;
    // A fault at the end belongs to the last line that is not empty.
    let before = match text.get(fault..).is_none_or(|rest| rest.trim().is_empty()) {
        true => before.trim_ascii_end(),
        false => before,
    };
    let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    let line = text
        .get(start..)?
        .split_inclusive('\n')
        .next()?
        .trim_end_matches(['\r', '\n']);
    let end = start + line.len();
    let from = match start <= at && at <= end {
        true => start + line.find(": ").map_or(line.len(), |colon| colon + 1),
        false => start,
    };
    let blanked = text.get(from..end)?;
    if from < at && at <= end || blanked.trim().is_empty() {
        return None;
    }
    Some(format!(
        "{}{}{}",
        text.get(..from)?,
        " ".repeat(blanked.len()),
        text.get(end..)?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: &str = "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: a\ntype: EDS\n";

    #[track_caller]
    fn field(text: &str) -> Option<String> {
        let at = text.find('|').unwrap();
        let (place, _) = place_of("a.yaml", text.replacen('|', "", 1), at)?;
        Some(place.field?.name().to_owned())
    }

    #[test]
    fn what_is_whole_is_found_beside_what_is_broken() {
        let broken = "outlier_detection:\n  base_ejection_time: {{\n  interval|: 7s\n";
        assert_eq!(field(&format!("{CLUSTER}{broken}")).as_deref(), Some("interval"));
        let text = format!("{CLUSTER}lb_pol|icy: [\n  foo: 1\n");
        assert_eq!(field(&text).as_deref(), Some("lb_policy"));
        let text = format!("name: : x\n{CLUSTER}lb_pol|icy: RING_HASH\n");
        assert_eq!(field(&text).as_deref(), Some("lb_policy"));
        assert_eq!(field("name: : x|\n"), None);
    }
}
