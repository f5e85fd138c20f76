//! A finding with its lines, in the form in which miette draws it.

use std::fmt;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, SourceSpan, SpanContents};

use super::{FindingsStyle, Named};
use crate::SourcePlace;
use crate::edge::{visible, visible_line};
use crate::findings::Finding;
use xdsctl_model::diag::Severity;

/// Longest path that is printed, in characters; a longer one is printed without its middle.
const MAX_PATH_CHARS: usize = 400;

pub(super) fn handler(style: FindingsStyle) -> GraphicalReportHandler {
    let theme = match (style.unicode, style.colour) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, true) => GraphicalTheme::ascii(),
        (false, false) => GraphicalTheme::none(),
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

/// A finding, as miette sees it.
pub(super) struct FindingView<'a> {
    /// Whether a long path is printed in full.
    pub is_whole: bool,
    pub resource: Option<&'a Named>,
    pub finding: &'a Finding,
}

impl fmt::Debug for FindingView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for FindingView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(resource) = self.resource {
            let type_name = visible_line(&resource.type_name);
            write!(f, "{type_name} `{}`: ", visible_line(&resource.name))?;
        }
        f.write_str(&visible(&self.finding.message))?;
        if !self.finding.path.is_empty() {
            write!(f, "\nat {}", visible_line(&self.path()))?;
        }
        if let Some(place) = self.finding.place.as_deref().filter(|place| place.snippet.is_none()) {
            let SourcePlace { file, line, column, .. } = place;
            write!(f, "\nin {}:{line}:{column}", visible_line(file))?;
        }
        for related in &self.finding.related {
            write!(f, "\nsee {related}")?;
        }
        Ok(())
    }
}

impl FindingView<'_> {
    /// Returns the text of the path, without its middle if it is longer than [`MAX_PATH_CHARS`].
    fn path(&self) -> String {
        let text = self.finding.path.to_string();
        let count = text.chars().count();
        if count <= MAX_PATH_CHARS || self.is_whole {
            return text;
        }
        let half = MAX_PATH_CHARS / 2;
        let head = text.chars().take(half);
        let tail = text.chars().skip(count - half);
        head.chain(['…']).chain(tail).collect()
    }
}

impl std::error::Error for FindingView<'_> {}

impl miette::Diagnostic for FindingView<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(format!(
            "{} ({})",
            self.finding.rule.id,
            self.finding.effects()
        )))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.finding.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.finding
            .help
            .as_ref()
            .map(|help| Box::new(visible(help)) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        let place = self.finding.place.as_deref()?;
        place.snippet.as_ref()?;
        Some(place)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let snippet = self.finding.place.as_ref()?.snippet.as_ref()?;
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
