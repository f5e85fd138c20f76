//! The xDS matcher tree (`xds.type.matcher.v3.Matcher`): which action, if any, an RPC's headers
//! choose (A106).
//!
//! Follows C-core `ParseXdsMatcher` (xds_matcher_parse.cc) with the one input that the client has,
//! a request header (xds_matcher_input.cc). The caller says which actions there are.

use std::collections::BTreeMap;

use crate::core::convert::matcher::string_matcher;
use xdsctl_document::proto::any::{Extension, extract};
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3 as envoy;
use xdsctl_document::proto::pb::xds::core::v3::TypedExtensionConfig;
use xdsctl_document::proto::pb::xds::r#type::matcher::v3::matcher::matcher_list::predicate::{
    MatchType, PredicateList, SinglePredicate, single_predicate,
};
use xdsctl_document::proto::pb::xds::r#type::matcher::v3::matcher::matcher_list::{FieldMatcher, Predicate};
use xdsctl_document::proto::pb::xds::r#type::matcher::v3::matcher::matcher_tree::TreeType;
use xdsctl_document::proto::pb::xds::r#type::matcher::v3::matcher::{MatcherTree, MatcherType, OnMatch, on_match};
use xdsctl_document::proto::pb::xds::r#type::matcher::v3::{Matcher, StringMatcher, string_matcher::MatchPattern};
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

/// The actions that a caller accepts in a matcher.
pub struct Actions {
    /// Type names of the actions, for messages.
    pub types: &'static [&'static str],
    /// Checks an action of one of these types, at the path from [`Extension::at`].
    pub check: fn(action: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>),
}

/// Checks the matcher at `at`, which must be there.
pub fn check(matcher: Option<&Matcher>, at: &Path<'_>, actions: &Actions, cx: &mut Validation<'_>) {
    match matcher {
        Some(matcher) => MatcherWalk { actions, cx }.matcher(matcher, 0, at),
        None => {
            cx.report(&MATCHER_MISSING, at, format_args!("missing, must say which RPCs match"));
        }
    }
}

struct MatcherWalk<'a, 'c, 'p> {
    actions: &'a Actions,
    cx: &'c mut Validation<'p>,
}

impl MatcherWalk<'_, '_, '_> {
    fn matcher(&mut self, matcher: &Matcher, level: u32, at: &Path<'_>) {
        if level == MAX_LEVELS {
            self.cx.report(
                &MATCHER_TOO_DEEP,
                at,
                format_args!("matchers are nested more than {MAX_LEVELS} levels deep"),
            );
            return;
        }
        if let Some(on_no_match) = &matcher.on_no_match {
            self.on_match(Some(on_no_match), level, &at.field("on_no_match"));
        }
        match &matcher.matcher_type {
            Some(MatcherType::MatcherList(list)) => self.list(&list.matchers, level, &at.field("matcher_list")),
            Some(MatcherType::MatcherTree(tree)) => self.tree(tree, level, &at.field("matcher_tree")),
            None => self.empty(at, "neither matcher_list nor matcher_tree is set"),
        }
    }

    fn empty(&mut self, at: &Path<'_>, what: &str) {
        self.cx.report(&MATCHER_EMPTY, at, format_args!("{what}"));
    }

    fn list(&mut self, matchers: &[FieldMatcher], level: u32, at: &Path<'_>) {
        if matchers.is_empty() {
            self.empty(at, "no matchers, must have at least one");
        }
        let at = at.field("matchers");
        for (i, matcher) in matchers.iter().enumerate() {
            let at = at.index(i);
            self.on_match(matcher.on_match.as_ref(), level, &at.field("on_match"));
            self.predicate(matcher.predicate.as_ref(), &at.field("predicate"));
        }
    }

    fn tree(&mut self, tree: &MatcherTree, level: u32, at: &Path<'_>) {
        self.input(tree.input.as_ref(), &at.field("input"));
        match &tree.tree_type {
            Some(TreeType::ExactMatchMap(map)) => self.map(&map.map, level, &at.field("exact_match_map")),
            Some(TreeType::PrefixMatchMap(map)) => self.map(&map.map, level, &at.field("prefix_match_map")),
            Some(TreeType::CustomMatch(_)) => self.empty(at, "custom_match is not supported"),
            None => self.empty(at, "neither exact_match_map nor prefix_match_map is set"),
        }
    }

    /// Checks the entries of a map. The client leaves the key out of their paths.
    fn map(&mut self, map: &BTreeMap<String, OnMatch>, level: u32, at: &Path<'_>) {
        if map.is_empty() {
            self.empty(at, "the map is empty, must have at least one entry");
        }
        let at = at.field("on_match");
        for on_match in map.values() {
            self.on_match(Some(on_match), level, &at);
        }
    }

    fn on_match(&mut self, on_match: Option<&OnMatch>, level: u32, at: &Path<'_>) {
        let keeps_matching = on_match.is_some_and(|m| m.keep_matching);
        if keeps_matching {
            self.cx.report(
                &MATCHER_KEEP_MATCHING,
                &at.field("keep_matching"),
                format_args!("keep_matching is true, which is not supported here"),
            );
        }
        match on_match.and_then(|m| m.on_match.as_ref()) {
            Some(on_match::OnMatch::Action(action)) => self.action(action, &at.field("action")),
            Some(on_match::OnMatch::Matcher(matcher)) => self.matcher(matcher, level + 1, &at.field("matcher")),
            None => {
                self.cx.report(
                    &MATCHER_WITHOUT_ACTION,
                    at,
                    format_args!("no action and no further matcher"),
                );
            }
        }
    }

    fn action(&mut self, action: &TypedExtensionConfig, at: &Path<'_>) {
        let Some(extension) = extract(action.typed_config.as_ref(), at, self.cx) else {
            return;
        };
        let at = extension.at(at);
        if self.actions.types.iter().any(|known| *known == extension.type_name) {
            (self.actions.check)(&extension, &at, self.cx);
            return;
        }
        self.cx.report(
            &MATCHER_ACTION_UNKNOWN,
            &at,
            format_args!(
                "action `{}` is not supported, must be one of {}",
                extension.type_name,
                Quoted(self.actions.types)
            ),
        );
    }

    fn predicate(&mut self, predicate: Option<&Predicate>, at: &Path<'_>) {
        match predicate.and_then(|p| p.match_type.as_ref()) {
            Some(MatchType::SinglePredicate(single)) => self.single(single, &at.field("single_predicate")),
            Some(MatchType::OrMatcher(list)) => self.predicates(list, &at.field("or_matcher")),
            Some(MatchType::AndMatcher(list)) => self.predicates(list, &at.field("and_matcher")),
            Some(MatchType::NotMatcher(inner)) => self.predicate(Some(inner), &at.field("not_matcher")),
            None => {
                self.cx.report(
                    &MATCHER_PREDICATE_UNKNOWN,
                    at,
                    format_args!("no predicate, must be single_predicate, or_matcher, and_matcher or not_matcher"),
                );
            }
        }
    }

    fn predicates(&mut self, list: &PredicateList, at: &Path<'_>) {
        if list.predicate.is_empty() {
            self.cx.report(
                &MATCHER_PREDICATE_UNKNOWN,
                at,
                format_args!("the list of predicates is empty"),
            );
        }
        let at = at.field("predicate_list");
        for (i, predicate) in list.predicate.iter().enumerate() {
            self.predicate(Some(predicate), &at.index(i));
        }
    }

    fn single(&mut self, single: &SinglePredicate, at: &Path<'_>) {
        let value_match = match &single.matcher {
            Some(single_predicate::Matcher::ValueMatch(matcher)) => Some(as_envoy(matcher)),
            Some(single_predicate::Matcher::CustomMatch(_)) | None => None,
        };
        string_matcher(value_match.as_ref(), &at.field("value_match"), self.cx);
        self.input(single.input.as_ref(), &at.field("input"));
    }

    fn input(&mut self, input: Option<&TypedExtensionConfig>, at: &Path<'_>) {
        let Some(input) = input else {
            self.cx.report(
                &MATCHER_INPUT_UNKNOWN,
                at,
                format_args!("missing, must be `{HEADER_INPUT}`"),
            );
            return;
        };
        let Some(extension) = extract(input.typed_config.as_ref(), at, self.cx) else {
            return;
        };
        let at = extension.at(at);
        if extension.type_name == HEADER_INPUT {
            let _: Option<envoy::HttpRequestHeaderMatchInput> = extension.decode(&at, self.cx);
            return;
        }
        self.cx.report(
            &MATCHER_INPUT_UNKNOWN,
            &at,
            format_args!(
                "input `{}` is not supported, must be `{HEADER_INPUT}`",
                extension.type_name
            ),
        );
    }
}

/// Converts a StringMatcher of `xds.type.matcher.v3` to the same one of `envoy.type.matcher.v3`.
fn as_envoy(matcher: &StringMatcher) -> envoy::StringMatcher {
    use envoy::string_matcher::MatchPattern as Envoy;
    let match_pattern = match matcher.match_pattern.clone() {
        Some(MatchPattern::Exact(text)) => Some(Envoy::Exact(text)),
        Some(MatchPattern::Prefix(text)) => Some(Envoy::Prefix(text)),
        Some(MatchPattern::Suffix(text)) => Some(Envoy::Suffix(text)),
        Some(MatchPattern::Contains(text)) => Some(Envoy::Contains(text)),
        Some(MatchPattern::SafeRegex(safe)) => Some(Envoy::SafeRegex(envoy::RegexMatcher {
            regex: safe.regex,
            ..Default::default()
        })),
        Some(MatchPattern::Custom(_)) | None => None,
    };
    envoy::StringMatcher {
        ignore_case: matcher.ignore_case,
        match_pattern,
    }
}

/// Prints names in backticks with commas between them.
struct Quoted(&'static [&'static str]);

impl std::fmt::Display for Quoted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, name) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}`{name}`")?;
        }
        Ok(())
    }
}
