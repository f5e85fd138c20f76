//! `--matrix`: a table of resources and clients with one sign per cell, then the reasons.
//!
//! In JSON, the same data is in `clients` of each resource. A cell shows the worst effect of a
//! client's findings on a resource, including those about what it refers to.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use super::clients::ClientVerdict;
use super::{
    Finding, NotShown, ReportWriter, ResourceReport, Summary, Unplaced, closing, not_checked, sentence, shown,
};
use crate::edge::visible_line;
use crate::listed;
use crate::wrap::wrapped;
use xdsctl_model::diag::{Effect, Severity, Subject};
use xdsctl_model::profile::{Client, ClientStanding, Family, Fleet};

/// How the matrix looks.
#[derive(Debug, Clone)]
pub struct MatrixStyle {
    /// The clients that are asked; the columns are in the order of the user's list.
    pub fleet: Fleet,
    /// Whether the signs are Unicode; if not, they are ASCII letters and marks.
    pub unicode: bool,
    /// Columns of the terminal; `None` if nothing is wrapped or cut.
    pub width: Option<usize>,
    /// Whether a large number of rows or reasons of one kind is cut, because they would push the
    /// others out of sight.
    pub is_capped: bool,
    /// Whether there is no summary below the table (`--quiet`).
    pub is_quiet: bool,
}

impl MatrixStyle {
    /// Returns the style for a file, which has no columns and may be read anywhere.
    pub fn for_file(&self) -> MatrixStyle {
        MatrixStyle {
            unicode: false,
            width: None,
            is_capped: false,
            ..self.clone()
        }
    }
}

/// The meaning of a cell; the worst comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    Rejected,
    Fails,
    Open,
    Spec,
    NotKnown,
    Dropped,
    Ignored,
    Accepted,
    NotAsked,
}

impl Sign {
    fn of(said: &ClientVerdict) -> Sign {
        match (said.verdict, said.effect) {
            ("rejected", _) => Sign::Rejected,
            ("dies", _) | ("accepted", Some("fails")) => Sign::Fails,
            ("accepted", Some("open")) => Sign::Open,
            ("accepted", Some("spec")) => Sign::Spec,
            ("accepted", Some("dropped")) => Sign::Dropped,
            ("accepted", Some("ignored")) => Sign::Ignored,
            ("accepted", _) => Sign::Accepted,
            ("not_known", _) => Sign::NotKnown,
            _ => Sign::NotAsked,
        }
    }

    fn mark(self, unicode: bool) -> char {
        let row = SIGNS.iter().find(|row| row.0 == self);
        row.map_or(' ', |(_, mark, ascii, ..)| if unicode { *mark } else { *ascii })
    }

    /// Says whether the sign shows nothing that the user would look for among many resources.
    const fn is_quiet(self) -> bool {
        matches!(self, Sign::Accepted | Sign::Ignored)
    }
}

/// A sign, its mark in Unicode and in ASCII, its meaning, and the title of the row that counts it;
/// `None` if it is not counted.
type SignRow = (Sign, char, char, &'static str, Option<&'static str>);

/// The signs, in the order of the legend.
const SIGNS: [SignRow; 9] = [
    (Sign::Accepted, '✓', '+', "takes it", None),
    (Sign::Ignored, 'i', 'i', "does not read a field of it", None),
    (Sign::Dropped, 'd', 'd', "drops a part of it", Some("dropping")),
    (
        Sign::Spec,
        's',
        's',
        "takes what a gRFC rejects",
        Some("against the spec"),
    ),
    (Sign::Open, 'o', 'o', "lets in who should be kept out", Some("open")),
    (
        Sign::Fails,
        '!',
        '!',
        "takes it, and then RPCs fail or the process dies",
        Some("failing"),
    ),
    (Sign::Rejected, '✗', 'x', "rejects it", Some("rejected")),
    (Sign::NotKnown, '?', '?', "not known", Some("not known")),
    (
        Sign::NotAsked,
        '·',
        '.',
        "never asks for it, not checked, or replaced by another",
        None,
    ),
];

/// A resource and its cells, in the order of the clients.
#[derive(Debug)]
struct MatrixRow {
    file: String,
    type_name: String,
    name: String,
    signs: Vec<Sign>,
}

/// Why cells are as they are: the effects of a rule in the clients, and the places.
#[derive(Debug, Default)]
struct Reason {
    who: String,
    places: Vec<String>,
    /// How many further places are not kept.
    more: usize,
}

/// If there are more clients than this, neighbouring versions with the same column are combined.
const COLUMNS_APART: usize = 8;

/// Most rows of each type in which no cell shows a problem, if the matrix is capped.
const ALIKE_ROWS: usize = 20;

/// Most places that are shown for a reason, if the matrix is capped.
const PLACES: usize = 3;

/// Most rules that are named for the findings that explain no sign, if the matrix is capped.
const RULES: usize = 12;

/// Longest name of a resource, in characters, if there is a width; a longer one is printed without
/// its middle.
const NAME_CHARS: usize = 60;

/// Collects all resources, then writes the matrix.
#[derive(Debug)]
pub struct Matrix<W: Write> {
    least: Severity,
    style: MatrixStyle,
    out: W,
    rows: Vec<MatrixRow>,
    reasons: BTreeMap<(Effect, &'static str, Arc<str>), Reason>,
    documents: Vec<String>,
    /// How many findings explain no sign, by rule.
    beside: BTreeMap<&'static str, usize>,
}

impl<W: Write> Matrix<W> {
    /// Creates a writer; nothing is written yet.
    pub const fn new(least: Severity, style: MatrixStyle, out: W) -> Self {
        Matrix {
            least,
            style,
            out,
            rows: Vec::new(),
            reasons: BTreeMap::new(),
            documents: Vec::new(),
            beside: BTreeMap::new(),
        }
    }

    fn row(&self, resource: &ResourceReport) -> MatrixRow {
        let of = |client: &Client| match resource.clients.get(client) {
            Some(said) => Sign::of(said),
            // Only the reference client was asked.
            None => Sign::of(&ClientVerdict {
                verdict: resource.verdict.name(),
                effect: resource.findings.iter().map(|f| f.effect).min().map(Effect::name),
                rules: Vec::new(),
                like: None,
            }),
        };
        MatrixRow {
            file: visible_line(&resource.file).into_owned(),
            type_name: visible_line(&resource.type_name).into_owned(),
            name: visible_line(&resource.name).into_owned(),
            signs: self.style.fleet.clients().iter().map(of).collect(),
        }
    }

    fn reason(&mut self, resource: &ResourceReport, finding: &Finding) {
        let key = (finding.effect, finding.rule.id, Arc::clone(&finding.who));
        let reason = self.reasons.entry(key).or_default();
        if self.style.is_capped && reason.places.len() >= PLACES {
            reason.more += 1;
            return;
        }
        if reason.who.is_empty() {
            finding.effects().clone_into(&mut reason.who);
        }
        let mut line = sentence(Some(resource), finding);
        if !finding.path.is_empty() {
            line += &format!(" [{}]", visible_line(&finding.path.to_string()));
        }
        reason.places.push(line);
    }

    /// Returns the columns, each with its clients.
    fn columns(&self) -> Vec<Column> {
        let clients = self.style.fleet.clients();
        let mut columns: Vec<Column> = Vec::new();
        let is_same = |a: usize, b: usize| self.rows.iter().all(|row| row.signs.get(a) == row.signs.get(b));
        for (number, client) in clients.iter().enumerate() {
            match columns.last_mut() {
                Some(last)
                    if clients.len() > COLUMNS_APART && last.family == client.family && is_same(last.first, number) =>
                {
                    last.versions.push(client.version.to_string());
                }
                _ => columns.push(Column {
                    first: number,
                    family: client.family,
                    versions: vec![client.version.to_string()],
                }),
            }
        }
        columns
    }

    fn write_table(&mut self) -> io::Result<()> {
        let columns = self.columns();
        let longest = self.style.width.map_or(usize::MAX, |_| NAME_CHARS);
        let shown: Vec<(String, String, &MatrixRow)> = {
            let label = |row: &MatrixRow| format!("{} {}", row.type_name, shortened(&row.name, longest));
            self.rows
                .iter()
                .map(|row| (row.file.clone(), label(row), row))
                .collect()
        };
        let label_width = shown.iter().map(|(_, label, _)| label.chars().count()).max();
        let label_width = label_width.unwrap_or(0).clamp(TITLE.len(), LABEL_CHARS);
        let mut above = format!("{:label_width$}", "");
        let mut below = format!("{TITLE:label_width$}");
        for column in &columns {
            let (family, versions) = (column.family.name(), column.title());
            let width = column.width();
            above += &format!("  {family:width$}");
            below += &format!("  {versions:width$}");
        }
        writeln!(self.out, "{}", above.trim_end())?;
        writeln!(self.out, "{}", below.trim_end())?;
        let has_files = shown.windows(2).any(|two| matches!(two, [a, b] if a.0 != b.0));
        let mut alike: BTreeMap<&str, usize> = BTreeMap::new();
        let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
        let mut file = None;
        for (of_file, label, row) in &shown {
            let is_alike = row.signs.iter().all(|sign| sign.is_quiet());
            if self.style.is_capped && is_alike {
                let count = alike.entry(&row.type_name).or_default();
                *count += 1;
                if *count > ALIKE_ROWS {
                    *left_out.entry(&row.type_name).or_default() += 1;
                    continue;
                }
            }
            if has_files && file != Some(of_file) {
                writeln!(self.out, "{of_file}")?;
                file = Some(of_file);
            }
            let mut line = format!("{label:label_width$}");
            for column in &columns {
                let mark = row
                    .signs
                    .get(column.first)
                    .map_or(' ', |sign| sign.mark(self.style.unicode));
                line += &format!("  {mark:width$}", width = column.width());
            }
            writeln!(self.out, "{}", line.trim_end())?;
        }
        for (type_name, count) in &left_out {
            let rest = format!("and {count} more {type_name}");
            let mark = |sign: Sign| sign.mark(self.style.unicode);
            let (takes, unread) = (mark(Sign::Accepted), mark(Sign::Ignored));
            writeln!(
                self.out,
                "{rest:label_width$}  {takes} or {unread} in every client, --all shows each"
            )?;
        }
        let mut counted = SIGNS;
        counted.sort_by_key(|(sign, ..)| *sign);
        for (sign, .., total) in counted {
            if let Some(total) = total {
                self.write_counts(sign, total, &columns, label_width)?;
            }
        }
        Ok(())
    }

    /// Writes how many resources have a sign, if any have it.
    fn write_counts(&mut self, sign: Sign, total: &str, columns: &[Column], label_width: usize) -> io::Result<()> {
        let count = |column: &Column| {
            let signs = self
                .rows
                .iter()
                .filter(|row| row.signs.get(column.first) == Some(&sign));
            signs.count()
        };
        let counts: Vec<usize> = columns.iter().map(count).collect();
        if counts.iter().all(|count| *count == 0) || self.rows.len() < 2 {
            return Ok(());
        }
        let mut line = format!("{total:label_width$}");
        for (column, count) in columns.iter().zip(counts) {
            line += &format!("  {count:<width$}", width = column.width());
        }
        writeln!(self.out, "{}", line.trim_end())
    }

    fn write_legend(&self, out: &mut dyn Write) -> io::Result<()> {
        let is_used = |row: &&SignRow| self.rows.iter().any(|resource| resource.signs.contains(&row.0));
        let used = SIGNS.iter().filter(is_used);
        let parts: Vec<String> = used
            .map(|(sign, .., meaning, _)| format!("{} {meaning}", sign.mark(self.style.unicode)))
            .collect();
        if !parts.is_empty() {
            writeln!(out, "{}", parts.join("; "))?;
        }
        Ok(())
    }

    fn write_reasons(&self, out: &mut dyn Write) -> io::Result<()> {
        for document in &self.documents {
            writeln!(out, "{document}")?;
        }
        for ((_, rule, _), reason) in &self.reasons {
            writeln!(out, "{rule}: {}", reason.who)?;
            for place in &reason.places {
                writeln!(out, "  {place}")?;
            }
            if reason.more > 0 {
                writeln!(out, "  and {} more, --all shows each", reason.more)?;
            }
        }
        let mut unknown: BTreeMap<String, Vec<Client>> = BTreeMap::new();
        for (number, client) in self.style.fleet.clients().iter().enumerate() {
            let is_unknown = |row: &MatrixRow| row.signs.get(number) == Some(&Sign::NotKnown);
            if self.rows.iter().any(is_unknown) {
                unknown.entry(why_not_known(*client)).or_default().push(*client);
            }
        }
        for (why, clients) in unknown {
            let mark = Sign::NotKnown.mark(self.style.unicode);
            writeln!(out, "{mark} {}: {why}", self.style.fleet.describe(&clients))?;
        }
        Ok(())
    }
}

/// A column of the matrix.
#[derive(Debug)]
struct Column {
    /// Index in a row of the first of its clients.
    first: usize,
    family: Family,
    versions: Vec<String>,
}

impl Column {
    /// Returns the title: one version, or the first and the last.
    fn title(&self) -> String {
        match self.versions.as_slice() {
            [first, .., last] => format!("{first}..{last}"),
            versions => versions.concat(),
        }
    }

    fn width(&self) -> usize {
        self.title().len().max(self.family.name().len())
    }
}

/// Longest label for which signs are aligned, in characters; a longer label moves the signs of its
/// own row only. Otherwise one long name would cost a blank per letter in every row, and `format!`
/// panics beyond 65,535.
const LABEL_CHARS: usize = 200;

/// The title above the resources.
const TITLE: &str = "RESOURCE";

/// Says why it is not known what a client does.
fn why_not_known(client: Client) -> String {
    let measured = client.family.measured();
    match (client.standing(), measured.first(), measured.last()) {
        (ClientStanding::Between(before, after), ..) => {
            format!("never asked; {before} and {after}, which were, do not do the same")
        }
        (ClientStanding::Unknown, Some(first), Some(last)) => {
            format!("never asked, and nothing is known beyond {first} and {last}")
        }
        _ => "not all of its rules are known, and those that are find no fault".to_owned(),
    }
}

/// Returns the text, without its middle if it is too long.
fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let (head, tail) = (most / 2, most - most / 2 - 1);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start}…{end}")
}

impl<W: Write> ReportWriter for Matrix<W> {
    fn wants(&mut self, finding: &Unplaced<'_>) -> usize {
        finding.wanted(self.least)
    }

    fn documents(&mut self, findings: &[Finding], _: &[NotShown]) -> io::Result<()> {
        let shown = shown(findings, self.least);
        let line = |finding: &Finding| {
            let file = finding
                .place
                .as_ref()
                .map_or(String::new(), |place| format!("{}: ", visible_line(&place.file)));
            format!("{}: {file}{}", finding.rule.id, sentence(None, finding))
        };
        self.documents = shown.map(line).collect();
        Ok(())
    }

    fn resource(&mut self, resource: &ResourceReport) -> io::Result<()> {
        let row = self.row(resource);
        if row.signs.iter().all(|sign| *sign == Sign::NotAsked) {
            return Ok(());
        }
        self.rows.push(row);
        // A field that no client reads is no reason to choose one of them.
        let explains = |finding: &&Finding| match finding.effect {
            Effect::Nack | Effect::Fails | Effect::Open | Effect::Spec | Effect::Dropped => {
                finding.rule.subject != Subject::Dump
            }
            Effect::Ignored => !finding.who.is_empty(),
            Effect::Advice => false,
        };
        for finding in shown(&resource.findings, self.least) {
            match explains(&finding) {
                true => self.reason(resource, finding),
                false => *self.beside.entry(finding.rule.id).or_default() += 1,
            }
        }
        Ok(())
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        let mut below = Vec::new();
        if !self.rows.is_empty() {
            self.write_table()?;
            writeln!(below)?;
            self.write_legend(&mut below)?;
            if !self.reasons.is_empty() || self.rows.iter().any(|row| row.signs.contains(&Sign::NotKnown)) {
                writeln!(below)?;
            }
        }
        self.write_reasons(&mut below)?;
        if !self.beside.is_empty() {
            let count: usize = self.beside.values().sum();
            let one = |(id, count): (&&str, &usize)| match count {
                1 => (*id).to_owned(),
                count => format!("{id} ({count})"),
            };
            let most = if self.style.is_capped { RULES } else { usize::MAX };
            let rules = listed(self.beside.iter().map(one), most);
            writeln!(
                below,
                "{count} more, of all clients or advice, in full without --matrix: {rules}"
            )?;
        }
        if !self.style.is_quiet {
            writeln!(below)?;
            writeln!(below, "{}", closing(summary))?;
            writeln!(below, "asked: {}", summary.asked)?;
        } else if let Some(line) = not_checked::line(&summary.not_checked) {
            writeln!(below, "{line}")?;
        }
        let below = String::from_utf8_lossy(&below);
        self.out
            .write_all(wrapped(&below, self.style.width, "    ").as_bytes())?;
        self.out.flush()
    }
}
