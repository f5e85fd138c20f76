//! grpc-js-xds against its recorded answers. The numbers are the rows that may differ; they only go down.

use crate::rows::{compare, of_fresh, of_one_version};

#[test]
fn rules() {
    compare(
        "node rules",
        &of_one_version("node", "node", "details", |file| file != "validate"),
        1330,
    );
}

#[test]
fn validate() {
    compare(
        "node validate",
        &of_one_version("node", "node", "details", |file| file == "validate"),
        2453,
    );
}

#[test]
fn fresh() {
    compare("node fresh", &of_fresh("fresh-open", "node", "node"), 3936);
}
