//! `xdsctl pick`: follows RPCs through a simulated channel.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use super::several::{self, ClientsQuestion};
use crate::args::{Format, PickArgs};
use crate::io::progress;
use crate::session::{self, address, words};
use crate::{Error, Io};
use xdsctl_channel::client::config::XdsConfig;
use xdsctl_channel::rpc::{self, NoSession, Request, Selector};
use xdsctl_channel::session::Session;
use xdsctl_channel::sim::script::{self, Player, Step};
use xdsctl_channel::sim::{Channel, ChannelOptions, LookupReply, Lookups, Network, Reachability, Respond, Rpc};
use xdsctl_document::source::{MAX_STREAM_BYTES, read_stream};
use xdsctl_lb::policy::LookupAnswer;
use xdsctl_lb::runtime::{Connectivity, LbOptions};
use xdsctl_model::status::Code;
use xdsctl_model::text;
use xdsctl_report::channel::layers::Question;
use xdsctl_report::channel::pick::{PickStyle, Telling};
use xdsctl_report::told::Told;

mod place;

/// How long connections may take before the first of many RPCs, in milliseconds.
const WARM_UP_MS: i64 = 100;

pub(super) fn run(args: &PickArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let is_input = |file: &PathBuf| file.as_os_str() == "-";
    let question = match (&args.requests, &args.address) {
        (Some(_), _) => Question::Steps,
        (None, Some(_)) => Question::Place,
        (None, None) => Question::Pick,
    };
    let mut asked = ClientsQuestion::of_channel(question, &args.channel, args.format == Format::Json);
    asked.reads_stdin |= args.requests.as_ref().is_some_and(is_input);
    several::run(asked, io, &mut |one, told, io| {
        let mut args = args.clone();
        if one.client.is_some() && args.count > several::MAX_COUNT {
            let max = several::MAX_COUNT;
            let message = format!("--count is {max} at most if --client names several clients");
            return Err(Error::Usage(message));
        }
        one.put_into(&mut args.channel.client);
        if one.asks_shares {
            args.count = args.count.max(2);
            args.explain = false;
        }
        answer(&args, told, io)
    })
}

fn answer(args: &PickArgs, told: &mut Told, io: &mut Io<'_>) -> Result<u8, Error> {
    let mut rpc = Rpc {
        wait_for_ready: args.wait_for_ready,
        ..session::rpc(&args.request)?
    };
    let steps = read_steps(args, io)?;
    session::refuse_method("pick", &args.channel.input.files)?;
    let mut opened = session::open(&args.channel, io)?;
    let lookups = lookups(args);
    let targets = script::lookup_targets(steps.iter().flatten().map(|(_, step)| step));
    opened.expect(lookups.targets().map(str::to_owned).chain(targets));
    opened.check_effort(steps.is_none().then_some(&rpc.method))?;
    words::say_hint(&opened, io)?;
    if let Some(address) = &args.address {
        let config = config(&opened)?;
        let is_there = place::tell(address, config, told, &mut io.out)?;
        return Ok(session::exit(!is_there));
    }
    if args.requests.is_none() {
        session::say_method(&args.request, io)?;
    }
    if let Some(address) = &args.session {
        let cookie = forge(address, &rpc, config(&opened)?, args.request.seed, io)?;
        rpc.headers.extend(cookie.map(|cookie| ("cookie".to_owned(), cookie)));
    }
    let mut known = known(&opened);
    known.extend(script::added(steps.iter().flatten().map(|(_, step)| step)));
    for eject in &args.eject {
        check_known("--eject", address("--eject", eject)?, &known)?;
    }
    if let Some(steps) = &steps {
        check_steps(args, steps, &known)?;
        if !steps.iter().any(|(_, step)| step.sending().is_some()) {
            say!(
                io.err,
                "note: {}: no step sends an RPC, so there is no answer",
                script_name(args)
            )?;
        }
    }
    let mut network = network(args, &opened, &known)?;
    let config = opened.config.as_ref();
    let has_plugin = config.is_ok_and(|config| config.plugins().next().is_some());
    let needs_lookups = has_plugin && lookups.0.is_empty();
    if !has_plugin && !lookups.0.is_empty() && opened.config.is_ok() {
        say!(io.err, "note: --lookup: no route of the channel goes by a lookup (RLS)")?;
    }
    network.lookups = lookups;
    drop(known);
    let states = states(&args.state)?;
    let is_counted = args.count > 1;
    let options = ChannelOptions {
        seed: args.request.seed,
        lb: LbOptions {
            ejected: args.eject.iter().cloned().collect(),
            ..LbOptions::default()
        },
        waits_for_missing: false,
        traces: !is_counted || args.explain,
        places: matches!(told, Told::Printed { is_json: true }),
        shows_secrets: args.channel.input.show_secrets,
        max_events: Some(args.max_events),
        ..ChannelOptions::default()
    };
    let unanswered = words::unanswered(&opened);
    let mut channel = opened.channel(network, options);
    set_states(&mut channel, &states, &rpc)?;
    let style = PickStyle {
        is_json: matches!(told, Told::Printed { is_json: true }),
        is_counted,
        explains: args.explain,
        colour: io.colours(args.color),
        seed: args.request.seed,
    };
    let mut out = std::mem::replace(&mut io.out, Box::new(std::io::sink()));
    let telling = match told {
        Told::Printed { .. } => Telling::begin(style, &mut *out).map_err(Error::from),
        Told::Kept(kept) => Ok(Telling::keeping(style, kept)),
    };
    let result = telling.and_then(|telling| tell(args, steps, (&mut channel, &rpc), telling, io));
    io.out = out;
    io.leave(channel);
    let (all_ok, limit) = result?;
    if !all_ok && needs_lookups && args.requests.is_none() {
        say!(
            io.err,
            "help: lookups (RLS) fail here, as nothing says what the service answers; give that with --lookup CLUSTER"
        )?;
    }
    if let (false, Some(unanswered)) = (all_ok, unanswered) {
        say!(io.err, "help: {unanswered}")?;
    }
    match limit {
        Some(limit) => Err(Error::Usage(limit)),
        None => Ok(session::exit(!all_ok)),
    }
}

/// Sends the RPCs and prints the answers. Returns whether all went well, and why the simulation
/// ended too early, if it did.
fn tell(
    args: &PickArgs,
    steps: Option<Vec<(usize, Step)>>,
    (channel, rpc): (&mut Channel, &Rpc),
    mut telling: Telling<'_>,
    io: &mut Io<'_>,
) -> Result<(bool, Option<String>), Error> {
    let mut expected = BTreeMap::new();
    let limit = match steps {
        Some(steps) => play(args, &steps, channel, &mut telling, io)?,
        None => many(args.count, (channel, rpc), &mut telling, &mut expected, io)?,
    };
    let all_ok = telling.failed() == 0;
    telling.end(&expected, limit.as_deref())?;
    Ok((all_ok, limit))
}

/// Plays the steps of a script.
fn play(
    args: &PickArgs,
    steps: &[(usize, Step)],
    channel: &mut Channel,
    telling: &mut Telling<'_>,
    io: &mut Io<'_>,
) -> Result<Option<String>, Error> {
    let name = script_name(args);
    let mut player = Player::default();
    for (line, step) in steps {
        let mut written = Ok(());
        let played = player.play(step, channel, &mut |outcome| {
            if written.is_ok() {
                written = telling.tell(&outcome);
            }
            written.is_ok()
        });
        written?;
        match played {
            Ok(told) => {
                for note in told.notes {
                    say!(io.err, "note: {name}:{line}: {note}")?;
                }
                if let Some(fault) = told.faults.first() {
                    return Ok(Some(format!("{name}:{line}: {fault}")));
                }
            }
            Err(limit) => return Ok(Some(format!("{name}:{line}: {limit}"))),
        }
    }
    Ok(None)
}

/// Sends an RPC `count` times. If that is more than once, lets connections be made before the
/// second RPC, and sets the shares to be `expected`.
fn many(
    count: u64,
    (channel, rpc): (&mut Channel, &Rpc),
    telling: &mut Telling<'_>,
    expected: &mut BTreeMap<String, f64>,
    io: &mut Io<'_>,
) -> Result<Option<String>, Error> {
    let total = usize::try_from(count).unwrap_or(usize::MAX);
    progress::during(io, total, &format!("{count} RPCs"), |progress| {
        for done in 0..total {
            match channel.call(rpc.clone()) {
                Err(limit) => return Ok(Some(limit.to_string())),
                Ok(Some(outcome)) => telling.tell(&outcome)?,
                Ok(None) => break,
            }
            // The first RPC has woken the policies that connect on demand.
            if done == 0 && count > 1 {
                if let Err(limit) = channel.sleep(WARM_UP_MS) {
                    return Ok(Some(limit.to_string()));
                }
                *expected = channel.expected(rpc);
            }
            progress.reach(done + 1);
        }
        Ok(None)
    })
}

fn config(opened: &Session) -> Result<&XdsConfig, Error> {
    match &opened.config {
        Ok(config) => Ok(config),
        Err(failure) => Err(Error::Usage(failure.to_string())),
    }
}

/// Returns the answers of lookup services that the arguments give.
fn lookups(args: &PickArgs) -> Lookups {
    let targets: Vec<_> = args.lookup.iter().map(|target| target.as_str().into()).collect();
    let reply = LookupReply {
        service: None,
        keys: BTreeMap::new(),
        after_ms: None,
        result: Arc::new(Ok(LookupAnswer {
            targets,
            header_data: "".into(),
        })),
    };
    Lookups(Some(reply).filter(|_| !args.lookup.is_empty()).into_iter().collect())
}

/// Returns the addresses of the channel's endpoints.
fn known(opened: &Session) -> Vec<SocketAddr> {
    let config = opened.config.iter();
    let of_endpoints = config.flat_map(|config| config.addresses().chain(config.lookup_services()));
    let of_names = opened.client.dns.values().flatten().flatten().copied();
    of_endpoints.chain(of_names).collect()
}

/// Refuses an address that no endpoint has, because the argument would have no effect.
fn check_known(argument: &str, address: SocketAddr, known: &[SocketAddr]) -> Result<(), Error> {
    // `::ffff:1.2.3.4` means the same backend as `1.2.3.4`.
    let is_same =
        |other: &SocketAddr| other.port() == address.port() && other.ip().to_canonical() == address.ip().to_canonical();
    if known.iter().any(is_same) || known.is_empty() {
        return Ok(());
    }
    Err(Error::Usage(words::no_such_address(argument, address, known)))
}

fn script_name(args: &PickArgs) -> String {
    args.requests.iter().map(|path| path.display().to_string()).collect()
}

fn check_steps(args: &PickArgs, steps: &[(usize, Step)], known: &[SocketAddr]) -> Result<(), Error> {
    script::check(steps.iter().map(|(_, step)| step), known).map_err(|(number, error)| {
        let line = steps.get(number).map_or(0, |(line, _)| *line);
        Error::Usage(format!("{}:{line}: {error}", script_name(args)))
    })
}

/// Reads the steps, each with the number of its line.
fn read_steps(args: &PickArgs, io: &mut Io<'_>) -> Result<Option<Vec<(usize, Step)>>, Error> {
    let Some(path) = &args.requests else { return Ok(None) };
    let name = path.display().to_string();
    let read = if name == "-" {
        read_stream(&mut io.input, MAX_STREAM_BYTES)
    } else {
        File::open(path).and_then(|mut file| read_stream(&mut file, MAX_STREAM_BYTES))
    };
    let text = read
        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is not UTF-8")))
        .map_err(Error::io("read", &name))?;
    let mut steps = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |why: String| Error::Usage(format!("{name}:{number}: {why}"));
        if !line.trim_start().starts_with('{') {
            let wanted = "a step is a JSON object in a line of its own, such as `{\"pick\": {}}`";
            return Err(wrong(wanted.to_owned()));
        }
        let step = Step::read(line).map_err(|error| wrong(error.to_string()))?;
        steps.push((number, step));
    }
    if steps.is_empty() {
        return Err(Error::Usage(format!("{name}: there is no step in it")));
    }
    Ok(Some(steps))
}

/// Returns the addresses of the channel that an address, locality or cluster stands for.
fn meant(name: &str, opened: &Session, known: &[SocketAddr]) -> Result<Vec<SocketAddr>, Error> {
    if let Ok(address) = name.parse() {
        check_known("--down", address, known)?;
        return Ok(vec![address]);
    }
    let config = opened.config.as_ref();
    Ok(config.map_or_else(|_| Vec::new(), |config| place::addresses_of(name, config)))
}

/// Returns the states of connections and backends that the arguments give.
fn network(args: &PickArgs, opened: &Session, known: &[SocketAddr]) -> Result<Network, Error> {
    let mut network = Network::default();
    if !args.reachable.is_empty() {
        let addresses: Result<Vec<SocketAddr>, Error> =
            args.reachable.iter().map(|text| address("--reachable", text)).collect();
        let addresses = addresses?;
        for address in &addresses {
            check_known("--reachable", *address, known)?;
        }
        network = Network::only(addresses);
    }
    for down in &args.down {
        let mut found = meant(down, opened, known)?;
        if found.is_empty() {
            // The argument is a list, unless it is a name with commas.
            for one in down.split(',').map(str::trim) {
                let of_one = meant(one, opened, known)?;
                if of_one.is_empty() && opened.config.is_ok() {
                    return Err(Error::Usage(format!(
                        "--down `{one}` is not an address, locality (REGION/ZONE/SUB_ZONE) or cluster of the channel"
                    )));
                }
                found.extend(of_one);
            }
        }
        network
            .addresses
            .extend(found.into_iter().map(|address| (address, Reachability::Refuses)));
    }
    for (address, state) in states(&args.state)? {
        check_known("--state", address, known)?;
        let reach = match state {
            Connectivity::Ready | Connectivity::Idle => Reachability::Accepts,
            Connectivity::Connecting => Reachability::Hangs,
            Connectivity::TransientFailure => Reachability::Refuses,
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

fn states(arguments: &[String]) -> Result<Vec<(SocketAddr, Connectivity)>, Error> {
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
            Ok((address, Connectivity::from_name(state).ok_or_else(wrong)?))
        })
        .collect()
}

/// Lets the channel connect, and then lose the connections that are to be IDLE.
fn set_states(channel: &mut Channel, states: &[(SocketAddr, Connectivity)], rpc: &Rpc) -> Result<(), Error> {
    let idle: Vec<&SocketAddr> = states
        .iter()
        .filter(|(_, state)| *state == Connectivity::Idle)
        .map(|(address, _)| address)
        .collect();
    if idle.is_empty() {
        return Ok(());
    }
    channel.call(rpc.clone()).and_then(|_| channel.sleep(WARM_UP_MS))?;
    for address in idle {
        channel.disconnect(address);
    }
    channel.restart_draws();
    Ok(())
}

/// Returns the cookie of an endpoint's session; `None` for an RPC that no route takes.
fn forge(text: &str, rpc: &Rpc, config: &XdsConfig, seed: u64, io: &mut Io<'_>) -> Result<Option<String>, Error> {
    let address = address("--session", text)?;
    let selector = Selector::new(Arc::new(config.clone()));
    let request = Request {
        path: &rpc.method,
        headers: &rpc.headers,
        timeout: None,
    };
    let forged = match rpc::session_cookie(&selector, &request, seed, &address) {
        Ok(forged) => forged,
        Err(NoSession::NoRoute) => {
            // The answer says why no route takes it.
            say!(
                io.err,
                "note: no route takes the RPC to a cluster, so it has no session"
            )?;
            return Ok(None);
        }
        Err(NoSession::NoFilter(idle)) => {
            let (method, why) = (&rpc.method, idle.as_deref().unwrap_or("none"));
            return Err(Error::Usage(format!(
                "--session needs a stateful session filter that is active for `{method}`, there is {why}"
            )));
        }
    };
    if !forged.is_known {
        // The endpoint may have gone since the cookie was set, or the client may drop it.
        let all: Vec<String> = place::all(config).map(|found| found.address.to_string()).collect();
        let near = text::nearest(text, all.iter().map(String::as_str));
        let hint = near.map(|near| format!(", did you mean {near}?")).unwrap_or_default();
        let of = match forged.clusters.is_empty() {
            true => "a cluster".to_owned(),
            false => format!("`{}`", forged.clusters.join("`, `")),
        };
        say!(
            io.err,
            "note: no endpoint of {of} has the address `{text}`: the session is one with an endpoint that is gone, or dropped{hint}"
        )?;
    }
    Ok(Some(forged.cookie))
}
