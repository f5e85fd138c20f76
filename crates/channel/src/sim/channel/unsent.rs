//! Attempts that have an endpoint and never leave the client, because of their headers.

use super::Channel;
use crate::rpc::sendable;
use crate::sim::call::Phase;
use crate::sim::network::Reply;
use xdsctl_lb::picker::{StepKind, TraceStep};
use xdsctl_model::profile::Family;
use xdsctl_model::status::Status;

impl Channel {
    /// Says whether grpc-js does not send an attempt. If so, the attempt fails or waits for its
    /// deadline.
    pub(super) fn holds_back(&mut self, id: u64) -> bool {
        if self.client.profile.client().family != Family::Node {
            return false;
        }
        let Some(call) = self.calls.get_mut(&id) else {
            return false;
        };
        if sendable::is_repeated(&call.rpc.headers, "authorization") {
            let status = Status::internal("\"authorization\" metadata cannot have multiple values");
            self.end_attempt(id, &Reply::failure(status), None);
            return true;
        }
        let Some(name) = sendable::never_leaves(&call.rpc.headers) else {
            return false;
        };
        if call.is_traced {
            let kind = StepKind::Retry;
            let text = format!("HTTP/2 does not take the header `{name}`: tries again at once, for ever");
            call.trace.push(TraceStep { kind, text }, &mut self.trace_steps_left);
        }
        call.phase = Phase::Queued;
        true
    }
}
