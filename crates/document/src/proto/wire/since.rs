//! Which fields a client reads. `proto/reads.txt` decides for its family; its version and its
//! switches decide the rest.

use std::sync::LazyLock;

use xdsctl_proto::tables::{Cardinality, Field, Kind, Listed, MESSAGES, Message};

use super::super::transcode::MAX_ELEMENTS;
use super::missed;
use xdsctl_model::diag::BytesKnowledge;
use xdsctl_model::profile::{Family, Feature, Profile};

/// Fields that only some versions of a client read, or only with a switch. Fields of C-core are not
/// here, because C-core's converters report them.
struct Since {
    families: &'static [Family],
    message: &'static str,
    fields: &'static [&'static str],
    /// The feature with which the client reads the fields; `None` if no version reads them.
    feature: Option<Feature>,
}

const GO: &[Family] = &[Family::Go];
const JAVA: &[Family] = &[Family::Java];
const NODE: &[Family] = &[Family::Node];
const GO_AND_NODE: &[Family] = &[Family::Go, Family::Node];
const ALL_THREE: &[Family] = &[Family::Go, Family::Java, Family::Node];
const BOTH: &[Family] = &[Family::Go, Family::Java];

static SINCE: &[Since] = &[
    of(
        NODE,
        "envoy.config.route.v3.WeightedCluster",
        &["total_weight"],
        Some(Feature::TotalWeightDrawn),
    ),
    of(
        ALL_THREE,
        "envoy.config.cluster.v3.Cluster",
        &["transport_socket"],
        Some(Feature::ClusterTls),
    ),
    of(
        NODE,
        "envoy.config.cluster.v3.Cluster",
        &["outlier_detection"],
        Some(Feature::OutlierDetection),
    ),
    of(
        NODE,
        "envoy.config.listener.v3.Listener",
        &[
            "filter_chains",
            "default_filter_chain",
            "use_original_dst",
            "listener_filters",
        ],
        Some(Feature::FilterChains),
    ),
    of(
        GO_AND_NODE,
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        &["http_filters"],
        Some(Feature::FaultInjection),
    ),
    of(
        GO,
        "envoy.config.route.v3.VirtualHost",
        &["retry_policy"],
        Some(Feature::RetryPolicy),
    ),
    of(
        BOTH,
        "envoy.config.route.v3.RouteAction",
        &["retry_policy"],
        Some(Feature::RetryPolicy),
    ),
    of(
        GO,
        "envoy.config.route.v3.RouteAction",
        &["hash_policy"],
        Some(Feature::RingHashPolicy),
    ),
    of(JAVA, "envoy.config.route.v3.VirtualHost", &["retry_policy"], None),
    of(JAVA, "envoy.config.rbac.v3.RBAC", &["audit_logging_options"], None),
    of(
        ALL_THREE,
        "envoy.config.cluster.v3.Cluster",
        &["load_balancing_policy"],
        Some(Feature::CustomLbConfig),
    ),
    of(
        GO,
        "envoy.config.cluster.v3.Cluster",
        &["lrs_report_endpoint_metrics"],
        Some(Feature::OrcaLrsPropagation),
    ),
    of(
        ALL_THREE,
        "envoy.config.endpoint.v3.Endpoint",
        &["additional_addresses"],
        Some(Feature::DualstackEndpoints),
    ),
    of(
        BOTH,
        "envoy.config.route.v3.RouteAction",
        &["auto_host_rewrite"],
        Some(Feature::AuthorityRewrite),
    ),
    of(
        BOTH,
        "envoy.config.route.v3.FilterConfig",
        &["disabled"],
        Some(Feature::FilterDisabled),
    ),
    of(
        BOTH,
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter",
        &["disabled"],
        Some(Feature::FilterDisabled),
    ),
    of(
        BOTH,
        "envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin",
        &["metric_names_for_computing_utilization"],
        Some(Feature::WrrMetricNames),
    ),
    of(
        BOTH,
        "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
        &["sni", "auto_host_sni", "auto_sni_san_validation"],
        Some(Feature::Sni),
    ),
    of(
        BOTH,
        "envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext",
        &["system_root_certs"],
        Some(Feature::SystemRootCerts),
    ),
];

const fn of(
    families: &'static [Family],
    message: &'static str,
    fields: &'static [&'static str],
    feature: Option<Feature>,
) -> Since {
    Since {
        families,
        message,
        fields,
        feature,
    }
}

/// A set of families: a bit for each in the order of [`Family`], as in [`Field::read_in`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Families(u8);

impl Families {
    pub(super) const NONE: Families = Families(0);

    pub(super) const fn of(family: Family) -> Families {
        Families(1 << family as u8)
    }

    pub(super) const fn has(self, family: Family) -> bool {
        self.both(Families::of(family)).0 != 0
    }

    pub(super) const fn both(self, other: Families) -> Families {
        Families(self.0 & other.0)
    }

    pub(super) const fn any(self, other: Families) -> Families {
        Families(self.0 | other.0)
    }

    pub(super) const fn without(self, other: Families) -> Families {
        Families(self.0 & !other.0)
    }

    /// Returns the families that look into a message at all.
    pub(super) const fn knowing(message: &Message) -> Families {
        Families(!message.unknown_in)
    }

    /// Returns the families that read a field, or whose converter takes it into account because it
    /// reads a member of the same oneof. Some of their versions may not.
    pub(super) const fn reading(field: &Field) -> Families {
        let read = if field.judged { u8::MAX } else { field.read_in };
        Families(read & !field.unread_in)
    }
}

/// Which clients read which fields of a message.
pub(super) struct MessageReads {
    pub(super) message: &'static Message,
    /// The fields that not every version reads.
    since: Vec<&'static Since>,
    /// The fields whose absence matters; see `missed`.
    pub(super) missed: &'static [missed::Listed],
    /// One bit for the position of each field in `since`.
    contested: u128,
    /// The families for which the message, or a message in it, may have a finding. The other
    /// families read all fields and all elements.
    concerned: Families,
    /// Like `concerned`, if no list in the message is too long.
    concerned_by_fields: Families,
    /// Like `concerned`, if no list is too long and C-core reads all fields that are set.
    concerned_if_plain: Families,
}

/// What a message may contain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Anything.
    Any,
    /// Any fields, but no list that is too long.
    Fields,
    /// Only fields that C-core reads, and no list that is too long.
    Plain,
}

/// Returns the bit for a position. Only in the few messages with more than 128 fields are bits
/// shared.
const fn bit(position: usize) -> u128 {
    1 << (position % u128::BITS as usize)
}

fn since(message: &Message) -> impl Iterator<Item = &'static Since> {
    SINCE.iter().filter(|since| since.message == message.full_name)
}

/// Which clients read which fields, for each of [`MESSAGES`] by index.
static READS: LazyLock<Vec<MessageReads>> = LazyLock::new(|| {
    let own = |message: &'static Message| MessageReads {
        message,
        since: since(message).collect(),
        missed: missed::of(message.full_name),
        contested: since(message)
            .flat_map(|since| since.fields)
            .filter_map(|name| message.fields.iter().position(|field| field.name == *name))
            .fold(0, |set, position| set | bit(position)),
        concerned: Families::NONE,
        concerned_by_fields: Families::NONE,
        concerned_if_plain: Families::NONE,
    };
    let mut all: Vec<MessageReads> = MESSAGES.iter().map(own).collect();
    // Messages contain each other, so this takes some rounds until nothing changes.
    loop {
        let now = |reads: &MessageReads| {
            [Content::Any, Content::Fields, Content::Plain].map(|content| reads.concerned_by(&all, content))
        };
        let now: Vec<[Families; 3]> = all.iter().map(now).collect();
        let mut is_done = true;
        for (reads, now) in all.iter_mut().zip(now) {
            let known = [Content::Any, Content::Fields, Content::Plain].map(|content| reads.concerned_with(content));
            is_done &= known == now;
            [reads.concerned, reads.concerned_by_fields, reads.concerned_if_plain] = now;
        }
        if is_done {
            return all;
        }
    }
});

/// Returns which clients read which fields of the message at this index of [`MESSAGES`].
pub(super) fn reads(index: u16) -> &'static MessageReads {
    &READS[usize::from(index)]
}

impl MessageReads {
    /// Returns the families for which a message of `bytes` bytes may have a finding, given what is
    /// known of the bytes. An element of a list takes at least one byte.
    pub(super) const fn concerned(&self, bytes: usize, known: BytesKnowledge) -> Families {
        self.concerned_with(match known {
            BytesKnowledge::Plain => Content::Plain,
            _ if bytes > MAX_ELEMENTS => Content::Any,
            _ => Content::Fields,
        })
    }

    const fn concerned_with(&self, content: Content) -> Families {
        match content {
            Content::Any => self.concerned,
            Content::Fields => self.concerned_by_fields,
            Content::Plain => self.concerned_if_plain,
        }
    }

    /// Returns the families for which the message may have a finding, as far as that is known of
    /// the messages in it.
    fn concerned_by(&self, all: &[MessageReads], content: Content) -> Families {
        if self.message.listed != Listed::Client {
            return Families::NONE;
        }
        let below = |kind: Kind| match kind {
            Kind::Message(index) => all
                .get(usize::from(index))
                .map_or(Families::NONE, |reads| reads.concerned_with(content)),
            _ => Families::NONE,
        };
        let of_field = |field: &Field| {
            let reading = Families::reading(field);
            let of_elements = match field.cardinality {
                // A list that is too long has a finding.
                Cardinality::Repeated | Cardinality::Map { .. } if content == Content::Any => reading,
                Cardinality::Singular | Cardinality::Repeated => below(field.kind),
                Cardinality::Map { key, value } => below(key).any(below(value)),
            };
            let not_all = Families(u8::MAX).without(reading).any(of_elements);
            let contested = self.since.iter().filter(|since| since.fields.contains(&field.name));
            let contested = contested
                .flat_map(|since| since.families)
                .map(|family| Families::of(*family));
            contested.fold(not_all, Families::any)
        };
        let fields = self.message.fields.iter();
        let fields = fields
            .filter(|field| field.judged || content != Content::Plain)
            .map(of_field);
        fields
            .fold(Families::NONE, Families::any)
            .both(Families::knowing(self.message))
    }

    /// Says whether the version or the switches of a client decide if it reads the field at this
    /// position. The answer may also be true for another field that shares its bit.
    pub(super) const fn depends_on_version(&self, position: usize) -> bool {
        self.contested & bit(position) != 0
    }

    /// Says whether this client does not read a field that its family reads.
    pub(super) fn lacks(&self, reader: &Profile, field: &Field) -> bool {
        self.missing(reader, field).is_some()
    }

    /// Returns the feature that a family needs to read a field. Returns `None` if all of its
    /// versions read the field, and `Some(None)` if no version does.
    pub(super) fn since(&self, family: Family, field: &Field) -> Option<Option<Feature>> {
        let is_about = |since: &&&Since| since.families.contains(&family) && since.fields.contains(&field.name);
        Some(self.since.iter().find(is_about)?.feature)
    }

    /// Returns the entry of [`SINCE`] that says that a client does not read a field.
    fn missing(&self, reader: &Profile, field: &Field) -> Option<&'static Since> {
        let family = reader.client().family;
        let is_about = |since: &&&Since| since.families.contains(&family) && since.fields.contains(&field.name);
        let listed = self.since.iter().find(is_about)?;
        let has = |feature: Feature| reader.has(feature);
        (!listed.feature.is_some_and(has)).then_some(listed)
    }

    /// Returns the message on a field that other versions of the client read, or this version with
    /// another environment.
    pub(super) fn unread(&self, reader: &Profile, field: &Field) -> Option<String> {
        let listed = self.missing(reader, field)?;
        let (name, field) = (reader.name(), field.name);
        let switch = listed.feature.filter(|feature| reader.has_switch(*feature));
        let is_default_on = switch.is_some_and(|feature| reader.is_default_on(feature));
        Some(match switch.and_then(Feature::env) {
            Some(env) if is_default_on => format!("{name} does not read `{field}` while `{env}` is false"),
            Some(env) => format!("{name} does not read `{field}` unless `{env}` is true, which it is not by default"),
            None => format!("{name} does not read `{field}`"),
        })
    }
}

/// Returns the name for those that do not read a field: `gRPC` if no client does.
pub(super) fn who(reader: &Profile, field: &Field) -> &'static str {
    match reader.is_core() || !field.judged && field.read_in == 0 {
        true => "gRPC",
        false => reader.client().family.project(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_proto::tables::message_index;

    fn concerned(message: &str, bytes: usize) -> Vec<Family> {
        let reads = reads(message_index(message).unwrap());
        let families = Family::ALL.into_iter();
        let concerned = reads.concerned(bytes, BytesKnowledge::WellFormed);
        families.filter(|family| concerned.has(*family)).collect()
    }

    #[test]
    fn a_short_message_concerns_those_alone_who_leave_a_field_of_it_unread() {
        let (metadata, cluster) = ("envoy.config.core.v3.Metadata", "envoy.config.cluster.v3.Cluster");
        assert_eq!(concerned(metadata, MAX_ELEMENTS), []);
        assert!(concerned(metadata, MAX_ELEMENTS + 1).contains(&Family::Cpp));
        assert_eq!(concerned(cluster, 1), Family::ALL);
        for reads in &*READS {
            assert_eq!(
                reads.concerned_by_fields.both(reads.concerned),
                reads.concerned_by_fields
            );
            let if_plain = reads.concerned_if_plain;
            assert_eq!(if_plain.both(reads.concerned_by_fields), if_plain);
            assert!(!if_plain.has(Family::Cpp), "{}", reads.message.full_name);
        }
    }

    #[test]
    fn of_a_matcher_all_read_what_c_core_reads() {
        let reads = |message: &str| reads(message_index(message).unwrap());
        let matcher = reads("envoy.type.matcher.v3.StringMatcher");
        assert_eq!(matcher.concerned_if_plain, Families::NONE);
        assert_ne!(matcher.concerned_by_fields, Families::NONE);
        let endpoint = reads("envoy.config.endpoint.v3.LbEndpoint");
        assert!(endpoint.concerned_if_plain.has(Family::Rust));
    }
}
