//! Compares older versions of C-core with their recorded answers. The constants are the numbers of
//! rows that may differ; they may only go down.

use std::collections::{BTreeMap, BTreeSet};

use xdsctl_model::diag::{Diagnostic, Effect};
use xdsctl_model::profile::{Client, ClientStanding};

use crate::rows::{Case, Measure, Ours, Recorded, answers, cases, compare_by, fresh_case};

/// Returns the answers of the versions that `wanted` selects.
pub fn rows(wanted: impl Fn(Client) -> bool) -> Vec<Recorded> {
    let cases = cases();
    let mut all = Vec::new();
    for row in answers("cpp") {
        let key = (
            row["file"].as_str().unwrap().to_owned(),
            row["id"].as_str().unwrap().to_owned(),
        );
        for (version, answer) in row["answers"].as_object().unwrap() {
            // 1.50 is older than the versions that can be asked.
            let Ok(clients) = Client::parse_list(&format!("cpp@{version}")) else {
                continue;
            };
            let client = clients[0];
            if !wanted(client) || client.standing() != ClientStanding::Measured {
                continue;
            }
            let paths = answer[1].as_array().unwrap().iter();
            all.push(Recorded {
                case: cases[&key].clone(),
                client: client.to_string(),
                verdict: answer[0].as_str().unwrap().to_owned(),
                words: String::new(),
                paths: Some(paths.map(|path| path.as_str().unwrap().to_owned()).collect()),
                is_unmasked: false,
            });
        }
    }
    all
}

/// Returns the rows of `cpp-fresh`, whose resources are in `fresh-held`.
pub fn fresh_rows() -> Vec<Recorded> {
    let held: BTreeMap<String, Case> = answers("fresh-held")
        .iter()
        .map(fresh_case)
        .map(|case| (case.id.clone(), case))
        .collect();
    let mut all = Vec::new();
    for row in answers("cpp-fresh") {
        for (version, answer) in row["answers"].as_object().unwrap() {
            let paths = answer[1].as_array().unwrap().iter();
            all.push(Recorded {
                case: held[row["id"].as_str().unwrap()].clone(),
                client: format!("cpp@{version}"),
                verdict: answer[0].as_str().unwrap().to_owned(),
                words: String::new(),
                paths: Some(paths.map(|path| path.as_str().unwrap().to_owned()).collect()),
                is_unmasked: false,
            });
        }
    }
    all
}

/// Says whether the verdicts agree. If the client accepts a resource and dies of it later, xdsctl
/// must accept it with a finding that fails.
fn verdict_agrees(row: &Recorded, ours: &Ours) -> bool {
    match row.verdict.as_str() {
        "CRASH" => ours.verdict != "NACK" && ours.diagnostics.iter().any(|d| d.effect == Effect::Fails),
        verdict => ours.verdict == verdict,
    }
}

fn paths_agree(row: &Recorded, ours: &Ours) -> bool {
    let nacks = ours
        .diagnostics
        .iter()
        .filter(|d| d.effect == Effect::Nack)
        .flat_map(Diagnostic::said)
        .filter(|(_, path)| !path.is_empty());
    let paths: BTreeSet<String> = nacks.map(|(_, path)| path.to_string()).collect();
    row.verdict != "NACK" || row.paths.as_ref() == Some(&paths)
}

/// The rows with another verdict. The causes are the depth that the parser accepts before 1.55 (18
/// rows) and 1.62 (2), where the reference decodes; the size of RE2's programs in 1.51 (2 rows);
/// and a TypedStruct without a kind (3).
pub const VERDICTS_DIFFER: usize = 77;

/// The rows with another verdict or other paths, of the versions that give paths.
pub const PATHS_DIFFER: usize = 86;

/// The rows of `cpp-fresh` with another verdict: which priority number kills an old client depends
/// on the machine's memory.
pub const FRESH_DIFFER: usize = 3;

/// The rows of `cpp-fresh` with another verdict or other paths.
pub const FRESH_PATHS_DIFFER: usize = 7;

/// Says whether the version of a fresh row gives paths: versions do since 1.59.
pub fn gives_paths(row: &Recorded) -> bool {
    row.client != "cpp@1.53.2"
}

/// Compares the verdicts alone, and then the verdicts with the paths for the rows of which
/// `gives_paths` is true.
fn compare_both(what: &str, rows: &[Recorded], gives_paths: impl Fn(&Recorded) -> bool, differing: [usize; 2]) {
    let paths = format!("{what}, paths");
    let measures = [
        Measure {
            what,
            differing: differing[0],
            is_equal: &|row, ours| Some(verdict_agrees(row, ours)),
        },
        Measure {
            what: &paths,
            differing: differing[1],
            is_equal: &|row, ours| gives_paths(row).then(|| verdict_agrees(row, ours) && paths_agree(row, ours)),
        },
    ];
    compare_by(rows, &measures);
}

#[test]
fn versions() {
    let later: BTreeSet<String> = rows(|client| client.version.minor >= 59)
        .into_iter()
        .map(|row| row.client)
        .collect();
    let rows = rows(|_| true);
    let gives_paths = |row: &Recorded| later.contains(&row.client);
    compare_both("cpp versions", &rows, gives_paths, [VERDICTS_DIFFER, PATHS_DIFFER]);
}

/// Compares 2,000 resources that played no part when the rules were written, as six versions
/// answered them.
#[test]
fn fresh() {
    let differing = [FRESH_DIFFER, FRESH_PATHS_DIFFER];
    compare_both("cpp fresh", &fresh_rows(), gives_paths, differing);
}
