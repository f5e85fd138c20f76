//! grpc-java against its recorded answers. The numbers are the rows that may differ; they only go down.

use crate::rows::{compare, of_fresh, of_one_version, of_versions};

#[test]
fn rules() {
    compare(
        "java rules",
        &of_one_version("java", "java", "message", |file| file != "validate"),
        1781,
    );
}

#[test]
fn validate() {
    compare(
        "java validate",
        &of_one_version("java", "java", "message", |file| file == "validate"),
        2180,
    );
}

#[test]
fn fresh() {
    compare("java fresh", &of_fresh("fresh-open", "java", "java"), 3165);
}

#[test]
fn versions() {
    compare("java versions", &of_versions("java-versions", "java"), 3302);
}
