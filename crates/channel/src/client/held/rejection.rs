//! Why a resource is rejected.

use std::fmt::Write as _;

use super::{Cache, HeldResource, ResourceKind, Resources};
use crate::client::checked::{Checked, Gap, Verdict};
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
    /// What is not known; if there is something, it is no rejection.
    pub gap: Option<Gap>,
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
            own.gap = checked.gap;
            own.is_unnamed = checked.is_unnamed;
            if own.gap == Some(Gap::Verdict) {
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
            gap: None,
            dies: checked.dies,
            is_unnamed: checked.is_unnamed,
        }
    }

    /// Makes the rejection of a resource in xdsctl's words, and not in those of a client.
    pub fn own(diagnostics: &[Diagnostic], dies: bool) -> Rejection {
        Rejection {
            why: rejection(diagnostics),
            faults: faults(diagnostics),
            gap: None,
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
    /// What is not known; if there is something, it is no rejection.
    pub gap: Option<Gap>,
    /// Whether the client gives no answer: it dies of the resource, or an exception leaves its
    /// parser.
    pub dies: bool,
}

impl<'a> Rejected<'a> {
    fn of<T: ResourceKind>(name: &'a str, held: &'a HeldResource<T>) -> Option<Rejected<'a>> {
        let Rejection { why, gap, dies, .. } = held.rejected.as_ref()?;
        Some(Rejected {
            resource_type: T::TYPE,
            name,
            why,
            has_earlier: held.is_accepted(),
            gap: *gap,
            dies: *dies,
        })
    }
}

impl Resources {
    /// The resource with this key, if it is rejected.
    pub(in crate::client) fn rejection(&self, resource_type: ResourceType, key: &str) -> Option<Rejected<'_>> {
        fn of<'a, T: ResourceKind>(cache: &'a Cache<T>, key: &str) -> Option<Rejected<'a>> {
            let (name, held) = cache.held.get_key_value(key)?;
            Rejected::of(name, held)
        }
        match resource_type {
            ResourceType::Listener => of(&self.listeners, key),
            ResourceType::RouteConfiguration => of(&self.route_configs, key),
            ResourceType::Cluster => of(&self.clusters, key),
            ResourceType::Endpoints => of(&self.endpoints, key),
        }
    }

    /// The rejected resources, by type and name.
    pub fn rejected(&self) -> Vec<Rejected<'_>> {
        fn of<'a, T: ResourceKind>(cache: &'a Cache<T>, out: &mut Vec<Rejected<'a>>) {
            out.extend(cache.iter().filter_map(|(name, held)| Rejected::of(name, held)));
        }
        let mut out = Vec::new();
        of(&self.listeners, &mut out);
        of(&self.route_configs, &mut out);
        of(&self.clusters, &mut out);
        of(&self.endpoints, &mut out);
        out
    }
}
