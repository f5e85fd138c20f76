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

use super::checked::{Checked, Gap};
use super::facts::{ClusterFacts, Facts, ListenerFacts};
use super::receive::RejectionFault;
use super::same::{Compared, VersionComparison};
use super::world::{ResourceId, WorldEntry};
use xdsctl_clients::core::convert::resource_name::NameComparison;
use xdsctl_clients::discovery;
use xdsctl_clients::judge::Validated;
use xdsctl_document::envelope::{self, Origin};
use xdsctl_document::source::SourceMap;
use xdsctl_model::diag::{Diagnostic, Effect, Validation};
use xdsctl_model::profile::{Profile, ServerFacts};
use xdsctl_model::resource::{Cluster, Endpoints, Listener, Resource, ResourceType, RouteConfiguration};

mod edit;
mod hold;
mod rejection;
mod unwatched;
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
    /// Elements that the client silently drops.
    dropped: Vec<String>,
    /// What makes RPCs fail although the client accepts the resource.
    fails: Vec<String>,
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
        let kept = Arc::new(OnceLock::from(noted.beside(value)));
        HeldResource {
            version: Some(AcceptedVersion {
                kept,
                place: None,
                edited: None,
            }),
            ..HeldResource::default()
        }
    }

    /// The last accepted version; `None` if there was none.
    pub fn value(&self) -> Option<&Arc<T>> {
        self.kept()?.value.as_ref()
    }

    /// Elements of the accepted version that the client silently drops: `endpoints[1]: ...`.
    pub fn dropped(&self) -> &[String] {
        self.kept().map_or(&[], |kept| &kept.dropped)
    }

    /// What in the accepted version makes RPCs fail, or the client die: `interval: ...`.
    pub fn fails(&self) -> &[String] {
        self.kept().map_or(&[], |kept| &kept.fails)
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

    /// What is not known of the newest version; if there is something, it is no rejection. Only for
    /// a client whose resources are kept as the reference client keeps them.
    pub fn gap(&self) -> Option<Gap> {
        self.rejected.as_ref()?.gap
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
            match read {
                Some((value, noted)) => noted.beside(T::of(value).map(Arc::new)),
                None => Noted::default().beside(None),
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
#[derive(Debug, Default)]
struct Noted {
    dropped: Vec<String>,
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

    fn beside<T>(self, value: Option<Arc<T>>) -> KeptValue<T> {
        let Noted { dropped, fails } = self;
        KeptValue { value, dropped, fails }
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

    fn retain(&mut self, keep: impl Fn(ResourceType, &str) -> bool) {
        let kept = self.held.iter().filter(|(key, _)| keep(T::TYPE, key));
        self.held = Arc::new(kept.map(|(key, held)| (key.clone(), held.clone())).collect());
    }

    fn remove(&mut self, name: &str) {
        let key = self.names.key(name).into_owned();
        self.held_mut().remove(&key);
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

impl<T: ResourceKind> Cache<T> {
    fn add(&mut self, key: &str, entry: &WorldEntry, resources: &mut [Checked], store: &Arc<Store>) {
        let ResourceId(number) = entry.id;
        let mut held = HeldResource::default();
        if let Some(checked) = resources.get_mut(number)
            && let Some(facts) = entry.facts()
        {
            held.gist = Gist::of(facts);
            let kept = OnceLock::new();
            let value = checked.value.take().and_then(|value| T::of(*value));
            let is_kept = value.is_some();
            if is_kept {
                let noted = Noted::of(&checked.diagnostics);
                let _ = kept.set(noted.beside(value.map(Arc::new)));
            }
            // A change of endpoints begins with their bytes, and Listeners may be compared by their
            // bytes.
            let is_read_again = !is_kept || matches!(T::TYPE, ResourceType::Endpoints | ResourceType::Listener);
            let place = is_read_again.then(|| (Arc::clone(store), checked.origin));
            held.version = Some(AcceptedVersion {
                kept: Arc::new(kept),
                place,
                edited: None,
            });
        }
        let rejected = entry.rejected.and_then(|ResourceId(number)| resources.get(number));
        held.rejected = rejected.map(Rejection::of);
        self.held_mut().insert(key.to_owned(), held);
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
    /// How many resources there are, rejected ones included.
    pub fn count(&self) -> usize {
        self.listeners.held.len() + self.route_configs.held.len() + self.clusters.held.len() + self.endpoints.held.len()
    }
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
            let version = Some(AcceptedVersion {
                kept: Arc::new(OnceLock::from(Noted::default().beside(Some(Arc::new(value))))),
                place: None,
                edited: None,
            });
            let held = HeldResource {
                version,
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

    /// Removes a resource, as a server that no longer sends a Listener or Cluster does.
    pub fn remove(&mut self, resource_type: ResourceType, name: &str) {
        match resource_type {
            ResourceType::Listener => self.listeners.remove(name),
            ResourceType::RouteConfiguration => self.route_configs.remove(name),
            ResourceType::Cluster => self.clusters.remove(name),
            ResourceType::Endpoints => self.endpoints.remove(name),
        }
    }

    /// Drops the accepted version of a Listener, and keeps the reason for the rejection of a newer
    /// one.
    pub fn lose_listener(&mut self, name: &str) {
        let key = self.listeners.names.key(name).into_owned();
        if let Some(held) = self.listeners.held_mut().get_mut(&key) {
            held.version = None;
        }
    }

    /// Keeps only the resources that `keep` accepts, by type and key.
    pub fn retain(&mut self, keep: impl Fn(ResourceType, &str) -> bool) {
        self.listeners.retain(&keep);
        self.route_configs.retain(&keep);
        self.clusters.retain(&keep);
        self.endpoints.retain(&keep);
    }

    /// Says whether there is a resource of this name, accepted or not.
    pub fn contains(&self, resource_type: ResourceType, name: &str) -> bool {
        match resource_type {
            ResourceType::Listener => self.listeners.contains_key(name),
            ResourceType::RouteConfiguration => self.route_configs.contains_key(name),
            ResourceType::Cluster => self.clusters.contains_key(name),
            ResourceType::Endpoints => self.endpoints.contains_key(name),
        }
    }

    /// Says whether there are no resources, not even rejected ones.
    pub fn is_empty(&self) -> bool {
        let Resources {
            listeners,
            route_configs,
            clusters,
            endpoints,
            removed: _,
        } = self;
        listeners.held.is_empty()
            && route_configs.held.is_empty()
            && clusters.held.is_empty()
            && endpoints.held.is_empty()
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
