//! Compares grpc-js-xds with its recorded answers. The numbers are the rows that may differ; they
//! may only go down.

use xdsctl_model::diag::Effect;

use crate::rows::{
    Recorded, and_then, ask, compare, compare_with, of_file, of_fresh, of_one_version, of_switches, of_versions,
    page_says, wanted,
};
use crate::with_commas;

#[test]
fn rules() {
    compare("node rules", &recorded(|file| file != "validate"), 0);
}

#[test]
fn validate() {
    compare("node validate", &recorded(|file| file == "validate"), 0);
}

#[test]
fn fresh() {
    compare_fresh("node fresh", "fresh-open", 0);
}

#[test]
fn versions() {
    compare("node versions", &of_versions("node-versions", "node"), 0);
}

/// Compares what each environment switch changes, in the verdict or in the words.
#[test]
fn switches() {
    compare("node switches", &of_switches("node-switches", "node"), 0);
}

/// Compares resources that were looked at only once, after the converter had been written.
#[test]
fn held() {
    compare_fresh("node held", "fresh-held", 0);
}

/// A verdict that agrees for a wrong reason may disagree elsewhere, so the client's words must name
/// each fault that is found.
#[test]
fn reasons() {
    let rows = recorded(|_| true);
    let faults = with_commas(compare_words("node reasons", &rows, 0));
    page_says(&format!(
        "the {faults} faults found here in what it rejected are all in its messages"
    ));
    // The recording cuts words off at 160 characters, which is too early in these rows.
    compare_words("node reasons fresh", &of_fresh("fresh-open", "node", "node"), 189);
}

/// Returns the rows of `node.jsonl.gz`, including those whose resource kills the process after it
/// was accepted.
///
/// Resources that were sent in a `Resource` are left out: the client does not accept that wrapper.
pub fn recorded(wanted: impl Fn(&str) -> bool) -> Vec<Recorded> {
    let mut rows = and_then(of_one_version("node", "node", "details", wanted), "node");
    rows.retain(|row| !row.words.starts_with("incorrect resource type"));
    rows
}

/// Compares bytes that no serializer writes.
#[test]
fn broken_bytes() {
    compare_fresh("node bytes", "node-bytes", 0);
}

/// Compares resources about which a developer has asked the client: `XDSCTL_ASKED` names the file.
#[test]
fn asked() {
    compare_accepted("node asked", &of_file("XDSCTL_ASKED", "node"), 0);
}

/// Compares the rows of `fresh-*`. What happened after a resource was accepted was not recorded for
/// them.
fn compare_fresh(what: &str, name: &str, differing: usize) {
    compare_accepted(what, &of_fresh(name, "node", "node"), differing);
}

fn compare_accepted(what: &str, rows: &[Recorded], differing: usize) {
    compare_with(what, rows, differing, |row, ours| {
        let ours = if ours.verdict == "CRASH" { "ACK" } else { ours.verdict };
        ours == row.verdict
    });
}

/// Looks in the client's words for the texts on the page of each rule, after `- node:` under *In a
/// log*. An exception ends the list of faults, and nothing else is reported. Words that are cut off
/// have only the first fault, in all but `differing` rows. Returns the number of faults.
fn compare_words(what: &str, rows: &[Recorded], differing: usize) -> usize {
    const CUT: usize = 160;
    let (mut count, mut untold) = (0, Vec::new());
    for row in wanted(rows).into_iter().filter(|row| row.verdict == "NACK") {
        let found = ask(row).diagnostics;
        let mut faults: Vec<_> = found.iter().filter(|d| d.effect == Effect::Nack).collect();
        if row.words.starts_with("thrown") {
            faults = faults.pop().into_iter().collect();
        } else if differing > 0 && row.words.chars().count() == CUT {
            faults.truncate(1);
        }
        count += faults.len();
        let silent = faults.iter().filter(|fault| !tells(&row.words, fault.rule.page));
        untold.extend(silent.map(|fault| format!("{} {}: {}", row.case.id, fault.rule.id, row.words)));
    }
    println!(
        "{what}: of {count} faults {} are not in the client's words",
        untold.len()
    );
    if untold.len() > differing {
        untold.iter().take(20).for_each(|line| println!("    {line}"));
    }
    assert!(untold.len() <= differing, "{what}: {} faults", untold.len());
    count
}

fn tells(words: &str, page: &str) -> bool {
    let mut marks = page.lines().filter_map(|line| line.strip_prefix("- node: "));
    marks.any(|mark| {
        let mut rest = words;
        mark.split(" ... ").all(|piece| match rest.split_once(piece) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
    })
}
