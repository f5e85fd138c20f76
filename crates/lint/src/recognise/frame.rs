//! Whether gRPC wrote a line of a log, by what a client writes around its messages.
//!
//! "Handshake failed" or "duplicate key" can be in anybody's log. Such words count only next to
//! something that only gRPC writes: its names, a status, a source file. A kubelet uses gRPC too,
//! but not xDS, so its lines do not count.

use xdsctl_model::profile::Family;

/// Texts that only gRPC writes, in lower case and without white space.
const OURS: &str = "\
    xds grpc rpcerror:code= errorsvalidating resourceindex invalidresource: ldsresource \
    rdsresource cdsresource edsresource ldsresponse rdsresponse cdsresponse edsresponse \
    status{code= transport: nameresolver lbpolicy api_listener typedstruct receivedrouteisinvalid \
    failedtounmarshalresource: resourcevalidationfailed: failedtodecodeprotobufmessage: emptyresourcenamein routespecifier envoy.config. envoy.extensions. \
    |load_balancing_call| |resolving_call| |resolving_load_balancer|";

/// Statuses, as gRPC writes them before a message.
const STATUSES: &str = "\
    UNAVAILABLE: INTERNAL: INVALID_ARGUMENT: DEADLINE_EXCEEDED: NOT_FOUND: PERMISSION_DENIED:";

/// Programs that use some of the same words for other purposes.
const STRANGERS: &str = "\
    kubelet remote_runtime.go remote_image.go containerd etcdserver etcdclient [go-control-plane]";

/// Returns the only client that writes texts like this one, which is in lower case and without
/// white space.
pub(super) fn writer(lower: &str) -> Option<Family> {
    let mut writers = Family::ALL.into_iter().filter(|family| has(lower, family.log_marks()));
    let first = writers.next();
    first.filter(|_| writers.next().is_none())
}

/// Says whether something in a text without white space shows that gRPC's xDS client wrote it.
pub(super) fn is_ours(text: &str, lower: &str) -> bool {
    !is_of_stranger(lower) && (has(lower, OURS) || has(text, STATUSES))
}

/// Says whether the text is from a program that uses the same words for other purposes.
pub(super) fn is_of_stranger(lower: &str) -> bool {
    has(lower, STRANGERS)
}

fn has(text: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|words| text.contains(words))
}
