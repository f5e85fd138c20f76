//! Compares grpc-go with its recorded answers. The numbers are the rows that may differ; they may
//! only go down.

use crate::rows::{compare, compare_reasons, of_fresh, of_one_version, of_unmasked, of_versions, page_says};
use crate::{older, with_commas};

#[test]
fn rules() {
    compare(
        "go rules",
        &of_one_version("go", "go", "message", |file| file != "validate"),
        0,
    );
}

#[test]
fn validate() {
    compare(
        "go validate",
        &of_one_version("go", "go", "message", |file| file == "validate"),
        0,
    );
}

#[test]
fn fresh() {
    compare("go fresh", &of_fresh("fresh-open", "go", "go"), 0);
}

#[test]
fn versions() {
    compare("go versions", &of_versions("go-versions", "go"), 0);
}

/// Compares programs that import balancer/rls. Only 1.60.0 rejects durations of more than 292
/// years; it is not known in which version that ended.
#[test]
fn with_rls() {
    compare("go with rls", &of_versions("go-rls", "go+rls"), 6);
}

/// The rows of older versions that differ. In 1.54.0, two texts that are not UTF-8 are in a field
/// that only its dependencies check. In 1.42.0, seven RBAC filters of servers kill the process, as
/// they do in later versions when these parse them; it is not known where 1.42.0 makes their
/// matchers.
pub const OLDER_DIFFER: usize = 9;

#[test]
fn older_versions() {
    compare("go older versions", &older::differing("go"), OLDER_DIFFER);
}

#[test]
fn older_versions_are_alike_elsewhere() {
    compare(
        "go older versions elsewhere",
        &older::alike("go", "unmasked_verdict"),
        0,
    );
}

/// Compares resources that were looked at only once, after the converter had been written.
#[test]
fn held() {
    compare("go held", &of_fresh("fresh-held", "go", "go"), 0);
}

/// What differs: two rows in which more than names was corrected.
#[test]
fn unmasked() {
    let rows = of_unmasked("go", "go", "unmasked_verdict", "unmasked_message");
    compare("go unmasked", &rows, 0);
}

/// A verdict that agrees for a wrong reason may disagree elsewhere.
#[test]
fn reasons() {
    let rows = of_one_version("go", "go", "message", |_| true);
    let all = compare_reasons("go reasons", &rows, usize::MAX, 0);
    let fresh = compare_reasons("go reasons fresh", &of_fresh("fresh-open", "go", "go"), 160, 0);
    let [all, led, fresh] = [all.led(), fresh.led(), fresh.rows].map(with_commas);
    page_says(&format!(
        "for {all} of Go's messages and for {led} of {fresh} of its messages about mutated resources"
    ));
}
