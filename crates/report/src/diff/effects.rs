//! The effects of changes on RPCs, for people.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::SocketAddr;

use super::{CHANGED, Compared, DiffStyle, host_name};
use crate::{listed, plural};
use xdsctl_channel::client::Client;
use xdsctl_channel::rpc::words;
use xdsctl_lint::diff::RouteChange;
use xdsctl_lint::diff::care::{self, Care};
use xdsctl_lint::diff::clusters::{ClusterChange, SpreadChange};
use xdsctl_lint::diff::hosts::HostChange;
use xdsctl_lint::diff::reach::ReachChange;
use xdsctl_lint::diff::tables::{Goes, Move, TableOutcome};
use xdsctl_model::resource::RouteConfiguration;
use xdsctl_model::text::share_of_one;

/// Most clusters that are named as destinations for a kind of RPCs, without `--all`.
const SHARES_SHOWN: usize = 10;

/// Writes the effects of the changes on RPCs.
pub(super) struct RpcEffects<'a> {
    pub compared: &'a Compared,
    pub style: DiffStyle,
}

impl RpcEffects<'_> {
    /// Writes all effects.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let diff = &self.compared.diff;
        for change in &diff.routes {
            self.routes(change, out)?;
        }
        for change in &diff.targets {
            target(change, out)?;
        }
        for change in &diff.clusters {
            cluster(change, self.style, out)?;
        }
        diff.reach.iter().try_for_each(|change| reach(change, out))
    }

    /// Writes where the RPCs of listeners go.
    pub(super) fn routes(&self, change: &RouteChange, out: &mut dyn Write) -> io::Result<()> {
        let what = match change.listeners.as_slice() {
            [] => format!("RouteConfiguration {}", change.after.as_deref().unwrap_or_default()),
            [one] => format!("to {one}"),
            [one, rest @ ..] => format!("to {one} and {} more", rest.len()),
        };
        say!(out, "  {what}")?;
        for why in &change.fails {
            say!(out, "    RPCs fail: {why}")?;
        }
        let hosts = &change.changes.hosts;
        self.style
            .each(hosts, "virtual hosts", out, |host, out| self.host(host, change, out))
    }

    fn host(&self, host: &HostChange, change: &RouteChange, out: &mut dyn Write) -> io::Result<()> {
        let was = host_name(&change.tables.0, host.before).unwrap_or_default();
        let is = host_name(&change.tables.1, host.after).unwrap_or_default();
        let domains = self.some(&host.domains);
        match (host.before, host.after) {
            (Some(_), None) => {
                return say!(
                    out,
                    "    authority {domains}: no virtual host any more, every RPC fails"
                );
            }
            (None, Some(_)) => {
                return say!(out, "    authority {domains}: has a virtual host now, `{is}`");
            }
            (Some(_), Some(_)) if was != is => {
                say!(out, "    authority {domains}, virtual host `{was}` → `{is}`")?;
            }
            _ => say!(out, "    authority {domains}")?,
        }
        self.style.each(&host.moves.moves, "kinds of RPCs", out, |moved, out| {
            self.moved(moved, host, change, out)
        })
    }

    fn moved(&self, moved: &Move, host: &HostChange, change: &RouteChange, out: &mut dyn Write) -> io::Result<()> {
        let (before, after) = (&change.tables.0, &change.tables.1);
        let route = |routes: &RouteConfiguration, host: Option<usize>, outcome: &TableOutcome| {
            let host = host.and_then(|at| routes.virtual_hosts.get(at));
            let route = host.zip(outcome.route).and_then(|(host, at)| host.routes.get(at));
            route.map(|route| (route.label(), words::route_match(route, true)))
        };
        let taken_after = route(after, host.after, &moved.after);
        let taken = taken_after.or_else(|| route(before, host.before, &moved.before));
        let mut rpcs = match (&moved.example, taken) {
            (Some(example), Some((label, _))) => format!("{example} ({label})"),
            (Some(example), None) => example.to_string(),
            (None, Some((label, matches))) => format!("perhaps what matches {matches} ({label})"),
            (None, None) => "perhaps some RPCs".to_owned(),
        };
        if !moved.others.is_empty() {
            let _ = write!(rpcs, " and those of {}", plural(moved.others.len(), "other route"));
        }
        let rpcs = self.style.paint(CHANGED, &rpcs);
        if !moved.goes_elsewhere() {
            say!(out, "      {rpcs}")?;
        } else {
            let (was, is) = (
                self.goes(&moved.before, &self.compared.before),
                self.goes(&moved.after, &self.compared.after),
            );
            say!(out, "      {rpcs}: {was} → {is}")?;
        }
        care(moved, out)
    }

    fn goes(&self, outcome: &TableOutcome, client: &Client) -> String {
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
                let share = |(goes, share): &(Goes, f64)| format!("{} {}", share_of_one(*share), one(goes));
                listed(goes.iter().map(share), self.style.most(SHARES_SHOWN))
            }
        }
    }

    fn some(&self, domains: &[String]) -> String {
        let domains = domains.iter().map(|domain| format!("`{domain}`"));
        listed(domains, self.style.most(3))
    }
}

/// A part of the care for RPCs, and the function that puts it in words.
type CarePart = (&'static str, fn(&Care) -> String);

const CARE_PARTS: [CarePart; 2] = [("deadline", Care::deadline_words), ("retries", Care::retry_words)];

/// Writes how deadlines and retries change, if they do.
fn care(moved: &Move, out: &mut dyn Write) -> io::Result<()> {
    if !moved.is_cared_for_otherwise() {
        return Ok(());
    }
    let (before, after) = (&moved.before.care, &moved.after.care);
    let mut is_told = false;
    for (what, of) in CARE_PARTS {
        let (was, is) = (care::words(before, of), care::words(after, of));
        if was != is {
            is_told = true;
            say!(out, "        {what}: {was} → {is}")?;
        }
    }
    match is_told {
        true => Ok(()),
        false => say!(out, "        deadlines and retries are those of other RPCs than before"),
    }
}

/// Writes that a channel has gained or lost its routes.
pub(super) fn target(change: &ReachChange, out: &mut dyn Write) -> io::Result<()> {
    say!(out, "  to {}", change.name)?;
    match change.works {
        true => say!(out, "    has routes now"),
        false => say!(out, "    has no routes any more: every RPC fails"),
    }
}

/// Writes that a cluster has appeared or disappeared.
pub(super) fn reach(change: &ReachChange, out: &mut dyn Write) -> io::Result<()> {
    say!(out, "  cluster {}", change.name)?;
    match change.works {
        true => say!(out, "    is there now: RPCs to it no longer fail"),
        false => say!(out, "    is lost: RPCs to it fail, and an aggregate cluster skips it"),
    }
}

/// Writes what changes for the RPCs of a cluster.
pub(super) fn cluster(change: &ClusterChange, style: DiffStyle, out: &mut dyn Write) -> io::Result<()> {
    let ClusterChange {
        name,
        spread,
        fails,
        failed,
    } = change;
    say!(out, "  cluster {name}")?;
    for why in fails {
        say!(out, "    RPCs fail: {why}")?;
    }
    for why in failed {
        say!(out, "    RPCs no longer fail: {why}")?;
    }
    for (what, change) in [("from", &spread.discovery), ("LB policy", &spread.lb_policy)] {
        if let Some((before, after)) = change {
            say!(out, "    {what}: {before} → {after}")?;
        }
    }
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
        let new = match spread.new_endpoints {
            0 => String::new(),
            new => format!(", {new} of them new"),
        };
        say!(out, "    endpoints: {} → {}{new}", list(before), list(after))?;
    }
    style.each(&spread.shares, "localities", out, |share, out| {
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
        )
    })?;
    if let Some(share) = spread.ring_moves {
        say!(
            out,
            "    ring: {} of all request hashes go to another endpoint",
            share_of_one(share)
        )?;
    }
    if let Some((before, after)) = spread.drops {
        let (before, after) = (share_of_one(before), share_of_one(after));
        say!(out, "    dropped: {before} → {after} of the RPCs")?;
    }
    addresses(spread, style, out)
}

/// Writes what changes for single addresses.
fn addresses(spread: &SpreadChange, style: DiffStyle, out: &mut dyn Write) -> io::Result<()> {
    let list = |of: &[SocketAddr]| listed(of.iter().map(ToString::to_string), style.most(5));
    let (kept, drained): (Vec<SocketAddr>, Vec<SocketAddr>) = spread
        .drained
        .iter()
        .partition(|address| spread.kept_sessions.binary_search(address).is_ok());
    for (addresses, before, after) in [
        (&drained, "DRAINING now, without new RPCs: ", ""),
        (
            &kept,
            "DRAINING now, without new RPCs but those of their sessions: ",
            "",
        ),
        (&spread.undrained, "no longer DRAINING, with new RPCs: ", ""),
        (&spread.lost_sessions, "sessions with ", " are picked anew"),
    ] {
        if !addresses.is_empty() {
            say!(out, "    {before}{}{after}", list(addresses))?;
        }
    }
    Ok(())
}
