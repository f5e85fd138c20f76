//! Compares the converters of other clients and versions with their recorded answers
//! (`fixtures/clients`).
//!
//! Each family has a file here with its measurements, and the number of rows that may differ, which
//! may only go down. This shows the rows that differ, grouped by rule, with the client's words and
//! those of xdsctl:
//!
//! ```text
//! XDSCTL_DIFFER=20 cargo test -p xdsctl --test clients go::rules -- --nocapture     20 rows a rule
//! XDSCTL_ROWS=CDS-,EDS-EW0 ...                                            only rows whose rule or id begins so
//! XDSCTL_ALL=1 ...                                                        every row, and not a sample of those that take long
//! ```

#[path = "clients/cpp.rs"]
mod cpp;
#[path = "clients/go.rs"]
mod go;
#[path = "clients/java.rs"]
mod java;
#[path = "clients/node.rs"]
mod node;
#[path = "clients/older.rs"]
mod older;
#[path = "clients/rows.rs"]
mod rows;
#[path = "clients/rust.rs"]
mod rust;
mod support;

use std::collections::BTreeSet;

/// The fixtures have as many resources as `xdsctl clients` says.
#[test]
fn resources_are_counted() {
    use xdsctl_model::profile::Family;

    let fresh = ["fresh-open", "fresh-held"]
        .map(|name| rows::answers(name).len())
        .iter()
        .sum::<usize>();
    for (family, name) in Family::ALL.into_iter().zip(["cpp", "go", "java", "node", "rust"]) {
        let counted = rows::answers(name).len() + fresh;
        assert_eq!(usize::try_from(family.measurement().resources), Ok(counted), "{family}");
    }
}

/// The pages say how many rows were compared, and how many of them agree. The latter follow from
/// the rows that differ where every row is compared.
#[test]
fn the_pages_have_these_numbers() {
    let pages =
        ["README.md", "docs/clients.md"].map(|page| std::fs::read_to_string(support::root().join(page)).unwrap());
    let table = |family: &str| -> Vec<&str> {
        let is_of = |line: &&str| line.strip_prefix("| ").is_some_and(|line| line.starts_with(family));
        pages[1].lines().filter(is_of).collect()
    };
    let of = |count: usize, differing: usize| {
        let mut share = 100.0 - 100.0 * differing as f64 / count as f64;
        if differing > 0 {
            share = share.min(99.99);
        }
        let share = format!("{share:.2}").replace("100.00", "100");
        (with_commas(count), format!("{share} %"))
    };
    let (open, held) = (rows::answers("fresh-open").len(), rows::answers("fresh-held").len());
    let (go, java) = (rows::answers("go").len() + open, rows::answers("java").len() + open);
    let node = node::recorded(|_| true).len() + open;
    let versions = |name, family| rows::of_versions(name, family).len();
    let (go_versions, java_versions) = (versions("go-versions", "go"), versions("java-versions", "java"));
    let (go_older, java_older) = (older::differing("go").len(), older::differing("java").len());
    let (node_versions, switches) = (versions("node-versions", "node"), rows::answers("node-switches").len());
    let rust = rust::recorded("rust", |_| true).len() + open;
    let verdicts = of(cpp::rows(|_| true).len(), cpp::VERDICTS_DIFFER);
    let fresh = cpp::fresh_rows();
    let later = fresh.iter().filter(|row| cpp::gives_paths(row)).count();
    let paths = |count, differing| format!("field paths since 1.59 {}", of(count, differing).1);
    let cpp_paths = cpp::rows(|client| client.version.minor >= 59).len();
    let expected = [
        (
            "C-core, 33",
            vec![
                verdicts.0.clone(),
                verdicts.1.clone(),
                paths(cpp_paths, cpp::PATHS_DIFFER),
            ],
        ),
        ("C-core, 2,000", {
            let (count, share) = of(fresh.len(), cpp::FRESH_DIFFER);
            vec![count, share, paths(later, cpp::FRESH_PATHS_DIFFER)]
        }),
        ("grpc-go 1.85.0", vec![with_commas(go), with_commas(held)]),
        ("grpc-go 1.60", vec![with_commas(go_versions)]),
        ("grpc-go 1.35 to 1.59", {
            let (count, share) = of(go_older, go::OLDER_DIFFER);
            vec![count, share]
        }),
        ("grpc-java 1.85.1", vec![with_commas(java), with_commas(held)]),
        ("grpc-java 1.72", vec![with_commas(java_versions)]),
        ("grpc-java 1.34", {
            let (count, share) = of(java_older, java::OLDER_DIFFER);
            vec![count, share]
        }),
        ("grpc-js-xds 1.14.1 |", vec![with_commas(node), with_commas(held)]),
        ("grpc-js-xds 1.14.1, with one switch", vec![with_commas(switches)]),
        ("grpc-js-xds 1.10.1", vec![with_commas(node_versions)]),
        ("tonic-xds 0.1.0-alpha.4", vec![with_commas(rust), with_commas(held)]),
    ];
    for (row, numbers) in expected {
        let lines = table(row);
        assert_eq!(lines.len(), 1, "{row}");
        numbers
            .iter()
            .for_each(|number| assert!(lines[0].contains(number.as_str()), "{number} in `{}`", lines[0]));
    }
    let sums = [
        go + held + go_versions + go_older,
        java + held + java_versions + java_older,
        node + held + switches + node_versions,
        rust + held,
    ];
    let differing = [go::OLDER_DIFFER, java::OLDER_DIFFER, 0, 0];
    let others = std::array::from_fn::<_, 4, _>(|number| of(sums[number], differing[number]));
    let shown = std::iter::once(verdicts).chain(others);
    let shown: Vec<String> = shown.map(|(count, share)| format!(" {share} of {count} |")).collect();
    assert!(pages[0].contains(&format!("|{}", shown.concat())), "README: {shown:?}");
}

fn with_commas(count: usize) -> String {
    let (thousands, rest) = (count / 1000, count % 1000);
    if thousands > 0 {
        format!("{thousands},{rest:03}")
    } else {
        rest.to_string()
    }
}

/// One version answers for others where nothing differs that it was asked about. Here each version
/// is asked alone, and must give the same answer: for each case one client in seven, for the next
/// case the next ones.
#[test]
fn an_answer_that_versions_share_is_what_each_gives_alone() {
    use xdsctl_clients::judge::FamilyAnswer;

    const TURNS: usize = 7;
    let all = "all,cpp@1.64.1,go@1.81.1,java@1.74.1";
    let (mut compared, mut shared) = (BTreeSet::new(), 0);
    for (turn, case) in support::sample(rows::cases().into_values().collect(), 61)
        .into_iter()
        .enumerate()
    {
        let together = rows::answers_of(&case, all);
        for (number, answer) in together.iter().enumerate().skip(turn % TURNS).step_by(TURNS) {
            // The reference is not among its own further clients.
            let alone = rows::answers_of(&case, &format!("cpp@1.85.1,{}", answer.client));
            let Some(alone) = alone.first() else { continue };
            let told = |answer: &FamilyAnswer| (answer.client, answer.verdict, answer.diagnostics.to_vec());
            assert_eq!(told(alone), told(answer), "{}", case.id);
            compared.insert(answer.client);
            shared += usize::from(number > 0 && together[number - 1].is_as(answer));
        }
        assert!(
            turn < TURNS || compared.len() + 1 >= together.len(),
            "{} clients",
            compared.len()
        );
    }
    assert!(
        shared > 10 * compared.len(),
        "{shared} shared by {} clients",
        compared.len()
    );
}

/// grpc-go 1.85.0 and grpc-java 1.85.1 decode the whole of a LeastRequest whose
/// `active_request_bias` is broken. C-core was built without the message, and uses the next policy
/// of the list.
#[test]
fn a_message_that_is_broken_in_a_field_that_nobody_reads_is_rejected() {
    let row = serde_json::json!({"id": "vcds1-1438", "kind": "cds", "any_b64": concat!(
        "CjN0eXBlLmdvb2dsZWFwaXMuY29tL2Vudm95LmNvbmZpZy5jbHVzdGVyLnYzLkNsdXN0ZXIS6gEKCnZjZHMxLTE0MzgQAxoHCgIaABIBc8oCzwEKbCJqCgFuEmUKWnR5",
        "cGUuZ29vZ2xlYXBpcy5jb20vZW52b3kuZXh0ZW5zaW9ucy5sb2FkX2JhbGFuY2luZ19wb2xpY2llcy5sZWFzdF9yZXF1ZXN0LnYzLkxlYXN0UmVxdWVzdBIHCgIIAxIB",
        "/wpfIl0KAW4SWApWdHlwZS5nb29nbGVhcGlzLmNvbS9lbnZveS5leHRlbnNpb25zLmxvYWRfYmFsYW5jaW5nX3BvbGljaWVzLnJvdW5kX3JvYmluLnYzLlJvdW5kUm9i",
        "aW4="
    )});
    let case = rows::fresh_case(&row);
    let verdicts = rows::answers_of(&case, "go,java")
        .into_iter()
        .map(|answer| answer.verdict);
    let rejected = xdsctl_clients::judge::FamilyVerdict::Rejected;
    assert_eq!(verdicts.collect::<Vec<_>>(), [rejected; 2]);
    assert!(
        rows::answers_of(&case, "cpp@1.84.0")
            .iter()
            .all(|answer| answer.verdict != rejected)
    );
}
