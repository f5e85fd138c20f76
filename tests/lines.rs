//! Tests of log lines of clients and other programs: each leads to the page that
//! `fixtures/lines.txt` names, or to none.

use xdsctl_lint::recognise::{Log, recognised};
use xdsctl_model::profile::Family;

use crate::support::root;

/// The page, the name of the resource, and the line.
type Row = (String, Option<String>, String);

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(root().join("fixtures/lines.txt")).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.map(|line| {
        let (wanted, line) = line.split_once(" | ").unwrap();
        let (page, name) = wanted
            .split_once(" @ ")
            .map_or((wanted, None), |(page, name)| (page, Some(name)));
        (page.to_owned(), name.map(str::to_owned), line.to_owned())
    });
    rows.collect()
}

/// Returns the first page, and the name.
fn first(line: &str) -> (String, Option<String>) {
    let recognised = recognised(line);
    let with_pages = recognised.iter().find(|one| !one.pages.is_empty());
    match with_pages {
        Some(one) => (one.pages[0].id().to_owned(), one.resource_name.clone()),
        None => ("nowhere".to_owned(), None),
    }
}

#[test]
fn each_line_leads_where_it_should() {
    let rows = rows();
    let others = rows.iter().filter(|(page, ..)| page == "nowhere").count();
    assert!(rows.len() > 150 && others > 60, "{} {others}", rows.len());
    let mut wrong = Vec::new();
    for (page, name, line) in &rows {
        let (found, of) = first(line);
        if *page != found || name.is_some() && *name != of {
            wrong.push(format!("{page} {name:?}, is {found} {of:?}: {line}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

/// A log of all lines leads to the same pages as the lines alone, each in its place.
#[test]
fn a_log_of_all_lines_tells_the_same() {
    let rows = rows();
    let mut log = Log::default();
    let mut expected = Vec::new();
    for (number, (page, _, line)) in rows.iter().enumerate() {
        log.push(format!("2026-01-01T00:{:02}:{:02}Z {line}\n", number / 60, number % 60).as_bytes());
        if page != "nowhere" {
            expected.push((page.clone(), number + 1));
        }
    }
    let (faults, left_out) = log.finish();
    assert_eq!(left_out, 0);
    let found: Vec<usize> = faults.iter().map(|fault| fault.count).collect();
    assert!(
        found.iter().sum::<usize>() >= expected.len(),
        "{} of {}",
        found.iter().sum::<usize>(),
        expected.len()
    );
    for (page, line) in expected {
        let is_there = faults
            .iter()
            .any(|fault| fault.told.leads_to(&page) && (fault.first.line..=fault.last.line).contains(&line));
        assert!(is_there, "{page} in line {line}");
    }
    let strangers: Vec<_> = faults
        .iter()
        .filter(|fault| rows[fault.first.line - 1].0 == "nowhere")
        .map(|fault| &fault.told.words)
        .collect();
    assert!(strangers.is_empty(), "{strangers:?}");
}

/// Each line is recognised only as one of its own client, which the heading of its section names.
#[test]
fn a_line_is_never_taken_for_that_of_another_client() {
    let text = std::fs::read_to_string(root().join("fixtures/lines.txt")).unwrap();
    let mut of = None;
    let mut known = 0;
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("# ") {
            let is_named = |family: &Family| title.contains(family.project().trim_start_matches("gRPC "));
            of = Family::ALL.into_iter().find(is_named);
        }
        let (Some(family), Some((_, line))) = (of, line.split_once(" | ")) else {
            continue;
        };
        for one in recognised(line) {
            known += usize::from(one.writer.is_some());
            assert!(one.writer.is_none_or(|writer| writer == family), "{family}: {line}");
        }
    }
    assert!(known > 130, "{known}");
}

/// The deeper cause of a stack trace is reported, not the general status. A line of the trace alone
/// leads to no page, and the output says so.
#[test]
fn the_deeper_cause_of_a_stack_trace_counts() {
    let cause = "Caused by: java.security.cert.CertificateException: No name matching shop.example found";
    let status = "io.grpc.StatusRuntimeException: UNAVAILABLE: io exception";
    let pages = |text: &str| -> Vec<&str> {
        let leads = recognised(text).into_iter().flat_map(|one| one.pages);
        leads.map(|lead| lead.id()).collect()
    };
    assert_eq!(pages(status), ["connections-failing"]);
    assert_eq!(
        pages(&format!("{status}\n\tat io.grpc.X.y(X.java:1)\n{cause}")),
        ["tls-name-mismatch"]
    );
    assert_eq!(pages(cause), [""; 0]);
    let near = |text: &str| -> Vec<&str> {
        let near = recognised(text).into_iter().flat_map(|one| one.near);
        near.map(|page| page.id()).collect()
    };
    assert_eq!(near(cause), ["tls-name-mismatch"]);
    assert_eq!(near("kubelet: context deadline exceeded"), [""; 0]);
}

/// Each line of the recorded servers leads to a page, unless xDS has no part in it.
#[test]
fn lines_of_servers_lead_to_pages() {
    const NOT_XDS: [&str; 12] = [
        "UNIMPLEMENTED: ",
        "Bad method header",
        "Missing :te header",
        "base64",
        "GET",
        "will start serving",
        "loopyWriter",
        "Check failed",
        "UNKNOWN: ",
        "NO_ERROR: ",
        "CANCEL: ",
        "INTERNAL_ERROR: ",
    ];
    let text = std::fs::read_to_string(root().join("fixtures/servers/words.jsonl")).unwrap();
    let rows = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    // The text of a failed handshake is the caller's, which speaks no gRPC.
    let rows: Vec<_> = rows.filter(|row| row["where"] != "handshake").collect();
    let mut known = 0;
    for row in &rows {
        let words = row["words"].as_str().unwrap().replace("PORT", "50051");
        let is_known = first(&words).0 != "nowhere";
        known += usize::from(is_known);
        assert!(is_known || NOT_XDS.iter().any(|other| words.contains(other)), "{row}");
    }
    assert!(known > 150 && rows.len() > 200, "{known} of {}", rows.len());
}

/// A server's line is reported with the `admit` command to run.
#[test]
fn a_line_of_a_server_tells_what_to_ask() {
    let at = |line: &str| recognised(line).into_iter().find_map(|one| one.server);
    let chain = at("[xds-server-listener 0xc1] Connection from 127.0.0.2:39360 to 127.0.0.1:7102 failed to find any matching filter chain").unwrap();
    assert_eq!(chain.from.as_deref(), Some("127.0.0.2:39360"));
    let gone = at(
        "[xDS node id: n]: xds: resource \"grpc/server?address=0.0.0.0:7102\" of type \"ListenerResource\" has been removed",
    );
    assert_eq!(gone.and_then(|told| told.listen).as_deref(), Some("0.0.0.0:7102"));
    let client = "[xDS node id: n]: xds: resource \"shop:8080\" of type \"ListenerResource\" has been removed";
    assert_eq!(at(client), None);
}
