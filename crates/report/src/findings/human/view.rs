//! A finding with its lines, in the form in which miette draws it.

use std::fmt;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, SourceSpan, SpanContents};

use super::FindingsStyle;
use crate::SourcePlace;
use crate::edge::{visible, visible_line};
use crate::findings::Finding;
use xdsctl_model::diag::Severity;

/// Longest path that is printed, in characters; a longer one is printed without its middle.
const MAX_PATH_CHARS: usize = 400;

pub(super) fn handler(style: FindingsStyle) -> GraphicalReportHandler {
    let theme = match style.colour {
        true => GraphicalTheme::unicode(),
        false => GraphicalTheme::unicode_nocolor(),
    };
    GraphicalReportHandler::new_themed(theme)
        .with_width(style.width.unwrap_or(usize::MAX))
        .with_wrap_lines(style.width.is_some())
        // Paths and names are not broken, so that they can be found and copied.
        .with_break_words(false)
        .with_word_separator(textwrap::WordSeparator::AsciiSpace)
        .with_word_splitter(textwrap::WordSplitter::NoHyphenation)
        .with_context_lines(1)
        .with_links(false)
}

/// A message with its lines, as miette sees it.
#[derive(Debug)]
pub(crate) struct MessageView<'a> {
    pub message: String,
    /// The rule and its effects; `None` for a message without a rule.
    pub code: Option<String>,
    pub help: Option<String>,
    pub severity: Severity,
    pub place: Option<&'a SourcePlace>,
}

impl<'a> MessageView<'a> {
    /// Makes the view of a finding. With `is_whole`, a long path is printed in full.
    pub(super) fn of(resource: Option<&str>, finding: &'a Finding, is_whole: bool) -> MessageView<'a> {
        let mut message = resource.map_or_else(String::new, |resource| format!("{resource} "));
        message += &finding.message;
        if !finding.path.is_empty() {
            message += &format!("\nat {}", visible_line(&path(finding, is_whole)));
        }
        let place = finding.place.as_deref();
        if let Some(SourcePlace { file, line, column, .. }) = place.filter(|place| place.snippet.is_none()) {
            message += &format!("\nin {}:{line}:{column}", visible_line(file));
        }
        for related in &finding.related {
            message += &format!("\nsee {related}");
        }
        MessageView {
            message,
            code: Some(format!("{} ({})", finding.rule.id, finding.effects())),
            help: finding.help.clone(),
            severity: finding.severity,
            place,
        }
    }
}

/// Returns the text of a path, without its middle if it is longer than [`MAX_PATH_CHARS`].
fn path(finding: &Finding, is_whole: bool) -> String {
    let text = finding.path.to_string();
    let count = text.chars().count();
    if count <= MAX_PATH_CHARS || is_whole {
        return text;
    }
    let half = MAX_PATH_CHARS / 2;
    let head = text.chars().take(half);
    let tail = text.chars().skip(count - half);
    head.chain(['…']).chain(tail).collect()
}

impl fmt::Display for MessageView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.message))
    }
}

impl std::error::Error for MessageView<'_> {}

impl miette::Diagnostic for MessageView<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code.as_ref()?))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(visible(self.help.as_ref()?)))
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        let place = self.place.filter(|place| place.snippet.is_some())?;
        Some(place)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let snippet = self.place?.snippet.as_ref()?;
        let span = LabeledSpan::new(None, snippet.start, snippet.len);
        Some(Box::new(std::iter::once(span)))
    }
}

/// The snippet as a source: a window with a first line of its own.
impl miette::SourceCode for SourcePlace {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let snippet = self.snippet.as_ref().ok_or(MietteError::OutOfBounds)?;
        // If no context is asked for, miette wants the position of the label itself, for the
        // header.
        let (line, column) = if before == 0 && after == 0 {
            (self.line.saturating_sub(1), self.column.saturating_sub(1))
        } else {
            (snippet.first_line.saturating_sub(1), 0)
        };
        let (data, covered) = if before == 0 && after == 0 {
            let end = span.offset().saturating_add(span.len()).min(snippet.text.len());
            let data = snippet.text.as_bytes().get(span.offset()..end);
            (data.ok_or(MietteError::OutOfBounds)?, *span)
        } else {
            (snippet.text.as_bytes(), SourceSpan::from(0..snippet.text.len()))
        };
        Ok(Box::new(miette::MietteSpanContents::new_named(
            visible_line(&self.file).into_owned(),
            data,
            covered,
            line,
            column,
            snippet.text.lines().count(),
        )))
    }
}
