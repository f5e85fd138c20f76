//! The answer of `diff` for people: the differences in each resource, then the effects on RPCs.

mod access;
mod effects;
pub mod json;
pub mod not_compared;
pub mod pull;

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::findings::clients;
use super::findings::not_checked::{self, NotChecked};
use super::{edge, plural};
use effects::RpcEffects;
use pull::ResourcePlaces;
use xdsctl_channel::client::Client;
use xdsctl_lint::diff::compared_value::ComparedValue;
use xdsctl_lint::diff::values::{ChangeKind, FieldChange};
use xdsctl_lint::diff::{Diff, ResourceChange, State};
use xdsctl_model::profile::{self, Fleet};
use xdsctl_model::resource::RouteConfiguration;

/// Most lines of one kind that are shown for a resource, virtual host or cluster without `--all`.
const SHOWN: usize = 20;

/// Most characters of a value that are shown without `--all`.
const VALUE_CHARS: usize = 120;

/// The sides on which a world exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// The world exists before and after the change.
    Both,
    /// The world exists only after the change.
    Added,
    /// The world exists only before the change.
    Removed,
}

/// Two states of one world, and the differences.
pub struct Compared {
    /// Name of the world; empty if there is only one.
    pub world: String,
    /// The sides on which the world exists.
    pub presence: Presence,
    /// The client before the change.
    pub before: Client,
    /// The client after the change.
    pub after: Client,
    /// What changes between the two.
    pub diff: Diff,
    /// The places of its resources after the change.
    pub places: ResourcePlaces,
    /// Why it is not known where RPCs go; `None` if it is known. If it is not, they are not
    /// compared.
    pub rpcs_unknown: Option<String>,
}

impl Compared {
    /// Says whether RPCs were not compared, or not all of them.
    fn leaves_rpcs_open(&self) -> bool {
        self.rpcs_unknown.is_some() || self.diff.is_cut()
    }
}

/// The changes for some clients.
pub struct Answer {
    /// The clients for which all of these changes hold.
    pub clients: Vec<profile::Client>,
    /// The changes in each world, ordered by name.
    pub worlds: Vec<Compared>,
}

/// What changes for a client's RPCs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RpcChange {
    /// Some RPCs go elsewhere, or have another deadline or other retries.
    Elsewhere,
    /// No RPC goes elsewhere or has another deadline or other retries.
    Unchanged,
    /// RPCs were not compared, or not all of them.
    NotKnown,
}

impl Answer {
    fn rpcs(&self) -> RpcChange {
        if self.worlds.iter().any(|compared| compared.diff.moves_rpcs()) {
            RpcChange::Elsewhere
        } else if self.worlds.iter().any(Compared::leaves_rpcs_open) {
            RpcChange::NotKnown
        } else {
            RpcChange::Unchanged
        }
    }
}

/// All changes, and the clients for which they hold.
pub struct Report {
    /// The answers; each is for other clients.
    pub answers: Vec<Answer>,
    /// Every client that was asked.
    pub fleet: Fleet,
    /// Where the clients are named, if not in an argument.
    pub fleet_from: Option<String>,
    /// The only channel that was compared, if one was named.
    pub target: Option<String>,
    /// What was not compared.
    pub not_checked: Vec<NotChecked>,
}

impl Report {
    /// Names the clients that were asked, and says where they are named.
    pub fn asked(&self) -> String {
        clients::asked_from(&self.fleet, self.fleet_from.as_deref())
    }

    /// Says for which clients an answer holds; `None` if it holds for all that were asked.
    pub fn who(&self, answer: &Answer) -> Option<String> {
        (self.answers.len() > 1).then(|| self.fleet.describe(&answer.clients))
    }

    /// Returns the clients whose RPCs have this kind of change, in the order in which they were
    /// asked.
    pub(crate) fn of_rpcs(&self, what: RpcChange) -> Vec<profile::Client> {
        let mut clients: Vec<profile::Client> = self
            .answers
            .iter()
            .filter(|answer| answer.rpcs() == what)
            .flat_map(|answer| answer.clients.iter().copied())
            .collect();
        clients.sort_by_key(|client| self.fleet.clients().iter().position(|asked| asked == client));
        clients
    }

    /// Says for which clients RPCs go elsewhere; `None` if it is known and the same for all.
    fn rpcs_line(&self) -> Option<String> {
        let parts = [
            (RpcChange::Elsewhere, "RPCs go elsewhere in"),
            (RpcChange::Unchanged, "not in"),
            (RpcChange::NotKnown, "not known of"),
        ];
        let said: Vec<String> = parts
            .into_iter()
            .map(|(what, words)| (words, self.of_rpcs(what)))
            .filter(|(_, clients)| !clients.is_empty())
            .map(|(words, clients)| format!("{words} {}", self.fleet.describe(&clients)))
            .collect();
        let has_some = self.answers.iter().any(|answer| answer.rpcs() == RpcChange::Elsewhere);
        (has_some && said.len() > 1).then(|| said.join("; "))
    }

    /// Returns the lines at the end of every report for people.
    pub(crate) fn last_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.rpcs_line().into_iter().collect();
        lines.extend(not_checked::line(&self.not_checked));
        let of_channel = self.target.iter();
        lines.extend(of_channel.map(|target| format!("compared: what a channel to {target} uses")));
        lines.push(format!("asked: {}", self.asked()));
        lines
    }
}

/// How the report looks.
#[derive(Clone, Copy)]
pub(crate) struct DiffStyle {
    pub all: bool,
    pub colour: bool,
}

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
pub(crate) const CHANGED: Style = AnsiColor::Yellow.on_default();
const HEAD: Style = Style::new().bold();

impl DiffStyle {
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        edge::paint(style, self.colour, text)
    }

    /// Returns how many things are shown of those that are cut to this many without `--all`.
    const fn most(self, shown: usize) -> usize {
        if self.all { usize::MAX } else { shown }
    }

    /// Writes the first [`SHOWN`] items, and how many more there are.
    fn each<T>(
        self,
        items: &[T],
        what: &str,
        out: &mut dyn Write,
        mut write: impl FnMut(&T, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let shown = self.most(SHOWN);
        items.iter().take(shown).try_for_each(|item| write(item, out))?;
        match items.len().saturating_sub(shown) {
            0 => Ok(()),
            rest => say!(out, "    {rest} more {what}, --all shows them"),
        }
    }
}

/// Writes what changes.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(report: &Report, all: bool, colour: bool, out: &mut dyn Write) -> io::Result<()> {
    let style = DiffStyle { all, colour };
    for (number, answer) in report.answers.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        if let Some(who) = report.who(answer) {
            say!(out, "{}", style.paint(HEAD, &format!("for {who}")))?;
        }
        worlds(&answer.worlds, style, out)?;
    }
    let mut worlds = report.answers.iter().flat_map(|answer| &answer.worlds);
    if worlds.any(|compared| !compared.diff.is_empty()) {
        writeln!(out)?;
    }
    report.last_lines().iter().try_for_each(|line| say!(out, "{line}"))
}

/// Returns the changes as text, so that equal texts of two clients are written once.
pub fn text(compared: &[Compared]) -> String {
    let style = DiffStyle {
        all: true,
        colour: false,
    };
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = worlds(compared, style, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn worlds(compared: &[Compared], style: DiffStyle, out: &mut dyn Write) -> io::Result<()> {
    if compared.iter().all(|compared| compared.diff.is_empty()) {
        return say!(out, "nothing changes for a client");
    }
    for compared in compared.iter().filter(|compared| !compared.diff.is_empty()) {
        if !compared.world.is_empty() {
            match compared.presence {
                Presence::Both => say!(out, "{}", style.paint(HEAD, &compared.world))?,
                Presence::Added | Presence::Removed => {
                    came_or_went(compared, style, out)?;
                    continue;
                }
            }
        }
        for change in &compared.diff.resources {
            resource(change, style, out)?;
        }
        if compared.diff.moves_rpcs() {
            writeln!(out)?;
            say!(out, "{}", style.paint(HEAD, "For RPCs"))?;
            RpcEffects { compared, style }.write(out)?;
        }
        access::write(compared, style, out)?;
    }
    Ok(())
}

/// Writes that a world has appeared or disappeared, with all its resources in one line.
pub(crate) fn came_or_went(compared: &Compared, style: DiffStyle, out: &mut dyn Write) -> io::Result<()> {
    let is_rejected = |change: &&ResourceChange| matches!(change.after, State::Rejected(_));
    let (sign, colour, what, client) = match compared.presence {
        Presence::Removed => ('-', REMOVED, "is gone", &compared.before),
        Presence::Added | Presence::Both => ('+', ADDED, "is new", &compared.after),
    };
    let name = style.paint(colour, &format!("{sign} {}", compared.world));
    let resources = plural(client.resources.count(), "resource");
    let rejected = match compared.diff.resources.iter().filter(is_rejected).count() {
        0 => String::new(),
        count => format!(", {count} of them rejected"),
    };
    say!(out, "{name}: the world {what}, with {resources}{rejected}")
}

/// Returns the name of the virtual host at this place.
fn host_name(routes: &RouteConfiguration, at: Option<usize>) -> Option<&str> {
    Some(&routes.virtual_hosts.get(at?)?.name)
}

/// Writes the differences in a resource.
pub(crate) fn resource(change: &ResourceChange, style: DiffStyle, out: &mut dyn Write) -> io::Result<()> {
    let (sign, colour) = match (&change.before, &change.after) {
        (State::Absent, _) => ('+', ADDED),
        (_, State::Absent) => ('-', REMOVED),
        _ => ('~', CHANGED),
    };
    let kind = change.resource_type.short_name();
    let name = style.paint(colour, &format!("{sign} {kind} {}", change.name));
    say!(out, "{name}{}", verdict(&change.before, &change.after))?;
    style.each(&change.fields, "fields", out, |change, out| field(change, style, out))
}

/// Says in words how the verdict changes.
pub(crate) fn verdict(before: &State, after: &State) -> String {
    // The message already says that the resource is rejected.
    let why = |text: &str| text.strip_prefix("rejected, ").unwrap_or(text).to_owned();
    match (before, after) {
        (State::Accepted, State::Rejected(is)) => format!(": is rejected now: {}", why(is)),
        (State::Accepted, State::Kept(is)) => {
            format!(": a newer version is rejected, the one before stays: {}", why(is))
        }
        (State::Absent, State::Rejected(is) | State::Kept(is)) => format!(": is rejected: {}", why(is)),
        (State::Rejected(_) | State::Kept(_), State::Accepted) => ": is accepted now".to_owned(),
        (State::Rejected(was), State::Rejected(is)) | (State::Kept(was), State::Kept(is)) if was != is => {
            format!(": is rejected for another reason: {}", why(is))
        }
        (State::Rejected(_), State::Kept(_)) => ": an earlier version is in use now".to_owned(),
        (_, State::NotKnown) => ": it is not known whether the client takes it".to_owned(),
        (State::NotKnown, State::Rejected(is) | State::Kept(is)) => {
            format!(": is rejected, and it is not known whether it was: {}", why(is))
        }
        (State::NotKnown, State::Accepted) => ": is accepted, and it is not known whether it was".to_owned(),
        (State::Kept(_), State::Rejected(is)) => {
            format!(": no earlier version is in use any more: {}", why(is))
        }
        _ => String::new(),
    }
}

fn field(change: &FieldChange, style: DiffStyle, out: &mut dyn Write) -> io::Result<()> {
    let value = |value: &ComparedValue| {
        let text = value.to_string();
        if style.all || text.chars().count() <= VALUE_CHARS {
            return text;
        }
        let kept: String = text.chars().take(VALUE_CHARS).collect();
        format!("{kept}…")
    };
    let path = &change.path;
    match &change.kind {
        ChangeKind::Added(new) => say!(out, "    {}", style.paint(ADDED, &format!("+ {path}: {}", value(new)))),
        ChangeKind::Removed(old) => say!(
            out,
            "    {}",
            style.paint(REMOVED, &format!("- {path}: {}", value(old)))
        ),
        ChangeKind::Changed(old, new) => say!(out, "    {path}: {} → {}", value(old), value(new)),
        ChangeKind::Moved => say!(out, "    {path}: stands in another place of the list"),
    }
}
