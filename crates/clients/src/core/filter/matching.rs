//! The xDS matcher tree (`xds.type.matcher.v3.Matcher`): which action, if any, an RPC's headers
//! choose (A106).
//!
//! Follows C-core `ParseXdsMatcher` (xds_matcher_parse.cc) with the one input that the client has,
//! a request header (xds_matcher_input.cc). The actions are those of the composite filter.

use std::collections::BTreeMap;

use super::composite::{self, EXECUTE, SKIP};
use crate::core::convert::matcher::string_matcher;
use xdsctl_document::proto;
use xdsctl_document::proto::any::extract;
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::HttpRequestHeaderMatchInput;
use xdsctl_document::proto::pb::xds::core::v3::TypedExtensionConfig;
use xdsctl_document::proto::pb::xds::r#type::matcher::v3::Matcher;
use xdsctl_document::proto::pb::xds::r#type::matcher::v3::matcher::matcher_list::predicate::{
    MatchType, PredicateList, SinglePredicate, single_predicate,
};
use xdsctl_document::proto::pb::xds::r#type::matcher::v3::matcher::matcher_list::{FieldMatcher, Predicate};
use xdsctl_document::proto::pb::xds::r#type::matcher::v3::matcher::matcher_tree::TreeType;
use xdsctl_document::proto::pb::xds::r#type::matcher::v3::matcher::{MatcherTree, MatcherType, OnMatch, on_match};
use xdsctl_model::diag::{Path, Validation, rules};

rules! {
    /// A matcher is missing where one is needed.
    MATCHER_MISSING = "matcher-missing", Filter, Nack, "C-core ParseXdsMatcher";
    /// Matchers are nested too deep.
    MATCHER_TOO_DEEP = "matcher-too-deep", Filter, Nack, "C-core ParseXdsMatcherRecursive";
    /// A matcher has neither a list nor a tree that the client knows, or what it has is empty.
    MATCHER_EMPTY = "matcher-empty", Filter, Nack, "C-core ParseXdsMatcherRecursive, ParseFieldMatcherList, ParseMatchMap";
    /// What happens on a match is not said.
    MATCHER_WITHOUT_ACTION = "matcher-without-action", Filter, Nack, "C-core ParseOnMatch";
    /// keep_matching is true.
    MATCHER_KEEP_MATCHING = "matcher-keep-matching", Filter, Nack, "C-core ParseOnMatch";
    /// The type of an action is not one that is known here.
    MATCHER_ACTION_UNKNOWN = "matcher-action-unknown", Filter, Nack, "C-core XdsMatcherActionRegistry::ParseAndCreateAction";
    /// A predicate is missing, empty or of a kind that the client does not know.
    MATCHER_PREDICATE_UNKNOWN = "matcher-predicate-unknown", Filter, Nack, "C-core ParsePredicate, ParsePredicateList";
    /// A matcher's input is missing or is not a request header.
    MATCHER_INPUT_UNKNOWN = "matcher-input-unknown", Filter, Nack, "C-core ParseStringInput, XdsMatcherInputRegistry";
}

/// How many levels of matchers there may be, the outermost included.
const MAX_LEVELS: u32 = 16;

/// The only input that the client has.
const HEADER_INPUT: &str = "envoy.type.matcher.v3.HttpRequestHeaderMatchInput";

/// Checks the matcher at `at`, which must be there.
pub fn check(matcher: Option<&Matcher>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = "missing, must say which RPCs match";
    if let Some(matcher) = cx.required(matcher, &MATCHER_MISSING, at, why) {
        check_matcher(matcher, 0, at, cx);
    }
}

fn check_matcher(matcher: &Matcher, level: u32, at: &Path<'_>, cx: &mut Validation<'_>) {
    if level == MAX_LEVELS {
        let why = format_args!("matchers are nested more than {MAX_LEVELS} levels deep");
        cx.report(&MATCHER_TOO_DEEP, at, why);
        return;
    }
    if let Some(found) = &matcher.on_no_match {
        on_match(Some(found), level, &at.field("on_no_match"), cx);
    }
    match &matcher.matcher_type {
        Some(MatcherType::MatcherList(list)) => check_list(&list.matchers, level, &at.field("matcher_list"), cx),
        Some(MatcherType::MatcherTree(tree)) => check_tree(tree, level, &at.field("matcher_tree"), cx),
        None => empty(at, "neither matcher_list nor matcher_tree is set", cx),
    }
}

fn empty(at: &Path<'_>, what: &str, cx: &mut Validation<'_>) {
    cx.report(&MATCHER_EMPTY, at, format_args!("{what}"));
}

fn check_list(matchers: &[FieldMatcher], level: u32, at: &Path<'_>, cx: &mut Validation<'_>) {
    if matchers.is_empty() {
        empty(at, "no matchers, must have at least one", cx);
    }
    let at = at.field("matchers");
    for (i, matcher) in matchers.iter().enumerate() {
        let at = at.index(i);
        on_match(matcher.on_match.as_ref(), level, &at.field("on_match"), cx);
        predicate(matcher.predicate.as_ref(), &at.field("predicate"), cx);
    }
}

fn check_tree(tree: &MatcherTree, level: u32, at: &Path<'_>, cx: &mut Validation<'_>) {
    input(tree.input.as_ref(), &at.field("input"), cx);
    match &tree.tree_type {
        Some(TreeType::ExactMatchMap(map)) => check_map(&map.map, level, &at.field("exact_match_map"), cx),
        Some(TreeType::PrefixMatchMap(map)) => check_map(&map.map, level, &at.field("prefix_match_map"), cx),
        Some(TreeType::CustomMatch(_)) => empty(at, "custom_match is not supported", cx),
        None => empty(at, "neither exact_match_map nor prefix_match_map is set", cx),
    }
}

/// Checks the entries of a map. The client leaves the key out of their paths.
fn check_map(map: &BTreeMap<String, OnMatch>, level: u32, at: &Path<'_>, cx: &mut Validation<'_>) {
    if map.is_empty() {
        empty(at, "the map is empty, must have at least one entry", cx);
    }
    for found in map.values() {
        on_match(Some(found), level, &at.field("on_match"), cx);
    }
}

fn on_match(found: Option<&OnMatch>, level: u32, at: &Path<'_>, cx: &mut Validation<'_>) {
    if found.is_some_and(|found| found.keep_matching) {
        let why = format_args!("keep_matching is true, which is not supported here");
        cx.report(&MATCHER_KEEP_MATCHING, &at.field("keep_matching"), why);
    }
    let (end, why) = (
        found.and_then(|found| found.on_match.as_ref()),
        "no action and no further matcher",
    );
    match cx.required(end, &MATCHER_WITHOUT_ACTION, at, why) {
        Some(on_match::OnMatch::Action(found)) => action(found, &at.field("action"), cx),
        Some(on_match::OnMatch::Matcher(matcher)) => check_matcher(matcher, level + 1, &at.field("matcher"), cx),
        None => {}
    }
}

fn action(action: &TypedExtensionConfig, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(extension) = extract(action.typed_config.as_ref(), at, cx) else {
        return;
    };
    let at = extension.at(at);
    match &*extension.type_name {
        SKIP | EXECUTE => composite::check_action(&extension, &at, cx),
        other => {
            let why = format_args!("action `{other}` is not supported, must be one of `{SKIP}`, `{EXECUTE}`");
            cx.report(&MATCHER_ACTION_UNKNOWN, &at, why);
        }
    }
}

fn predicate(found: Option<&Predicate>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let kind = found.and_then(|found| found.match_type.as_ref());
    let why = "no predicate, must be single_predicate, or_matcher, and_matcher or not_matcher";
    match cx.required(kind, &MATCHER_PREDICATE_UNKNOWN, at, why) {
        Some(MatchType::SinglePredicate(one)) => single(one, &at.field("single_predicate"), cx),
        Some(MatchType::OrMatcher(list)) => predicates(list, &at.field("or_matcher"), cx),
        Some(MatchType::AndMatcher(list)) => predicates(list, &at.field("and_matcher"), cx),
        Some(MatchType::NotMatcher(inner)) => predicate(Some(inner), &at.field("not_matcher"), cx),
        None => {}
    }
}

fn predicates(list: &PredicateList, at: &Path<'_>, cx: &mut Validation<'_>) {
    let (list, why) = (&list.predicate, "the list of predicates is empty");
    cx.check(!list.is_empty(), &MATCHER_PREDICATE_UNKNOWN, at, why);
    let at = at.field("predicate_list");
    for (i, one) in list.iter().enumerate() {
        predicate(Some(one), &at.index(i), cx);
    }
}

fn single(single: &SinglePredicate, at: &Path<'_>, cx: &mut Validation<'_>) {
    // The StringMatcher of `xds.type.matcher.v3` is on the wire the same as Envoy's.
    let value_match = match &single.matcher {
        Some(single_predicate::Matcher::ValueMatch(matcher)) => Some(proto::kept(&proto::keep(matcher))),
        Some(single_predicate::Matcher::CustomMatch(_)) | None => None,
    };
    string_matcher(value_match.as_ref(), &at.field("value_match"), cx);
    input(single.input.as_ref(), &at.field("input"), cx);
}

fn input(input: Option<&TypedExtensionConfig>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = format_args!("missing, must be `{HEADER_INPUT}`");
    let Some(input) = cx.required(input, &MATCHER_INPUT_UNKNOWN, at, why) else {
        return;
    };
    let Some(extension) = extract(input.typed_config.as_ref(), at, cx) else {
        return;
    };
    let at = extension.at(at);
    match &*extension.type_name {
        HEADER_INPUT => _ = extension.decode::<HttpRequestHeaderMatchInput>(&at, cx),
        other => {
            let why = format_args!("input `{other}` is not supported, must be `{HEADER_INPUT}`");
            cx.report(&MATCHER_INPUT_UNKNOWN, &at, why);
        }
    }
}
