//! Policies in overrides of a RouteConfiguration that nobody can meet, because every filter chain
//! that uses it is plaintext (gRFCs A29, A41).
//!
//! Policies of routes inside the Listener are checked with the Listener (`lds-policy-never-met`).

use super::Findings;
use super::users::Users;
use xdsctl_model::diag::rules;

rules! {
    /// A policy in an override asks for an authenticated client, and no filter chain that uses the routes has TLS.
    OVERRIDE_NEVER_MET = "rds-policy-never-met", Snapshot, Advice, "gRFC A41; C-core AuthenticatedAuthorizationMatcher",
        every "in each nobody is authenticated without TLS, but in Node, whose servers do not apply overrides";
}

pub(super) fn check(users: &Users<'_>, findings: &mut Findings) {
    if users.has_rejected {
        return;
    }
    for routes in users.routes.iter().filter(|routes| !routes.inline) {
        if !routes.users.iter().all(|user| user.is_plaintext) {
            continue;
        }
        for (entry, policy) in &routes.facts.needing_tls {
            let message = format!(
                "policy `{policy}` never matches: no filter chain that uses the routes has TLS, so nobody is authenticated"
            );
            findings.add(routes.holder, &OVERRIDE_NEVER_MET, entry.path(false), message);
        }
    }
}
