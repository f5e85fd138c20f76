//! Which findings are shown. Everything that happens to a finding after it was made happens here,
//! and in this order.
//!
//! The loader, the converters and the [lints](crate::lint) state facts and take none back. Each
//! stage here may withhold a finding, and gives a [`Reason`] for that; [`Withheld`] keeps the
//! reasons.
//!
//! For each world, [`decide()`] runs:
//!
//! 1. `reach`: withholds failures that no RPC meets; failures from which another cluster takes over
//!    become advice.
//! 2. `worlds`: withholds what is found only because the value of a field could not be read.
//! 3. [`lint::run`](crate::lint::run): adds what the resources of the world show together; `others`
//!    passes it to other clients. Then the policies of a team add what they find.
//! 4. `proxy`: leaves out resources that were made for a proxy.
//! 5. `shared`: gives a resource of several worlds one list; a finding of only some worlds names
//!    them.
//!
//! For the user, [`suppress`] runs:
//!
//! 6. `suppressed`: applies suppressions, then the baseline.
//! 7. `consequences`: withholds what follows from a rejection that is not shown.
//!
//! With `--explain-error`, [`place::keep`](crate::recognise::place::keep) stands in for 6 and 7.
//!
//! For the report, resource by resource:
//!
//! 8. `loudness`: withholds what no client has that was asked, and what the user has switched off;
//!    decides how loud the rest is. If several clients have a finding at the same place, it is one
//!    finding with the worst effect.
//! 9. The format: withholds what is below its least severity.
//!
//! Two kinds of decisions are made elsewhere. The loader decides what a text is while it reads it,
//! and [`client`](xdsctl_channel::client) decides what a client does with a resource and with the
//! response around it. In addition, if a rule has very many findings, those above a limit are only
//! counted, at the point where they are made
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
    /// Findings on documents that belong to no resource.
    pub findings: Vec<Finding>,
    /// Worlds that were made for a proxy. Their resources are not checked unless the user asked for
    /// it.
    pub proxy_worlds: Vec<WorldId>,
    /// What each client holds; a world refers to resources by their index in `resources`.
    pub worlds: Vec<World>,
    /// Findings that are not shown; empty unless somebody asked for them.
    pub withheld: Withheld,
}

impl CheckOutcome {
    /// Adds a finding at the start of a document.
    fn add_at_start(&mut self, source: SourceId, diagnostic: Diagnostic) {
        let span = Span::new(0, 0);
        self.findings.push(Finding {
            source,
            span,
            diagnostic,
        });
    }
}
