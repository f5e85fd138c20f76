//! `--health` and `--remove`: what EDS says of single endpoints, instead of what the input says.

use std::net::SocketAddr;

use super::{address, no_such_address};
use crate::args::ChannelArgs;
use crate::{Error, Io};
use xdsctl_channel::client::{Client, EndpointChange, Start};

/// Changes the endpoints of the channel before it starts; says which change is without effect.
///
/// # Errors
/// An argument that cannot be read, or an address that no EDS resource of the channel has.
pub(super) fn endpoints(args: &ChannelArgs, client: &mut Client, start: &Start, io: &mut Io<'_>) -> Result<(), Error> {
    let changes = changes(args)?;
    if changes.is_empty() {
        return Ok(());
    }
    let known = known(client, start);
    let (_, unknown) = client.change_endpoints(start, &changes);
    if let Some(change) = changes.iter().find(|change| unknown.contains(&change.address)) {
        return Err(refuse(change, client, &known));
    }
    let now = self::known(client, start);
    let last =
        |change: &&EndpointChange| changes.iter().rfind(|other| other.address == change.address) == Some(*change);
    for change in changes.iter().filter(last) {
        if let Some(health) = change.health_name()
            && !now.contains(&change.address)
        {
            let address = change.address;
            let drops = match change.is_kept() {
                true => "drops its locality, or rejects the update",
                false => "drops it",
            };
            writeln!(io.err, "note: {address} is {health}: the client {drops}")?;
        }
    }
    Ok(())
}

fn changes(args: &ChannelArgs) -> Result<Vec<EndpointChange>, Error> {
    let healths = args.health.iter().map(|argument| {
        let read = argument
            .rsplit_once('=')
            .and_then(|(address, health)| EndpointChange::health(address.parse().ok()?, &health.to_ascii_uppercase()));
        read.ok_or_else(|| {
            let names: Vec<&str> = EndpointChange::health_names().collect();
            let names = names.join(", ");
            Error::Usage(format!(
                "--health `{argument}` must be IP:PORT=HEALTH, where HEALTH is one of {names}"
            ))
        })
    });
    let removals = args.remove.iter();
    let removals = removals.map(|argument| address("--remove", argument).map(EndpointChange::removal));
    healths.chain(removals).collect()
}

/// The addresses of the endpoints of a channel.
fn known(client: &Client, start: &Start) -> Vec<SocketAddr> {
    let config = client.resolve(start);
    config.iter().flat_map(|config| config.addresses()).collect()
}

/// Says why an address cannot be changed.
fn refuse(change: &EndpointChange, client: &Client, known: &[SocketAddr]) -> Error {
    let (argument, address) = match change.health_name() {
        Some(_) => ("--health", change.address),
        None => ("--remove", change.address),
    };
    if known.contains(&address) {
        return Error::Usage(format!(
            "{argument}: `{address}` comes from DNS, of which there is no update by EDS; --resolve gives other addresses"
        ));
    }
    let of_dns = |known: &&SocketAddr| !client.dns.values().flatten().flatten().any(|of_dns| of_dns == *known);
    let of_eds: Vec<SocketAddr> = known.iter().filter(of_dns).copied().collect();
    no_such_address(argument, address, &of_eds)
}
