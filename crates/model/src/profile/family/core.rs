//! gRPC C-core, which was asked in the wheels of grpcio.

use super::{Family, FamilyFacts, Feature, Measurement, Version, Wrapper, changes, defects, unmodelled, versions};
use crate::profile::agent::read_version;

pub(super) const FACTS: FamilyFacts = FamilyFacts {
    name: "cpp",
    aliases: &[],
    project: "gRPC C-core",
    // The platform and the language follow the name: `gRPC C-core linux Python`
    // (`xds_client_grpc.cc`).
    user_agents: &["gRPC C-core"],
    of_user_agent,
    // There are no wheels of 1.52, 1.77 and 1.79.
    measured: versions!["1.51.3" "1.53.2" "1.54.3" "1.55.3" "1.56.2" "1.57.0" "1.58.3" "1.59.5" "1.60.2" "1.61.3"
        "1.62.3" "1.63.2" "1.64.3" "1.65.5" "1.66.0" "1.66.2" "1.67.1" "1.68.0" "1.68.1" "1.69.0" "1.70.0" "1.71.2"
        "1.72.2" "1.73.1" "1.74.0" "1.75.1" "1.76.0" "1.78.2" "1.80.1" "1.81.2" "1.82.3" "1.83.2" "1.84.2" "1.85.0"
        "1.85.1"],
    picked: versions!["1.62.3" "1.72.2" "1.85.1"],
    measurement: Measurement {
        with: "grpcio wheels as clients of a control plane",
        resources: 15_426,
    },
    log_marks: "xds_client.cc xds_resolver.cc [xds_client0x [resourceindex",
    wrappers: WRAPPERS,
    properties: &[],
    unmodelled: unmodelled! {
        GRPC_EXPERIMENTAL_XDS_AUTHORITY_REWRITE "1.66" until "1.85";
        GRPC_EXPERIMENTAL_XDS_FALLBACK "1.66" until "1.85";
        GRPC_EXPERIMENTS "1.51";
        GRPC_DNS_RESOLVER "1.51";
    },
    defects: defects! {
        Unrouted until "1.52": "fails an RPC that no route takes with INTERNAL, as if a cluster were unknown; later with UNAVAILABLE, and says what it is",
            "grpc/grpc#31593";
    },
    read_switch,
    changes: changes! {
        "1.50" off RlsLb;
        "1.50" always DisabledFiltersRun DropAllIsReady;
        "1.51" off Federation CustomLbConfig TraceXdsClient;
        "1.51" on EndpointHashKeyBackwardCompat;
        "1.53" off OverrideHost;
        "1.53" always CollectsFaults WrrByAddress;
        "1.55" on Federation CustomLbConfig;
        "1.55" always TypedStructChecked;
        "1.56" off RbacAuditLogging;
        "1.56" on RlsLb;
        "1.56" always HeaderStringMatch PluginCrash;
        "1.57" off PickFirstMessage;
        "1.57" always XdstpServiceName PickFirstJson;
        "1.57" gone PluginCrash;
        "1.58" on PickFirstMessage;
        "1.59" on OverrideHost;
        "1.60" always ChannelGoesIdle;
        "1.61" always CustomLbConfig PickFirstMessage OverrideHost UpstreamConfig ClusterImplByName
            ChangedKindKills;
        "1.63" off DualstackEndpoints;
        "1.64" always LostPluginKills;
        "1.66" off SystemRootCerts;
        "1.66" always DnsNameCrash;
        "1.66.1" on DualstackEndpoints;
        "1.67" off GcpAuthnFilter;
        "1.67" always ClusterMetadata;
        "1.68.1" always RbacHeaderStringMatch;
        "1.71" off HttpConnect;
        "1.72" always WeightedTargetCrash PolicyCaseAsSet MissingRoutesUnavailable;
        "1.73" on SystemRootCerts GcpAuthnFilter;
        "1.74" always HeaderStringChecked;
        "1.80" on Sni;
        "1.80" always OverrideTypes;
        "1.81" off CompositeFilter;
        "1.81" always RbacDepth;
        "1.82" always SourceTypeChecked;
        "1.84" always RbacMatchersMade WrrMetricNames PoliciesSeeContentType ServerRoutesSeeAll UnknownMethodEnds;
        "1.84" gone DisabledFiltersRun;
        "1.85" off DataErrorHandling ExtProcOnClient MtlsSpiffe BootstrapCallCreds
            RingHashSetRequestHashKey PfWeightedShuffling AggregateClusterBackwardCompat;
        "1.85" on OrcaLrsPropagation;
        "1.85" always SystemRootCerts GcpAuthnFilter Autosharding PriorityLimit;
    },
};

/// Reads the value of a switch: `1`, `t`, `true`, `y` and `yes` in any case are true, every other
/// text is false (`ParseBoolValue`).
fn read_switch(value: &str, feature: Feature, _: bool) -> bool {
    if feature == Feature::TraceXdsClient {
        let mut traced = value.split(',').map(str::trim);
        return traced.any(|name| matches!(name, "xds_client" | "all"));
    }
    let mut words = ["1", "t", "true", "y", "yes"].iter();
    words.any(|word| value.eq_ignore_ascii_case(word))
}

/// The languages that wrap C-core, and how their version numbers become those of C-core.
const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "python",
        major: 1,
        last: None,
    },
    Wrapper {
        name: "ruby",
        major: 1,
        last: None,
    },
    Wrapper {
        name: "php",
        major: 1,
        last: None,
    },
    Wrapper {
        name: "objc",
        major: 1,
        last: None,
    },
    // This is Grpc.Core, in maintenance since 2021; Grpc.Net.Client is an implementation of its own
    // and has no xDS.
    Wrapper {
        name: "csharp",
        major: 2,
        last: Some(Version::new(2, 46, 6)),
    },
];

/// C-core's own version number, and the minor release that contains it (`grpc_version_string`, read
/// in the wheels). There are no wheels of 1.52, 1.77 and 1.79.
const CORE: [(u16, u16, u16); 32] = [
    (29, 0, 51),
    (30, 1, 53),
    (31, 0, 54),
    (32, 0, 55),
    (33, 0, 56),
    (34, 0, 57),
    (35, 0, 58),
    (36, 0, 59),
    (37, 0, 60),
    (38, 0, 61),
    (39, 0, 62),
    (40, 0, 63),
    (41, 0, 64),
    (42, 0, 65),
    (43, 0, 66),
    (44, 0, 67),
    (44, 1, 68),
    (44, 2, 69),
    (45, 0, 70),
    (46, 0, 71),
    (47, 0, 72),
    (48, 0, 73),
    (49, 0, 74),
    (50, 0, 75),
    (51, 0, 76),
    (52, 0, 78),
    (53, 0, 80),
    (54, 0, 81),
    (55, 0, 82),
    (56, 0, 83),
    (56, 0, 84),
    (58, 0, 85),
];

/// Reads a `user_agent_version`. In `58.0.0 Python 1.85.1` the language's release is C-core's.
/// `58.0.0`, as C++ writes it, stands for the measured patches of that release.
fn of_user_agent(version: &str) -> Vec<Version> {
    let Some(version) = version.strip_prefix("C-core ") else {
        return read_version(version).into_iter().collect();
    };
    let mut words = version.split(' ');
    let core = words.next().unwrap_or_default();
    if let Some(release) = words.next_back() {
        return read_version(release).into_iter().collect();
    }
    let Some(core) = read_version(core) else {
        return Vec::new();
    };
    let of_core = CORE
        .iter()
        .filter(|(major, minor, _)| (core.major, core.minor) == (*major, *minor));
    let minors = of_core.map(|(.., minor)| Version::new(1, *minor, 0));
    let measured = Family::Cpp.measured().iter();
    minors
        .flat_map(|minor| measured.clone().filter(move |known| known.is_of_minor(minor)).copied())
        .collect()
}
