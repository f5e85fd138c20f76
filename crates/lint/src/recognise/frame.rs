//! Whether a line is one of gRPC's: what a client writes around its words, and what others write
//! around theirs.
//!
//! "Handshake failed" or "duplicate key" stand in anybody's log. Such words count only beside
//! something that gRPC alone writes: its names, a status, a source file. A kubelet talks gRPC too,
//! but not xDS: its lines are a stranger's.

use xdsctl_model::profile::Family;

/// What only gRPC writes; in lower case, without white space.
const OURS: &str = "\
    xds grpc rpcerror:code= errorsvalidating resourceindex invalidresource: ldsresource \
    rdsresource cdsresource edsresource ldsresponse rdsresponse cdsresponse edsresponse \
    status{code= transport: nameresolver lbpolicy api_listener typedstruct receivedrouteisinvalid \
    failedtounmarshalresource: resourcevalidationfailed: failedtodecodeprotobufmessage: emptyresourcenamein routespecifier envoy.config. envoy.extensions. \
    |load_balancing_call| |resolving_call| |resolving_load_balancer|";

/// Statuses as gRPC writes them before a message.
const STATUSES: &str = "\
    UNAVAILABLE: INTERNAL: INVALID_ARGUMENT: DEADLINE_EXCEEDED: NOT_FOUND: PERMISSION_DENIED:";

/// Programs that write some of the same words of their own affairs.
const STRANGERS: &str = "\
    kubelet remote_runtime.go remote_image.go containerd etcdserver etcdclient [go-control-plane]";

/// The client that alone writes what is around the words of a text, in lower case and without white
/// space.
pub(super) fn writer(lower: &str) -> Option<Family> {
    let mut writers = Family::ALL.into_iter().filter(|family| has(lower, family.log_marks()));
    let first = writers.next();
    first.filter(|_| writers.next().is_none())
}

/// Says whether something in a text, without white space, shows that gRPC's xDS client wrote it.
pub(super) fn is_ours(text: &str, lower: &str) -> bool {
    !is_of_stranger(lower) && (has(lower, OURS) || has(text, STATUSES))
}

/// Says whether a program wrote a text that uses such words of its own affairs.
pub(super) fn is_of_stranger(lower: &str) -> bool {
    has(lower, STRANGERS)
}

fn has(text: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|words| text.contains(words))
}
