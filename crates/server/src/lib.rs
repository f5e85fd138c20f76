//! A gRPC server with the network cut off: which connection is taken, and which RPC is let in?
//!
//! ```text
//! ListeningServer ─ serving ─ TcpListener ─ chain ─ FilterChain ─ handshake ─ peer ─ routing ─ policy ─ End
//!  --listen           A36                    A36                    A29               A36       A41
//! ```
//!
//! [`admit`] asks all layers in the order in which a server does, and says what each of them did.
//! What a server holds comes from `xdsctl_channel`; the connection, the RPC and the time are
//! arguments. `family` has the dialect of each family's servers, and [`dialect`] says what a
//! dialect consists of.

pub mod connection;

pub mod certificate;

pub mod dialect;

mod family;

pub mod routing;

pub mod serving;

pub mod chain;

pub mod handshake;

pub mod policy;

mod fatal;

pub mod words;

pub mod admit;

pub mod running;

pub mod who;

pub use admit::{Answer, End, admit};
pub use connection::{Connection, PeerCertificate, Rpc, Transport};
