//! What is asked of a connection and an RPC, as a formula of facts.

use xdsctl_model::resource::matcher::HeaderMatcher;
use xdsctl_model::resource::rbac::{RbacAddress, RbacCondition};
use xdsctl_model::resource::route::PathMatcher;

/// One thing that is asked of a connection or an RPC.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// A policy asks it: a condition without parts.
    Policy(RbacCondition),
    /// A route asks it of a header.
    RouteHeader(HeaderMatcher),
    /// A route asks it of the method.
    RoutePath(PathMatcher),
    /// A route asks that the RPC is one of this many in a million.
    Share(u32),
}

/// What a fact is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// The names in the client's certificate.
    Principal,
    /// The client's address.
    Source,
    /// Headers of the RPC.
    Header,
    /// Anything else, or several of these.
    Other,
}

/// A formula. `All` of nothing is true, and `OneOf` of nothing is false.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// All of these hold.
    All(Vec<Condition>),
    /// At least one of these holds.
    OneOf(Vec<Condition>),
    /// A fact holds, or does not.
    Is {
        /// The fact.
        fact: Fact,
        /// Whether the fact must not hold.
        is_not: bool,
    },
}

impl Fact {
    const fn column(&self) -> Column {
        match self {
            Fact::Policy(RbacCondition::Authenticated(_)) => Column::Principal,
            Fact::Policy(RbacCondition::Address(RbacAddress::Destination, _)) => Column::Other,
            Fact::Policy(RbacCondition::Address(..)) => Column::Source,
            Fact::Policy(RbacCondition::Header(_)) | Fact::RouteHeader(_) => Column::Header,
            Fact::Policy(_) | Fact::RoutePath(_) | Fact::Share(_) => Column::Other,
        }
    }
}

impl Condition {
    /// The condition that always holds.
    pub const TRUE: Condition = Condition::All(Vec::new());

    /// The condition that never holds.
    pub const FALSE: Condition = Condition::OneOf(Vec::new());

    pub(super) const fn constant(value: bool) -> Condition {
        match value {
            true => Condition::TRUE,
            false => Condition::FALSE,
        }
    }

    /// Says whether it always holds.
    pub fn is_true(&self) -> bool {
        *self == Condition::TRUE
    }

    /// Says whether it never holds.
    pub fn is_false(&self) -> bool {
        *self == Condition::FALSE
    }

    /// Returns the condition that all of these hold, as simple as can be.
    pub(super) fn all(list: impl IntoIterator<Item = Condition>) -> Condition {
        Condition::joined(list, true)
    }

    /// Returns the condition that one of these holds, as simple as can be.
    pub(super) fn one_of(list: impl IntoIterator<Item = Condition>) -> Condition {
        Condition::joined(list, false)
    }

    fn joined(list: impl IntoIterator<Item = Condition>, is_all: bool) -> Condition {
        let mut kept = Vec::new();
        for one in list {
            match one {
                Condition::All(inner) if is_all => kept.extend(inner),
                Condition::OneOf(inner) if !is_all => kept.extend(inner),
                // One condition that never holds decides about all, and one that always does about
                // one of them.
                one if one == Condition::constant(!is_all) => return one,
                one => kept.push(one),
            }
        }
        match (kept.len(), is_all) {
            (1, _) => kept.remove(0),
            (_, true) => Condition::All(kept),
            (_, false) => Condition::OneOf(kept),
        }
    }

    /// Returns the opposite.
    pub(super) fn not(&self) -> Condition {
        match self {
            Condition::All(list) => Condition::one_of(list.iter().map(Condition::not)),
            Condition::OneOf(list) => Condition::all(list.iter().map(Condition::not)),
            Condition::Is { fact, is_not } => Condition::Is {
                fact: fact.clone(),
                is_not: !is_not,
            },
        }
    }

    /// Says whether a part of it is about who the client is.
    pub fn asks_who(&self) -> bool {
        match self {
            Condition::Is { fact, .. } => matches!(fact.column(), Column::Principal | Column::Source),
            Condition::All(list) | Condition::OneOf(list) => list.iter().any(Condition::asks_who),
        }
    }

    /// Returns what all of its facts are about.
    pub fn column(&self) -> Column {
        match self {
            Condition::Is { fact, .. } => fact.column(),
            Condition::All(list) | Condition::OneOf(list) => {
                let mut columns = list.iter().map(Condition::column);
                let first = columns.next().unwrap_or(Column::Other);
                match columns.all(|column| column == first) {
                    true => first,
                    false => Column::Other,
                }
            }
        }
    }
}
