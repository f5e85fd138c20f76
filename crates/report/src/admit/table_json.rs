//! The table of whom a server lets in, for programs: `xdsctl.admitted/v1`. Fields are added, never
//! changed.

use serde::Serialize;
use serde_json::{Value, json};

use super::cells::{self, AdmittedAnswer};
use xdsctl_model::resource::listener::chain_place;
use xdsctl_model::resource::rbac::RbacCondition;
use xdsctl_server::handshake::Asks;
use xdsctl_server::routing::Routes;
use xdsctl_server::who::{
    ChainTable, Column, Condition, Fact, HostTable, MethodClass, MethodTable, PolicyName, RouteOutcome, RouteTable, Row,
};
use xdsctl_server::words;

/// Name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.admitted/v1";

#[derive(Serialize)]
struct AdmittedJson<'a> {
    schema: &'static str,
    /// Name of the Listener.
    listener: &'a str,
    address: &'a str,
    /// Why the server does not serve; null if it does.
    not_serving: Option<String>,
    /// Classes of methods that everyone may call.
    open: Vec<String>,
    /// The connections that no chain takes.
    closed: Vec<String>,
    filter_chains: Vec<ChainJson>,
}

#[derive(Serialize)]
struct ChainJson {
    filter_chain: String,
    connections: Vec<String>,
    /// `plaintext`, `tls`, `certificate_optional` or `certificate_required`.
    handshake: &'static str,
    /// Why nobody is let in: the chain has no routes.
    error: Option<String>,
    virtual_hosts: Vec<HostJson>,
}

#[derive(Serialize)]
struct HostJson {
    virtual_host: usize,
    domains: Vec<String>,
    methods: Vec<MethodJson>,
}

#[derive(Serialize)]
struct MethodJson {
    /// The method; null for a class of methods.
    method: Option<String>,
    /// The text with which all methods of the class begin.
    prefix: Option<String>,
    /// The routes; the first one whose condition holds decides.
    routes: Vec<RouteJson>,
}

#[derive(Serialize)]
struct RouteJson {
    route: Option<usize>,
    only_if: Option<Value>,
    /// Why nobody is let in; null if somebody is.
    nobody: Option<String>,
    let_in: Vec<RowJson>,
    also: Vec<Value>,
    except: Vec<RowJson>,
}

#[derive(Serialize)]
struct RowJson {
    everyone: bool,
    principals: Vec<Value>,
    sources: Vec<Value>,
    headers: Vec<Value>,
    others: Vec<Value>,
    by: Vec<Value>,
}

/// Returns the answer as a document.
pub fn document(answer: &AdmittedAnswer<'_>) -> impl Serialize {
    let table = answer.table;
    let chains = table.map_or(&[][..], |table| &table.chains);
    AdmittedJson {
        schema: SCHEMA,
        listener: &answer.server.listener,
        address: &answer.server.address,
        not_serving: answer.serves.err().map(|why| words::not_serving(answer.server, why)),
        open: table.map(cells::open).unwrap_or_default(),
        closed: table.map(|table| cells::connections(&table.closed)).unwrap_or_default(),
        filter_chains: chains
            .iter()
            .map(|chain| of_chain(chain, answer.shows_secrets))
            .collect(),
    }
}

fn of_chain(chain: &ChainTable, shows_secrets: bool) -> ChainJson {
    let error = match &chain.routes {
        Routes::Held(_) => None,
        Routes::Missing(name) => Some(format!("RouteConfiguration `{name}` is not there")),
        Routes::Rejected(name, why) => Some(format!("RouteConfiguration `{name}` is not taken: {why}")),
    };
    ChainJson {
        filter_chain: chain_place(chain.index),
        connections: cells::connections(&chain.regions),
        handshake: match chain.asks {
            Asks::Plaintext => "plaintext",
            Asks::Nothing => "tls",
            Asks::Optional => "certificate_optional",
            Asks::Required => "certificate_required",
        },
        error,
        virtual_hosts: chain.hosts.iter().map(|host| of_host(host, shows_secrets)).collect(),
    }
}

fn of_host(host: &HostTable, shows_secrets: bool) -> HostJson {
    HostJson {
        virtual_host: host.index,
        domains: host.domains.clone(),
        methods: host
            .methods
            .iter()
            .map(|method| of_method(method, shows_secrets))
            .collect(),
    }
}

fn of_method(method: &MethodTable, shows_secrets: bool) -> MethodJson {
    let (name, prefix) = match &method.class {
        MethodClass::Exact(name) => (Some(name.clone()), None),
        MethodClass::Under(prefix) => (None, Some(prefix.clone())),
    };
    MethodJson {
        method: name,
        prefix,
        routes: method
            .entries
            .iter()
            .map(|entry| of_entry(entry, shows_secrets))
            .collect(),
    }
}

fn of_entry(entry: &RouteTable, shows_secrets: bool) -> RouteJson {
    let rows = |rows: &[Row]| rows.iter().map(|row| of_row(row, shows_secrets)).collect::<Vec<_>>();
    let mut route = RouteJson {
        route: entry.route,
        only_if: (!entry.only_if.is_true()).then(|| of_condition(&entry.only_if, shows_secrets)),
        nobody: None,
        let_in: Vec::new(),
        also: Vec::new(),
        except: Vec::new(),
    };
    match &entry.outcome {
        RouteOutcome::Nobody(why) => route.nobody = Some(cells::nobody(why)),
        RouteOutcome::Rows {
            rows: own,
            except,
            also,
        } => {
            route.let_in = rows(own);
            route.also = also
                .iter()
                .map(|(_, condition)| of_condition(condition, shows_secrets))
                .collect();
            route.except = except.iter().flat_map(|exception| rows(&exception.rows)).collect();
        }
    }
    route
}

fn of_row(row: &Row, shows_secrets: bool) -> RowJson {
    let of = |column| row.cell(column).map(|one| of_condition(one, shows_secrets)).collect();
    RowJson {
        everyone: row.is_of_everyone(),
        principals: of(Column::Principal),
        sources: of(Column::Source),
        headers: of(Column::Header),
        others: of(Column::Other),
        by: row.by.iter().map(policy).collect(),
    }
}

fn policy(by: &PolicyName) -> Value {
    json!({ "filter": by.filter, "policy": by.policy })
}

/// Returns a condition: `all` or `one_of` several, `not` another, or what `is` in a field.
fn of_condition(condition: &Condition, shows_secrets: bool) -> Value {
    let list = |list: &[Condition]| -> Value { list.iter().map(|part| of_condition(part, shows_secrets)).collect() };
    match condition {
        Condition::All(parts) => json!({ "all": list(parts) }),
        Condition::OneOf(parts) => json!({ "one_of": list(parts) }),
        Condition::Is { fact, is_not: true } => {
            let plain = Condition::Is {
                fact: fact.clone(),
                is_not: false,
            };
            json!({ "not": of_condition(&plain, shows_secrets) })
        }
        Condition::Is { fact, is_not: false } => {
            let field = match fact {
                Fact::Policy(RbacCondition::Path(_)) => "url_path",
                Fact::Policy(policy) => policy.field(true),
                Fact::RouteHeader(_) => "header",
                Fact::RoutePath(_) => "path",
                Fact::Share(_) => "runtime_fraction",
            };
            json!({ "is": { "field": field, "words": cells::condition(condition, shows_secrets) } })
        }
    }
}
