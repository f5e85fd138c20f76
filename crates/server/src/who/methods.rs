//! Methods in classes: those that routes and policies name, those below a prefix that they name,
//! and all others.

use std::collections::BTreeSet;

use xdsctl_channel::rpc::matching;
use xdsctl_model::resource::matcher::{StringMatch, StringMatcher};

/// The most names that make classes of their own. Conditions on other names are printed.
const MAX_NAMES: usize = 500;

/// What every method begins with, as the path of an HTTP/2 request does.
const ROOT: &str = "/";

/// A class of methods.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum MethodClass {
    /// The method of this name.
    Exact(String),
    /// The methods that begin with this and are in no other class; `/` has all that are left.
    Under(String),
}

impl MethodClass {
    /// Says whether this is the class of all methods that no route or policy names.
    pub fn is_rest(&self) -> bool {
        matches!(self, MethodClass::Under(prefix) if prefix == ROOT)
    }
}

/// The names that make the classes. Each method is in one class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodNames {
    exact: BTreeSet<String>,
    prefixes: BTreeSet<String>,
    /// Names that make no class, because there are too many.
    pub left_out: BTreeSet<String>,
    is_only: bool,
}

impl MethodNames {
    /// Makes a single class, of one method.
    pub fn only(method: &str) -> MethodNames {
        MethodNames {
            exact: BTreeSet::from([method.to_owned()]),
            is_only: true,
            ..MethodNames::default()
        }
    }

    /// Adds the names of another server.
    pub fn join(&mut self, other: &MethodNames) {
        for (own, names) in [(&mut self.exact, &other.exact), (&mut self.prefixes, &other.prefixes)] {
            for name in names {
                if own.len() < MAX_NAMES {
                    own.insert(name.clone());
                } else {
                    self.left_out.insert(name.clone());
                }
            }
        }
        self.left_out.extend(other.left_out.iter().cloned());
    }

    /// Makes a class for the name in a matcher.
    pub fn add(&mut self, matcher: &StringMatcher) {
        let (set, text) = match &matcher.kind {
            StringMatch::Exact(text) => (&mut self.exact, text),
            StringMatch::Prefix(text) => (&mut self.prefixes, text),
            StringMatch::Suffix(_) | StringMatch::Contains(_) | StringMatch::Regex(_) => return,
        };
        if self.is_only || matcher.ignore_case || !text.starts_with(ROOT) || text == ROOT || set.contains(text) {
            return;
        }
        if set.len() < MAX_NAMES {
            set.insert(text.clone());
        } else {
            self.left_out.insert(text.clone());
        }
    }

    /// Returns the classes in the order of their names. The class of all other methods is the last
    /// one.
    pub fn classes(&self) -> Vec<MethodClass> {
        let exact = self.exact.iter().map(|name| MethodClass::Exact(name.clone()));
        if self.is_only {
            return exact.collect();
        }
        let prefixes = self.prefixes.iter().map(|name| MethodClass::Under(name.clone()));
        let mut classes: Vec<MethodClass> = exact.chain(prefixes).collect();
        let name = |class: &MethodClass| match class {
            MethodClass::Exact(name) => (name.clone(), false),
            MethodClass::Under(name) => (name.clone(), true),
        };
        classes.sort_by_cached_key(name);
        classes.push(MethodClass::Under(ROOT.to_owned()));
        classes
    }

    /// Says whether every method of a class matches (`true`) or none does (`false`); `None` if some
    /// may.
    pub(super) fn matches(&self, class: &MethodClass, matcher: &StringMatcher) -> Option<bool> {
        let prefix = match class {
            MethodClass::Exact(name) => return Some(matching::string_matches(matcher, name)),
            MethodClass::Under(prefix) => prefix,
        };
        let wanted = match &matcher.kind {
            StringMatch::Exact(wanted) | StringMatch::Prefix(wanted) => wanted,
            StringMatch::Suffix(wanted) => return wanted.is_empty().then_some(true),
            StringMatch::Contains(_) => return matching::string_matches(matcher, prefix).then_some(true),
            StringMatch::Regex(_) => return None,
        };
        let common = wanted.len().min(prefix.len());
        let (own, other) = (prefix.as_bytes().get(..common)?, wanted.as_bytes().get(..common)?);
        let is_equal = match matcher.ignore_case {
            true => own.eq_ignore_ascii_case(other),
            false => own == other,
        };
        let is_short = wanted.len() <= prefix.len();
        match &matcher.kind {
            _ if !is_equal => Some(false),
            StringMatch::Prefix(_) if is_short => Some(true),
            StringMatch::Prefix(_) => (!matcher.ignore_case && self.prefixes.contains(wanted)).then_some(false),
            _ if wanted.len() < prefix.len() => Some(false),
            _ => (!matcher.ignore_case && self.exact.contains(wanted)).then_some(false),
        }
    }
}
