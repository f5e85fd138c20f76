//! `xdsctl pick`: follows RPCs through a simulated channel.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::args::{Format, PickArgs};
use super::channel::{self, Opened};
use super::{Error, Io, progress};
use crate::report::pick::{self, Answer};
use xdsctl::client::config::{ClusterState, XdsConfig};
use xdsctl::cookie;
use xdsctl::lb::endpoint::Address;
use xdsctl::lb::runtime::{Settings, State};
use xdsctl::rpc::{self, ChannelFacts, Draws, Request, Selector};
use xdsctl::sim::script::{Player, Step};
use xdsctl::sim::{Channel, Network, Options, Reach, Respond, Rpc};
use xdsctl::status::Code;
use xdsctl::text;

mod place;

/// Exit code for RPCs that fail.
const EXIT_FAILS: u8 = 1;

/// Deadline of an RPC that is given none, in milliseconds.
const DEFAULT_TIMEOUT_MS: i64 = 20_000;

/// Time for connections before the first of many RPCs, in milliseconds.
const WARM_UP_MS: i64 = 100;

pub(super) fn run(args: &PickArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let mut rpc = Rpc {
        method: args.request.method.clone(),
        headers: channel::headers(&args.request)?,
        timeout_ms: Some(DEFAULT_TIMEOUT_MS),
        wait_for_ready: args.wait_for_ready,
    };
    if let Some(seconds) = args.request.timeout {
        rpc.timeout_ms = Some(channel::millis(seconds).0.max(0));
    }
    let steps = read_steps(args, io)?;
    let opened = channel::open(&args.channel, io)?;
    if let (Err(_), Some(hint)) = (&opened.config, channel::hint(&opened)) {
        writeln!(io.err, "help: {hint}")?;
    }
    if let Some(address) = &args.address {
        let config = config(&opened)?;
        place::write(address, config, &mut io.out)?;
        return Ok(0);
    }
    if let Some(address) = &args.session {
        let cookie = forge(address, &rpc, config(&opened)?, args.request.seed)?;
        rpc.headers.push(("cookie".to_owned(), cookie));
    }
    let network = network(args, &opened)?;
    let states = states(&args.state)?;
    let is_counted = args.count > 1;
    let options = Options {
        seed: args.request.seed,
        settings: Settings {
            ejected: args.eject.iter().cloned().collect(),
            ..Settings::default()
        },
        waits_for_missing: false,
        traces: !is_counted || args.explain,
        shows_secrets: args.channel.input.show_secrets,
    };
    let exit_ok = opened.exit(false);
    let mut channel = Channel::new(opened.client, opened.start, network, options);
    set_states(&mut channel, &states, &rpc);
    let mut outcomes = Vec::new();
    let mut expected = BTreeMap::new();
    match steps {
        Some(steps) => {
            let mut player = Player::default();
            for step in &steps {
                player.play(step, &mut channel, &mut |outcome| outcomes.push(outcome));
            }
        }
        None => {
            if is_counted {
                // The first RPC wakes what connects on demand.
                outcomes.extend(channel.call(rpc.clone()));
                channel.sleep(WARM_UP_MS);
                expected = channel.expected(&rpc);
            }
            let count = usize::try_from(args.count).unwrap_or(usize::MAX);
            progress::during(io, count, &format!("{count} RPCs"), |progress| {
                while outcomes.len() < count {
                    let Some(outcome) = channel.call(rpc.clone()) else {
                        break;
                    };
                    outcomes.push(outcome);
                    progress.reach(outcomes.len());
                }
            });
        }
    }
    let answer = Answer {
        outcomes: &outcomes,
        expected: &expected,
        is_counted,
        explains: args.explain,
        seed: args.request.seed,
    };
    match args.format {
        Format::Human => pick::write_text(&answer, io.colours(args.color), &mut io.out)?,
        Format::Json => pick::write_json(&answer, &mut io.out)?,
    }
    let all_ok = outcomes.iter().all(|outcome| outcome.code == Code::Ok);
    Ok(if all_ok { exit_ok } else { EXIT_FAILS })
}

fn config(opened: &Opened) -> Result<&XdsConfig, Error> {
    match &opened.config {
        Ok(config) => Ok(config),
        Err(failure) => Err(Error::Usage(failure.to_string())),
    }
}

fn read_steps(args: &PickArgs, io: &mut Io<'_>) -> Result<Option<Vec<Step>>, Error> {
    let Some(path) = &args.requests else { return Ok(None) };
    let name = path.display().to_string();
    let read = if name == "-" {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut io.input, &mut text).map(|_| text)
    } else {
        std::fs::read_to_string(path)
    };
    let text = read.map_err(|source| Error::Io {
        what: "read",
        name: name.clone(),
        source,
    })?;
    let mut steps = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |why: String| Error::Usage(format!("{name}:{number}: {why}"));
        let json = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        steps.push(Step::from_json(&json).map_err(|error| wrong(error.to_string()))?);
    }
    Ok(Some(steps))
}

fn address(argument: &str, text: &str) -> Result<SocketAddr, Error> {
    text.parse()
        .map_err(|_| Error::Usage(format!("{argument} `{text}` must be an address like 10.0.0.1:80")))
}

/// What connections and backends do, by the arguments.
fn network(args: &PickArgs, opened: &Opened) -> Result<Network, Error> {
    let mut network = Network::default();
    if !args.reachable.is_empty() {
        let addresses: Result<Vec<SocketAddr>, Error> =
            args.reachable.iter().map(|text| address("--reachable", text)).collect();
        network = Network::only(addresses?);
    }
    for down in &args.down {
        let found: Vec<SocketAddr> = match (down.parse(), &opened.config) {
            (Ok(address), _) => vec![address],
            (Err(_), Ok(config)) => place::addresses_of(down, config),
            (Err(_), Err(_)) => continue,
        };
        if found.is_empty() {
            return Err(Error::Usage(format!(
                "--down `{down}` is no address, locality (REGION/ZONE/SUB_ZONE) or cluster of the channel"
            )));
        }
        network
            .addresses
            .extend(found.into_iter().map(|address| (address, Reach::Refuses)));
    }
    for (address, state) in states(&args.state)? {
        let reach = match state {
            State::Ready | State::Idle => Reach::Accepts,
            State::Connecting => Reach::Hangs,
            State::TransientFailure => Reach::Refuses,
        };
        network.addresses.insert(address, reach);
    }
    if let Some(text) = &args.respond {
        let (name, times) = text.split_once(':').unwrap_or((text, "1"));
        let code = Code::from_name(&name.to_ascii_uppercase());
        let (Some(code), Ok(times)) = (code, times.parse()) else {
            return Err(Error::Usage(format!(
                "--respond `{text}` must be CODE:N, like UNAVAILABLE:2"
            )));
        };
        network.respond = Some(Respond { code, times });
    }
    Ok(network)
}

fn states(arguments: &[String]) -> Result<Vec<(SocketAddr, State)>, Error> {
    arguments
        .iter()
        .map(|argument| {
            let wrong = || {
                Error::Usage(format!(
                    "--state `{argument}` must be IP:PORT=IDLE, CONNECTING, READY or TRANSIENT_FAILURE"
                ))
            };
            let (address, state) = argument.rsplit_once('=').ok_or_else(wrong)?;
            let address = address.parse().map_err(|_| wrong())?;
            Ok((address, State::from_name(state).ok_or_else(wrong)?))
        })
        .collect()
}

/// Lets the channel connect, and then lose the connections that are to be idle.
fn set_states(channel: &mut Channel, states: &[(SocketAddr, State)], rpc: &Rpc) {
    let idle: Vec<&SocketAddr> = states
        .iter()
        .filter(|(_, state)| *state == State::Idle)
        .map(|(address, _)| address)
        .collect();
    if idle.is_empty() {
        return;
    }
    channel.call(rpc.clone());
    channel.sleep(WARM_UP_MS);
    for address in idle {
        channel.disconnect(address);
    }
    channel.restart_draws();
}

/// The cookie that an endpoint's session would have.
fn forge(text: &str, rpc: &Rpc, config: &XdsConfig, seed: u64) -> Result<String, Error> {
    address("--session", text)?;
    let selector = Selector::new(std::sync::Arc::new(config.clone()));
    let request = Request {
        path: &rpc.method,
        headers: &rpc.headers,
        timeout: None,
    };
    let mut draws = Draws::new(seed);
    let channel = ChannelFacts {
        id: draws.channel_id(),
        active_faults: 0,
    };
    let selected = selector.select(
        &request,
        channel,
        &mut |purpose, bound| draws.draw(purpose, bound),
        None,
    );
    let selection = selected.map_err(|refusal| Error::Usage(refusal.status().to_string()))?;
    let Some(session) = selection.sessions.last() else {
        let method = &rpc.method;
        return Err(Error::Usage(format!(
            "--session needs a stateful session filter that is active for `{method}`, there is none"
        )));
    };
    let clusters: Vec<&str> = selector
        .choices(selection.route)
        .filter_map(|(key, _, _)| key.strip_prefix(rpc::CLUSTER_PREFIX))
        .collect();
    for cluster in &clusters {
        if let Some(list) = place::address_list(text, cluster, config) {
            let value = cookie::encode(&list, cluster);
            return Ok(format!("{}={value}", session.cookie.name));
        }
    }
    let all: Vec<String> = place::all(config).map(|found| found.address.to_string()).collect();
    let near = text::nearest(text, all.iter().map(String::as_str));
    let hint = near.map(|near| format!(", did you mean {near}?")).unwrap_or_default();
    Err(Error::Usage(format!(
        "--session {text} is not an address of {}{hint}",
        clusters.join(", ")
    )))
}

/// The leaf clusters below a cluster, itself if it is one.
fn leaves<'c>(cluster: &'c str, config: &'c XdsConfig) -> Vec<&'c str> {
    match config.clusters.get(cluster) {
        Some(ClusterState::Leaf(_)) => vec![cluster],
        Some(ClusterState::Aggregate(aggregate)) => aggregate.leaves.iter().map(String::as_str).collect(),
        Some(ClusterState::Error(_)) | None => Vec::new(),
    }
}

/// The addresses of an endpoint as a cookie lists them.
fn list_from(first: SocketAddr, all: impl Iterator<Item = SocketAddr>) -> String {
    let mut list = Address::new(first).text.to_string();
    for address in all.filter(|address| *address != first) {
        list.push(',');
        list.push_str(&Address::new(address).text);
    }
    list
}
