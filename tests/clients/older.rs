//! Versions before those of `FAMILY-versions`. `FAMILY-old` has the rows that one of them answers
//! differently from the oldest version there.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::rows::{Recorded, answers, cases, of_versions};

/// Versions that reject everything that comes in a discovery Resource. xdsctl opens the wrapper
/// before it asks them, so these rows are left out.
const WITHOUT_WRAPPER: [&str; 20] = [
    "java@1.34.1",
    "java@1.36.0",
    "java@1.37.1",
    "java@1.38.1",
    "java@1.39.0",
    "java@1.40.0",
    "java@1.41.0",
    "java@1.42.0",
    "java@1.45.0",
    "go@1.35.0",
    "go@1.36.0",
    "go@1.37.0",
    "go@1.38.0",
    "go@1.39.0",
    "go@1.40.0",
    "go@1.41.0",
    "go@1.42.0",
    "go@1.43.0",
    "go@1.44.0",
    "go@1.45.0",
];

/// Returns the answers of the older versions where one of them differs.
pub fn differing(family: &str) -> Vec<Recorded> {
    let mut rows = of_versions(&format!("{family}-old"), family);
    rows.retain(is_compared);
    rows
}

/// Says whether xdsctl knows the version and asks it about the resource in the same form.
fn is_compared(row: &Recorded) -> bool {
    is_known(&row.client) && (!WITHOUT_WRAPPER.contains(&row.client.as_str()) || !row.case.is_wrapped())
}

/// Returns the answers of the older versions to everything else, where they equal the next
/// version's. `put_right` is the member that has the verdict for rows with corrected names. Without
/// `XDSCTL_ALL`, only one row in forty is returned.
pub fn alike(family: &str, put_right: &str) -> Vec<Recorded> {
    let key = |row: &Value, is_unmasked: bool| (row["file"].to_string(), row["id"].to_string(), is_unmasked);
    let by_key = |name: String| -> BTreeMap<_, Value> {
        let rows = answers(&name).into_iter();
        rows.map(|row| (key(&row, row["unmasked"] == true), row["answers"].clone()))
            .collect()
    };
    let (later, older) = (by_key(format!("{family}-versions")), by_key(format!("{family}-old")));
    // All minor numbers have two digits, so texts sort as versions do.
    let versions = older.values().next().unwrap().as_object().unwrap();
    let next = versions.keys().max().unwrap();
    let clients: Vec<String> = versions.keys().map(|version| format!("{family}@{version}")).collect();
    let cases = cases();
    let mut all = Vec::new();
    for row in &answers(family) {
        let case = &cases[&(
            row["file"].as_str().unwrap().to_owned(),
            row["id"].as_str().unwrap().to_owned(),
        )];
        for (verdict, is_unmasked) in [("verdict", false), (put_right, true)] {
            let key = key(row, is_unmasked);
            let verdict = later.get(&key).map_or(&row[verdict], |answers| &answers[next.as_str()]);
            let Some(verdict) = verdict.as_str().filter(|_| !older.contains_key(&key)) else {
                continue;
            };
            let rows = clients.iter().map(|client| Recorded {
                case: case.clone(),
                client: client.clone(),
                verdict: verdict.to_owned(),
                words: String::new(),
                paths: None,
                is_unmasked,
            });
            all.extend(rows.filter(is_compared));
        }
    }
    all
}

/// Says whether xdsctl knows the version; more versions were recorded.
fn is_known(client: &str) -> bool {
    xdsctl_model::profile::Client::parse_list(client).is_ok()
}
