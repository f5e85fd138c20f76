//! Names that a test mentions and that no configuration of its clients has: misspelt ones.
//!
//! An expectation with such a name fails without saying why. Beside a right name, or below `never`,
//! it always holds. Names come and go with updates, so all configurations of a run are searched,
//! each once, and only as long as a name is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

use super::Test;
use super::channel::localities;
use super::check::{Check, CheckKind, Cookie, RpcCheck, StatePlace};
use xdsctl_channel::client::config::XdsConfig;
use xdsctl_channel::sim::Channel;
use xdsctl_document::source::Span;
use xdsctl_model::status::Code;
use xdsctl_model::text;

/// A kind of thing that has a name. Addresses, and labels that may be addresses, come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NamedKind {
    Cluster,
    VirtualHost,
    Route,
    Locality,
    Address,
    /// A label of shares: an address, a cluster or a locality.
    Label,
}

impl NamedKind {
    const fn words(self) -> &'static str {
        match self {
            NamedKind::Cluster => "cluster",
            NamedKind::VirtualHost => "virtual host",
            NamedKind::Route => "route",
            NamedKind::Locality => "locality",
            NamedKind::Address => "endpoint",
            NamedKind::Label => "address, cluster, locality or status",
        }
    }
}

/// How many names are listed if none is near.
const NAMES_SHOWN: usize = 5;

/// How many missing names are reported.
const NAMES_TOLD: usize = 20;

/// Notes for people, with their places in the suite.
type Notes = Vec<(Span, String)>;

/// Names that were not found so far, with the places that mention them.
type Missing = BTreeMap<(NamedKind, String), Vec<Span>>;

/// What a test mentions and its configurations do not have, as far as they have been seen.
#[derive(Debug, Default)]
pub(super) struct MentionedNames {
    missing: Missing,
    backends: BTreeMap<SocketAddr, Span>,
    seen: Vec<Option<Arc<XdsConfig>>>,
}

impl MentionedNames {
    /// Collects what a test mentions. `addresses` are known to exist.
    pub fn of(test: &Test, addresses: &[SocketAddr]) -> MentionedNames {
        let mut names = MentionedNames::default();
        let of_steps = test.steps.iter().flat_map(|planned| &planned.expect);
        let of_never = test.never.iter().flat_map(|never| &never.checks);
        of_steps.chain(of_never).for_each(|check| names.mention(check));
        let backends = test.backends.iter();
        names.backends = backends
            .filter_map(|backend| Some((backend.address?, backend.span)))
            .collect();
        for address in addresses {
            names.meet_address(address);
        }
        names
    }

    fn mention(&mut self, check: &Check) {
        let mut add = |kind: NamedKind, name: String| self.missing.entry((kind, name)).or_default().push(check.value);
        match &check.what {
            CheckKind::Rpc(RpcCheck::Cluster(names)) => {
                names.iter().for_each(|name| add(NamedKind::Cluster, name.clone()))
            }
            CheckKind::Rpc(RpcCheck::VirtualHost(names)) => {
                names.iter().for_each(|name| add(NamedKind::VirtualHost, name.clone()))
            }
            CheckKind::Rpc(RpcCheck::Route(names)) => names.iter().for_each(|name| add(NamedKind::Route, name.clone())),
            CheckKind::Rpc(RpcCheck::Locality(names)) => {
                names.iter().for_each(|name| add(NamedKind::Locality, name.clone()))
            }
            CheckKind::Rpc(RpcCheck::Address(addresses) | RpcCheck::AttemptsAt(addresses)) => {
                addresses
                    .iter()
                    .for_each(|address| add(NamedKind::Address, address.to_string()));
            }
            CheckKind::Rpc(RpcCheck::Cookie(Cookie::For(address))) => add(NamedKind::Address, address.to_string()),
            CheckKind::States(states) => {
                for place in states.keys() {
                    if let StatePlace::Address(address) = place {
                        add(NamedKind::Address, address.to_string());
                    }
                }
            }
            CheckKind::Priority(clusters) => clusters.keys().for_each(|name| add(NamedKind::Cluster, name.clone())),
            CheckKind::Shares(shares) => {
                let is_code = |label: &&String| Code::from_name(label).is_some();
                let labels = shares.of.keys().filter(|label| !is_code(label));
                labels.for_each(|label| add(NamedKind::Label, label.clone()));
            }
            CheckKind::Rpc(
                RpcCheck::Status(_)
                | RpcCheck::Message(_)
                | RpcCheck::Fails(_)
                | RpcCheck::Authority(_)
                | RpcCheck::Attempts(_)
                | RpcCheck::Within(_)
                | RpcCheck::Cookie(Cookie::None | Cookie::Set)
                | RpcCheck::Moves(_)
                | RpcCheck::That(_),
            )
            | CheckKind::Backends(_)
            | CheckKind::Count(_)
            | CheckKind::Nack(_)
            | CheckKind::Has(_)
            | CheckKind::Lacks(_) => {}
        }
    }

    fn meet(&mut self, kind: NamedKind, name: &str) {
        self.missing.remove(&(kind, name.to_owned()));
        if matches!(kind, NamedKind::Cluster | NamedKind::Locality | NamedKind::Address) {
            self.missing.remove(&(NamedKind::Label, name.to_owned()));
        }
    }

    fn meet_address(&mut self, address: &SocketAddr) {
        self.backends.remove(address);
        // These kinds come last in the order.
        if self
            .missing
            .last_key_value()
            .is_some_and(|((kind, _), _)| *kind >= NamedKind::Address)
        {
            self.meet(NamedKind::Address, &address.to_string());
        }
    }

    /// Searches the configurations in use.
    pub fn configurations(&mut self, channels: &[Channel]) {
        if self.missing.is_empty() && self.backends.is_empty() {
            return;
        }
        self.seen.resize(channels.len(), None);
        for (number, channel) in channels.iter().enumerate() {
            let Some(config) = channel.config() else { continue };
            let is_same = |seen: &Arc<XdsConfig>| Arc::ptr_eq(seen, config);
            if self
                .seen
                .get(number)
                .is_some_and(|seen| seen.as_ref().is_some_and(is_same))
            {
                continue;
            }
            self.configuration(config);
            if let Some(seen) = self.seen.get_mut(number) {
                *seen = Some(config.clone());
            }
        }
    }

    fn configuration(&mut self, config: &XdsConfig) {
        for (kind, name) in names_of(config) {
            self.meet(kind, &name);
        }
        let addresses = config.addresses().chain(config.lookup_services());
        addresses.for_each(|address| self.meet_address(&address));
    }

    /// Returns notes on what is still missing: in expectations, and among the test's backends.
    pub fn missing(&self) -> (Notes, Notes) {
        let is_all_there = self.missing.is_empty() && self.backends.is_empty();
        // Without a configuration nothing has a name, and RPCs say why.
        if is_all_there || self.seen.iter().all(Option::is_none) {
            return Default::default();
        }
        let configs = self.seen.iter().flatten();
        let known: BTreeSet<(NamedKind, String)> = configs.clone().flat_map(|config| names_of(config)).collect();
        let addresses = configs.flat_map(|config| XdsConfig::addresses(config));
        let addresses: BTreeSet<String> = addresses.map(|address| address.to_string()).collect();
        let near_address = |name: &str| {
            let near = text::nearest(name, addresses.iter().map(String::as_str));
            near.map(|near| format!(", did you mean {near}?")).unwrap_or_default()
        };
        let mut of_checks = Vec::new();
        for ((kind, name), spans) in self.missing.iter().take(NAMES_TOLD) {
            let of_kind = |(of, known): &(NamedKind, String)| {
                let is_one =
                    of == kind || (*kind == NamedKind::Label && matches!(of, NamedKind::Cluster | NamedKind::Locality));
                is_one.then_some(known.clone())
            };
            let known: BTreeSet<String> = known.iter().filter_map(of_kind).collect();
            let hint = match kind {
                NamedKind::Address => near_address(name),
                NamedKind::Label if name.parse::<SocketAddr>().is_ok() => near_address(name),
                _ => hint(name, &known),
            };
            let words = match kind {
                NamedKind::Address => format!("no endpoint has the address {name}{hint}"),
                kind => format!("there is no {} `{name}`{hint}", kind.words()),
            };
            of_checks.extend(spans.iter().take(NAMES_TOLD).map(|span| (*span, words.clone())));
        }
        let more = self.missing.iter().nth(NAMES_TOLD).and_then(|(_, spans)| spans.first());
        if let Some(span) = more {
            let more = self.missing.len() - NAMES_TOLD;
            of_checks.push((*span, format!("there are {more} more names that nothing has")));
        }
        let of_backend = |(address, span): (&SocketAddr, &Span)| {
            let hint = near_address(&address.to_string());
            (*span, format!("no endpoint has the address {address}{hint}"))
        };
        (
            of_checks,
            self.backends.iter().take(NAMES_TOLD).map(of_backend).collect(),
        )
    }
}

/// Returns the names of a configuration, without its addresses.
fn names_of(config: &XdsConfig) -> Vec<(NamedKind, String)> {
    let mut found = Vec::new();
    if !config.starts_at_cluster {
        for host in &config.route_config.virtual_hosts {
            found.push((NamedKind::VirtualHost, host.name.clone()));
            for route in &host.routes {
                found.push((NamedKind::Route, route.index.to_string()));
                if !route.name.is_empty() {
                    found.push((NamedKind::Route, route.name.clone()));
                }
            }
        }
    }
    for cluster in config.clusters.keys() {
        found.push((NamedKind::Cluster, cluster.clone()));
        let names = localities(config, cluster).map(|locality| (NamedKind::Locality, locality.name.short()));
        found.extend(names);
    }
    found
}

/// Says what was probably meant, or what there is.
fn hint(name: &str, known: &BTreeSet<String>) -> String {
    if let Some(near) = text::nearest(name, known.iter().map(String::as_str)) {
        return format!(", did you mean `{near}`?");
    }
    let shown: Vec<String> = known.iter().take(NAMES_SHOWN).map(|name| format!("`{name}`")).collect();
    match (shown.is_empty(), known.len() > shown.len()) {
        (true, _) => String::new(),
        (false, false) => format!("; there is {}", shown.join(", ")),
        (false, true) => format!("; there is {}, ...", shown.join(", ")),
    }
}
