//! Makes a world from a number: a recorded or a random one, with faults, and the requests to it.

use base64::Engine as _;
use serde_json::{Value, json};

use super::chance::Chance;
use super::make::{self, CLUSTER, COOKIES, ENDPOINTS, ROUTES, World};
use super::mutate::mutate;
use super::routes::{self, METHODS};

/// The port of the first world. Each world has its own port, so that several can be asked at once.
pub const FIRST_PORT: u16 = 10_000;
const PORTS: u64 = 20_000;

/// The deadline of an RPC in seconds. Sometimes the client shortens deadlines by a second or two.
const PATIENCE: f64 = 4.0;

/// A little longer than a client waits for a resource, in seconds.
const UNTIL_MISSING: f64 = 16.0;

/// The first number from which on worlds change between their picks.
const FIRST_CHANGING: u64 = 300_000;

/// A little longer than a client needs to process what it is sent, in seconds.
const UNTIL_TAKEN: f64 = 1.0;

/// The recorded worlds from which others are made.
#[derive(Debug)]
pub struct Recorded(Vec<Value>);

/// Returns the rows of a fixture.
pub fn recorded(name: &str) -> Vec<Value> {
    let text = crate::support::recorded(name);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Recorded {
    pub fn read() -> Recorded {
        Recorded(["scenarios", "runtime"].into_iter().flat_map(recorded).collect())
    }

    /// Makes a recorded world at another port, with two of its picks.
    pub fn one(&self, chance: &mut Chance, port: u16) -> World {
        let mut row = self.0[chance.below(self.0.len())].clone();
        move_ports(&mut row["resources"], port);
        let mut world = World {
            target: row["target"].as_str().unwrap().to_owned(),
            authority: row["authority"].as_str().map(str::to_owned),
            env: row["env"].as_object().cloned().unwrap_or_default(),
            bootstrap: row.get("bootstrap").cloned(),
            resources: row["resources"].as_array().unwrap().clone(),
            ..World::default()
        };
        let recorded: Vec<&Value> = row["steps"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|step| step.get("pick"))
            .collect();
        for _ in 0..2.min(recorded.len()) {
            let pick = recorded[chance.below(recorded.len())];
            let mut step = json!({"timeout": PATIENCE});
            for field in ["method", "headers"] {
                make::set(&mut step, field, pick[field].clone());
            }
            world.steps.push(json!({"pick": step}));
        }
        world
    }
}

fn move_ports(value: &mut Value, port: u16) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                if name == "port_value" && inner.as_u64().is_some_and(|number| (7000..7999).contains(&number)) {
                    *inner = json!(port);
                } else {
                    move_ports(inner, port);
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|inner| move_ports(inner, port)),
        _ => {}
    }
}

/// Finds the addresses in a value, each once, in order.
pub fn addresses(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let (Some(host), Some(port)) = (
                fields.get("address").and_then(Value::as_str),
                fields.get("port_value").and_then(Value::as_u64),
            ) {
                let address = format!("{host}:{port}");
                let is_ours = host.starts_with("127.0.") && (u64::from(FIRST_PORT)..40_000).contains(&port);
                if is_ours && !found.contains(&address) {
                    found.push(address);
                }
            }
            fields.values().for_each(|inner| addresses(inner, found));
        }
        Value::Array(elements) => elements.iter().for_each(|inner| addresses(inner, found)),
        _ => {}
    }
}

fn cookie(chance: &mut Chance, world: &World, hosts: &[String]) -> String {
    let clusters = world.names(CLUSTER);
    let name = if chance.percent(80) {
        COOKIES[0]
    } else {
        "global-session-cookie"
    };
    let address = if hosts.is_empty() || chance.percent(8) {
        "10.9.8.7:80".to_owned()
    } else {
        chance.of(hosts)
    };
    let cluster = if clusters.is_empty() || chance.percent(10) {
        String::new()
    } else {
        format!(";{}", chance.of(&clusters))
    };
    let value = base64::engine::general_purpose::STANDARD.encode(format!("{address}{cluster}"));
    format!("{name}={value}")
}

pub fn pick(chance: &mut Chance, world: &World, hosts: &[String]) -> Value {
    let mut headers = routes::request_headers(chance);
    if chance.percent(40) {
        headers.push(("x-user".to_owned(), format!("u{}", chance.below(1000))));
    }
    if chance.percent(45) {
        headers.push(("cookie".to_owned(), cookie(chance, world, hosts)));
    }
    if chance.percent(15) {
        let code = chance.one(&["UNAVAILABLE", "INTERNAL", "RESOURCE_EXHAUSTED"]);
        let field = if chance.percent(80) { "x-fail" } else { "x-fail-late" };
        headers.push((field.to_owned(), format!("{code}:{}", chance.of(&[1, 2, 9]))));
    }
    let method = if chance.percent(50) {
        METHODS[0]
    } else {
        chance.one(&METHODS)
    };
    let mut pick = json!({"method": method, "headers": headers, "timeout": PATIENCE});
    if chance.percent(8) {
        pick["wait_for_ready"] = json!(true);
    }
    json!({ "pick": pick })
}

/// Says whether a name is referred to and leads nowhere, as far as the text shows.
fn misses_something(world: &World) -> bool {
    let listeners = world.names(make::LISTENER);
    let known = [world.names(CLUSTER), world.names(ENDPOINTS), world.names(ROUTES)];
    let text = serde_json::to_string(&world.resources).unwrap();
    let lacks_endpoints = |resource: &Value| {
        let name = resource["eds_cluster_config"]["service_name"].as_str();
        resource["type"] == "EDS"
            && !known[1]
                .iter()
                .any(|n| Some(n.as_str()) == name.or(resource["name"].as_str()))
    };
    !listeners.contains(&world.target)
        || text.contains("absent")
        || (text.contains("\"route_config_name\"") && known[2].is_empty())
        || world.resources.iter().any(lacks_endpoints)
}

/// Makes what the control plane sends or removes later, so that it has other resources than now;
/// `first` are those before any fault.
fn change(chance: &mut Chance, world: &mut World, first: &[Value]) -> Vec<Value> {
    let mut next = world.clone();
    match chance.below(10) {
        0 | 1 if !next.resources.is_empty() => {
            let number = chance.below(next.resources.len());
            next.resources.remove(number);
        }
        2 | 3 => next.resources = first.to_vec(),
        _ => mutate(chance, &mut next),
    }
    let key = |resource: &Value| json!([resource["@type"], make::name_of(resource)]);
    let sent: Vec<&Value> = next.resources.iter().filter(|r| !world.resources.contains(r)).collect();
    let kept: Vec<Value> = next.resources.iter().map(key).collect();
    let gone: Vec<Value> = world
        .resources
        .iter()
        .map(key)
        .filter(|key| !kept.contains(key))
        .collect();
    let mut steps = Vec::new();
    if !sent.is_empty() {
        steps.push(json!({ "update": sent }));
    }
    if !gone.is_empty() {
        steps.push(json!({ "remove": gone }));
    }
    steps.push(json!({ "sleep": UNTIL_TAKEN }));
    world.resources = next.resources;
    steps
}

/// Makes the world with this number.
pub fn world(seed: u64, recorded: &Recorded) -> World {
    let mut chance = Chance::new(seed);
    let chance = &mut chance;
    let port = FIRST_PORT + u16::try_from(seed % PORTS).unwrap();
    let mut world = if chance.percent(35) {
        recorded.one(chance, port)
    } else {
        make::world(chance, port)
    };
    world.id = format!("world-{seed}");
    let first = world.resources.clone();
    for _ in 0..chance.of(&[0, 1, 1, 1, 1, 2, 2, 3]) {
        mutate(chance, &mut world);
    }
    let mut hosts = Vec::new();
    addresses(&json!(world.resources), &mut hosts);
    let dying = if chance.percent(25) { 50 } else { 0 };
    world.backends = hosts.iter().filter(|_| !chance.percent(dying)).cloned().collect();
    let mut steps = vec![json!({"pick": {"timeout": PATIENCE}})];
    if misses_something(&world) && chance.percent(35) {
        steps.push(json!({"sleep": UNTIL_MISSING}));
    }
    steps.append(&mut world.steps);
    for _ in 0..chance.between(2, 4) {
        steps.push(pick(chance, &world, &hosts));
    }
    if seed >= FIRST_CHANGING {
        let mut later = world.clone();
        for _ in 0..chance.between(1, 3) {
            steps.append(&mut change(chance, &mut later, &first));
            steps.push(pick(chance, &later, &hosts));
            steps.push(json!({"pick": {"timeout": PATIENCE}}));
        }
    }
    world.steps = steps;
    world
}
