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
    use xdsctl_model::profile::Family;

    let fresh = ["fresh-open", "fresh-held"]
        .map(|name| rows::answers(name).len())
        .iter()
        .sum::<usize>();
    for (family, name) in Family::ALL.into_iter().zip(["cpp", "go", "java", "node"]) {
        let counted = rows::answers(name).len() + fresh;
        assert_eq!(usize::try_from(family.measurement().resources), Ok(counted), "{family}");
    }
}

/// One version speaks for others where nothing that it was asked about differs: each is asked alone here, and says the same.
#[test]
fn versions_that_share_an_answer_give_it_alone() {
    use xdsctl_clients::family::FamilyAnswer;
    use xdsctl_model::profile::Client;

    // `XDSCTL_EACH=1` compares every resource, which takes an hour without optimization.
    let step = std::env::var("XDSCTL_EACH").map_or(40, |text| text.parse().unwrap());
    let clients = Client::parse_list("all").unwrap();
    let all = "all,cpp@1.64.1,go@1.81.1,java@1.75.0";
    let (mut compared, mut shared) = (0, 0);
    for case in rows::cases().values().step_by(step) {
        let together = rows::answers_of(case, all);
        shared += together.windows(2).filter(|two| two[0].is_as(&two[1])).count();
        for answer in &together {
            // Of the reference, nothing is said beside itself.
            let alone = rows::answers_of(case, &format!("cpp@1.85.1,{}", answer.client));
            let Some(alone) = alone.first() else { continue };
            let told = |answer: &FamilyAnswer| (answer.client, answer.verdict, answer.diagnostics.to_vec());
            assert_eq!(told(alone), told(answer), "{}", case.id);
            compared += 1;
        }
    }
    assert!(compared > 50 * clients.len(), "{compared}");
    assert!(shared > compared / 2, "{shared} of {compared}");
}
