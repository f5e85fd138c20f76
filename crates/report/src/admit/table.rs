//! Tables of whom a server lets in, for people: one table for each virtual host of each chain.

use std::io::{self, Write};

use anstyle::AnsiColor;

use super::cells::{self, AdmittedAnswer};
use super::layers;
use super::text::sentence;
use super::{Outcome, Sentence};
use crate::edge::{self, visible_line};
use crate::write_table;
use xdsctl_model::resource::listener::chain_place;
use xdsctl_server::handshake::Asks;
use xdsctl_server::routing::Routes;
use xdsctl_server::who::{
    ChainTable, Column, Condition, HostTable, MethodTable, PolicyName, RouteOutcome, RouteTable, Row, Table,
};
use xdsctl_server::words;

/// The titles of the columns.
const HEAD: [&str; 7] = ["METHOD", "ROUTE", "WHO", "FROM", "HEADERS", "IF", "BY"];

/// Writes the tables.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(answer: &AdmittedAnswer<'_>, width: Option<usize>, colours: bool, out: &mut dyn Write) -> io::Result<()> {
    let told = match answer.serves {
        Ok(rejected) => layers::serving(answer.server, rejected),
        Err(why) => Sentence::new("listener", Outcome::No, words::not_serving(answer.server, why)),
    };
    sentence(&told, 0, colours, out)?;
    let Some(table) = answer.table else {
        return say!(out, "nobody is let in");
    };
    for chain in &table.chains {
        of_chain(chain, answer, width, out)?;
    }
    if !table.closed.is_empty() {
        writeln!(out)?;
        say!(out, "no filter chain, the connection is closed:")?;
        for line in cells::connections(&table.closed) {
            say!(out, "  {line}")?;
        }
    }
    end(table, colours, out)
}

/// Writes the last lines: what everyone may call.
fn end(table: &Table<'_>, colours: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    let left_out = table.names.left_out.len();
    if left_out > 0 {
        say!(
            out,
            "{left_out} further methods have no line of their own: what is asked of them stands in IF"
        )?;
    }
    let open = cells::open(table);
    let (colour, words) = match open.is_empty() {
        true => (AnsiColor::Green, "no method is open to everyone".to_owned()),
        false => (AnsiColor::Red, format!("EVERYONE may call: {}", open.join(", "))),
    };
    say!(out, "{}", edge::paint(colour.on_default().bold(), colours, &words))
}

fn of_chain(
    chain: &ChainTable,
    answer: &AdmittedAnswer<'_>,
    width: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out)?;
    say!(out, "{}: {}", chain_place(chain.index), cells::asked(chain.asks))?;
    for line in cells::connections(&chain.regions) {
        say!(out, "  {line}")?;
    }
    match &chain.routes {
        Routes::Missing(name) => say!(out, "  nobody: RouteConfiguration `{name}` is not there"),
        Routes::Rejected(name, why) => say!(out, "  nobody: RouteConfiguration `{name}` is not taken: {why}"),
        Routes::Held(_) if chain.hosts.is_empty() => say!(out, "  nobody: there is no virtual host"),
        Routes::Held(_) => chain.hosts.iter().try_for_each(|host| {
            say!(out, "  virtual_hosts[{}] for {}", host.index, host.domains.join(", "))?;
            of_host(host, chain.asks, answer.shows_secrets, width, out)
        }),
    }
}

fn of_host(
    host: &HostTable,
    asks: Asks,
    shows_secrets: bool,
    width: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut lines = Lines {
        lines: Vec::new(),
        asks,
        shows_secrets,
    };
    let is_only = host.methods.len() == 1;
    for method in &host.methods {
        lines.method(method, is_only);
    }
    // A column without content is left out, except for the first four, which everybody looks for.
    let is_shown = |column: &usize| *column < 4 || lines.lines.iter().any(|line| !line[*column].is_empty());
    let columns: Vec<usize> = (0..HEAD.len()).filter(is_shown).collect();
    let head: Vec<&str> = columns.iter().map(|column| HEAD[*column]).collect();
    let mut table = crate::table(width, &head);
    for line in &lines.lines {
        table.add_row(columns.iter().map(|column| line[*column].as_str()));
    }
    write_table(&table, out)
}

/// The rows of a table.
struct Lines {
    lines: Vec<[String; HEAD.len()]>,
    asks: Asks,
    shows_secrets: bool,
}

impl Lines {
    fn method(&mut self, method: &MethodTable, is_only: bool) {
        let mut name = cells::class(&method.class, is_only);
        for entry in &method.entries {
            self.entry(std::mem::take(&mut name), entry);
        }
    }

    fn entry(&mut self, mut method: String, entry: &RouteTable) {
        let mut route = entry.route.map_or_else(String::new, |index| format!("routes[{index}]"));
        if !entry.only_if.is_true() {
            route += " only if";
            for part in parts(&entry.only_if) {
                route += &format!("\n{}", cells::condition(part, self.shows_secrets));
            }
        }
        let (rows, except, also) = match &entry.outcome {
            RouteOutcome::Nobody(why) => {
                let who = "nobody".to_owned();
                let [from, headers, other]: [String; 3] = Default::default();
                return self
                    .lines
                    .push([method, route, who, from, headers, other, cells::nobody(why)]);
            }
            RouteOutcome::Rows { rows, except, also } => (rows, except, also),
        };
        for row in rows {
            self.row(std::mem::take(&mut method), std::mem::take(&mut route), row);
        }
        for (filter, condition) in also {
            let (route, by) = ("and all of them".to_owned(), format!("`{filter}`"));
            let [method, who, from, headers]: [String; 4] = Default::default();
            let other = cells::condition(condition, self.shows_secrets);
            self.lines.push([method, route, who, from, headers, other, by]);
        }
        for row in except.iter().flat_map(|exception| &exception.rows) {
            self.row(String::new(), "but not".to_owned(), row);
        }
    }

    fn row(&mut self, method: String, route: String, row: &Row) {
        let of = |column| cells::cell(row, column, self.shows_secrets).join("\n");
        let from = match of(Column::Source) {
            from if from.is_empty() => "anywhere".to_owned(),
            from => from,
        };
        let who = cells::who(row, self.asks, self.shows_secrets).join("\n");
        let (headers, other) = (of(Column::Header), of(Column::Other));
        self.lines.push([method, route, who, from, headers, other, by(&row.by)]);
    }
}

fn parts(condition: &Condition) -> &[Condition] {
    match condition {
        Condition::All(list) => list,
        Condition::OneOf(_) | Condition::Is { .. } => std::slice::from_ref(condition),
    }
}

fn by(policies: &[PolicyName]) -> String {
    let names = policies
        .iter()
        .map(|by| format!("policy `{}` of `{}`", by.policy, by.filter));
    let names: Vec<String> = names.map(|name| visible_line(&name).into_owned()).collect();
    names.join("\nand ")
}
