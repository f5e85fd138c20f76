//! The pages of rules as files: what an editor opens where a finding links to its rule.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xdsctl_lsp::project::ProjectFinding;
use xdsctl_lsp::uri;
use xdsctl_model::diag::Rule;
use xdsctl_report::explain;

/// Where pages are written, and those that have been.
#[derive(Debug, Default)]
pub(super) struct Pages {
    directory: Option<PathBuf>,
    written: BTreeMap<&'static str, Option<Arc<str>>>,
}

impl Pages {
    /// In the user's cache, if there is one and it is wanted.
    pub fn of_user(is_wanted: bool) -> Pages {
        let set = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let cache = set("XDG_CACHE_HOME")
            .or_else(|| set("LOCALAPPDATA"))
            .or_else(|| Some(set("HOME")?.join(".cache")));
        let version = env!("CARGO_PKG_VERSION");
        let directory = cache.filter(|cache| is_wanted && cache.is_absolute());
        Pages {
            directory: directory.map(|cache| cache.join("xdsctl").join(format!("rules-{version}"))),
            written: BTreeMap::new(),
        }
    }

    /// Gives each finding the page of its rule.
    pub fn write(&mut self, findings: &mut [ProjectFinding]) {
        let Some(directory) = &self.directory else {
            return;
        };
        for finding in findings {
            if let Some(rule) = finding.rule {
                let page = self.written.entry(rule.id).or_insert_with(|| page(directory, rule));
                finding.page.clone_from(page);
            }
        }
    }
}

/// Writes a page; `None` if that cannot be, which is no reason to say less of the document.
fn page(directory: &Path, rule: &'static Rule) -> Option<Arc<str>> {
    let mut text = Vec::new();
    explain::write_rule(rule, None, &mut text).ok()?;
    let file = directory.join(format!("{}.md", rule.id));
    if fs::read(&file).ok().as_ref() != Some(&text) {
        fs::create_dir_all(directory).ok()?;
        fs::write(&file, text).ok()?;
    }
    Some(uri::of(&file).into())
}
