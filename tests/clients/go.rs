//! grpc-go against its recorded answers. The numbers are the rows that may differ; they only go down.

use crate::rows::{compare, of_fresh, of_one_version, of_versions};

#[test]
fn rules() {
    compare(
        "go rules",
        &of_one_version("go", "go", "message", |file| file != "validate"),
        2195,
    );
}

#[test]
fn validate() {
    compare(
        "go validate",
        &of_one_version("go", "go", "message", |file| file == "validate"),
        2158,
    );
}

#[test]
fn fresh() {
    compare("go fresh", &of_fresh("fresh-open", "go", "go"), 3028);
}

#[test]
fn versions() {
    compare("go versions", &of_versions("go-versions", "go"), 1873);
}
