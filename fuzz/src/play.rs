//! Plays channels in simulated time (a world, a network, steps), and checks what must be true of
//! every outcome.

use std::net::SocketAddr;
use std::sync::{LazyLock, OnceLock};

use serde_json::{Value, json};
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{Client, Start};
use xdsctl_channel::sim::script::{self, Player, Step};
use xdsctl_channel::sim::{Channel, ChannelOptions, Network, Outcome, Reachability};
use xdsctl_clients::bootstrap::{self, Bootstrap};
use xdsctl_model::profile::Profile;
use xdsctl_model::status::Code;

use crate::chance::Chance;
use crate::generate::{self, FIRST_PORT, Recorded};
use crate::make::{self, World};
use crate::mutate::mutate;
use crate::steps;

/// The most events of one step or RPC: enough for an hour of reconnecting, and few enough that a
/// fuzzer does not report a hang.
const MAX_EVENTS: u64 = 20_000;

/// The recorded worlds.
pub static RECORDED: LazyLock<Recorded> = LazyLock::new(Recorded::read);

/// The bootstrap of the recordings.
static BOOTSTRAP: LazyLock<Value> = LazyLock::new(|| {
    let path = crate::support::root().join("fixtures/conformance/bootstrap.json");
    serde_json::from_slice(&std::fs::read(path).expect("the fixture is there")).expect("the fixture is JSON")
});

/// A world, and its client once it has been made.
type Fixed = (World, OnceLock<Option<(Client, Start)>>);

/// Worlds whose resources are read once: every recorded world, and 400 worlds from the grammar.
static FIXED: LazyLock<Vec<Fixed>> = LazyLock::new(|| {
    let rows = ["scenarios", "runtime", "loops"]
        .into_iter()
        .flat_map(generate::recorded);
    let recorded = rows.map(|row| World {
        target: row["target"].as_str().unwrap_or_default().to_owned(),
        authority: row["authority"].as_str().map(str::to_owned),
        env: row["env"].as_object().cloned().unwrap_or_default(),
        bootstrap: row.get("bootstrap").cloned(),
        resources: row["resources"].as_array().cloned().unwrap_or_default(),
        ..World::default()
    });
    let made = (0..400).map(|seed| make::world(&mut Chance::new(seed), FIRST_PORT));
    recorded.chain(made).map(|world| (world, OnceLock::new())).collect()
});

/// Returns one of the fixed worlds; `None` if no client starts with its target.
fn fixed(number: usize) -> Option<(&'static World, Client, Start)> {
    let (world, channel) = &FIXED[number % FIXED.len()];
    let (client, start) = channel.get_or_init(|| client(world)).clone()?;
    Some((world, client, start))
}

/// Makes a world's bootstrap file.
pub fn bootstrap_of(world: &World) -> Value {
    let mut json = BOOTSTRAP.clone();
    for (key, value) in world.bootstrap.iter().filter_map(Value::as_object).flatten() {
        if key == "server_features" {
            json["xds_servers"][0]["server_features"] = value.clone();
        } else {
            json[key] = value.clone();
        }
    }
    json
}

/// Makes the client of a world and its channel's target; `None` for a bootstrap or target with
/// which no client starts.
fn client(world: &World) -> Option<(Client, Start)> {
    let mut profile = Profile::default();
    for (name, value) in &world.env {
        profile.set_env(name, value.as_str()?).ok()?;
    }
    let bootstrap: Bootstrap = bootstrap::validate(bootstrap_of(world).to_string().as_bytes(), &profile).0?;
    let uri = format!("xds:///{}", world.target);
    let target = Target::parse(&uri, world.authority.as_deref(), &bootstrap).ok()?;
    let mut client = Client {
        server: bootstrap.server_facts(),
        node_id: bootstrap.node_id.clone(),
        profile,
        ..Client::default()
    };
    client.update(&json!(world.resources));
    let address: SocketAddr = ([127, 0, 1, 1], FIRST_PORT).into();
    let known = client.resources.dns_names().filter(|name| !name.starts_with("unknown"));
    client.dns = known.map(|name| (name.to_owned(), Ok(vec![address]))).collect();
    Some((client, Start::Target(target)))
}

/// Returns the hosts of a world that are addresses.
pub fn hosts(world: &World) -> Vec<String> {
    let mut hosts = Vec::new();
    generate::addresses(&json!(world.resources), &mut hosts);
    hosts.retain(|host| host.parse::<SocketAddr>().is_ok());
    hosts
}

fn network(chance: &mut Chance, hosts: &[String]) -> Network {
    let mut network = Network {
        default: chance.of(&[
            Reachability::Accepts,
            Reachability::Accepts,
            Reachability::Refuses,
            Reachability::Hangs,
        ]),
        ..Network::default()
    };
    for host in hosts {
        let Ok(address) = host.parse() else { continue };
        if chance.percent(40) {
            let reach = chance.of(&[Reachability::Accepts, Reachability::Refuses, Reachability::Hangs]);
            network.addresses.insert(address, reach);
        }
    }
    network
}

fn options(chance: &mut Chance, hosts: &[String]) -> ChannelOptions {
    let mut options = ChannelOptions {
        seed: chance.below(1 << 16) as u64,
        waits_for_missing: chance.percent(50),
        traces: chance.percent(50),
        max_events: Some(MAX_EVENTS),
        shows_secrets: chance.percent(50),
        ..ChannelOptions::default()
    };
    if chance.percent(20) {
        options.lb.priority_failover_ms = chance.of(&[0, 1, 1000, 1_000_000]);
    }
    if chance.percent(20) {
        options.lb.ring_size_cap = chance.of(&[0, 1, 3, 8_388_608]);
    }
    if chance.percent(10) && !hosts.is_empty() {
        options.lb.ejected.insert(chance.of(hosts));
    }
    options
}

/// Plays steps, completely or up to a limit, and returns the outcomes.
fn play(client: Client, start: Start, network: Network, options: ChannelOptions, steps: &[Step]) -> Vec<Outcome> {
    let mut channel = Channel::new(client, start, network, options);
    let mut player = Player::default();
    let mut outcomes = Vec::new();
    for step in steps {
        let played = player.play(step, &mut channel, &mut |outcome| {
            outcomes.push(outcome);
            true
        });
        if played.is_err() {
            break;
        }
    }
    outcomes
}

fn check(outcome: &Outcome) {
    assert!(outcome.began <= outcome.ended, "{outcome:?}");
    assert_eq!(outcome.code == Code::Ok, outcome.backend.is_some(), "{outcome:?}");
    assert!(outcome.code != Code::Ok || outcome.details.is_empty(), "{outcome:?}");
    // The last attempt is the one that answered.
    assert!(
        outcome.backend.is_none() || outcome.attempts.last() == outcome.backend.as_ref(),
        "{outcome:?}"
    );
}

fn run(chance: &mut Chance, world: &World, (client, start): (Client, Start), steps: &[Value]) {
    let hosts = hosts(world);
    let network = network(chance, &hosts);
    let options = options(chance, &hosts);
    let steps: Vec<Step> = steps
        .iter()
        .map(|step| Step::read(&step.to_string()).unwrap_or_else(|error| panic!("{error}: {step}")))
        .collect();
    let is_repeated = chance.percent(6);
    let again = is_repeated.then(|| (client.clone(), start.clone(), network.clone(), options.clone()));
    let outcomes = play(client, start, network, options, &steps);
    outcomes.iter().for_each(check);
    if let Some((client, start, network, options)) = again {
        let other = play(client, start, network, options, &steps);
        assert_eq!(outcomes, other, "the same seed led elsewhere");
    }
}

/// Makes a world from the grammar, valid or with faults.
pub fn world_of(chance: &mut Chance) -> World {
    let mut world = make::world(chance, FIRST_PORT);
    for _ in 0..chance.of(&[0, 0, 1, 1, 2, 3]) {
        mutate(chance, &mut world);
    }
    world
}

/// Makes a recorded world with faults.
pub fn recorded_world_of(chance: &mut Chance) -> World {
    let mut world = RECORDED.one(chance, FIRST_PORT);
    for _ in 0..chance.between(1, 4) {
        mutate(chance, &mut world);
    }
    world
}

fn in_new_world(chance: &mut Chance, mut world: World) {
    let Some(channel) = client(&world) else { return };
    let mut steps: Vec<Value> = std::mem::take(&mut world.steps);
    steps.extend(steps::random(chance, &world));
    run(chance, &world, channel, &steps);
}

/// Plays random steps in a random world from the grammar, with a random network.
pub fn world(data: &[u8]) {
    let mut chance = Chance::from_bytes(data);
    let world = world_of(&mut chance);
    in_new_world(&mut chance, world);
}

/// Plays a recorded world with faults, with its own picks and random steps.
pub fn recorded_world(data: &[u8]) {
    let mut chance = Chance::from_bytes(data);
    let world = recorded_world_of(&mut chance);
    in_new_world(&mut chance, world);
}

/// Plays random networks and steps in worlds that are read only once, so that many more fit into a
/// second.
pub fn simulation(data: &[u8]) {
    let mut chance = Chance::from_bytes(data);
    let Some((world, client, start)) = fixed(chance.below(1 << 16)) else {
        return;
    };
    let steps = steps::random(&mut chance, world);
    run(&mut chance, world, (client, start), &steps);
}

/// Plays any lines of a script, in a world that the first byte chooses.
pub fn requests(data: &[u8]) {
    let Some((first, text)) = data.split_first() else {
        return;
    };
    let Some((world, client, start)) = fixed(usize::from(*first)) else {
        return;
    };
    let mut steps = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let Ok(json) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        match Step::read(&json.to_string()) {
            Ok(step) if steps::is_long(&step) => return,
            Ok(step) => steps.push(step),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let known: Vec<SocketAddr> = hosts(world).iter().filter_map(|host| host.parse().ok()).collect();
    if let Err((number, error)) = script::check(&steps, &known) {
        assert!(
            number < steps.len() && !error.to_string().is_empty(),
            "{number}: {error}"
        );
        return;
    }
    let options = ChannelOptions {
        max_events: Some(MAX_EVENTS),
        traces: true,
        ..ChannelOptions::default()
    };
    let outcomes = play(client, start, Network::default(), options, &steps);
    outcomes.iter().for_each(check);
}
