//! Decides what a run may overwrite: an earlier output of the same kind, and nothing else.
//!
//! A superfluous name in a script, or a link that somebody has put in the place of a report, must
//! not destroy a file. To use the place, the user removes what is there.

use std::fs;
use std::path::Path;

use crate::Error;
use crate::args::ReportFormat;
use xdsctl_document::source::wire::{WireFields, WireValue};
use xdsctl_document::source::{Source, SourceMap};
use xdsctl_lint::catalogue;
use xdsctl_lint::choice::{Baseline, baseline};
use xdsctl_report::suite::findings::is_of_suites;

/// The kind of file that a command writes, which decides what it may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputKind {
    Report(ReportFormat),
    /// A comparison as text, for people.
    Changes,
    Baseline,
    #[cfg_attr(not(feature = "net"), expect(dead_code, reason = "only `serve` writes one"))]
    Bootstrap,
    /// A dump of `fetch`.
    #[cfg_attr(not(feature = "net"), expect(dead_code, reason = "only `fetch` writes one"))]
    Dump,
}

/// The last line of a `diff` for people in a file, because the other lines could be anybody's.
pub(crate) const END_OF_CHANGES: &str = "(compared by xdsctl)";

/// How many bytes at either end of a file are looked at to recognise a report.
const END_BYTES: usize = 1 << 12;

/// Refuses a place for an output if something else is there.
///
/// # Errors
/// The place is a link to nothing, or a file with other contents.
pub(crate) fn refuse(file: &Path, kind: OutputKind) -> Result<(), Error> {
    let refused = |why: &str| {
        let name = file.display();
        Err(Error::Usage(format!(
            "`{name}` is not overwritten: {why}; remove it, or give another file"
        )))
    };
    let Ok(metadata) = fs::metadata(file) else {
        // A file that does not exist will be created.
        return if file.is_symlink() {
            refused("it is a link to nothing")
        } else {
            Ok(())
        };
    };
    if is_disk(&metadata) {
        return refused("it is a disk");
    }
    // A pipe or a terminal has nothing that could be lost.
    if !metadata.is_file() {
        return Ok(());
    }
    // A file with length 0 may be a file of the kernel.
    let mut sources = SourceMap::new();
    let read = sources.add_file(file);
    let bytes = |id| sources.get(id).map_or(&[][..], Source::bytes);
    match read.map(bytes) {
        Ok(bytes) if bytes.is_empty() || kind.is_known_by(bytes) => Ok(()),
        Ok(_) => refused(&format!("it is no {} of xdsctl", kind.words())),
        Err(error) => refused(&error.to_string()),
    }
}

#[cfg(unix)]
fn is_disk(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_block_device(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_disk(_: &fs::Metadata) -> bool {
    false
}

impl OutputKind {
    const fn words(self) -> &'static str {
        match self {
            OutputKind::Report(ReportFormat::Sarif) => "SARIF report",
            OutputKind::Report(ReportFormat::Junit) => "JUnit report",
            OutputKind::Report(ReportFormat::Gitlab) => "code quality report",
            OutputKind::Report(_) | OutputKind::Changes => "such report",
            OutputKind::Baseline => "baseline",
            OutputKind::Bootstrap => "bootstrap",
            OutputKind::Dump => "dump",
        }
    }

    /// Says whether these bytes are an output of this kind from xdsctl.
    fn is_known_by(self, bytes: &[u8]) -> bool {
        let head = String::from_utf8_lossy(bytes.get(..END_BYTES).unwrap_or(bytes));
        let from = bytes.len().saturating_sub(END_BYTES);
        let tail = String::from_utf8_lossy(bytes.get(from..).unwrap_or_default());
        let dense = || head.split_ascii_whitespace().collect::<String>();
        match self {
            OutputKind::Report(ReportFormat::Human | ReportFormat::Concise) => is_text(&head, &tail),
            OutputKind::Changes => tail.lines().next_back() == Some(END_OF_CHANGES),
            OutputKind::Report(ReportFormat::Json | ReportFormat::Jsonl) => {
                let text = dense();
                let schema = text.strip_prefix(r#"{"schema":""#);
                schema.is_some_and(|schema| schema.starts_with("xdsctl.") && !schema.starts_with(baseline::SCHEMA))
            }
            OutputKind::Report(ReportFormat::Sarif) => {
                let text = dense();
                text.starts_with(r#"{"$schema":"https://json.schemastore.org/sarif"#)
                    && text.contains(r#""driver":{"name":"xdsctl""#)
            }
            OutputKind::Report(ReportFormat::Junit) => {
                head.starts_with("<?xml") && head.contains(r#"<testsuites name="xdsctl""#)
            }
            OutputKind::Report(ReportFormat::Github) => {
                let first = head.lines().next().unwrap_or_default();
                let is_command = |command: &&str| first.starts_with(*command) && first.contains("title=");
                ["::error ", "::warning ", "::notice "].iter().any(is_command) || is_text(&head, &tail)
            }
            OutputKind::Report(ReportFormat::Gitlab) => {
                let text = dense();
                let name = text
                    .split_once(r#""check_name":""#)
                    .and_then(|(_, name)| name.split('"').next());
                let is_own = |name: &str| catalogue::find(name).is_some() || is_of_suites(name);
                text == "[]" || text.starts_with(r#"[{"description":"#) && name.is_some_and(is_own)
            }
            OutputKind::Report(ReportFormat::Markdown) => ["### xdsctl: ", "### xdsctl diff: "]
                .iter()
                .any(|first| head.starts_with(first)),
            OutputKind::Baseline => Baseline::read(bytes).is_ok(),
            OutputKind::Bootstrap => dense().starts_with('{') && head.contains(r#""xdsctl-serve""#),
            OutputKind::Dump => is_dump(&dense(), &tail) || is_wire_dump(bytes),
        }
    }
}

/// Says whether a text is a dump of `fetch`: one that ends with its origin, or one of Envoy.
fn is_dump(head: &str, tail: &str) -> bool {
    let is_of_client = head.starts_with(r#"{"config":["#) && tail.contains(r#""xdsctl":{"source":"#);
    is_of_client || head.starts_with(r#"{"configs":[{"@type":"type.googleapis.com/envoy.admin.v3."#)
}

/// Says whether bytes are a serialized `ClientStatusResponse`: only clients, each with a node or
/// resources.
fn is_wire_dump(bytes: &[u8]) -> bool {
    let is_client = |(field, client): (u32, &[u8])| {
        let of_client = |(field, _): (u32, &[u8])| (1..=4).contains(&field);
        field == 1 && fields(client).is_some_and(|fields| !fields.is_empty() && fields.into_iter().all(of_client))
    };
    fields(bytes).is_some_and(|clients| !clients.is_empty() && clients.into_iter().all(is_client))
}

/// Returns the fields of a message, if all of them are length-delimited.
fn fields(bytes: &[u8]) -> Option<Vec<(u32, &[u8])>> {
    let fields = WireFields::new(bytes).map(|field| match field.ok()?.value {
        WireValue::Bytes(value) => Some((field.ok()?.number, value)),
        _ => None,
    });
    fields.collect()
}

/// Says whether a text begins with a finding or a test, or ends with the counts of a report.
fn is_text(head: &str, tail: &str) -> bool {
    let first = head.lines().next().unwrap_or_default();
    let is_rule = |id: &str| catalogue::find(id).is_some();
    let is_finding = first.split_once(" (").is_some_and(|(rule, _)| is_rule(rule))
        || ["error", "warning", "note"].iter().any(|severity| {
            let rule = first.split_once(&format!(": {severity} ")).map(|(_, rule)| rule);
            rule.and_then(|rule| rule.split(':').next()).is_some_and(is_rule)
        });
    let has = |is_one: &dyn Fn(&str) -> bool| tail.lines().any(is_one);
    let is_parts = |line: &str, whole: &str, parts: &[&str]| {
        let parts_of_whole = |(all, counts)| is_counts(all, &[whole]) && is_counts(counts, parts);
        line.split_once(": ").is_some_and(parts_of_whole)
    };
    let ends = has(&|line| is_counts(line, &["error", "warning", "note"]))
        && (has(&|line| is_parts(line, "resource", &["accepted", "rejected"]))
            || has(&|line| line.starts_with("asked: ")));
    is_finding || ends || has(&|line| is_parts(line, "test", &["passed", "failed"]))
}

/// Says whether a text is a list of counts of these words, such as `2 errors, 1 warning, 0 notes`.
/// More may follow.
fn is_counts(text: &str, words: &[&str]) -> bool {
    let mut counts = text.split(", ");
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    words.iter().all(|word| {
        let count = counts.next().and_then(|count| count.split_once(' '));
        count.is_some_and(|(number, of)| {
            is_number(number) && of.split(' ').next().is_some_and(|of| of.trim_end_matches('s') == *word)
        })
    })
}
