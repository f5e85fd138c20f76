//! The texts on responses: a line for people, and the error detail of a NACK for the control plane.

use xdsctl_channel::client::Received;
use xdsctl_model::resource::ResourceType;

use super::response::Response;
use crate::address::shown;
use crate::fetch::StreamEvent;

/// The number of names that a message lists.
const NAMES_SHOWN: usize = 5;

/// The number of rejections that a request lists.
const FAULTS_SAID: usize = 20;

/// A known reason why a control plane does not answer a request for single names (go-control-plane,
/// pkg/cache/v3/simple.go, `superset`).
pub const OF_ADS_CACHE: &str = "A known cause is a snapshot cache of go-control-plane in ADS mode, `NewSnapshotCache(true, ...)`: it answers \
     only a request that names all its resources of the type, and a gRPC client names only those that it needs; `false` turns that off";

/// Returns why a response is rejected, for the control plane's log.
pub fn detail(received: &Received, of_other_types: &[String]) -> String {
    let mut words: Vec<String> = received.faults.iter().map(ToString::to_string).collect();
    words.extend(of_other_types.iter().cloned());
    for judged in &received.resources {
        let faults = judged.faults.iter().map(|fault| format!("`{}` {fault}", judged.name));
        words.extend(faults);
    }
    let more = words.len().saturating_sub(FAULTS_SAID);
    words.truncate(FAULTS_SAID);
    if more > 0 {
        words.push(format!("{more} more"));
    }
    words.join("; ")
}

/// Returns a line about a response.
pub fn response_event(
    resource_type: ResourceType,
    response: &Response,
    received: &Received,
    detail: Option<&str>,
) -> StreamEvent {
    let count = received.resources.len();
    let what = format!(
        "{} `{}` version `{}`",
        count,
        resource_type.short_name(),
        response.version
    );
    let removed = match response.removed.len() {
        0 => String::new(),
        count => format!(", {count} removed"),
    };
    let line = match detail {
        Some(detail) => format!("NACK {what}{removed}: {detail}"),
        None => format!("ACK  {what}{removed}"),
    };
    StreamEvent {
        line: shown(&line),
        is_rejection: detail.is_some(),
    }
}

/// Returns the first few names, in backticks, and how many more there are.
pub fn some(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES_SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
