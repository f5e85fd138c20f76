//! The switches of gRPC C-core 1.85.1 that change validation, tree or picks.
//!
//! Each has its environment variable, its default in 1.85.1 and the gRFC that it guards. The defaults were read in
//! `src/core/xds/**` and checked against the running client.

macro_rules! features {
    ($( $(#[doc = $doc:literal])+ $name:ident = $env:literal, default $default:literal; )+) => {
        /// A switch of the client.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Feature { $( $(#[doc = $doc])+ $name, )+ }

        impl Feature {
            /// Every switch, in declaration order.
            pub const ALL: &'static [Feature] = &[$(Feature::$name),+];

            /// The environment variable that sets the switch.
            pub const fn env(self) -> &'static str {
                match self { $(Feature::$name => $env),+ }
            }

            /// The state when the variable is not set.
            pub const fn default_on(self) -> bool {
                match self { $(Feature::$name => $default),+ }
            }
        }
    };
}

features! {
    /// `xdstp:` names, `authorities` in the bootstrap (A47).
    Federation = "GRPC_EXPERIMENTAL_XDS_FEDERATION", default true;
    /// Cluster specifier plugins, that is RLS.
    RlsLb = "GRPC_EXPERIMENTAL_XDS_RLS_LB", default true;
    /// `sni`, `auto_host_sni` and `auto_sni_san_validation` of UpstreamTlsContext (A101).
    Sni = "GRPC_EXPERIMENTAL_XDS_SNI", default true;
    /// `additional_addresses` of an endpoint (A61).
    DualstackEndpoints = "GRPC_EXPERIMENTAL_XDS_DUALSTACK_ENDPOINTS", default true;
    /// `lrs_report_endpoint_metrics` of a cluster (A85).
    OrcaLrsPropagation = "GRPC_EXPERIMENTAL_XDS_ORCA_LRS_PROPAGATION", default true;
    /// On: the endpoint's `envoy.lb`/`hash_key` metadata is not read (A76).
    EndpointHashKeyBackwardCompat = "GRPC_XDS_ENDPOINT_HASH_KEY_BACKWARD_COMPAT", default true;
    /// Http11ProxyUpstreamTransport and endpoint metadata (A86).
    HttpConnect = "GRPC_EXPERIMENTAL_XDS_HTTP_CONNECT", default false;
    /// `resource_errors` and the data error handling of A88.
    DataErrorHandling = "GRPC_EXPERIMENTAL_XDS_DATA_ERROR_HANDLING", default false;
    /// The composite HTTP filter (A103).
    CompositeFilter = "GRPC_EXPERIMENTAL_XDS_COMPOSITE_FILTER", default false;
    /// The ext_proc HTTP filter and `allowed_grpc_services` (A93, A102).
    ExtProcOnClient = "GRPC_EXPERIMENTAL_XDS_EXT_PROC_ON_CLIENT", default false;
    /// `audit_logging_options` of RBAC (A59).
    RbacAuditLogging = "GRPC_EXPERIMENTAL_XDS_RBAC_AUDIT_LOGGING", default false;
    /// `spiffe_bundle_map_file` of the file_watcher provider (A87).
    MtlsSpiffe = "GRPC_EXPERIMENTAL_XDS_MTLS_SPIFFE", default false;
    /// `call_creds` of an xDS server in the bootstrap (A97).
    BootstrapCallCreds = "GRPC_EXPERIMENTAL_XDS_BOOTSTRAP_CALL_CREDS", default false;
    /// `requestHashHeader` of the ring_hash JSON config (A76).
    RingHashSetRequestHashKey = "GRPC_EXPERIMENTAL_RING_HASH_SET_REQUEST_HASH_KEY", default false;
    /// Weighted shuffling in pick_first (A113).
    PfWeightedShuffling = "GRPC_EXPERIMENTAL_PF_WEIGHTED_SHUFFLING", default false;
    /// Leaf clusters use the aggregate cluster's LB policy (A75).
    AggregateClusterBackwardCompat = "GRPC_XDS_AGGREGATE_CLUSTER_BACKWARD_COMPAT", default false;
    /// Not a boolean: a trace list that names `xds_client`, which makes the client print what it parses.
    TraceXdsClient = "GRPC_TRACE", default false;
}

impl Feature {
    /// Reads a value as the client does.
    pub fn parse(self, value: &str) -> bool {
        match self {
            Feature::TraceXdsClient => value
                .split(',')
                .map(str::trim)
                .any(|t| matches!(t, "xds_client" | "all")),
            _ => ["1", "t", "true", "y", "yes"]
                .iter()
                .any(|t| value.eq_ignore_ascii_case(t)),
        }
    }
}

/// A set of switches, starting from the client's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features(u32);

impl Default for Features {
    fn default() -> Self {
        let mut set = Features(0);
        for &feature in Feature::ALL {
            set.set(feature, feature.default_on());
        }
        set
    }
}

impl Features {
    /// Says whether `feature` is on.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 & (1 << feature as u32) != 0
    }

    /// Switches `feature` on or off.
    pub const fn set(&mut self, feature: Feature, on: bool) {
        if on {
            self.0 |= 1 << feature as u32;
        } else {
            self.0 &= !(1 << feature as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_other_text_is_false_even_where_the_default_is_true() {
        for text in ["", "on", "2", "TRUE ", "enabled"] {
            assert!(!Feature::Federation.parse(text), "{text:?}");
        }
        for text in ["1", "t", "True", "y", "YES"] {
            assert!(Feature::Federation.parse(text), "{text:?}");
        }
    }

    #[test]
    fn defaults_are_those_of_the_client() {
        let on: Vec<_> = Feature::ALL.iter().filter(|f| Features::default().has(**f)).collect();
        assert_eq!(on.len(), 6);
    }
}
