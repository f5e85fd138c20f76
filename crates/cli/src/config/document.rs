//! Reads the text of `xdsctl.toml`: keys and types by serde, and every fault with its place.

use crate::Error;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::policies::PolicyTable;
use super::{IgnoreSetting, ProjectConfig, RuleSetting, Setting};
use crate::args::{Level, ReportFormat, WorldMode};
use xdsctl_document::secret;
use xdsctl_document::source::{Source, Span};
use xdsctl_lint::catalogue;
use xdsctl_lint::choice::{FilePattern, Ignore, RuleSelector, Wildcard};
use xdsctl_model::diag::{Rule, Severity};
use xdsctl_model::profile::Client;
use xdsctl_policy::Policies;

/// The most `[[ignore]]` of a file, because each finding is compared with all of them.
const MAX_IGNORES: usize = 1_000;

/// The most names of rules and fields in `[rules]`, because each finding is compared with all of
/// them.
const MAX_NAMED_RULES: usize = 1_000;

/// A fault of a settings file, and its place.
#[derive(Debug)]
pub(super) struct SettingFault {
    pub(super) message: String,
    pub(super) span: Range<usize>,
}

impl SettingFault {
    pub(super) fn of_toml(error: &toml::de::Error) -> SettingFault {
        SettingFault {
            message: error.message().replace('\n', ", "),
            span: error.span().unwrap_or_default(),
        }
    }

    pub(super) fn at<T>(place: &Spanned<T>, message: impl Into<String>) -> SettingFault {
        SettingFault {
            message: message.into(),
            span: place.span(),
        }
    }

    /// Returns the message with its place, and the line.
    pub(super) fn located(&self, name: &str, text: &str) -> Error {
        let start = self.span.start.min(text.len());
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let whole = text
            .get(line_start..)
            .unwrap_or_default()
            .lines()
            .next()
            .unwrap_or_default();
        let column = before.get(line_start..).unwrap_or_default().chars().count();
        let marked = text.get(start..self.span.end.max(start)).unwrap_or_default();
        let width = marked.lines().next().unwrap_or_default().chars().count().max(1);
        // Characters that are not on the line itself, such as its end, have no place in it.
        let byte = |column: usize| {
            let mut offsets = whole.char_indices().map(|(at, _)| line_start + at);
            offsets.nth(column).unwrap_or(line_start + whole.len())
        };
        let shown = without_secret(before.get(..line_start).unwrap_or_default(), whole);
        let quoted = marked.trim_matches(['"', '\'']);
        let message = match &self.message {
            message if quoted.is_empty() || shown.contains(quoted) => message.clone(),
            message => message.replace(&format!("`{quoted}`"), &format!("`{}`", secret::REDACTED)),
        };
        Error::Marked {
            file: name.into(),
            line: before.matches('\n').count() + 1,
            column: column + 1,
            span: Span::new(byte(column), byte(column + width)),
            message,
            quoted: shown.into(),
            width,
        }
    }
}

/// Returns a line as it may be quoted. If a key on it or on a line above has the name of a secret,
/// the text after the key becomes asterisks.
fn without_secret(above: &str, line: &str) -> String {
    let key_end = |line: &str| {
        let signs = line.match_indices('=').map(|(at, _)| at);
        signs.into_iter().find(|at| {
            let key = line.get(..*at).unwrap_or_default().trim_end();
            let key = key.rsplit(['.', ',', '{', ' ', '\t']).next().unwrap_or_default();
            secret::is_name(key)
        })
    };
    let is_below = || {
        let mut before = above.lines().rev();
        let first = before.find(|line| line.contains('=') || line.starts_with('['));
        !line.contains('=') && !line.starts_with('[') && first.is_some_and(|line| key_end(line).is_some())
    };
    let Some(from) = key_end(line).or_else(|| is_below().then_some(0)) else {
        return line.to_owned();
    };
    let (shown, hidden) = line.split_at(from);
    let stars = hidden.chars().map(|c| if c == '=' || c == ' ' { c } else { '*' });
    shown.chars().chain(stars).collect()
}

/// The settings file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ConfigFile {
    bootstrap: Option<Spanned<String>>,
    worlds: Option<Spanned<WorldMode>>,
    complete: Option<Spanned<bool>>,
    clients: Option<Spanned<Vec<Spanned<String>>>>,
    fail_on: Option<Spanned<String>>,
    min_severity: Option<Spanned<Level>>,
    format: Option<Spanned<ReportFormat>>,
    baseline: Option<Spanned<String>>,
    #[serde(default)]
    rules: BTreeMap<Spanned<String>, Spanned<Loudness>>,
    #[serde(default)]
    ignore: Vec<Spanned<IgnoreTable>>,
    #[serde(default)]
    pub(super) policies: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) policy: Vec<PolicyTable>,
}

/// A severity, or `off`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Loudness {
    Error,
    Warning,
    Note,
    Off,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct IgnoreTable {
    rule: Spanned<String>,
    resource: Option<String>,
    path: Option<String>,
    file: Option<Spanned<String>>,
    reason: Spanned<String>,
    until: Option<Spanned<toml::value::Datetime>>,
}

impl ConfigFile {
    pub(super) fn read(text: &str) -> Result<ConfigFile, SettingFault> {
        toml::from_str(text).map_err(|error| SettingFault::of_toml(&error))
    }

    /// Returns the settings. Paths start at `directory`.
    pub(super) fn settings(
        self,
        text: &Source,
        directory: &Path,
        policies: &Policies,
    ) -> Result<ProjectConfig, SettingFault> {
        let known: Vec<&'static Rule> = catalogue::rules().chain(policies.rules()).collect();
        let mut rules: Vec<_> = self.rules.into_iter().collect();
        // A table has no order of its own, so use the order of the file.
        rules.sort_by_key(|(name, _)| name.span().start);
        let mut named = 0;
        let rules = rules.into_iter().map(|(name, loudness)| {
            named += 1 + name.get_ref().matches(',').count();
            if named > MAX_NAMED_RULES {
                return Err(SettingFault::at(
                    &name,
                    format!("more than {MAX_NAMED_RULES} names in `[rules]`"),
                ));
            }
            let setting = RuleSetting {
                text: name.get_ref().clone(),
                rules: RuleSelector::list(name.get_ref(), &known).map_err(|why| SettingFault::at(&name, why))?,
                severity: loudness.get_ref().severity(),
            };
            let line = text.line_column(name.span().start).line;
            Ok(Setting { value: setting, line })
        });
        if let Some(beyond) = self.ignore.get(MAX_IGNORES) {
            return Err(SettingFault::at(
                beyond,
                format!("more than {MAX_IGNORES} `[[ignore]]`"),
            ));
        }
        let ignores = self.ignore.into_iter().map(|table| {
            let line = text.line_column(table.span().start).line;
            let value = ignore(table, &known)?;
            Ok(Setting { value, line })
        });
        Ok(ProjectConfig {
            rules: rules.collect::<Result<_, _>>()?,
            ignores: ignores.collect::<Result<_, _>>()?,
            bootstrap: setting(text, self.bootstrap, |path| Ok(directory.join(path.get_ref())))?,
            worlds: setting(text, self.worlds, |worlds| Ok(worlds.into_inner()))?,
            complete: setting(text, self.complete, |complete| Ok(complete.into_inner()))?,
            clients: setting(text, self.clients, clients)?,
            fail_on: setting(text, self.fail_on, |value| {
                let read = value.get_ref().parse();
                read.map_err(|why: String| SettingFault::at(&value, why))
            })?,
            min_severity: setting(text, self.min_severity, |level| Ok(level.into_inner()))?,
            format: setting(text, self.format, |format| Ok(format.into_inner()))?,
            baseline: setting(text, self.baseline, |path| Ok(directory.join(path.get_ref())))?,
            ..ProjectConfig::default()
        })
    }
}

/// Reads the list of clients. Each entry must be a client.
fn clients(list: Spanned<Vec<Spanned<String>>>) -> Result<Vec<String>, SettingFault> {
    if list.get_ref().is_empty() {
        return Err(SettingFault::at(
            &list,
            "no client: leave `clients` out to ask the reference",
        ));
    }
    let clients = list.into_inner().into_iter().map(|name| {
        Client::parse_list(name.get_ref()).map_err(|why| SettingFault::at(&name, why.to_string()))?;
        Ok(name.into_inner())
    });
    clients.collect()
}

fn setting<T, U>(
    text: &Source,
    value: Option<Spanned<T>>,
    of: impl FnOnce(Spanned<T>) -> Result<U, SettingFault>,
) -> Result<Option<Setting<U>>, SettingFault> {
    let Some(value) = value else {
        return Ok(None);
    };
    let line = text.line_column(value.span().start).line;
    let value = of(value)?;
    Ok(Some(Setting { value, line }))
}

fn ignore(table: Spanned<IgnoreTable>, known: &[&'static Rule]) -> Result<IgnoreSetting, SettingFault> {
    let span = table.span();
    let table = table.into_inner();
    let rules = RuleSelector::list(table.rule.get_ref(), known).map_err(|why| SettingFault::at(&table.rule, why))?;
    let file = table.file.as_ref().map(|pattern| {
        let read = FilePattern::new(pattern.get_ref());
        read.map_err(|why| SettingFault::at(pattern, why))
    });
    let file = file.transpose()?;
    let until = table.until.as_ref().map(|day| {
        let read = day.get_ref().to_string().parse();
        read.map_err(|why: String| SettingFault::at(day, why))
    });
    let until = until.transpose()?;
    if table.reason.get_ref().trim().is_empty() {
        return Err(SettingFault::at(
            &table.reason,
            "a finding is ignored without a reason: say why",
        ));
    }
    Ok(IgnoreSetting {
        text: table.rule.into_inner(),
        ignore: Ignore {
            rules,
            resource: table.resource.map(Wildcard::new),
            path: table.path.map(Wildcard::new),
            file,
            reason: table.reason.into_inner(),
            until,
        },
        span,
    })
}

impl Loudness {
    const fn severity(self) -> Option<Severity> {
        match self {
            Loudness::Error => Some(Severity::Error),
            Loudness::Warning => Some(Severity::Warning),
            Loudness::Note => Some(Severity::Note),
            Loudness::Off => None,
        }
    }
}
