//! Adds faults to a world: to a field, an element, a reference or a resource, or as one of the
//! shapes with which clients have trouble.

use serde_json::{Value, json};

use super::chance::Chance;
use super::make::{CLUSTER, ENDPOINTS, LISTENER, ROUTES, World, name_of};
use super::policies;

/// One step from a value to a part of it.
#[derive(Debug, Clone)]
enum Part {
    Field(String),
    Element(usize),
}

type Place = Vec<Part>;

fn places(value: &Value, here: &mut Place, found: &mut Vec<Place>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                here.push(Part::Field(name.clone()));
                found.push(here.clone());
                places(inner, here, found);
                here.pop();
            }
        }
        Value::Array(elements) => {
            for (number, inner) in elements.iter().enumerate() {
                here.push(Part::Element(number));
                found.push(here.clone());
                places(inner, here, found);
                here.pop();
            }
        }
        _ => {}
    }
}

/// Returns every part of a value, outer parts first.
fn parts(value: &Value) -> Vec<Place> {
    let mut found = Vec::new();
    places(value, &mut Vec::new(), &mut found);
    found
}

fn at<'v>(value: &'v mut Value, place: &[Part]) -> &'v mut Value {
    place.iter().fold(value, |value, part| match part {
        Part::Field(name) => &mut value[name.as_str()],
        Part::Element(number) => &mut value[*number],
    })
}

/// Returns the name of the field that a place is, or is an element of.
fn field_of(place: &[Part]) -> &str {
    place
        .iter()
        .rev()
        .find_map(|part| match part {
            Part::Field(name) => Some(name.as_str()),
            Part::Element(_) => None,
        })
        .unwrap_or_default()
}

/// Returns all places of a world in fields of this name, with the index of their resource.
fn fields(world: &World, name: &str) -> Vec<(usize, Place)> {
    let mut found = Vec::new();
    for (number, resource) in world.resources.iter().enumerate() {
        let of_name = |place: &Place| matches!(place.last(), Some(Part::Field(field)) if field == name);
        found.extend(parts(resource).into_iter().filter(of_name).map(|place| (number, place)));
    }
    found
}

const NUMBERS: [u64; 18] = [
    0,
    1,
    2,
    3,
    5,
    16,
    99,
    100,
    101,
    128,
    1000,
    1024,
    4096,
    8_388_608,
    8_388_609,
    2_147_483_646,
    2_147_483_647,
    4_294_967_295,
];

/// Durations, but none from 1 ms to 3 s: their effect would depend on timing.
const DURATIONS: [&str; 12] = [
    "0s",
    "0.0005s",
    "0.000000001s",
    "3s",
    "10s",
    "9223372036s",
    "31557600000s",
    "31557600001s",
    "315576000000s",
    "-1s",
    "-0.5s",
    "0.05s",
];

const ENUMS: [(&str, &[&str]); 7] = [
    (
        "health_status",
        &["UNKNOWN", "HEALTHY", "UNHEALTHY", "DRAINING", "TIMEOUT", "DEGRADED"],
    ),
    ("statuses", &["UNKNOWN", "HEALTHY", "UNHEALTHY", "DRAINING"]),
    ("type", &["EDS", "LOGICAL_DNS", "STATIC", "STRICT_DNS", "ORIGINAL_DST"]),
    (
        "lb_policy",
        &[
            "ROUND_ROBIN",
            "RING_HASH",
            "LEAST_REQUEST",
            "RANDOM",
            "MAGLEV",
            "CLUSTER_PROVIDED",
        ],
    ),
    ("denominator", &["HUNDRED", "TEN_THOUSAND", "MILLION"]),
    ("hash_function", &["XX_HASH", "MURMUR_HASH_2", "DEFAULT_HASH"]),
    ("action", &["ALLOW", "DENY", "LOG"]),
];

const TEXTS: [&str; 8] = ["", "x", "*", "svc", "a\"b", "a\\b", "Unavailable", "(["];

fn is_duration(text: &str) -> bool {
    text.strip_suffix('s')
        .is_some_and(|number| number.parse::<f64>().is_ok_and(f64::is_finite))
}

/// Says whether a field holds the name of a cluster.
fn names_a_cluster(field: &str, place: &[Part]) -> bool {
    let inside = |name: &str| {
        place
            .iter()
            .any(|part| matches!(part, Part::Field(field) if field == name))
    };
    match field {
        "cluster" | "service_name" => true,
        "clusters" => true,
        "name" => inside("weighted_clusters"),
        _ => false,
    }
}

fn other_text(chance: &mut Chance, world_clusters: &[String], place: &[Part], text: &str) -> String {
    let field = field_of(place);
    if is_duration(text) {
        return match field {
            // A shorter one could not be told from a failure.
            "max_stream_duration" | "grpc_timeout_header_max" => chance.one(&["3s", "10s", "315576000000s", "-1s"]),
            "fixed_delay" => chance.one(&["0s", "0.05s", "20s"]),
            _ => chance.one(&DURATIONS),
        }
        .to_owned();
    }
    if let Some((_, values)) = ENUMS
        .iter()
        .find(|(name, values)| *name == field && values.contains(&text))
    {
        return chance.one(values).to_owned();
    }
    if names_a_cluster(field, place) {
        return if chance.percent(50) || world_clusters.is_empty() {
            "absent".to_owned()
        } else {
            chance.of(world_clusters)
        };
    }
    chance.one(&TEXTS).to_owned()
}

/// Returns another number for a field, one that its JSON form allows.
fn other_number(chance: &mut Chance, field: &str) -> Value {
    match field {
        "port_value" => json!(chance.of(&[0, 1, 65535, 65536])),
        "value" => json!(chance.of(&[0.0, 0.5, 1.0])),
        "error_utilization_penalty" => json!(chance.of(&[-0.5, 0.0, 1.5])),
        _ => json!(chance.of(&NUMBERS)),
    }
}

/// Changes one part of one resource.
fn spoil_a_part(chance: &mut Chance, world: &mut World) {
    let clusters = world.names(CLUSTER);
    if world.resources.is_empty() {
        return;
    }
    let number = chance.below(world.resources.len());
    let resource = &mut world.resources[number];
    let mut all = parts(resource);
    // Without a type nothing can be asked for, and without a name nothing is.
    all.retain(|place| {
        let is_type = matches!(place.last(), Some(Part::Field(name)) if name == "@type");
        let is_name = place.len() == 1 && matches!(field_of(place), "name" | "cluster_name");
        !is_type && !is_name
    });
    if all.is_empty() {
        return;
    }
    let place = &all[chance.below(all.len())];
    let (last, outer) = place.split_last().unwrap();
    let may_go = chance.percent(35);
    match last {
        Part::Field(name) if may_go => {
            at(resource, outer).as_object_mut().unwrap().remove(name);
            return;
        }
        Part::Element(number) if may_go => {
            let list = at(resource, outer).as_array_mut().unwrap();
            if chance.percent(50) {
                list.remove(*number);
            } else {
                let twin = list[*number].clone();
                list.push(twin);
            }
            return;
        }
        _ => {}
    }
    let value = at(resource, place);
    *value = match &*value {
        Value::Null => Value::Null,
        Value::Bool(flag) => json!(!flag),
        Value::Number(_) => other_number(chance, field_of(place)),
        Value::String(text) => json!(other_text(chance, &clusters, place, text)),
        Value::Array(list) => {
            let mut list = list.clone();
            if chance.percent(40) {
                list.clear();
            } else {
                list.reverse();
            }
            json!(list)
        }
        Value::Object(fields) => match fields.get("@type") {
            Some(type_url) => json!({"@type": type_url}),
            None => json!({}),
        },
    };
}

/// Makes a name lead elsewhere, or nowhere.
fn turn_a_reference(chance: &mut Chance, world: &mut World) {
    let (field, names) = chance.of(&[
        ("cluster", world.names(CLUSTER)),
        ("cluster", world.names(CLUSTER)),
        ("clusters", world.names(CLUSTER)),
        ("service_name", world.names(ENDPOINTS)),
        ("route_config_name", world.names(ROUTES)),
    ]);
    let mut all = fields(world, field);
    all.retain(|(number, place)| {
        let mut resource = world.resources[*number].clone();
        match at(&mut resource, place) {
            Value::String(_) => true,
            Value::Array(list) => list.first().is_some_and(Value::is_string),
            _ => false,
        }
    });
    if all.is_empty() {
        return;
    }
    let (number, place) = chance.of(&all);
    let name = if names.is_empty() || chance.percent(35) {
        "absent".to_owned()
    } else {
        chance.of(&names)
    };
    match at(&mut world.resources[number], &place) {
        Value::Array(list) => {
            let position = chance.below(list.len());
            list[position] = json!(name);
        }
        value => *value = json!(name),
    }
}

fn remove_a_resource(chance: &mut Chance, world: &mut World) {
    if !world.resources.is_empty() {
        let number = chance.below(world.resources.len());
        world.resources.remove(number);
    }
}

/// Sets a retry policy at its limits on some route, or on a virtual host.
fn stretch_retries(chance: &mut Chance, world: &mut World) {
    let mut routes = fields(world, "route");
    let domains = fields(world, "domains").into_iter();
    routes.extend(domains.map(|(number, mut place)| {
        place.pop();
        (number, place)
    }));
    if routes.is_empty() {
        return;
    }
    let (number, place) = chance.of(&routes);
    let owner = at(&mut world.resources[number], &place);
    if !owner.is_object() {
        return;
    }
    let mut policy =
        json!({"retry_on": chance.one(&["unavailable", "unavailable,internal", "5xx", "", "unavailable"])});
    if chance.percent(60) {
        policy["num_retries"] = json!(chance.of(&[0u64, 1, 4, 5, 2_147_483_646, 2_147_483_647, 4_294_967_295]));
    }
    if chance.percent(70) {
        policy["retry_back_off"] = json!({});
        if chance.percent(85) {
            policy["retry_back_off"]["base_interval"] = json!(chance.one(&DURATIONS));
        }
        if chance.percent(50) {
            policy["retry_back_off"]["max_interval"] = json!(chance.one(&DURATIONS));
        }
    }
    owner["retry_policy"] = policy;
}

fn clusters(world: &mut World) -> Vec<&mut Value> {
    let of_type = |resource: &&mut Value| resource["@type"] == CLUSTER;
    world.resources.iter_mut().filter(of_type).collect()
}

fn give_an_odd_policy(chance: &mut Chance, world: &mut World) {
    let mut all = clusters(world);
    if all.is_empty() {
        return;
    }
    let number = chance.below(all.len());
    let name = name_of(all[number]).unwrap_or_default().to_owned();
    all[number]["load_balancing_policy"] = policies::odd(chance, &name);
}

/// Gives a cluster a difficult name, everywhere.
fn rename_a_cluster(chance: &mut Chance, world: &mut World) {
    let names = world.names(CLUSTER);
    if names.is_empty() {
        return;
    }
    let old = chance.of(&names);
    let new = chance.one(&[
        "a\"b",
        "a\\b",
        "ümlaut",
        "with space",
        "xdstp://xds/envoy.config.cluster.v3.Cluster/n",
        "tab\tbed",
    ]);
    for resource in &mut world.resources {
        for place in parts(resource) {
            let field = field_of(&place).to_owned();
            let value = at(resource, &place);
            let names_it = names_a_cluster(&field, &place) || matches!(field.as_str(), "name" | "cluster_name");
            if names_it && value.as_str() == Some(old.as_str()) {
                *value = json!(new);
            }
        }
    }
}

/// Leaves a ClusterLoadAssignment, or a cluster, without anything to which an RPC can be sent.
fn starve(chance: &mut Chance, world: &mut World) {
    let how = chance.below(8);
    if how >= 6 {
        let mut all = clusters(world);
        if all.is_empty() {
            return;
        }
        let number = chance.below(all.len());
        let cluster = &mut *all[number];
        if how == 6 {
            cluster["circuit_breakers"] = json!({"thresholds": [{"max_requests": 0}]});
        } else {
            cluster["outlier_detection"] = json!({"enforcing_failure_percentage": 100,
                "failure_percentage_threshold": chance.of(&[100, 101])});
        }
        return;
    }
    let mut all: Vec<&mut Value> = world.resources.iter_mut().filter(|r| r["@type"] == ENDPOINTS).collect();
    if all.is_empty() {
        return;
    }
    let number = chance.below(all.len());
    let assignment = &mut *all[number];
    if how == 5 {
        let percent = chance.of(&[100, 101, 50]);
        assignment["policy"] = json!({"drop_overloads": [
            {"category": "all", "drop_percentage": {"numerator": percent, "denominator": "HUNDRED"}}]});
        return;
    }
    let Some(localities) = assignment["endpoints"].as_array_mut() else {
        return;
    };
    if how == 0 {
        localities.clear();
    }
    let health = chance.one(&["UNHEALTHY", "DRAINING", "TIMEOUT"]);
    for locality in localities {
        match how {
            1 => locality["lb_endpoints"] = json!([]),
            2 => locality["load_balancing_weight"] = json!(0),
            3 => locality["priority"] = json!(locality["priority"].as_u64().unwrap_or(0) + 1),
            _ => {
                for endpoint in locality["lb_endpoints"].as_array_mut().into_iter().flatten() {
                    endpoint["health_status"] = json!(health);
                }
            }
        }
    }
}

/// Makes an aggregate lead to itself, to nothing, or too deep.
fn tangle_an_aggregate(chance: &mut Chance, world: &mut World) {
    let names = world.names(CLUSTER);
    let mut aggregates = clusters(world);
    aggregates.retain(|cluster| cluster.get("cluster_type").is_some());
    if aggregates.is_empty() {
        return;
    }
    let number = chance.below(aggregates.len());
    let name = name_of(aggregates[number]).unwrap_or_default().to_owned();
    let type_url = aggregates[number]["cluster_type"]["typed_config"]["@type"].clone();
    let how = chance.below(5);
    let list = &mut aggregates[number]["cluster_type"]["typed_config"]["clusters"];
    let depth = chance.of(&[13, 14, 15, 16]);
    match (how, list.as_array_mut()) {
        (0, Some(list)) => list.insert(0, json!(name)),
        (1, Some(list)) => list.push(json!(name)),
        (2, Some(list)) => list.push(json!("absent")),
        (3, Some(list)) => *list = vec![json!(names[names.len() - 1])],
        (_, list) => {
            let ends = list.cloned().unwrap_or_default();
            aggregates[number]["cluster_type"]["typed_config"]["clusters"] = json!(["deep0"]);
            for level in 0..depth {
                let next = if level + 1 == depth {
                    json!(ends)
                } else {
                    json!([format!("deep{}", level + 1)])
                };
                world.resources.push(
                    json!({"@type": CLUSTER, "name": format!("deep{level}"), "cluster_type": {
                    "name": "envoy.clusters.aggregate", "typed_config": {"@type": type_url, "clusters": next}}}),
                );
            }
        }
    }
}

/// Leaves the channel without a listener, a route configuration, or a virtual host.
fn lose_the_way(chance: &mut Chance, world: &mut World) {
    match chance.below(4) {
        0 => world.target = "elsewhere".to_owned(),
        1 => {
            world.authority =
                Some(chance.one(&["nowhere.example", "svc.foo.com", ""]).to_owned()).filter(|a| !a.is_empty())
        }
        2 => {
            for resource in world.resources.iter_mut().filter(|r| r["@type"] == LISTENER) {
                resource.as_object_mut().unwrap().remove("api_listener");
            }
        }
        _ => {
            for (number, place) in fields(world, "domains") {
                *at(&mut world.resources[number], &place) = json!([format!("d{}.example", place.len() + number)]);
            }
        }
    }
}

/// Adds a second cookie filter, an override for a missing filter, or an override of the wrong type.
fn override_oddly(chance: &mut Chance, world: &mut World) {
    let routes = fields(world, "match");
    if routes.is_empty() {
        return;
    }
    let (number, mut place) = chance.of(&routes);
    place.pop();
    let owner = at(&mut world.resources[number], &place);
    let fault = "type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault";
    let session = "type.googleapis.com/envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute";
    let name = chance.one(&["fault", "session", "nobody", "router", "ss"]);
    owner["typed_per_filter_config"][name] = match chance.below(5) {
        0 => json!({"@type": fault, "abort": {"grpc_status": 9, "percentage": {"numerator": 100}}}),
        1 => json!({"@type": session, "disabled": true}),
        2 => json!({"@type": session}),
        3 => json!({"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "is_optional": true,
            "config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.LuaPerRoute"}}),
        _ => json!({"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.LuaPerRoute"}),
    };
}

/// Adds one fault to a world.
pub fn mutate(chance: &mut Chance, world: &mut World) {
    match chance.below(100) {
        0..38 => spoil_a_part(chance, world),
        38..46 => remove_a_resource(chance, world),
        46..56 => turn_a_reference(chance, world),
        56..65 => stretch_retries(chance, world),
        65..75 => give_an_odd_policy(chance, world),
        75..78 => rename_a_cluster(chance, world),
        78..87 => starve(chance, world),
        87..92 => tangle_an_aggregate(chance, world),
        92..95 => override_oddly(chance, world),
        95..98 => lose_the_way(chance, world),
        _ => world.resources.reverse(),
    }
}
