//! `--format markdown`: a comment for a pull request.
//!
//! Names and values come from documents: none of them becomes a heading, a link, a mention or HTML.

use std::io::{self, Write};

use super::{ByFinding, Finding, ResourceReport, Summary, counts, file_and_place, not_checked, sentence, verdicts};
use crate::edge::visible_line;
use crate::paths::PrintedPaths;
use xdsctl_model::diag::Severity;

/// Most bytes of findings in a comment, which may have 65,536 characters on GitHub; further
/// findings are counted.
pub const MAX_COMMENT_BYTES: usize = 60_000;

/// Collects the findings by severity.
pub struct Markdown<W: Write> {
    paths: PrintedPaths,
    out: W,
    items: Vec<(Severity, String)>,
}

impl<W: Write> Markdown<W> {
    /// Creates a writer; nothing is written yet.
    pub const fn new(paths: PrintedPaths, out: W) -> Self {
        Markdown {
            paths,
            out,
            items: Vec::new(),
        }
    }
}

impl<W: Write> ByFinding for Markdown<W> {
    fn finding(&mut self, resource: Option<&ResourceReport>, finding: &Finding) -> io::Result<()> {
        let (file, place) = file_and_place(resource, finding);
        let mut item = String::from("- ");
        if let Some(file) = file {
            let line = place.map_or_else(String::new, |place| format!(":{}", place.line));
            item += &format!("{} ", code(&format!("{}{line}", self.paths.relative(file))));
        }
        let rule = finding.rule;
        let by = match &*finding.by {
            "" => finding.effects(),
            by => by,
        };
        item += &format!("**{}** ({}): ", rule.id, by);
        item += &inline(&sentence(resource, finding));
        if !finding.path.is_empty() {
            item += &format!("  \n  at {}", code(&finding.path.to_string()));
        }
        for related in &finding.related {
            let line = related
                .place
                .as_ref()
                .map_or_else(String::new, |place| format!(" (line {})", place.line));
            let path = code(&related.path.to_string());
            item += &format!("  \n  see {path}{line}: {}", inline(&related.said()));
        }
        if let Some(help) = &finding.help {
            item += &format!("  \n  help: {}", inline(help));
        }
        item.push('\n');
        self.items.push((finding.severity, item));
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let out = &mut self.out;
        writeln!(out, "### xdsctl: {}\n", counts(summary))?;
        writeln!(out, "What {} does with {}.\n", summary.asked, verdicts(summary))?;
        self.items.sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
        let mut left = MAX_COMMENT_BYTES;
        let mut section = None;
        let mut omitted = 0;
        for (severity, item) in &self.items {
            if omitted > 0 || item.len() > left {
                omitted += 1;
                continue;
            }
            left -= item.len();
            if section.replace(*severity) != Some(*severity) {
                let title = match severity {
                    Severity::Error => "Errors",
                    Severity::Warning => "Warnings",
                    Severity::Note => "Notes",
                };
                let gap = if left + item.len() == MAX_COMMENT_BYTES {
                    ""
                } else {
                    "\n"
                };
                writeln!(out, "{gap}#### {title}\n")?;
            }
            out.write_all(item.as_bytes())?;
        }
        if omitted > 0 {
            writeln!(
                out,
                "\n{omitted} more do not fit: a comment has {MAX_COMMENT_BYTES} bytes for them"
            )?;
        }
        if let Some(line) = not_checked::line(&summary.not_checked) {
            writeln!(out, "\n{}", inline(&line))?;
        }
        out.flush()
    }
}

/// Writes quoted pieces of a text as code, and the rest as plain text.
pub(crate) fn inline(text: &str) -> String {
    let text = visible_line(text);
    let pieces: Vec<&str> = text.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        // The last quote is not closed.
        return plain(&text);
    }
    let quoted = |(number, piece): (usize, &&str)| match number % 2 {
        0 => plain(piece),
        _ => code(piece),
    };
    pieces.iter().enumerate().map(quoted).collect()
}

/// Writes a text as code, whatever it contains.
pub(crate) fn code(text: &str) -> String {
    let text = visible_line(text);
    if text.is_empty() {
        return "``".to_owned();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let needs_space = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let space = if needs_space { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Escapes a text so that Markdown does not interpret it.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // These characters would notify somebody or link another page.
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            ':' => out.push_str("&#58;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out.replace("&#58; ", ": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_document_is_markup() {
        assert_eq!(
            inline("Cluster `a*b`: is_bad <b> @me #1"),
            "Cluster `a*b`: is\\_bad &lt;b&gt; &#64;me &#35;1"
        );
        assert_eq!(inline("a ` b*"), "a \\` b\\*");
        assert_eq!(inline("see http://x"), "see http&#58;//x");
        assert_eq!(inline("`a\nb`"), "`a\\nb`");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(inline("name `` is empty"), "name `` is empty");
    }
}
