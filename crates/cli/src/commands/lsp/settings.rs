//! `xdsctl.toml` and the files of policies that it names, with their texts in an editor. A fault in
//! one becomes a finding with its place.
//!
//! While somebody types in one of them, it may be invalid. Then the saved files are used for all
//! other documents; without saved files, the defaults are used.

use std::path::{Path, PathBuf};

use crate::args::ConfigArgs;
use crate::config::{self, ProjectConfig, policies};
use crate::{Error, Io};
use xdsctl_document::secret;
use xdsctl_document::source::SourceId;
use xdsctl_lsp::project::ProjectFinding;
use xdsctl_lsp::{OpenTexts, Snapshot};

/// The settings of a project.
pub(super) struct Settings {
    /// `xdsctl.toml`.
    pub file: PathBuf,
    /// The text in the editor, or else in the file.
    text: String,
    /// The texts of open files of policies.
    policies: Vec<(PathBuf, String)>,
}

impl Settings {
    /// Returns the settings of a directory, or of one around it.
    pub fn of(directory: &Path, open: &OpenTexts) -> Option<Settings> {
        let file = config::find(directory)?;
        let saved = || config::text_of(&file).ok();
        let opened = open.get(&file).map(|open| open.text.to_string());
        let text = opened.or_else(saved)?;
        let is_named = |policy: &Path| {
            let by_editor = policies::names(&file, &text, policy);
            by_editor.or_else(|| policies::names(&file, &saved()?, policy)) == Some(true)
        };
        let named = open
            .iter()
            .filter(|(policy, _)| may_be_policies(policy) && is_named(policy));
        let policies = named
            .map(|(policy, open)| (policy.clone(), open.text.to_string()))
            .collect();
        Some(Settings { file, text, policies })
    }

    /// Returns the texts, each with its file.
    pub fn texts(&self) -> impl Iterator<Item = (&Path, &str)> {
        let policies = self.policies.iter().map(|(file, text)| (file.as_path(), text.as_str()));
        std::iter::once((self.file.as_path(), self.text.as_str())).chain(policies)
    }

    /// Returns the settings, and the fault in them if there is one. With a fault, they are the
    /// saved settings, or the defaults.
    ///
    /// # Errors
    /// Neither the settings nor the defaults can be used.
    pub fn read(&self, args: &ConfigArgs, io: &Io<'_>) -> Result<(ProjectConfig, Option<Error>), Error> {
        let open = |file: &Path| {
            let mut policies = self.policies.iter();
            policies.find_map(|(policy, text)| (policy == file).then(|| text.clone()))
        };
        let error = match ProjectConfig::of_text(&self.file, self.text.clone(), &open, args, io) {
            Ok(config) => return Ok((config, None)),
            Err(error) => error,
        };
        let saved = config::text_of(&self.file).unwrap_or_default();
        let nothing = || ProjectConfig::of_text(&self.file, String::new(), &|_| None, args, io);
        let config = ProjectConfig::of_text(&self.file, saved, &|_| None, args, io).or_else(|_| nothing())?;
        Ok((config, Some(error)))
    }
}

/// Says whether a file has the extension of a file of policies.
pub(super) fn may_be_policies(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "toml")
}

/// Adds an error as a finding if it has a place in this file. Says whether it has.
pub(super) fn place(error: &Error, id: SourceId, name: &str, snapshot: &mut Snapshot) -> bool {
    match error {
        Error::Marked {
            file, span, message, ..
        } if **file == *name => {
            let message = secret::hide(message).into_owned();
            snapshot.findings.push(ProjectFinding::of_text(id, *span, message));
            true
        }
        _ => false,
    }
}
