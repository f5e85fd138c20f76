//! What the fuzz targets do with their bytes: load, validate, find every place, print.
//!
//! A target fails by a panic, by taking more than a few seconds, or by using much more memory than its input has bytes;
//! the assertions here are about places that are not in the document.

use xdsctl::check;
use xdsctl::client::{Circumstances, Keep, Reading};
use xdsctl::envelope::Options;
use xdsctl::profile::{Profile, ServerFacts};
use xdsctl_cli::report::resolve::{self, Report};
use xdsctl_cli::report::{Severities, human, json};
use xdsctl::source::SourceMap;
use xdsctl::source::sniff::Format;

/// Longer inputs are left alone: a pass over 64 KiB takes a tenth of a second with the fuzzer's counters, nested wire format a
/// quarter, and what can go wrong goes wrong in less.
pub const MAX_BYTES: usize = 8 << 10;

/// Reads a document in `format` (`None` to find it out) as `xdsctl validate` does, and prints both reports to nowhere.
pub fn validate(data: &[u8], format: Option<Format>) {
    if data.len() > MAX_BYTES {
        return;
    }
    for is_human in [false, true] {
        let mut sources = SourceMap::new();
        let id = sources.add("fuzz", data.to_vec());
        let Some(source) = sources.get(id) else { return };
        let circumstances = Circumstances {
            profile: &Profile::default(),
            others: &[],
            server: &ServerFacts::default(),
            keep: if is_human { Keep::Findings } else { Keep::Parsed },
        };
        let options = Options {
            format,
            ..Options::default()
        };
        let mut reading = Reading::default();
        reading.read(Some(1), &circumstances, |loader, emit| {
            loader.document(id, source, options, emit);
        });
        let mut settled = reading.settle(&circumstances, false);
        let names = std::mem::take(&mut settled.names);
        let outcome = check::check(settled);
        let severities = Severities::default();
        let options = resolve::Options {
            severities: &severities,
            snippets_from: is_human.then_some(xdsctl::diag::Severity::Note),
            snippets_per_rule: if is_human { usize::MAX } else { 0 },
        };
        let report = Report::new(outcome, &names, &sources, &options);
        let mut out = std::io::sink();
        if is_human {
            let style = human::Style {
                min_severity: xdsctl::diag::Severity::Note,
                ..human::Style::default()
            };
            let _ = human::write(report, style, &mut out);
        } else {
            check_places(report, source.bytes().len());
        }
    }
}

/// Every place is in the document, and the report can be written as JSON.
fn check_places(report: Report<'_>, len: usize) {
    let mut text = Vec::new();
    let _ = json::write(report, &mut text);
    let report: serde_json::Value = serde_json::from_slice(&text).expect("the report is JSON");
    let empty = Vec::new();
    let lists = report["resources"].as_array().unwrap_or(&empty).iter();
    for list in lists.map(|r| &r["findings"]).chain([&report["findings"]]) {
        for finding in list.as_array().unwrap_or(&empty) {
            let (start, end) = (finding["byte_start"].as_u64(), finding["byte_end"].as_u64());
            assert!(start <= end, "{finding}");
            assert!(end.unwrap_or(0) <= len as u64, "{finding}");
        }
    }
}
