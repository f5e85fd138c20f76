//! What a client asks for, what it holds, and what it answers. Does no input or output.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use prost::Message as _;
use xdsctl_channel::client::links::LinkedResource;
use xdsctl_channel::client::target::Target;
use xdsctl_channel::client::{Client, Judged, Received, Start};
use xdsctl_clients::bootstrap::{self, Bootstrap};
use xdsctl_model::resource::ResourceType;

use super::held::{HeldResources, HeldSummary};
use super::response::Response;
use super::subscription::Subscription;
use super::words;
use crate::error::Error;
use crate::fetch::StreamEvent;
use crate::messages::{ClientConfig, DeltaRequest, DiscoveryRequest, Status};
use crate::{Address, FetchOptions};

/// INVALID_ARGUMENT, the code that clients send with a rejection.
const INVALID_ARGUMENT: i32 = 3;

/// A client that follows references.
pub struct Subscriber {
    client: Client,
    /// Whether the stream has the Delta form rather than the state-of-the-world form.
    pub is_delta: bool,
    /// The targets whose channels are followed; empty to ask for everything.
    targets: Vec<Target>,
    types: BTreeMap<ResourceType, Subscription>,
    held: HeldResources,
}

/// The answer to a response. With an error, it is a NACK.
#[derive(Debug)]
pub struct SubscriberAnswer {
    /// The type of the response.
    pub resource_type: ResourceType,
    nonce: String,
    error_detail: Option<Status>,
}

/// The result of a response.
#[derive(Debug)]
pub struct ResponseEffect {
    /// The answer to send, now or later.
    pub answer: SubscriberAnswer,
    /// The requests to send, in order.
    pub requests: Vec<Bytes>,
    /// What happened, with one line for each event, for people.
    pub told: Vec<StreamEvent>,
    /// Whether the dump has changed.
    pub has_changed: bool,
    /// How many times in a row a response of this type with the same resources was rejected.
    pub repeats: u32,
}

impl Subscriber {
    /// Returns a client that has asked for nothing yet.
    pub fn new(address: &Address, options: &FetchOptions) -> Result<Subscriber, Error> {
        let bootstrap = match &options.bootstrap {
            Some(text) => bootstrap::validate(text, &options.profile).0.unwrap_or_default(),
            None => Bootstrap::default(),
        };
        let uris = address.all("target").chain(options.targets.iter().map(String::as_str));
        let targets = uris.map(|uri| Target::parse(uri, None, &bootstrap).map_err(|e| Error::Usage(e.to_string())));
        Ok(Subscriber {
            targets: targets.collect::<Result<_, _>>()?,
            client: Client {
                profile: options.profile.clone(),
                server: options.server.clone(),
                ..Client::default()
            },
            is_delta: options.delta || address.has("delta"),
            types: BTreeMap::new(),
            held: HeldResources::new(options.max_message_bytes),
        })
    }

    /// Says whether the client asks for all resources of a type.
    fn is_wildcard(&self, resource_type: ResourceType) -> bool {
        self.targets.is_empty() && matches!(resource_type, ResourceType::Listener | ResourceType::Cluster)
    }

    /// Returns the first requests of a new stream. Resources that are held are kept.
    pub fn start(&mut self, node: &Bytes) -> Vec<Bytes> {
        for subscription in self.types.values_mut() {
            subscription.is_open = false;
            subscription.nonce.clear();
        }
        let needed = self.needed();
        let mut requests = self.ask(needed);
        // Only the first request of a stream has the node. Fields of a message may come in any
        // order.
        if let Some(first) = requests.first_mut() {
            let who = if self.is_delta {
                let node = Some(node.clone());
                DeltaRequest {
                    node,
                    ..Default::default()
                }
                .encode_to_vec()
            } else {
                let node = Some(node.clone());
                DiscoveryRequest {
                    node,
                    ..Default::default()
                }
                .encode_to_vec()
            };
            *first = [who.as_slice(), &first[..]].concat().into();
        }
        requests
    }

    /// Returns the names that are needed, by type.
    fn needed(&self) -> BTreeMap<ResourceType, BTreeSet<String>> {
        let mut needed: BTreeMap<ResourceType, BTreeSet<String>> = BTreeMap::new();
        let mut add = |resource_type: ResourceType, name: &str| {
            needed.entry(resource_type).or_default().insert(name.to_owned());
        };
        if self.targets.is_empty() {
            for references in self.held.all_references() {
                let by_name = |node: &&LinkedResource| {
                    matches!(
                        node.resource_type,
                        ResourceType::RouteConfiguration | ResourceType::Endpoints
                    )
                };
                references
                    .iter()
                    .filter(by_name)
                    .for_each(|node| add(node.resource_type, &node.name));
            }
            return needed;
        }
        for target in &self.targets {
            add(ResourceType::Listener, &target.listener);
            for node in self.held.references(ResourceType::Listener, &target.listener) {
                if node.resource_type == ResourceType::RouteConfiguration {
                    add(node.resource_type, &node.name);
                }
            }
            let missing = match self.client.resolve(&Start::Target(target.clone())) {
                Ok(config) => {
                    for name in config.clusters.keys() {
                        add(ResourceType::Cluster, name);
                        for node in self.held.references(ResourceType::Cluster, name) {
                            add(node.resource_type, &node.name);
                        }
                    }
                    config.missing
                }
                Err(failure) => failure.missing,
            };
            missing
                .iter()
                .for_each(|(resource_type, name)| add(*resource_type, name));
        }
        needed
    }

    /// Returns requests for what is needed and was not asked for.
    fn ask(&mut self, mut needed: BTreeMap<ResourceType, BTreeSet<String>>) -> Vec<Bytes> {
        let mut requests = Vec::new();
        for resource_type in ResourceType::ALL {
            let names = needed.remove(&resource_type).unwrap_or_default();
            let is_wildcard = self.is_wildcard(resource_type);
            let subscription = self.types.entry(resource_type).or_default();
            if subscription.is_open && subscription.names == names
                || !subscription.is_open && names.is_empty() && !is_wildcard
            {
                continue;
            }
            let was_open = std::mem::replace(&mut subscription.is_open, true);
            let held = &self.held;
            let before = subscription.want(names, |name| held.knows(resource_type, name));
            let names = &subscription.names;
            let type_url = resource_type.type_url();
            requests.push(if self.is_delta {
                let before = if was_open { before } else { BTreeSet::new() };
                let request = DeltaRequest {
                    type_url,
                    subscribe: names.difference(&before).cloned().collect(),
                    unsubscribe: before.difference(names).cloned().collect(),
                    ..Default::default()
                };
                request.encode_to_vec().into()
            } else {
                subscription.request(type_url, None)
            });
        }
        requests
    }

    /// Takes a response.
    ///
    /// # Errors
    /// The bytes are not a response; the error says so in words.
    pub fn take(&mut self, bytes: &Bytes, now: u64) -> Result<ResponseEffect, String> {
        let response = Response::read(bytes, self.is_delta)?;
        let name = response.type_url.rsplit('/').next().unwrap_or_default();
        let resource_type = ResourceType::from_type_name(name)
            .filter(|resource_type| self.types.get(resource_type).is_some_and(|s| s.is_open));
        let Some(resource_type) = resource_type else {
            return Err(format!(
                "a response is of type `{}`, which was not asked for",
                response.type_url
            ));
        };
        let received = self.client.receive(bytes, !self.targets.is_empty());
        let of_other_types: Vec<String> = received
            .resources
            .iter()
            .filter(|judged| judged.resource_type != Some(resource_type))
            .map(|judged| format!("a resource is of type `{}`", judged.type_url))
            .collect();
        let is_rejected = received.is_rejected() || !of_other_types.is_empty();
        let has_changed = self.hold(resource_type, &response, &received, bytes, now);
        let detail = is_rejected.then(|| words::detail(&received, &of_other_types));
        let told = vec![words::response_event(
            resource_type,
            &response,
            &received,
            detail.as_deref(),
        )];
        // If everything is asked for, only Listeners and Clusters lead to new names.
        let is_wildcard = self.is_wildcard(resource_type);
        let may_lead_on = is_wildcard || !self.targets.is_empty();
        let needed = may_lead_on.then(|| self.needed());
        let subscription = self.types.entry(resource_type).or_default();
        subscription.is_answered = true;
        subscription.nonce.clone_from(&response.nonce);
        if !is_rejected {
            subscription.version = response.version;
        }
        if let Some(needed) = needed.as_ref().filter(|_| !self.is_delta && !is_wildcard) {
            // The answer already names what is wanted now.
            let names = needed.get(&resource_type).cloned().unwrap_or_default();
            let held = &self.held;
            subscription.want(names, |name| held.knows(resource_type, name));
        }
        let repeats = subscription.repeats(&received, is_rejected);
        let error_detail = detail.map(|message| Status {
            code: INVALID_ARGUMENT,
            message,
        });
        Ok(ResponseEffect {
            has_changed: has_changed || is_rejected && repeats < 2,
            repeats,
            told,
            answer: SubscriberAnswer {
                resource_type,
                nonce: response.nonce,
                error_detail,
            },
            requests: needed.map_or_else(Vec::new, |needed| self.ask(needed)),
        })
    }

    /// Returns an answer as a request, which names what is wanted when it is sent.
    pub fn request(&self, answer: SubscriberAnswer) -> Bytes {
        let type_url = answer.resource_type.type_url();
        if self.is_delta {
            let request = DeltaRequest {
                type_url,
                response_nonce: answer.nonce,
                error_detail: answer.error_detail,
                ..Default::default()
            };
            return request.encode_to_vec().into();
        }
        let nothing = Subscription::default();
        let subscription = self.types.get(&answer.resource_type).unwrap_or(&nothing);
        subscription.request(type_url, answer.error_detail)
    }

    /// Keeps the resources of a response, and drops those that it removes. Says whether anything
    /// has changed.
    fn hold(
        &mut self,
        resource_type: ResourceType,
        response: &Response,
        received: &Received,
        bytes: &Bytes,
        now: u64,
    ) -> bool {
        let mut has_changed = self.held.take(resource_type, response, received, bytes.len(), now);
        if let Some(subscription) = self.types.get_mut(&resource_type) {
            let of_type = |judged: &&Judged| judged.resource_type == Some(resource_type);
            let came = received.resources.iter().filter(of_type).map(|judged| &judged.name);
            came.chain(&response.removed).for_each(|name| subscription.hear(name));
        }
        // A state-of-the-world response has all Listeners and Clusters, but only some resources of
        // other types.
        let has_all = !self.is_delta && matches!(resource_type, ResourceType::Listener | ResourceType::Cluster);
        for name in self.held.lose(resource_type, response, received, has_all) {
            self.client.resources.remove(resource_type, &name);
            has_changed = true;
        }
        has_changed
    }

    /// Returns the size of all that is kept, in bytes. It is above the limit if the limit was
    /// reached.
    pub const fn held_bytes(&self) -> usize {
        self.held.bytes()
    }

    /// Says whether nothing has arrived.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && self.is_silent()
    }

    /// Says whether no response has arrived.
    pub fn is_silent(&self) -> bool {
        self.types.values().all(|subscription| !subscription.is_answered)
    }

    /// Says whether a state-of-the-world request for names of a type got no response of that type.
    pub fn has_unanswered_type(&self) -> bool {
        let mut types = self.types.values();
        !self.is_delta && types.any(|s| s.is_open && !s.is_answered && !s.awaited.is_empty())
    }

    /// Says whether there was a response for each type that is asked for as a whole. If such a type
    /// has no resources, no server says so by name.
    pub fn has_all_types(&self) -> bool {
        let is_answered = |of: &ResourceType| self.types.get(of).is_some_and(|subscription| subscription.is_answered);
        let mut all = [ResourceType::Listener, ResourceType::Cluster].into_iter();
        all.all(|resource_type| !self.is_wildcard(resource_type) || is_answered(&resource_type))
    }

    /// Says whether everything that was asked for is there, or is known not to exist.
    pub fn is_complete(&self) -> bool {
        self.has_all_types() && self.absent().next().is_none()
    }

    /// Returns the names that were asked for and about which nothing is known.
    fn absent(&self) -> impl Iterator<Item = (ResourceType, &str)> {
        self.types.iter().flat_map(|(resource_type, subscription)| {
            let names = subscription.awaited.iter();
            names.map(move |name| (*resource_type, name.as_str()))
        })
    }

    /// Returns as text what was asked for and about which nothing is known.
    pub fn missing(&self) -> Vec<String> {
        let mut by_type: BTreeMap<ResourceType, Vec<&str>> = BTreeMap::new();
        for (resource_type, name) in self.absent() {
            by_type.entry(resource_type).or_default().push(name);
        }
        let mut words = Vec::new();
        for resource_type in ResourceType::ALL {
            let is_silent = self
                .types
                .get(&resource_type)
                .is_some_and(|s| s.is_open && !s.is_answered);
            match by_type.get(&resource_type) {
                Some(names) => words.push(format!("{} {}", resource_type.short_name(), words::some(names))),
                None if is_silent && self.is_wildcard(resource_type) => {
                    words.push(resource_type.short_name().to_owned())
                }
                None => {}
            }
        }
        words
    }

    /// Returns the targets whose Listener is not there.
    pub fn lost_targets(&self) -> Vec<String> {
        let is_lost = |target: &&Target| !self.held.has(ResourceType::Listener, &target.listener);
        self.targets
            .iter()
            .filter(is_lost)
            .map(|target| target.uri.clone())
            .collect()
    }

    /// Returns the last version and nonce of each type.
    pub fn responses(&self) -> Vec<(String, String, String)> {
        let answered = self.types.iter().filter(|(_, subscription)| subscription.is_answered);
        let all = answered.map(|(resource_type, subscription)| {
            (
                resource_type.type_url(),
                subscription.version.clone(),
                subscription.nonce.clone(),
            )
        });
        all.collect()
    }

    /// Returns the client's status without the resources that it holds.
    pub fn bare(&self, node: &Bytes) -> ClientConfig {
        let uris: Vec<&str> = self.targets.iter().map(|target| target.uri.as_str()).collect();
        ClientConfig {
            node: Some(node.clone()),
            client_scope: uris.join(" "),
            ..ClientConfig::default()
        }
    }

    /// Returns the resources that the client's status shows: those that it holds, and those that it
    /// asked for in vain.
    pub fn shown(&self) -> HeldSummary<'_> {
        self.held.shown(self.absent())
    }
}
