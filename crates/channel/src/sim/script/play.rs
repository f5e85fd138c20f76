//! Plays steps on channels.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::ops::Range;

use super::send::{Done, Sender, Take};
use super::{Sending, Step};
use crate::client::{Edits, Updated};
use crate::sim::{Channel, LimitReached, Outcome, Reachability, RpcId};
use xdsctl_lb::runtime::Time;
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::ResourceType;

/// Plays steps on one channel, or on several that share a clock.
#[derive(Debug, Default)]
pub struct Player {
    under_way: BTreeMap<String, UnderWay>,
    sender: Sender,
}

/// The RPCs of a `begin` that await their `finish`, and the jar of their cookies.
#[derive(Debug, Default)]
struct UnderWay {
    jar: Option<String>,
    ids: Vec<(usize, RpcId)>,
}

/// The result of a step, besides its RPCs.
#[derive(Debug, Default)]
pub struct StepResult {
    /// Notes for people on what does not stop a client: rejected updates, removals of nothing.
    pub notes: Vec<String>,
    /// Why the step could not be played as it is written.
    pub faults: Vec<String>,
    /// What each client made of an update: the client's number and its answer.
    pub updates: Vec<(usize, Updated)>,
}

impl Player {
    /// Makes a player that deals RPCs by the weights of the channels, in their order, and not in
    /// turn.
    pub fn weighed(weights: impl Iterator<Item = u64>) -> Player {
        let mut player = Player::default();
        player.sender.weigh(weights);
        player
    }

    /// Plays one step on one channel. `take` gets the outcomes of its RPCs, in order, until it
    /// returns `false`.
    ///
    /// # Errors
    /// A limit of the simulation was reached.
    pub fn play(
        &mut self,
        step: &Step,
        channel: &mut Channel,
        take: &mut dyn FnMut(Outcome) -> bool,
    ) -> Result<StepResult, LimitReached> {
        let channels = std::slice::from_mut(channel);
        self.play_on(step, channels, 0..1, &mut |done| take(done.outcome))
    }

    /// Plays one step on the channels of the range `clients`. Afterwards all channels are at the
    /// same time. RPCs are dealt in turn, or by [weights](Player::weighed).
    ///
    /// # Errors
    /// A limit of the simulation was reached.
    pub fn play_on(
        &mut self,
        step: &Step,
        channels: &mut [Channel],
        clients: Range<usize>,
        take: Take<'_>,
    ) -> Result<StepResult, LimitReached> {
        let now = channels.first().map_or(0, Channel::now);
        let mut told = StepResult::default();
        match step {
            Step::Pick(sending) => self.pick(sending, channels, &clients, take)?,
            Step::Begin {
                name,
                sending,
                settle_ms,
            } => {
                if sending.rate.is_some() {
                    self.sender.start(Some(name), sending, now, clients);
                } else {
                    let ids = (0..sending.count).filter_map(|_| {
                        let client = self.sender.deal(&clients);
                        Some((client, self.sender.begin(sending, client, channels)?))
                    });
                    let ids = ids.collect();
                    let jar = sending.jar.clone();
                    self.under_way.insert(name.clone(), UnderWay { jar, ids });
                }
                self.sender.advance(now.saturating_add(*settle_ms), channels, take)?;
            }
            Step::Finish(name) => self.finish(name, channels, take)?,
            Step::Sleep(ms) => self.sender.advance(now.saturating_add(*ms), channels, take)?,
            Step::At(at) => match now > *at {
                true => told.faults.push(late(*at, now)),
                false => self.sender.advance(*at, channels, take)?,
            },
            Step::Update { .. } | Step::Remove(_) | Step::Endpoints(_) | Step::Scale(_) => {
                send(step, channels, clients, &mut told);
            }
            Step::Stop(addresses) => each(channels, clients, addresses, |channel, address| {
                channel.network_mut().addresses.insert(*address, Reachability::Refuses);
                channel.stop(address);
            }),
            Step::Start(addresses) => reach(channels, clients, addresses, Reachability::Accepts),
            Step::Silence(addresses) => reach(channels, clients, addresses, Reachability::Hangs),
            Step::Drop(addresses) => each(channels, clients, addresses, Channel::stop),
            Step::Backend(settings) => {
                for channel in channels.get_mut(clients).into_iter().flatten() {
                    settings.iter().for_each(|setting| setting.apply(channel.network_mut()));
                }
            }
            Step::Lookups(lookups) => {
                for channel in channels.get_mut(clients).into_iter().flatten() {
                    channel.set_lookups(lookups.clone());
                }
            }
            Step::Load(reports) => {
                for channel in channels.get_mut(clients).into_iter().flatten() {
                    channel.network_mut().load.extend(reports.clone());
                }
            }
        }
        told.faults.extend(self.sender.take_fault());
        Ok(told)
    }

    fn pick(
        &mut self,
        sending: &Sending,
        channels: &mut [Channel],
        clients: &Range<usize>,
        take: Take<'_>,
    ) -> Result<(), LimitReached> {
        if sending.rate.is_some() {
            let now = channels.first().map_or(0, Channel::now);
            let stream = self.sender.start(None, sending, now, clients.clone());
            self.sender.drain(stream, channels, take)?;
            self.sender.forget(stream);
            return Ok(());
        }
        for _ in 0..sending.count {
            let client = self.sender.deal(clients);
            let Some(id) = self.sender.begin(sending, client, channels) else {
                break;
            };
            self.end(client, id, (None, sending.jar.as_deref()), channels, take)?;
            if self.sender.is_over() {
                break;
            }
        }
        Ok(())
    }

    fn finish(&mut self, name: &str, channels: &mut [Channel], take: Take<'_>) -> Result<(), LimitReached> {
        if let Some(stream) = self.sender.stream(name) {
            self.sender.drain(stream, channels, take)?;
            self.sender.forget(stream);
        }
        let UnderWay { jar, ids } = self.under_way.remove(name).unwrap_or_default();
        for (client, id) in ids {
            self.end(client, id, (Some(name), jar.as_deref()), channels, take)?;
            if self.sender.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Waits for an RPC and hands on its outcome.
    fn end(
        &mut self,
        client: usize,
        id: RpcId,
        (name, jar): (Option<&str>, Option<&str>),
        channels: &mut [Channel],
        take: Take<'_>,
    ) -> Result<(), LimitReached> {
        self.sender.wait(client, id, channels, take)?;
        let Some(channel) = channels.get_mut(client) else {
            return Ok(());
        };
        if let Some(outcome) = channel.finish(id)? {
            let done = Done {
                client,
                id,
                name,
                jar,
                outcome,
            };
            self.sender.tell(done, take);
        }
        Ok(())
    }
}

fn late(at: Time, now: Time) -> String {
    let seconds = |ms: Time| ms as f64 / 1000.0;
    format!("`at` is {} s, and it is {} s already", seconds(at), seconds(now))
}

fn each(
    channels: &mut [Channel],
    clients: Range<usize>,
    addresses: &[SocketAddr],
    act: impl Fn(&mut Channel, &SocketAddr),
) {
    for channel in channels.get_mut(clients).into_iter().flatten() {
        addresses.iter().for_each(|address| act(channel, address));
    }
}

fn reach(channels: &mut [Channel], clients: Range<usize>, addresses: &[SocketAddr], reach: Reachability) {
    each(channels, clients, addresses, |channel, address| {
        channel.network_mut().addresses.insert(*address, reach);
    });
}

/// Plays a step of the control plane.
fn send(step: &Step, channels: &mut [Channel], clients: Range<usize>, told: &mut StepResult) {
    // A fault counts only if every client has it, because a change may be meant for some of them.
    let mut faults: Option<Vec<String>> = None;
    let mut said: BTreeSet<String> = told.notes.iter().cloned().collect();
    let first = clients.start;
    let mut edits = Edits::default();
    for (number, channel) in channels.get_mut(clients).into_iter().flatten().enumerate() {
        let (updated, wrong) = match step {
            Step::Update { sent, .. } => {
                let updated = channel.client_mut().take(sent);
                for nacked in &updated.nacked {
                    channel.note_rejected(nacked.resource_type, &nacked.name);
                }
                (updated, Vec::new())
            }
            Step::Remove(names) => {
                let notes = names.iter().filter_map(|(kind, name)| remove(*kind, name, channel));
                let notes = notes.collect();
                (
                    Updated {
                        notes,
                        ..Updated::default()
                    },
                    Vec::new(),
                )
            }
            Step::Endpoints(changes) => {
                let (updated, unknown) = channel.change_endpoints(changes, &mut edits);
                let wrong = unknown
                    .iter()
                    .map(|address| format!("no EDS resource of the channel has {address}"));
                (updated, wrong.collect())
            }
            Step::Scale(scales) => {
                let mut updated = Updated::default();
                let wrong = scales
                    .iter()
                    .filter_map(|scale| channel.scale(scale, &mut updated).err());
                let wrong = wrong.collect();
                (updated, wrong)
            }
            _ => return,
        };
        channel.resolve();
        let new = updated.notes.iter().filter(|note| said.insert((*note).clone()));
        told.notes.extend(new.cloned());
        told.updates.push((first + number, updated));
        faults = Some(match faults {
            None => wrong,
            Some(before) => {
                let wrong: BTreeSet<String> = wrong.into_iter().collect();
                before.into_iter().filter(|fault| wrong.contains(fault)).collect()
            }
        });
    }
    told.faults.extend(faults.unwrap_or_default());
}

/// Removes a resource. Returns a note if that has no effect.
fn remove(resource_type: ResourceType, name: &str, channel: &mut Channel) -> Option<String> {
    let kind = resource_type.short_name();
    // Only for these two types a response without the resource removes it (state of the world).
    let forgets_nothing = channel.client_mut().profile.has(Feature::WaitsForResources);
    let is_heard = matches!(resource_type, ResourceType::Listener | ResourceType::Cluster) && !forgets_nothing;
    let client = channel.client_mut();
    let is_dropped = is_heard && client.server.drops_removed(&client.profile);
    if !is_dropped && channel.keeps(resource_type, name) {
        let why = match is_heard {
            true => "the features of the server in the bootstrap say so",
            false => "that it is no longer sent does not take it away",
        };
        return Some(format!("{kind} `{name}` stays in use: {why}"));
    }
    let is_held = channel.take_away(resource_type, name);
    // If the resource never came, the channel goes on waiting for it and is not told.
    if is_dropped && is_held {
        channel.note_removed(resource_type, name);
    }
    (!is_held).then(|| format!("{kind} `{name}` is not there to be removed"))
}
