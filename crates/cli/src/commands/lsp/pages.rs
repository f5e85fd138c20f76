//! Writes the pages of rules as files, which an editor opens when a finding links to its rule.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xdsctl_lsp::project::ProjectFinding;
use xdsctl_lsp::uri;
use xdsctl_model::diag::Rule;
use xdsctl_report::explain;

/// The directory for pages, and the pages that were written.
#[derive(Debug, Default)]
pub(super) struct Pages {
    directory: Option<PathBuf>,
    written: BTreeMap<&'static str, Option<Arc<str>>>,
}

impl Pages {
    /// Returns pages in the user's cache directory, if there is one and `is_wanted`.
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

/// Writes a page. Returns `None` if that fails; the finding is then shown without a page.
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
