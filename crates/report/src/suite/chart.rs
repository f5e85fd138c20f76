//! Charts of a timeline: RPCs, latency and connections by backend over time, for the terminal and
//! as SVG.
//!
//! Time is divided into at most [`MAX_BUCKETS`] pieces. If more would be needed, the pieces become
//! twice as long, so a day takes no more memory than a second.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use anstyle::AnsiColor;

use crate::edge::{self, visible_line};
use xdsctl_lb::log::{LogEntry, LogEvent};
use xdsctl_lb::runtime::Connectivity;

/// Most pieces of time.
const MAX_BUCKETS: usize = 512;

/// Length of a piece at first, in milliseconds.
const FIRST_MS: i64 = 10;

/// Most backends that are drawn; the others are counted.
const MAX_ROWS: usize = 40;

/// Columns of a chart if there is no terminal.
const COLUMNS: usize = 60;

/// The characters for values in a piece of time, from the lowest to the highest.
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The data of a row over time. A row is about a backend of a client and cluster, or about failures
/// with a code.
#[derive(Debug, Clone, Default)]
struct ChartRow {
    /// Number of RPCs that ended, by piece.
    rpcs: Vec<i64>,
    /// Duration of these RPCs in milliseconds, by piece.
    ms: Vec<i64>,
    /// Time with a connection in milliseconds, by piece.
    connected: Vec<i64>,
    /// The time since which there is a connection, if there is one.
    since: Option<i64>,
}

/// What a row is about: a client and a cluster, which may both be empty, and an address or the code
/// of failures.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RowSubject {
    /// An address or a code.
    end: String,
    client: String,
    cluster: String,
}

/// The RPCs and connections of each backend over time.
#[derive(Debug)]
pub struct Chart {
    piece_ms: i64,
    end: i64,
    rows: BTreeMap<RowSubject, ChartRow>,
}

impl Default for Chart {
    fn default() -> Self {
        Chart {
            piece_ms: FIRST_MS,
            end: 0,
            rows: BTreeMap::new(),
        }
    }
}

fn at<T: Default + Clone>(list: &mut Vec<T>, index: usize) -> Option<&mut T> {
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    list.get_mut(index)
}

impl Chart {
    /// Adds an event of a client; the client's name may be empty.
    pub fn take(&mut self, client: &str, told: &LogEntry) {
        self.end = self.end.max(told.at);
        while self.piece(told.at) >= MAX_BUCKETS {
            self.double_pieces();
        }
        let piece = self.piece(told.at);
        let subject = |end: &str, cluster: &Option<Arc<str>>| RowSubject {
            end: end.to_owned(),
            client: client.to_owned(),
            cluster: cluster.as_deref().unwrap_or_default().to_owned(),
        };
        match &told.event {
            LogEvent::RpcEnded {
                code,
                ms,
                backend,
                cluster,
                ..
            } => {
                let of = match backend {
                    Some(backend) => subject(backend, cluster),
                    None => subject(code.name(), &None),
                };
                let row = self.rows.entry(of).or_default();
                if let Some(count) = at(&mut row.rpcs, piece) {
                    *count += 1;
                }
                if let Some(took) = at(&mut row.ms, piece) {
                    *took += ms;
                }
            }
            LogEvent::ConnectionState {
                cluster,
                address,
                state,
                ..
            } => self.connection(subject(address, cluster), *state == Connectivity::Ready, told.at),
            LogEvent::ConnectionLetGo { cluster, address } => {
                self.connection(subject(address, cluster), false, told.at);
            }
            _ => {}
        }
    }

    /// Records that a connection has become ready, or is no longer ready.
    fn connection(&mut self, subject: RowSubject, is_ready: bool, now: i64) {
        let row = self.rows.entry(subject).or_default();
        match (row.since, is_ready) {
            (None, true) => row.since = Some(now),
            (Some(since), false) => {
                row.since = None;
                connect(row, (since, now), self.piece_ms);
            }
            _ => {}
        }
    }

    fn piece(&self, at: i64) -> usize {
        usize::try_from(at / self.piece_ms).unwrap_or(0)
    }

    /// Doubles the length of the pieces, which halves their number.
    fn double_pieces(&mut self) {
        self.piece_ms = self.piece_ms.saturating_mul(2);
        for row in self.rows.values_mut() {
            row.rpcs = row.rpcs.chunks(2).map(|pair| pair.iter().sum()).collect();
            row.ms = row.ms.chunks(2).map(|pair| pair.iter().sum()).collect();
            row.connected = row.connected.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
    }

    /// Returns the label of each row: the address or code, and the cluster and client if there are
    /// several.
    fn labels(&self) -> BTreeMap<RowSubject, String> {
        let mut clusters: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for of in self.rows.keys() {
            clusters.entry(&of.end).or_default().insert(&of.cluster);
        }
        let clients: BTreeSet<&str> = self.rows.keys().map(|of| of.client.as_str()).collect();
        let label = |of: &RowSubject| {
            let is_shared = clusters.get(of.end.as_str()).is_some_and(|of| of.len() > 1);
            let cluster = Some(&of.cluster).filter(|_| is_shared);
            let client = Some(&of.client).filter(|_| clients.len() > 1);
            let parts = [Some(&of.end), cluster, client].into_iter().flatten();
            let parts: Vec<&str> = parts.map(String::as_str).filter(|part| !part.is_empty()).collect();
            (of.clone(), parts.join(" "))
        };
        self.rows.keys().map(label).collect()
    }

    /// Returns the charts that have rows. Their values are numbers of RPCs, mean latencies in
    /// milliseconds, and shares of the time with a connection.
    fn charts(mut self, labels: &BTreeMap<RowSubject, String>, columns: usize) -> Vec<Drawn> {
        let end = self.end;
        for row in self.rows.values_mut() {
            if let Some(since) = row.since.take() {
                connect(row, (since, end), self.piece_ms);
            }
        }
        let pieces = self.piece(end) + 1;
        let columns = columns.min(pieces).max(1);
        let span = |column: usize| {
            (column * pieces / columns)..((column + 1) * pieces / columns).max(column * pieces / columns + 1)
        };
        let sum = |list: &[i64], column: usize| -> i64 {
            list.iter().skip(span(column).start).take(span(column).len()).sum()
        };
        let (mut rpcs, mut latency, mut connections) = (Vec::new(), Vec::new(), Vec::new());
        for (of, row) in &self.rows {
            let label = labels.get(of).unwrap_or(&of.end);
            let total: i64 = row.rpcs.iter().sum();
            if total > 0 {
                let by_column = (0..columns).map(|column| sum(&row.rpcs, column) as f64);
                rpcs.push((label.clone(), by_column.collect(), total.to_string()));
                let mean = |column| match sum(&row.rpcs, column) {
                    0 => 0.0,
                    count => sum(&row.ms, column) as f64 / count as f64,
                };
                let all = row.ms.iter().sum::<i64>() as f64 / total as f64;
                latency.push((label.clone(), (0..columns).map(mean).collect(), format!("{all:.1} ms")));
            }
            if row.connected.iter().any(|ms| *ms > 0) {
                let of = |column: usize| {
                    sum(&row.connected, column) as f64 / (span(column).len() as f64 * self.piece_ms as f64)
                };
                let all = row.connected.iter().sum::<i64>() as f64 / 1000.0;
                connections.push((label.clone(), (0..columns).map(of).collect(), format!("{all:.1} s")));
            }
        }
        let charts = [("RPCs", rpcs), ("latency", latency), ("connections", connections)];
        let drawn = charts.map(|(title, rows)| Drawn { title, end, rows });
        drawn.into_iter().filter(|drawn| !drawn.rows.is_empty()).collect()
    }

    /// Writes the charts with block characters.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn write(self, width: Option<usize>, colours: bool, out: &mut dyn Write) -> io::Result<()> {
        let labels = self.labels();
        let widths = labels.values().map(|label| label.chars().count());
        let label = widths.max().unwrap_or(0).min(40);
        let columns = width.map_or(COLUMNS, |width| width.saturating_sub(label + 14).clamp(10, MAX_BUCKETS));
        for drawn in self.charts(&labels, columns) {
            let (title, end) = (drawn.title, drawn.end as f64 / 1000.0);
            writeln!(out, "\n{title}, 0 to {end} s")?;
            let most = drawn.most();
            for (name, values, total) in drawn.rows.iter().take(MAX_ROWS) {
                let bars: String = values.iter().map(|value| bar(*value, most)).collect();
                let bars = edge::paint(AnsiColor::Blue.on_default(), colours, &bars);
                say!(out, "  {name:label$}  {bars}  {total}")?;
            }
            let more = drawn.rows.len().saturating_sub(MAX_ROWS);
            if more > 0 {
                writeln!(out, "  ... and {more} more")?;
            }
        }
        Ok(())
    }

    /// Writes the charts as a picture.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn write_svg(self, title: &str, out: &mut dyn Write) -> io::Result<()> {
        // Space for the labels: a character has at most 8 pixels.
        let labels = self.labels();
        let widest = labels.values().map(|label| label.chars().count()).max();
        let left = (16 + 8 * widest.unwrap_or(0).min(60)).max(200);
        const WIDTH: usize = 600;
        const RIGHT: usize = 100;
        const HEIGHT: usize = 24;
        let charts = self.charts(&labels, WIDTH / 4);
        let lines: usize = charts.iter().map(|drawn| drawn.rows.len().min(MAX_ROWS) + 2).sum();
        let (width, height) = (left + WIDTH + RIGHT, (lines + 1) * HEIGHT);
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"monospace\" font-size=\"12\">"
        )?;
        writeln!(out, "<title>{}</title>", escape(title))?;
        writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>")?;
        let mut top = HEIGHT;
        for drawn in charts {
            let end = drawn.end as f64 / 1000.0;
            let most = drawn.most();
            writeln!(
                out,
                "<text x=\"8\" y=\"{top}\" font-weight=\"bold\">{}, 0 to {end} s</text>",
                drawn.title
            )?;
            for (name, values, total) in drawn.rows.iter().take(MAX_ROWS) {
                let bottom = top + HEIGHT;
                writeln!(out, "<text x=\"8\" y=\"{}\">{}</text>", bottom - 4, escape(name))?;
                let step = WIDTH as f64 / values.len().max(1) as f64;
                let mut path = format!("M{left} {bottom}");
                for (column, value) in values.iter().enumerate() {
                    let x = left as f64 + column as f64 * step;
                    let y = bottom as f64 - value / most * (HEIGHT - 4) as f64;
                    let _ = write!(path, "L{x:.1} {y:.1}L{:.1} {y:.1}", x + step);
                }
                let _ = write!(path, "L{} {bottom}Z", left + WIDTH);
                writeln!(out, "<path d=\"{path}\" fill=\"#4a7ab5\"/>")?;
                writeln!(
                    out,
                    "<text x=\"{}\" y=\"{}\">{}</text>",
                    left + WIDTH + 8,
                    bottom - 4,
                    escape(total)
                )?;
                top = bottom;
            }
            top += 2 * HEIGHT;
        }
        writeln!(out, "</svg>")
    }
}

/// Adds the duration of a connection to a row.
fn connect(row: &mut ChartRow, (from, to): (i64, i64), piece_ms: i64) {
    let mut now = from;
    while now < to {
        let piece = now / piece_ms;
        let next = ((piece + 1) * piece_ms).min(to);
        if let Some(ms) = usize::try_from(piece)
            .ok()
            .and_then(|piece| at(&mut row.connected, piece))
        {
            *ms += next - now;
        }
        now = next;
    }
}

/// A chart that is ready to be written: each row with its name, a value for each column, and the
/// text behind them.
struct Drawn {
    title: &'static str,
    end: i64,
    rows: Vec<(String, Vec<f64>, String)>,
}

impl Drawn {
    /// Returns the largest value of all rows, or 1 if that is 0.
    fn most(&self) -> f64 {
        let values = self.rows.iter().flat_map(|(_, values, _)| values);
        let most = values.copied().fold(0.0, f64::max);
        if most > 0.0 { most } else { 1.0 }
    }
}

fn bar(value: f64, most: f64) -> char {
    let steps = (BARS.len() - 1) as f64;
    // The step is a number from 0 to the index of the highest character.
    let step = (value / most * steps).ceil().clamp(0.0, steps) as usize;
    BARS.get(step).copied().unwrap_or(' ')
}

fn escape(text: &str) -> String {
    visible_line(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
