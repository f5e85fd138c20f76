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

macro_rules! since {
    (@ never) => { None };
    (@ since $feature:ident) => { Some(Feature::$feature) };
    ($($message:literal: $($field:ident)+ [$($family:ident)+] $word:ident $($feature:ident)?;)+) => {
        static SINCE: &[Since] = &[$(Since {
            families: &[$(Family::$family),+],
            message: $message,
            fields: &[$(stringify!($field)),+],
            feature: since!(@ $word $($feature)?),
        }),+];
    };
}

since! {
    "envoy.config.route.v3.WeightedCluster": total_weight [Node] since TotalWeightDrawn;
    "envoy.config.cluster.v3.Cluster": transport_socket [Go Java Node] since ClusterTls;
    "envoy.config.cluster.v3.Cluster": outlier_detection [Node] since OutlierDetection;
    "envoy.config.listener.v3.Listener": filter_chains default_filter_chain use_original_dst listener_filters
        [Node] since FilterChains;
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager": http_filters
        [Go Node] since FaultInjection;
    "envoy.config.route.v3.VirtualHost": retry_policy [Go] since RetryPolicy;
    "envoy.config.route.v3.RouteAction": retry_policy [Go Java] since RetryPolicy;
    "envoy.config.route.v3.RouteAction": hash_policy [Go] since RingHashPolicy;
    "envoy.config.route.v3.VirtualHost": retry_policy [Java] never;
    "envoy.config.rbac.v3.RBAC": audit_logging_options [Java] never;
    "envoy.config.cluster.v3.Cluster": load_balancing_policy [Go Java Node] since CustomLbConfig;
    "envoy.config.cluster.v3.Cluster": lrs_report_endpoint_metrics [Go] since OrcaLrsPropagation;
    "envoy.config.endpoint.v3.Endpoint": additional_addresses
        [Go Java Node] since DualstackEndpoints;
    "envoy.config.route.v3.RouteAction": auto_host_rewrite [Go Java] since AuthorityRewrite;
    "envoy.config.route.v3.FilterConfig": disabled [Go Java] since FilterDisabled;
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter": disabled
        [Go Java] since FilterDisabled;
    "envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin":
        metric_names_for_computing_utilization [Go Java] since WrrMetricNames;
    "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext": sni auto_host_sni auto_sni_san_validation
        [Go Java] since Sni;
    "envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext": system_root_certs
        [Go Java] since SystemRootCerts;
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
    /// For each [`Content`], the families for which the message, or a message in it, may have a
    /// finding. The other families read all fields and all elements.
    concerned: [Families; 3],
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
        concerned: [Families::NONE; 3],
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
            is_done &= reads.concerned == now;
            reads.concerned = now;
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
        let content = match known {
            BytesKnowledge::Plain => Content::Plain,
            _ if bytes > MAX_ELEMENTS => Content::Any,
            _ => Content::Fields,
        };
        self.concerned[content as usize]
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
                .map_or(Families::NONE, |reads| reads.concerned[content as usize]),
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

    /// Returns the feature that a client lacks to read a field; see [`since`](Self::since). Returns
    /// `None` if it reads the field.
    fn missing(&self, reader: &Profile, field: &Field) -> Option<Option<Feature>> {
        let feature = self.since(reader.client().family, field)?;
        (!feature.is_some_and(|feature| reader.has(feature))).then_some(feature)
    }

    /// Returns the message on a field that other versions of the client read, or this version with
    /// another environment.
    pub(super) fn unread(&self, reader: &Profile, field: &Field) -> Option<String> {
        let feature = self.missing(reader, field)?;
        let (name, field) = (reader.name(), field.name);
        let switch = feature.filter(|feature| reader.has_switch(*feature));
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
            let [any, by_fields, if_plain] = reads.concerned;
            assert_eq!(by_fields.both(any), by_fields);
            assert_eq!(if_plain.both(by_fields), if_plain);
            assert!(!if_plain.has(Family::Cpp), "{}", reads.message.full_name);
        }
    }

    #[test]
    fn of_a_matcher_all_read_what_c_core_reads() {
        let reads = |message: &str| reads(message_index(message).unwrap());
        let matcher = reads("envoy.type.matcher.v3.StringMatcher");
        assert_eq!(matcher.concerned[Content::Plain as usize], Families::NONE);
        assert_ne!(matcher.concerned[Content::Fields as usize], Families::NONE);
        let endpoint = reads("envoy.config.endpoint.v3.LbEndpoint");
        assert!(endpoint.concerned[Content::Plain as usize].has(Family::Rust));
    }
}
