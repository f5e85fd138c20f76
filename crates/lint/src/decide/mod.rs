//! Which findings are shown: what happens to a finding once it is made happens here, and in this
//! order.
//!
//! The loader, the converters and the [lints](crate::lint) state facts, and take none back. Each
//! stage may withhold a finding, and then gives the [`Reason`]; whoever asks gets those from
//! [`Withheld`].
//!
//! For each world, [`decide()`]:
//! 1. `reach`: failures that no RPC meets, or from which another cluster takes over (which makes them advice).
//! 2. `worlds`: what is found only because the value of a field could not be read.
//! 3. [`lint::run`](crate::lint::run) adds what the resources of the world show together, and `others` gives it to other clients.
//! 4. `proxy`: resources that were made for a proxy.
//! 5. `shared`: resources of several worlds get one list; what only some worlds show names those.
//!
//! For the reader, [`suppress`]:
//! 6. `suppressed`: suppressions, then the baseline.
//! 7. `consequences`: what follows from a rejection of which nothing is shown.
//!
//! With `--explain-error`, [`place::keep`](crate::recognise::place::keep) stands in for 6 and 7.
//!
//! For the report, resource by resource:
//! 8. `loudness`: what no client has that was asked, what the reader switches off, and how loud the rest is. Several clients that
//!    have a finding at one place have it together, with the worst effect.
//! 9. The format: what is below its least severity.
//!
//! What a text is, the loader decides while it reads it, and what a client does with a resource and
//! with the response around it, [`client`](xdsctl_channel::client). Apart from that, of very many
//! findings of a rule some are counted only, when they are made
//! ([`MAX_FINDINGS_PER_RULE`](xdsctl_model::diag::MAX_FINDINGS_PER_RULE)).

mod comments;
mod consequences;
pub mod loudness;
mod others;
mod proxy;
mod reach;
mod shared;
mod suppressed;
mod withheld;
mod worlds;

pub use suppressed::{Suppressed, SuppressionInput, suppress};
pub use withheld::{Reason, Withheld, WithheldFinding};
pub use worlds::{InputScope, decide};

use xdsctl_channel::client::{Checked, World};
use xdsctl_document::envelope::{Finding, WorldId};
use xdsctl_document::source::{SourceId, Span};
use xdsctl_model::diag::{Diagnostic, Rule, rules};

rules! {
    /// No listener has an api_listener: the configuration was made for a proxy, not for a gRPC client.
    MADE_FOR_PROXY = "dump-made-for-proxy", Dump, Advice, "gRFC A27: a client takes API listeners only";
    /// Resources of a dump come from the proxy's own bootstrap: no gRPC client gets them, and they are not checked.
    STATIC_NOT_JUDGED = "dump-static-not-judged", Dump, Advice as Note, "Envoy admin interface, static_ lists of /config_dump";
    /// A dump holds EDS clusters and no endpoints.
    ENDPOINTS_NOT_INCLUDED = "dump-endpoints-not-included", Dump, Advice as Note, "Envoy admin interface, /config_dump?include_eds";
    /// A line of a log tells of a fault that the dump does not have.
    FAULT_GONE = "dump-fault-gone", Dump, Advice, "xdsctl validate --explain-error";
}

/// The rules of this folder's other files.
pub static PART_RULES: &[&[&Rule]] = &[reach::RULES];

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct CheckOutcome {
    /// Every resource, in the order of the documents.
    pub resources: Vec<Checked>,
    /// Findings on documents, which belong to no resource.
    pub findings: Vec<Finding>,
    /// Worlds made for a proxy; their resources are not checked unless that was asked for.
    pub proxy_worlds: Vec<WorldId>,
    /// What each client holds, by the resources' numbers.
    pub worlds: Vec<World>,
    /// Findings that are not shown, if somebody asks for them.
    pub withheld: Withheld,
}

impl CheckOutcome {
    /// Adds a finding that stands at the start of a document.
    fn add_at_start(&mut self, source: SourceId, diagnostic: Diagnostic) {
        let span = Span::new(0, 0);
        self.findings.push(Finding {
            source,
            span,
            diagnostic,
        });
    }
}
