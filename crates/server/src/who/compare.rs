//! Who gains and who loses access between two versions of a server: compares two tables with the
//! same classes of methods.
//!
//! A row of one side that no row of the other side covers is access that came or went; so is a DENY
//! policy that came or went. A row is said to cover another one only if that is certain. So a gain
//! of access is always reported (`who/tests.rs`) unless the result is cut, but a reported change
//! may be none: two ways to say the same.

use std::collections::HashMap;

use super::condition::{Condition, Fact};
use super::methods::MethodClass;
use super::regions::{Region, intersections};
use super::rows::Row;
use super::table::{ChainTable, HostTable, MethodTable, RouteOutcome, Table};
use crate::handshake::Asks;
use xdsctl_channel::rpc::matching;
use xdsctl_model::resource::domain::{DomainComparison, DomainIndex, crossings};
use xdsctl_model::resource::matcher::{StringMatch, StringMatcher};
use xdsctl_model::resource::rbac::RbacCondition;

/// The most comparisons of conditions. What is left after that counts as changed, and the result
/// says so.
const MAX_STEPS: usize = 2_000_000;

/// The most comparisons of an authority with a domain. Changes for the authorities that are left
/// after that are not listed, and the result says so.
const MAX_DOMAIN_STEPS: usize = 20_000_000;

/// The most pairs of ranges of connections, one before and one after, in which connections of both
/// are looked for. The result says if there are more.
const MAX_REGION_PAIRS: usize = 50_000_000;

/// The most rows that the alternatives of one row are split into.
const MAX_APART: usize = 64;

/// Changes in whom a server lets in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AccessChanges {
    /// The changes, by the chains that take a connection before and after.
    pub chains: Vec<ChainAccess>,
    /// Whether the limit was reached. Some of the listed changes may then not be changes.
    pub is_limit_reached: bool,
    /// Whether another limit was reached, so that access may change that is not listed.
    pub is_cut: bool,
}

/// Changes for the connections that one chain takes before, and one chain after.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainAccess {
    /// The connections.
    pub connections: Vec<Region>,
    /// The chains before and after; `None` if the connection is closed.
    pub chains: (Option<ChainSide>, Option<ChainSide>),
    /// The changes, by virtual hosts.
    pub hosts: Vec<HostAccess>,
}

/// A filter chain on one side of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainSide {
    /// The chain's index in `filter_chains`; `None` for the default chain.
    pub index: Option<usize>,
    /// What the chain asks of the client.
    pub asks: Asks,
}

/// Changes for the authorities that one virtual host has before, and one after.
#[derive(Debug, Clone, PartialEq)]
pub struct HostAccess {
    /// The domains.
    pub domains: Vec<String>,
    /// The changes, by classes of methods.
    pub methods: Vec<MethodAccess>,
}

/// Changes in who may call the methods of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodAccess {
    /// The methods.
    pub class: MethodClass,
    /// Clients that may call the methods now, and could not before.
    pub gains: Vec<Access>,
    /// Clients that could call the methods before, and may not now.
    pub loses: Vec<Access>,
    /// Clients that could call the methods before, and still may.
    pub keeps: Vec<Access>,
}

/// Clients that gain or lose access.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    /// The conditions that these clients meet.
    pub row: Row,
    /// What the chain that lets them in, or did so before, asks of the client.
    pub asks: Asks,
    /// Why their access changes.
    pub by: AccessBy,
}

/// Why access comes or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessBy {
    /// Clients are let in, or no longer are.
    LetIn,
    /// A DENY policy is gone, or new.
    Denied,
    /// A certificate is no longer needed, or is needed now.
    Certificate,
    /// A certificate that the server would reject is no longer looked at, or is looked at now.
    BadCertificate,
}

impl Access {
    /// Says whether these clients are everyone, whoever they are.
    pub fn is_of_everyone(&self) -> bool {
        matches!(self.by, AccessBy::LetIn | AccessBy::Certificate) && self.row.is_of_everyone()
    }
}

impl AccessChanges {
    /// Returns the classes of methods that everyone may call now, and could not before.
    pub fn opened(&self) -> impl Iterator<Item = &MethodClass> {
        let hosts = self.chains.iter().flat_map(|chain| &chain.hosts);
        let methods = hosts.flat_map(|host| &host.methods);
        // Access for everyone counts 2, and only 1 if a certificate is required.
        let openness = |list: &[Access]| {
            let all = list.iter().filter(|access| access.is_of_everyone());
            all.map(|access| 1 + u8::from(access.asks != Asks::Required))
                .max()
                .unwrap_or(0)
        };
        let opened = methods.filter(move |method| openness(&method.gains) > openness(&method.loses));
        opened.map(|method| &method.class)
    }
}

/// Compares two sides, whose tables have the same names of methods. `None` is a server that does
/// not serve.
pub fn compare(before: Option<&Table<'_>>, after: Option<&Table<'_>>) -> AccessChanges {
    let mut comparison = Comparison {
        left: MAX_STEPS,
        domain_steps: MAX_DOMAIN_STEPS,
        is_cut: false,
    };
    let mut chains = Vec::new();
    let mut region_pairs = MAX_REGION_PAIRS;
    for (one, own) in ways(before) {
        for (other, others) in ways(after) {
            if one.is_none() && other.is_none() {
                continue;
            }
            let (connections, is_cut) = intersections(&own, &others, &mut region_pairs);
            comparison.is_cut |= is_cut;
            if connections.is_empty() {
                continue;
            }
            let hosts = comparison.hosts((before, one), (after, other));
            let side = |chain: Option<&ChainTable>| {
                chain.map(|chain| ChainSide {
                    index: chain.index,
                    asks: chain.asks,
                })
            };
            if !hosts.is_empty() {
                chains.push(ChainAccess {
                    connections,
                    chains: (side(one), side(other)),
                    hosts,
                });
            }
        }
    }
    AccessChanges {
        chains,
        is_limit_reached: comparison.left == 0,
        is_cut: comparison.is_cut,
    }
}

/// Returns where connections go on one side.
fn ways<'t>(table: Option<&'t Table<'t>>) -> Vec<(Option<&'t ChainTable>, Vec<Region>)> {
    let Some(table) = table else {
        return vec![(None, vec![Region::any()])];
    };
    let chains = table.chains.iter().map(|chain| (Some(chain), chain.regions.clone()));
    chains.chain([(None, table.closed.clone())]).collect()
}

/// The virtual hosts of a chain on one side, for many lookups.
struct HostsOfChain<'t> {
    hosts: &'t [HostTable],
    index: DomainIndex<'t>,
    last_host_wins: bool,
}

impl<'t> HostsOfChain<'t> {
    /// Returns the virtual hosts; none if there are no routes.
    fn of((table, chain): OneSide<'t>) -> HostsOfChain<'t> {
        let hosts = chain.map_or(&[][..], |chain| &chain.hosts);
        let dialect = table.map(Table::dialect);
        let comparison = dialect.map_or(DomainComparison::Folded, |dialect| dialect.domains);
        HostsOfChain {
            hosts,
            index: DomainIndex::of(hosts.iter().map(|host| host.domains.as_slice()), comparison),
            last_host_wins: dialect.is_some_and(|dialect| dialect.last_host_wins),
        }
    }

    /// Returns the position of the virtual host of an authority, for which a domain may stand.
    fn find(&self, authority: &str) -> Option<usize> {
        let best = self.index.find(authority)?;
        Some(match self.last_host_wins {
            true => self.hosts.len().saturating_sub(1),
            false => best,
        })
    }
}

struct Comparison {
    left: usize,
    domain_steps: usize,
    is_cut: bool,
}

/// Who may call a class of methods on one side: clients that match `rows`, except those that match
/// `except`.
#[derive(Default)]
struct SideRows {
    rows: Vec<Row>,
    except: Vec<Row>,
}

type OneSide<'t> = (Option<&'t Table<'t>>, Option<&'t ChainTable>);

impl Comparison {
    fn hosts(&mut self, before: OneSide<'_>, after: OneSide<'_>) -> Vec<HostAccess> {
        let (hosts_before, hosts_after) = (HostsOfChain::of(before), HostsOfChain::of(after));
        let hosts = hosts_before.hosts.iter().chain(hosts_after.hosts);
        let mut domains: Vec<String> = hosts.flat_map(|host| host.domains.iter().cloned()).collect();
        domains.sort_unstable();
        domains.dedup();
        // An authority may match two domains, of which neither is below the other.
        let crossed = crossings(&hosts_before.index, &hosts_after.index);
        let steps = hosts_before.index.steps() + hosts_after.index.steps();
        let mut pairs: Vec<(Option<usize>, Option<usize>, Vec<String>)> = Vec::new();
        let mut known: HashMap<(Option<usize>, Option<usize>), usize> = HashMap::new(); // looked up only
        for domain in domains.into_iter().chain(crossed) {
            let Some(left) = self.domain_steps.checked_sub(steps) else {
                self.is_cut = true;
                break;
            };
            self.domain_steps = left;
            let pair = (hosts_before.find(&domain), hosts_after.find(&domain));
            let position = *known.entry(pair).or_insert(pairs.len());
            match pairs.get_mut(position) {
                Some((_, _, domains)) => domains.push(domain),
                None => pairs.push((pair.0, pair.1, vec![domain])),
            }
        }
        let asks = |side: OneSide<'_>| side.1.map_or(Asks::Plaintext, |chain| chain.asks);
        let asks = (asks(before), asks(after));
        let changed = pairs.into_iter().filter_map(|(one, other, domains)| {
            let one = one.and_then(|at| hosts_before.hosts.get(at));
            let other = other.and_then(|at| hosts_after.hosts.get(at));
            let all = one.or(other)?;
            let own = |host: Option<&HostTable>, class: &MethodClass| {
                let method = host.and_then(|host| host.methods.iter().find(|method| method.class == *class));
                method.map(flat).unwrap_or_default()
            };
            let methods = all.methods.iter().filter_map(|method| {
                let (was, is) = (own(one, &method.class), own(other, &method.class));
                let mut keeps = Vec::new();
                let gains = self.gains((&was, asks.0), (&is, asks.1), &mut keeps);
                let access = MethodAccess {
                    class: method.class.clone(),
                    gains,
                    loses: self.gains((&is, asks.1), (&was, asks.0), &mut Vec::new()),
                    keeps,
                };
                (!access.gains.is_empty() || !access.loses.is_empty()).then_some(access)
            });
            let methods: Vec<MethodAccess> = methods.collect();
            (!methods.is_empty()).then_some(HostAccess { domains, methods })
        });
        changed.collect()
    }

    /// Returns who is let in on the second side and not on the first. Those who are let in on both
    /// sides go to `keeps`.
    fn gains(
        &mut self,
        (was, asked): (&SideRows, Asks),
        (is, asks): (&SideRows, Asks),
        keeps: &mut Vec<Access>,
    ) -> Vec<Access> {
        let mut found = Vec::new();
        for row in &is.rows {
            let is_through = gets_through(asks, asked);
            let is_covered = self.is_covered(row, &was.rows);
            let by = match is_covered && !is_through && is_tls(asks) && is_tls(asked) {
                true if asked == Asks::Optional => AccessBy::BadCertificate,
                true => AccessBy::Certificate,
                false => AccessBy::LetIn,
            };
            let list = if is_through && is_covered {
                &mut *keeps
            } else {
                &mut found
            };
            list.push(Access {
                row: row.clone(),
                asks,
                by,
            });
        }
        if is.rows.is_empty() || was.rows.is_empty() {
            return found;
        }
        for row in &was.except {
            if !self.is_covered(row, &is.except) {
                found.push(Access {
                    row: row.clone(),
                    asks,
                    by: AccessBy::Denied,
                });
            }
        }
        found
    }

    /// Says whether everyone whom a row matches is matched by one of these rows, too.
    fn is_covered(&mut self, row: &Row, rows: &[Row]) -> bool {
        rows.iter().any(|other| {
            let mut needs = other.conditions.iter();
            needs.all(|need| need.is_true() || row.conditions.iter().any(|own| self.implies(own, need)))
        })
    }

    /// Says whether the second condition certainly holds wherever the first does.
    fn implies(&mut self, one: &Condition, other: &Condition) -> bool {
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        if one == other || one.is_false() {
            return true;
        }
        match (one, other) {
            (Condition::OneOf(list), other) => list.iter().all(|one| self.implies(one, other)),
            (one, Condition::All(list)) => list.iter().all(|other| self.implies(one, other)),
            (Condition::All(list), other) if list.iter().any(|one| self.implies(one, other)) => true,
            (one, Condition::OneOf(list)) => list.iter().any(|other| self.implies(one, other)),
            (
                Condition::Is { fact, is_not },
                Condition::Is {
                    fact: other,
                    is_not: other_not,
                },
            ) => match (is_not, other_not) {
                (false, false) => follows(fact, other),
                (true, true) => follows(other, fact),
                _ => false,
            },
            (Condition::All(_), Condition::Is { .. }) => false,
        }
    }
}

const fn is_tls(asks: Asks) -> bool {
    !matches!(asks, Asks::Plaintext)
}

/// Says whether everyone who passes the handshake of one chain passes that of the other.
const fn gets_through(one: Asks, other: Asks) -> bool {
    match (one, other) {
        (Asks::Plaintext, Asks::Plaintext) => true,
        (Asks::Plaintext, _) | (_, Asks::Plaintext) => false,
        (Asks::Required, _) => true,
        (Asks::Nothing | Asks::Optional, Asks::Required) => false,
        // A certificate that is asked for is checked, too.
        (Asks::Nothing, Asks::Optional) => false,
        (Asks::Optional, Asks::Nothing | Asks::Optional) | (Asks::Nothing, Asks::Nothing) => true,
    }
}

/// Says whether the second fact holds wherever the first does.
fn follows(one: &Fact, other: &Fact) -> bool {
    match (one, other) {
        (Fact::Policy(one), Fact::Policy(other)) => match (one, other) {
            (RbacCondition::Address(which, range), RbacCondition::Address(whose, outer)) => {
                let both = range.range.zip(outer.range);
                which == whose && both.is_some_and(|(range, outer)| outer.covers(range))
            }
            (RbacCondition::Authenticated(Some(own)), RbacCondition::Authenticated(Some(other))) => {
                is_narrower(own, other)
            }
            (RbacCondition::Path(own), RbacCondition::Path(other)) => is_narrower(own, other),
            _ => false,
        },
        (Fact::Share(one), Fact::Share(other)) => one <= other,
        _ => false,
    }
}

/// Says whether every text that the first matches is matched by the second.
fn is_narrower(own: &StringMatcher, other: &StringMatcher) -> bool {
    match &own.kind {
        StringMatch::Exact(text) if !own.ignore_case => matching::string_matches(other, text),
        StringMatch::Prefix(text) if !own.ignore_case => match &other.kind {
            StringMatch::Prefix(_) => matching::string_matches(other, text),
            _ => false,
        },
        _ => false,
    }
}

/// Returns the rows of a class of methods that let in or keep out, with what the routes ask.
fn flat(method: &MethodTable) -> SideRows {
    let mut side = SideRows::default();
    let mut not_before: Vec<Condition> = Vec::new();
    for entry in &method.entries {
        let guard = parts(not_before.iter().chain([&entry.only_if]));
        if let RouteOutcome::Rows { rows, except, also } = &entry.outcome {
            let also = parts(also.iter().map(|(_, condition)| condition));
            for row in rows {
                side.rows.extend(apart(with(row, guard.iter().chain(&also))));
            }
            let rows = except.iter().flat_map(|exception| &exception.rows);
            for row in rows {
                side.except.extend(apart(with(row, guard.iter())));
            }
        }
        not_before.push(entry.only_if.not());
    }
    side
}

/// Returns the conditions, and the parts of those that are several.
fn parts<'c>(conditions: impl Iterator<Item = &'c Condition>) -> Vec<Condition> {
    let parts = conditions.flat_map(|condition| match condition {
        Condition::All(list) => list.as_slice(),
        Condition::OneOf(_) | Condition::Is { .. } => std::slice::from_ref(condition),
    });
    parts.cloned().collect()
}

fn with<'c>(row: &'c Row, more: impl Iterator<Item = &'c Condition>) -> Row {
    Row {
        conditions: row.conditions.iter().chain(more).cloned().collect(),
        by: row.by.clone(),
    }
}

/// Splits a row into one for each of its alternatives, unless these are too many.
fn apart(row: Row) -> Vec<Row> {
    let mut rows = vec![Row {
        conditions: Vec::new(),
        by: row.by.clone(),
    }];
    for condition in &row.conditions {
        let list = match condition {
            Condition::OneOf(list) => list.as_slice(),
            whole => std::slice::from_ref(whole),
        };
        if rows.len().saturating_mul(list.len()) > MAX_APART {
            return vec![row];
        }
        let split = rows.iter().flat_map(|row| {
            list.iter().map(move |condition| {
                let mut own = row.clone();
                own.conditions.extend(parts(std::iter::once(condition)));
                own
            })
        });
        rows = split.collect();
    }
    rows
}
