//! Whether two rejections have the same reason. One may be in the words of a live client, the other
//! in xdsctl's.

use std::collections::BTreeSet;

use crate::recognise::{self, Recognised};
use xdsctl_channel::client::{HeldResource, RejectionFault, ResourceKind};

/// Longest error text of a client that is searched for faults; searching takes longer than reading.
pub const MAX_REASON_BYTES: usize = 256 << 10;

/// Says whether both resources are rejected for the same reason, that is, for the same faults. If a
/// live client gives only an error text, the text must lead to these faults.
pub(super) fn is_same<T: ResourceKind>(one: &HeldResource<T>, other: &HeldResource<T>) -> bool {
    let (Some(why), Some(other_why)) = (one.rejected(), other.rejected()) else {
        return false;
    };
    match (one.faults(), other.faults()) {
        _ if why == other_why => true,
        ([], _) | (_, []) if why.len().max(other_why.len()) > MAX_REASON_BYTES => false,
        ([], []) => is_same_line(&recognise::recognised(why), &recognise::recognised(other_why)),
        ([], faults) => leads_to(&recognise::recognised(why), faults),
        (faults, []) => leads_to(&recognise::recognised(other_why), faults),
        (faults, others) => faults == others,
    }
}

/// Says whether two clients report the same, whatever surrounds it, such as the number of the
/// resource in its response.
fn is_same_line(one: &[Recognised], other: &[Recognised]) -> bool {
    let said = |told: &[Recognised]| -> BTreeSet<(Option<String>, String)> {
        told.iter()
            .map(|told| (told.path.clone(), told.words.clone()))
            .collect()
    };
    !one.is_empty() && said(one) == said(other)
}

/// Says whether a client's error text reports all of these faults and no others.
fn leads_to(told: &[Recognised], faults: &[RejectionFault]) -> bool {
    let is_about = |told: &Recognised, fault: &RejectionFault| match &told.path {
        // The words may be on no rule's page; then the path is enough.
        Some(path) => *path == fault.path && (told.pages.is_empty() || told.leads_to(fault.rule)),
        None => told.leads_to(fault.rule),
    };
    !told.is_empty()
        && told.iter().all(|told| faults.iter().any(|fault| is_about(told, fault)))
        && faults.iter().all(|fault| told.iter().any(|told| is_about(told, fault)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(rule: &'static str, path: &str) -> RejectionFault {
        RejectionFault {
            rule,
            path: path.to_owned(),
            message: String::new(),
        }
    }

    #[test]
    fn the_words_of_a_client_are_those_of_its_faults() {
        let line = |errors: &str| {
            recognise::recognised(&format!(
                "invalid resource: resource index 3: a: INVALID_ARGUMENT: errors validating Cluster resource: [{errors}]"
            ))
        };
        let policy = "field:lb_policy error:LB policy is not supported";
        let faults = [fault("cds-lb-policy-unsupported", "lb_policy")];
        assert!(leads_to(&line(policy), &faults));
        // Another field, another rule for this field, one fault more or one fault less makes
        // another reason.
        assert!(!leads_to(&line("field:type error:unknown discovery type"), &faults));
        assert!(!leads_to(
            &line(policy),
            &[fault("cds-cluster-type-unknown", "lb_policy")]
        ));
        assert!(!leads_to(
            &line(&format!("{policy}; field:connect_timeout error:x")),
            &faults
        ));
        assert!(!leads_to(&line(policy), &[faults[0].clone(), fault("cds-x", "type")]));
        assert!(!leads_to(&recognise::recognised("nothing is known of this"), &faults));
        assert!(is_same_line(
            &line(policy),
            &recognise::recognised(&format!("resource index 0: a: [{policy}]"))
        ));
        assert!(!is_same_line(
            &line(policy),
            &line("field:type error:unknown discovery type")
        ));
    }
}
