//! How clients word failures: some put the node's id before them, some use the words of what
//! failed.

use super::call::Phase;
use crate::client::Client;
use xdsctl_model::profile::Feature;
use xdsctl_model::status::{Code, Status};

impl Client {
    /// The status for a failure of the config selector.
    pub(super) fn selector_failure(&self, status: Status) -> Status {
        match self.profile.has(Feature::NodeIdFirst) {
            true => Status::new(status.code, self.with_node_id(&as_error(&status))),
            false => status,
        }
    }

    /// The status of an RPC whose attempts are used up.
    pub(super) fn exhausted(&self, attempts: i64, last: &Status) -> Status {
        if !self.profile.has(Feature::FailuresHandedOn) {
            return last.clone();
        }
        let text = format!(
            "max retries exhausted: failed after {attempts} attempts: {}",
            as_error(last)
        );
        Status::new(last.code, text)
    }

    /// The message of an RPC whose deadline has come.
    pub(super) fn late(&self, phase: &Phase, last: Option<&Status>) -> String {
        let waits = matches!(phase, Phase::Queued);
        match (self.profile.has(Feature::FailuresHandedOn), waits, last) {
            (false, _, _) => "Deadline Exceeded".to_owned(),
            (true, true, Some(last)) => format!("latest balancer error: {}", last.message),
            (true, true, None) => "context deadline exceeded while waiting for connections to become ready".to_owned(),
            (true, false, _) => "context deadline exceeded".to_owned(),
        }
    }
}

/// A status in the form of an error: `rpc error: code = Unavailable desc = no route`.
fn as_error(status: &Status) -> String {
    format!("rpc error: code = {} desc = {}", code(status.code), status.message)
}

/// The name of a code in these errors: `DeadlineExceeded` for DEADLINE_EXCEEDED.
fn code(code: Code) -> String {
    let mut words = String::new();
    let mut is_first = true;
    // One code is spelled differently there.
    for letter in code.name().replace("CANCELLED", "CANCELED").chars() {
        match letter {
            '_' => is_first = true,
            _ if std::mem::take(&mut is_first) => words.push(letter),
            _ => words.push(letter.to_ascii_lowercase()),
        }
    }
    if code == Code::Ok { "OK".to_owned() } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_written_in_camel_case() {
        let names = [Code::Ok, Code::Cancelled, Code::DeadlineExceeded, Code::Internal].map(code);
        assert_eq!(names, ["OK", "Canceled", "DeadlineExceeded", "Internal"]);
    }
}
