//! Whom a server lets in, in words: the chains, the methods and the conditions in the cells of a
//! row.

use super::conditions;
use crate::edge::visible_line;
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::rpc::words;
use xdsctl_model::resource::listener::Cidr;
use xdsctl_model::resource::rbac::{RbacAddress, RbacCondition};
use xdsctl_model::text::percent;
use xdsctl_server::handshake::Asks;
use xdsctl_server::serving::NotServing;
use xdsctl_server::who::{
    AddressSpan, ChainTable, Column, Condition, Fact, MethodClass, Nobody, Ports, Region, RouteOutcome, Row, Table,
};

/// The question and the answer.
pub struct AdmittedAnswer<'a> {
    /// The server.
    pub server: &'a ListeningServer,
    /// If the server serves: why a newer version of its Listener is not in use, if there is such a
    /// version. If not: why it does not serve.
    pub serves: Result<Option<&'a str>, &'a NotServing>,
    /// The table of whom the server lets in; `None` if the server does not serve.
    pub table: Option<&'a Table<'a>>,
    /// Whether values of headers that hold secrets are printed.
    pub shows_secrets: bool,
}

/// Says in words what a server asks of the peer of a connection.
pub(crate) const fn asked(asks: Asks) -> &'static str {
    match asks {
        Asks::Plaintext => "plaintext",
        Asks::Nothing => "TLS; the server asks for no certificate",
        Asks::Optional => "TLS; the server takes a certificate and does without",
        Asks::Required => "TLS; the client must show a certificate",
    }
}

/// The words for all connections.
pub(crate) const EVERY_CONNECTION: &str = "every connection";

/// Returns the connections of a chain, in words.
pub(crate) fn connections(regions: &[Region]) -> Vec<String> {
    match regions.iter().any(Region::is_any) {
        true => vec![EVERY_CONNECTION.to_owned()],
        false => regions.iter().map(region).collect(),
    }
}

fn region(region: &Region) -> String {
    let place = region.is_local.map(|is_local| match is_local {
        true => "from the same host".to_owned(),
        false => "from other hosts".to_owned(),
    });
    let (from, to) = (span(&region.from), span(&region.to));
    let from = from.map(|from| format!("from {from}"));
    let ports = match &region.ports {
        Ports::Of(ports) => Some(format!("from port {}", listed(ports))),
        Ports::Except(ports) if ports.is_empty() => None,
        Ports::Except(ports) => Some(format!("from any port but {}", listed(ports))),
    };
    let to = to.map(|to| format!("to {to}"));
    let parts: Vec<String> = [place, from, ports, to].into_iter().flatten().collect();
    match parts.is_empty() {
        true => EVERY_CONNECTION.to_owned(),
        false => format!("connections {}", parts.join(", ")),
    }
}

fn span(span: &AddressSpan) -> Option<String> {
    if span.is_any() {
        return None;
    }
    let within = span
        .within
        .map_or_else(|| "anywhere".to_owned(), |range| range.to_string());
    let without: Vec<String> = span.without.iter().map(Cidr::to_string).collect();
    Some(match without.is_empty() {
        true => within,
        false => format!("{within} but not {}", without.join(", ")),
    })
}

fn listed(ports: &[u16]) -> String {
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    ports.join(", ")
}

/// Returns a class of methods in words; `is_only` if there is no other class.
pub(crate) fn class(class: &MethodClass, is_only: bool) -> String {
    match class {
        MethodClass::Exact(name) => visible_line(name).into_owned(),
        MethodClass::Under(_) if class.is_rest() && is_only => "any method".to_owned(),
        MethodClass::Under(_) if class.is_rest() => "any other method".to_owned(),
        MethodClass::Under(prefix) => format!("{}*", visible_line(prefix)),
    }
}

/// Says in words why nobody is let in.
pub(crate) fn nobody(why: &Nobody) -> String {
    match why {
        Nobody::NoRoute => "no route takes it".to_owned(),
        Nobody::NotForServers => "the route has no non_forwarding_action".to_owned(),
        Nobody::NoPolicy(filter) => format!("no policy of `{filter}` can match"),
        Nobody::Unreadable(filter) => format!("the policies of `{filter}` cannot be read, the connection ends"),
        Nobody::Denied(by) => format!("policy `{}` of `{}` denies everyone", by.policy, by.filter),
    }
}

/// Returns a condition in words, on one line.
pub(crate) fn condition(condition: &Condition, shows_secrets: bool) -> String {
    match condition {
        Condition::Is { fact, is_not } => {
            let words = fact_words(fact, *is_not, shows_secrets);
            visible_line(&words).into_owned()
        }
        Condition::All(list) => joined(list, "and", shows_secrets),
        Condition::OneOf(list) => joined(list, "or", shows_secrets),
    }
}

fn joined(list: &[Condition], between: &str, shows_secrets: bool) -> String {
    let parts = list.iter().map(|part| match part {
        Condition::Is { .. } => condition(part, shows_secrets),
        Condition::All(_) | Condition::OneOf(_) => format!("({})", condition(part, shows_secrets)),
    });
    match (list.is_empty(), between) {
        (true, "and") => "anything".to_owned(),
        (true, _) => "nothing".to_owned(),
        (false, _) => parts.collect::<Vec<_>>().join(&format!(" {between} ")),
    }
}

fn fact_words(fact: &Fact, is_not: bool, shows_secrets: bool) -> String {
    let not = if is_not { "not: " } else { "" };
    match fact {
        Fact::Policy(RbacCondition::Address(which, range)) if *which != RbacAddress::Destination => {
            let range = range
                .range
                .map_or_else(|| range.text.clone(), |range| range.to_string());
            if is_not { format!("not {range}") } else { range }
        }
        Fact::Policy(policy) => format!("{not}{}", conditions::condition(policy, shows_secrets)),
        Fact::RouteHeader(matcher) => format!("{not}{}", words::of_header(matcher, !shows_secrets)),
        Fact::RoutePath(matcher) => format!("{not}{}", words::of_path(matcher)),
        Fact::Share(below) => format!("{not}{} of RPCs", percent(u64::from(*below), 1_000_000)),
    }
}

/// Returns the lines of a cell. Alternatives are below each other, and so are conditions that must
/// all hold.
pub(crate) fn cell(row: &Row, column: Column, shows_secrets: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for one in row.cell(column) {
        let mut begin = if lines.is_empty() { "" } else { "and " };
        let list = match one {
            Condition::OneOf(list) => list.as_slice(),
            Condition::All(_) | Condition::Is { .. } => std::slice::from_ref(one),
        };
        for part in list {
            lines.push(format!("{begin}{}", condition(part, shows_secrets)));
            begin = "or ";
        }
    }
    lines
}

/// Returns the names of those whom a row lets in.
pub(crate) fn who(row: &Row, asks: Asks, shows_secrets: bool) -> Vec<String> {
    let lines = cell(row, Column::Principal, shows_secrets);
    if !lines.is_empty() {
        return lines;
    }
    let words = match (row.is_of_everyone(), asks) {
        (true, Asks::Required) => "EVERYONE with a certificate",
        (true, Asks::Plaintext | Asks::Nothing | Asks::Optional) => "EVERYONE",
        (false, Asks::Required) => "anyone with a certificate",
        (false, Asks::Plaintext | Asks::Nothing | Asks::Optional) => "anyone",
    };
    vec![words.to_owned()]
}

/// Says on one line whom a row lets in. Values that are secrets are not shown.
pub(crate) fn grant(row: &Row, asks: Asks) -> String {
    let of = |column| {
        let lines = cell(row, column, false);
        (!lines.is_empty()).then(|| lines.join(" "))
    };
    let from = of(Column::Source).map(|from| format!("from {from}"));
    let only_if = of(Column::Other).map(|words| format!("if {words}"));
    let names = row.by.iter().map(|by| format!("`{}` of `{}`", by.policy, by.filter));
    let names: Vec<String> = names.collect();
    let by = (!names.is_empty()).then(|| format!("by policy {}", names.join(" and ")));
    let who = who(row, asks, false).join(" ");
    let parts = [Some(who), from, of(Column::Header), only_if, by];
    let line = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    visible_line(&line).into_owned()
}

/// Returns the classes of methods that a chain lets everyone call, whoever the client is.
pub(crate) fn open(table: &Table<'_>) -> Vec<String> {
    let mut open = Vec::new();
    for chain in &table.chains {
        for name in open_in(chain) {
            if !open.contains(&name) {
                open.push(name);
            }
        }
    }
    open
}

fn open_in(chain: &ChainTable) -> Vec<String> {
    let classes = chain.hosts.iter().flat_map(|host| {
        let is_only = host.methods.len() == 1;
        host.methods.iter().map(move |method| (method, is_only))
    });
    let is_open = |outcome: &RouteOutcome| match outcome {
        RouteOutcome::Nobody(_) => false,
        RouteOutcome::Rows { rows, .. } => rows.iter().any(Row::is_of_everyone),
    };
    let open = classes.filter(|(method, _)| method.entries.iter().any(|entry| is_open(&entry.outcome)));
    let who = match chain.asks {
        Asks::Required => " (with a certificate)",
        Asks::Plaintext | Asks::Nothing | Asks::Optional => "",
    };
    open.map(|(method, is_only)| format!("{}{who}", class(&method.class, is_only)))
        .collect()
}
