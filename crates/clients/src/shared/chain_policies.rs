//! RBAC policies of a filter chain, also in overrides of its routes, that none of the chain's
//! connections can meet (A29, A41).

use std::collections::BTreeMap;

use crate::shared::names::{HCM, RBAC};
use crate::shared::reach::{KnownConnection, may_match};
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::resource::filter::{FilterConfig, FilterOverride};
use xdsctl_model::resource::listener::{FilterChain, RouteSource, TcpListener};
use xdsctl_model::resource::rbac::{RbacAction, RbacPolicy};
use xdsctl_model::resource::tls::{CaCerts, DownstreamTlsContext};

rules! {
    /// A policy asks for what no connection of its filter chain has.
    POLICY_NEVER_MET = "lds-policy-never-met", Listener, Advice, "gRFC A41; C-core AuthenticatedAuthorizationMatcher, PortAuthorizationMatcher",
        also [Go Java] "in each nobody is authenticated without TLS, and a server has one port";
}

/// Checks the filters of the chain at `at`, whose server has this address.
pub fn check(chain: Option<&FilterChain>, address: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(chain) = chain else { return };
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let known = KnownConnection {
        is_plaintext: chain.tls.is_none(),
        is_without_certificate: chain
            .tls
            .as_ref()
            .is_some_and(|tls| tls.common.ca_certs == CaCerts::None),
        // Port 0 stands for any port.
        port: port.filter(|port| *port != 0),
    };
    report(chain, known, at, cx);
}

/// Checks the chains that do not require a client certificate, for a server that asks for one only
/// if it requires it.
pub(crate) fn check_unasked(listener: &TcpListener, cx: &mut Validation<'_>) {
    let chains_at = Path::ROOT.field("filter_chains");
    for (index, chain) in listener.used_chains() {
        let is_unasked =
            |tls: &DownstreamTlsContext| !tls.require_client_certificate && tls.common.ca_certs != CaCerts::None;
        if !chain.tls.as_ref().is_some_and(is_unasked) {
            continue;
        }
        let known = KnownConnection {
            is_without_certificate: true,
            ..KnownConnection::default()
        };
        match index {
            Some(index) => report(chain, known, &chains_at.index(index), cx),
            None => report(chain, known, &Path::ROOT.field("default_filter_chain"), cx),
        }
    }
}

/// Reports the policies of the chain at `at` that no connection with these known facts can meet.
fn report(chain: &FilterChain, known: KnownConnection, at: &Path<'_>, cx: &mut Validation<'_>) {
    let filters_at = at.field("filters");
    // An HttpConnectionManager is the only network filter that there may be.
    let first_at = filters_at.index(0);
    let config_at = first_at.field("typed_config");
    let manager_at = config_at.value(HCM);
    let http_filters_at = manager_at.field("http_filters");
    for filter in chain
        .http_connection_manager
        .http_filters
        .iter()
        .filter(|filter| !filter.disabled)
    {
        let Some(rules) = filter.config.rbac_rules() else {
            continue;
        };
        let filter_at = http_filters_at.index(filter.index);
        let config_at = filter_at.field("typed_config");
        let rbac_at = config_at.value(RBAC);
        let rules_at = rbac_at.field("rules");
        let policies_at = rules_at.field("policies");
        for (name, policy) in &rules.policies {
            if let Some(why) = why_never(policy, known) {
                let message = format_args!("the policy never matches and {}: {why}", end(rules.action));
                cx.report(&POLICY_NEVER_MET, &policies_at.key(name), message);
            }
        }
    }
    if let RouteSource::Inline(routes) = &chain.http_connection_manager.routes {
        let routes_at = manager_at.field("route_config");
        let hosts_at = routes_at.field("virtual_hosts");
        for host in &routes.virtual_hosts {
            let host_at = hosts_at.index(host.index);
            overrides(&host.typed_per_filter_config, known, &host_at, cx);
            let routes_at = host_at.field("routes");
            for route in &host.routes {
                overrides(&route.typed_per_filter_config, known, &routes_at.index(route.index), cx);
            }
        }
    }
}

/// Checks the overrides of a virtual host or a route at `at`.
fn overrides(map: &BTreeMap<String, FilterOverride>, known: KnownConnection, at: &Path<'_>, cx: &mut Validation<'_>) {
    let at = at.field("typed_per_filter_config");
    for (filter, entry) in map.iter().filter(|(_, entry)| !entry.disabled) {
        let Some(rules) = entry.config.as_deref().and_then(FilterConfig::rbac_rules) else {
            continue;
        };
        for (name, policy) in &rules.policies {
            if let Some(why) = why_never(policy, known) {
                let message = format_args!("policy `{name}` never matches and {}: {why}", end(rules.action));
                cx.report(&POLICY_NEVER_MET, &at.key(filter), message);
            }
        }
    }
}

/// Says what a policy that never matches does.
const fn end(action: RbacAction) -> &'static str {
    match action {
        RbacAction::Allow => "lets nobody in",
        RbacAction::Deny => "keeps nobody out",
    }
}

/// Says why no connection can meet a policy; `None` if one may, or if the policy can never match
/// anyway.
fn why_never(policy: &RbacPolicy, known: KnownConnection) -> Option<String> {
    let nothing = KnownConnection::default();
    if may_match(policy, known) || !may_match(policy, nothing) {
        return None;
    }
    let port = known.port.unwrap_or_default();
    let without_tls = KnownConnection { port: None, ..known };
    Some(match may_match(policy, without_tls) {
        true => format!("the server's port is {port}"),
        false if known.is_plaintext => "the filter chain has no TLS, so nobody is authenticated".to_owned(),
        false => "the server asks for no certificate on this filter chain, so no client has a name".to_owned(),
    })
}
