//! `fleet`: the clients of a test by kind, each with its share.

use super::{Faulty, SuiteReader, fault};
use crate::PlannedClient;
use crate::fleet::WHOLE;
use xdsctl_channel::sim::script::value::{share, wrong};
use xdsctl_document::source::node::JsonNode;
use xdsctl_model::profile::Client;

/// The most clients of a fleet.
const MAX_FLEET: usize = 100;

/// How far the shares of a fleet together may be from a whole.
const SHARE_TOLERANCE: f64 = 1e-3;

impl SuiteReader<'_> {
    /// Reads the fleet; each client has what `common` says of all.
    pub(super) fn fleet(&self, node: &JsonNode, common: &PlannedClient) -> Faulty<Vec<PlannedClient>> {
        let wanted = "an object of shares by client, such as `go@1.72: 60 %`";
        let map = node.map().filter(|map| (1..=MAX_FLEET).contains(&map.len()));
        let map = self.located(map.ok_or_else(|| wrong("fleet", node, wanted)))?;
        let mut clients: Vec<PlannedClient> = Vec::new();
        let mut total = 0.0;
        for member in map {
            let span = self.place(member.at);
            let kind = Client::parse_one(&member.name).map_err(|error| fault(span, format!("`fleet`: {error}")))?;
            let name = kind.to_string();
            if clients.iter().any(|known| known.name == name) {
                return Err(fault(span, format!("`fleet` has {name} twice")));
            }
            let part = self.located(share("fleet", &member.node))?;
            if part <= 0.0 {
                return Err(fault(
                    self.place(member.node.span),
                    format!("{name} has no share of the RPCs"),
                ));
            }
            total += part;
            clients.push(PlannedClient {
                name,
                span,
                kind: Some(kind),
                // A share is at most a whole.
                weight: (part * WHOLE).round() as u64,
                ..common.clone()
            });
        }
        if (total - 1.0).abs() > SHARE_TOLERANCE {
            let message = format!(
                "the shares of a fleet are {:.4}% together, and must be 100%",
                total * 100.0
            );
            return Err(fault(self.place(node.span), message));
        }
        Ok(clients)
    }
}
