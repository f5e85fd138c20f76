//! What DiscoveryResponses say besides their resources: the type that each resource must have, and
//! reported errors.

use std::collections::{BTreeMap, BTreeSet};

use super::checked::{Checked, ValidationInput, Verdict};
use super::removed;
use xdsctl_clients::discovery;
use xdsctl_clients::shared::rules::XDSTP_NAME_MALFORMED;
use xdsctl_document::envelope::{Finding, RawResponse, WorldId};
use xdsctl_document::source::SourceId;
use xdsctl_model::diag::Validation;
use xdsctl_model::resource::ResourceType;

/// Responses by document, world and first byte. In a log the lines of several clients may be mixed.
#[derive(Debug, Default)]
pub(super) struct ResponsePlaces<'r>(BTreeMap<(SourceId, WorldId, usize), &'r RawResponse>);

impl<'r> ResponsePlaces<'r> {
    /// Adds a response; nothing is in one without a world.
    pub fn add(&mut self, response: &'r RawResponse) {
        if let Some(world) = response.world {
            self.0.insert((response.source, world, response.span.start), response);
        }
    }

    /// The response that contains a resource.
    pub fn around(&self, checked: &Checked) -> Option<&'r RawResponse> {
        let (source, world, span) = (checked.origin.source, checked.read_in, checked.origin.span);
        let (key, response) = self.0.range(..=(source, world, span.start)).next_back()?;
        ((key.0, key.1) == (source, world) && span.end <= response.span.end).then_some(response)
    }
}

/// Checks responses. Findings on a resource are added to it, the others are returned.
///
/// A response of a type that only other xDS clients ask for is skipped: it was not meant for gRPC.
pub(super) fn check(
    responses: &[RawResponse],
    resources: &mut [Checked],
    against: &ValidationInput<'_>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut of_known_type = ResponsePlaces::default();
    for response in responses {
        let mut cx = Validation::new(against.profile, against.server);
        if let Some(type_url) = response.type_url.as_deref().filter(|url| !discovery::is_of_others(url)) {
            if discovery::check_response_type(type_url, &mut cx).is_some() {
                of_known_type.add(response);
            }
            findings.extend(cx.finish().into_iter().map(|diagnostic| Finding {
                source: response.source,
                span: response.span,
                diagnostic,
            }));
        }
        errors(response, against, &mut findings);
    }
    let streams = streams(responses);
    for checked in resources.iter_mut().filter(|checked| !checked.type_url.is_empty()) {
        let Some(around) = of_known_type.around(checked) else {
            continue;
        };
        let Some(response_type) = around.type_url.as_deref() else {
            continue;
        };
        if streams.contains(&(around.source, checked.read_in, response_type)) {
            checked.sent_in = Some(around.span.start);
        }
        let mut cx = Validation::new(against.profile, against.server);
        if !discovery::check_resource_type(&checked.type_url, response_type, &mut cx) {
            // The client does not look into the resource.
            checked.diagnostics = cx.finish();
            checked.reject();
        }
        for diagnostic in &mut checked.diagnostics {
            if diagnostic.rule == &discovery::XDSTP_NAME_UNSENDABLE {
                // In a response, what counts is the name that it gives.
                diagnostic.turn_into(&XDSTP_NAME_MALFORMED);
                checked.verdict = Verdict::Rejected;
            }
        }
        if checked.verdict == Verdict::Rejected {
            checked.reject();
        }
    }
    findings
}

/// The documents, worlds and types whose responses are of one stream.
fn streams(responses: &[RawResponse]) -> BTreeSet<(SourceId, WorldId, &str)> {
    let mut by_type: BTreeMap<(SourceId, WorldId, &str), Vec<&RawResponse>> = BTreeMap::new();
    for response in responses {
        if let (Some(world), Some(type_url)) = (response.world, response.type_url.as_deref()) {
            by_type
                .entry((response.source, world, type_url))
                .or_default()
                .push(response);
        }
    }
    by_type.retain(|_, list| removed::is_stream(list));
    by_type.into_keys().collect()
}

/// Checks `resource_errors`; each finding stands at its entry.
fn errors(response: &RawResponse, against: &ValidationInput<'_>, findings: &mut Vec<Finding>) {
    let name = response.type_url.as_deref().unwrap_or_default();
    let Some(resource_type) = name.rsplit('/').next().and_then(ResourceType::from_type_name) else {
        return;
    };
    for (index, error) in response.errors.iter().enumerate() {
        let mut cx = Validation::new(against.profile, against.server);
        let reported = (error.name.as_str(), !error.has_error);
        let is_read = discovery::check_error(index, reported, resource_type, &mut cx);
        findings.extend(cx.finish().into_iter().map(|diagnostic| Finding {
            source: response.source,
            span: error.span,
            diagnostic,
        }));
        if !is_read {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::client::{Keep, Reading, ValidationInput, Verdict};
    use xdsctl_document::source::SourceMap;
    use xdsctl_model::profile::{Profile, ServerFacts};

    /// Verdicts of the resources and rules of the other findings.
    fn read(text: &str) -> (Vec<Verdict>, Vec<&'static str>) {
        let (profile, server) = (Profile::default(), ServerFacts::default());
        let against = ValidationInput {
            profile: &profile,
            others: &[],
            server: &server,
            keep: Keep::Findings,
        };
        let mut sources = SourceMap::new();
        let id = sources.add("-", text.as_bytes().to_vec());
        let text = sources.get(id).unwrap().bytes();
        let mut reading = Reading::default();
        reading.read(Some(1), &against, |loader, emit| {
            loader.json(id, text, Default::default(), emit);
        });
        let world_set = reading.finish(&against, false);
        let rules = world_set.findings.iter().map(|found| found.diagnostic.rule.id);
        (
            world_set.resources.iter().map(|checked| checked.verdict).collect(),
            rules.filter(|id| id.starts_with("response-")).collect(),
        )
    }

    const CDS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

    fn cluster(type_url: &str) -> String {
        format!(
            r#"{{"@type":"{type_url}","name":"c","type":"EDS","eds_cluster_config":{{"eds_config":{{"ads":{{}}}},"service_name":"s"}}}}"#
        )
    }

    #[test]
    fn a_resource_is_compared_with_the_response_around_it() {
        let endpoints = r#"{"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"}"#;
        let eds = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
        // Printed JSON has the type after the resources.
        let text = format!(
            r#"{{"resources":[{c},{c2},{endpoints}],"typeUrl":"{CDS}"}} {{"resources":[{endpoints}],"type_url":"{eds}"}}"#,
            c = cluster(CDS),
            c2 = cluster("foo/envoy.config.cluster.v3.Cluster"),
        );
        let (verdicts, findings) = read(&text);
        use Verdict::{Accepted, Rejected};
        assert_eq!(verdicts, [Accepted, Rejected, Rejected, Accepted]);
        assert!(findings.is_empty(), "{findings:?}");
    }

    #[test]
    fn a_response_for_other_clients_is_passed_over() {
        let secret = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
        let (_, findings) = read(&format!(
            r#"{{"type_url":"{secret}","resources":[{{"@type":"{secret}"}}]}}"#
        ));
        assert!(findings.is_empty(), "{findings:?}");
        let (_, findings) = read(r#"{"type_url":"foo/envoy.config.cluster.v3.Cluster","resources":[]}"#);
        assert_eq!(findings, ["response-type-unknown"]);
    }
}
