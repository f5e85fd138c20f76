//! What a gRPC server finds under the name that it makes of its address: there must be a Listener,
//! it must be a server's, and it must be for this address (gRFC A36).
//!
//! This is checked only if the user names the address. A server without such a Listener does not
//! serve: it closes connections, or does not listen at all.

use super::{Findings, Who, defects};
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::client::{Facts, ListenerFacts, World};
use xdsctl_model::diag::{Diagnostic, FieldPath, Path, rules};
use xdsctl_model::profile::{Client, DefectTrigger, Family, Feature};
use xdsctl_model::resource::ResourceType;
use xdsctl_model::text;

rules! {
    /// There is no Listener of the name that the server asks for.
    SERVER_LISTENER_MISSING = "server-listener-missing", Snapshot, Fails, "gRFC A36; grpc-go listener_wrapper.go, grpc-java XdsServerWrapper",
        every "every server makes the Listener's name of its address in the same way";
    /// The Listener that the server asks for is a client's.
    SERVER_LISTENER_API = "server-listener-api", Snapshot, Fails, "gRFC A36; grpc-go listener_wrapper.go, grpc-java XdsServerWrapper",
        every "a server of any language needs filter chains";
    /// The Listener that the server asks for is for another address.
    SERVER_LISTENER_OTHER_ADDRESS = "server-listener-other-address", Snapshot, Fails, "gRFC A36; grpc-go listener_wrapper.go, grpc-java XdsServerWrapper";
}

/// The families whose servers compare the addresses in all versions.
const COMPARE: &[Family] = &[Family::Cpp, Family::Go, Family::Node];

/// Makes the finding on a server without a Listener; `near` is a name that may have been meant.
pub fn missing(server: &ListeningServer, near: Option<&str>) -> Diagnostic {
    let ListeningServer { address, listener } = server;
    let message = format!("Listener `{listener}` is not there: a server at {address} does not serve");
    let mut diagnostic = Diagnostic::of_whole(&SERVER_LISTENER_MISSING, message);
    if let Some(near) = near {
        diagnostic.help(format!("did you mean `{near}`?"));
    }
    diagnostic
}

/// Finds a Listener's name that is similar to the one that the server asks for.
pub fn near<'w>(world: &'w World, server: &ListeningServer) -> Option<&'w str> {
    let names = world.all(ResourceType::Listener).map(|(name, _)| name);
    text::nearest(&server.listener, names)
}

pub(super) fn check(world: &World, server: &ListeningServer, clients: &[Client], findings: &mut Findings) {
    let Some(entry) = world.get(ResourceType::Listener, &server.listener) else {
        return;
    };
    let address = &server.address;
    match entry.facts() {
        Some(Facts::Listener(ListenerFacts::Server(own, _))) if !server.is_meant(own) => {
            let whom = if own.is_empty() { "no address" } else { own };
            let message = format!("it is for {whom}: a server at {address} does not serve");
            let path = Path::ROOT.field("address").to_owned();
            let mut diagnostic = Diagnostic::of_whole(&SERVER_LISTENER_OTHER_ADDRESS, message.clone());
            diagnostic.path.clone_from(&path);
            let who = Who::With(Family::Java, Feature::ListenerAddressCompared);
            findings.add_for(who, entry.id, diagnostic);
            findings
                .add(entry.id, &SERVER_LISTENER_OTHER_ADDRESS, path, message)
                .shared_with(COMPARE);
        }
        Some(Facts::Listener(ListenerFacts::Rds(..) | ListenerFacts::Inline(..))) => {
            let message = format!("it has an api_listener, which is for clients: a server at {address} does not serve");
            findings.add(entry.id, &SERVER_LISTENER_API, FieldPath::default(), message);
            let shown = &mut defects::Shown { clients, findings };
            defects::add(DefectTrigger::ServerApi, entry.id, FieldPath::default(), shown);
        }
        _ => {}
    }
}
