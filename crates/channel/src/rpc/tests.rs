//! Choices and filters of whole configurations.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::client::target::Target;
use crate::client::{Client, Resources, Start};
use xdsctl_model::resource::Resource;
use xdsctl_model::resource::filter::{Fault, FilterOverride, HttpFilter, SessionCookie};
use xdsctl_model::resource::listener::{HttpConnectionManager, Listener, RouteSource};
use xdsctl_model::resource::route::{Action, ClusterWeight, RouteConfiguration, VirtualHost};

type Overrides = BTreeMap<String, FilterOverride>;

fn route(destination: Destination, overrides: Overrides) -> Route {
    let action = RouteAction {
        hash_policies: Vec::new(),
        retry_policy: None,
        retry_policy_inherited: false,
        destination,
        unweighted: Vec::new(),
        max_stream_duration: None,
        auto_host_rewrite: false,
        untrusted_host_rewrite: false,
    };
    Route {
        typed_per_filter_config: overrides,
        ..Route::of_everything(Action::Route(Box::new(action)))
    }
}

fn weighted(name: &str, weight: u32) -> ClusterWeight {
    ClusterWeight {
        index: 0,
        name: name.into(),
        weight,
        typed_per_filter_config: Overrides::new(),
    }
}

fn selector(filters: Vec<HttpFilter>, host_overrides: Overrides, route: Route) -> Selector {
    let host = VirtualHost {
        domains: vec!["*".into()],
        routes: vec![route],
        typed_per_filter_config: host_overrides,
        ..VirtualHost::default()
    };
    let routes = RouteConfiguration {
        virtual_hosts: vec![host],
        ..RouteConfiguration::default()
    };
    let manager = HttpConnectionManager {
        routes: RouteSource::Inline(Arc::new(routes)),
        http_max_stream_duration: Millis(7000),
        http_filters: filters,
    };
    let listener = Resource::Listener(Listener::Api(manager));
    let client = Client {
        resources: Resources::of_values([("s", listener)]),
        ..Client::default()
    };
    let start = Start::Target(Target::of_listener("s", None));
    Selector::new(Arc::new(client.resolve(&start).unwrap()))
}

fn filter(name: &str, disabled: bool, config: FilterConfig) -> HttpFilter {
    HttpFilter {
        index: 0,
        name: name.into(),
        disabled,
        config,
    }
}

fn session_filter(name: &str, cookie: &str) -> HttpFilter {
    let cookie = SessionCookie {
        name: cookie.into(),
        path: String::new(),
        ttl: Millis(0),
    };
    filter(name, false, FilterConfig::StatefulSession(Some(cookie)))
}

fn select<'s>(selector: &'s Selector, headers: &[(String, String)], drawn: u64) -> Selection<'s> {
    let request = Request {
        path: "/s/m",
        headers,
        timeout: None,
    };
    selector
        .select(&request, ChannelFacts::default(), &mut |_, _| drawn, None)
        .unwrap()
}

#[test]
fn the_first_running_total_above_the_draw_is_chosen() {
    let entries = vec![weighted("A", 20), weighted("B", 30), weighted("C", 50)];
    let selector = selector(
        Vec::new(),
        Overrides::new(),
        route(Destination::WeightedClusters(entries), Overrides::new()),
    );
    for (drawn, key) in [(0, "A"), (19, "A"), (20, "B"), (49, "B"), (50, "C"), (99, "C")] {
        assert_eq!(select(&selector, &[], drawn).cluster(), Some(key), "{drawn}");
    }
    let shares: Vec<u64> = selector.choices(0).map(|(_, share)| share).collect();
    assert_eq!(shares, [20, 30, 50]);
}

#[test]
fn the_listeners_timeout_stands_unless_the_route_has_one() {
    let mut route = route(Destination::Cluster("a".into()), Overrides::new());
    let plain = selector(Vec::new(), Overrides::new(), route.clone());
    assert_eq!(select(&plain, &[], 0).timeout, Some(Millis(7000)));
    if let Action::Route(action) = &mut route.action {
        action.max_stream_duration = Some(Millis(0));
    }
    let none = selector(Vec::new(), Overrides::new(), route);
    assert_eq!(select(&none, &[], 0).timeout, None);
}

#[test]
fn the_most_specific_entry_switches_and_the_most_specific_config_counts() {
    let fault = |abort_code| {
        FilterConfig::Fault(Fault {
            abort_code,
            abort_numerator: 100,
            abort_denominator: 100,
            delay_denominator: 100,
            max_active_faults: 1,
            ..Fault::default()
        })
    };
    let entry = |disabled, config: Option<FilterConfig>| {
        let config = config.map(Box::new);
        Overrides::from([("f".to_owned(), FilterOverride { disabled, config })])
    };
    let run = |of_listener, of_host, of_route| {
        let filters = vec![filter("f", of_listener, fault(1))];
        let selector = selector(filters, of_host, route(Destination::Cluster("a".into()), of_route));
        let code = select(&selector, &[], 0).fault.abort.map(|status| status.code as u32);
        code.unwrap_or(0)
    };
    let none = Overrides::new;
    assert_eq!(run(false, none(), none()), 1);
    assert_eq!(run(true, none(), none()), 0);
    // An entry without `disabled` switches on what the listener switched off.
    assert_eq!(run(true, entry(false, Some(fault(2))), none()), 2);
    assert_eq!(run(false, entry(false, Some(fault(2))), entry(true, Some(fault(3)))), 0);
    assert_eq!(run(false, entry(true, Some(fault(2))), entry(false, Some(fault(3)))), 3);
    // An override of another type switches, and leaves the config as it is.
    assert_eq!(
        run(
            true,
            entry(false, Some(fault(2))),
            entry(false, Some(FilterConfig::Router))
        ),
        2
    );
}

#[test]
fn a_cookie_may_choose_another_cluster_of_the_route_only() {
    let entries = vec![weighted("a", 1), weighted("b", 1)];
    let route = route(Destination::WeightedClusters(entries), Overrides::new());
    let selector = selector(vec![session_filter("s", "c")], Overrides::new(), route);
    let cookie = |cluster: &str| {
        let value = xdsctl_model::cookie::encode("10.0.0.1:80", cluster);
        vec![("cookie".to_owned(), format!("c={value}"))]
    };
    let selection = select(&selector, &cookie("b"), 0);
    assert_eq!((selection.selected_key, selection.key), ("cluster:a", "cluster:b"));
    assert_eq!(override_addresses(&selection.sessions), Some("10.0.0.1:80"));
    assert!(set_cookies(&selection.sessions, "10.0.0.1:80").is_empty());
    let selection = select(&selector, &cookie("x"), 0);
    assert_eq!(selection.key, "cluster:a");
    // The host matches, the cluster does not: the cookie is written anew.
    let expected = format!("c={}; HttpOnly", xdsctl_model::cookie::encode("10.0.0.1:80", "a"));
    assert_eq!(set_cookies(&selection.sessions, "10.0.0.1:80"), [expected]);
}

#[test]
fn of_two_sessions_the_later_one_decides_and_answers_first() {
    let filters = vec![session_filter("s1", "first"), session_filter("s2", "second")];
    let route = route(Destination::Cluster("a".into()), Overrides::new());
    let selector = selector(filters, Overrides::new(), route);
    let value = |address| xdsctl_model::cookie::encode(address, "a");
    let cookies = format!("first={}; second={}", value("1.1.1.1:1"), value("2.2.2.2:2"));
    let headers = [("cookie".to_owned(), cookies)];
    let selection = select(&selector, &headers, 0);
    assert_eq!(override_addresses(&selection.sessions), Some("2.2.2.2:2"));
    let expected = [
        format!("second={}; HttpOnly", value("3.3.3.3:3")),
        format!("first={}; HttpOnly", value("")),
    ];
    assert_eq!(set_cookies(&selection.sessions, "3.3.3.3:3"), expected);
}
