//! The families of clients: what is known of each stands in its own file here, and nothing else lists them.
//!
//! A new family is a file with its [`FamilyFacts`] and its two lines in this one.

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
            /// All of them.
            pub const ALL: [Family; [$(Family::$name),+].len()] = [$(Family::$name),+];

            /// What is known of it.
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

/// What is known of a family.
pub(super) struct FamilyFacts {
    /// The word used in arguments, reports and JSON.
    pub name: &'static str,
    /// Other words that arguments may have for it.
    pub aliases: &'static [&'static str],
    /// The project's own name.
    pub project: &'static str,
    /// What the client calls itself in `user_agent_name`, by version; more may follow after a space.
    pub user_agents: &'static [&'static str],
    /// Parses `user_agent_version`; several versions if it does not tell the patch release.
    pub of_user_agent: fn(&str) -> Vec<Version>,
    /// The measured versions, oldest first: one of each minor release, and patch releases that
    /// behave differently.
    pub measured: &'static [Version],
    /// The versions whose RPCs were measured too, oldest first.
    pub picked: &'static [Version],
    /// How it was measured.
    pub measurement: Measurement,
    /// What it alone writes around its words in a log; in lower case, without white space.
    pub log_marks: &'static str,
    /// Languages whose gRPC is a layer over it.
    pub wrappers: &'static [Wrapper],
    /// Other names of variables that the client takes, and the variables that they stand for.
    pub properties: &'static [(&'static str, &'static str)],
    /// Switches of which it is not known here what they change.
    pub unmodelled: &'static [Unmodelled],
    /// Known defects of its versions.
    pub defects: &'static [Defect],
    /// Reads the value of a feature's variable, with the feature's default.
    pub read_switch: fn(&str, Feature, bool) -> bool,
    /// What each version did with features, oldest first. The oldest version that was asked stands where a feature may be older.
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
    /// Its releases have the minor and patch of the client in them, and this major.
    pub major: u16,
    /// The last release, if it has ended.
    pub last: Option<Version>,
}

/// A switch of which it is not known here what it changes, and the versions that have it.
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

/// Writes a list of switches; the oldest version that was read stands where a switch may be older.
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

/// Writes known defects, one each: the trigger, the first version that has it, the first that no longer has it, what the client does, the
/// source, `fatal` if it is.
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

    /// The word used in arguments, reports and JSON.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// What it alone writes around its words in a log; in lower case, without white space.
    pub const fn log_marks(self) -> &'static str {
        self.facts().log_marks
    }

    /// The project's own name.
    pub const fn project(self) -> &'static str {
        self.facts().project
    }

    /// The measured versions, oldest first: one of each minor release, and patch releases that
    /// behave differently.
    pub const fn measured(self) -> &'static [Version] {
        self.facts().measured
    }

    /// The versions whose RPCs were measured too (`fixtures/clients`), oldest first. All versions
    /// between two of them behave the same.
    pub const fn picked(self) -> &'static [Version] {
        self.facts().picked
    }

    /// How it was measured.
    pub const fn measurement(self) -> Measurement {
        self.facts().measurement
    }

    /// The newest version that was asked.
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
