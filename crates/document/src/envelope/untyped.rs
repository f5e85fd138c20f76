//! Bare resources: with `@type`, or recognised by their fields, as `istioctl proxy-config -o json`
//! prints them.

use std::sync::LazyLock;

use xdsctl_proto::tables::{self, Cardinality, Field, Kind, Message, WellKnown};

use super::slot::SlotPlace;
use super::walker::{Walker, snake_case};
use super::{Clue, Result, Shape};
use xdsctl_model::resource::ResourceType;

/// An object with an `@type` that no other shape claims.
pub(super) static TYPED: Shape = Shape {
    claims: |clue| matches!(clue, Clue::Type(_)),
    walk: |walker| walker.bare(SlotPlace::default()),
};

/// An object without `@type` whose type follows from its list or its fields.
pub(super) static UNTYPED: Shape = Shape {
    claims: |_| false,
    walk: walk_untyped,
};

fn walk_untyped(walker: &mut Walker<'_, '_>) -> Result<()> {
    let message = walker.assume.or(walker.guess);
    walker.bare(SlotPlace {
        message,
        ..SlotPlace::default()
    })
}

/// Fields that occur in one resource type and hardly anywhere else. One of them is enough.
const CERTAIN: &[(&str, u8, ResourceType)] = &[
    ("virtual_hosts", b'[', ResourceType::RouteConfiguration),
    ("filter_chains", b'[', ResourceType::Listener),
    ("default_filter_chain", b'{', ResourceType::Listener),
    ("api_listener", b'{', ResourceType::Listener),
    ("listener_filters", b'[', ResourceType::Listener),
    ("eds_cluster_config", b'{', ResourceType::Cluster),
    ("load_assignment", b'{', ResourceType::Cluster),
    ("load_balancing_policy", b'{', ResourceType::Cluster),
    ("common_lb_config", b'{', ResourceType::Cluster),
];

/// What the fields of an object suggest about its type.
///
/// Objects of other tools have a `type`, an `address` or a `cluster_name`, too. Therefore a key
/// counts only if its value fits the field, and a resource must have a name.
#[derive(Default)]
pub(super) struct Guess {
    keys: usize,
    is_named: bool,
    is_of_cluster: bool,
    /// For each type, how many keys are fields of it (`known`), and of no other type (`only`).
    known: [usize; ResourceType::ALL.len()],
    only: [usize; ResourceType::ALL.len()],
    certain: Option<ResourceType>,
}

impl Guess {
    /// Counts a key (in snake_case) and its value. Returns true if no more keys need to be seen.
    pub(super) fn add(&mut self, name: &str, value: ValueHead<'_>) -> bool {
        if value.first == b'n' {
            return false;
        }
        self.certain = CERTAIN
            .iter()
            .find(|(field, first, _)| *field == name && *first == value.first)
            .map(|(_, _, resource_type)| *resource_type);
        if self.is_of_cluster && name == "endpoints" && value.first == b'[' {
            self.certain = Some(ResourceType::Endpoints);
        }
        self.keys += 1;
        self.is_of_cluster |= name == "cluster_name";
        self.is_named |= value.first == b'"' && matches!(name, "name" | "cluster_name");
        let has = MESSAGES.map(|message| message.is_some_and(|message| is_field(message, name, value)));
        let is_only = has.iter().filter(|has| **has).count() == 1;
        for ((has, known), only) in has.iter().zip(&mut self.known).zip(&mut self.only) {
            *known += usize::from(*has);
            *only += usize::from(*has && is_only);
        }
        self.certain.is_some()
    }

    /// Returns the type to which most of the keys belong. Returns `None` if half of the keys are
    /// not fields of it, or if no key belongs to this type alone.
    pub(super) fn message(&self) -> Option<&'static Message> {
        if self.certain.is_none() && !self.is_named {
            return None;
        }
        let best = ResourceType::ALL
            .into_iter()
            .zip(self.known.iter().zip(&self.only))
            .filter(|(_, (known, only))| **only > 0 && **known * 2 > self.keys)
            .max_by_key(|(_, (known, only))| (**only, **known))
            .map(|(resource_type, _)| resource_type);
        message(self.certain.or(best)?)
    }
}

/// The messages of [`ResourceType::ALL`]. Each key of an object of unknown type is looked up in
/// them.
static MESSAGES: LazyLock<[Option<&'static Message>; ResourceType::ALL.len()]> =
    LazyLock::new(|| ResourceType::ALL.map(message));

fn message(resource_type: ResourceType) -> Option<&'static Message> {
    tables::message(resource_type.type_name())
}

/// The beginning of a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueHead<'t> {
    pub first: u8,
    /// The text between the quotes, if the value is a string.
    pub text: &'t [u8],
}

/// Says whether the message has a field of this name that can have the value.
pub(super) fn is_field(message: &Message, name: &str, value: ValueHead<'_>) -> bool {
    message.field_by_name(name).is_some_and(|field| may_be(field, value))
}

fn may_be(field: &Field, value: ValueHead<'_>) -> bool {
    let is_scalar = !matches!(value.first, b'{' | b'[');
    match (field.cardinality, field.kind) {
        // Envoy accepts a single element in place of a list.
        (Cardinality::Repeated, Kind::Message(_)) => !is_scalar,
        (Cardinality::Repeated, _) => value.first == b'[',
        (Cardinality::Map { .. }, _) => value.first == b'{',
        (Cardinality::Singular, Kind::Message(_)) => field
            .kind
            .message()
            .is_some_and(|m| m.well_known != WellKnown::None || value.first == b'{'),
        (Cardinality::Singular, Kind::Enum(_)) if value.first == b'"' => {
            let known = field.kind.enumeration().map_or(&[][..], |item| item.values);
            known
                .iter()
                .any(|(name, _)| name.as_bytes().eq_ignore_ascii_case(value.text))
        }
        (Cardinality::Singular, _) => is_scalar,
    }
}

impl<'t> Walker<'t, '_> {
    /// Returns the beginning of the value at the scanner, which stays where it is.
    pub(super) fn shown(&mut self) -> Result<ValueHead<'t>> {
        let first = self.tc.scan.peek();
        let start = self.pos();
        let mut text = &b""[..];
        if first == b'"' {
            let token = self.tc.scan.string()?;
            text = self.tc.scan.raw(token);
            self.tc.scan.set_pos(start);
        }
        Ok(ValueHead { first, text })
    }

    /// Says whether the first element of the list at the scanner may be a `message`: it has an
    /// `@type`, or most of its keys are fields of the message. An empty list may hold messages,
    /// too. The scanner stays where it is.
    pub fn may_hold(&mut self, message: &Message) -> Result<bool> {
        let start = self.pos();
        let result = self.first_may_be(message);
        self.tc.scan.set_pos(start);
        result
    }

    fn first_may_be(&mut self, message: &Message) -> Result<bool> {
        if self.tc.scan.peek() != b'[' {
            return Ok(false);
        }
        if !self.tc.scan.open(b']')? {
            return Ok(true);
        }
        if self.tc.scan.peek() != b'{' {
            return Ok(false);
        }
        let (mut keys, mut fields, mut telling) = (0, 0, 0);
        let is_typed = self.any_key(&mut |walker, key| {
            let name = String::from_utf8_lossy(walker.tc.scan.raw(key));
            let value = walker.shown()?;
            if value.first != b'n' {
                let name = snake_case(&name);
                let is_field = is_field(message, &name, value);
                keys += 1;
                fields += usize::from(is_field);
                telling += usize::from(is_field && !matches!(&*name, "name" | "metadata"));
            }
            Ok(name == "@type")
        })?;
        Ok(is_typed || fields == keys || telling > 0 && fields * 2 > keys)
    }
}
