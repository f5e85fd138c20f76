//! Steps at work on a channel.

use std::collections::BTreeMap;

use super::Step;
use crate::model::ResourceType;
use crate::sim::{Channel, LimitReached, Outcome, Reach, RpcId};

/// Plays steps on a channel.
#[derive(Debug, Default)]
pub struct Player {
    under_way: BTreeMap<String, Vec<RpcId>>,
}

impl Player {
    /// Plays one step; what came of its RPCs goes to `take`, in order, until that wants no
    /// more. Returns what a client carries on from and people
    /// should hear of: rejected updates, removals of nothing.
    ///
    /// # Errors
    /// The step takes too long.
    pub fn play(
        &mut self,
        step: &Step,
        channel: &mut Channel,
        take: &mut dyn FnMut(Outcome) -> bool,
    ) -> Result<Vec<String>, LimitReached> {
        let mut notes = Vec::new();
        match step {
            Step::Pick { rpc, count } => {
                for _ in 0..*count {
                    if let Some(outcome) = channel.call(rpc.clone())?
                        && !take(outcome)
                    {
                        break;
                    }
                }
            }
            Step::Begin {
                name,
                rpc,
                count,
                settle_ms,
            } => {
                let ids = (0..*count).map(|_| channel.begin(rpc.clone())).collect();
                self.under_way.insert(name.clone(), ids);
                channel.sleep(*settle_ms)?;
            }
            Step::Finish(name) => {
                for id in self.under_way.remove(name).into_iter().flatten() {
                    if let Some(outcome) = channel.finish(id)?
                        && !take(outcome)
                    {
                        break;
                    }
                }
            }
            Step::Sleep(ms) => channel.sleep(*ms)?,
            Step::Stop(address) => {
                channel.network_mut().addresses.insert(*address, Reach::Refuses);
                channel.stop(address);
            }
            Step::Start(address) => {
                channel.network_mut().addresses.insert(*address, Reach::Accepts);
            }
            Step::Silence(address) => {
                channel.network_mut().addresses.insert(*address, Reach::Hangs);
            }
            Step::Update { sent, .. } => {
                notes = channel.client_mut().take(sent).notes;
                channel.resolve();
            }
            Step::Remove(names) => {
                for (resource_type, name) in names {
                    notes.extend(remove(*resource_type, name, channel));
                }
                channel.resolve();
            }
            Step::Load(reports) => channel.network_mut().load.extend(reports.clone()),
        }
        Ok(notes)
    }
}

/// Takes a resource away; says if that does nothing.
fn remove(resource_type: ResourceType, name: &str, channel: &mut Channel) -> Option<String> {
    let kind = resource_type.short_name();
    // Only for these two does silence mean removal (state of the world).
    if !matches!(resource_type, ResourceType::Listener | ResourceType::Cluster) {
        return Some(format!(
            "{kind} `{name}` stays in use: that it is no longer sent does not take it away"
        ));
    }
    let resources = &channel.client_mut().resources;
    let is_held = match resource_type {
        ResourceType::Listener => resources.listeners.contains_key(name),
        _ => resources.clusters.contains_key(name),
    };
    channel.client_mut().resources.remove(resource_type, name);
    channel.note_removed(resource_type, name);
    (!is_held).then(|| format!("{kind} `{name}` is not there to be removed"))
}
