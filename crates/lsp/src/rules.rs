//! Finds the rules about a field, from the examples of the rules' pages.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use xdsctl_document::proto::message_type::FieldType;
use xdsctl_document::proto::place::field_of;
use xdsctl_lint::catalogue;
use xdsctl_model::diag::{Rule, Subject};
use xdsctl_model::resource::ResourceType;

/// Message and name of a field.
type Key = (&'static str, &'static str);

/// The rules, by the field of the first finding in a rejected example.
static BY_FIELD: LazyLock<BTreeMap<Key, Vec<&'static Rule>>> = LazyLock::new(|| {
    let mut by_field: BTreeMap<Key, Vec<&'static Rule>> = BTreeMap::new();
    // Rules about texts in general belong to no field.
    for rule in catalogue::rules().filter(|rule| rule.subject != Subject::Dump) {
        for line in rule.page.lines() {
            let Some(expected) = line.strip_prefix("# expect: ") else {
                continue;
            };
            let mut words = expected.split_whitespace();
            if words.next() != Some(rule.id) {
                continue;
            }
            let path = words.next().unwrap_or_default();
            let fields = ResourceType::ALL
                .into_iter()
                .filter_map(|root| field_of(root.type_name(), path));
            for field in fields {
                let rules = by_field.entry((field.owner().name(), field.name())).or_default();
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
            }
        }
    }
    by_field
});

/// Returns the rules about a field.
pub fn about(field: FieldType) -> &'static [&'static Rule] {
    let key = (field.owner().name(), field.name());
    BY_FIELD.get(&key).map_or(&[], Vec::as_slice)
}

/// Returns the gRFCs that a rule's source names: `A27`.
pub fn grfcs(rule: &Rule) -> impl Iterator<Item = &str> {
    let words = rule.source.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| {
        let number = word.strip_prefix('A').unwrap_or_default();
        !number.is_empty() && number.len() < 4 && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Returns the text of a rule's page before its examples.
pub fn prose(rule: &'static Rule) -> &'static str {
    let page = rule.page;
    let end = page.find("## Rejected").unwrap_or(page.len());
    page.get(..end).unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_document::proto::message_type::MessageType;

    #[test]
    fn a_field_has_the_rules_whose_examples_are_about_it() {
        let message = MessageType::named("envoy.config.endpoint.v3.LocalityLbEndpoints").unwrap();
        let field = message.field("load_balancing_weight").unwrap();
        let ids: Vec<&str> = about(field).iter().map(|rule| rule.id).collect();
        assert!(ids.contains(&"eds-locality-without-weight"), "{ids:?}");
        let rule = catalogue::find("eds-locality-without-weight").unwrap();
        assert_eq!(grfcs(rule).collect::<Vec<_>>(), ["A27"]);
        assert!(!prose(rule).contains("```"));
        assert!(BY_FIELD.len() > 100, "{}", BY_FIELD.len());
    }
}
