//! Resources that a later response of the same stream takes away.
//!
//! In a log, or a file with the responses of one stream, the later response counts (C-core
//! `XdsClient::XdsChannel::AdsCall`, `OnRecvMessage`). A Delta response names what it removes. Any
//! other response of Listeners or Clusters is complete for its type, in each authority that it has
//! names of: a client drops what it holds and does not find there (A53). Resources of other types,
//! and those that were never accepted, stay as they are.
//!
//! It must be certain that responses are of one stream: they are from one client's log, or their
//! nonces all differ.

use std::collections::{BTreeMap, BTreeSet};

use super::checked::{Checked, ValidationInput, Verdict};
use super::live::LIVE_REMOVED;
use super::responses::ResponsePlaces;
use xdsctl_clients::core::convert::resource_name::NameComparison;
use xdsctl_document::envelope::{REMOVED, RawResponse, WorldId};
use xdsctl_document::source::SourceId;
use xdsctl_model::diag::Diagnostic;
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::ResourceType;

/// What a dump says of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Announced {
    /// The dump has the resource, accepted or not.
    Sent {
        /// Whether the client accepts it.
        is_accepted: bool,
    },
    /// The dump says that the resource has an error.
    Error,
    /// The dump says that the resource is gone.
    Removed,
}

impl Announced {
    /// Reads what is said of a resource.
    fn of(checked: &Checked) -> Announced {
        match checked.status.as_deref() {
            Some(status) if status.server.as_deref() == Some(REMOVED) => Announced::Removed,
            Some(status) if status.client.as_deref() == Some("RECEIVED_ERROR") => Announced::Error,
            _ => Announced::Sent {
                is_accepted: checked.verdict == Verdict::Accepted,
            },
        }
    }
}

/// How a resource is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removal {
    /// The control plane names it as removed.
    Named,
    /// A response that is complete for its type lacks it.
    LeftOut,
}

/// Marks the resources that a later response takes away; they are in no world.
pub(super) fn remove(responses: &[RawResponse], resources: &mut [Checked], against: &ValidationInput<'_>) {
    for (number, removal) in removed(responses, resources, against) {
        let Some(checked) = resources.get_mut(number) else {
            continue;
        };
        checked.is_removed = true;
        if checked.verdict == Verdict::Accepted {
            checked.verdict = Verdict::Ignored;
        }
        let message = match removal {
            Removal::Named => "a later response takes it away",
            Removal::LeftOut => "a later response of the same stream has all of its type but this: the client drops it",
        };
        checked
            .diagnostics
            .push(Diagnostic::of_whole(&LIVE_REMOVED, message.to_owned()));
    }
}

/// Says whether nothing is removed: no resource is named as removed, and there are no two responses
/// of which one could lack what the other has.
fn nothing_goes(responses: &[RawResponse], resources: &[Checked]) -> bool {
    let mut states = BTreeSet::new();
    let mut has_all = responses.iter().filter(|response| response.has_all);
    !has_all.any(|response| !states.insert((response.source, response.world, state_type(response))))
        && !resources.iter().any(|one| Announced::of(one) == Announced::Removed)
}

/// Returns which of `resources` are removed, and how. `resources` are in the order of the documents.
fn removed(
    responses: &[RawResponse],
    resources: &[Checked],
    against: &ValidationInput<'_>,
) -> BTreeMap<usize, Removal> {
    if nothing_goes(responses, resources) {
        return BTreeMap::new();
    }
    let timeline = Timeline::new(responses, resources, against);
    let mut by_key: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (number, one) in resources.iter().enumerate() {
        if let Some(place) = place_of(one).filter(|_| !one.name.is_empty()) {
            by_key
                .entry((place, timeline.names.key(&one.name)))
                .or_default()
                .push(number);
        }
    }
    let mut removed = BTreeMap::new();
    for ((place, key), mut numbers) in by_key {
        numbers.sort_by_key(|&number| resources.get(number).map(|one| one.origin.span.start));
        let stream = timeline.stream(place, &key);
        timeline.follow(&numbers, resources, stream, &mut removed);
    }
    removed
}

/// Where a resource is looked for: the document, the world and the type.
type LookupKey = (SourceId, WorldId, ResourceType);

/// Where a resource is looked for, if a gRPC client asks for its type.
fn place_of(one: &Checked) -> Option<LookupKey> {
    Some((one.origin.source, one.read_in, one.resource_type?))
}

/// The responses of all documents, in order.
struct Timeline<'r> {
    names: NameComparison,
    /// Whether the client drops a resource that a complete response lacks.
    drops: bool,
    /// Whether an error counts as a sign that the resource exists.
    reads_errors: bool,
    responses: ResponsePlaces<'r>,
    /// For each type and authority, where the responses that are complete for it begin.
    streams: BTreeMap<(LookupKey, String), Vec<usize>>,
}

impl<'r> Timeline<'r> {
    fn new(responses: &'r [RawResponse], resources: &[Checked], against: &ValidationInput<'_>) -> Timeline<'r> {
        let server = against.server;
        let reads_errors = against.profile.has(Feature::DataErrorHandling);
        let mut timeline = Timeline {
            names: NameComparison::of(against.profile),
            drops: server.drops_removed(against.profile),
            reads_errors,
            responses: ResponsePlaces::default(),
            streams: BTreeMap::new(),
        };
        let mut whole: BTreeMap<LookupKey, Vec<&RawResponse>> = BTreeMap::new();
        for response in responses {
            let Some(world) = response.world else { continue };
            timeline.responses.add(response);
            if let Some(resource_type) = state_type(response).filter(|_| response.has_all) {
                let place = (response.source, world, resource_type);
                whole.entry(place).or_default().push(response);
            }
        }
        whole.retain(|_, list| is_stream(list));
        // A server says nothing about authorities that are not its own.
        let mut authorities: BTreeMap<LookupKey, BTreeMap<String, BTreeSet<usize>>> = BTreeMap::new();
        for one in resources {
            if let Some(place) = place_of(one).filter(|place| whole.contains_key(place))
                && let Some(response) = timeline.responses.around(one)
            {
                let key = timeline.names.key(&one.name);
                let of_place = authorities.entry(place).or_default();
                let starts = of_place.entry(authority(&key).to_owned()).or_default();
                starts.insert(response.span.start);
            }
        }
        for (place, by_authority) in authorities {
            let all: Vec<usize> = whole
                .get(&place)
                .into_iter()
                .flatten()
                .map(|response| response.span.start)
                .collect();
            let is_only = by_authority.len() == 1;
            for (authority, spoken_of) in by_authority {
                let counts = |start: &usize| is_only || spoken_of.contains(start);
                let mut starts: Vec<usize> = all.iter().copied().filter(counts).collect();
                starts.sort_unstable();
                timeline.streams.insert((place, authority), starts);
            }
        }
        timeline
    }

    fn stream(&self, place: LookupKey, key: &str) -> &[usize] {
        let starts = self.streams.get(&(place, authority(key).to_owned()));
        starts.filter(|_| self.drops).map(Vec::as_slice).unwrap_or_default()
    }

    /// Follows one name through all places where it appears.
    fn follow(
        &self,
        numbers: &[usize],
        resources: &[Checked],
        stream: &[usize],
        removed: &mut BTreeMap<usize, Removal>,
    ) {
        // What the client holds: the number of the resource, and where its response begins.
        let mut held: Vec<(usize, Option<usize>)> = Vec::new();
        let mut has_value = false;
        // The number of responses of the stream up to the last one with this name.
        let mut passed = 0;
        for (&number, one) in numbers
            .iter()
            .filter_map(|number| Some((number, resources.get(*number)?)))
        {
            let start = self.responses.around(one).map(|response| response.span.start);
            let announced = Announced::of(one);
            if let Some(at) = start.and_then(|start| stream.binary_search(&start).ok())
                && (announced != Announced::Error || self.reads_errors)
            {
                if at > passed && has_value {
                    removed.extend(held.drain(..).map(|(number, _)| (number, Removal::LeftOut)));
                    has_value = false;
                }
                passed = at + 1;
            }
            match announced {
                Announced::Sent { is_accepted } => {
                    held.push((number, start));
                    has_value |= is_accepted;
                }
                Announced::Removed => {
                    // A response that sends and removes a resource contradicts itself.
                    let (kept, gone) = held.into_iter().partition(|(_, of)| *of == start && start.is_some());
                    held = kept;
                    let gone: Vec<(usize, Option<usize>)> = gone;
                    removed.extend(gone.into_iter().map(|(number, _)| (number, Removal::Named)));
                    has_value &= !held.is_empty();
                }
                Announced::Error => {}
            }
        }
        if has_value && passed > 0 && passed < stream.len() {
            removed.extend(held.into_iter().map(|(number, _)| (number, Removal::LeftOut)));
        }
    }
}

/// The type of a response, if clients take its responses as complete (state of the world).
fn state_type(response: &RawResponse) -> Option<ResourceType> {
    let name = response.type_url.as_deref()?.rsplit('/').next()?;
    let resource_type = ResourceType::from_type_name(name)?;
    matches!(resource_type, ResourceType::Listener | ResourceType::Cluster).then_some(resource_type)
}

/// Says whether responses, at least two, are certainly of one stream.
pub(super) fn is_stream(responses: &[&RawResponse]) -> bool {
    let mut nonces = BTreeSet::new();
    responses.len() > 1
        && responses
            .iter()
            .all(|response| response.is_logged || !response.nonce.is_empty() && nonces.insert(&response.nonce))
}

/// The authority in the key of a name; empty for names without one.
fn authority(key: &str) -> &str {
    const SCHEME: &str = "xdstp://";
    let end = key.strip_prefix(SCHEME).and_then(|rest| rest.find('/'));
    end.and_then(|end| key.get(..SCHEME.len() + end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::client::{Checked, Keep, Reading, ValidationInput};
    use xdsctl_document::source::SourceMap;
    use xdsctl_model::profile::{Profile, ServerFacts};

    const CDS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    const EDS: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

    /// A response of clusters. A name that begins with `!` is that of a cluster that is rejected.
    fn clusters(nonce: &str, names: &[&str]) -> String {
        let cluster = |name: &&str| {
            let (kind, name) = name.strip_prefix('!').map_or(("EDS", *name), |name| ("STATIC", name));
            format!(
                r#"{{"@type":"{CDS}","name":"{name}","type":"{kind}","eds_cluster_config":{{"eds_config":{{"ads":{{}}}},"service_name":"e"}}}}"#
            )
        };
        let list: Vec<String> = names.iter().map(cluster).collect();
        let list = list.join(",");
        format!(r#"{{"version_info":"{nonce}","nonce":"{nonce}","type_url":"{CDS}","resources":[{list}]}}"#)
    }

    fn delta(nonce: &str, add: &[&str], remove: &[&str]) -> String {
        let add: Vec<String> = add
            .iter()
            .map(|name| format!(r#"{{"name":"{name}","resource":{{"@type":"{EDS}","cluster_name":"{name}"}}}}"#))
            .collect();
        let (add, remove) = (add.join(","), remove.join("\",\""));
        let remove = if remove.is_empty() {
            String::new()
        } else {
            format!("\"{remove}\"")
        };
        format!(
            r#"{{"system_version_info":"1","nonce":"{nonce}","type_url":"{EDS}","removed_resources":[{remove}],"resources":[{add}]}}"#
        )
    }

    /// The names of all resources in order, those that are taken away in brackets.
    fn read(documents: &[String], server: &ServerFacts) -> String {
        let profile = Profile::default();
        let against = ValidationInput {
            profile: &profile,
            others: &[],
            server,
            keep: Keep::Findings,
        };
        let mut sources = SourceMap::new();
        let id = sources.add("-", documents.join("\n").into_bytes());
        let source = sources.get(id).unwrap();
        let mut reading = Reading::default();
        reading.read(Some(1), &against, |loader, emit| {
            loader.document(id, source, Default::default(), emit);
        });
        let world_set = reading.finish(&against, false);
        let name = |checked: &Checked| match checked.is_removed {
            true => format!("[{}]", checked.name),
            false => checked.name.clone(),
        };
        world_set.resources.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn case(documents: &[String], expected: &str) {
        assert_eq!(read(documents, &ServerFacts::default()), expected);
    }

    #[test]
    fn a_name_that_is_removed_is_gone_until_it_is_sent_again() {
        case(&[delta("1", &["a", "b"], &[]), delta("2", &[], &["a"])], "[a] b a");
        case(&[delta("1", &[], &["a"]), delta("2", &["a"], &[])], "a a");
        case(
            &[
                delta("1", &["a"], &[]),
                delta("2", &[], &["a"]),
                delta("3", &["a"], &[]),
            ],
            "[a] a a",
        );
        case(&[delta("1", &["a"], &["a"])], "a a");
        case(&[delta("1", &["a"], &[]), delta("2", &["b"], &[])], "a b");
    }

    #[test]
    fn what_a_later_response_of_clusters_lacks_is_gone() {
        let two = |first: &[&str], second: &[&str]| [clusters("1", first), clusters("2", second)];
        case(&two(&["a", "b"], &["b"]), "[a] b b");
        case(&two(&["a"], &[]), "[a]");
        case(&two(&["a"], &["!a"]), "a a");
        case(
            &[clusters("1", &["a"]), clusters("2", &["!a"]), clusters("3", &["b"])],
            "[a] [a] b",
        );
        case(
            &[clusters("1", &["a"]), clusters("2", &["b"]), clusters("3", &["a", "b"])],
            "[a] b a b",
        );
        // What was never accepted is not held, and stays rejected.
        case(&two(&["!a"], &["b"]), "a b");
    }

    #[test]
    fn responses_must_be_of_one_stream() {
        case(&[clusters("1", &["a"]), clusters("1", &["b"])], "a b");
        case(&[clusters("", &["a"]), clusters("", &["b"])], "a b");
        let line = |text: &str| format!("[xds-client 1] ADS response received: {text}");
        case(&[line(&clusters("1", &["a"])), line(&clusters("1", &["b"]))], "[a] b");
        let other = |text: &str| format!("[xds-client 2] ADS response received: {text}");
        case(&[line(&clusters("1", &["a"])), other(&clusters("2", &["b"]))], "a b");
    }

    #[test]
    fn a_server_may_speak_for_some_authorities_only() {
        let name = |authority: &str| format!("xdstp://{authority}/envoy.config.cluster.v3.Cluster/c");
        let (a, b) = (name("a"), name("b"));
        case(&[clusters("1", &[&a]), clusters("2", &[&b])], &format!("{a} {b}"));
        let more = format!("{a}d");
        case(
            &[clusters("1", &[&a]), clusters("2", &[&b]), clusters("3", &[&more])],
            &format!("[{a}] {b} {more}"),
        );
    }

    #[test]
    fn the_bootstrap_may_keep_what_is_deleted() {
        let server = ServerFacts {
            ignore_resource_deletion: true,
            ..ServerFacts::default()
        };
        assert_eq!(read(&[clusters("1", &["a"]), clusters("2", &["b"])], &server), "a b");
        let documents = [delta("1", &["a"], &[]), delta("2", &[], &["a"])];
        assert_eq!(read(&documents, &server), "[a] a");
    }
}
