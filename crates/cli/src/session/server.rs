//! The server that is asked about: its client, its address, and the Listener that it asks for.

use std::collections::BTreeMap;

use crate::Error;
use xdsctl_channel::client::Resources;
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::session::SessionInputs;
use xdsctl_clients::bootstrap::Bootstrap;
use xdsctl_model::profile::{self, Fleet, Profile};
use xdsctl_server::dialect::ServerDialect;
use xdsctl_server::handshake::{Provider, Roots};

/// Returns the error for a client whose servers are not modelled.
pub fn not_known(profile: &Profile) -> Error {
    let name = profile.name();
    Error::Usage(format!("--client: what a server of {name} lets in is not known"))
}

/// Returns a fleet with this client only, if its servers are modelled.
///
/// # Errors
/// The client's servers are not modelled.
pub fn fleet(client: profile::Client) -> Result<Fleet, Error> {
    let profile = Profile::of(client);
    match ServerDialect::of(&profile) {
        Some(_) => Ok(Fleet::of_server(client)),
        None => Err(not_known(&profile)),
    }
}

/// Returns what the certificate providers of a bootstrap may have. Their files are not read.
pub fn providers(bootstrap: &Bootstrap) -> BTreeMap<String, Provider> {
    let providers = bootstrap.certificate_providers.iter();
    let providers = providers.map(|(name, own)| {
        let provider = Provider {
            identity: own.has_identity.then(|| name.clone()),
            roots: own.has_roots.then_some(Roots::Any),
        };
        (name.clone(), provider)
    });
    providers.collect()
}

/// Returns the error if no server is chosen.
pub fn none(resources: &Resources) -> Error {
    let mut servers: Vec<&str> = servers(resources).map(|(_, address)| address).collect();
    servers.dedup();
    Error::Usage(match servers.as_slice() {
        [] => "there is no Listener for servers in the input".to_owned(),
        several => format!("several servers, name one with --listen: {}", several.join(", ")),
    })
}

/// Returns the Listeners of servers, each with name and address.
fn servers(resources: &Resources) -> impl Iterator<Item = (&str, &str)> {
    resources
        .listeners
        .iter()
        .filter_map(|(name, held)| Some((name.as_str(), held.value()?.tcp()?.address.as_str())))
}

/// Returns the server at an address, or the only one. Without a bootstrap, the Listener is found by
/// the address in it.
///
/// # Errors
/// The bootstrap has no name for the Listeners of servers.
pub fn listening(
    listen: Option<&str>,
    has_bootstrap: bool,
    resources: &Resources,
    held: &SessionInputs,
) -> Result<Option<ListeningServer>, Error> {
    if let Some(address) = listen {
        let dialect = ServerDialect::of(&held.profile);
        let address = &dialect
            .as_ref()
            .map_or_else(|| address.to_owned(), |dialect| (dialect.listens)(address));
        if let Some(server) = ListeningServer::of(address, &held.bootstrap) {
            return Ok(Some(server));
        }
        if has_bootstrap {
            let why = match dialect.is_some_and(|dialect| dialect.serves_without_template) {
                true => "a program in Python serves without xDS: EVERYONE is let in, in plaintext",
                false => "a server with it does not start",
            };
            return Err(Error::Usage(format!(
                "--listen: the bootstrap has no server_listener_resource_name_template, {why}"
            )));
        }
        let mut server = ListeningServer {
            address: address.clone(),
            listener: address.clone(),
        };
        if let Some((name, _)) = servers(resources).find(|(_, own)| server.is_meant(own)) {
            server.listener = name.to_owned();
        }
        return Ok(Some(server));
    }
    let mut all = servers(resources);
    Ok(match (all.next(), all.next()) {
        (Some((name, address)), None) => Some(ListeningServer {
            address: address.to_owned(),
            listener: name.to_owned(),
        }),
        _ => None,
    })
}
