//! The answer of `simulate`: events as they happen, for people or as JSON lines, with charts below.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use anstyle::AnsiColor;
use serde_json::{Map, Value, json};

use super::chart::Chart;
use crate::edge;
use crate::masks::Masks;
use xdsctl_document::source::Source;
use xdsctl_lb::log::{Detail, LogEntry, LogEvent};
use xdsctl_lb::policy::TreePath;
use xdsctl_model::text::beginning;
use xdsctl_suite::{Listener, PlannedStep, Test};

/// Name of the schema of a line of `--format jsonl`.
const SCHEMA: &str = "xdsctl.event/v1";

/// The layers that can be chosen, and the events that each has.
const LAYERS: [(&str, &str); 15] = [
    ("step", "the steps of the file"),
    ("rpc", "RPCs that begin and end"),
    ("retry", "further attempts, and why there are none"),
    ("connection", "the state of each connection"),
    ("channel", "the state of the channel"),
    ("config", "configurations that the channel takes"),
    ("cds", "clusters that are updated, or fail"),
    ("priority", "failover"),
    (
        "override_host",
        "sessions: addresses, subchannels that are kept, sweeps",
    ),
    ("session", "what a cookie led to"),
    ("endpoints", "what each endpoint of round_robin reports"),
    ("outlier_detection", "ejections"),
    ("weighted_round_robin", "weights, when they change"),
    ("rls", "lookups, and what became of them"),
    ("load", "load reports out of band"),
];

/// Which layers are shown.
#[derive(Debug, Clone)]
pub struct Layers(Option<Vec<&'static str>>);

impl Layers {
    /// Finds the layers with these names; without names, all.
    ///
    /// # Errors
    /// If a name is not that of a layer.
    pub fn parse(names: &[String]) -> Result<Layers, String> {
        if names.is_empty() {
            return Ok(Layers(None));
        }
        let one = |name: &String| {
            let known = LAYERS.iter().map(|(layer, _)| *layer).find(|layer| layer == name);
            known.ok_or_else(|| {
                let near = xdsctl_model::text::nearest(name, LAYERS.iter().map(|(layer, _)| *layer));
                match near {
                    Some(near) => format!("--only: there is no layer `{name}`, did you mean `{near}`?"),
                    None => {
                        let all: Vec<String> = LAYERS
                            .iter()
                            .map(|(layer, about)| format!("`{layer}` ({about})"))
                            .collect();
                        format!("--only: there is no layer `{name}`; there is {}", all.join(", "))
                    }
                }
            })
        };
        names
            .iter()
            .map(one)
            .collect::<Result<_, _>>()
            .map(|layers| Layers(Some(layers)))
    }

    fn shows(&self, layer: &str) -> bool {
        self.0.as_ref().is_none_or(|layers| layers.contains(&layer))
    }
}

/// How the timeline is written.
#[derive(Debug, Clone)]
pub struct TimelineStyle {
    /// Whether the timeline is JSON for programs; if not, it is text for people.
    pub is_json: bool,
    /// Whether only the charts are written, as a picture.
    pub is_svg: bool,
    /// Whether secrets are written.
    pub shows_secrets: bool,
    /// Whether the text has colours.
    pub colour: bool,
    /// Columns of the terminal, if there is one.
    pub width: Option<usize>,
    /// Whether there are charts below the events.
    pub has_chart: bool,
    /// The layers whose events are shown.
    pub layers: Layers,
}

/// Writes events as they happen.
pub struct Timeline<'o> {
    test: &'o Test,
    source: &'o Source,
    /// The document, with secrets masked.
    text: Vec<u8>,
    style: TimelineStyle,
    out: &'o mut dyn Write,
    /// The cluster of each cds policy, by client and place in the tree.
    clusters: BTreeMap<(usize, TreePath), String>,
    chart: Chart,
    /// The last event of each child or address, by client, place and kind of event. An equal event
    /// is not written again.
    last: BTreeMap<(usize, TreePath, &'static str, Arc<str>), LogEvent>,
    /// The last event about a session, by client.
    session: BTreeMap<usize, LogEvent>,
    /// How many lines for people have been written.
    lines: usize,
    written: io::Result<()>,
}

impl<'o> Timeline<'o> {
    /// Begins a timeline.
    pub fn begin(test: &'o Test, source: &'o Source, style: TimelineStyle, out: &'o mut dyn Write) -> Timeline<'o> {
        let mut text = source.bytes().to_vec();
        Masks::suite(source, style.shows_secrets).mask(source, &mut text, 0, None);
        Timeline {
            test,
            source,
            text,
            style,
            out,
            clusters: BTreeMap::new(),
            chart: Chart::default(),
            last: BTreeMap::new(),
            session: BTreeMap::new(),
            lines: 0,
            written: Ok(()),
        }
    }

    /// Ends the timeline. Returns the number of lines for people, without those of charts.
    ///
    /// # Errors
    /// If writing failed, now or before.
    pub fn end(self) -> io::Result<usize> {
        self.written?;
        if self.style.is_svg {
            self.chart.write_svg(&self.test.name, self.out)?;
        } else if self.style.has_chart && !self.style.is_json {
            self.chart.write(self.style.width, self.style.colour, self.out)?;
        }
        self.out.flush()?;
        Ok(self.lines)
    }

    /// Returns the cluster of the nearest cds policy above a place.
    fn cluster(&self, client: usize, place: &TreePath) -> Option<&str> {
        let above = (1..=place.len()).rev().filter_map(|len| place.get(..len));
        let mut known = above.filter_map(|place| self.clusters.get(&(client, TreePath::from(place))));
        known.next().map(String::as_str)
    }

    /// Says whether the event repeats the last one: LB policies report the same state again and
    /// again.
    fn is_repeated(&mut self, client: usize, told: &LogEntry) -> bool {
        let subject = match &told.event {
            LogEvent::ChildState { child, .. } => child,
            LogEvent::HostSet { address, .. } => address,
            LogEvent::SessionBadHealth { .. }
            | LogEvent::SessionWithoutConnection { .. }
            | LogEvent::SessionReady { .. }
            | LogEvent::SessionIdle { .. }
            | LogEvent::SessionConnecting { .. }
            | LogEvent::SessionCreates { .. } => {
                let before = self.session.insert(client, told.event.clone());
                return before.as_ref() == Some(&told.event);
            }
            _ => return false,
        };
        let key = (client, told.place.clone(), told.event.name(), subject.clone());
        self.last.insert(key, told.event.clone()).as_ref() == Some(&told.event)
    }

    fn client_name(&self, client: usize) -> &str {
        self.test.clients.get(client).map_or("", |client| client.name.as_str())
    }

    fn write(&mut self, client: Option<usize>, at: i64, layer: &str, what: &str, details: &[(&str, Value)]) {
        if self.written.is_ok() && !self.style.is_svg {
            self.written = self.try_write(client, at, layer, what, details);
        }
    }

    fn try_write(
        &mut self,
        client: Option<usize>,
        at: i64,
        layer: &str,
        what: &str,
        details: &[(&str, Value)],
    ) -> io::Result<()> {
        let name = client.map_or("", |client| self.client_name(client)).to_owned();
        if self.style.is_json {
            let details = details.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
            let line = json!({
                "schema": SCHEMA,
                "t_ms": at,
                "layer": layer,
                "event": what,
                "client": name,
                "what": details.collect::<Map<String, Value>>(),
            });
            serde_json::to_writer(&mut *self.out, &line)?;
            return writeln!(self.out);
        }
        let colour = match layer {
            "step" => AnsiColor::Blue,
            "rpc" | "retry" => AnsiColor::Green,
            _ => AnsiColor::Cyan,
        };
        self.lines += 1;
        let seconds = at as f64 / 1000.0;
        let layer = edge::paint(colour.on_default(), self.style.colour, &format!("{layer:17}"));
        let mut words = String::new();
        for (key, value) in details {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            words.push_str(&match *key {
                "" => format!(" {text}"),
                _ => format!("  {key} {text}"),
            });
        }
        let of = if name.is_empty() {
            String::new()
        } else {
            format!("{name}  ")
        };
        say!(self.out, "{seconds:>10.3}  {layer}  {of}{what}{words}")
    }
}

impl Listener for Timeline<'_> {
    fn step(&mut self, planned: &PlannedStep, now: i64) {
        if !self.style.layers.shows("step") {
            return;
        }
        let line = self.source.line_column(planned.span.start).line;
        let text = String::from_utf8_lossy(self.text.get(planned.span.range()).unwrap_or_default()).into_owned();
        let text: Vec<&str> = text.split_whitespace().collect();
        let text = beginning(&text.join(" "), 100).into_owned();
        let details = match self.style.is_json {
            true => vec![("line", line.into()), ("step", text.into())],
            false => vec![("", format!("{line}: {text}").into())],
        };
        self.write(planned.client, now, "step", "line", &details);
    }

    fn event(&mut self, client: usize, told: &LogEntry) -> bool {
        let own = match &told.event {
            LogEvent::ClusterUpdated { cluster } | LogEvent::ClusterFailed { cluster, .. } => Some(cluster),
            _ => None,
        };
        if let Some(cluster) = own {
            self.clusters.insert((client, told.place.clone()), cluster.clone());
        }
        if self.style.has_chart || self.style.is_svg {
            let name = self.test.clients.get(client).map_or("", |client| client.name.as_str());
            self.chart.take(name, told);
        }
        if self.style.layers.shows(told.event.layer()) && !self.is_repeated(client, told) {
            let mut details: Vec<(&str, Value)> = Vec::new();
            if own.is_none()
                && let Some(cluster) = self.cluster(client, &told.place).map(str::to_owned)
            {
                details.push(("cluster", cluster.into()));
            }
            details.extend(told.event.details().iter().map(|(key, detail)| (*key, value(detail))));
            self.write(Some(client), told.at, told.event.layer(), told.event.name(), &details);
        }
        self.written.is_ok()
    }

    fn note(&mut self, planned: &PlannedStep, now: i64, note: &str) {
        if self.style.layers.shows("step") {
            self.write(planned.client, now, "step", "note", &[("", note.into())]);
        }
    }
}

fn value(detail: &Detail) -> Value {
    match detail {
        Detail::Text(text) => (**text).into(),
        Detail::Number(number) => (*number).into(),
        Detail::Flag(flag) => (*flag).into(),
    }
}
