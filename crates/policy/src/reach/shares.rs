//! Which LB policies decide about the localities of endpoints.

use std::cell::OnceCell;
use std::rc::Rc;

use super::Reach;
use crate::cel::Value;
use crate::site::Held;
use crate::uses::Shared;
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::LbPolicy;
use xdsctl_model::resource::cluster::Discovery;
use xdsctl_model::resource::endpoints::Locality;

impl<'a> Reach<'a> {
    /// Says whether a leaf has the LB policy of the aggregate above it.
    pub(super) fn aggregates_decide(&self) -> bool {
        self.index.profile.has(Feature::AggregateClusterBackwardCompat)
    }

    /// Returns the LB policies that may be directly below the priorities of endpoints, each once.
    pub(super) fn policies_of(&self, held: &Held<'a>) -> Vec<&'a LbPolicy> {
        let mut all: Vec<&'a LbPolicy> = Vec::new();
        for (name, cluster) in self
            .above(held)
            .into_iter()
            .filter_map(|name| Some((name, self.cluster(name)?)))
        {
            let named = self.index.named.get(name);
            let is_first = || named.is_none_or(|named| named.parents.is_empty() || !named.routes.is_empty());
            let decides = match self.aggregates_decide() {
                true => is_first(),
                false => !matches!(cluster.discovery, Discovery::Aggregate { .. }),
            };
            if decides && !all.contains(&&*cluster.lb_policy) {
                all.push(&cluster.lb_policy);
            }
        }
        all
    }

    pub(super) fn shared(&self, localities: &'a [Locality], policies: &[&'a LbPolicy]) -> Rc<Shared<'a>> {
        Rc::new(Shared {
            localities,
            policies: policies.to_vec(),
            profile: &self.index.profile,
            work: self.work.clone(),
            shares: OnceCell::new(),
        })
    }

    /// Returns the share that a locality gets of the RPCs of its priority.
    pub fn share(&self, held: &Held<'a>, priority: usize, all: &'a [Locality], number: usize) -> Value<'a> {
        let mut last = held.ways.shared.borrow_mut();
        let known = last.take().filter(|(of, _)| *of == priority);
        let (_, shared) = last.insert(known.unwrap_or_else(|| (priority, self.shared(all, &self.policies_of(held)))));
        shared.share(number)
    }
}
