//! Trees of large configurations: resolve, generate the configs, make the nodes; and the config selector.
//!
//! `cargo bench --bench tree`

use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use xdsctl::model::cluster::{Cluster, Discovery, HealthStatus};
use xdsctl::model::endpoints::{Endpoint, Endpoints, Locality, LocalityName};
use xdsctl::model::filter::{FilterConfig, HttpFilter};
use xdsctl::model::listener::{HttpConnectionManager, Listener, RouteSource};
use xdsctl::model::matcher::{StringMatch, StringMatcher};
use xdsctl::model::route::{Action, Destination, PathMatcher, Route, RouteAction, RouteConfiguration, VirtualHost};
use xdsctl::model::{Millis, Resource};
use xdsctl::profile::Profile;
use xdsctl::select::{Channel, Request, Selector};
use xdsctl::snapshot::resolve::{DnsAnswers, Source, resolve};
use xdsctl::snapshot::resources::Resources;
use xdsctl::snapshot::target::Target;
use xdsctl::tree::show::{Shown, tree};
use xdsctl::tree::{build, service_config};

/// Clusters of the configuration.
const CLUSTERS: usize = 10_000;

/// Selections in a row.
const SELECTIONS: u32 = 1_000_000;

fn cluster(discovery: Discovery) -> Cluster {
    Cluster {
        discovery,
        lb_policy: serde_json::json!([{"xds_wrr_locality_experimental": {"childPolicy": [{"round_robin": {}}]}}]),
        lrs_self: false,
        lrs_metrics: BTreeSet::new(),
        use_http_connect: false,
        tls: None,
        connection_idle_timeout: Millis(3_600_000),
        max_concurrent_requests: 1024,
        outlier_detection: None,
        override_host_statuses: BTreeSet::from([HealthStatus::Unknown, HealthStatus::Healthy]),
        metadata: Default::default(),
    }
}

fn endpoints(number: usize) -> Endpoints {
    let [_, a, b, c] = u32::try_from(number).unwrap().to_be_bytes();
    let endpoint = |port| Endpoint {
        index: 0,
        address: ([10 + a, b, c, 1], port).into(),
        additional_addresses: Vec::new(),
        weight: 1,
        weight_is_default: true,
        health: HealthStatus::Healthy,
        hostname: String::new(),
        proxy: None,
        hash_key: None,
    };
    let locality = Locality {
        index: 0,
        name: LocalityName::default(),
        weight: 1,
        endpoints: vec![endpoint(80), endpoint(81)],
    };
    Endpoints {
        priorities: vec![vec![locality]],
        drops: None,
    }
}

fn route(index: usize, path: &str, exact: bool, cluster: String) -> Route {
    let text = path.to_owned();
    let action = RouteAction {
        hash_policies: Vec::new(),
        retry_policy: None,
        retry_policy_inherited: false,
        destination: Destination::Cluster(cluster),
        max_stream_duration: None,
        auto_host_rewrite: false,
    };
    Route {
        index,
        name: String::new(),
        path: PathMatcher::Text(StringMatcher {
            kind: if exact {
                StringMatch::Exact(text)
            } else {
                StringMatch::Prefix(text)
            },
            ignore_case: false,
        }),
        headers: Vec::new(),
        fraction_per_million: None,
        action: Action::Route(Box::new(action)),
        typed_per_filter_config: Default::default(),
    }
}

/// A listener with one route for each cluster, or one for an aggregate of all.
fn resources(is_aggregate: bool) -> Resources {
    let mut resources = Resources::default();
    let names: Vec<String> = (0..CLUSTERS).map(|i| format!("cluster-{i}")).collect();
    for (number, name) in names.iter().enumerate() {
        let eds = cluster(Discovery::Eds { service_name: None });
        resources.accept(name, Resource::Cluster(eds), Vec::new());
        resources.accept(name, Resource::Endpoints(endpoints(number)), Vec::new());
    }
    let routes = if is_aggregate {
        let all = cluster(Discovery::Aggregate { children: names });
        resources.accept("all", Resource::Cluster(all), Vec::new());
        vec![route(0, "/", false, "all".to_owned())]
    } else {
        let routes = names.into_iter().enumerate();
        routes
            .map(|(i, name)| route(i, &format!("/svc{i}/m"), true, name))
            .collect()
    };
    let host = VirtualHost {
        domains: vec!["*".to_owned()],
        routes,
        ..VirtualHost::default()
    };
    let routes = RouteConfiguration {
        virtual_hosts: vec![host],
        ..RouteConfiguration::default()
    };
    let router = HttpFilter {
        index: 0,
        name: "router".to_owned(),
        disabled: false,
        config: FilterConfig::Router,
    };
    let manager = HttpConnectionManager {
        routes: RouteSource::Inline(Arc::new(routes)),
        http_max_stream_duration: Millis(0),
        http_filters: vec![router],
    };
    resources.accept("svc", Resource::Listener(Listener::Api(manager)), Vec::new());
    resources
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = black_box(work());
    println!("{what:40} {:8.1} ms", start.elapsed().as_secs_f64() * 1000.0);
    result
}

fn main() {
    let profile = Profile::default();
    let (dns, extra_roots) = (DnsAnswers::new(), BTreeSet::new());
    for is_aggregate in [false, true] {
        let resources = resources(is_aggregate);
        println!(
            "{CLUSTERS} clusters, {}",
            if is_aggregate {
                "one aggregate"
            } else {
                "one route each"
            }
        );
        let source = Source {
            resources: &resources,
            node_id: "node",
            dns: &dns,
            extra_roots: &extra_roots,
        };
        let target = Target::of_listener("svc", None);
        let start = Instant::now();
        let config = Arc::new(timed("resolve", || resolve(&target, &source).unwrap()));
        let json = timed("service config", || service_config::generate(&config).unwrap());
        timed("LB configs", || build::generate(&config, &json, &profile));
        println!("{:40} {:8.1} ms", "all of that", start.elapsed().as_secs_f64() * 1000.0);
        let shown = Shown {
            config: &config,
            service_config: &json,
            profile: &profile,
            resources: &resources,
        };
        timed("nodes", || tree(&shown));
        let selector = Selector::new(config);
        let path = if is_aggregate { "/svc0/m" } else { "/svc5/m" };
        let request = Request {
            path,
            headers: &[],
            timeout: None,
        };
        let start = Instant::now();
        for _ in 0..SELECTIONS {
            let selection = selector.select(black_box(&request), Channel::default(), &mut |_, _| 0, None);
            black_box(selection.unwrap().key);
        }
        let ns = start.elapsed().as_secs_f64() * 1e9 / f64::from(SELECTIONS);
        println!("{:40} {ns:8.1} ns", "selection");
    }
}
