//! The answer of `diff` for people: what differs in each resource, then what that means for RPCs.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{edge, listed, plural};
use xdsctl::client::Client;
use xdsctl::diff::clusters::ClusterChange;
use xdsctl::diff::hosts::HostChange;
use xdsctl::diff::reach::Reach;
use xdsctl::diff::tables::{Goes, Move, Outcome};
use xdsctl::diff::told::Told;
use xdsctl::diff::values::{ChangeKind, FieldChange};
use xdsctl::diff::{Diff, ResourceChange, RouteChange, State};
use xdsctl::model::RouteConfiguration;
use xdsctl::rpc::words;
use xdsctl::text::share_of_one;

/// Lines of one kind that are shown of one resource, virtual host or cluster without `--all`.
const SHOWN: usize = 20;

/// Clusters that RPCs go to which are named of each kind of RPCs without `--all`.
const SHARES_SHOWN: usize = 10;

/// Characters of a value that are shown without `--all`.
const VALUE_CHARS: usize = 120;

/// On which sides a client is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Before and after.
    Both,
    /// After only.
    Added,
    /// Before only.
    Removed,
}

/// Two states of one client, and what changes.
pub struct Compared {
    /// What the client is called; empty if there is only one.
    pub world: String,
    /// Whether it came or went.
    pub presence: Presence,
    /// What it held.
    pub before: Client,
    /// What it holds.
    pub after: Client,
    /// What changes.
    pub diff: Diff,
}

/// How it is written.
#[derive(Clone, Copy)]
struct Look {
    all: bool,
    colour: bool,
}

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const CHANGED: Style = AnsiColor::Yellow.on_default();
const HEAD: Style = Style::new().bold();

impl Look {
    fn paint(self, style: Style, text: &str) -> String {
        edge::paint(style, self.colour, text)
    }
}

/// Writes what changes.
///
/// # Errors
/// The output cannot be written.
pub fn write(compared: &[Compared], all: bool, colour: bool, out: &mut dyn Write) -> io::Result<()> {
    let look = Look { all, colour };
    if compared.iter().all(|compared| compared.diff.is_empty()) {
        return say!(out, "nothing changes for a client");
    }
    for compared in compared.iter().filter(|compared| !compared.diff.is_empty()) {
        if !compared.world.is_empty() {
            match compared.presence {
                Presence::Both => say!(out, "{}", look.paint(HEAD, &compared.world))?,
                Presence::Added | Presence::Removed => {
                    came_or_went(compared, look, out)?;
                    continue;
                }
            }
        }
        for change in &compared.diff.resources {
            resource(change, look, out)?;
        }
        let effects = Effects { compared, look };
        effects.write(out)?;
    }
    Ok(())
}

/// A world that came or went, all its resources in one line.
fn came_or_went(compared: &Compared, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let is_rejected = |change: &&ResourceChange| matches!(change.after, State::Rejected(_));
    let (sign, style, what, client) = match compared.presence {
        Presence::Removed => ('-', REMOVED, "is gone", &compared.before),
        Presence::Added | Presence::Both => ('+', ADDED, "is new", &compared.after),
    };
    let name = look.paint(style, &format!("{sign} {}", compared.world));
    let resources = plural(client.resources.count(), "resource");
    let rejected = match compared.diff.resources.iter().filter(is_rejected).count() {
        0 => String::new(),
        count => format!(", {count} of them rejected"),
    };
    say!(out, "{name}: the world {what}, with {resources}{rejected}")
}

fn resource(change: &ResourceChange, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let (sign, style) = match (&change.before, &change.after) {
        (State::Absent, _) => ('+', ADDED),
        (_, State::Absent) => ('-', REMOVED),
        _ => ('~', CHANGED),
    };
    let kind = change.resource_type.short_name();
    let name = look.paint(style, &format!("{sign} {kind} {}", change.name));
    say!(out, "{name}{}", verdict(&change.before, &change.after))?;
    let shown = if look.all { usize::MAX } else { SHOWN };
    for change in change.fields.iter().take(shown) {
        field(change, look, out)?;
    }
    more(change.fields.len(), shown, "fields", out)
}

/// What is said of a verdict.
fn verdict(before: &State, after: &State) -> String {
    // The verdict itself is said here.
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
        (State::Kept(_), State::Rejected(is)) => {
            format!(": no earlier version is in use any more: {}", why(is))
        }
        _ => String::new(),
    }
}

fn more(count: usize, shown: usize, what: &str, out: &mut dyn Write) -> io::Result<()> {
    match count.saturating_sub(shown) {
        0 => Ok(()),
        rest => say!(out, "    {rest} more {what}, --all shows them"),
    }
}

fn field(change: &FieldChange, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let value = |value: &Told| {
        let text = value.to_string();
        if look.all || text.chars().count() <= VALUE_CHARS {
            return text;
        }
        let kept: String = text.chars().take(VALUE_CHARS).collect();
        format!("{kept}…")
    };
    let path = &change.path;
    match &change.kind {
        ChangeKind::Added(new) => say!(out, "    {}", look.paint(ADDED, &format!("+ {path}: {}", value(new)))),
        ChangeKind::Removed(old) => say!(out, "    {}", look.paint(REMOVED, &format!("- {path}: {}", value(old)))),
        ChangeKind::Changed(old, new) => say!(out, "    {path}: {} → {}", value(old), value(new)),
        ChangeKind::Moved => say!(out, "    {path}: stands in another place of the list"),
    }
}

/// What the changes mean for RPCs.
struct Effects<'a> {
    compared: &'a Compared,
    look: Look,
}

impl Effects<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let diff = &self.compared.diff;
        if !diff.moves_rpcs() {
            return Ok(());
        }
        writeln!(out)?;
        say!(out, "{}", self.look.paint(HEAD, "For RPCs"))?;
        for change in &diff.routes {
            self.routes(change, out)?;
        }
        for Reach { name, works } in &diff.targets {
            say!(out, "  to {name}")?;
            match works {
                true => say!(out, "    has routes now")?,
                false => say!(out, "    has no routes any more: every RPC fails")?,
            }
        }
        for change in &diff.clusters {
            cluster(change, self.look, out)?;
        }
        for Reach { name, works } in &diff.reach {
            say!(out, "  cluster {name}")?;
            match works {
                true => say!(out, "    is there now: RPCs to it no longer fail")?,
                false => say!(
                    out,
                    "    is lost: RPCs to it fail, and an aggregate cluster passes over it"
                )?,
            }
        }
        Ok(())
    }

    fn routes(&self, change: &RouteChange, out: &mut dyn Write) -> io::Result<()> {
        let what = match change.listeners.as_slice() {
            [] => format!("RouteConfiguration {}", change.after.as_deref().unwrap_or_default()),
            [one] => format!("to {one}"),
            [one, rest @ ..] => format!("to {one} and {} more", rest.len()),
        };
        say!(out, "  {what}")?;
        let shown = if self.look.all { usize::MAX } else { SHOWN };
        for host in change.changes.hosts.iter().take(shown) {
            self.host(host, change, out)?;
        }
        more(change.changes.hosts.len(), shown, "virtual hosts", out)
    }

    fn host(&self, host: &HostChange, change: &RouteChange, out: &mut dyn Write) -> io::Result<()> {
        let (before, after) = (&change.tables.0, &change.tables.1);
        let name = |routes: &RouteConfiguration, at: usize| {
            let host = routes.virtual_hosts.get(at);
            host.map(|host| host.name.clone()).unwrap_or_default()
        };
        let domains = self.some(&host.domains);
        match (host.before, host.after) {
            (Some(_), None) => {
                return say!(
                    out,
                    "    authority {domains}: no virtual host any more, every RPC fails"
                );
            }
            (None, Some(at)) => {
                return say!(
                    out,
                    "    authority {domains}: has a virtual host now, `{}`",
                    name(after, at)
                );
            }
            (Some(one), Some(other)) if name(before, one) != name(after, other) => {
                let (one, other) = (name(before, one), name(after, other));
                say!(out, "    authority {domains}, virtual host `{one}` → `{other}`")?;
            }
            _ => say!(out, "    authority {domains}")?,
        }
        let shown = if self.look.all { usize::MAX } else { SHOWN };
        for moved in host.moves.moves.iter().take(shown) {
            self.moved(moved, host, change, out)?;
        }
        more(host.moves.moves.len(), shown, "kinds of RPCs", out)
    }

    fn moved(&self, moved: &Move, host: &HostChange, change: &RouteChange, out: &mut dyn Write) -> io::Result<()> {
        let (before, after) = (&change.tables.0, &change.tables.1);
        let route = |routes: &RouteConfiguration, host: Option<usize>, outcome: &Outcome| {
            let host = host.and_then(|at| routes.virtual_hosts.get(at));
            let route = host.zip(outcome.route).and_then(|(host, at)| host.routes.get(at));
            route.map(|route| (words::route_label(route), words::route_match(route, true)))
        };
        let taken_after = route(after, host.after, &moved.after);
        let taken = taken_after.or_else(|| route(before, host.before, &moved.before));
        let rpcs = match (&moved.example, taken) {
            (Some(example), Some((label, _))) => format!("{example} ({label})"),
            (Some(example), None) => example.to_string(),
            (None, Some((label, matches))) => format!("perhaps what matches {matches} ({label})"),
            (None, None) => "perhaps some RPCs".to_owned(),
        };
        let (was, is) = (
            self.goes(&moved.before, &self.compared.before),
            self.goes(&moved.after, &self.compared.after),
        );
        say!(out, "      {}: {was} → {is}", self.look.paint(CHANGED, &rpcs))
    }

    fn goes(&self, outcome: &Outcome, client: &Client) -> String {
        let one = |goes: &Goes| match goes {
            Goes::Cluster(name) => match client.resources.clusters.get(name) {
                None => format!("{name} (there is no such cluster)"),
                Some(held) if !held.is_accepted() => format!("{name} (it is rejected)"),
                Some(_) => name.clone(),
            },
            Goes::Plugin(name) => format!("plugin {name}"),
            Goes::Fails if outcome.route.is_none() => "no route, it fails".to_owned(),
            Goes::Fails => "a route without a cluster, it fails".to_owned(),
        };
        match outcome.goes.as_slice() {
            [(goes, _)] => one(goes),
            goes => {
                let shown = if self.look.all { usize::MAX } else { SHARES_SHOWN };
                let share = |(goes, share): &(Goes, f64)| format!("{} {}", share_of_one(*share), one(goes));
                listed(goes.iter().map(share), shown)
            }
        }
    }

    fn some(&self, domains: &[String]) -> String {
        let shown = if self.look.all { usize::MAX } else { 3 };
        listed(domains.iter().map(|domain| format!("`{domain}`")), shown)
    }
}

fn cluster(change: &ClusterChange, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let ClusterChange { name, spread } = change;
    say!(out, "  cluster {name}")?;
    let shown = if look.all { usize::MAX } else { SHOWN };
    if let Some((before, after)) = &spread.endpoints {
        let list = |counts: &[usize]| match counts {
            [] => "none".to_owned(),
            [one] => one.to_string(),
            counts => {
                let of = counts
                    .iter()
                    .enumerate()
                    .map(|(priority, count)| format!("P{priority} {count}"));
                of.collect::<Vec<_>>().join(", ")
            }
        };
        say!(out, "    endpoints: {} → {}", list(before), list(after))?;
    }
    for share in spread.shares.iter().take(shown) {
        let (before, after) = (share_of_one(share.before), share_of_one(share.after));
        let name = if share.locality.is_empty() {
            "without a name"
        } else {
            &share.locality
        };
        say!(
            out,
            "    locality {name} of P{}: {before} → {after} of the RPCs",
            share.priority
        )?;
    }
    more(spread.shares.len(), shown, "localities", out)?;
    if let Some(share) = spread.ring_moves {
        say!(
            out,
            "    ring: {} of all request hashes go to another endpoint",
            share_of_one(share)
        )?;
    }
    if !spread.lost_sessions.is_empty() {
        let limit = if look.all { usize::MAX } else { 5 };
        let addresses = listed(spread.lost_sessions.iter().map(ToString::to_string), limit);
        say!(out, "    sessions with {addresses} are picked anew")?;
    }
    Ok(())
}
