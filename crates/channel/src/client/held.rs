//! The resources that one client holds, by type and name, with their values: the cache of an xDS
//! client.
//!
//! If the client rejects a resource, it keeps the last good version, if there is one, and the words
//! of the rejection (A88). A name that is not here "does not exist", which is what a client says 15
//! seconds after it has asked.
//!
//! For a large document only places are kept. A value is read and validated again when it is first
//! asked for, so a channel costs what it uses, and not what the document holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::facts::{ClusterFacts, Facts, ListenerFacts};
use super::receive::RejectionFault;
use super::same::{Compared, VersionComparison};
use xdsctl_clients::core::convert::resource_name::NameComparison;
use xdsctl_clients::discovery;
use xdsctl_clients::judge::Validated;
use xdsctl_document::envelope::{self, Origin};
use xdsctl_document::source::SourceMap;
use xdsctl_model::diag::{Diagnostic, Effect, Validation};
use xdsctl_model::profile::{Profile, ServerFacts};
use xdsctl_model::resource::{Cluster, Endpoints, Listener, Resource, ResourceType, RouteConfiguration};

mod any;
mod edit;
mod hold;
mod rejection;
mod withdrawn;

pub use rejection::Rejected;
use rejection::Rejection;

use withdrawn::WithdrawnResource;

use edit::Edited;
pub use edit::Edits;

/// The documents of a run and what they are checked against, so that values can be read again.
#[derive(Debug, Default)]
pub struct Store {
    /// The documents that were read, from which values are read again.
    pub sources: SourceMap,
    /// The client and its switches.
    pub profile: Profile,
    /// What the bootstrap says.
    pub server: ServerFacts,
}

/// Why a value that was there can no longer be read.
const CHANGED: &str = "the input has changed since it was first read";

/// What the client keeps of a resource.
#[derive(Debug)]
struct KeptValue<T> {
    /// The value; `None` if the document has changed meanwhile.
    value: Option<Arc<T>>,
    noted: Noted,
}

/// An accepted version. Clients that hold the same one share it.
#[derive(Debug)]
struct AcceptedVersion<T> {
    /// The value. It is set once it has been asked for, or from the start.
    kept: Arc<OnceLock<KeptValue<T>>>,
    /// Where the value can be read again.
    place: Option<(Arc<Store>, Origin)>,
    /// The message behind a version that stands in no document.
    edited: Option<Arc<Edited>>,
}

impl<T> AcceptedVersion<T> {
    /// A version that stands in no document.
    fn of(value: Option<Arc<T>>, noted: Noted) -> Self {
        AcceptedVersion {
            kept: Arc::new(OnceLock::from(KeptValue { value, noted })),
            place: None,
            edited: None,
        }
    }
}

// Not derived: that would ask for `T: Clone`.
impl<T> Clone for AcceptedVersion<T> {
    fn clone(&self) -> Self {
        AcceptedVersion {
            kept: self.kept.clone(),
            place: self.place.clone(),
            edited: self.edited.clone(),
        }
    }
}

/// What is known of a resource without its value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Gist {
    #[default]
    Other,
    /// A listener that a channel can use.
    ApiListener,
    /// A LOGICAL_DNS cluster, and the name that DNS is asked for.
    LogicalDns(Box<str>),
}

/// One resource as the client's cache holds it.
#[derive(Debug, Clone)]
pub struct HeldResource<T> {
    version: Option<AcceptedVersion<T>>,
    rejected: Option<Rejection>,
    gist: Gist,
    /// The server no longer has it. It stays in use as long as the client watches it.
    is_gone: bool,
}

// Not derived: that would ask for `T: Default`.
impl<T> Default for HeldResource<T> {
    fn default() -> Self {
        HeldResource {
            version: None,
            rejected: None,
            gist: Gist::Other,
            is_gone: false,
        }
    }
}

impl<T: ResourceKind> HeldResource<T> {
    /// What the client makes of a resource that cannot be read again later.
    fn of(validated: Validated) -> HeldResource<T> {
        let noted = Noted::of(&validated.diagnostics);
        let Some(value) = validated.value else {
            return HeldResource {
                rejected: Some(Rejection::own(&validated.diagnostics, validated.dies)),
                ..HeldResource::default()
            };
        };
        let value = T::of(value).map(Arc::new);
        HeldResource {
            version: Some(AcceptedVersion::of(value, noted)),
            ..HeldResource::default()
        }
    }

    /// The last accepted version; `None` if there was none.
    pub fn value(&self) -> Option<&Arc<T>> {
        self.kept()?.value.as_ref()
    }

    /// Elements of the accepted version that the client silently drops: `endpoints[1]: ...`.
    pub fn dropped(&self) -> &[String] {
        self.kept().map_or(&[], |kept| &kept.noted.dropped)
    }

    /// What in the accepted version makes RPCs fail, or the client die: `interval: ...`.
    pub fn fails(&self) -> &[String] {
        self.kept().map_or(&[], |kept| &kept.noted.fails)
    }

    /// Says whether there is an accepted version.
    pub const fn is_accepted(&self) -> bool {
        self.version.is_some()
    }

    /// Why the newest version was rejected (`rejected, at ...`, or `invalid resource: ...` in the words of a live client, without
    /// the node); `None` if it was accepted.
    pub fn rejected(&self) -> Option<&str> {
        let is_lost = || self.is_accepted() && self.value().is_none();
        let why = self.rejected.as_ref().map(|rejection| rejection.why.as_str());
        why.or_else(|| is_lost().then_some(CHANGED))
    }

    /// Says whether the client gives no answer to the newest version: its process dies, or an
    /// exception leaves its parser.
    pub fn is_fatal(&self) -> bool {
        self.rejected.as_ref().is_some_and(|rejection| rejection.dies)
    }

    /// Says whether the newest version was rejected in words that name no resource. For its
    /// watchers it then does not exist.
    pub fn is_unnamed(&self) -> bool {
        self.rejected.as_ref().is_some_and(|rejection| rejection.is_unnamed)
    }

    /// Says whether it is not known if the client rejects the newest version. Only for a client
    /// whose resources are kept as the reference client keeps them.
    pub fn is_unknown(&self) -> bool {
        self.rejected.as_ref().is_some_and(|rejection| rejection.is_unknown)
    }

    /// The faults for which it was rejected; empty if it was accepted, or if only a live client
    /// says that it rejects it.
    pub fn faults(&self) -> &[RejectionFault] {
        self.rejected.as_ref().map_or(&[], |rejection| &rejection.faults)
    }

    fn kept(&self) -> Option<&KeptValue<T>> {
        let version = self.version.as_ref()?;
        let kept = version.kept.get_or_init(|| {
            let read = version
                .place
                .as_ref()
                .and_then(|(store, origin)| store.read(*origin, T::TYPE));
            let (value, noted) = read.unzip();
            KeptValue {
                value: value.and_then(T::of).map(Arc::new),
                noted: noted.unwrap_or_default(),
            }
        });
        Some(kept)
    }
}

impl Store {
    /// Reads and validates a resource again.
    fn read(&self, origin: Origin, resource_type: ResourceType) -> Option<(Resource, Noted)> {
        let (bytes, cx) = self.bytes(origin, resource_type)?;
        let validated = discovery::bare(resource_type, &bytes, &[], cx);
        Some((validated.value?, Noted::of(&validated.diagnostics)))
    }

    /// Reads the bytes of a resource again. Also returns with what they are to be validated.
    fn bytes(&self, origin: Origin, resource_type: ResourceType) -> Option<(Bytes, Validation<'_>)> {
        let source = self.sources.get(origin.source)?;
        let (bytes, known) = envelope::again(source, origin, resource_type)?;
        Some((
            bytes,
            Validation::new(&self.profile, &self.server).knowing(known).packing(),
        ))
    }
}

/// The findings that are noted of an accepted version.
#[derive(Debug, Clone, Default)]
struct Noted {
    /// Elements that the client silently drops.
    dropped: Vec<String>,
    /// What makes RPCs fail although the client accepts the resource.
    fails: Vec<String>,
}

impl Noted {
    fn of(diagnostics: &[Diagnostic]) -> Noted {
        let told = |effect: Effect| {
            let found = diagnostics.iter().filter(|d| d.effect == effect);
            found.map(|d| format!("{}: {}", d.path, d.message)).collect()
        };
        Noted {
            dropped: told(Effect::Dropped),
            fails: told(Effect::Fails),
        }
    }
}

/// One of the four types of resources.
pub trait ResourceKind: Sized + Clone {
    /// The type as a value.
    const TYPE: ResourceType;

    /// The value, if it is of this type.
    fn of(resource: Resource) -> Option<Self>;
}

macro_rules! kinds {
    ($($kind:ident)*) => {$(
        impl ResourceKind for $kind {
            const TYPE: ResourceType = ResourceType::$kind;

            fn of(resource: Resource) -> Option<Self> {
                match resource {
                    Resource::$kind(value) => Some(value),
                    _ => None,
                }
            }
        }
    )*};
}

kinds! { Listener RouteConfiguration Cluster Endpoints }

/// All resources of one type, by the keys of their names, so that any spelling of a name finds its
/// resource. Copies share the list until one of them changes, because a test may have a thousand
/// clients.
#[derive(Debug, Clone)]
pub struct Cache<T> {
    names: NameComparison,
    versions: VersionComparison,
    held: Arc<BTreeMap<String, HeldResource<T>>>,
    /// Resources that the server took away and the client remembers.
    withdrawn: BTreeMap<String, WithdrawnResource<T>>,
}

// Not derived: that would ask for `T: Default`.
impl<T> Default for Cache<T> {
    fn default() -> Self {
        Cache::new(NameComparison::default(), VersionComparison::default())
    }
}

impl<T> Cache<T> {
    fn new(names: NameComparison, versions: VersionComparison) -> Self {
        Cache {
            names,
            versions,
            held: Arc::default(),
            withdrawn: BTreeMap::new(),
        }
    }

    /// The resource of this name.
    pub fn get(&self, name: &str) -> Option<&HeldResource<T>> {
        self.held.get(&*self.names.key(name))
    }

    /// Says whether there is a resource of this name, accepted or not.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The resources with their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &HeldResource<T>)> + Clone {
        self.held.iter()
    }

    /// The key of a name, whatever its spelling.
    pub fn key<'n>(&self, name: &'n str) -> std::borrow::Cow<'n, str> {
        self.names.key(name)
    }

    /// The keys of all names, in order, those of rejected resources included.
    pub fn keys(&self) -> impl Iterator<Item = &String> + Clone {
        self.held.keys()
    }
}

impl<T: ResourceKind> Cache<T> {
    fn held_mut(&mut self) -> &mut BTreeMap<String, HeldResource<T>> {
        Arc::make_mut(&mut self.held)
    }

    /// The resource of this name, to change it.
    fn get_mut(&mut self, name: &str) -> Option<&mut HeldResource<T>> {
        let key = self.names.key(name).into_owned();
        self.held_mut().get_mut(&key)
    }
}

impl<T: ResourceKind + Compared> Cache<T> {
    /// Takes newer resources. A version that is rejected, or that to the client is the same, leaves
    /// the version before it in use. Says whether any version is new to the client.
    fn take(&mut self, newer: Cache<T>) -> bool {
        let mut is_news = false;
        self.versions = newer.versions;
        for (key, held) in Arc::unwrap_or_clone(newer.held) {
            is_news |= self.take_one(key, held);
        }
        is_news
    }

    fn take_one(&mut self, key: String, held: HeldResource<T>) -> bool {
        let Some(held) = self.unheard(&key, held) else {
            return false;
        };
        let versions = self.versions;
        let before = self.held_mut().entry(key).or_default();
        before.is_gone = false;
        let both = before.value().zip(held.value());
        if both.is_some_and(|(before, new)| before.is_same(new, versions)) {
            before.rejected = None;
            return false;
        }
        let is_news = held.version.is_some();
        match is_news {
            true => *before = held,
            false => before.rejected = held.rejected,
        }
        is_news
    }
}

impl Gist {
    fn of(facts: &Facts) -> Gist {
        match facts {
            Facts::Listener(ListenerFacts::Rds(..) | ListenerFacts::Inline(..)) => Gist::ApiListener,
            Facts::Cluster(ClusterFacts::LogicalDns { hostname, .. }) => Gist::LogicalDns(hostname.clone()),
            _ => Gist::Other,
        }
    }
}

/// The resources of one world.
#[derive(Debug, Clone, Default)]
pub struct Resources {
    /// The Listeners (LDS).
    pub listeners: Cache<Listener>,
    /// The RouteConfigurations (RDS).
    pub route_configs: Cache<RouteConfiguration>,
    /// The Clusters (CDS).
    pub clusters: Cache<Cluster>,
    /// The ClusterLoadAssignments (EDS).
    pub endpoints: Cache<Endpoints>,
    /// The resources that do not exist because the server took them away.
    removed: BTreeSet<(ResourceType, String)>,
}

impl Resources {
    /// Makes an empty set of resources that compares names and versions in these ways.
    fn new(names: NameComparison, versions: VersionComparison) -> Resources {
        Resources {
            listeners: Cache::new(names, versions),
            route_configs: Cache::new(names, versions),
            clusters: Cache::new(names, versions),
            endpoints: Cache::new(names, versions),
            removed: BTreeSet::new(),
        }
    }

    /// The resources of a client that holds these values, for tests.
    #[cfg(test)]
    pub fn of_values(values: impl IntoIterator<Item = (&'static str, Resource)>) -> Resources {
        fn add<T: ResourceKind>(cache: &mut Cache<T>, name: &str, value: T) {
            let held = HeldResource {
                version: Some(AcceptedVersion::of(Some(Arc::new(value)), Noted::default())),
                ..HeldResource::default()
            };
            cache.held_mut().insert(name.to_owned(), held);
        }
        let mut held = Resources::default();
        for (name, value) in values {
            match value {
                Resource::Listener(value) => add(&mut held.listeners, name, value),
                Resource::RouteConfiguration(value) => add(&mut held.route_configs, name, value),
                Resource::Cluster(value) => add(&mut held.clusters, name, value),
                Resource::Endpoints(value) => add(&mut held.endpoints, name, value),
            }
        }
        held
    }

    /// Takes resources that the control plane sends later.
    pub(super) fn take(&mut self, newer: Resources) {
        self.listeners.take(newer.listeners);
        self.route_configs.take(newer.route_configs);
        let is_news = self.clusters.take(newer.clusters) | self.endpoints.take(newer.endpoints);
        if is_news {
            self.listeners.use_inline_routes();
        }
    }

    /// Drops the accepted version of a Listener, and keeps the reason for the rejection of a newer
    /// one.
    pub fn lose_listener(&mut self, name: &str) {
        if let Some(held) = self.listeners.get_mut(name) {
            held.version = None;
        }
    }

    /// The accepted listeners that channels can use, by name.
    pub fn api_listeners(&self) -> impl Iterator<Item = &str> {
        let listeners = self.listeners.iter();
        listeners.filter_map(|(name, held)| (held.gist == Gist::ApiListener).then_some(name.as_str()))
    }

    /// The names that the accepted clusters ask DNS for.
    pub fn dns_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.clusters.iter().filter_map(|(_, held)| match &held.gist {
            Gist::LogicalDns(hostname) => Some(&**hostname),
            Gist::Other | Gist::ApiListener => None,
        })
    }

    /// The resources that the server took away.
    pub fn removed(&self) -> impl Iterator<Item = (ResourceType, &str)> {
        self.removed
            .iter()
            .map(|(resource_type, name)| (*resource_type, name.as_str()))
    }
}
