//! The families of clients: each has its own file here with all that is known about it.
//!
//! To add a family, write a file with its [`FamilyFacts`] and add its two lines to this file. The
//! compiler then points to the few places in other crates that list the families, which
//! `docs/architecture.md` names.

mod core;
mod go;
mod java;
mod node;
mod rust;

use std::fmt;

use super::defect::{Defect, DefectTrigger};
use super::feature::Feature;
use super::history::FeatureChange;
use super::version::Version;

macro_rules! families {
    ($($(#[doc = $doc:literal])+ $name:ident is $file:ident;)+) => {
        /// An implementation of gRPC's xDS client.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Family { $( $(#[doc = $doc])+ $name, )+ }

        impl Family {
            /// All families.
            pub const ALL: [Family; [$(Family::$name),+].len()] = [$(Family::$name),+];

            /// Returns what is known about the family.
            pub(super) const fn facts(self) -> &'static FamilyFacts {
                match self { $(Family::$name => &$file::FACTS),+ }
            }
        }
    };
}

families! {
    /// C-core, also inside of Python, Ruby, PHP, Objective-C and the old C#.
    Cpp is core;
    /// grpc-go.
    Go is go;
    /// grpc-java.
    Java is java;
    /// grpc-js-xds.
    Node is node;
    /// tonic-xds.
    Rust is rust;
}

/// What is known about a family.
pub(super) struct FamilyFacts {
    /// The word for the family in arguments, reports and JSON.
    pub name: &'static str,
    /// Other words that arguments may use for the family.
    pub aliases: &'static [&'static str],
    /// The project's own name.
    pub project: &'static str,
    /// What the client calls itself in `user_agent_name`, by version; more may follow after a
    /// space.
    pub user_agents: &'static [&'static str],
    /// Parses `user_agent_version`; returns several versions if it does not tell patch releases
    /// apart.
    pub of_user_agent: fn(&str) -> Vec<Version>,
    /// The measured versions, oldest first: one of each minor release, and patch releases that
    /// behave differently.
    pub measured: &'static [Version],
    /// The versions whose RPCs were measured too, oldest first.
    pub picked: &'static [Version],
    /// How the family was measured.
    pub measurement: Measurement,
    /// What this family alone writes around its words in a log, in lower case and without white
    /// space.
    pub log_marks: &'static str,
    /// The languages whose gRPC is a layer over the family.
    pub wrappers: &'static [Wrapper],
    /// Other names of variables that the client accepts, and the variables that they stand for.
    pub properties: &'static [(&'static str, &'static str)],
    /// The switches whose effect is not known here.
    pub unmodelled: &'static [Unmodelled],
    /// The known defects of the family's versions.
    pub defects: &'static [Defect],
    /// Reads the value of a feature's variable, with the feature's default.
    pub read_switch: fn(&str, Feature, bool) -> bool,
    /// What each version did with features, oldest first. If a feature may be older than the oldest
    /// version that was measured, it is listed at that version.
    pub changes: &'static [(Version, FeatureChange, Feature)],
}

/// How a family was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measurement {
    /// How the client was asked.
    pub with: &'static str,
    /// Resources that its newest version was asked about (`fixtures/clients`).
    pub resources: u32,
}

/// A language whose gRPC is a layer over a family.
pub(super) struct Wrapper {
    pub name: &'static str,
    /// The major number of its releases; their minor and patch numbers are the client's.
    pub major: u16,
    /// The last release, if it has ended.
    pub last: Option<Version>,
}

/// A switch whose effect is not known here, and the versions that have it.
pub(super) struct Unmodelled {
    pub name: &'static str,
    pub from: Version,
    /// The version that no longer has it.
    pub until: Option<Version>,
}

/// Writes a list of versions.
macro_rules! versions {
    ($($version:literal)+) => { &[$(super::Version::literal($version)),+] };
}

/// Writes what each version did with features; see [`FeatureChange`].
macro_rules! changes {
    (@off) => { super::FeatureChange::Off };
    (@on) => { super::FeatureChange::On };
    (@always) => { super::FeatureChange::Always };
    (@gone) => { super::FeatureChange::Gone };
    ($($version:literal $change:ident $($feature:ident)+;)+) => {
        &[$($((super::Version::literal($version), changes!(@$change), super::Feature::$feature),)+)+]
    };
}

/// Writes a list of switches. If a switch may be older than the oldest version that was read, it is
/// listed at that version.
macro_rules! unmodelled {
    (@until $until:literal) => { Some(super::Version::literal($until)) };
    (@until) => { None };
    ($($name:ident $from:literal $(until $until:literal)?;)+) => {
        &[$(super::Unmodelled {
            name: stringify!($name),
            from: super::Version::literal($from),
            until: unmodelled!(@until $($until)?),
        }),+]
    };
}

/// Writes a list of known defects. Each has the trigger, the first version that has the defect, the
/// first that no longer has it, what the client does, the source, and `fatal` if it is fatal.
macro_rules! defects {
    (@fatal) => { false };
    (@fatal fatal) => { true };
    (@version) => { None };
    (@version $version:literal) => { Some(super::Version::literal($version)) };
    ($($trigger:ident $(since $since:literal)? $(until $until:literal)?: $what:literal, $source:literal $(, $fatal:ident)?;)*) => {
        &[$(super::Defect {
            since: defects!(@version $($since)?),
            until: defects!(@version $($until)?),
            trigger: super::DefectTrigger::$trigger,
            what: $what,
            source: $source,
            is_fatal: defects!(@fatal $($fatal)?),
        }),*]
    };
}

use {changes, defects, unmodelled, versions};

impl Family {
    /// The family of the reference client.
    pub const REFERENCE: Family = Family::Cpp;

    /// Returns the word for the family in arguments, reports and JSON.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns what this family alone writes around its words in a log, in lower case and without
    /// white space.
    pub const fn log_marks(self) -> &'static str {
        self.facts().log_marks
    }

    /// Returns the project's own name.
    pub const fn project(self) -> &'static str {
        self.facts().project
    }

    /// Returns the measured versions, oldest first: one of each minor release, and patch releases
    /// that behave differently.
    pub const fn measured(self) -> &'static [Version] {
        self.facts().measured
    }

    /// Returns the versions whose RPCs were measured too (`fixtures/clients`), oldest first. All
    /// versions between two of them behave the same.
    pub const fn picked(self) -> &'static [Version] {
        self.facts().picked
    }

    /// Returns how the family was measured.
    pub const fn measurement(self) -> Measurement {
        self.facts().measurement
    }

    /// Returns the newest version that was measured.
    pub const fn newest(self) -> Version {
        match self.measured().last() {
            Some(version) => *version,
            None => Version::new(0, 0, 0),
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
