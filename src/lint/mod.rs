//! Advice and failures that only several resources together show: one file per question, each a pass over a world.
//!
//! A lint adds findings to the resource that holds the reference. To add one: a file with its rules and a function
//! `check(&World, &Usage, &mut Findings)`, and a line in [`run`].

mod aggregate;
mod authority;
mod filter_override;
mod other_cluster;
mod outlier;
mod reference;
mod request_hash;
mod session;
mod side;
mod target;
mod unused;
mod usage;
mod users;
mod weight;

use std::collections::BTreeMap;

pub use target::{missing as missing_target, not_api as target_not_api};
pub use usage::Usage;

use crate::client::target::Target;
use crate::client::{ResourceId, World};
use crate::diag::{Diagnostic, FieldPath, Quota, Rule};

/// The rules of all lints.
pub static RULES: &[&[&Rule]] = &[
    aggregate::RULES,
    authority::RULES,
    filter_override::RULES,
    other_cluster::RULES,
    outlier::RULES,
    reference::RULES,
    request_hash::RULES,
    session::RULES,
    target::RULES,
    unused::RULES,
    weight::RULES,
];

/// Says whether a finding of this rule says that nobody uses the resource.
pub fn says_unused(rule: &Rule) -> bool {
    unused::RULES.iter().any(|unused| std::ptr::eq(*unused, rule))
}

/// Findings by resource, in the order in which they were made; of one rule and resource as many as anybody reads.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<(ResourceId, Diagnostic)>,
    quotas: BTreeMap<ResourceId, Quota>,
    /// Takes what is counted only.
    spare: Option<Diagnostic>,
}

impl Findings {
    /// Adds a finding on `resource`.
    pub fn add(
        &mut self,
        resource: ResourceId,
        rule: &'static Rule,
        path: FieldPath,
        message: String,
    ) -> &mut Diagnostic {
        let diagnostic = Diagnostic {
            path,
            ..Diagnostic::of_whole(rule, message)
        };
        if !self.quotas.entry(resource).or_default().admits(rule) {
            return self.spare.insert(diagnostic);
        }
        let index = self.list.len();
        self.list.push((resource, diagnostic));
        &mut self.list[index].1
    }

    /// All of them, with one for each rule and resource that says how many are not there.
    fn finish(mut self) -> Vec<(ResourceId, Diagnostic)> {
        for (resource, quota) in &self.quotas {
            self.list.extend(quota.closing().map(|closing| (*resource, closing)));
        }
        self.list
    }
}

/// Runs every lint over a world.
///
/// `target` is that of a channel whose listener is in the world. The world then counts as whole: what is not in it is missing. If it
/// `is_complete`, nothing else will ever come.
pub fn run(world: &World, usage: &Usage, target: Option<&Target>, is_complete: bool) -> Vec<(ResourceId, Diagnostic)> {
    let mut findings = Findings::default();
    reference::check(world, target, is_complete, &mut findings);
    aggregate::check(world, usage, &mut findings);
    other_cluster::check(world, usage, &mut findings);
    authority::check(world, target, &mut findings);
    if let Some(target) = target {
        target::check(world, target, &mut findings);
    }
    let users = users::Users::of(world);
    side::check(world, &users, &mut findings);
    filter_override::check(&users, &mut findings);
    session::check(world, &users, &mut findings);
    request_hash::check(world, usage, &users, &mut findings);
    weight::check(world, &mut findings);
    outlier::check(world, &mut findings);
    unused::check(world, usage, &users, &mut findings);
    findings.finish()
}
