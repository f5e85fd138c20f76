//! Responses of a control plane as they come, each judged once: what the client accepts, what it
//! rejects and why, and what it would ask for next.

use bytes::Bytes;

use super::links::{self, LinkedResource};
use super::{Checked, Client, Keep, Reading, ValidationInput, Verdict};
use xdsctl_document::source::SourceMap;
use xdsctl_document::source::sniff::DocumentFormat;
use xdsctl_model::diag::{Diagnostic, Effect};
use xdsctl_model::resource::ResourceType;

/// What a client makes of one response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Received {
    /// The resources of the response, in its order.
    pub resources: Vec<Judged>,
    /// What is wrong with the response itself: the client rejects it.
    pub faults: Vec<RejectionFault>,
}

/// What a client makes of one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Its type; `None` for one that no gRPC client asks for.
    pub resource_type: Option<ResourceType>,
    /// The type URL of the resource itself, without a wrapper.
    pub type_url: String,
    /// The name that the message itself has; may be empty.
    pub name: String,
    /// The wire bytes of the resource, without a wrapper.
    pub value: Bytes,
    /// What the client does with it.
    pub verdict: Verdict,
    /// Why the client rejects it; empty if it does not.
    pub faults: Vec<RejectionFault>,
    /// The resources to which it refers, if the client accepts it.
    pub references: Vec<LinkedResource>,
}

/// Why a client rejects something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectionFault {
    /// The id of the rule that the field breaks, such as `eds-endpoint-weight-zero`.
    pub rule: &'static str,
    /// The field, in the client's notation; empty for the whole.
    pub path: String,
    /// What is wrong with the field, as a report says it.
    pub message: String,
}

impl std::fmt::Display for RejectionFault {
    /// `at lb_policy: lb_policy 5 (MAGLEV) is not supported [cds-lb-policy-unsupported]`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.path.is_empty() {
            write!(f, "at {}: ", self.path)?;
        }
        write!(f, "{} [{}]", self.message, self.rule)
    }
}

impl Received {
    /// Says whether the client rejects any of it.
    pub fn is_rejected(&self) -> bool {
        !self.faults.is_empty() || self.resources.iter().any(|judged| judged.verdict == Verdict::Rejected)
    }
}

impl Client {
    /// Judges a serialized DiscoveryResponse or DeltaDiscoveryResponse. With `holds`, the client
    /// holds what it accepts from now on, as with [`Client::update`].
    ///
    /// What the client held before stays. The caller removes what a Delta response takes away, and
    /// a Listener or a Cluster that a later state-of-the-world response lacks, because only the
    /// caller knows what was asked for.
    pub fn receive(&mut self, response: &Bytes, holds: bool) -> Received {
        let mut sources = SourceMap::new();
        let id = sources.add_shared("-", response.clone());
        let against = ValidationInput {
            profile: &self.profile,
            others: &[],
            server: &self.server,
            keep: if holds { Keep::Values } else { Keep::Places },
        };
        let mut reading = Reading::default();
        if let Some(source) = sources.get(id) {
            let options = xdsctl_document::envelope::LoadOptions {
                format: Some(DocumentFormat::Binary),
                ..Default::default()
            };
            reading.read(None, &against, |loader, emit| {
                loader.document(id, source, options, emit);
            });
        }
        let world_set = reading.finish(&against, true);
        let facts_of = |checked: &Checked| {
            let resource_type = checked.resource_type?;
            let mut worlds = world_set.worlds.iter();
            worlds.find_map(|world| world.get(resource_type, &checked.name)?.facts())
        };
        // Names that are taken away, or that come with an error, have no resource.
        let is_told = |checked: &Checked| {
            let status = checked.status.as_deref();
            status.is_some_and(|status| status.client.is_some() || status.server.is_some())
        };
        let resources = world_set.resources.iter();
        let resources = resources.filter(|checked| !checked.is_removed && !is_told(checked));
        let resources = resources.map(|checked| Judged {
            resource_type: checked.resource_type,
            type_url: checked.type_url.clone(),
            name: checked.name.clone(),
            value: response.slice(clamped(checked.origin.span.range(), response.len())),
            verdict: checked.verdict,
            faults: faults(&checked.diagnostics),
            references: match (checked.verdict, checked.resource_type) {
                (Verdict::Accepted, Some(resource_type)) => facts_of(checked)
                    .map_or_else(Vec::new, |facts| links::references(resource_type, &checked.name, facts)),
                _ => Vec::new(),
            },
        });
        let resources = resources.collect();
        let own = world_set.findings.iter().map(|found| &found.diagnostic);
        let faults = own
            .flat_map(|diagnostic| faults(std::slice::from_ref(diagnostic)))
            .collect();
        let received = Received { resources, faults };
        if holds {
            let store = self.store(sources);
            for (_, newer) in world_set.hold(&store) {
                self.resources.take(newer);
            }
        }
        received
    }
}

fn clamped(range: std::ops::Range<usize>, length: usize) -> std::ops::Range<usize> {
    range.start.min(length)..range.end.clamp(range.start.min(length), length)
}

/// Returns the findings for which the client rejects a resource.
pub fn faults(diagnostics: &[Diagnostic]) -> Vec<RejectionFault> {
    let rejecting = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.effect == Effect::Nack);
    let faults = rejecting.map(|diagnostic| RejectionFault {
        rule: diagnostic.rule.id,
        path: diagnostic.path.to_string(),
        message: diagnostic.message.clone(),
    });
    faults.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CDS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

    fn field(out: &mut Vec<u8>, number: u8, bytes: &[u8]) {
        out.push(number << 3 | 2);
        out.push(bytes.len() as u8);
        out.extend(bytes);
    }

    fn cluster(name: &str, kind: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        field(&mut bytes, 1, name.as_bytes());
        bytes.extend([0x10, kind]);
        field(&mut bytes, 3, b"\x0a\x02\x1a\x00");
        bytes
    }

    fn response(clusters: &[Vec<u8>]) -> Bytes {
        let mut bytes = Vec::new();
        field(&mut bytes, 1, b"7");
        for cluster in clusters {
            let mut any = Vec::new();
            field(&mut any, 1, CDS.as_bytes());
            field(&mut any, 2, cluster);
            field(&mut bytes, 2, &any);
        }
        field(&mut bytes, 4, CDS.as_bytes());
        field(&mut bytes, 5, b"n");
        bytes.into()
    }

    #[test]
    fn each_resource_is_judged_and_keeps_its_bytes() {
        let mut client = Client::default();
        let clusters = [cluster("a", 3), cluster("b", 0), b"\x0a\x02\xc3\x28".to_vec()];
        let received = client.receive(&response(&clusters), true);
        let seen: Vec<_> = received
            .resources
            .iter()
            .map(|judged| (judged.name.as_str(), judged.verdict))
            .collect();
        assert_eq!(seen[..2], [("a", Verdict::Accepted), ("b", Verdict::Rejected)]);
        assert_eq!(seen[2].1, Verdict::Rejected);
        for (judged, bytes) in received.resources.iter().zip(&clusters) {
            assert_eq!(&judged.value[..], &bytes[..]);
            assert_eq!(judged.type_url, CDS);
        }
        assert_eq!(received.resources[0].references.len(), 1);
        assert_eq!(received.resources[1].faults[0].path, "type");
        assert!(received.is_rejected() && received.faults.is_empty());
        assert!(client.resources.clusters.get("a").unwrap().is_accepted());
        assert!(!client.resources.clusters.get("b").unwrap().is_accepted());
        assert!(!client.receive(&response(&clusters[..1]), false).is_rejected());
    }

    #[test]
    fn a_delta_response_brings_and_takes_away() {
        let delta = |resources: &[(&str, Vec<u8>)], removed: &[&str]| {
            let mut bytes = Vec::new();
            for (name, value) in resources {
                let (mut any, mut wrapped) = (Vec::new(), Vec::new());
                field(&mut any, 1, CDS.as_bytes());
                field(&mut any, 2, value);
                field(&mut wrapped, 1, b"v3");
                field(&mut wrapped, 2, &any);
                field(&mut wrapped, 3, name.as_bytes());
                field(&mut bytes, 2, &wrapped);
            }
            field(&mut bytes, 4, CDS.as_bytes());
            field(&mut bytes, 5, b"n");
            for name in removed {
                field(&mut bytes, 6, name.as_bytes());
            }
            Bytes::from(bytes)
        };
        let mut client = Client::default();
        let received = client.receive(&delta(&[("a", cluster("a", 3)), ("b", cluster("b", 0))], &["c"]), true);
        let seen: Vec<_> = received
            .resources
            .iter()
            .map(|judged| (judged.name.as_str(), judged.verdict))
            .collect();
        assert_eq!(seen, [("a", Verdict::Accepted), ("b", Verdict::Rejected)]);
        assert_eq!(&received.resources[0].value[..], &cluster("a", 3)[..]);
        assert!(client.resources.clusters.get("a").unwrap().is_accepted());
        assert!(client.receive(&delta(&[], &["a"]), true).resources.is_empty());
    }

    #[test]
    fn an_empty_response_and_one_of_no_type() {
        let mut client = Client::default();
        assert_eq!(client.receive(&response(&[]), true), Received::default());
        assert_eq!(client.receive(&Bytes::new(), true), Received::default());
    }
}
