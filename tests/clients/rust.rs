//! tonic-xds against its recorded answers. The numbers are the rows that may differ; they only go down.

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

/// It was asked too, and said the same in the same words.
#[test]
fn the_version_before_answers_alike() {
    compare("rust before", &recorded("rust@0.1.0-alpha.3", |_| true), 0);
}

/// Looked at once, after the converter had been written; of what was wrong then, most was one thing that `fresh` showed as well.
#[test]
fn held() {
    compare("rust held", &of_fresh("fresh-held", "rust", "rust"), 0);
}

/// The rows of `rust.jsonl.gz`.
///
/// Resources that were sent in a `Resource` are left out: the client takes the wrapper for the resource.
pub fn recorded(client: &str, wanted: impl Fn(&str) -> bool) -> Vec<Recorded> {
    let mut rows = of_one_version("rust", client, "message", wanted);
    rows.retain(|row| !row.case.is_wrapped());
    rows
}
