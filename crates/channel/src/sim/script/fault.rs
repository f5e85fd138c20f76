//! What is wrong with a step, in words.

use super::{MAX_AT_A_RATE, MAX_SENT, MAX_UNDER_WAY, VERBS};
use xdsctl_document::source::node::JsonNode;
use xdsctl_model::text;

/// What is wrong with a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// The line is no JSON. The text says why.
    #[error("{0}")]
    NotJson(String),
    /// A key occurs twice in one object.
    #[error("`{0}` occurs twice in one object, where only one can count")]
    Twice(String),
    /// The step is not an object with one member.
    #[error("a step is an object with one of {}, not {found}", listed(&VERBS))]
    NoStep {
        /// What was found instead.
        found: String,
    },
    /// A step has several verbs.
    #[error("a step has one verb, this one has {0}: write a line for each")]
    Several(String),
    /// There is no member of this name.
    #[error("{place} has no `{name}`{hint}")]
    Unknown {
        /// Where the member stands: `a step`, `pick`.
        place: &'static str,
        /// The name as it is written.
        name: String,
        /// What was probably meant, or which names there are.
        hint: String,
    },
    /// A member has a value of the wrong kind.
    #[error("`{member}` is {value}, must be {wanted}")]
    Member {
        /// The name of the member.
        member: String,
        /// The value of the member, as text.
        value: String,
        /// What it must be.
        wanted: &'static str,
    },
    /// Two members are given of which only one may be.
    #[error("`{member}` and `{other}` cannot both be given")]
    Contradict {
        /// The name of the member that comes first.
        member: &'static str,
        /// The name of the member that contradicts it.
        other: &'static str,
    },
    /// `finish` names no `begin` before it.
    #[error("`finish` names `{name}`, which no `begin` before it has{hint}")]
    FinishUnknown {
        /// The name as it is written.
        name: String,
        /// What was probably meant, or which names there are.
        hint: String,
    },
    /// `begin` has the name of RPCs that are not finished yet.
    #[error("`begin` names `{0}`, whose RPCs are under way already: finish them first, or name these otherwise")]
    BeginTwice(String),
    /// No `finish` follows a `begin`.
    #[error("no `finish` waits for the RPCs `{0}` of this `begin`, so nothing would be said of them")]
    NeverFinished(String),
    /// Too many RPCs are under way at a time.
    #[error("{0} RPCs would be in progress at once, the limit is {MAX_UNDER_WAY}")]
    TooMany(u64),
    /// Too many `begin`s at a rate go on at a time.
    #[error("more than {MAX_AT_A_RATE} `begin`s at a rate would go on at a time, which is the limit")]
    TooManyAtARate,
    /// All steps together have too many RPCs.
    #[error("with those of the steps before there would be {0} RPCs, the limit is {MAX_SENT} in all")]
    TooManyInAll(u64),
    /// No resource has the address.
    #[error("`{verb}` names {address}, which is no address of the channel or of an `update`{hint}")]
    NoAddress {
        /// The step's verb.
        verb: &'static str,
        /// The address as it is written.
        address: String,
        /// What was probably meant, as the end of a sentence.
        hint: String,
    },
}

pub(super) fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Says what was probably meant by a name, or which names there are.
pub(super) fn hint(name: &str, names: &[&str]) -> String {
    match text::nearest(name, names.iter().copied()) {
        Some(near) => format!(", did you mean `{near}`?"),
        None if names.is_empty() => String::new(),
        None => format!("; there is {}", listed(names)),
    }
}

/// Formats a value for a message, not longer than a line.
pub(super) fn shown(node: &JsonNode) -> String {
    const MOST: usize = 80;
    format!("`{}`", text::beginning(&node.to_json(), MOST))
}
