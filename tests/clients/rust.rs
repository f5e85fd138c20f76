//! Compares tonic-xds with its recorded answers. The numbers are the rows that may differ; they may
//! only go down.

use crate::rows::{Recorded, compare, of_fresh, of_one_version};

#[test]
fn rules() {
    compare("rust rules", &recorded("rust", |file| file != "validate"), 0);
}

#[test]
fn validate() {
    compare("rust validate", &recorded("rust", |file| file == "validate"), 0);
}

#[test]
fn fresh() {
    compare("rust fresh", &of_fresh("fresh-open", "rust", "rust"), 0);
}

/// The version before gave the same answers in the same words.
#[test]
fn the_version_before_answers_alike() {
    compare("rust before", &recorded("rust@0.1.0-alpha.3", |_| true), 0);
}

/// Compares resources that were looked at only once, after the converter had been written. Most
/// errors then had one cause, which `fresh` showed as well.
#[test]
fn held() {
    compare("rust held", &of_fresh("fresh-held", "rust", "rust"), 0);
}

/// Returns the rows of `rust.jsonl.gz`.
///
/// Resources that were sent in a `Resource` are left out: the client takes the wrapper for the
/// resource.
pub fn recorded(client: &str, wanted: impl Fn(&str) -> bool) -> Vec<Recorded> {
    let mut rows = of_one_version("rust", client, "message", wanted);
    rows.retain(|row| !row.case.is_wrapped());
    rows
}
