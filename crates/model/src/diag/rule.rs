//! What kinds of fault there are: [`Rule`], declared with `rules!` beside the code that reports it.
//!
//! A rule is declared once. The declaration makes the static and the file's `RULES` slice together,
//! and compiles in the rule's page `pages/<id>.md` of its crate, so a rule without a page does not
//! build.

use std::fmt;

use crate::profile::Family;

words! {
    /// What the client does about a fault.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Effect {
        /// The client rejects the resource.
        Nack = "nack",
        /// The resource is accepted, but then RPCs fail, the channel breaks, or the client crashes.
        Fails = "fails",
        /// The resource is accepted, but an access rule of a server is not applied: it lets in
        /// requests that it should deny.
        Open = "open",
        /// A gRFC demands a rejection that this client does not make; other clients may.
        Spec = "spec",
        /// An element is silently lost.
        Dropped = "dropped",
        /// A field is set that gRPC never reads.
        Ignored = "ignored",
        /// The resource is legal, but probably not what was meant.
        Advice = "advice",
    }

    /// Returns the word used in reports and JSON.
    fn name
}

impl Effect {
    /// Returns the severity of a rule that does not set its own.
    pub const fn severity(self) -> Severity {
        match self {
            Effect::Nack | Effect::Fails | Effect::Open | Effect::Spec => Severity::Error,
            Effect::Dropped | Effect::Advice => Severity::Warning,
            Effect::Ignored => Severity::Note,
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

words! {
    /// How loud a finding is. Severities are ordered, so `>=` compares with a threshold.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Severity {
        /// The finding is worth knowing.
        Note = "note",
        /// The configuration is probably wrong.
        Warning = "warning",
        /// The configuration is wrong: the resource is rejected or traffic fails.
        Error = "error",
    }

    /// Returns the word used in reports, JSON and flags.
    fn name
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

words! {
    /// What a rule is about. This decides the group in `explain --list`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Subject {
        /// The document or its framing: files, DiscoveryResponses, names.
        Dump = "dump",
        /// Any resource: Any, Duration, wire format.
        Common = "common",
        /// `envoy.config.listener.v3.Listener`.
        Listener = "listener",
        /// `envoy.config.route.v3.RouteConfiguration`.
        RouteConfiguration = "route-configuration",
        /// `envoy.config.cluster.v3.Cluster`.
        Cluster = "cluster",
        /// `envoy.config.endpoint.v3.ClusterLoadAssignment`.
        Endpoints = "endpoints",
        /// HTTP filters.
        Filter = "filter",
        /// LB policies.
        Lb = "lb-policy",
        /// TLS contexts.
        Tls = "tls",
        /// The gRPC bootstrap file.
        Bootstrap = "bootstrap",
        /// Several resources together.
        Snapshot = "snapshot",
    }

    /// Returns the word used in lists.
    fn name
}

/// One kind of fault.
#[derive(Debug)]
pub struct Rule {
    /// The name in kebab case, never reused: `eds-endpoint-weight-zero`.
    pub id: &'static str,
    /// One sentence, from the doc comment of the declaration.
    pub summary: &'static str,
    /// What the rule is about.
    pub subject: Subject,
    /// What the client does about the fault.
    pub effect: Effect,
    /// How loud a finding is, unless the user says otherwise.
    pub severity: Severity,
    /// Where the behaviour comes from: gRFC and section, client file and function.
    pub source: &'static str,
    /// The Markdown page that `explain` prints.
    pub page: &'static str,
    /// The other families for which a finding of C-core holds too.
    pub shared: SharedBy,
}

/// Families for which a finding holds without running their converter.
#[derive(Debug, Clone, Copy)]
pub struct SharedBy {
    /// The finding holds for a client of these families if it accepts the resource, and for no
    /// client of another.
    pub families: &'static [Family],
    /// Why it holds; empty if `families` is.
    pub why: &'static str,
}

impl Rule {
    /// Returns how loud a finding with this effect is.
    pub fn severity_of(&self, effect: Effect) -> Severity {
        if effect == self.effect {
            self.severity
        } else {
            effect.severity()
        }
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

/// Declares the rules of a file: the statics and the slice `RULES` that `catalogue` lists.
///
/// ```text
/// rules! {
///     /// An endpoint's load_balancing_weight is 0.
///     ENDPOINT_WEIGHT_ZERO = "eds-endpoint-weight-zero", Endpoints, Nack, "gRFC A42; xds_endpoint_parser.cc";
///     /// ...
///     OTHER = "eds-other", Endpoints, Ignored as Warning, "...";   // with a severity of its own
///     /// ...
///     EMPTY = "eds-empty", Endpoints, Fails, "...", every "nobody can send an RPC to nothing";   // true of every client
///     /// ...
///     UPPER = "upper", Common, Advice, "...", also [Go] "Go compares bytes";                     // true of Go as well
/// }
/// ```
///
/// A rule marked `every`, or `also` with some families, is reported for these clients too when
/// C-core's converter or a lint finds it. The text says why their own converters need not be asked.
#[macro_export]
macro_rules! rules {
    (@severity $effect:ident) => { $crate::diag::Effect::$effect.severity() };
    (@severity $effect:ident $severity:ident) => { $crate::diag::Severity::$severity };
    (@shared) => { $crate::diag::SharedBy { families: &[], why: "" } };
    (@shared every $why:literal) => { $crate::diag::SharedBy { families: &$crate::profile::Family::ALL, why: $why } };
    (@shared also [$($family:ident)+] $why:literal) => {
        $crate::diag::SharedBy { families: &[$($crate::profile::Family::$family),+], why: $why }
    };
    ($( $(#[doc = $doc:literal])+ $name:ident = $id:literal, $subject:ident, $effect:ident $(as $severity:ident)?, $source:literal $(, $word:ident $([$($family:ident)+])? $why:literal)?; )+) => {
        $(
            $(#[doc = $doc])+
            pub static $name: $crate::diag::Rule = $crate::diag::Rule {
                id: $id,
                summary: concat!($($doc),+),
                subject: $crate::diag::Subject::$subject,
                effect: $crate::diag::Effect::$effect,
                severity: $crate::rules!(@severity $effect $($severity)?),
                source: $source,
                page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/pages/", $id, ".md")),
                shared: $crate::rules!(@shared $($word $([$($family)+])? $why)?),
            };
        )+
        /// The rules declared in this file.
        pub static RULES: &[&$crate::diag::Rule] = &[$(&$name),+];
    };
}

/// Rules for tests, which are in no catalogue.
#[cfg(test)]
pub(super) mod examples {
    use super::{Effect, Rule, SharedBy, Subject};

    const fn rule(id: &'static str, effect: Effect) -> Rule {
        Rule {
            id,
            summary: "An example.",
            subject: Subject::Common,
            effect,
            severity: effect.severity(),
            source: "",
            page: "",
            shared: SharedBy { families: &[], why: "" },
        }
    }

    pub static REJECTED: Rule = rule("example-rejected", Effect::Nack);
    pub static IGNORED: Rule = rule("example-ignored", Effect::Ignored);
}
