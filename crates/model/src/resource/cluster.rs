//! A Cluster as the client keeps it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::tls::UpstreamTlsContext;
use super::{LbPolicy, Millis};

/// `max_requests` where the circuit breaker sets none (A32).
pub const DEFAULT_MAX_CONCURRENT_REQUESTS: u32 = 1024;

/// The Cluster message `envoy.config.cluster.v3.Cluster`.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// How endpoints are found.
    pub discovery: Discovery,
    /// How RPCs are spread over the endpoints.
    pub lb_policy: Arc<LbPolicy>,
    /// The `lrs_server` is `self`: load is reported to the server that sent the cluster.
    pub lrs_self: bool,
    /// The backend metrics that are reported (A85).
    pub lrs_metrics: BTreeSet<String>,
    /// Connections go through an HTTP CONNECT proxy (A86).
    pub use_http_connect: bool,
    /// The TLS context; `None` for plaintext or fallback credentials.
    pub tls: Option<UpstreamTlsContext>,
    /// How long xds_override_host keeps a connection: `idle_timeout` of HttpProtocolOptions (A75);
    /// default one hour.
    pub connection_idle_timeout: Millis,
    /// The limit of the circuit breaker (A32); default [`DEFAULT_MAX_CONCURRENT_REQUESTS`].
    pub max_concurrent_requests: u32,
    /// The outlier detection settings; `None` when the message is absent.
    pub outlier_detection: Option<OutlierDetection>,
    /// The health states with which xds_override_host may use an endpoint (A55); default UNKNOWN
    /// and HEALTHY.
    pub override_host_statuses: BTreeSet<HealthStatus>,
    /// Metadata by key (A83).
    pub metadata: BTreeMap<String, MetadataValue>,
}

/// How a cluster's endpoints are found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Discovery {
    /// EDS, by this resource name; `None` where it is the cluster's own name.
    Eds {
        /// The value of `eds_cluster_config.service_name`, if it is set.
        service_name: Option<String>,
    },
    /// DNS, by `host:port`.
    LogicalDns {
        /// The text `host:port`; the host is in brackets if it contains a colon.
        hostname: String,
    },
    /// Other clusters in order of priority (A37).
    Aggregate {
        /// The names in `prioritized_cluster_names`.
        children: Vec<String>,
    },
}

impl Discovery {
    /// Returns what reports call the kind of discovery: `EDS`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Discovery::Eds { .. } => "EDS",
            Discovery::LogicalDns { .. } => "LOGICAL_DNS",
            Discovery::Aggregate { .. } => "AGGREGATE",
        }
    }

    /// Returns the clusters that an aggregate names; empty for other clusters.
    pub fn children(&self) -> &[String] {
        match self {
            Discovery::Aggregate { children } => children,
            Discovery::Eds { .. } | Discovery::LogicalDns { .. } => &[],
        }
    }

    /// Returns the name of the EDS resource of the cluster `name`; `None` if the cluster does not
    /// use EDS.
    pub fn eds_name<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        match self {
            Discovery::Eds { service_name } => Some(service_name.as_deref().unwrap_or(name)),
            Discovery::LogicalDns { .. } | Discovery::Aggregate { .. } => None,
        }
    }
}

words! {
    /// The health states that the client keeps.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum HealthStatus {
        /// UNKNOWN (0), the default.
        #[default]
        Unknown = "UNKNOWN",
        /// HEALTHY (1).
        Healthy = "HEALTHY",
        /// DRAINING (3): the endpoint gets no new RPCs, except those of its sessions.
        Draining = "DRAINING",
    }

    /// Returns the name of the enum value.
    fn name
}

/// Outlier detection (A50) with the client's defaults filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlierDetection {
    /// The time between two sweeps; default 10 s.
    pub interval: Millis,
    /// The time of a first ejection, which grows with each; default 30 s.
    pub base_ejection_time: Millis,
    /// The longest time of an ejection; default 30 s (A50 says 300 s).
    pub max_ejection_time: Millis,
    /// The largest share of endpoints that may be ejected, in per cent from 0 to 100; default 10.
    pub max_ejection_percent: u32,
    /// The success rate algorithm, present if `enforcing_success_rate` is set and not 0.
    pub success_rate: Option<SuccessRateEjection>,
    /// The failure percentage algorithm, present if `enforcing_failure_percentage` is set and not
    /// 0.
    pub failure_percentage: Option<FailurePercentageEjection>,
}

impl OutlierDetection {
    /// The values of fields that are not set (A50), without an algorithm, so that nothing is
    /// ejected. Where `max_ejection_time` is not set, C-core's policy takes the base time if that
    /// is longer.
    pub const DEFAULT: OutlierDetection = OutlierDetection {
        interval: Millis(10_000),
        base_ejection_time: Millis(30_000),
        max_ejection_time: Millis(300_000),
        max_ejection_percent: 10,
        success_rate: None,
        failure_percentage: None,
    };

    /// Returns the fewest endpoints among which an algorithm can eject one; `None` if there is no
    /// algorithm.
    ///
    /// None of `n` values is more than `sqrt(n - 1)` standard deviations away from their mean
    /// (Samuelson's inequality), and an endpoint is ejected only if its success rate is further
    /// below the mean than `stdev_factor` says (gRFC A50; C-core outlier_detection.cc,
    /// EjectionTimer::OnTimerLocked).
    pub fn ejects_from(&self) -> Option<u64> {
        let by_rate = self.success_rate.as_ref().map(|rate| {
            let factor = u64::from(rate.stdev_factor);
            let further = factor * factor / (STDEV_UNIT * STDEV_UNIT) + 2;
            further.max(rate.minimum_hosts.into())
        });
        let failures = self.failure_percentage.as_ref();
        let by_percentage = failures.map(|failures| failures.minimum_hosts.into());
        by_rate.into_iter().chain(by_percentage).min()
    }
}

/// The value of `stdev_factor` that means one standard deviation.
const STDEV_UNIT: u64 = 1000;

/// The success rate algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuccessRateEjection {
    /// Thousandths of a standard deviation below the mean at which an endpoint is ejected; default
    /// 1900.
    pub stdev_factor: u32,
    /// The chance, in per cent from 1 to 100, that an endpoint that should be ejected really is.
    pub enforcement_percentage: u32,
    /// The fewest endpoints with enough RPCs for the algorithm to run; default 5.
    pub minimum_hosts: u32,
    /// The fewest RPCs between two sweeps with which an endpoint is judged; default 100.
    pub request_volume: u32,
}

impl SuccessRateEjection {
    /// The values of fields that are not set (A50).
    pub const DEFAULT: SuccessRateEjection = SuccessRateEjection {
        stdev_factor: 1900,
        enforcement_percentage: 100,
        minimum_hosts: 5,
        request_volume: 100,
    };
}

/// The failure percentage algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailurePercentageEjection {
    /// The percentage of failures above which an endpoint is ejected; default 85. The LB policy
    /// rejects a value above 100.
    pub threshold: u32,
    /// The chance, in per cent from 1 to 100, that an endpoint that should be ejected really is.
    pub enforcement_percentage: u32,
    /// The fewest endpoints with enough RPCs for the algorithm to run; default 5.
    pub minimum_hosts: u32,
    /// The fewest RPCs between two sweeps with which an endpoint is judged; default 50.
    pub request_volume: u32,
}

impl FailurePercentageEjection {
    /// The values of fields that are not set (A50). The enforcement is that of the LB policy's JSON
    /// config in C-core and Node; in Go it is 0.
    pub const DEFAULT: FailurePercentageEjection = FailurePercentageEjection {
        threshold: 85,
        enforcement_percentage: 100,
        minimum_hosts: 5,
        request_volume: 50,
    };
}

/// A metadata value of a type that the client knows.
#[derive(Debug, Clone, PartialEq)]
pub enum MetadataValue {
    /// Metadata without a type: a Struct as JSON.
    Struct(serde_json::Value),
    /// `envoy.extensions.filters.http.gcp_authn.v3.Audience`.
    Audience {
        /// The URL for which tokens are requested; not empty.
        url: String,
    },
    /// `envoy.config.core.v3.Address` as `ip:port` (A86).
    Address(String),
}
