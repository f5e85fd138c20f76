//! One channel of one client. It is opened from what the inputs hold, where the channel starts, and
//! what is to be different.
//!
//! ```text
//! SessionInputs ─┬─ open ─ Session ─ channel ─ sim::Channel
//! SessionPlan  ──┘          its client, its start, its configuration
//! ```
//!
//! Commands and suites open their channels here, so that all of them refuse the same channels; an
//! embedder may also make a channel of a client alone. Nothing is worded for a command line: [`SessionError`] and [`SessionNote`] state the
//! facts, and the caller words them for its readers.

mod change;
mod error;
mod followed;
mod size;
mod start;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use error::{NamedStart, SessionError, SessionNote};
pub use followed::why_none;
pub use start::{PlannedStart, target};

use crate::client::config::{ChannelFailure, XdsConfig};
use crate::client::dns::DnsAnswers;
use crate::client::target::Target;
use crate::client::{Client, EndpointChange, Resources, Start};
use crate::rpc::{self, TooManyInstructions};
use crate::sim::{Channel, ChannelOptions, LimitReached, MAX_MACHINES, Network, Rpc};
use xdsctl_clients::bootstrap::Bootstrap;
use xdsctl_model::profile::{Family, Feature, Profile, ServerFacts};
use xdsctl_model::status::{Code, Status};

/// The bytes of input that allow one more LB policy or connection: a large input may have large
/// channels.
const BYTES_A_MACHINE: u64 = 40;

/// What inputs hold, before it is known where a channel starts. Several sessions may share them.
#[derive(Debug, Clone, Default)]
pub struct SessionInputs {
    /// What the client of each world holds, with the name of the world; at least one.
    pub worlds: Vec<(String, Resources)>,
    /// The bootstrap of the client, which turns targets into names of Listeners.
    pub bootstrap: Bootstrap,
    /// The client's version and switches.
    pub profile: Profile,
    /// What validation knows of the management server.
    pub server: ServerFacts,
    /// The size of all documents, in bytes.
    pub input_bytes: u64,
}

/// Which channel is to be opened, and what is to be different from what the inputs say.
#[derive(Debug, Clone, Default)]
pub struct SessionPlan {
    /// The world; `None` if only one world has the resource at which the channel starts.
    pub world: Option<String>,
    /// Where the channel starts.
    pub start: PlannedStart,
    /// Authority of the channel, instead of the target's name.
    pub authority: Option<String>,
    /// The addresses that DNS answers with for LOGICAL_DNS clusters.
    pub dns: DnsAnswers,
    /// Endpoints that EDS changes before the channel starts.
    pub endpoints: Vec<EndpointChange>,
}

/// A channel that has received all resources of the inputs.
#[derive(Debug, Clone)]
pub struct Session {
    /// The client, and what it holds.
    pub client: Client,
    /// Where the channel starts.
    pub start: Start,
    /// The configuration, or the failure of every RPC.
    pub config: Result<Arc<XdsConfig>, ChannelFailure>,
    /// The size of all documents, in bytes.
    input_bytes: u64,
}

impl SessionInputs {
    /// The number of resources in all worlds.
    pub fn resources(&self) -> usize {
        self.worlds.iter().map(|(_, held)| held.count()).sum()
    }

    /// Opens one of `channels` channels that share these inputs. Adds remarks for the user to
    /// `notes`, even if it returns an error.
    ///
    /// # Errors
    /// The start does not exist, or none is named and several are possible; the channel is too
    /// large, or cannot be followed.
    pub fn open(
        mut self,
        plan: &SessionPlan,
        channels: usize,
        notes: &mut Vec<SessionNote>,
    ) -> Result<Session, SessionError> {
        let number = start::world(&self.worlds, plan, &self.bootstrap)?;
        let resources = self.worlds.swap_remove(number).1;
        let mut client = Client::holding(resources, &self.bootstrap.node_id, &self.profile, &self.server);
        client.dns.clone_from(&plan.dns);
        notes.extend(error::unused_names(&plan.dns, &client.resources));
        let start = start::of(plan, &client.resources, &self.bootstrap, notes)?;
        change::endpoints(&plan.endpoints, &mut client, &start, notes)?;
        notes.extend(error::left_out(&client.resources));
        let config = client.resolve(&start).map(Arc::new);
        if let Some(why) = followed::why_not(&client, &config) {
            return Err(SessionError::NotFollowed(why));
        }
        if !client.profile.is_core() {
            notes.push(SessionNote::WordsOfReference {
                client: client.profile.name(),
                has_own: client.profile.client().family == Family::Java
                    || client.profile.has(Feature::FailuresHandedOn),
            });
        }
        if let Ok(config) = &config {
            size::check(config, self.input_bytes, channels)?;
        }
        Ok(Session {
            client,
            start,
            config,
            input_bytes: self.input_bytes,
        })
    }
}

impl Session {
    /// Makes the session of an existing client that starts at one place. It may be of any size.
    ///
    /// ```
    /// use xdsctl_channel::client::{Client, Start};
    /// use xdsctl_channel::session::Session;
    ///
    /// let session = Session::of(Client::default(), Start::Cluster("cart".to_owned()));
    /// assert!(session.config.is_ok(), "RPCs fail, the channel does not");
    /// ```
    pub fn of(client: Client, start: Start) -> Session {
        let config = client.resolve(&start).map(Arc::new);
        Session {
            client,
            start,
            config,
            input_bytes: 0,
        }
    }

    /// The most LB policies and connections that the channel may have.
    fn most_machines(&self) -> usize {
        let by_input = usize::try_from(self.input_bytes / BYTES_A_MACHINE);
        MAX_MACHINES.max(by_input.unwrap_or(usize::MAX))
    }

    /// Adds clusters to which lookups (RLS) may lead, so that they belong to the channel.
    pub fn expect(&mut self, lookup_targets: impl IntoIterator<Item = String>) {
        self.client.lookup_targets.extend(lookup_targets);
        if !self.client.lookup_targets.is_empty() {
            self.config = self.client.resolve(&self.start).map(Arc::new);
        }
    }

    /// The target; `None` if the channel starts at routes or at a cluster.
    pub const fn target(&self) -> Option<&Target> {
        self.start.target()
    }

    /// Checks that the regexes of the routes can be matched against a path, or any path if `None`.
    ///
    /// # Errors
    /// They need more instructions than one channel may have.
    pub fn check_effort(&self, path: Option<&str>) -> Result<(), TooManyInstructions> {
        match &self.config {
            Ok(config) => rpc::check_effort(config, path),
            Err(_) => Ok(()),
        }
    }

    /// The DNS names of the channel that have no answer. RPCs that need an address of such a name
    /// fail.
    pub fn unanswered(&self) -> BTreeSet<&str> {
        let config = self.config.iter();
        config.flat_map(|config| config.unanswered()).collect()
    }

    /// Starts the channel at time 0, in a network. Its LB policies and connections are limited by
    /// the size of the inputs, unless the options have a limit.
    pub fn channel(self, network: Network, mut options: ChannelOptions) -> Channel {
        options.max_machines.get_or_insert(self.most_machines());
        Channel::new(self.client, self.start, network, options)
    }

    /// Sends one RPC in a network where everything answers. Returns how it fails; `None` if it
    /// works.
    ///
    /// # Errors
    /// A limit of the simulation was reached.
    pub fn failure(self, rpc: Rpc, seed: u64) -> Result<Option<Status>, LimitReached> {
        let options = ChannelOptions {
            seed,
            ..ChannelOptions::default()
        };
        let outcome = self.channel(Network::default(), options).call(rpc)?;
        let failed = outcome.filter(|outcome| outcome.code != Code::Ok);
        Ok(failed.map(|outcome| Status::new(outcome.code, outcome.details)))
    }
}
