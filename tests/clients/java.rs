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

#[test]
fn what_no_known_rule_rejects_is_not_known() {
    use xdsctl::family::Verdict;
    use xdsctl::model::ResourceType;
    use xdsctl::profile::{Client, Fleet, ServerFacts};
    let fleet = Fleet::new(&Client::parse_list("cpp,go,java,node").unwrap());
    // A ClusterLoadAssignment `a` without endpoints, which everybody takes.
    let bytes = bytes::Bytes::from_static(b"\x0a\x01a");
    let asked = (fleet.base(), fleet.others());
    let validated =
        xdsctl::validate::validate_for(ResourceType::Endpoints, &bytes, None, asked, &ServerFacts::default());
    let verdicts: Vec<Verdict> = validated.answers.iter().map(|answer| answer.verdict).collect();
    assert_eq!(verdicts, [Verdict::Accepted, Verdict::NotKnown, Verdict::NotKnown]);
}
