//! One stream: what its client has asked for, what it was sent, and what it answered. Does no input
//! or output.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use prost::Message as _;

use xdsctl_model::profile::UserAgent;

use super::snapshot::{Snapshot, SnapshotResource};
use crate::messages::{
    Any, DeltaRequest, DeltaResponse, DiscoveryRequest, DiscoveryResponse, Resource as Wrapped, Status,
};

/// The type URLs for which a response has all resources, so that a missing one no longer exists. A
/// first request without names asks for all of them.
const COMPLETE: [&str; 2] = [
    "type.googleapis.com/envoy.config.listener.v3.Listener",
    "type.googleapis.com/envoy.config.cluster.v3.Cluster",
];

/// The form of the protocol: state-of-the-world or Delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolForm {
    Sotw,
    Delta,
}

/// A client's answer to a response.
#[derive(Debug)]
pub struct PeerAnswer {
    /// `node.id` of the stream; may be empty.
    pub node: String,
    /// The user agent of the node.
    pub agent: UserAgent,
    pub type_url: String,
    pub version: String,
    /// The resources of the response, in order.
    pub resources: Vec<Arc<SnapshotResource>>,
    /// Why the client rejects the response; `None` if it accepts it.
    pub rejection: Option<String>,
}

/// The result of a request.
#[derive(Debug, Default)]
pub struct RequestEffect {
    pub answer: Option<PeerAnswer>,
    /// The Listeners that the request is the first to name.
    pub listeners: Vec<String>,
    pub responses: Vec<Bytes>,
}

/// A response that was sent.
#[derive(Debug)]
struct Sent {
    nonce: String,
    version: String,
    resources: Vec<Arc<SnapshotResource>>,
    /// Whether the next response no longer waits for the answer to this one.
    is_overdue: bool,
}

/// A client's subscription to one type.
#[derive(Debug, Default)]
struct Subscribed {
    names: BTreeSet<String>,
    is_wildcard: bool,
    /// The names with the versions that were sent; 0 for a resource that does not exist.
    sent: BTreeMap<String, u64>,
    unanswered: Vec<Sent>,
    /// Whether a request has arrived.
    is_open: bool,
}

/// A stream of a client.
#[derive(Debug)]
pub struct Peer {
    form: ProtocolForm,
    node: super::RequestNode,
    nonce: u64,
    types: BTreeMap<String, Subscribed>,
    /// The Listeners that the client has named.
    listeners: BTreeSet<String>,
}

impl Peer {
    pub fn new(form: ProtocolForm) -> Peer {
        Peer {
            form,
            node: super::RequestNode::default(),
            nonce: 0,
            types: BTreeMap::new(),
            listeners: BTreeSet::new(),
        }
    }

    /// Takes a request.
    ///
    /// # Errors
    /// The bytes are not a request; the error says so in words.
    pub fn take(&mut self, bytes: &Bytes, snapshot: &Snapshot) -> Result<RequestEffect, String> {
        let (type_url, nonce, error) = match self.form {
            ProtocolForm::Sotw => {
                let request = DiscoveryRequest::decode(bytes.clone()).map_err(|e| e.to_string())?;
                self.remember_node(request.node.as_ref());
                let wanted = self.types.entry(request.type_url.clone()).or_default();
                wanted.set_names(request.resource_names, &request.type_url);
                (request.type_url, request.response_nonce, request.error_detail)
            }
            ProtocolForm::Delta => {
                let request = DeltaRequest::decode(bytes.clone()).map_err(|e| e.to_string())?;
                self.remember_node(request.node.as_ref());
                let wanted = self.types.entry(request.type_url.clone()).or_default();
                wanted.apply_delta(request.subscribe, &request.unsubscribe, &request.type_url);
                (request.type_url, request.response_nonce, request.error_detail)
            }
        };
        let answer = self.answered(&type_url, &nonce, error);
        Ok(RequestEffect {
            answer,
            listeners: self.new_listeners(&type_url),
            responses: self.respond(&type_url, snapshot).into_iter().collect(),
        })
    }

    /// Records the node, because a client need not send it more than once.
    fn remember_node(&mut self, node: Option<&Bytes>) {
        if let Some(node) = node.and_then(|node| super::RequestNode::decode(node.clone()).ok()) {
            self.node = node;
        }
    }

    /// Returns the user agent of the node.
    pub fn agent(&self) -> UserAgent {
        self.node.agent()
    }

    /// Returns the Listeners that are wanted and were not wanted at the last call.
    fn new_listeners(&mut self, type_url: &str) -> Vec<String> {
        let Some(wanted) = self.types.get(type_url).filter(|_| type_url == COMPLETE[0]) else {
            return Vec::new();
        };
        let new: Vec<String> = wanted.names.difference(&self.listeners).cloned().collect();
        self.listeners.extend(new.iter().cloned());
        new
    }

    /// Returns the responses to send now that the resources have changed.
    pub fn refresh(&mut self, snapshot: &Snapshot) -> Vec<Bytes> {
        let types: Vec<String> = self.types.keys().cloned().collect();
        types
            .iter()
            .filter_map(|type_url| self.respond(type_url, snapshot))
            .collect()
    }

    /// Says whether responses wait for the answer to an earlier one.
    pub fn awaits_an_answer(&self) -> bool {
        self.types.values().any(Subscribed::awaits_an_answer)
    }

    /// Stops waiting for answers, and returns the responses to send. A client that drops all names
    /// of a type may forget that it owes an answer. A late answer still counts.
    pub fn wait_no_longer(&mut self, snapshot: &Snapshot) -> Vec<Bytes> {
        for wanted in self.types.values_mut() {
            for sent in &mut wanted.unanswered {
                sent.is_overdue = true;
            }
        }
        self.refresh(snapshot)
    }

    fn answered(&mut self, type_url: &str, nonce: &str, error: Option<Status>) -> Option<PeerAnswer> {
        let wanted = self.types.get_mut(type_url)?;
        let index = wanted.unanswered.iter().position(|sent| sent.nonce == nonce)?;
        // This answer replaces those to earlier responses.
        let sent = wanted.unanswered.drain(..=index).next_back()?;
        Some(PeerAnswer {
            node: self.node.id.clone(),
            agent: self.node.agent(),
            type_url: type_url.to_owned(),
            version: sent.version,
            resources: sent.resources,
            rejection: error.map(|error| error.message),
        })
    }

    fn respond(&mut self, type_url: &str, snapshot: &Snapshot) -> Option<Bytes> {
        let wanted = self.types.get_mut(type_url)?;
        // C-core answers several responses by one request, with the last nonce and the first error.
        // So it is certain which one it rejects only if it has one at a time.
        if wanted.awaits_an_answer() {
            return None;
        }
        let chosen: Vec<(&Arc<SnapshotResource>, u64)> = if wanted.is_wildcard {
            snapshot.all(type_url).collect()
        } else {
            wanted
                .names
                .iter()
                .filter_map(|name| snapshot.get(type_url, name))
                .collect()
        };
        let now: BTreeMap<String, u64> = chosen
            .iter()
            .map(|(resource, version)| (resource.name.clone(), *version))
            .collect();
        let is_new = |name: &str, version: u64| wanted.sent.get(name) != Some(&version);
        let has_news = chosen
            .iter()
            .any(|(resource, version)| is_new(&resource.name, *version));
        let known_gone = |name: &String| !now.contains_key(name) && wanted.sent.get(name) != Some(&0);
        let asked: BTreeSet<&String> = wanted.sent.keys().chain(&wanted.names).collect();
        let gone: Vec<String> = asked.into_iter().filter(|name| known_gone(name)).cloned().collect();
        let has_all = COMPLETE.contains(&type_url);
        let is_first = !std::mem::replace(&mut wanted.is_open, true);
        let is_silent = match self.form {
            ProtocolForm::Sotw => !has_news && !(has_all && (is_first || !gone.is_empty())),
            ProtocolForm::Delta => !has_news && gone.is_empty() && !(is_first && wanted.is_wildcard),
        };
        if is_silent {
            return None;
        }
        // For other types, a response has only what the client does not have yet.
        let sends_all = has_all && self.form == ProtocolForm::Sotw;
        let resources: Vec<Arc<SnapshotResource>> = chosen
            .iter()
            .filter(|(resource, version)| sends_all || is_new(&resource.name, *version))
            .map(|(resource, _)| Arc::clone(resource))
            .collect();
        self.nonce += 1;
        let (nonce, version) = (self.nonce.to_string(), snapshot.version.to_string());
        let any = |resource: &SnapshotResource| Any {
            type_url: resource.type_url.clone(),
            value: resource.value.clone(),
        };
        let bytes = match self.form {
            ProtocolForm::Sotw => {
                let response = DiscoveryResponse {
                    version_info: version.clone(),
                    resources: resources.iter().map(|resource| any(resource)).collect(),
                    type_url: type_url.to_owned(),
                    nonce: nonce.clone(),
                };
                response.encode_to_vec()
            }
            ProtocolForm::Delta => {
                let wrapped = resources.iter().map(|resource| Wrapped {
                    version: now.get(&resource.name).copied().unwrap_or_default().to_string(),
                    resource: Some(any(resource)),
                    name: resource.name.clone(),
                });
                let response = DeltaResponse {
                    system_version_info: version.clone(),
                    resources: wrapped.collect(),
                    type_url: type_url.to_owned(),
                    nonce: nonce.clone(),
                    removed_resources: gone.clone(),
                };
                response.encode_to_vec()
            }
        };
        wanted
            .sent
            .retain(|name, _| wanted.is_wildcard || wanted.names.contains(name));
        wanted.sent.extend(now);
        wanted.sent.extend(gone.into_iter().map(|name| (name, 0)));
        wanted.unanswered.push(Sent {
            nonce,
            version,
            resources,
            is_overdue: false,
        });
        Some(bytes.into())
    }
}

impl Subscribed {
    fn awaits_an_answer(&self) -> bool {
        self.unanswered.iter().any(|sent| !sent.is_overdue)
    }

    /// Handles a state-of-the-world request, which names everything that is wanted.
    fn set_names(&mut self, names: Vec<String>, type_url: &str) {
        let has_star = names.iter().any(|name| name == "*");
        // For a client that has named something before, an empty list does not mean everything.
        self.is_wildcard =
            has_star || names.is_empty() && COMPLETE.contains(&type_url) && (!self.is_open || self.is_wildcard);
        self.names = names.into_iter().filter(|name| name != "*").collect();
        let (names, is_wildcard) = (&self.names, self.is_wildcard);
        self.sent.retain(|name, _| is_wildcard || names.contains(name));
    }

    /// Handles a Delta request, which says what changes.
    fn apply_delta(&mut self, subscribe: Vec<String>, unsubscribe: &[String], type_url: &str) {
        if !self.is_open && subscribe.is_empty() && COMPLETE.contains(&type_url) {
            self.is_wildcard = true;
        }
        for name in subscribe {
            if name == "*" {
                self.is_wildcard = true;
            } else {
                // A client that subscribes again wants the resource again.
                self.sent.remove(&name);
                self.names.insert(name);
            }
        }
        for name in unsubscribe {
            if name == "*" {
                self.is_wildcard = false;
            }
            self.names.remove(name);
            if !self.is_wildcard {
                self.sent.remove(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CDS: &str = COMPLETE[1];
    const EDS: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

    fn resource(type_url: &str, name: &str, value: &'static [u8]) -> SnapshotResource {
        SnapshotResource {
            type_url: type_url.to_owned(),
            name: name.to_owned(),
            value: Bytes::from_static(value),
        }
    }

    fn ask(
        peer: &mut Peer,
        snapshot: &Snapshot,
        type_url: &str,
        names: &[&str],
        nonce: &str,
    ) -> Option<DiscoveryResponse> {
        let request = DiscoveryRequest {
            type_url: type_url.to_owned(),
            resource_names: names.iter().map(|name| (*name).to_owned()).collect(),
            response_nonce: nonce.to_owned(),
            ..Default::default()
        };
        let taken = peer.take(&request.encode_to_vec().into(), snapshot).unwrap();
        let mut responses = taken.responses.into_iter();
        let response = responses.next().map(|bytes| DiscoveryResponse::decode(bytes).unwrap());
        assert!(responses.next().is_none());
        response
    }

    #[test]
    fn a_stream_gets_what_it_asks_for_once() {
        let mut peer = Peer::new(ProtocolForm::Sotw);
        let all = vec![
            resource(CDS, "a", b"1"),
            resource(CDS, "b", b"1"),
            resource(EDS, "a", b"1"),
            resource(EDS, "b", b"1"),
        ];
        let first = Snapshot::first(all.clone());
        let response = ask(&mut peer, &first, CDS, &["a", "missing"], "").unwrap();
        assert_eq!((response.resources.len(), response.version_info.as_str()), (1, "1"));
        assert_eq!(ask(&mut peer, &first, CDS, &["a", "missing"], &response.nonce), None);
        // A Cluster response has all clusters; one with endpoints has only new ones.
        let clusters = ask(&mut peer, &first, CDS, &["a", "b"], &response.nonce).unwrap();
        assert_eq!(clusters.resources.len(), 2);
        assert_eq!(ask(&mut peer, &first, EDS, &["missing"], ""), None);
        let endpoints = ask(&mut peer, &first, EDS, &["a"], "").unwrap();
        assert_eq!(endpoints.resources.len(), 1);
        // No further response is sent before there is an answer.
        assert_eq!(ask(&mut peer, &first, EDS, &["a", "b"], ""), None);
        let endpoints = ask(&mut peer, &first, EDS, &["a", "b"], &endpoints.nonce).unwrap();
        assert_eq!(endpoints.resources[0].value, "1");
        assert_eq!(ask(&mut peer, &first, CDS, &["a", "b"], &clusters.nonce), None);
        assert_eq!(ask(&mut peer, &first, EDS, &["a", "b"], &endpoints.nonce), None);
        let mut changed = all;
        changed[3].value = Bytes::from_static(b"2");
        changed.remove(0);
        let second = first.next(changed);
        let sent = peer.refresh(&second);
        let sent: Vec<_> = sent
            .into_iter()
            .map(|bytes| DiscoveryResponse::decode(bytes).unwrap())
            .collect();
        assert_eq!(
            sent.iter()
                .map(|r| (r.resources.len(), r.version_info.as_str()))
                .collect::<Vec<_>>(),
            [(1, "2"), (1, "2")]
        );
        assert!(peer.refresh(&second).is_empty());
    }

    #[test]
    fn an_answer_that_does_not_come_stops_nothing_for_good() {
        let mut peer = Peer::new(ProtocolForm::Sotw);
        let snapshot = Snapshot::first(vec![resource(EDS, "a", b"1"), resource(EDS, "b", b"1")]);
        let forgotten = ask(&mut peer, &snapshot, EDS, &["a"], "").unwrap();
        // The client drops its only name and forgets the response; then it wants another.
        assert_eq!(ask(&mut peer, &snapshot, EDS, &[], ""), None);
        assert_eq!(ask(&mut peer, &snapshot, EDS, &["b"], ""), None);
        assert!(peer.awaits_an_answer());
        let sent = peer.wait_no_longer(&snapshot);
        let response = DiscoveryResponse::decode(sent[0].clone()).unwrap();
        assert_eq!((sent.len(), response.resources.len()), (1, 1));
        assert!(peer.awaits_an_answer());
        assert_ne!(response.nonce, forgotten.nonce);
        assert_eq!(ask(&mut peer, &snapshot, EDS, &["b"], &forgotten.nonce), None);
        assert_eq!(ask(&mut peer, &snapshot, EDS, &["b"], &response.nonce), None);
        assert!(!peer.awaits_an_answer());
        assert!(peer.wait_no_longer(&snapshot).is_empty());
    }

    #[test]
    fn an_answer_is_for_its_nonce() {
        let mut peer = Peer::new(ProtocolForm::Sotw);
        let snapshot = Snapshot::first(vec![resource(CDS, "a", b"1")]);
        let response = ask(&mut peer, &snapshot, CDS, &[], "").unwrap();
        let mut answer = |nonce: &str, error: bool| {
            let request = DiscoveryRequest {
                type_url: CDS.to_owned(),
                response_nonce: nonce.to_owned(),
                error_detail: error.then(|| Status {
                    code: 3,
                    message: "no".to_owned(),
                }),
                ..Default::default()
            };
            peer.take(&request.encode_to_vec().into(), &snapshot).unwrap().answer
        };
        assert!(answer("other", false).is_none());
        let found = answer(&response.nonce, true).unwrap();
        assert_eq!((found.rejection.as_deref(), found.resources.len()), (Some("no"), 1));
        assert!(answer(&response.nonce, false).is_none());
    }

    #[test]
    fn delta_sends_changes_and_what_is_gone() {
        let mut peer = Peer::new(ProtocolForm::Delta);
        let snapshot = Snapshot::first(vec![resource(EDS, "a", b"1"), resource(EDS, "b", b"1")]);
        let request = DeltaRequest {
            type_url: EDS.to_owned(),
            subscribe: vec!["a".to_owned(), "missing".to_owned()],
            ..Default::default()
        };
        let taken = peer.take(&request.encode_to_vec().into(), &snapshot).unwrap();
        let response = DeltaResponse::decode(taken.responses[0].clone()).unwrap();
        assert_eq!(
            (
                response.resources[0].name.as_str(),
                response.removed_resources.as_slice()
            ),
            ("a", &["missing".to_owned()][..])
        );
        let answer = DeltaRequest {
            type_url: EDS.to_owned(),
            response_nonce: response.nonce,
            ..Default::default()
        };
        assert!(
            peer.take(&answer.encode_to_vec().into(), &snapshot)
                .unwrap()
                .responses
                .is_empty()
        );
        let second = snapshot.next(vec![resource(EDS, "b", b"1")]);
        let response = DeltaResponse::decode(peer.refresh(&second)[0].clone()).unwrap();
        assert_eq!(
            (response.resources.len(), response.removed_resources.as_slice()),
            (0, &["a".to_owned()][..])
        );
        assert!(peer.refresh(&second).is_empty());
    }
}
