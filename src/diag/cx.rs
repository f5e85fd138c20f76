//! The context of one validation: the profile, the bootstrap's facts, and the findings so far.

use std::fmt;

use super::{Diagnostic, Effect, Path, Rule};
use crate::profile::{Feature, Profile, ServerFacts};

/// What a converter reads and writes while it validates one resource.
///
/// `report` is cold: on the valid path nothing is allocated.
#[derive(Debug)]
pub struct Cx<'p> {
    profile: &'p Profile,
    server: &'p ServerFacts,
    diagnostics: Vec<Diagnostic>,
    nacks: usize,
    nested: u32,
    plain: bool,
}

/// A point in the list of rejections, to ask later whether something was rejected since.
#[derive(Debug, Clone, Copy)]
pub struct Mark(usize);

impl<'p> Cx<'p> {
    /// Starts a validation.
    pub fn new(profile: &'p Profile, server: &'p ServerFacts) -> Self {
        Cx {
            profile,
            server,
            diagnostics: Vec::new(),
            nacks: 0,
            nested: 0,
            plain: false,
        }
    }

    /// Takes the bytes of the resource for well-formed and without fields that the client never reads, as the loader has
    /// seen them; [`wire::check`](crate::proto::wire::check) is left out then.
    #[must_use]
    pub fn plain(mut self, plain: bool) -> Self {
        self.plain = plain;
        self
    }

    /// See [`plain`](Self::plain).
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Says whether the client has `feature` switched on.
    pub fn has(&self, feature: Feature) -> bool {
        self.profile.has(feature)
    }

    /// The client with its switches.
    pub fn profile(&self) -> &'p Profile {
        self.profile
    }

    /// The facts from the bootstrap.
    pub fn server(&self) -> &'p ServerFacts {
        self.server
    }

    /// Records a finding at `at`.
    ///
    /// Returns it so that a caller can add help or a related place; nothing is recorded twice for the same rule, path
    /// and message (C-core keeps texts in a set).
    #[cold]
    pub fn report(&mut self, rule: &'static Rule, at: &Path<'_>, message: fmt::Arguments<'_>) -> &mut Diagnostic {
        if rule.effect == Effect::Nack {
            self.nacks += 1;
        }
        let index = self.diagnostics.len();
        self.diagnostics.push(Diagnostic {
            rule,
            path: at.to_owned(),
            message: message.to_string(),
            help: None,
            related: Vec::new(),
        });
        &mut self.diagnostics[index]
    }

    /// Runs `step` one level deeper; `None` if there are `limit` levels already.
    ///
    /// For messages that may be packed in each other without end: bytes in an Any count no levels for the parser.
    pub fn nested<R>(&mut self, limit: u32, step: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.nested >= limit {
            return None;
        }
        self.nested += 1;
        let result = step(self);
        self.nested -= 1;
        Some(result)
    }

    /// Remembers how many rejections there are.
    pub fn mark(&self) -> Mark {
        Mark(self.nacks)
    }

    /// Says whether anything was rejected since `mark`.
    pub fn nacked_since(&self, mark: Mark) -> bool {
        self.nacks > mark.0
    }

    /// Says whether the resource is rejected so far.
    pub fn nacked(&self) -> bool {
        self.nacks > 0
    }

    /// Says whether there is no finding yet.
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// The findings so far.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Ends the validation and hands over the findings, in the order in which the client comes across them.
    pub fn finish(self) -> Vec<Diagnostic> {
        self.diagnostics
    }
}
