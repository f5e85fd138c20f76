//! Recognises unrendered templates, such as those of Helm charts.
//!
//! The actions of Go's templates, which Helm uses, are recognised even in a document that can be
//! parsed: `name: {{ .Values.name }}` is valid YAML. Only actions inside a resource count, because
//! other objects may rightly hold templates. Other template languages are recognised only in
//! documents that cannot be parsed.

use crate::source::Span;

pub(super) const MESSAGE: &str = "this is a template that was not rendered: what `{{ }}` stands for is not there";

pub(super) const HELP: &str = "render it first: `helm template CHART | xdsctl validate -`";

/// The number of actions that are looked at.
const MAX_ACTIONS: usize = 1_000;

/// The words with which an action of a Go template can begin. An action can also begin with a
/// field, a variable or a comment.
const WORDS: &[&[u8]] = &[
    b"block",
    b"default",
    b"define",
    b"else",
    b"end",
    b"if",
    b"include",
    b"index",
    b"printf",
    b"quote",
    b"range",
    b"required",
    b"template",
    b"toYaml",
    b"tpl",
    b"with",
];

/// The offsets of the actions in a document, and the first action inside a resource.
pub(super) struct Actions {
    starts: Vec<usize>,
    inside: Option<Span>,
}

impl Actions {
    pub(super) fn of(bytes: &[u8]) -> Actions {
        let braces = memchr::memmem::find_iter(bytes, b"{{");
        let starts = braces.filter(|start| bytes.get(start + 2..).is_some_and(is_action));
        Actions {
            starts: starts.take(MAX_ACTIONS).collect(),
            inside: None,
        }
    }

    /// Records that there is a resource at `span`.
    pub(super) fn look(&mut self, span: Span) {
        if self.starts.is_empty() || self.inside.is_some() {
            return;
        }
        let next = self.starts.partition_point(|start| *start < span.start);
        let start = self.starts.get(next).filter(|start| **start < span.end);
        self.inside = start.map(|start| Span::new(*start, start + 2));
    }

    /// Returns an action that proves that the document is a template. If the document `is_broken`,
    /// any action does.
    pub(super) fn found(&self, is_broken: bool) -> Option<Span> {
        let first = self.starts.first().filter(|_| is_broken);
        first.map(|start| Span::new(*start, start + 2)).or(self.inside)
    }
}

/// Says whether what follows `{{` is an action of a Go template.
fn is_action(rest: &[u8]) -> bool {
    let rest = rest.strip_prefix(b"-").unwrap_or(rest).trim_ascii_start();
    let is_letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    match rest.first() {
        Some(b'.' | b'$') => is_letter(rest.get(1)),
        Some(b'/') => rest.starts_with(b"/*"),
        _ => WORDS.iter().any(|word| {
            rest.strip_prefix(*word)
                .is_some_and(|rest| matches!(rest.first(), Some(b' ' | b'-' | b'}')))
        }),
    }
}

/// Markers of templates: Go and Jinja, Jinja, ERB and similar, Mako.
const SIGNS: &[&[u8]] = &[b"{{", b"{%", b"<%", b"\n% ", b"${"];

/// Says whether a document that cannot be parsed may be an unrendered template.
pub(super) fn is_any(bytes: &[u8]) -> bool {
    SIGNS.iter().any(|sign| memchr::memmem::find(bytes, sign).is_some())
}
