//! Makes filters, virtual hosts and routes.

use serde_json::{Value, json};

use super::chance::Chance;
use super::make::{COOKIES, TYPE, set, sometimes};

const FILTERS: &str = "type.googleapis.com/envoy.extensions.filters.http.";

/// The methods that routes and picks use.
pub const METHODS: [&str; 4] = ["/pkg.Service/Method", "/pkg.Service/Other", "/shop.Cart/Get", "/x/y"];

/// The headers of requests, and what routes look for.
const HEADERS: [(&str, &str); 5] = [
    ("x-a", "1"),
    ("x-a", "15"),
    ("x-b", "gold"),
    ("x-b", "a,b"),
    ("x-c", ""),
];

fn session_state(chance: &mut Chance, name: &str) -> Value {
    let mut cookie = json!({"name": name});
    let path = sometimes(chance, 50, |chance| {
        json!(chance.one(&["/", "/pkg.Service", "/shop.Cart/Get"]))
    });
    set(&mut cookie, "path", path);
    let ttl = sometimes(chance, 50, |chance| json!(chance.one(&["0s", "120s", "1.5s"])));
    set(&mut cookie, "ttl", ttl);
    json!({"session_state": {"name": "c", "typed_config": {
        "@type": format!("{TYPE}envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState"), "cookie": cookie}}})
}

fn fault(chance: &mut Chance) -> Value {
    let percentage = |chance: &mut Chance| {
        let numerator = chance.of(&[0, 0, 50, 100]);
        json!({"numerator": numerator, "denominator": "HUNDRED"})
    };
    let mut config = json!({});
    if chance.percent(70) {
        config["abort"] = chance.of(&[
            json!({"grpc_status": 8}),
            json!({"http_status": 404}),
            json!({"header_abort": {}}),
        ]);
        config["abort"]["percentage"] = percentage(chance);
    }
    if chance.percent(20) {
        config["delay"] = json!({"fixed_delay": "0.05s", "percentage": percentage(chance)});
    }
    let active = sometimes(chance, 15, |chance| json!(chance.of(&[0, 5])));
    set(&mut config, "max_active_faults", active);
    config
}

fn rbac(chance: &mut Chance) -> Value {
    let action = chance.one(&["ALLOW", "DENY"]);
    json!({"rules": {"action": action, "policies": {"p": {"permissions": [{"any": true}], "principals": [{"any": true}]}}}})
}

fn typed(type_name: &str, mut config: Value) -> Value {
    config["@type"] = json!(format!("{FILTERS}{type_name}"));
    config
}

/// Makes the filters of a listener; each name says the kind.
pub fn filters(chance: &mut Chance) -> Vec<Value> {
    let mut filters = Vec::new();
    for (name, percent) in [("fault", 12), ("session", 35), ("session2", 4), ("rbac", 4)] {
        if !chance.percent(percent) {
            continue;
        }
        let config = match name {
            "fault" => typed("fault.v3.HTTPFault", fault(chance)),
            "rbac" => typed("rbac.v3.RBAC", rbac(chance)),
            _ => {
                let state = if chance.percent(85) {
                    session_state(chance, COOKIES[usize::from(name == "session2")])
                } else {
                    json!({})
                };
                typed("stateful_session.v3.StatefulSession", state)
            }
        };
        filters.push(json!({"name": name, "typed_config": config}));
    }
    if chance.percent(5) {
        let unknown = json!({"@type": format!("{FILTERS}lua.v3.Lua"), "inline_code": ""});
        filters.push(json!({"name": "lua", "typed_config": unknown, "is_optional": true}));
    }
    filters.push(json!({"name": "router", "typed_config": typed("router.v3.Router", json!({}))}));
    filters
}

/// Makes filter overrides for a virtual host, a route or a cluster of a route.
fn overrides(chance: &mut Chance, filters: &[Value]) -> Value {
    let mut all = json!({});
    for filter in filters {
        let name = filter["name"].as_str().unwrap();
        let mut config = match name {
            "fault" => typed("fault.v3.HTTPFault", fault(chance)),
            "session" | "session2" => {
                let config = if chance.percent(30) {
                    json!({"disabled": true})
                } else {
                    json!({"stateful_session": session_state(chance, COOKIES[usize::from(name == "session2")])})
                };
                typed("stateful_session.v3.StatefulSessionPerRoute", config)
            }
            _ => continue,
        };
        if chance.percent(25) {
            config = json!({"@type": format!("{TYPE}envoy.config.route.v3.FilterConfig"), "config": config,
                "disabled": chance.percent(10), "is_optional": chance.percent(30)});
        }
        all[name] = config;
    }
    all
}

fn header_matcher(chance: &mut Chance) -> Value {
    let (name, value) = HEADERS[chance.below(HEADERS.len())];
    let mut matcher = match chance.below(8) {
        0 => json!({"exact_match": value}),
        1 => json!({"prefix_match": if value.is_empty() { "g" } else { &value[..1] }}),
        2 => json!({"present_match": chance.percent(70)}),
        3 => json!({"range_match": {"start": "0", "end": "10"}}),
        4 => json!({"safe_regex_match": {"regex": "[a-z]+"}}),
        5 => json!({"string_match": {"exact": value.to_uppercase(), "ignore_case": true}}),
        6 => json!({"string_match": {"contains": "1"}}),
        _ => json!({"suffix_match": "5"}),
    };
    matcher["name"] = json!(name);
    let inverted = sometimes(chance, 20, |_| json!(true));
    set(&mut matcher, "invert_match", inverted);
    matcher
}

fn route_match(chance: &mut Chance, is_last: bool) -> Value {
    if is_last {
        return json!({"prefix": chance.one(&["", "/"])});
    }
    let method = chance.one(&METHODS);
    let mut matched = match chance.below(4) {
        0 => json!({"path": method}),
        1 => json!({"prefix": &method[..method.rfind('/').unwrap() + 1]}),
        2 => json!({"safe_regex": {"regex": chance.one(&["/pkg.*", "/.*/Get", ".+"])}}),
        _ => json!({"prefix": "/"}),
    };
    let insensitive = sometimes(chance, 10, |_| json!(false));
    set(&mut matched, "case_sensitive", insensitive);
    let headers: Vec<Value> = (0..chance.of(&[0, 0, 1, 1, 2]))
        .map(|_| header_matcher(chance))
        .collect();
    if !headers.is_empty() {
        matched["headers"] = json!(headers);
    }
    if chance.percent(8) {
        let numerator = chance.of(&[0, 50, 100]);
        matched["runtime_fraction"] = json!({"default_value": {"numerator": numerator, "denominator": "HUNDRED"}});
    }
    matched
}

fn retry_policy(chance: &mut Chance) -> Value {
    let conditions = chance.one(&[
        "unavailable",
        "cancelled,deadline-exceeded,internal,resource-exhausted,unavailable",
        "5xx,unavailable",
        "resource-exhausted",
        "",
    ]);
    let mut policy = json!({"retry_on": conditions});
    let retries = sometimes(chance, 60, |chance| json!(chance.of(&[1, 2, 3, 7])));
    set(&mut policy, "num_retries", retries);
    let back_off = sometimes(chance, 70, |chance| {
        chance.of(&[
            json!({"base_interval": "0.02s", "max_interval": "0.05s"}),
            json!({"base_interval": "0.02s"}),
            json!({"base_interval": "0.1s", "max_interval": "0.1s"}),
        ])
    });
    set(&mut policy, "retry_back_off", back_off);
    policy
}

fn action(chance: &mut Chance, clusters: &[String], filters: &[Value]) -> Value {
    let one = |chance: &mut Chance| clusters[chance.below(clusters.len())].clone();
    let mut action = if chance.percent(75) {
        json!({"cluster": one(chance)})
    } else {
        let entries: Vec<Value> = (0..chance.between(1, 3))
            .map(|number| {
                let weight = if number == 0 {
                    chance.between(1, 5)
                } else {
                    chance.below(5)
                };
                let mut entry = json!({"name": one(chance), "weight": weight});
                if chance.percent(15) {
                    entry["typed_per_filter_config"] = overrides(chance, filters);
                }
                entry
            })
            .collect();
        json!({"weighted_clusters": {"clusters": entries}})
    };
    let hashes = sometimes(chance, 45, |chance| {
        chance.of(&[
            json!([{"header": {"header_name": "x-user"}}]),
            json!([{"header": {"header_name": "x-user"}, "terminal": true}, {"header": {"header_name": "x-a"}}]),
            json!([{"filter_state": {"key": "io.grpc.channel_id"}}]),
            json!([{"header": {"header_name": "x-user", "regex_rewrite": {"pattern": {"regex": "u(.)"}, "substitution": "\\1"}}}]),
        ])
    });
    set(&mut action, "hash_policy", hashes);
    let retries = sometimes(chance, 30, retry_policy);
    set(&mut action, "retry_policy", retries);
    let timeout = sometimes(chance, 6, |chance| {
        chance.of(&[
            json!({"max_stream_duration": "5s"}),
            json!({"grpc_timeout_header_max": "300s"}),
        ])
    });
    set(&mut action, "max_stream_duration", timeout);
    action
}

fn route(chance: &mut Chance, clusters: &[String], filters: &[Value], is_last: bool) -> Value {
    let mut route = json!({"match": route_match(chance, is_last)});
    match if is_last { 0 } else { chance.below(20) } {
        1 => route["non_forwarding_action"] = json!({}),
        2 => route["redirect"] = json!({"host_redirect": "x"}),
        _ => route["route"] = action(chance, clusters, filters),
    }
    if chance.percent(20) {
        route["typed_per_filter_config"] = overrides(chance, filters);
    }
    route
}

/// Makes a RouteConfiguration without type and name.
pub fn configuration(chance: &mut Chance, clusters: &[String], filters: &[Value]) -> Value {
    let mut hosts = Vec::new();
    let domains = [json!(["*"]), json!(["svc", "foo.com"]), json!(["*.foo.com", "svc*"])];
    for (number, domains) in domains.iter().enumerate().take(chance.of(&[1, 1, 1, 2, 3])) {
        let count = chance.between(1, 4);
        let routes: Vec<Value> = (1..=count)
            .map(|place| route(chance, clusters, filters, place == count))
            .collect();
        let mut host = json!({"name": format!("v{number}"), "domains": domains, "routes": routes});
        if chance.percent(12) {
            host["typed_per_filter_config"] = overrides(chance, filters);
        }
        let retries = sometimes(chance, 12, retry_policy);
        set(&mut host, "retry_policy", retries);
        hosts.push(host);
    }
    json!({"name": "rc", "virtual_hosts": hosts})
}

/// Makes headers that some routes ask for.
pub fn request_headers(chance: &mut Chance) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    for _ in 0..chance.of(&[0, 1, 1, 2]) {
        let (name, value) = HEADERS[chance.below(HEADERS.len())];
        headers.push((name.to_owned(), value.to_owned()));
    }
    headers
}
