//! Advice and failures that show only when several resources are seen together. There is one file
//! per question, each with a pass over a world.
//!
//! A lint adds its findings to the resource that holds the reference. To add a lint, write a file
//! with its rules and a function `check`, which takes the world, what else it asks about, and the
//! findings. Add the rules to [`RULES`], and call the function in [`run`].

mod aggregate;
mod authority;
mod defects;
mod filter_override;
mod other_cluster;
mod outlier;
mod plaintext;
mod reference;
mod request_hash;
mod server;
mod session;
mod side;
mod target;
mod unused;
mod usage;
mod users;
mod weight;

use std::collections::BTreeMap;

pub use server::{missing as missing_server_listener, near as near_server_listener};
pub use target::{missing as missing_target, not_api as target_not_api};
pub use usage::Usage;

use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{ResourceId, World};
use xdsctl_model::diag::{Diagnostic, FieldPath, Quota, Rule};
use xdsctl_model::profile::{Client, Defect, Family, Feature};

/// The rules of all lints.
pub static RULES: &[&[&Rule]] = &[
    aggregate::RULES,
    authority::RULES,
    defects::RULES,
    filter_override::RULES,
    other_cluster::RULES,
    outlier::RULES,
    plaintext::RULES,
    reference::RULES,
    request_hash::RULES,
    server::RULES,
    session::RULES,
    target::RULES,
    unused::RULES,
    weight::RULES,
];

/// Says whether a finding of this rule means that nobody uses the resource.
pub fn says_unused(rule: &Rule) -> bool {
    unused::RULES.iter().any(|unused| std::ptr::eq(*unused, rule))
}

/// The clients other than the base for which a finding holds that the base does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The clients of these families.
    Families(&'static [Family]),
    /// The clients of these families that reject this resource.
    Rejecting(ResourceId, &'static [Family]),
    /// The clients of this family that have this defect.
    Having(Family, &'static Defect),
    /// The clients of this family that have this feature.
    With(Family, Feature),
    /// The clients that already have a finding of the same rule. This finding says how many more
    /// there are.
    WithRule,
}

/// The findings that the resources of a world show together.
#[derive(Debug, Default)]
pub struct WorldFindings {
    /// Findings of the base client. Each also names the families that share it.
    pub of_base: Vec<(ResourceId, Diagnostic)>,
    /// Findings that the base does not have, each with the clients for which it holds.
    pub of_others: Vec<(ResourceId, Diagnostic, Who)>,
}

impl Who {
    /// Says whether a client is meant, as far as that does not depend on the resources.
    pub fn is_client(self, client: Client) -> bool {
        match self {
            Who::Families(families) => families.contains(&client.family),
            Who::Having(family, defect) => client.family == family && defect.is_in(client.version),
            Who::With(family, feature) => client.family == family && feature.is_default_on(client),
            Who::Rejecting(..) | Who::WithRule => false,
        }
    }
}

/// The rules whose findings in a client's own world hold for every family. A finding in C-core's
/// world still says nothing about other families.
static OF_ANY_WORLD: &[&Rule] = &[
    &reference::REFERENCE_TO_REJECTED,
    &reference::REFERENCE_NOT_ASKED_FOR,
    &unused::CLUSTER_UNUSED,
    &xdsctl_clients::core::http_connection_manager::ROUTE_FOR_OTHER_SIDE,
];

impl WorldFindings {
    /// Removes what does not hold for the base from its findings, and adds what holds for its
    /// family or version only.
    ///
    /// All findings of `of_base` hold for C-core. For another client, a finding in its own world
    /// holds if the finding or its rule says so.
    pub fn keep_for(&mut self, base: Client) {
        if base.family != Family::REFERENCE {
            self.of_base.retain(|(_, diagnostic)| {
                diagnostic.shared.contains(&base.family) || OF_ANY_WORLD.contains(&diagnostic.rule)
            });
        }
        // Rejections by the base itself are already among its own findings.
        let own = self.of_others.iter().filter(|(_, _, who)| who.is_client(base));
        let own: Vec<(ResourceId, Diagnostic)> = own.map(|(id, diagnostic, _)| (*id, diagnostic.clone())).collect();
        self.of_base.extend(own);
    }
}

/// The questions that lints answer about a world.
#[derive(Clone, Copy)]
pub struct WorldQuestion<'a> {
    /// The target of a channel whose listener is in the world. The world then counts as complete: a
    /// resource that is not in it is missing.
    pub target: Option<&'a Target>,
    /// A server whose listener is in the world, which then counts as complete.
    pub server: Option<&'a ListeningServer>,
    /// Whether the input is complete (`--complete`).
    pub is_complete: bool,
    /// The clients that get the findings of this world: the base, and those without worlds of their
    /// own.
    pub clients: &'a [Client],
    /// Says whether a client other than the base rejects a resource.
    pub others_reject: &'a dyn Fn(ResourceId) -> bool,
}

/// Findings by resource, in the order in which they were made. For each rule and resource, their
/// number is limited.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<(ResourceId, Diagnostic)>,
    of_others: Vec<(ResourceId, Diagnostic, Who)>,
    quotas: BTreeMap<ResourceId, Quota>,
    quotas_of_others: BTreeMap<ResourceId, Quota>,
    /// Holds a finding above the limit, which is only counted.
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

    /// Adds a finding on `resource` that the base does not have.
    pub fn add_for(&mut self, who: Who, resource: ResourceId, diagnostic: Diagnostic) {
        let quota = self.quotas_of_others.entry(resource).or_default();
        if quota.admits(diagnostic.rule) {
            self.of_others.push((resource, diagnostic, who));
        }
    }

    /// Returns all findings. For each rule and resource above the limit, a last finding says how
    /// many are missing.
    fn finish(mut self) -> WorldFindings {
        for (resource, quota) in &self.quotas {
            self.list.extend(quota.closing().map(|closing| (*resource, closing)));
        }
        for (resource, quota) in &self.quotas_of_others {
            let closing = quota.closing();
            self.of_others
                .extend(closing.map(|closing| (*resource, closing, Who::WithRule)));
        }
        WorldFindings {
            of_base: self.list,
            of_others: self.of_others,
        }
    }
}

/// Runs every lint on a world.
pub fn run(world: &World, usage: &Usage, asked: WorldQuestion<'_>) -> WorldFindings {
    let target = asked.target;
    let mut findings = Findings::default();
    reference::check(world, asked, &mut findings);
    aggregate::check(world, usage, &mut findings);
    other_cluster::check(world, usage, &mut findings);
    authority::check(world, target, &mut findings);
    if let Some(target) = target {
        target::check(world, target, &mut findings);
    }
    if let Some(server) = asked.server {
        server::check(world, server, asked.clients, &mut findings);
    }
    let users = users::Users::of(world);
    side::check(world, &users, &mut findings);
    filter_override::check(&users, &mut findings);
    plaintext::check(&users, &mut findings);
    session::check(world, &users, &mut findings);
    request_hash::check(world, usage, &users, &mut findings);
    weight::check(world, &mut findings);
    outlier::check(world, &mut findings);
    unused::check(world, usage, &users, &mut findings);
    defects::check(world, usage, asked, &mut findings);
    findings.finish()
}
