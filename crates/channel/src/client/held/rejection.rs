//! Why a resource is rejected.

use std::fmt::Write as _;

use super::{HeldResource, ResourceKind, Resources};
use crate::client::checked::{Checked, Verdict};
use crate::client::live;
use crate::client::receive::{RejectionFault, faults};
use xdsctl_document::envelope::Stage;
use xdsctl_document::source::secrets::peer_words;
use xdsctl_model::diag::{Diagnostic, Effect};
use xdsctl_model::resource::ResourceType;

/// How xdsctl's own reason for a rejection begins.
pub(super) const REJECTED: &str = "rejected, ";

/// How a live client's reason begins.
const INVALID: &str = "invalid resource: ";

/// Why the newest version of a resource is rejected.
#[derive(Debug, Clone)]
pub(super) struct Rejection {
    /// The reason in words: xdsctl's own, or those of the live client that reports it.
    pub why: String,
    /// The faults that xdsctl finds; empty if it does not have that version, or accepts it.
    pub faults: Vec<RejectionFault>,
    /// Whether it is not known if the client rejects it.
    pub is_unknown: bool,
    /// Whether the client gives no answer: it dies of the resource, or an exception leaves its
    /// parser.
    pub dies: bool,
    /// Whether the rejection names no resource.
    pub is_unnamed: bool,
}

/// Why nothing is held of a resource whose verdict is not known.
const NOT_KNOWN: &str = "it is not known whether the client takes it";

impl Rejection {
    /// Makes the rejection of a resource, in the words of the live client that reports it, if there
    /// is one.
    pub fn of(checked: &Checked) -> Rejection {
        let told = checked.status.as_deref().and_then(|status| status.error.as_deref());
        let is_told = checked.stage == Stage::Failed && !live::is_own_rejection(checked);
        let is_own = checked.verdict == Verdict::Rejected && !is_told;
        let Some(error) = told.filter(|_| !is_own) else {
            let mut own = Rejection::own(&checked.diagnostics, checked.dies);
            own.is_unknown = checked.is_unknown;
            own.is_unnamed = checked.is_unnamed;
            if own.is_unknown {
                own.why = NOT_KNOWN.to_owned();
            }
            return own;
        };
        // C-core's status begins with these words; those of a log and of other clients do not.
        let error = error.strip_prefix(INVALID).unwrap_or(error);
        Rejection {
            // The reason ends up in the status of RPCs.
            why: format!("{INVALID}{}", peer_words(error)),
            faults: faults(&checked.diagnostics),
            is_unknown: false,
            dies: checked.dies,
            is_unnamed: checked.is_unnamed,
        }
    }

    /// Makes the rejection of a resource in xdsctl's words, and not in those of a client.
    pub fn own(diagnostics: &[Diagnostic], dies: bool) -> Rejection {
        Rejection {
            why: rejection(diagnostics),
            faults: faults(diagnostics),
            is_unknown: false,
            dies,
            is_unnamed: false,
        }
    }
}

/// After this many bytes of errors a rejection only counts the others, because it is repeated in
/// every RPC that fails by it.
const MAX_REJECTION_BYTES: usize = 16 << 10;

/// Says why a resource is rejected, in words that nobody takes for the client's: `rejected, at a:
/// b; at c: d`.
///
/// The client lists its own errors as `errors validating ...: [field:a error:...]`. That form is
/// reserved for it.
fn rejection(diagnostics: &[Diagnostic]) -> String {
    let mut errors = String::new();
    let mut more = 0;
    for error in diagnostics.iter().filter(|d| d.effect == Effect::Nack) {
        if errors.len() > MAX_REJECTION_BYTES {
            more += error.count;
            continue;
        }
        let separator = if errors.is_empty() { "" } else { "; " };
        let _ = match error.path.is_empty() {
            true => write!(errors, "{separator}{}", error.message),
            false => write!(errors, "{separator}at {}: {}", error.path, error.message),
        };
    }
    if errors.len() > 2 * MAX_REJECTION_BYTES {
        let end = (0..=MAX_REJECTION_BYTES)
            .rev()
            .find(|end| errors.is_char_boundary(*end));
        errors.truncate(end.unwrap_or(0));
        errors.push_str("...");
    }
    if more > 0 {
        let _ = write!(errors, "; {more} more errors");
    }
    format!("{REJECTED}{errors}")
}

/// A resource whose newest version is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejected<'a> {
    /// Its type, one of the four that gRPC clients ask for.
    pub resource_type: ResourceType,
    /// Its name, as clients ask for it.
    pub name: &'a str,
    /// Why the client rejects it.
    pub why: &'a str,
    /// Whether an earlier version is in use.
    pub has_earlier: bool,
    /// Whether it is not known if the client rejects it.
    pub is_unknown: bool,
    /// Whether the client gives no answer: it dies of the resource, or an exception leaves its
    /// parser.
    pub dies: bool,
}

impl<'a> Rejected<'a> {
    pub(super) fn of<T: ResourceKind>(name: &'a str, held: &'a HeldResource<T>) -> Option<Rejected<'a>> {
        let rejection = held.rejected.as_ref()?;
        Some(Rejected {
            resource_type: T::TYPE,
            name,
            why: &rejection.why,
            has_earlier: held.is_accepted(),
            is_unknown: rejection.is_unknown,
            dies: rejection.dies,
        })
    }
}

impl Resources {
    /// The resource with this key, if it is rejected.
    pub(in crate::client) fn rejection(&self, resource_type: ResourceType, key: &str) -> Option<Rejected<'_>> {
        self.of_type(resource_type).rejection(key)
    }

    /// The rejected resources, by type and name.
    pub fn rejected(&self) -> Vec<Rejected<'_>> {
        let types = ResourceType::ALL.into_iter();
        types.flat_map(|of| self.of_type(of).rejected()).collect()
    }
}
