//! From inputs to the configuration of one channel: loads, validates, takes what a client would hold, resolves the target.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::args::ChannelArgs;
use crate::config::ProjectConfig;
use crate::io::input::{self, Inputs};
use crate::io::worlds;
use crate::report::listed;
use crate::{Error, Io};
use xdsctl_channel::client::config::{ChannelFailure, ChannelFailureClass as Class, XdsConfig};
use xdsctl_channel::client::dns::DnsAnswers;
use xdsctl_channel::client::target::{Target, TargetError};
use xdsctl_channel::client::{Client, Held, Keep, Resources, Start};
use xdsctl_channel::rpc;
use xdsctl_channel::sim::{Channel, ChannelOptions, MAX_MACHINES, Network, Rpc};
use xdsctl_clients::bootstrap::Bootstrap;
use xdsctl_model::profile::{self, Fleet};
use xdsctl_model::resource::listener::{Listener, RouteSource};
use xdsctl_model::status::{Code, Status};
use xdsctl_model::text;

mod change;
pub(super) mod followed;
mod request;
mod size;
mod start;

pub use request::{headers, method, millis, refuse_method, rpc, say_method, seconds};

/// Names listed in a message at most.
const NAMES_SHOWN: usize = 10;

/// Bytes of input that allow one more LB policy or connection each: a large input may have large channels.
const BYTES_A_MACHINE: u64 = 40;

/// Values are read again, when they are asked for, from documents of more than so many bytes.
const KEEP_VALUES_BYTES: usize = 16 << 20;

/// Exit code for RPCs that fail.
const EXIT_FAILS: u8 = 1;

/// A channel that has heard of everything in the inputs.
#[derive(Debug)]
pub struct Opened {
    /// The client, and what it holds.
    pub client: Client,
    /// Where the channel starts.
    pub start: Start,
    /// The configuration, or the failure of every RPC.
    pub config: Result<Arc<XdsConfig>, ChannelFailure>,
    /// Bytes of all inputs.
    pub input_bytes: u64,
}

impl Opened {
    /// LB policies and connections that the channel may have.
    pub fn most_machines(&self) -> usize {
        let by_input = usize::try_from(self.input_bytes / BYTES_A_MACHINE);
        MAX_MACHINES.max(by_input.unwrap_or(usize::MAX))
    }

    /// Lookups (RLS) may lead to these clusters, which belong to the channel then.
    pub fn expect(&mut self, lookup_targets: impl IntoIterator<Item = String>) {
        self.client.lookup_targets.extend(lookup_targets);
        if !self.client.lookup_targets.is_empty() {
            self.config = self.client.resolve(&self.start).map(Arc::new);
        }
    }

    /// The target; `None` if the channel starts at a cluster.
    pub const fn target(&self) -> Option<&Target> {
        match &self.start {
            Start::Target(target) => Some(target),
            Start::Routes { .. } | Start::Cluster(_) => None,
        }
    }

    /// Checks that the regexes of the routes can be matched against a path, or any path if `None`.
    ///
    /// # Errors
    /// A limit.
    pub fn check_effort(&self, path: Option<&str>) -> Result<(), Error> {
        match &self.config {
            Ok(config) => rpc::check_effort(config, path).map_err(|limit| Error::Usage(limit.to_string())),
            Err(_) => Ok(()),
        }
    }

    /// What a reader should know of an RPC that fails: which addresses DNS was not asked for, as nobody has given them.
    pub fn unanswered(&self) -> Option<String> {
        let names: BTreeSet<&str> = self.config.as_ref().ok()?.unanswered().collect();
        let first = names.first()?;
        Some(format!(
            "DNS is not asked, RPCs that need an address of {} fail; give it with --resolve {first}=IP:PORT",
            some(names.iter().copied())
        ))
    }

    /// The exit code of a command about RPCs that fail, or do not.
    pub const fn exit(&self, fails: bool) -> u8 {
        if fails { EXIT_FAILS } else { 0 }
    }

    /// What becomes of one RPC where everything answers; `None` if it works.
    ///
    /// # Errors
    /// A limit of the simulation.
    pub fn failure(self, rpc: Rpc, seed: u64) -> Result<Option<Status>, Error> {
        let options = ChannelOptions {
            seed,
            max_machines: Some(self.most_machines()),
            ..ChannelOptions::default()
        };
        let mut channel = Channel::new(self.client, self.start, Network::default(), options);
        let outcome = channel.call(rpc).map_err(|limit| Error::Usage(limit.to_string()))?;
        let failed = outcome.filter(|outcome| outcome.code != Code::Ok);
        Ok(failed.map(|outcome| Status::new(outcome.code, outcome.details)))
    }
}

/// Opens the channel that the arguments name. What could not be read, and what the client leaves out, is said on standard
/// error.
///
/// # Errors
/// Unreadable inputs, a target that is no xDS target, or none where several are possible.
pub fn open(args: &ChannelArgs, io: &mut Io<'_>) -> Result<Opened, Error> {
    open_if(args, of_channel, io)
}

/// The same where not every client can be asked: `asked` says which one, or why not; see [`open`].
///
/// # Errors
/// As for [`open`].
pub fn open_if(args: &ChannelArgs, asked: AskClient, io: &mut Io<'_>) -> Result<Opened, Error> {
    let config = ProjectConfig::of(&args.input.config, io)?;
    let fleet = client(args, &config, asked, io)?;
    let inputs = input::open_for(&args.input, &config, fleet, io)?;
    open_in(inputs, args, io)
}

/// Opens the channel that the arguments name, with these inputs; see [`open`].
///
/// # Errors
/// As for [`open`].
pub fn open_in(inputs: Inputs, args: &ChannelArgs, io: &mut Io<'_>) -> Result<Opened, Error> {
    load(inputs, args, io)?.open(args, 1, io)
}

/// What inputs say, before it is known where a channel starts: several may.
#[derive(Debug, Clone)]
pub struct ChannelInputs {
    /// With their names.
    worlds: Vec<(String, Resources)>,
    bootstrap: Bootstrap,
    dns: DnsAnswers,
    profile: profile::Profile,
    server: profile::ServerFacts,
    input_bytes: u64,
}

/// Reads the inputs of channels; of `args` what is not about one of them alone.
///
/// # Errors
/// A bootstrap that no client starts with, or no resource.
pub fn load(mut inputs: Inputs, args: &ChannelArgs, io: &mut Io<'_>) -> Result<ChannelInputs, Error> {
    if let (Some(path), Some(why)) = (&inputs.bootstrap_path, inputs.broken_bootstrap()) {
        return Err(Error::Usage(format!(
            "a client cannot start with the bootstrap `{}`: {why}",
            path.display()
        )));
    }
    let dns = dns_answers(&args.resolve)?;
    let input_bytes = inputs.size() as u64;
    let keep = match inputs.size() > KEEP_VALUES_BYTES {
        true => Keep::Places,
        false => Keep::Values,
    };
    let settled = inputs.settle(keep, io)?;
    let bootstrap = inputs.bootstrap.take().unwrap_or_default();
    let store = Arc::new(inputs.into_store());
    let held = settled.hold(&store).into_iter();
    let worlds: Vec<(String, Resources)> = held
        .map(|(world, held)| (worlds::name(&world, &store.sources).to_owned(), held))
        .collect();
    if worlds.is_empty() {
        return Err(Error::Nothing("no xDS resource in the input".to_owned()));
    }
    Ok(ChannelInputs {
        worlds,
        bootstrap,
        dns,
        profile: store.profile.clone(),
        server: store.server.clone(),
        input_bytes,
    })
}

impl ChannelInputs {
    /// Resources of all worlds.
    pub fn resources(&self) -> usize {
        self.worlds.iter().map(|(_, held)| held.count()).sum()
    }

    /// Opens the channel that the arguments name, one of so many.
    ///
    /// # Errors
    /// As for [`open`].
    pub fn open(mut self, args: &ChannelArgs, channels: usize, io: &mut Io<'_>) -> Result<Opened, Error> {
        let number = start::world(&self.worlds, args, &self.bootstrap)?;
        let mut client = Client {
            resources: self.worlds.swap_remove(number).1,
            node_id: self.bootstrap.node_id.clone(),
            dns: self.dns,
            profile: self.profile,
            server: self.server,
            ..Client::default()
        };
        let resources = &client.resources;
        note_unused_names(&client.dns, resources, io)?;
        let start = start::of(args, resources, &self.bootstrap, io)?;
        change::endpoints(args, &mut client, &start, io)?;
        say_left_out(&client.resources, io)?;
        let config = client.resolve(&start).map(Arc::new);
        if let Some(why) = followed::why_not(&client, &config) {
            return Err(Error::Usage(why));
        }
        if client.profile.stands_for().is_some() {
            let name = client.profile.name();
            writeln!(
                io.err,
                "note: as {name}, but for the words of messages, which are C-core's"
            )?;
        }
        if let Ok(config) = &config {
            size::check(config, self.input_bytes, channels)?;
        }
        Ok(Opened {
            client,
            start,
            config,
            input_bytes: self.input_bytes,
        })
    }
}

/// Asks a client, or says why it cannot be asked.
type AskClient = fn(profile::Client) -> Result<Fleet, String>;

/// Asks a client whose channel is followed.
///
/// # Errors
/// Where its RPCs go is not known.
pub fn of_channel(client: profile::Client) -> Result<Fleet, String> {
    Fleet::of_channel(client).map_err(|error| error.to_string())
}

/// The client that `--client` names, or else the only one of the project. Where that one cannot be asked, or there are several, it
/// is the reference, which is said.
///
/// # Errors
/// `--client` names none or several, or one that cannot be asked.
pub fn client(args: &ChannelArgs, config: &ProjectConfig, asked: AskClient, io: &mut Io<'_>) -> Result<Fleet, Error> {
    let read = |list: &str, from: &str| {
        profile::Client::parse_list(list).map_err(|error| Error::Usage(format!("{from}: {error}")))
    };
    if let Some(name) = &args.client {
        let clients = read(name, "--client")?;
        let [client] = clients.as_slice() else {
            return Err(Error::Usage(format!(
                "--client: `{name}` are {} clients, a channel has one",
                clients.len()
            )));
        };
        return asked(*client).map_err(|why| Error::Usage(format!("--client: {why}")));
    }
    let Some(setting) = &config.clients else {
        return Ok(Fleet::default());
    };
    let place = config.place(setting);
    let clients = read(&setting.value.join(","), &place)?;
    let why = match clients.as_slice() {
        [client] => match asked(*client) {
            Ok(fleet) => {
                say!(io.err, "note: as {client}, which {place} asks")?;
                return Ok(fleet);
            }
            Err(why) => why,
        },
        several => format!(
            "it asks {} clients, a channel has one: choose it with --client",
            several.len()
        ),
    };
    let base = Fleet::default().base().name();
    say!(io.err, "note: as {base}, and not as {place} says: {why}")?;
    Ok(Fleet::default())
}

/// Says which names of `--resolve` no cluster has.
fn note_unused_names(dns: &DnsAnswers, resources: &Resources, io: &mut Io<'_>) -> Result<(), Error> {
    let hosts = resources.dns_names();
    for name in dns.keys().filter(|name| !hosts.clone().any(|host| host == *name)) {
        say!(io.err, "note: {}", no_such("DNS name", name, hosts.clone()))?;
    }
    Ok(())
}

/// Reads `--target` and `--authority`.
///
/// # Errors
/// A target to which no channel can be made.
pub fn read_target(uri: &str, authority: Option<&str>, bootstrap: &Bootstrap) -> Result<Target, Error> {
    // A bare name is most likely meant so.
    let uri = if uri.starts_with("xds:") || uri.contains("://") {
        uri.to_owned()
    } else {
        format!("xds:///{uri}")
    };
    let target = Target::parse(&uri, authority, bootstrap);
    target.map_err(|error| Error::Usage(target_words(&error, bootstrap)))
}

fn target_words(error: &TargetError, bootstrap: &Bootstrap) -> String {
    match error {
        TargetError::UnknownAuthority(_) if bootstrap.authorities.is_empty() => {
            format!("{error}; give the bootstrap that has it with --bootstrap")
        }
        TargetError::UnknownAuthority(_) => {
            let names = some(bootstrap.authorities.keys().map(String::as_str));
            format!("{error}; the bootstrap has {names}")
        }
        TargetError::NotXds(_) => error.to_string(),
        TargetError::Invalid(_) => format!("{error}, expected `xds:///NAME`"),
    }
}

/// A few names for a message.
pub fn some<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    listed(names.iter().map(|name| format!("`{name}`")), NAMES_SHOWN)
}

/// Says that a name is unknown, and what was probably meant, or what there is.
pub fn no_such<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    if let Some(near) = text::nearest(name, names.clone()) {
        return format!("no {what} `{name}`, did you mean `{near}`?");
    }
    match some(names) {
        list if list.is_empty() => format!("no {what} `{name}`: there is none at all"),
        list => format!("no {what} `{name}`, there is {list}"),
    }
}

/// Reads an address.
///
/// # Errors
/// Anything else.
pub fn address(argument: &str, text: &str) -> Result<SocketAddr, Error> {
    text.parse()
        .map_err(|_| Error::Usage(format!("{argument} `{text}` must be an address like 10.0.0.1:80")))
}

/// Says that no endpoint has an address, and which one was probably meant, or which ones there are.
pub fn no_such_address(argument: &str, address: SocketAddr, known: &[SocketAddr]) -> Error {
    let texts: Vec<String> = known.iter().map(ToString::to_string).collect();
    let names = || texts.iter().map(String::as_str);
    let hint = match text::nearest(&address.to_string(), names()) {
        Some(near) => format!(", did you mean {near}?"),
        None if known.is_empty() => ": there is none at all".to_owned(),
        None => format!("; there is {}", some(names())),
    };
    Error::Usage(format!(
        "{argument}: no endpoint of the channel has the address `{address}`{hint}"
    ))
}

fn dns_answers(arguments: &[String]) -> Result<DnsAnswers, Error> {
    let mut answers = DnsAnswers::new();
    for argument in arguments {
        let wrong = || Error::Usage(format!("--resolve `{argument}` must be HOST:PORT=IP:PORT,..."));
        let (name, list) = argument.split_once('=').ok_or_else(wrong)?;
        let addresses: Result<Vec<SocketAddr>, _> = list.split(',').map(str::parse).collect();
        answers.insert(name.to_owned(), Ok(addresses.map_err(|_| wrong())?));
    }
    Ok(answers)
}

/// What the client leaves out, for the lines beside an answer.
fn left_out(resources: &Resources) -> Vec<String> {
    resources
        .rejected()
        .into_iter()
        .map(|rejected| {
            let kept = if rejected.has_earlier {
                ", its earlier version stays"
            } else {
                ""
            };
            let kind = rejected.resource_type.short_name();
            format!("{kind} `{}` is left out{kept}: {}", rejected.name, rejected.why)
        })
        .chain(resources.removed().map(|(resource_type, name)| {
            let kind = resource_type.short_name();
            format!("{kind} `{name}` is left out: a later response takes it away")
        }))
        .collect()
}

/// Says what the client leaves out, of many the first ones.
fn say_left_out(resources: &Resources, io: &mut Io<'_>) -> Result<(), Error> {
    let lines = left_out(resources);
    for line in lines.iter().take(NAMES_SHOWN) {
        say!(io.err, "note: {line}")?;
    }
    let more = lines.len().saturating_sub(NAMES_SHOWN);
    if more > 0 {
        say!(io.err, "note: {more} more are left out, `xdsctl validate` lists them")?;
    }
    Ok(())
}

/// What may help a reader whose channel has no configuration.
pub fn hint(opened: &Opened) -> Option<String> {
    let failure = opened.config.as_ref().err()?;
    let target = opened.target()?;
    match failure.class {
        Class::Missing if !opened.client.resources.listeners.contains_key(&target.listener) => {
            let names = opened.client.resources.listeners.keys().map(String::as_str);
            Some(no_such("Listener", &target.listener, names))
        }
        Class::Missing => {
            let names = some(opened.client.resources.route_configs.keys().map(String::as_str));
            Some(format!("RouteConfigurations in the input: {names}"))
        }
        Class::NoVirtualHost => {
            let domains = nearest_domains(opened, target);
            Some(format!("the domains are {domains}; --authority sets another authority"))
        }
        Class::NotApiListener => Some("the Listener is for a server or a proxy: it has no api_listener".to_owned()),
        Class::Rejected | Class::NotAskedFor | Class::BadRetryPolicy => Some("`xdsctl validate` says where".to_owned()),
    }
}

/// The domains of the RouteConfiguration, those most like the authority first.
fn nearest_domains(opened: &Opened, target: &Target) -> String {
    let resources = &opened.client.resources;
    let listener = resources.listeners.get(&target.listener).and_then(Held::value);
    let Some(Listener::Api(manager)) = listener.map(|listener| &**listener) else {
        return String::new();
    };
    let routes = match &manager.routes {
        RouteSource::Inline(routes) => &**routes,
        RouteSource::Rds(name) => match resources.route_configs.get(name).and_then(Held::value) {
            Some(routes) => &**routes,
            None => return String::new(),
        },
    };
    let all = || {
        routes
            .virtual_hosts
            .iter()
            .flat_map(|host| &host.domains)
            .map(String::as_str)
    };
    match text::nearest(&target.authority, all()) {
        Some(near) => some(std::iter::once(near).chain(all().filter(|domain| *domain != near))),
        None => some(all()),
    }
}
