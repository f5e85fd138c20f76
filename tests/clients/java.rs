//! grpc-java against its recorded answers. The numbers are the rows that may differ; they only go down.

use crate::rows::{compare, compare_reasons, of_fresh, of_one_version, of_unmasked, of_versions};

#[test]
fn rules() {
    compare(
        "java rules",
        &of_one_version("java", "java", "message", |file| file != "validate"),
        0,
    );
}

#[test]
fn validate() {
    compare(
        "java validate",
        &of_one_version("java", "java", "message", |file| file == "validate"),
        0,
    );
}

#[test]
fn fresh() {
    compare("java fresh", &of_fresh("fresh-open", "java", "java"), 0);
}

#[test]
fn versions() {
    compare("java versions", &of_versions("java-versions", "java"), 0);
}

/// Looked at once, after the converter had been written.
#[test]
fn held() {
    compare("java held", &of_fresh("fresh-held", "java", "java"), 0);
}

#[test]
fn unmasked() {
    let rows = of_unmasked("java", "java", "unmasked_java", "unmasked_message");
    compare("java unmasked", &rows, 0);
}

#[test]
fn a_client_of_which_not_all_rules_are_known_accepts_nothing() {
    use xdsctl_clients::family::FamilyVerdict;
    use xdsctl_model::profile::{Client, Family, Fleet, ServerFacts};
    use xdsctl_model::resource::ResourceType;
    let fleet = Fleet::new(&Client::parse_list("cpp,go,java,node").unwrap());
    // A ClusterLoadAssignment `a` without endpoints, which everybody takes.
    let bytes = bytes::Bytes::from_static(b"\x0a\x01a");
    let asked = (fleet.base(), fleet.others());
    let validated =
        xdsctl_clients::validate::validate_for(ResourceType::Endpoints, &bytes, None, asked, &ServerFacts::default());
    for answer in validated.answers {
        let is_known = answer.client.family.has_all_rules();
        assert_eq!(answer.verdict == FamilyVerdict::Accepted, is_known, "{}", answer.client);
    }
    assert!(Family::ALL.into_iter().all(Family::has_all_rules));
}

/// A verdict that agrees for a wrong reason is an error in waiting.
#[test]
fn reasons() {
    let rows = of_one_version("java", "java", "message", |_| true);
    compare_reasons("java reasons", &rows, usize::MAX, 0);
    compare_reasons("java reasons fresh", &of_fresh("fresh-open", "java", "java"), 200, 0);
}
