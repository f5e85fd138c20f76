//! What a client asks for, what it has, and what it answers; no input or output.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use prost::Message as _;
use xdsctl::bootstrap::{self, Bootstrap};
use xdsctl::client::links::Node;
use xdsctl::client::target::Target;
use xdsctl::client::{Client, Judged, OWN_WORDS, Received, Start};
use xdsctl::{ResourceType, Verdict};

use crate::fetch::{Error, Told};
use crate::messages::{
    Any, ClientConfig, DeltaRequest, DeltaResponse, DiscoveryRequest, DiscoveryResponse, GenericXdsConfig, Status,
    Timestamp, UpdateFailureState, status,
};
use crate::{Address, Options};

const PREFIX: &str = "type.googleapis.com/";

/// INVALID_ARGUMENT, which clients send with a rejection.
const INVALID_ARGUMENT: i32 = 3;

/// Names listed in a message at most.
const NAMES_SHOWN: usize = 5;

/// Rejections said in one request at most.
const FAULTS_SAID: usize = 20;

/// The state of one type.
#[derive(Debug, Default)]
struct Subscription {
    /// A request was sent.
    is_open: bool,
    names: BTreeSet<String>,
    version: String,
    nonce: String,
    /// A response has come.
    is_answered: bool,
}

/// What is known of one name.
#[derive(Debug, Default)]
struct Entry {
    /// The version in use.
    used: Option<(String, Any, u64)>,
    /// The version that was rejected after it: version, resource, why, when.
    rejected: Option<(String, Any, String, u64)>,
    /// The server says that there is none.
    is_gone: bool,
    references: Vec<Node>,
}

/// A client that follows references.
pub struct Subscriber {
    client: Client,
    is_delta: bool,
    /// Channels to follow; none to ask for everything.
    targets: Vec<Target>,
    types: BTreeMap<ResourceType, Subscription>,
    held: BTreeMap<(ResourceType, String), Entry>,
    /// The last rejected response, and how often it has come in a row.
    repeated: (Bytes, u32),
}

/// What comes of a response.
#[derive(Debug, Default)]
pub struct Taken {
    /// To be sent.
    pub requests: Vec<Bytes>,
    /// To be said.
    pub told: Vec<Told>,
    /// The dump is another one.
    pub has_changed: bool,
    /// How often in a row this very response was rejected.
    pub repeats: u32,
}

/// A response of either form.
struct Response {
    type_url: String,
    version: String,
    nonce: String,
    removed: Vec<String>,
    /// Versions of Delta resources by name.
    versions: BTreeMap<String, String>,
}

impl Subscriber {
    /// A client that has asked for nothing yet.
    pub fn new(address: &Address, options: &Options) -> Result<Subscriber, Error> {
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
            held: BTreeMap::new(),
            repeated: (Bytes::new(), 0),
        })
    }

    /// Speaks Delta.
    pub const fn is_delta(&self) -> bool {
        self.is_delta
    }

    /// Says whether a type is asked for without names.
    fn is_wildcard(&self, resource_type: ResourceType) -> bool {
        self.targets.is_empty() && matches!(resource_type, ResourceType::Listener | ResourceType::Cluster)
    }

    /// The first requests of a new stream; what is held stays.
    pub fn start(&mut self, node: &Bytes) -> Vec<Bytes> {
        for subscription in self.types.values_mut() {
            subscription.is_open = false;
            subscription.nonce.clear();
        }
        let mut requests = self.ask();
        // Only the first request of a stream says who asks. Fields of a message may come in any order.
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

    /// The names that are needed, by type.
    fn needed(&self) -> BTreeMap<ResourceType, BTreeSet<String>> {
        let mut needed: BTreeMap<ResourceType, BTreeSet<String>> = BTreeMap::new();
        let mut add = |resource_type: ResourceType, name: &str| {
            needed.entry(resource_type).or_default().insert(name.to_owned());
        };
        if self.targets.is_empty() {
            for entry in self.held.values() {
                let by_name = |node: &&Node| {
                    matches!(
                        node.resource_type,
                        ResourceType::RouteConfiguration | ResourceType::Endpoints
                    )
                };
                entry
                    .references
                    .iter()
                    .filter(by_name)
                    .for_each(|node| add(node.resource_type, &node.name));
            }
            return needed;
        }
        for target in &self.targets {
            add(ResourceType::Listener, &target.listener);
            for node in self.references(ResourceType::Listener, &target.listener) {
                if node.resource_type == ResourceType::RouteConfiguration {
                    add(node.resource_type, &node.name);
                }
            }
            match self.client.resolve(&Start::Target(target.clone())) {
                Ok(config) => {
                    for name in config.clusters.keys() {
                        add(ResourceType::Cluster, name);
                        for node in self.references(ResourceType::Cluster, name) {
                            add(node.resource_type, &node.name);
                        }
                    }
                    config
                        .missing
                        .iter()
                        .for_each(|(resource_type, name)| add(*resource_type, name));
                }
                Err(failure) => failure
                    .missing
                    .iter()
                    .for_each(|(resource_type, name)| add(*resource_type, name)),
            }
        }
        needed
    }

    fn references(&self, resource_type: ResourceType, name: &str) -> &[Node] {
        let entry = self.held.get(&(resource_type, name.to_owned()));
        entry.map_or(&[], |entry| entry.references.as_slice())
    }

    /// Requests for what is needed and was not asked for.
    fn ask(&mut self) -> Vec<Bytes> {
        let mut needed = self.needed();
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
            let before = std::mem::replace(&mut subscription.names, names);
            let type_url = format!("{PREFIX}{}", resource_type.type_name());
            requests.push(if self.is_delta {
                let before = if was_open { before } else { BTreeSet::new() };
                let request = DeltaRequest {
                    type_url,
                    subscribe: subscription.names.difference(&before).cloned().collect(),
                    unsubscribe: before.difference(&subscription.names).cloned().collect(),
                    ..Default::default()
                };
                request.encode_to_vec().into()
            } else {
                sotw(type_url, subscription, None)
            });
        }
        requests
    }

    /// Takes a response.
    ///
    /// # Errors
    /// The bytes are no response, in words.
    pub fn take(&mut self, bytes: &Bytes, now: u64) -> Result<Taken, String> {
        let response = self.read(bytes)?;
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
        let strangers: Vec<String> = received
            .resources
            .iter()
            .filter(|judged| judged.resource_type != Some(resource_type))
            .map(|judged| format!("a resource is of type `{}`", judged.type_url))
            .collect();
        let is_rejected = received.is_rejected() || !strangers.is_empty();
        let has_changed = self.hold(resource_type, &response, &received, now);
        let detail = is_rejected.then(|| detail(&received, &strangers));
        let mut taken = Taken {
            has_changed: has_changed || is_rejected,
            repeats: self.repeats(bytes, is_rejected),
            told: vec![told(resource_type, &response, &received, detail.as_deref())],
            requests: Vec::new(),
        };
        let needed = self.needed().remove(&resource_type).unwrap_or_default();
        let is_wildcard = self.is_wildcard(resource_type);
        let error_detail = detail.map(|message| Status {
            code: INVALID_ARGUMENT,
            message,
        });
        if let Some(subscription) = self.types.get_mut(&resource_type) {
            subscription.is_answered = true;
            subscription.nonce.clone_from(&response.nonce);
            if error_detail.is_none() {
                subscription.version.clone_from(&response.version);
            }
            taken.requests.push(if self.is_delta {
                let request = DeltaRequest {
                    type_url: response.type_url.clone(),
                    response_nonce: response.nonce.clone(),
                    error_detail,
                    ..Default::default()
                };
                request.encode_to_vec().into()
            } else {
                if !is_wildcard {
                    // The answer says at once what is wanted now.
                    subscription.names = needed;
                }
                sotw(response.type_url.clone(), subscription, error_detail)
            });
        }
        taken.requests.extend(self.ask());
        Ok(taken)
    }

    fn read(&self, bytes: &Bytes) -> Result<Response, String> {
        if self.is_delta {
            let delta = DeltaResponse::decode(bytes.clone())
                .map_err(|e| format!("a message is no DeltaDiscoveryResponse: {e}"))?;
            let versions = delta
                .resources
                .into_iter()
                .map(|resource| (resource.name, resource.version));
            return Ok(Response {
                type_url: delta.type_url,
                version: delta.system_version_info,
                nonce: delta.nonce,
                removed: delta.removed_resources,
                versions: versions.collect(),
            });
        }
        let sotw =
            DiscoveryResponse::decode(bytes.clone()).map_err(|e| format!("a message is no DiscoveryResponse: {e}"))?;
        Ok(Response {
            type_url: sotw.type_url,
            version: sotw.version_info,
            nonce: sotw.nonce,
            removed: Vec::new(),
            versions: BTreeMap::new(),
        })
    }

    /// How often in a row a response was rejected.
    fn repeats(&mut self, bytes: &Bytes, is_rejected: bool) -> u32 {
        let (last, count) = &mut self.repeated;
        // The nonce differs, and is short.
        let is_same = is_rejected && *count > 0 && last.len().abs_diff(bytes.len()) < 16;
        *count = if is_same { *count + 1 } else { u32::from(is_rejected) };
        *last = if is_rejected { bytes.clone() } else { Bytes::new() };
        *count
    }

    /// Keeps what a response brings, and forgets what it takes away.
    fn hold(&mut self, resource_type: ResourceType, response: &Response, received: &Received, now: u64) -> bool {
        let mut has_changed = false;
        let mut there = BTreeSet::new();
        for judged in received
            .resources
            .iter()
            .filter(|judged| judged.resource_type == Some(resource_type))
        {
            there.insert(judged.name.as_str());
            let version = response.versions.get(&judged.name).unwrap_or(&response.version);
            let entry = self.held.entry((resource_type, judged.name.clone())).or_default();
            has_changed |= entry.take(judged, version, now);
        }
        // A state-of-the-world response has all Listeners and Clusters, of the others those that it likes.
        let has_all = !self.is_delta && matches!(resource_type, ResourceType::Listener | ResourceType::Cluster);
        let removed: BTreeSet<&str> = response.removed.iter().map(String::as_str).collect();
        for ((of, name), entry) in self.held.iter_mut().filter(|((of, _), _)| *of == resource_type) {
            let is_lost = has_all && !there.contains(name.as_str()) || removed.contains(name.as_str());
            if is_lost && !entry.is_gone {
                *entry = Entry {
                    is_gone: true,
                    ..Entry::default()
                };
                self.client.resources.remove(*of, name);
                has_changed = true;
            }
        }
        for name in removed {
            let entry = self.held.entry((resource_type, name.to_owned())).or_default();
            entry.is_gone = true;
        }
        has_changed
    }

    /// Nothing has come.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && self.is_silent()
    }

    /// No response has come at all.
    pub fn is_silent(&self) -> bool {
        self.types.values().all(|subscription| !subscription.is_answered)
    }

    /// Everything that was asked for is there, or is known not to exist.
    pub fn is_complete(&self) -> bool {
        let wildcards = [ResourceType::Listener, ResourceType::Cluster];
        let all = wildcards
            .into_iter()
            .filter(|resource_type| self.is_wildcard(*resource_type));
        let has_all = all
            .into_iter()
            .all(|resource_type| self.types.get(&resource_type).is_some_and(|s| s.is_answered));
        has_all && self.absent().next().is_none()
    }

    /// Names that were asked for, and of which nothing was heard.
    fn absent(&self) -> impl Iterator<Item = (ResourceType, &str)> {
        let names = self.types.iter().flat_map(|(resource_type, subscription)| {
            let names = subscription.names.iter();
            names.map(move |name| (*resource_type, name.as_str()))
        });
        names.filter(|(resource_type, name)| !self.held.contains_key(&(*resource_type, (*name).to_owned())))
    }

    /// The same, in words.
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
                Some(names) => words.push(format!("{} {}", resource_type.short_name(), some(names))),
                None if is_silent && self.is_wildcard(resource_type) => {
                    words.push(resource_type.short_name().to_owned())
                }
                None => {}
            }
        }
        words
    }

    /// The last version and nonce of each type.
    pub fn responses(&self) -> Vec<(String, String, String)> {
        let answered = self.types.iter().filter(|(_, subscription)| subscription.is_answered);
        let all = answered.map(|(resource_type, subscription)| {
            let type_url = format!("{PREFIX}{}", resource_type.type_name());
            (type_url, subscription.version.clone(), subscription.nonce.clone())
        });
        all.collect()
    }

    /// What a client would show of itself.
    pub fn dump(&self, node: &Bytes) -> ClientConfig {
        let held = self
            .held
            .iter()
            .map(|((resource_type, name), entry)| entry.config(*resource_type, name));
        let absent = self.absent().map(|(resource_type, name)| GenericXdsConfig {
            type_url: format!("{PREFIX}{}", resource_type.type_name()),
            name: name.to_owned(),
            client_status: status::DOES_NOT_EXIST,
            ..Default::default()
        });
        ClientConfig {
            node: Some(node.clone()),
            xds_config: Vec::new(),
            generic_xds_configs: held.chain(absent).map(|config| config.encode_to_vec().into()).collect(),
            client_scope: self
                .targets
                .iter()
                .map(|target| target.uri.as_str())
                .collect::<Vec<_>>()
                .join(" "),
        }
    }
}

impl Entry {
    /// Takes a newer version; says whether it is another one.
    fn take(&mut self, judged: &Judged, version: &str, now: u64) -> bool {
        let any = Any {
            type_url: judged.type_url.clone(),
            value: judged.value.clone(),
        };
        self.is_gone = false;
        if judged.verdict == Verdict::Accepted {
            let is_same = self.rejected.is_none() && self.used.as_ref().is_some_and(|(_, used, _)| *used == any);
            self.used = Some((version.to_owned(), any, now));
            self.rejected = None;
            self.references.clone_from(&judged.references);
            return !is_same;
        }
        let is_same = self.rejected.as_ref().is_some_and(|(_, rejected, ..)| *rejected == any);
        let why = judged
            .faults
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ");
        self.rejected = Some((version.to_owned(), any, why, now));
        !is_same
    }

    fn config(&self, resource_type: ResourceType, name: &str) -> GenericXdsConfig {
        let mut config = GenericXdsConfig {
            type_url: format!("{PREFIX}{}", resource_type.type_name()),
            name: name.to_owned(),
            client_status: status::ACKED,
            ..Default::default()
        };
        if self.is_gone {
            config.client_status = status::DOES_NOT_EXIST;
        }
        if let Some((version, any, when)) = &self.used {
            config.version_info.clone_from(version);
            config.xds_config = Some(any.clone());
            config.last_updated = Some(Timestamp::of_millis(*when));
        }
        if let Some((version, any, why, when)) = &self.rejected {
            config.client_status = status::NACKED;
            config.error_state = Some(UpdateFailureState {
                failed_configuration: Some(any.clone()),
                last_update_attempt: Some(Timestamp::of_millis(*when)),
                details: format!("{OWN_WORDS}{why}"),
                version_info: version.clone(),
            });
        }
        config
    }
}

fn sotw(type_url: String, subscription: &Subscription, error_detail: Option<Status>) -> Bytes {
    let request = DiscoveryRequest {
        version_info: subscription.version.clone(),
        node: None,
        resource_names: subscription.names.iter().cloned().collect(),
        type_url,
        response_nonce: subscription.nonce.clone(),
        error_detail,
    };
    request.encode_to_vec().into()
}

/// Why a response is rejected: what a control plane logs.
fn detail(received: &Received, strangers: &[String]) -> String {
    let mut words: Vec<String> = received.faults.iter().map(ToString::to_string).collect();
    words.extend(strangers.iter().cloned());
    for judged in &received.resources {
        let faults = judged.faults.iter().map(|fault| format!("`{}` {fault}", judged.name));
        words.extend(faults);
    }
    let more = words.len().saturating_sub(FAULTS_SAID);
    words.truncate(FAULTS_SAID);
    if more > 0 {
        words.push(format!("{more} more"));
    }
    words.join("; ")
}

/// A response in a line.
fn told(resource_type: ResourceType, response: &Response, received: &Received, detail: Option<&str>) -> Told {
    let count = received.resources.len();
    let what = format!(
        "{} `{}` version `{}`",
        count,
        resource_type.short_name(),
        response.version
    );
    let removed = match response.removed.len() {
        0 => String::new(),
        count => format!(", {count} removed"),
    };
    let line = match detail {
        Some(detail) => format!("NACK {what}{removed}: {detail}"),
        None => format!("ACK  {what}{removed}"),
    };
    Told {
        line,
        is_rejection: detail.is_some(),
    }
}

/// The first of some names.
fn some(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES_SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
