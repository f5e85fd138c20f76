//! `[[policy]]` in `xdsctl.toml` and in the files that `policies` names: rules of the project's
//! own, each with its cases.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::document::SettingFault;
use super::text_of;
use crate::Error;
use crate::args::Level;
use crate::io::input::cannot_read;
use crate::io::reach::{AllowedDirectories, directory_of};
use xdsctl_document::envelope::Finding;
use xdsctl_document::source::{Source, SourceMap, Span};
use xdsctl_lint::catalogue;
use xdsctl_lint::choice::POLICY_IDLE;
use xdsctl_model::diag::Diagnostic;
use xdsctl_model::profile::Client;
use xdsctl_policy::{MAX_POLICIES, Part, Policies, Policy, PolicyText};
use xdsctl_report::paths::normal;

/// The most cases of all policies together.
const MAX_CASES: usize = 10_000;

/// The number of nested directories of policies that are searched.
const MAX_LEVELS: usize = 8;

/// The most entries of a directory of policies, and the most files in total.
const MAX_ENTRIES: usize = 10_000;

/// The policies of a project.
#[derive(Debug, Clone, Default)]
pub struct ProjectPolicies {
    /// The policies that are checked.
    pub policies: Arc<Policies>,
    /// The files with the policies.
    pub files: Vec<PolicyFile>,
    /// The entries of `policies`.
    pub named: Vec<NamedPolicies>,
}

/// A file or directory that `policies` names.
#[derive(Debug, Clone)]
pub struct NamedPolicies {
    /// The path as it is written.
    pub path: String,
    /// The offset of the path in the settings file.
    pub at: usize,
    /// The ids of the policies in the file or directory.
    pub ids: Vec<&'static str>,
}

/// A file with policies.
#[derive(Debug, Clone)]
pub struct PolicyFile {
    /// The name of the file, as it was given.
    pub name: String,
    /// The text of the file.
    pub text: String,
    /// The cases of its policies.
    pub cases: Vec<Case>,
    /// The number of each of its policies, and the span of the policy's id.
    pub policies: Vec<(usize, Range<usize>)>,
}

/// A case of a policy.
#[derive(Debug, Clone)]
pub struct Case {
    /// The number of the case's policy.
    pub policy: usize,
    /// Whether the policy must find nothing in it.
    pub is_accepted: bool,
    /// The case as it is written.
    pub table: CaseTable,
    /// The client that looks at the case, if it names one.
    pub client: Option<Client>,
    /// The span of the case in the file.
    pub span: Range<usize>,
}

/// A function that returns the text of a file if it is open in an editor.
pub type OpenFile<'o> = &'o dyn Fn(&Path) -> Option<String>;

/// Says whether settings with this text name a file of policies. Returns `None` if they cannot be
/// read.
pub fn names(settings: &Path, text: &str, file: &Path) -> Option<bool> {
    let read: toml::Table = toml::from_str(text).ok()?;
    let named = read
        .get("policies")
        .and_then(toml::Value::as_array)
        .into_iter()
        .flatten();
    let directory = settings.parent().unwrap_or(Path::new(""));
    let mut named = named.filter_map(toml::Value::as_str).map(|path| directory.join(path));
    Some(named.any(|path| file.starts_with(normal(&path))))
}

/// A file of policies as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PoliciesText {
    #[serde(default)]
    policy: Vec<PolicyTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct PolicyTable {
    id: Spanned<String>,
    r#match: Spanned<String>,
    resource: Option<Spanned<String>>,
    target: Option<Spanned<String>>,
    at: Option<Spanned<String>>,
    expression: Spanned<String>,
    #[serde(default)]
    variables: Vec<VariableTable>,
    message: Option<Spanned<String>>,
    message_expression: Option<Spanned<String>>,
    severity: Option<Level>,
    help: Option<Spanned<String>>,
    page: Option<String>,
    #[serde(default)]
    accepted: Vec<Spanned<CaseTable>>,
    #[serde(default)]
    rejected: Vec<Spanned<CaseTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VariableTable {
    name: Spanned<String>,
    expression: Spanned<String>,
}

/// Resources that a policy must accept, or reject.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseTable {
    /// The name of the case; may be empty.
    #[serde(default)]
    pub name: String,
    /// The resources, if they are written in the case.
    pub yaml: Option<String>,
    /// Files with resources, relative to the directory of this file.
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// All places at which the policy must find something; empty if any place will do.
    #[serde(default)]
    pub at: Vec<String>,
    /// A text that the message must contain.
    pub message: Option<String>,
    /// The name of the client that looks at the case.
    pub client: Option<Spanned<String>>,
}

impl ProjectPolicies {
    /// Reads the policies of a settings file, and of the files that it names.
    pub(super) fn of_project(
        tables: Vec<PolicyTable>,
        named_files: &[Spanned<String>],
        (file, text): (&Path, &str),
        reach: &AllowedDirectories,
        open: OpenFile<'_>,
    ) -> Result<ProjectPolicies, Error> {
        let mut builder = Builder::default();
        builder.add(&file.display().to_string(), text, tables)?;
        for named in named_files {
            let directory = directory_of(file);
            let fault = |why: std::io::Error| {
                let message = format!("cannot read `{}`: {why}", named.get_ref());
                SettingFault::at(named, message).located(&file.display().to_string(), text)
            };
            let path = file.parent().unwrap_or(directory).join(named.get_ref());
            reach.check(&path, directory).map_err(fault)?;
            let files = files(&path).map_err(fault)?;
            if files.is_empty() {
                let message = format!("`{}` has no .toml file, here or below", path.display());
                return Err(SettingFault::at(named, message).located(&file.display().to_string(), text));
            }
            let before = builder.policies.len();
            for file in files {
                reach.check(&file, directory).map_err(fault)?;
                builder.add_file(&file, open)?;
            }
            let new = builder.policies.iter().skip(before);
            builder.named.push(NamedPolicies {
                path: named.get_ref().clone(),
                at: named.span().start,
                ids: new.map(|policy| policy.rule.id).collect(),
            });
        }
        Ok(builder.finish())
    }

    /// Reads the policies of files that the command line names.
    ///
    /// # Errors
    /// A file cannot be read, or a policy in it is not valid.
    pub fn of_files(named: &[PathBuf]) -> Result<ProjectPolicies, Error> {
        let mut builder = Builder::default();
        for path in named {
            let files = files(path).map_err(|error| cannot_read(path, error))?;
            if files.is_empty() {
                return Err(Error::Usage(format!(
                    "`{}` has no .toml file, here or below",
                    path.display()
                )));
            }
            for file in files {
                builder.add_file(&file, &|_| None)?;
            }
        }
        Ok(builder.finish())
    }
}

impl ProjectPolicies {
    /// Returns the policies that have looked at nothing.
    pub fn idle(&self) -> impl Iterator<Item = &Policy> {
        self.policies.list.iter().filter(|policy| policy.looked() == 0)
    }

    /// Returns findings on the policies that have looked at nothing. Their files become documents,
    /// so that the findings can point into them.
    pub fn idle_findings(&self, sources: &mut SourceMap) -> Vec<Finding> {
        let mut found = Vec::new();
        for file in &self.files {
            let mut source = None;
            for (number, at) in &file.policies {
                let policy = self.policies.list.get(*number);
                let Some(policy) = policy.filter(|policy| policy.looked() == 0) else {
                    continue;
                };
                let add = || sources.add_settings(file.name.clone(), file.text.clone().into_bytes());
                let (id, element) = (policy.rule.id, policy.element.name());
                let message = format!("`{id}` looks at nothing: there is no {element} that it is about");
                found.push(Finding {
                    source: *source.get_or_insert_with(add),
                    span: Span::new(at.start, at.end),
                    diagnostic: Diagnostic::of_whole(&POLICY_IDLE, message),
                });
            }
        }
        found
    }
}

/// Returns the file, or the policy files in a directory and below it, in the order of their names.
fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    match path.is_dir() {
        true => add_files(path, 0, &mut files)?,
        false => files.push(path.to_owned()),
    }
    Ok(files)
}

fn add_files(directory: &Path, level: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let entries: Result<Vec<_>, _> = fs::read_dir(directory)?.take(MAX_ENTRIES + 1).collect();
    let mut entries = entries?;
    if level >= MAX_LEVELS || entries.len() > MAX_ENTRIES || files.len() > MAX_ENTRIES {
        let message =
            format!("more than {MAX_LEVELS} directories inside each other, or {MAX_ENTRIES} files, the limits");
        return Err(std::io::Error::other(message));
    }
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        // Links are not followed, because they may form a circle.
        if entry.file_type()?.is_dir() && !is_hidden {
            add_files(&path, level + 1, files)?;
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            files.push(path);
        }
    }
    Ok(())
}

#[derive(Default)]
struct Builder {
    policies: Vec<Policy>,
    files: Vec<PolicyFile>,
    named: Vec<NamedPolicies>,
    cases: usize,
}

impl Builder {
    fn add_file(&mut self, file: &Path, open: OpenFile<'_>) -> Result<(), Error> {
        let text = match open(&normal(file)) {
            Some(text) => text,
            None => text_of(file).map_err(|error| cannot_read(file, error))?,
        };
        let name = file.display().to_string();
        let read: Result<PoliciesText, _> = toml::from_str(&text);
        let read = read.map_err(|error| SettingFault::of_toml(&error).located(&name, &text))?;
        self.add(&name, &text, read.policy)
    }

    fn add(&mut self, name: &str, text: &str, tables: Vec<PolicyTable>) -> Result<(), Error> {
        if tables.is_empty() {
            return Ok(());
        }
        let mut file = PolicyFile {
            name: name.to_owned(),
            text: text.to_owned(),
            cases: Vec::new(),
            policies: Vec::new(),
        };
        let source = Source::of(name, text.as_bytes().to_vec());
        for table in tables {
            self.table(table, &source, &mut file)
                .map_err(|fault| fault.located(name, text))?;
        }
        self.files.push(file);
        Ok(())
    }

    fn table(&mut self, table: PolicyTable, source: &Source, file: &mut PolicyFile) -> Result<(), SettingFault> {
        let number = self.policies.len();
        let id = table.id.get_ref();
        if number >= MAX_POLICIES {
            return Err(SettingFault::at(
                &table.id,
                format!("more than {MAX_POLICIES} policies, the limit"),
            ));
        }
        if catalogue::find(id).is_some() {
            return Err(SettingFault::at(
                &table.id,
                format!("xdsctl has a rule `{id}`: give the policy another id"),
            ));
        }
        if self.policies.iter().any(|known| known.rule.id == id) {
            return Err(SettingFault::at(&table.id, format!("there is a policy `{id}` already")));
        }
        for (cases, is_accepted) in [(table.accepted.as_slice(), true), (&table.rejected, false)] {
            for case in cases {
                self.cases += 1;
                if self.cases > MAX_CASES {
                    return Err(SettingFault::at(
                        case,
                        format!("more than {MAX_CASES} cases, the limit"),
                    ));
                }
                file.cases.push(read_case(number, is_accepted, case)?);
            }
        }
        let line = source.line_column(table.id.span().start).line;
        let owned = |text: &Option<Spanned<String>>| text.as_ref().map(|text| text.get_ref().clone());
        let variables = table.variables.iter();
        let policy = Policy::new(PolicyText {
            id: id.clone(),
            matches: table.r#match.get_ref().clone(),
            name: owned(&table.resource),
            target: owned(&table.target),
            at: owned(&table.at),
            expression: table.expression.get_ref().clone(),
            variables: variables
                .map(|one| (one.name.get_ref().clone(), one.expression.get_ref().clone()))
                .collect(),
            message: owned(&table.message),
            message_expression: owned(&table.message_expression),
            severity: table.severity.map(Level::severity),
            help: owned(&table.help),
            page: table.page.clone().unwrap_or_default(),
            place: format!("{}:{line}", file.name),
        });
        let policy = policy.map_err(|(part, fault)| {
            let place = table.part(part);
            let span = within(&file.text, place.span(), place.get_ref(), &fault.span);
            let message = fault.message;
            SettingFault { message, span }
        })?;
        file.policies.push((number, table.id.span()));
        self.policies.push(policy);
        Ok(())
    }

    fn finish(self) -> ProjectPolicies {
        ProjectPolicies {
            named: self.named,
            policies: Arc::new(Policies { list: self.policies }),
            files: self.files,
        }
    }
}

impl PolicyTable {
    /// Returns a part of the policy with its span.
    fn part(&self, part: Part) -> &Spanned<String> {
        let variable = |number: usize| self.variables.get(number);
        let found = match part {
            Part::Id => Some(&self.id),
            Part::Match => Some(&self.r#match),
            Part::Name => self.resource.as_ref(),
            Part::Target => self.target.as_ref(),
            Part::At => self.at.as_ref(),
            Part::Expression => Some(&self.expression),
            Part::VariableName(number) => variable(number).map(|one| &one.name),
            Part::Variable(number) => variable(number).map(|one| &one.expression),
            Part::Message => self.message.as_ref(),
            Part::MessageExpression => self.message_expression.as_ref(),
            Part::Help => self.help.as_ref(),
        };
        found.unwrap_or(&self.id)
    }
}

fn read_case(policy: usize, is_accepted: bool, case: &Spanned<CaseTable>) -> Result<Case, SettingFault> {
    let table = case.get_ref();
    if table.yaml.is_some() != table.files.is_empty() {
        let message = "a case has resources in `yaml`, or their `files`: one of the two";
        return Err(SettingFault::at(case, message));
    }
    if is_accepted && (!table.at.is_empty() || table.message.is_some()) {
        let message = "`at` and `message` are about what is found, and in an accepted case nothing is";
        return Err(SettingFault::at(case, message));
    }
    let client = table.client.as_ref().map(|name| {
        let client = Client::parse_one(name.get_ref());
        client.map_err(|why| SettingFault::at(name, why.to_string()))
    });
    Ok(Case {
        policy,
        is_accepted,
        table: table.clone(),
        client: client.transpose()?,
        span: case.span(),
    })
}

/// Returns the span in the file of a part of a value. Returns the whole value if it is written with
/// escapes.
fn within(text: &str, place: Range<usize>, value: &str, part: &Range<usize>) -> Range<usize> {
    let written = text.get(place.clone()).and_then(|written| written.find(value));
    match written {
        Some(at) => place.start + at + part.start..place.start + at + part.end,
        None => place,
    }
}
