//! Takes a line of a client's log apart: which faults it reports, and in which resources.
//!
//! Whatever a logger has written around them does not matter: a fault begins at `field:`, and a
//! resource at one of a few words that clients write before its name. All searches are in the
//! squeezed text.

use std::ops::Range;

use super::squeeze::Squeezed;
use xdsctl_model::diag::Subject;
use xdsctl_model::resource::ResourceType;

/// The resource that a part of a line is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct About {
    pub subject: Option<Subject>,
    pub resource_type: Option<ResourceType>,
    pub name: Option<String>,
}

/// A fault with a path, as ranges of the squeezed text.
#[derive(Debug)]
pub(super) struct LineFault {
    pub path: Range<usize>,
    pub words: Range<usize>,
    /// Whether the words are a list of errors.
    pub is_list: bool,
}

/// Longest name of a resource that is searched for, in bytes without white space.
const MAX_NAME_BYTES: usize = 1024;

/// Where a line names a resource or a type, and where the name begins, if there is one.
type NamePlace = (usize, About, Option<(usize, End)>);

/// Most places in a line that name a resource or a type; after them the resource is unknown.
const MAX_ABOUTS: usize = 4096;

/// Longest words of a fault, in bytes without white space. If the line was cut off, what follows it
/// is not part of the words.
const MAX_FAULT_BYTES: usize = 4096;

/// How a name ends.
#[derive(Clone, Copy)]
enum End {
    /// The name ends at a colon that is followed by known words, or else by a blank.
    Colon,
    /// The name ends before these words.
    At(&'static str),
}

use End::{At, Colon};

/// The words that grpc-java writes behind the name of a resource that it rejects.
const REJECTED: &str = "'validation";

/// The words that grpc-java writes behind the name of a resource that it did not get.
const NOT_LOADED: &str = ".xDSserverreturned";

const LDS: Option<ResourceType> = Some(ResourceType::Listener);
const RDS: Option<ResourceType> = Some(ResourceType::RouteConfiguration);
const CDS: Option<ResourceType> = Some(ResourceType::Cluster);
const EDS: Option<ResourceType> = Some(ResourceType::Endpoints);

/// The words before the name of a resource, the type of the resource, and how the name ends.
const BEFORE_NAME: [(&str, Option<ResourceType>, End); 29] = [
    ("LDSresource", LDS, Colon),
    ("RDSresource", RDS, Colon),
    ("CDSresource", CDS, Colon),
    ("EDSresource", EDS, Colon),
    ("invalidListener", LDS, Colon),
    ("invalidRouteConfiguration", RDS, Colon),
    ("invalidClusterLoadAssignment", EDS, Colon),
    ("invalidCluster", CDS, Colon),
    ("resourceindex", None, Colon),
    ("resource_errorsindex", None, Colon),
    // C-core before 1.50.
    ("{type=envoy.config.listener.v3.Listenername=", LDS, At("}")),
    ("{type=envoy.config.route.v3.RouteConfigurationname=", RDS, At("}")),
    ("{type=envoy.config.cluster.v3.Clustername=", CDS, At("}")),
    (
        "{type=envoy.config.endpoint.v3.ClusterLoadAssignmentname=",
        EDS,
        At("}"),
    ),
    // grpc-go.
    ("resource\"", None, At("\"")),
    ("resourcename\"", None, At("\"")),
    ("Resourcetarget", None, At("notfound")),
    // grpc-java.
    ("LDSresponseListener'", LDS, At(REJECTED)),
    ("RDSresponseRouteConfiguration'", RDS, At(REJECTED)),
    ("CDSresponseCluster'", CDS, At(REJECTED)),
    ("EDSresponseClusterLoadAssignment'", EDS, At(REJECTED)),
    ("LDSresourcedoesnotexist:", LDS, Colon),
    ("RDSresourcedoesnotexist:", RDS, Colon),
    ("UnabletoloadLDS", LDS, At(NOT_LOADED)),
    ("UnabletoloadRDS", RDS, At(NOT_LOADED)),
    ("UnabletoloadCDS", CDS, At(NOT_LOADED)),
    ("UnabletoloadEDS", EDS, At(NOT_LOADED)),
    ("circularaggregateclustersdirectlyunder", CDS, At("forrootcluster")),
    ("waitingforresource", None, At("fromxDSserver")),
];

/// Some of the words that follow a name and its colon.
const AFTER_NAME: [&str; 12] = [
    ":INVALID_ARGUMENT:",
    ":invalidresource:",
    ":doesnotexist",
    ":couldnotfind",
    ":notanAPI",
    ":contains",
    ":xDSchannel",
    ":authority\"",
    ":Cannotparse",
    ":incorrectresource",
    ":error_detail",
    ":errorsvalidating",
];

/// Words that follow a name and a blank.
const BEHIND_NAME: [&str; 8] = [
    "doesnotexist",
    "notexist",
    "initialfetch",
    "nodeID:",
    "xDSnodeID",
    "(nodeID",
    "(xDSnodeID",
    "deletedfrom",
];

/// Words that show the type of a resource.
const TYPES: [(&str, Subject); 16] = [
    // grpc-go's names of the types.
    ("ListenerResource", Subject::Listener),
    ("RouteConfigResource", Subject::RouteConfiguration),
    ("ClusterResource", Subject::Cluster),
    ("EndpointsResource", Subject::Endpoints),
    ("errorsvalidatingApiListener", Subject::Listener),
    ("errorsvalidatingserverListener", Subject::Listener),
    ("errorsvalidatingRouteConfiguration", Subject::RouteConfiguration),
    ("errorsvalidatingClusterresource", Subject::Cluster),
    ("errorsparsingEDS", Subject::Endpoints),
    ("errorsvalidatingJSON", Subject::Bootstrap),
    ("Can'tparseListener", Subject::Listener),
    ("Can'tparseRouteConfiguration", Subject::RouteConfiguration),
    ("Can'tparseClusterLoadAssignment", Subject::Endpoints),
    ("Can'tparseClusterresource", Subject::Cluster),
    ("Listenerhasneither", Subject::Listener),
    ("errorsvalidatingserviceconfig", Subject::Snapshot),
];

const fn subject(resource_type: ResourceType) -> Subject {
    match resource_type {
        ResourceType::Listener => Subject::Listener,
        ResourceType::RouteConfiguration => Subject::RouteConfiguration,
        ResourceType::Cluster => Subject::Cluster,
        ResourceType::Endpoints => Subject::Endpoints,
    }
}

/// Returns the faults of a text that have a path, in order.
pub(super) fn faults(squeezed: &Squeezed) -> Vec<LineFault> {
    let text = squeezed.text.as_str();
    let starts: Vec<usize> = text
        .match_indices("field:")
        .map(|(at, _)| at)
        .filter(|at| {
            let before = text.get(..*at).and_then(|head| head.chars().next_back());
            before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        })
        .collect();
    let mut faults = Vec::new();
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(text.len());
        let from = start + "field:".len();
        let Some(body) = text.get(from..end) else { continue };
        let (path_len, words_at, is_list) = match (body.find("error:"), body.find("errors:[")) {
            (Some(one), Some(list)) if list < one => (list, list + "errors:[".len(), true),
            (None, Some(list)) => (list, list + "errors:[".len(), true),
            (Some(one), _) => (one, one + "error:".len(), false),
            (None, None) => continue,
        };
        let words = from + words_at..from + words_at + words_len(body.get(words_at..).unwrap_or_default());
        faults.push(LineFault {
            path: from..from + path_len,
            words,
            is_list,
        });
    }
    faults
}

/// Splits a line into parts, each about one resource: from one `resource "NAME":` of grpc-go, or
/// one `CDS response Cluster 'NAME' validation error:` of grpc-java, to the next.
pub(super) fn parts(squeezed: &Squeezed) -> Vec<Range<usize>> {
    let text = squeezed.text.as_str();
    let starts = |words: &'static str, end: &'static str| {
        let is_named = move |at: &usize| {
            let rest = text.get(at + words.len()..).map(|rest| head(rest, MAX_NAME_BYTES));
            let name = rest.and_then(|rest| rest.split_once(end));
            name.is_some_and(|(name, _)| !name.contains(['"', '\'']))
        };
        text.match_indices(words).map(|(at, _)| at).filter(is_named)
    };
    let mut all: Vec<usize> = starts("resource\"", "\":").collect();
    for (words, ..) in BEFORE_NAME.iter().filter(|(.., end)| matches!(end, At(REJECTED))) {
        all.extend(starts(words, REJECTED));
    }
    all.sort_unstable();
    let ends = all.iter().skip(1).copied().chain([text.len()]);
    all.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Returns the beginning of a text, at most `len` bytes.
pub(super) fn head(text: &str, len: usize) -> &str {
    let end = (0..=len.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// Returns the length of the words of a fault: up to the bracket that closes their list, or to the
/// next resource.
fn words_len(text: &str) -> usize {
    let text = head(text, MAX_FAULT_BYTES);
    let text = text.split(";resourceindex").next().unwrap_or_default();
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth == 0 => return at,
            ']' => depth -= 1,
            _ => {}
        }
    }
    text.trim_end_matches([';', '[']).len()
}

/// Returns the resources that parts of a text are about, each from its position to the next.
pub(super) fn abouts(squeezed: &Squeezed) -> Vec<(usize, About)> {
    let text = squeezed.text.as_str();
    let mut places: Vec<NamePlace> = Vec::new();
    let about = |subject, resource_type| About {
        subject,
        resource_type,
        name: None,
    };
    for (words, resource_type, end) in BEFORE_NAME {
        for (at, _) in text.match_indices(words) {
            // If one word begins with the other, the longer one counts.
            if words == "invalidCluster" && text.get(at..).is_some_and(|t| t.starts_with("invalidClusterLoadAss")) {
                continue;
            }
            let of_type = about(resource_type.map(subject), resource_type);
            places.push((at, of_type, Some((at + words.len(), end))));
        }
    }
    for (words, of) in TYPES {
        let of_type = about(
            Some(of),
            ResourceType::ALL.into_iter().find(|known| subject(*known) == of),
        );
        places.extend(text.match_indices(words).map(|(at, _)| (at, of_type.clone(), None)));
    }
    for resource_type in ResourceType::ALL {
        let words = format!("resourcetype{}", resource_type.type_name());
        let of_type = about(Some(subject(resource_type)), Some(resource_type));
        places.extend(text.match_indices(&words).map(|(at, _)| (at, of_type.clone(), None)));
    }
    places.sort_by_key(|(at, ..)| *at);
    let behind = places.get(MAX_ABOUTS).map(|(at, ..)| (*at, About::default()));
    places.truncate(MAX_ABOUTS);
    let mut found: Vec<(usize, About)> = Vec::new();
    for (at, mut about, name) in places {
        about.name = match name {
            Some((from, Colon)) => self::name(squeezed, from, about.resource_type.is_none()),
            Some((from, At(end))) => name_before(squeezed, from, end),
            None => None,
        };
        found.push((at, about));
    }
    // The name and the type are often in different places.
    let mut before = About::default();
    for (at, about) in &mut found {
        let starts_resource = text.get(*at..).is_some_and(|t| t.starts_with("resource"));
        if about.name.is_none() && !starts_resource {
            let same = before.resource_type.is_none() || before.resource_type == about.resource_type;
            about.name = before.name.clone().filter(|_| same);
        }
        if about.resource_type.is_none() && about.subject.is_none() {
            about.resource_type = before.resource_type;
            about.subject = before.subject;
        }
        before = about.clone();
    }
    // After the last place, the resource is unknown.
    found.extend(behind);
    found
}

/// Reads the name that begins at `from`; with `is_indexed`, after an index that is skipped.
fn name(squeezed: &Squeezed, from: usize, is_indexed: bool) -> Option<String> {
    let text = head(squeezed.text.get(from..)?, MAX_NAME_BYTES);
    let skipped = match is_indexed {
        true => {
            text.len()
                - text
                    .trim_start_matches(|c: char| c.is_ascii_digit())
                    .strip_prefix(':')?
                    .len()
        }
        false => 0,
    };
    // The colon is included, so that a missing name looks the same with and without an index.
    let text = text.get(skipped..)?;
    let start = from + skipped;
    let is_known = |at: usize, ends: &[&str]| {
        ends.iter()
            .any(|words| text.get(at..).is_some_and(|rest| rest.starts_with(words)))
    };
    let mut end = None;
    for (at, c) in text.char_indices() {
        if squeezed.is_after_blank(start + at) && is_known(at, &BEHIND_NAME) {
            end = end.or(Some(at));
            break;
        }
        if c == ':' {
            if is_known(at, &AFTER_NAME) {
                end = Some(at);
                break;
            }
            // A name may have colons, and even blanks after them.
            let is_last = squeezed.is_after_blank(start + at + 1);
            end = end.or(is_last.then_some(at));
        }
    }
    let end = end?;
    let is_missing = AFTER_NAME
        .iter()
        .any(|words| text.starts_with(words.trim_start_matches(':')));
    // `CDS resource for NAME` is how C-core wrote it before 1.40.
    let name = squeezed.pasted(start..start + end);
    let name = name.strip_prefix("for ").unwrap_or(&name);
    (!is_missing && end > 0).then(|| name.trim().to_owned())
}

/// Reads the name between `from` and some words.
fn name_before(squeezed: &Squeezed, from: usize, end: &str) -> Option<String> {
    let text = head(squeezed.text.get(from..)?, MAX_NAME_BYTES);
    let end = text.find(end).filter(|end| *end > 0)?;
    Some(squeezed.pasted(from..from + end).trim().to_owned())
}
