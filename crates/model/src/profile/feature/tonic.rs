//! Features of tonic-xds alone, and of the program itself.

macro_rules! tonic_features {
    ($next:ident $($then:ident)* => $($before:tt)*) => { $next! { $($then)* => $($before)*
    /// RPCs wait for routes, clusters and endpoints that are missing or rejected, and nothing that was there once is forgotten.
    WaitsForResources;
    /// An RPC that no virtual host or route matches fails with UNKNOWN.
    UnroutedUnknown;
    /// Each attempt makes its own connection. An attempt without a connection is retried, once if there is no policy; a server's delay is not read.
    AttemptsConnect;
    /// Header matchers see one value of each header of the HTTP request, in any case; with `invert_match`, a missing header matches.
    HeadersOfRequest;
    // Of the program, not of a version.
    /// The program has a server, whose fatal routes differ from those of a channel (`Profile::serving`).
    ReadsAsServer;
    } };
}
