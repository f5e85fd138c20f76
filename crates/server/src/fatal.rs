//! What ends the program of a server: connections and RPCs that it does not survive.

use crate::chain::{ChainChoice, ChainStep};
use crate::connection::{Connection, Rpc};
use crate::dialect::ServerDialect;
use crate::policy::{Asked, Decision, Look};
use xdsctl_model::resource::filter::FilterConfig;
use xdsctl_model::resource::listener::TcpListener;
use xdsctl_model::resource::rbac::RbacCondition;

/// What a Node program prints when it ends at a connection that several chains take.
const SEVERAL: &str = "Duplicate matcher found for incoming connection";

/// What a Node program prints when it ends at an IPv6 range.
const NO_NUMBER: &str = "Cannot convert an address of IPv4 to a BigInt";

/// What a C-core program prints when it ends at a policy that it cannot read.
const NO_POLICY: &str = "Attempting to fetch value instead of handling error INVALID_ARGUMENT";

/// What a C-core program prints when it ends at a method that it does not have.
const NO_METHOD: &str = "Check failed: has_value()";

/// Returns why a connection ends the program, if it does.
pub(crate) fn of_connection(
    listener: &TcpListener,
    connection: &Connection,
    choice: &ChainChoice<'_>,
    dialect: &ServerDialect,
) -> Option<&'static str> {
    if compares_ipv4(connection, dialect) && has_ipv6(listener, choice) {
        return Some(NO_NUMBER);
    }
    let is_left = dialect.lifetime.ends_at_several && matches!(choice.steps.last(), Some(ChainStep::Several(_)));
    is_left.then_some(SEVERAL)
}

/// Returns why a filter that an RPC reaches ends the program, whatever it decides.
pub(crate) fn of_filter(config: &FilterConfig) -> Option<&'static str> {
    config.rbac_rules()?.ends_program.then_some(NO_POLICY)
}

/// Returns why an RPC to a method that the server does not have ends the program, if it does.
pub(crate) fn of_unimplemented(rpc: &Rpc, dialect: &ServerDialect) -> Option<&'static str> {
    (rpc.is_unimplemented && dialect.lifetime.ends_at_unimplemented).then_some(NO_METHOD)
}

/// Returns why the conditions that were looked at end the program, if they do.
pub(crate) fn of_decisions<'a>(
    mut decisions: impl Iterator<Item = &'a Decision<'a>>,
    asked: Asked<'_>,
) -> Option<&'static str> {
    let is_fatal = compares_ipv4(asked.connection, asked.dialect) && decisions.any(looks_at_ipv6);
    is_fatal.then_some(NO_NUMBER)
}

/// Says whether comparing an IPv6 range with an address of this connection ends the program.
const fn compares_ipv4(connection: &Connection, dialect: &ServerDialect) -> bool {
    dialect.lifetime.ends_at_ipv6 && connection.from.is_ipv4()
}

/// Says whether an IPv6 range is compared on the way to a chain. Destinations are compared, and the
/// sources of the chains that are left.
fn has_ipv6(listener: &TcpListener, choice: &ChainChoice<'_>) -> bool {
    let left = choice.steps.iter().filter_map(|step| match step {
        ChainStep::SourceType(_, chains) => Some(chains),
        _ => None,
    });
    let chains = left.flatten().filter_map(|index| listener.filter_chains.get(*index));
    let sources = chains.flat_map(|chain| &chain.source.prefixes);
    let destinations = listener.destinations.iter().filter(|one| !one.chains.is_empty());
    let mut ranges = sources.chain(destinations.filter_map(|one| one.prefix.as_ref()));
    ranges.any(|range| range.address.is_ipv6())
}

/// Says whether a policy looked at a range of IPv6.
fn looks_at_ipv6(decision: &Decision<'_>) -> bool {
    fn one(look: &Look<'_>) -> bool {
        let is_own = match look.condition {
            RbacCondition::Address(_, range) => range.range.is_some_and(|range| range.address.is_ipv6()),
            _ => false,
        };
        is_own || look.parts.iter().any(one)
    }
    let policies = decision.policies.iter();
    policies
        .flat_map(|policy| policy.permissions.iter().chain(&policy.principals))
        .any(one)
}
