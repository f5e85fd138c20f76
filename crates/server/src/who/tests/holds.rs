//! What a table says about one connection and one RPC.

use std::net::IpAddr;

use crate::admit::Question;
use crate::chain::is_local;
use crate::connection::Connection;
use crate::dialect::{NoAuthority, ServerDialect};
use crate::handshake::shake;
use crate::policy::{self, Asked};
use crate::routing::{self, Routes};
use crate::who::{AddressSpan, Condition, Fact, MethodClass, MethodNames, Region, RouteOutcome, Row, Table};
use xdsctl_channel::rpc::matching::{self, MILLION};
use xdsctl_channel::rpc::{Draw, Purpose};
use xdsctl_model::resource::listener::TcpListener;

/// A connection and an RPC, in which facts are looked up.
#[derive(Clone, Copy)]
pub(super) struct Facts<'a> {
    /// The connection and the RPC.
    asked: Asked<'a>,
    /// The number below a million that is drawn for shares.
    drawn: u64,
}

impl<'a> Facts<'a> {
    /// Collects the facts about an RPC.
    pub fn of(asked: Asked<'a>, draw: &mut Draw<'_>) -> Facts<'a> {
        Facts {
            asked,
            drawn: draw(Purpose::RouteFraction, MILLION),
        }
    }

    fn fact(&self, fact: &Fact) -> bool {
        let asked = self.asked;
        match fact {
            Fact::Policy(condition) => policy::matches(condition, asked),
            Fact::RouteHeader(matcher) => {
                let value = (asked.dialect.route_header)(asked.rpc, &matcher.name);
                matching::value_matches(matcher, value.as_deref())
            }
            Fact::RoutePath(matcher) => matching::path_matches(matcher, &asked.rpc.method),
            Fact::Share(below) => self.drawn < u64::from(*below),
        }
    }

    fn condition(&self, condition: &Condition) -> bool {
        match condition {
            Condition::All(list) => list.iter().all(|one| self.condition(one)),
            Condition::OneOf(list) => list.iter().any(|one| self.condition(one)),
            Condition::Is { fact, is_not } => self.fact(fact) != *is_not,
        }
    }

    /// Says whether a row matches the RPC.
    pub fn row(&self, row: &Row) -> bool {
        row.conditions.iter().all(|condition| self.condition(condition))
    }

    fn are_let_in(&self, outcome: &RouteOutcome) -> bool {
        match outcome {
            RouteOutcome::Nobody(_) => false,
            RouteOutcome::Rows { rows, except, also } => {
                rows.iter().any(|row| self.row(row))
                    && also.iter().all(|(_, condition)| self.condition(condition))
                    && !except
                        .iter()
                        .any(|exception| exception.rows.iter().any(|row| self.row(row)))
            }
        }
    }
}

/// Says whether a connection is in a region.
pub(super) fn has(region: &Region, connection: &Connection, dialect: &ServerDialect) -> bool {
    let span = |span: &AddressSpan, address: IpAddr| {
        span.within.is_none_or(|range| range.contains(address)) && !span.without.iter().any(|out| out.contains(address))
    };
    let (from, to) = ((dialect.address)(connection.from), (dialect.address)(connection.to));
    let is_local = is_local(from, to, dialect);
    region.is_local.is_none_or(|wanted| is_local == wanted)
        && span(&region.to, to)
        && span(&region.from, from)
        && region.ports.contains(connection.from.port())
}

/// Returns the class of a method: its own, or that of the longest name that it begins with.
pub(super) fn class_of(names: &MethodNames, method: &str) -> Option<MethodClass> {
    let fits = |class: &MethodClass| match class {
        MethodClass::Exact(name) => (name == method).then_some((true, name.len())),
        MethodClass::Under(prefix) => method.starts_with(prefix.as_str()).then_some((false, prefix.len())),
    };
    let classes = names.classes().into_iter();
    classes.filter(|class| fits(class).is_some()).max_by_key(fits)
}

/// Says whether an RPC is let in, by the table of a server alone.
pub(super) fn lets_in(table: &Table<'_>, listener: &TcpListener, question: Question<'_>, draw: &mut Draw<'_>) -> bool {
    let (connection, dialect) = (question.connection, table.dialect());
    let mut chains = table.chains.iter();
    let own = chains.find(|chain| chain.regions.iter().any(|region| has(region, connection, dialect)));
    let (Some(own), Some(rpc)) = (own, question.rpc) else {
        return false;
    };
    let chain = match own.index {
        Some(index) => listener.filter_chains.get(index),
        None => listener.default_filter_chain.as_ref(),
    };
    let Ok(peer) = shake(chain.unwrap(), connection, &question.program, dialect) else {
        return false;
    };
    let Routes::Held(held) = &own.routes else {
        return false;
    };
    if rpc.authority.is_empty() && dialect.no_authority != NoAuthority::Empty {
        return false;
    }
    let host = routing::host(held, &rpc.authority, dialect);
    let Some(host) = host.and_then(|found| own.hosts.get(found.host)) else {
        return false;
    };
    let asked = Asked {
        connection,
        peer,
        rpc,
        dialect,
    };
    let facts = Facts::of(asked, draw);
    let class = class_of(&table.names, &rpc.method);
    let class = host.methods.iter().find(|one| Some(&one.class) == class.as_ref());
    let entry = class.and_then(|class| class.entries.iter().find(|entry| facts.condition(&entry.only_if)));
    entry.is_some_and(|entry| facts.are_let_in(&entry.outcome))
}
