//! `xdsctl.toml`: the settings of a project, for every run and every reader.
//!
//! The file is searched for in the current directory and those around it, up to the root of the
//! repository. Paths in it start at its own directory. Flags of the command line take precedence.

mod document;
pub mod policies;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::args::{ConfigArgs, FailOn, Level, ReportFormat, WorldMode};
use crate::io::input::cannot_read;
use crate::io::reach::{AllowedDirectories, directory_of};
use crate::{Error, Io};
use document::ConfigFile;
use policies::{OpenFile, ProjectPolicies};
use xdsctl_document::source::{Source, read_stream};
use xdsctl_lint::catalogue;
use xdsctl_lint::choice::{Ignore, RuleSelector};
use xdsctl_model::diag::Rule;
use xdsctl_model::diag::Severity;
use xdsctl_report::paths::{PrintedPaths, normal};

/// The name of the file.
pub const FILE_NAME: &str = "xdsctl.toml";

/// The largest settings file, in bytes. People write it, so it is small.
const MAX_BYTES: u64 = 16 << 20;

/// The entry that marks the root of a repository, where the search ends.
const REPOSITORY: &str = ".git";

/// A value in the file.
#[derive(Debug, Clone)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// The line of the file, from 1.
    pub line: usize,
}

/// The severity that a project gives to some rules.
#[derive(Debug, Clone)]
pub struct RuleSetting {
    /// The rules as they were written.
    pub text: String,
    /// The rules that the setting is about.
    pub rules: Vec<RuleSelector>,
    /// The new severity of the rules; `None` to drop their findings.
    pub severity: Option<Severity>,
}

/// One table `[[ignore]]`.
#[derive(Debug, Clone)]
pub struct IgnoreSetting {
    /// The rules as they were written.
    pub text: String,
    /// The suppression.
    pub ignore: Ignore,
    /// The span of the table in the file, in bytes.
    pub span: std::ops::Range<usize>,
}

/// The settings of a project.
#[derive(Debug, Clone, Default)]
pub struct ProjectConfig {
    /// The path of the file; `None` if there is none.
    pub file: Option<PathBuf>,
    /// The text of the file, for messages that quote a line.
    pub text: String,
    /// The directory at which paths and names of documents start.
    pub root: PathBuf,
    /// The current directory.
    here: PathBuf,
    /// The setting `bootstrap`, relative to the current directory.
    pub bootstrap: Option<Setting<PathBuf>>,
    /// The setting `worlds`.
    pub worlds: Option<Setting<WorldMode>>,
    /// The setting `complete`.
    pub complete: Option<Setting<bool>>,
    /// The setting `clients`.
    pub clients: Option<Setting<Vec<String>>>,
    /// The setting `fail-on`.
    pub fail_on: Option<Setting<FailOn>>,
    /// The setting `min-severity`.
    pub min_severity: Option<Setting<Level>>,
    /// The setting `format`.
    pub format: Option<Setting<ReportFormat>>,
    /// The setting `baseline`, relative to the current directory.
    pub baseline: Option<Setting<PathBuf>>,
    /// The table `[rules]`, in the order of the file.
    pub rules: Vec<Setting<RuleSetting>>,
    /// The tables `[[ignore]]`, in the order of the file.
    pub ignores: Vec<Setting<IgnoreSetting>>,
    /// The policies in `[[policy]]`, and in the files that `policies` names.
    pub policies: ProjectPolicies,
}

impl ProjectConfig {
    /// Reads the file that the arguments name, or else the one that is found.
    ///
    /// # Errors
    /// The file cannot be read, or something in it is not valid. The error has the place.
    pub fn of(args: &ConfigArgs, io: &Io<'_>) -> Result<ProjectConfig, Error> {
        let here = io.paths.directory.clone().unwrap_or_default();
        let reach = AllowedDirectories::of(&args.allow_read);
        let file = match &args.config {
            Some(file) => Some(file.clone()),
            None if args.no_config => None,
            None => match find(&here).map(|file| shown(&file, &here)) {
                Some(file) => Some(own_file(file, &reach)?),
                None => None,
            },
        };
        let Some(file) = file else {
            return Ok(ProjectConfig {
                root: here.clone(),
                here,
                ..ProjectConfig::default()
            });
        };
        let text = text_of(&file).map_err(|error| cannot_read(&file, error))?;
        Self::of_text(&file, text, &|_| None, args, io)
    }

    /// Reads the text of a file, which may be unsaved text of an editor. `open` returns the texts
    /// of policy files that are open there.
    ///
    /// # Errors
    /// Something in the text is not valid. The error has the place.
    pub fn of_text(
        file: &Path,
        text: String,
        open: OpenFile<'_>,
        args: &ConfigArgs,
        io: &Io<'_>,
    ) -> Result<ProjectConfig, Error> {
        let here = io.paths.directory.clone().unwrap_or_default();
        let reach = AllowedDirectories::of(&args.allow_read);
        let config = Self::read(file, text, &here, &reach, open)?;
        let named = [&config.bootstrap, &config.baseline].into_iter().flatten();
        for setting in named {
            let allowed = reach.check(&setting.value, directory_of(file));
            allowed.map_err(|why| {
                Error::Usage(format!(
                    "{}: cannot read `{}`: {why}",
                    config.place(setting),
                    setting.value.display()
                ))
            })?;
        }
        Ok(config)
    }

    /// Reads a file's text.
    fn read(
        file: &Path,
        text: String,
        here: &Path,
        reach: &AllowedDirectories,
        open: OpenFile<'_>,
    ) -> Result<ProjectConfig, Error> {
        let directory = file.parent().unwrap_or(Path::new(""));
        let name = file.display().to_string();
        let mut document = ConfigFile::read(&text).map_err(|fault| fault.located(&name, &text))?;
        let tables = std::mem::take(&mut document.policy);
        let policies = ProjectPolicies::of_project(tables, &document.policies, (file, &text), reach, open)?;
        let source = Source::of(name.as_str(), text.clone().into_bytes());
        let mut config = document
            .settings(&source, directory, &policies.policies)
            .map_err(|fault| fault.located(&name, &text))?;
        config.file = Some(PathBuf::from(name));
        config.root = normal(&here.join(directory));
        config.here = here.to_owned();
        config.text = text;
        config.policies = policies;
        Ok(config)
    }

    /// Returns the nearest settings file around an input, if it is not the one in use, because a
    /// user in another directory would not notice that it is missing. Returns `None` if the
    /// arguments choose the settings.
    ///
    /// The file is named to the user but not used: an input may come from anybody, and settings
    /// silence findings.
    pub fn passed_over(&self, args: &ConfigArgs, inputs: &[PathBuf]) -> Option<PathBuf> {
        if args.config.is_some() || args.no_config {
            return None;
        }
        let whole = |path: &Path| normal(&self.here.join(path));
        let own = self.file.as_deref().map(whole);
        let mut seen = BTreeSet::new();
        let directories = inputs.iter().filter_map(|input| match input.metadata().ok()?.is_dir() {
            true => Some(whole(input)),
            false => Some(whole(input).parent()?.to_owned()),
        });
        let once = directories.filter(|directory| seen.insert(directory.clone()));
        let mut around = once.filter_map(|directory| find(&directory));
        let other = around.find(|file| own.as_ref() != Some(file))?;
        Some(shown(&other, &self.here))
    }

    /// Returns every rule that the settings may name: xdsctl's rules, and those of the project's
    /// policies.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        catalogue::rules().chain(self.policies.policies.rules())
    }

    /// Returns the place of a setting.
    pub fn place<T>(&self, setting: &Setting<T>) -> String {
        let file = self.file.as_ref().map(|file| file.display().to_string());
        format!("{}:{}", file.unwrap_or_default(), setting.line)
    }

    /// Returns the name of a document relative to the configuration's directory, with slashes. It
    /// does not depend on where the command runs.
    pub fn stable_name(&self, name: &str) -> String {
        let paths = PrintedPaths {
            directory: Some(self.here.clone()),
            root: Some(self.root.clone()),
        };
        paths.relative(name)
    }
}

/// Returns the settings file in a directory or around it.
pub fn find(directory: &Path) -> Option<PathBuf> {
    for around in directory.ancestors() {
        let file = around.join(FILE_NAME);
        if file.symlink_metadata().is_ok() {
            return Some(file);
        }
        if around.join(REPOSITORY).exists() {
            return None;
        }
    }
    None
}

/// Returns the text of a settings file.
///
/// # Errors
/// The file cannot be read, is too large, or is not UTF-8.
pub fn text_of(file: &Path) -> std::io::Result<String> {
    let bytes = read_stream(&mut fs::File::open(file)?, MAX_BYTES)?;
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is not UTF-8"))
}

/// Checks a file that was found. It may be a link out of its directory, to a file that its reader
/// may not quote.
fn own_file(file: PathBuf, reach: &AllowedDirectories) -> Result<PathBuf, Error> {
    let metadata = reach.check(&file, directory_of(&file)).and_then(|()| file.metadata());
    match metadata {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(_) => Err(cannot_read(&file, std::io::Error::other("it is not a regular file"))),
        Err(error) => Err(cannot_read(&file, error)),
    }
}

/// Returns a path as a person in `here` would write it.
fn shown(path: &Path, here: &Path) -> PathBuf {
    let ups = here.ancestors().enumerate();
    for (up, around) in ups {
        if let Ok(below) = path.strip_prefix(around) {
            return std::iter::repeat_n(Path::new(".."), up).chain([below]).collect();
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_depend_on_how_a_file_is_named() {
        let here = std::env::current_dir().unwrap();
        let config = ProjectConfig {
            root: here.clone(),
            here: here.clone(),
            ..ProjectConfig::default()
        };
        let absolute = here.join("a/b.yaml");
        for name in ["a/b.yaml", "./a/b.yaml", "a/./c/../b.yaml", absolute.to_str().unwrap()] {
            assert_eq!(config.stable_name(name), "a/b.yaml", "{name}");
        }
        let config = ProjectConfig {
            root: here.join("a"),
            here,
            ..ProjectConfig::default()
        };
        assert_eq!(config.stable_name("a/b.yaml"), "b.yaml");
        assert_eq!(config.stable_name("/elsewhere/b.yaml"), "/elsewhere/b.yaml");
    }
}
