//! What a cluster's LB policy looks at: weights of localities and endpoints, the request hash.
//!
//! Read off the LB config that the client generates for the cluster. A policy of which nothing is said here counts as
//! one that may look at everything.

use serde_json::Value;

use xdsctl_lb::{cds, pick_first, ring_hash, rls, round_robin, weighted_round_robin, wrr_locality};

/// A policy that picks endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyKind {
    /// `pick_first`.
    PickFirst,
    /// `round_robin`.
    RoundRobin,
    /// `weighted_round_robin`: weights come from load reports.
    WeightedRoundRobin,
    /// `ring_hash_experimental`.
    RingHash,
    /// Any other.
    Other,
}

/// What is known of a cluster's LB policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyFacts {
    /// The policy that picks endpoints.
    pub kind: PolicyKind,
    /// It picks inside a locality, which `xds_wrr_locality_experimental` picks by weight.
    pub in_wrr_locality: bool,
    /// `ring_hash_experimental` that may take its hash from a header of its own.
    pub has_hash_header: bool,
    /// C-core passes over an entry of its lists, which another client may take.
    pub passes_over: bool,
}

impl PolicyFacts {
    /// Reads `[{"<policy>": {...}}]`.
    pub fn of(config: &Value) -> PolicyFacts {
        let (name, inner) = entry(config).unwrap_or(("", &Value::Null));
        let child = (name == wrr_locality::NAME)
            .then(|| inner.get("childPolicy").and_then(entry))
            .flatten();
        let (name, inner) = child.unwrap_or((name, inner));
        let kind = match name {
            pick_first::NAME => PolicyKind::PickFirst,
            round_robin::NAME => PolicyKind::RoundRobin,
            weighted_round_robin::NAME => PolicyKind::WeightedRoundRobin,
            ring_hash::NAME => PolicyKind::RingHash,
            _ => PolicyKind::Other,
        };
        PolicyFacts {
            kind,
            in_wrr_locality: child.is_some(),
            has_hash_header: kind == PolicyKind::RingHash && inner.get("requestHashHeader").is_some(),
            passes_over: false,
        }
    }

    /// Says whether the policy does not look at the request's hash for certain.
    pub fn ignores_hash(self) -> bool {
        match self.kind {
            PolicyKind::PickFirst | PolicyKind::RoundRobin | PolicyKind::WeightedRoundRobin => true,
            PolicyKind::RingHash | PolicyKind::Other => false,
        }
    }

    /// Says whether every pick needs the request's hash.
    pub fn needs_hash(self) -> bool {
        self.kind == PolicyKind::RingHash && !self.in_wrr_locality && !self.has_hash_header
    }
}

/// The name and config of a list's only policy; lists of several are none of ours.
fn entry(config: &Value) -> Option<(&str, &Value)> {
    match config.as_array()?.as_slice() {
        [Value::Object(policy)] if policy.len() == 1 => {
            policy.iter().next().map(|(name, inner)| (name.as_str(), inner))
        }
        _ => None,
    }
}

/// The clusters that policies inside name themselves: those of `cds_experimental`.
///
/// What lookups lead to is not among them.
pub(super) fn clusters(config: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open = vec![config];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(list) => open.extend(list),
            Value::Object(fields) => {
                found.extend(fields.get(cds::NAME).and_then(|cds| cds.get("cluster")?.as_str()));
                let is_lookup = |name: &String| *name == rls::NAME;
                open.extend(
                    fields
                        .iter()
                        .filter(|(name, _)| !is_lookup(name))
                        .map(|(_, inner)| inner),
                );
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_endpoint_policy_is_the_one_below_wrr_locality() {
        let facts =
            PolicyFacts::of(&json!([{"xds_wrr_locality_experimental": {"childPolicy": [{"round_robin": {}}]}}]));
        assert_eq!((facts.kind, facts.in_wrr_locality), (PolicyKind::RoundRobin, true));
        let facts = PolicyFacts::of(&json!([{"ring_hash_experimental": {"minRingSize": 1}}]));
        assert!(facts.needs_hash());
        let facts = PolicyFacts::of(&json!([{"ring_hash_experimental": {"requestHashHeader": "x"}}]));
        assert!(!facts.needs_hash() && !facts.ignores_hash());
    }

    #[test]
    fn an_unknown_policy_may_look_at_everything() {
        for config in [
            json!([]),
            json!([{"a": {}}, {"round_robin": {}}]),
            json!([{"outlier_detection_experimental": {}}]),
        ] {
            let facts = PolicyFacts::of(&config);
            assert_eq!(facts.kind, PolicyKind::Other);
            assert!(!facts.needs_hash() && !facts.ignores_hash());
        }
    }
}
