//! The report of `diff` for a pull request: a comment, and annotations beside the lines of the new
//! configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

use super::access;
use super::effects::{RpcEffects, cluster, reach, target};
use super::{Compared, DiffStyle, Presence, Report, came_or_went, resource, verdict};
use crate::findings::github::{Note, write_not_checked, write_notes};
use crate::findings::markdown::{MAX_COMMENT_BYTES, inline};
use crate::findings::not_checked::NotCheckedKind;
use crate::paths::PrintedPaths;
use crate::plural;
use xdsctl_channel::client::{Store, World, WorldSet};
use xdsctl_document::envelope::{Origin, WorldId, WorldName};
use xdsctl_lint::diff::{RouteChange, State};
use xdsctl_model::diag::Severity;
use xdsctl_model::resource::ResourceType;

/// Places of resources by their types and names.
pub type Origins = BTreeMap<(ResourceType, String), Origin>;

/// The places of the resources of a world.
#[derive(Default, Clone)]
pub struct ResourcePlaces {
    /// The places that are known.
    pub origins: Origins,
    /// The documents, to find line numbers; `None` if nobody asks for line numbers.
    pub store: Option<Arc<Store>>,
}

impl ResourcePlaces {
    /// Returns the places of the resources of each world, in the order of the worlds.
    pub fn of(world_set: &WorldSet) -> Vec<(WorldName, Origins)> {
        let place = |number: &usize| {
            let checked = world_set.resources.get(*number)?;
            Some(((checked.resource_type?, checked.name.clone()), checked.origin))
        };
        let world = |world: &World| {
            let WorldId(number) = world.id;
            let name = world_set.names.get(number as usize)?.clone();
            Some((name, world.members.iter().filter_map(place).collect()))
        };
        world_set.worlds.iter().filter_map(world).collect()
    }

    /// Returns file and line of the first of these resources that is in a file.
    fn find(&self, wanted: &[(ResourceType, &str)], paths: &PrintedPaths) -> Option<(String, usize)> {
        let sources = &self.store.as_ref()?.sources;
        wanted.iter().find_map(|(resource_type, name)| {
            let origin = self.origins.get(&(*resource_type, (*name).to_owned()))?;
            let source = sources.get(origin.source)?;
            // A document from an earlier commit or from a pipe has no line that could be shown.
            let is_file = source.name() != "-" && !source.name().starts_with("git:");
            let line = source.line_column(origin.span.start).line;
            is_file.then(|| (paths.relative(source.name()), line))
        })
    }
}

const STYLE: DiffStyle = DiffStyle {
    all: false,
    colour: false,
};

/// Returns the output of a writing function as text.
fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<String> {
    let mut bytes = Vec::new();
    write(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes a comment: the effects on RPCs first, then the resources, folded.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_markdown(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let worlds = report.answers.iter().flat_map(|answer| &answer.worlds);
    let changed: Vec<&Compared> = worlds.filter(|compared| !compared.diff.is_empty()).collect();
    let names: BTreeSet<(&str, ResourceType, &str)> = changed
        .iter()
        .flat_map(|compared| {
            let of_world = compared.diff.resources.iter();
            of_world.map(|change| (compared.world.as_str(), change.resource_type, change.name.as_str()))
        })
        .collect();
    let resources = names.len();
    let access = match changed.iter().any(|compared| !compared.diff.access.is_empty()) {
        true => ", access to servers changes",
        false => "",
    };
    let rpcs = match changed.iter().any(|compared| compared.diff.moves_rpcs()) {
        true => "RPCs go elsewhere",
        false
            if report
                .not_checked
                .iter()
                .any(|entry| entry.kind == NotCheckedKind::Rpcs) =>
        {
            "not all RPCs are compared"
        }
        false => "no RPC goes elsewhere",
    };
    let verdicts = match changed.iter().any(|compared| compared.diff.changes_verdicts()) {
        true => ", verdicts change",
        false => "",
    };
    match resources {
        0 => writeln!(out, "### xdsctl diff: nothing changes for a client")?,
        count => writeln!(
            out,
            "### xdsctl diff: {rpcs}{access}{verdicts}, {} changed",
            plural(count, "resource")
        )?,
    }
    let mut left = MAX_COMMENT_BYTES;
    for answer in &report.answers {
        let changed: Vec<&Compared> = answer.worlds.iter().filter(|one| !one.diff.is_empty()).collect();
        if let Some(who) = report.who(answer).filter(|_| resources > 0) {
            let nothing = if changed.is_empty() { ": nothing changes" } else { "" };
            writeln!(out, "\n### For {}{nothing}", inline(&who))?;
        }
        write_worlds(&changed, &mut left, out)?;
    }
    let lines = report.last_lines();
    lines.iter().try_for_each(|line| writeln!(out, "\n{}", inline(line)))?;
    out.flush()
}

fn write_worlds(changed: &[&Compared], left: &mut usize, out: &mut dyn Write) -> io::Result<()> {
    for compared in changed {
        let is_said_once = compared.presence != Presence::Both && !compared.world.is_empty();
        if is_said_once {
            block(&text(|out| came_or_went(compared, STYLE, out))?, left, out)?;
            continue;
        }
        if !compared.world.is_empty() {
            writeln!(out, "\n#### {}", inline(&compared.world))?;
        }
        let (style, effects) = (STYLE, RpcEffects { compared, style: STYLE });
        if compared.diff.moves_rpcs() {
            writeln!(out, "\nFor RPCs")?;
            block(&text(|out| effects.write(out))?, left, out)?;
        }
        for words in compared.diff.access.iter().filter_map(access::opened) {
            writeln!(out, "\n**{}**", inline(&words))?;
        }
        if !compared.diff.access.is_empty() {
            block(&text(|out| access::write(compared, style, out))?, left, out)?;
        }
        let count = plural(compared.diff.resources.len(), "resource");
        writeln!(out, "\n<details><summary>{count} changed</summary>")?;
        let all = |out: &mut dyn Write| {
            let mut changes = compared.diff.resources.iter();
            changes.try_for_each(|change| resource(change, style, out))
        };
        block(&text(all)?, left, out)?;
        writeln!(out, "\n</details>")?;
    }
    Ok(())
}

/// Writes as many lines as fit, unchanged, in a code block.
fn block(text: &str, left: &mut usize, out: &mut dyn Write) -> io::Result<()> {
    let fits = |line: &&str| {
        let rest = left.checked_sub(line.len() + 1);
        *left = rest.unwrap_or(0);
        rest.is_some()
    };
    let all = text.lines().count();
    let lines: Vec<&str> = text.lines().take_while(fits).collect();
    let omitted = all - lines.len();
    // The fence is longer than any run of backticks, so no line can end the block.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    writeln!(out, "\n{fence}text")?;
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    if omitted > 0 {
        let lines = plural(omitted, "more line");
        writeln!(
            out,
            "{lines} do not fit: a comment has {MAX_COMMENT_BYTES} bytes for them"
        )?;
    }
    writeln!(out, "{fence}")
}

/// Writes annotations: new rejections first, then where RPCs go.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_github(report: &Report, paths: &PrintedPaths, out: &mut dyn Write) -> io::Result<()> {
    let mut notes = Vec::new();
    for answer in &report.answers {
        let before = notes.len();
        for compared in &answer.worlds {
            of_world(compared, paths, &mut notes)?;
        }
        if let Some(who) = report.who(answer) {
            let new = notes.iter_mut().skip(before);
            new.for_each(|note| note.message = format!("{who}: {}", note.message));
        }
    }
    write_notes(notes, out)?;
    write_not_checked(&report.not_checked, out)?;
    out.flush()
}

fn of_world(compared: &Compared, paths: &PrintedPaths, notes: &mut Vec<Note>) -> io::Result<()> {
    let mut add = |severity, title: &'static str, wanted: &[(ResourceType, &str)], said: String| {
        let place = compared.places.find(wanted, paths);
        let (file, line) = place.map_or((String::new(), None), |(file, line)| (file, Some(line)));
        // The lines are indented because they are usually below a heading.
        let message = said.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
        let message = message.collect::<Vec<_>>().join("\n");
        notes.push(Note {
            severity,
            rule: title,
            file,
            region: line.map(|line| [line, 1, line, 1]),
            message: match compared.world.as_str() {
                "" => message,
                world => format!("{world}: {message}"),
            },
        });
    };
    for change in compared.diff.resources.iter().filter(|change| change.changes_verdict()) {
        let kind = change.resource_type.short_name();
        let said = format!("{kind} {}{}", change.name, verdict(&change.before, &change.after));
        let is_worse = matches!(change.after, State::Rejected(_) | State::Kept(_));
        let (severity, title) = match is_worse {
            true => (Severity::Error, "rejected"),
            false => (Severity::Note, "no longer rejected"),
        };
        add(severity, title, &[(change.resource_type, change.name.as_str())], said);
    }
    if compared.presence != Presence::Both && !compared.world.is_empty() {
        add(
            Severity::Warning,
            "world",
            &[],
            text(|out| came_or_went(compared, STYLE, out))?,
        );
        return Ok(());
    }
    for server in &compared.diff.access {
        let wanted = [(ResourceType::Listener, server.listener.as_str())];
        let (severity, title) = match access::opened(server) {
            Some(_) => (Severity::Error, "access for everyone"),
            None => (Severity::Warning, "access changes"),
        };
        add(
            severity,
            title,
            &wanted,
            text(|out| access::of_server(server, STYLE, out))?,
        );
    }
    let (warning, moved) = (Severity::Warning, "RPCs go elsewhere");
    let effects = RpcEffects { compared, style: STYLE };
    for change in &compared.diff.routes {
        add(
            warning,
            moved,
            &tables(change),
            text(|out| effects.routes(change, out))?,
        );
    }
    for change in &compared.diff.targets {
        let wanted = [(ResourceType::Listener, change.name.as_str())];
        add(warning, moved, &wanted, text(|out| target(change, out))?);
    }
    for change in &compared.diff.clusters {
        let held = compared.after.resources.clusters.get(&change.name);
        let endpoints = held.and_then(|held| held.value()?.discovery.eds_name(&change.name));
        let is_changed = |name: &&str| {
            let mut changes = compared.diff.resources.iter();
            changes.any(|changed| changed.resource_type == ResourceType::Endpoints && changed.name == **name)
        };
        let endpoints = endpoints.filter(is_changed).map(|name| (ResourceType::Endpoints, name));
        let wanted: Vec<_> = endpoints
            .into_iter()
            .chain([(ResourceType::Cluster, change.name.as_str())])
            .collect();
        add(warning, moved, &wanted, text(|out| cluster(change, STYLE, out))?);
    }
    for change in &compared.diff.reach {
        let wanted = [(ResourceType::Cluster, change.name.as_str())];
        add(warning, moved, &wanted, text(|out| reach(change, out))?);
    }
    Ok(())
}

/// Returns the resources that hold the routes: the RouteConfiguration, or else a Listener.
fn tables(change: &RouteChange) -> Vec<(ResourceType, &str)> {
    let routes = change
        .after
        .iter()
        .map(|name| (ResourceType::RouteConfiguration, name.as_str()));
    let listeners = change
        .listeners
        .iter()
        .map(|name| (ResourceType::Listener, name.as_str()));
    routes.chain(listeners).collect()
}
