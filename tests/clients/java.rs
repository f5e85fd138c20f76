//! Compares grpc-java with its recorded answers. The numbers are the rows that may differ; they may
//! only go down.

use crate::rows::{compare, compare_reasons, of_fresh, of_one_version, of_unmasked, of_versions, page_says};
use crate::{older, with_commas};

/// The rows that may differ, of versions before those of `java-versions`.
pub const OLDER_DIFFER: usize = 16;

#[test]
fn rules() {
    compare(
        "java rules",
        &of_one_version("java", "java", "message", |file| file != "validate"),
        0,
    );
}

#[test]
fn validate() {
    compare(
        "java validate",
        &of_one_version("java", "java", "message", |file| file == "validate"),
        0,
    );
}

#[test]
fn fresh() {
    compare("java fresh", &of_fresh("fresh-open", "java", "java"), 0);
}

#[test]
fn versions() {
    compare("java versions", &of_versions("java-versions", "java"), 0);
}

/// In each of 1.46 and 1.54, two rows have deeply nested structs in the metadata of a
/// RouteConfiguration, a field that these versions do not have yet. Unexplained are two overrides
/// of RBAC in 1.39.0 and 1.40.0, and six patterns (its RE2/J knows less) and two durations of
/// routes in 1.34.1.
#[test]
fn older_versions() {
    compare("java older versions", &older::differing("java"), OLDER_DIFFER);
}

#[test]
fn older_versions_are_alike_elsewhere() {
    compare(
        "java older versions elsewhere",
        &older::alike("java", "unmasked_java"),
        0,
    );
}

/// Compares resources that were looked at only once, after the converter had been written.
#[test]
fn held() {
    compare("java held", &of_fresh("fresh-held", "java", "java"), 0);
}

#[test]
fn unmasked() {
    let rows = of_unmasked("java", "java", "unmasked_java", "unmasked_message");
    compare("java unmasked", &rows, 0);
}

/// A verdict that agrees for a wrong reason may disagree elsewhere.
#[test]
fn reasons() {
    let rows = of_one_version("java", "java", "message", |_| true);
    let all = compare_reasons("java reasons", &rows, usize::MAX, 0);
    let fresh = compare_reasons("java reasons fresh", &of_fresh("fresh-open", "java", "java"), 200, 0);
    let [all, led, fresh] = [all.led(), fresh.led(), fresh.rows].map(with_commas);
    page_says(&format!("for {all} of Java's and {led} of {fresh}."));
}
