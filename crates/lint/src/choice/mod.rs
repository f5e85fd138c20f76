//! The settings that decide what is reported: how loud a rule is, and which findings are known.
//!
//! [`Severities`] turns rules, families of rules, effects or single fields of a rule into errors,
//! warnings or notes, or switches them off. A [`Suppression`] removes findings, with a reason and
//! perhaps a last day; it is written in a configuration file or in a comment of a YAML document
//! ([`comments`]). A [`Baseline`] removes the findings that existed when it was written.
//! [`decide`](crate::decide) applies all three.
//!
//! These settings do not change what a client does. Nothing here reads files or clocks.

pub mod baseline;
mod comment;
mod date;
mod file_pattern;
mod selector;
mod suppression;

pub use baseline::Baseline;
pub use comment::comments;
pub use date::Date;
pub use file_pattern::FilePattern;
pub use selector::{RuleSelector, Severities};
pub(crate) use suppression::FindingTraits;
pub use suppression::{Ignore, Suppression, SuppressionPlace};
pub use xdsctl_model::wildcard::Wildcard;

use xdsctl_model::diag::rules;

rules! {
    /// A suppression takes out no finding of what was read.
    UNUSED = "suppression-unused", Dump, Advice, "xdsctl; docs/choosing.md";
    /// A suppression has ended: what it took out is found again.
    EXPIRED = "suppression-expired", Dump, Advice, "xdsctl; docs/choosing.md";
    /// A comment speaks to xdsctl, and is not understood.
    MALFORMED = "suppression-malformed", Dump, Advice, "xdsctl; docs/choosing.md";
    /// A policy of the project looks at nothing of what was read, all of it: it can find nothing.
    POLICY_IDLE = "policy-idle", Dump, Advice, "xdsctl; docs/policies.md";
    /// A baseline has a finding that is no more.
    STALE = "baseline-stale", Dump, Advice as Note, "xdsctl; docs/choosing.md";
}
