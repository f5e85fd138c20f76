//! What the class of methods and the chain say about an RPC, and what is left of a condition when
//! that is applied.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::condition::{Condition, Fact};
use super::methods::{MethodClass, MethodNames};
use super::regions::Region;
use super::table::TooLarge;
use crate::connection::{Connection, Rpc, Transport};
use crate::dialect::ServerDialect;
use crate::handshake::{Asks, Peer};
use crate::policy::{self, Asked};
use xdsctl_channel::rpc::matching::{self, MILLION};
use xdsctl_model::resource::listener::FilterChain;
use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, StringMatch};
use xdsctl_model::resource::rbac::{AddressRange, RbacAddress, RbacCondition, RbacPolicy};
use xdsctl_model::resource::route::{PathMatcher, Route};

/// The most conditions that are looked at for one table. One that is kept counts as [`KEPT`] looks.
const MAX_LOOKS: usize = 10_000_000;

/// A condition that is kept in the table counts as this many looks, because it takes memory.
const KEPT: usize = 20;

/// The most regions of a chain that are searched for addresses of a range.
const MAX_REGIONS: usize = 1000;

/// Values that are used in place of unknown ones.
const METHOD: &str = "/\u{1}method";
const AUTHORITY: &str = "\u{1}authority";
const VALUE: &str = "a value of the application"; // printable, or it is no metadata in Node

/// How many more conditions may be looked at.
#[derive(Debug)]
pub(super) struct LooksLeft(usize);

impl LooksLeft {
    pub(super) const fn new() -> LooksLeft {
        LooksLeft(MAX_LOOKS)
    }

    pub(super) fn spend(&mut self) -> Result<(), TooLarge> {
        self.spend_all(1)
    }

    fn spend_all(&mut self, looks: usize) -> Result<(), TooLarge> {
        self.0 = self.0.checked_sub(looks).ok_or(TooLarge)?;
        Ok(())
    }
}

/// What all classes of methods of a chain have in common.
pub(super) struct OfChain<'c> {
    pub(super) chain: &'c FilterChain,
    pub(super) names: &'c MethodNames,
    pub(super) asks: Asks,
    /// The connections that the chain takes.
    pub(super) regions: &'c [Region],
    pub(super) port: u16,
    pub(super) dialect: &'c ServerDialect,
}

/// What is known about the RPCs of a class of methods on a chain.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) of: &'a OfChain<'a>,
    pub(super) class: &'a MethodClass,
}

/// Where the value of a header comes from.
enum Origin {
    /// The value is this one, whatever the client does.
    Fixed(Option<String>),
    Method,
    /// The client decides.
    Open,
}

impl Known<'_> {
    /// Returns what is left of a condition, or of its opposite; `None` if the server ignores the
    /// condition.
    pub(super) fn left(
        &self,
        condition: &RbacCondition,
        is_not: bool,
        budget: &mut LooksLeft,
    ) -> Result<Option<Condition>, TooLarge> {
        budget.spend()?;
        let mut parts = |list: &[RbacCondition]| {
            let parts = list.iter().map(|part| self.left(part, is_not, budget));
            parts.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()
        };
        Ok(Some(match (condition, is_not) {
            (RbacCondition::Not(inner), _) => return self.left(inner, !is_not, budget),
            (RbacCondition::All(list), false) | (RbacCondition::OneOf(list), true) => Condition::all(parts(list)?),
            (RbacCondition::OneOf(list), false) | (RbacCondition::All(list), true) => Condition::one_of(parts(list)?),
            (RbacCondition::Unsupported(_), _) if self.of.dialect.passes_over_unsupported => return Ok(None),
            (leaf, _) => match self.value(leaf) {
                Some(value) => Condition::constant(value != is_not),
                None => {
                    budget.spend_all(KEPT)?;
                    let fact = Fact::Policy(leaf.clone());
                    Condition::Is { fact, is_not }
                }
            },
        }))
    }

    /// Returns what is left of a policy.
    pub(super) fn policy(&self, policy: &RbacPolicy, budget: &mut LooksLeft) -> Result<Condition, TooLarge> {
        let mut sides = Vec::new();
        for list in [&policy.permissions, &policy.principals] {
            let parts = list.iter().map(|part| self.left(part, false, budget));
            let side = Condition::one_of(parts.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?);
            if side.is_false() {
                return Ok(side);
            }
            sides.push(side);
        }
        Ok(Condition::all(sides))
    }

    /// Returns what is left of what a route asks.
    pub(super) fn route(&self, route: &Route, budget: &mut LooksLeft) -> Result<Condition, TooLarge> {
        budget.spend()?;
        let path = match self.path(&route.path) {
            Some(false) => return Ok(Condition::FALSE),
            Some(true) => Condition::TRUE,
            None => Condition::Is {
                fact: Fact::RoutePath(route.path.clone()),
                is_not: false,
            },
        };
        let headers = route.headers.iter().map(|header| {
            budget.spend()?;
            let origin = |rpc: &Rpc| (self.of.dialect.route_header)(rpc, &header.name).map(Cow::into_owned);
            Ok(match self.header(header, &origin) {
                Some(value) => Condition::constant(value),
                None => Condition::Is {
                    fact: Fact::RouteHeader(header.clone()),
                    is_not: false,
                },
            })
        });
        let headers = headers.collect::<Result<Vec<_>, _>>()?;
        let share = route.fraction_per_million.map(|below| match below {
            0 => Condition::FALSE,
            below if u64::from(below) >= MILLION => Condition::TRUE,
            below => Condition::Is {
                fact: Fact::Share(below),
                is_not: false,
            },
        });
        Ok(Condition::all([path].into_iter().chain(headers).chain(share)))
    }

    fn path(&self, matcher: &PathMatcher) -> Option<bool> {
        match (matcher, self.class) {
            (PathMatcher::Text(matcher), class) => self.of.names.matches(class, matcher),
            (PathMatcher::Regex(_), MethodClass::Exact(name)) => Some(matching::path_matches(matcher, name)),
            (PathMatcher::Regex(_), MethodClass::Under(_)) => None,
        }
    }

    fn header(&self, matcher: &HeaderMatcher, value: &dyn Fn(&Rpc) -> Option<String>) -> Option<bool> {
        match self.origin(&matcher.name, value) {
            Origin::Fixed(value) => Some(matching::value_matches(matcher, value.as_deref())),
            Origin::Open => None,
            Origin::Method => match (self.class, &matcher.kind) {
                (MethodClass::Exact(name), _) => Some(matching::value_matches(matcher, Some(name))),
                (class, HeaderMatch::String(text)) => Some(self.of.names.matches(class, text)? != matcher.invert_match),
                (MethodClass::Under(_), HeaderMatch::Range { .. } | HeaderMatch::Present(_)) => None,
            },
        }
    }

    /// Finds out where the value of a header comes from: asks the dialect with values that nobody
    /// sends.
    fn origin(&self, name: &str, value: &dyn Fn(&Rpc) -> Option<String>) -> Origin {
        let bare = Rpc {
            method: METHOD.to_owned(),
            authority: AUTHORITY.to_owned(),
            headers: Vec::new(),
            is_unimplemented: false,
            is_https: self.of.asks != Asks::Plaintext,
        };
        let mut sent = bare.clone();
        sent.headers.push((name.to_ascii_lowercase(), VALUE.to_owned()));
        sent.headers.push((name.to_owned(), VALUE.to_owned()));
        let (without, with) = (value(&bare), value(&sent));
        match without.as_deref() {
            _ if without != with => Origin::Open,
            Some(METHOD) => Origin::Method,
            Some(AUTHORITY) => Origin::Open,
            _ => Origin::Fixed(without),
        }
    }

    /// Says whether a condition without parts holds for every RPC (`true`) or for none (`false`);
    /// `None` if it holds for some.
    fn value(&self, leaf: &RbacCondition) -> Option<bool> {
        match leaf {
            RbacCondition::Path(matcher) => self.of.names.matches(self.class, matcher),
            RbacCondition::Header(matcher) => {
                let origin = |rpc: &Rpc| (self.of.dialect.policy_header)(rpc, &matcher.name).map(Cow::into_owned);
                self.header(matcher, &origin)
            }
            RbacCondition::Address(which, AddressRange { range: Some(range), .. }) => {
                let meets = |region: &Region| match which {
                    RbacAddress::Destination => region.to.meets(range),
                    RbacAddress::Source | RbacAddress::DirectRemote | RbacAddress::Remote => region.from.meets(range),
                };
                let is_met = || self.of.regions.iter().any(meets);
                (self.of.regions.len() <= MAX_REGIONS && !is_met()).then_some(false)
            }
            RbacCondition::Authenticated(matcher) => match (self.of.asks, matcher) {
                (Asks::Plaintext | Asks::Nothing, _) => Some(self.of_nobody(leaf)),
                (Asks::Required, None) => Some(true),
                (Asks::Optional, None) if !self.of.dialect.authenticates_by_certificate => Some(true),
                (Asks::Optional | Asks::Required, _) => None,
            },
            RbacCondition::Address(..)
            | RbacCondition::Any
            | RbacCondition::DestinationPort(_)
            | RbacCondition::DestinationPortRange { .. }
            | RbacCondition::ServerName(_)
            | RbacCondition::Metadata { .. }
            | RbacCondition::Unsupported(_) => Some(self.of_nobody(leaf)),
            RbacCondition::All(_) | RbacCondition::OneOf(_) | RbacCondition::Not(_) => None,
        }
    }

    /// Says whether a condition holds that is the same for every client of the chain.
    fn of_nobody(&self, leaf: &RbacCondition) -> bool {
        let connection = Connection {
            from: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            to: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), self.of.port),
            transport: Transport::Plaintext,
        };
        let peer = match self.of.asks {
            Asks::Plaintext => Peer::Plaintext,
            Asks::Nothing | Asks::Optional | Asks::Required => Peer::Tls(None),
        };
        let asked = Asked {
            connection: &connection,
            peer,
            rpc: &Rpc::default(),
            dialect: self.of.dialect,
        };
        policy::matches(leaf, asked)
    }
}

/// Makes classes of the methods that a condition names.
pub(super) fn name_methods(condition: &RbacCondition, names: &mut MethodNames) {
    match condition {
        RbacCondition::All(list) | RbacCondition::OneOf(list) => list.iter().for_each(|part| name_methods(part, names)),
        RbacCondition::Not(inner) => name_methods(inner, names),
        RbacCondition::Path(matcher) => names.add(matcher),
        RbacCondition::Header(matcher) => match &matcher.kind {
            HeaderMatch::String(text) if matcher.name == ":path" => names.add(text),
            HeaderMatch::String(_) | HeaderMatch::Range { .. } | HeaderMatch::Present(_) => {}
        },
        RbacCondition::Any
        | RbacCondition::Address(..)
        | RbacCondition::DestinationPort(_)
        | RbacCondition::DestinationPortRange { .. }
        | RbacCondition::ServerName(_)
        | RbacCondition::Metadata { .. }
        | RbacCondition::Authenticated(_)
        | RbacCondition::Unsupported(_) => {}
    }
}

/// Makes a class of the method that a route names.
pub(super) fn name_route(route: &Route, names: &mut MethodNames) {
    match &route.path {
        PathMatcher::Text(matcher) => names.add(matcher),
        PathMatcher::Regex(regex) => {
            // A pattern without special characters is a name.
            let text = regex.as_str();
            let is_name = text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"/_".contains(&byte));
            if is_name {
                names.add(&xdsctl_model::resource::matcher::StringMatcher {
                    kind: StringMatch::Exact(text.to_owned()),
                    ignore_case: false,
                });
            }
        }
    }
}
