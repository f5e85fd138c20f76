//! RouteConfiguration: plugins, virtual hosts, domains, routes (A28).
//!
//! The same converter serves a resource of its own (RDS) and the inline `route_config` of an
//! HttpConnectionManager; only the path differs. It does not know on which side the routes run: the
//! Listener decides that. Follows C-core `XdsRouteConfigResourceParse` and `ParseRoute`
//! (xds_route_config_parser.cc): plugins first, then per virtual host the domains, the filter
//! overrides, the retry policy and the routes. The only short-circuit is a route whose match or
//! destination is rejected or dropped: the rest of that route is not looked at.

use super::{retry, route_action, route_match, route_shadow};
use crate::core::filter::overrides;
use crate::core::plugin::{self, Plugins};
use crate::shared::rules::{
    DOMAIN_PATTERN_BAD, DOMAIN_STAR_LITERAL, DOMAINS_EMPTY, ROUTE_ACTION_UNKNOWN, VIRTUAL_HOSTS_EMPTY,
};
use crate::shared::{Opened, opened_or_kept};
use xdsctl_document::proto::pb::envoy::config::route::v3::route::Action as ActionPb;
use xdsctl_document::proto::pb::envoy::config::route::v3::{
    Route as RoutePb, RouteConfiguration as Pb, VirtualHost as VirtualHostPb,
};
use xdsctl_model::diag::{Effect, Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::RouteConfiguration;
use xdsctl_model::resource::domain::DomainClass;
use xdsctl_model::resource::route::{Action, RetryPolicy, Route, VirtualHost};

rules! {
    /// A virtual host has no route, or the client drops them all.
    ROUTES_EMPTY = "rds-virtual-host-without-routes", RouteConfiguration, Advice, "gRFC A28; C-core xds_resolver.cc",
        also [Go Java Node] "an RPC without a route fails in every client";
}

/// Converts a RouteConfiguration at `at`, which is a resource of its own or is inline in an
/// HttpConnectionManager.
///
/// Reports faults; the value is meaningful only if nothing was rejected.
pub(super) fn from_proto(message: &Pb, opened: &Opened, at: &Path<'_>, cx: &mut Validation<'_>) -> RouteConfiguration {
    let plugins_at = at.field("cluster_specifier_plugins");
    let plugins = plugin::from_proto(&message.cluster_specifier_plugins, &plugins_at, cx);
    let hosts_at = at.field("virtual_hosts");
    let mark = cx.mark();
    let why = "no virtual host: every RPC fails with UNAVAILABLE";
    cx.check(!message.virtual_hosts.is_empty(), &VIRTUAL_HOSTS_EMPTY, &hosts_at, why);
    let mut virtual_hosts = Vec::with_capacity(message.virtual_hosts.len());
    let opened = opened.shared_hosts(message).unwrap_or_default();
    for (i, bytes) in message.virtual_hosts.iter().enumerate() {
        let known = opened.get(i);
        let host = opened_or_kept(known.map(|known| &known.host), bytes);
        let routes = known.map_or(&[][..], |known| &known.routes);
        virtual_hosts.push(virtual_host((&host, routes), i, &plugins, &hosts_at.index(i), cx));
    }
    if !cx.nacked_since(mark) {
        route_shadow::report_domains(&virtual_hosts, &hosts_at, cx);
    }
    RouteConfiguration {
        cluster_specifier_plugins: plugins.into_used((&virtual_hosts, cx.nacked_since(mark)), &plugins_at, cx),
        virtual_hosts,
    }
}

/// Converts a virtual host. `opened` has its routes if they were opened for several clients.
fn virtual_host(
    (message, opened): (&VirtualHostPb, &[RoutePb]),
    index: usize,
    plugins: &Plugins,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> VirtualHost {
    check_domains(&message.domains, &at.field("domains"), cx);
    let typed_per_filter_config = overrides::from_proto(&message.typed_per_filter_config, at, cx);
    let retry_at = at.field("retry_policy");
    let mark = cx.mark();
    let retry_policy = message
        .retry_policy
        .as_ref()
        .map(|policy| retry::from_proto(policy, &retry_at, cx));
    let retry_policy_rejected = cx.nacked_since(mark);
    let routes_at = at.field("routes");
    let mut routes = Vec::with_capacity(message.routes.len());
    for (i, bytes) in message.routes.iter().enumerate() {
        let message = opened_or_kept(opened.get(i), bytes);
        let at = routes_at.index(i);
        routes.extend(route(&message, i, retry_policy.as_ref(), plugins, &at, cx));
    }
    if routes.is_empty() && !cx.nacked_since(mark) {
        let why = if message.routes.is_empty() {
            "no route"
        } else {
            "no route that the client keeps"
        };
        let effect = match cx.has(Feature::CollectsFaults) {
            true => ROUTES_EMPTY.effect,
            false => Effect::Nack,
        };
        cx.report_as(
            effect,
            &ROUTES_EMPTY,
            &routes_at,
            format_args!("{why}: every RPC to these domains fails with UNAVAILABLE"),
        );
    }
    if !cx.nacked_since(mark) {
        route_shadow::report_routes(&routes, &routes_at, cx);
    }
    let inherits = |route: &Route| route.route_action().is_some_and(|action| action.retry_policy_inherited);
    if let Some(policy) = &retry_policy
        && !retry_policy_rejected
        && routes.iter().any(inherits)
    {
        retry::report_failures(policy, &retry_at, cx);
    }
    VirtualHost {
        index,
        name: message.name.clone(),
        domains: message.domains.clone(),
        routes,
        typed_per_filter_config,
    }
}

/// Checks the domain patterns of a virtual host.
fn check_domains(domains: &[String], at: &Path<'_>, cx: &mut Validation<'_>) {
    let why = "no domain, must have at least one (`*` for all)";
    cx.check(!domains.is_empty(), &DOMAINS_EMPTY, at, why);
    for (i, pattern) in domains.iter().enumerate() {
        let (rule, what) = match DomainClass::of(pattern) {
            None if pattern.is_empty() => (&DOMAIN_PATTERN_BAD, "is empty, must not be".to_owned()),
            None => (
                &DOMAIN_PATTERN_BAD,
                format!("`{pattern}` has a `*` inside, must be at the beginning or the end"),
            ),
            Some(_) if pattern.matches('*').nth(1).is_some() => (
                &DOMAIN_STAR_LITERAL,
                format!("`{pattern}` has a second `*`, which matches only a `*` in the authority"),
            ),
            Some(_) => continue,
        };
        cx.report(rule, &at.index(i), format_args!("domain pattern {what}"));
    }
}

/// Converts a route; `None` if the client rejects or drops it at its match or destination.
fn route(
    message: &RoutePb,
    index: usize,
    host_retry_policy: Option<&RetryPolicy>,
    plugins: &Plugins,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<Route> {
    let matched = route_match::from_proto(message.r#match.as_ref(), &at.field("match"), cx)?;
    let (path, headers, fraction_per_million) = matched;
    let action = match message.action.as_ref() {
        Some(ActionPb::Route(action)) => {
            let action_at = at.field("route");
            let mark = cx.mark();
            let mut action = route_action::from_proto(action, plugins, &action_at, cx)?;
            match &action.retry_policy {
                Some(_) if cx.nacked_since(mark) => {}
                Some(policy) => retry::report_failures(policy, &action_at.field("retry_policy"), cx),
                None => {
                    action.retry_policy = host_retry_policy.cloned();
                    action.retry_policy_inherited = host_retry_policy.is_some();
                }
            }
            Action::Route(Box::new(action))
        }
        Some(ActionPb::NonForwardingAction(_)) => Action::NonForwarding,
        Some(ActionPb::Redirect(_)) => unknown_action(Some("redirect"), at, cx),
        Some(ActionPb::DirectResponse(_)) => unknown_action(Some("direct_response"), at, cx),
        Some(ActionPb::FilterAction(_)) => unknown_action(Some("filter_action"), at, cx),
        None => unknown_action(None, at, cx),
    };
    let typed_per_filter_config = overrides::from_proto(&message.typed_per_filter_config, at, cx);
    Some(Route {
        index,
        name: message.name.clone(),
        path,
        headers,
        fraction_per_million,
        action,
        typed_per_filter_config,
    })
}

/// Notes an action that the client keeps, and whose RPCs fail.
fn unknown_action(name: Option<&'static str>, at: &Path<'_>, cx: &mut Validation<'_>) -> Action {
    if let Some(name) = name {
        let why = format_args!("gRPC has no {name}: RPCs that match the route fail with UNAVAILABLE");
        cx.report(&ROUTE_ACTION_UNKNOWN, &at.field(name), why);
    } else {
        let why = format_args!("the route has no action: RPCs that match it fail with UNAVAILABLE");
        cx.report(&ROUTE_ACTION_UNKNOWN, at, why);
    }
    Action::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_document::proto;
    use xdsctl_document::proto::pb::envoy::config::route::v3::retry_policy::RetryBackOff;
    use xdsctl_document::proto::pb::envoy::config::route::v3::route_action::ClusterSpecifier;
    use xdsctl_document::proto::pb::envoy::config::route::v3::route_match::PathSpecifier;
    use xdsctl_document::proto::pb::envoy::config::route::v3::{RetryPolicy as RetryPolicyPb, RouteAction, RouteMatch};
    use xdsctl_model::profile::{Profile, ServerFacts};

    fn to_cluster(prefix: &str, retry_policy: Option<RetryPolicyPb>) -> RoutePb {
        RoutePb {
            r#match: Some(RouteMatch {
                path_specifier: Some(PathSpecifier::Prefix(prefix.to_owned())),
                ..RouteMatch::default()
            }),
            action: Some(ActionPb::Route(RouteAction {
                cluster_specifier: Some(ClusterSpecifier::Cluster("c".to_owned())),
                retry_policy,
                ..RouteAction::default()
            })),
            ..RoutePb::default()
        }
    }

    /// Returns a policy whose back-off of 0 breaks the channel if it is used.
    fn broken_policy() -> RetryPolicyPb {
        RetryPolicyPb {
            retry_on: "unavailable".to_owned(),
            retry_back_off: Some(RetryBackOff {
                base_interval: Some(prost_types::Duration::default()),
                max_interval: None,
            }),
            ..RetryPolicyPb::default()
        }
    }

    /// Converts one virtual host for `*`; returns the value and the findings that break a channel.
    fn convert(routes: Vec<RoutePb>, retry_policy: Option<RetryPolicyPb>) -> (RouteConfiguration, Vec<String>) {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let mut cx = Validation::new(&profile, &server);
        let message = Pb {
            virtual_hosts: vec![proto::keep(&VirtualHostPb {
                domains: vec!["*".to_owned()],
                routes: routes.iter().map(proto::keep).collect(),
                retry_policy,
                ..VirtualHostPb::default()
            })],
            ..Pb::default()
        };
        let value = from_proto(&message, &Opened::default(), &Path::ROOT, &mut cx);
        let mut of_several = Validation::new(&profile, &server);
        assert_eq!(
            from_proto(&message, &Opened::shared(), &Path::ROOT, &mut of_several),
            value
        );
        assert_eq!(of_several.diagnostics(), cx.diagnostics());
        let failing = cx
            .finish()
            .into_iter()
            .filter(|d| d.effect == xdsctl_model::diag::Effect::Fails)
            .map(|d| d.path.to_string())
            .collect();
        (value, failing)
    }

    const HOST_POLICY: &str = "virtual_hosts[0].retry_policy.retry_back_off.base_interval";

    #[test]
    fn a_route_inherits_the_policy_of_its_host_and_replaces_it_as_a_whole() {
        let own = RetryPolicyPb {
            retry_on: "5xx".to_owned(),
            ..RetryPolicyPb::default()
        };
        let host = RetryPolicyPb {
            retry_on: "internal".to_owned(),
            num_retries: Some(3),
            ..RetryPolicyPb::default()
        };
        let (value, _) = convert(vec![to_cluster("", None), to_cluster("", Some(own))], Some(host));
        let policies: Vec<_> = value
            .virtual_hosts
            .iter()
            .flat_map(|host| &host.routes)
            .filter_map(|route| route.route_action()?.retry_policy.as_ref())
            .map(|policy| (policy.retry_on.len(), policy.num_retries))
            .collect();
        assert_eq!(policies, [(1, 3), (0, 1)]);
    }

    #[test]
    fn the_policy_of_a_host_counts_once_and_only_where_a_kept_route_uses_it() {
        let (_, failing) = convert(vec![to_cluster("", None), to_cluster("", None)], Some(broken_policy()));
        assert_eq!(failing, [HOST_POLICY]);
        let own = RetryPolicyPb::default();
        let (_, failing) = convert(vec![to_cluster("", Some(own))], Some(broken_policy()));
        assert!(failing.is_empty());
        let (_, failing) = convert(vec![to_cluster("no-slash", None)], Some(broken_policy()));
        assert!(failing.is_empty());
    }

    #[test]
    fn the_policy_of_a_dropped_route_breaks_nothing() {
        let mut route = to_cluster("", Some(broken_policy()));
        let (_, failing) = convert(vec![route.clone()], None);
        assert_eq!(
            failing,
            ["virtual_hosts[0].routes[0].route.retry_policy.retry_back_off.base_interval"]
        );
        if let Some(ActionPb::Route(action)) = &mut route.action {
            action.cluster_specifier = None;
        }
        let (value, failing) = convert(vec![route], None);
        assert!(failing.is_empty());
        assert!(value.virtual_hosts.iter().all(|host| host.routes.is_empty()));
    }

    #[test]
    fn dropped_routes_leave_gaps_in_the_indices() {
        let (value, _) = convert(vec![to_cluster("x", None), to_cluster("/x", None)], None);
        let indices: Vec<_> = value
            .virtual_hosts
            .iter()
            .flat_map(|h| &h.routes)
            .map(|r| r.index)
            .collect();
        assert_eq!(indices, [1]);
    }
}
