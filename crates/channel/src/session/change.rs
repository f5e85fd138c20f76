//! Changes of endpoints by EDS before the channel starts.

use std::net::SocketAddr;

use super::{SessionError, SessionNote};
use crate::client::{Client, Edits, EndpointChange, Start};

/// Changes endpoints of the channel, and notes which changes have no effect.
///
/// # Errors
/// An address that no EDS resource of the channel has.
pub(super) fn endpoints(
    changes: &[EndpointChange],
    client: &mut Client,
    start: &Start,
    notes: &mut Vec<SessionNote>,
) -> Result<(), SessionError> {
    if changes.is_empty() {
        return Ok(());
    }
    let known = known(client, start);
    let (_, unknown) = client.change_endpoints(start, changes, &mut Edits::default());
    if let Some(change) = changes.iter().find(|change| unknown.contains(&change.address)) {
        let of_dns = |known: &&SocketAddr| !client.dns.values().flatten().flatten().any(|of_dns| of_dns == *known);
        return Err(SessionError::NoEndpoint {
            is_of_dns: known.contains(&change.address),
            known: known.iter().filter(of_dns).copied().collect(),
            change: *change,
        });
    }
    let now = self::known(client, start);
    let last =
        |change: &&EndpointChange| changes.iter().rfind(|other| other.address == change.address) == Some(*change);
    for change in changes.iter().filter(last) {
        if let Some(health) = change.health_name()
            && !now.contains(&change.address)
        {
            notes.push(SessionNote::EndpointDropped {
                address: change.address,
                health,
                is_kept: change.is_kept(),
            });
        }
    }
    Ok(())
}

/// The addresses of all endpoints of a channel.
fn known(client: &Client, start: &Start) -> Vec<SocketAddr> {
    let config = client.resolve(start);
    config.iter().flat_map(|config| config.addresses()).collect()
}
