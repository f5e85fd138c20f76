//! The converters of other clients and versions against their recorded answers (`fixtures/clients`).
//!
//! Each family has a file here with what it is measured by, and the number of rows that may differ: it only ever goes down. To see
//! the rows that differ, grouped by rule, with the client's words and ours:
//!
//! ```text
//! XDSCTL_DIFFER=20 cargo test --test clients go::rules -- --nocapture     20 rows a rule
//! XDSCTL_ROWS=CDS-,EDS-EW0 ...                                            only rows whose rule or id begins so
//! ```

#[path = "clients/cpp.rs"]
mod cpp;
#[path = "clients/go.rs"]
mod go;
#[path = "clients/java.rs"]
mod java;
#[path = "clients/node.rs"]
mod node;
#[path = "clients/rows.rs"]
mod rows;
mod support;

/// What `xdsctl clients` says of the measurement is what the fixtures hold.
#[test]
fn resources_are_counted() {
    use xdsctl::profile::Family;

    let fresh = ["fresh-open", "fresh-held"]
        .map(|name| rows::answers(name).len())
        .iter()
        .sum::<usize>();
    for (family, name) in Family::ALL.into_iter().zip(["cpp", "go", "java", "node"]) {
        let counted = rows::answers(name).len() + fresh;
        assert_eq!(usize::try_from(family.measurement().resources), Ok(counted), "{family}");
    }
}
