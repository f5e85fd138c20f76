//! Writes YAML nodes as JSON: commas, anchors, aliases and merge keys.

use granit_parser::{ScalarStyle, Tag};

use super::merge::{Anchored, ViewMark};
use super::scalar::{ScalarForm, form};
use super::{MAX_ALIAS_BYTES, MAX_ALIAS_NODES, MAX_MERGE_BYTES};
use crate::source::Span;
use crate::source::view::{FaultKind, View};

/// The properties of a node (anchor and tag), and its place.
#[derive(Clone, Copy)]
pub(super) struct YamlNode<'a> {
    pub span: Span,
    /// The number of its anchor; 0 if it has none.
    pub anchor: usize,
    pub tag: Option<&'a Tag>,
}

/// The role of the next node in a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Key,
    Value,
    /// The value of a merge key.
    Merge,
}

/// A collection that is open.
#[derive(Debug)]
struct OpenCollection {
    start: ViewMark,
    anchor: usize,
    /// The role of the next node; `None` in a sequence.
    expect: Option<Expect>,
    is_empty: bool,
    /// The sources of merge keys, each with the span of its key; `None` for a node that is still
    /// open.
    merges: Vec<(Option<Anchored>, Span)>,
    /// The number of anchors before the collection began.
    anchors_before: usize,
}

/// Writes one view.
#[derive(Debug)]
pub(super) struct YamlWriter {
    pub view: View,
    frames: Vec<OpenCollection>,
    /// What each anchor names, by the number of the anchor.
    pub anchors: Vec<Option<Anchored>>,
    /// The offset in the view at which the document starts.
    document: usize,
    /// How many bytes and nodes aliases may still add.
    pub bytes_left: usize,
    pub nodes_left: usize,
    /// How many bytes merge keys may still read.
    pub merge_left: usize,
    pub limit_reported: bool,
    merge_key: Span,
    /// The offset in the document at which the last token ended.
    last_end: usize,
}

impl YamlWriter {
    pub(super) fn new(view: View) -> Self {
        YamlWriter {
            view,
            frames: Vec::new(),
            anchors: Vec::new(),
            document: 0,
            bytes_left: MAX_ALIAS_BYTES,
            nodes_left: MAX_ALIAS_NODES,
            merge_left: MAX_MERGE_BYTES,
            limit_reported: false,
            merge_key: Span::default(),
            last_end: 0,
        }
    }

    /// Says whether the view has reached its size limit; if so, reports that and ends the document.
    pub(super) fn is_full(&mut self) -> bool {
        if !self.view.is_full() {
            return false;
        }
        let span = Span::new(self.last_end, self.last_end);
        self.fault(FaultKind::Limit, span, "the document is too large as JSON".to_owned());
        self.end_document(true);
        true
    }

    pub(super) fn fault(&mut self, kind: FaultKind, span: Span, message: String) {
        self.view.fault(kind, span, message);
    }

    pub(super) fn end_document(&mut self, cut: bool) {
        if !cut && self.view.json.get(self.document..) == Some(b"null") {
            // There is nothing between two document marks, or after the last mark.
            self.view.json.truncate(self.document);
            self.view.tokens.pop();
        }
        self.view.end_part(self.document, cut);
        self.document = self.view.json.len();
        self.frames.clear();
    }

    fn mark(&self) -> ViewMark {
        ViewMark::end_of(&self.view)
    }

    /// Writes the punctuation before a node. Says whether the node is a key.
    #[inline]
    fn before(&mut self) -> bool {
        let Some(frame) = self.frames.last_mut() else {
            return false;
        };
        match frame.expect {
            Some(Expect::Value) => {
                self.view.json.push(b':');
                return false;
            }
            Some(Expect::Merge) => return false,
            _ => {}
        }
        if !std::mem::take(&mut frame.is_empty) {
            self.view.json.push(b',');
        }
        frame.expect == Some(Expect::Key)
    }

    /// Updates the state after a node that started at `start`.
    #[inline]
    fn after(&mut self, start: ViewMark, anchors_before: usize) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        match frame.expect {
            None => {}
            Some(Expect::Key) => frame.expect = Some(Expect::Value),
            Some(Expect::Value) => frame.expect = Some(Expect::Key),
            Some(Expect::Merge) => {
                frame.expect = Some(Expect::Key);
                let piece = self.cut(start, anchors_before);
                let key = self.merge_key;
                if let Some(frame) = self.frames.last_mut() {
                    frame.merges.push((Some(Anchored::whole(piece)), key));
                }
            }
        }
    }

    /// Writes a scalar.
    pub(super) fn scalar(&mut self, text: &str, style: ScalarStyle, node: YamlNode<'_>) {
        if text == "<<" && style == ScalarStyle::Plain && node.tag.is_none() && self.is_at_key() {
            if let Some(frame) = self.frames.last_mut() {
                frame.expect = Some(Expect::Merge);
            }
            self.merge_key = node.span;
            return;
        }
        let anchors_before = self.anchors.len();
        let is_key = self.before();
        let start = self.mark();
        if is_key
            && let Some(frame) = self.frames.last()
            && frame.start.json + 1 == start.json
        {
            self.patch_bracket(frame.start.token, node.span);
        }
        self.view.token_from(node.span);
        self.last_end = node.span.end;
        if is_key || style != ScalarStyle::Plain || node.tag.is_some() {
            self.tagged(text, style, node.tag, is_key);
        } else {
            self.plain(text);
        }
        self.name(node.anchor, start);
        self.after(start, anchors_before);
    }

    fn plain(&mut self, text: &str) {
        match form(text) {
            ScalarForm::Null => self.view.json.extend_from_slice(b"null"),
            ScalarForm::Bare => self.view.json.extend_from_slice(text.as_bytes()),
            ScalarForm::Text => self.view.quoted(text.as_bytes()),
            ScalarForm::Marked => self.view.marked(text),
        }
    }

    /// Writes a scalar that is not plain, or that has a tag.
    fn tagged(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, is_key: bool) {
        let suffix = tag
            .filter(|_| !is_key)
            .and_then(|tag| tag.suffix_in_namespace("tag:yaml.org,2002:"));
        match suffix.as_deref() {
            Some("int" | "float" | "bool" | "null") => self.plain(text),
            Some("binary") => {
                let packed: String = text.split_ascii_whitespace().collect();
                self.view.quoted(packed.as_bytes());
            }
            // A tag without a meaning here leaves a plain scalar as it is. The tag `!` makes it a
            // text.
            None if style == ScalarStyle::Plain
                && !is_key
                && tag.is_some_and(|tag| !matches!(tag.suffix(), "" | "!")) =>
            {
                self.plain(text);
            }
            _ => self.view.quoted(text.as_bytes()),
        }
    }

    /// Says whether the next node is a key.
    fn is_at_key(&self) -> bool {
        self.expects(Expect::Key)
    }

    fn expects(&self, role: Expect) -> bool {
        self.frames.last().is_some_and(|frame| frame.expect == Some(role))
    }

    /// Opens a mapping or a sequence.
    pub(super) fn open(&mut self, node: YamlNode<'_>, mapping: bool) {
        let anchors_before = self.anchors.len();
        self.before();
        let start = self.mark();
        self.name(node.anchor, start);
        if let Some(Some(anchored)) = self.anchors.get_mut(node.anchor).filter(|_| node.anchor > 0) {
            anchored.end = None;
        }
        let span = Span::new(node.span.start, node.span.end.max(node.span.start + 1));
        self.view.bracket(if mapping { b'{' } else { b'[' }, span);
        self.last_end = node.span.end;
        self.frames.push(OpenCollection {
            start,
            anchor: node.anchor,
            expect: mapping.then_some(Expect::Key),
            is_empty: true,
            merges: Vec::new(),
            anchors_before,
        });
    }

    /// Gives the bracket of a block mapping the span of its first key.
    fn patch_bracket(&mut self, token: usize, key: Span) {
        #[expect(clippy::cast_possible_truncation, reason = "documents are limited to 32 bits")]
        if let Some(token) = self.view.tokens.get_mut(token)
            && token.start as usize == key.start
        {
            token.end = key.end as u32;
        }
    }

    /// Closes the innermost collection.
    pub(super) fn close(&mut self, span: Span) {
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        let is_mapping = frame.expect.is_some();
        if !frame.merges.is_empty() {
            let merges = std::mem::take(&mut frame.merges);
            self.merge(frame.start, &mut frame.is_empty, merges);
        }
        // A block collection ends where its last node ended, not where the next node starts.
        let end = if span.end > span.start {
            span
        } else {
            Span::new(self.last_end, self.last_end)
        };
        self.view.bracket(if is_mapping { b'}' } else { b']' }, end);
        self.last_end = end.end;
        let mark = self.mark();
        if let Some(Some(anchored)) = self.anchors.get_mut(frame.anchor).filter(|_| frame.anchor > 0) {
            anchored.end = Some(mark);
        }
        if self.is_at_key() {
            // JSON has no collections as keys. The text of the collection becomes the key, which no
            // message has as a field.
            let piece = self.cut(frame.start, frame.anchors_before);
            self.view.string(&piece.json, end);
        }
        self.after(frame.start, frame.anchors_before);
    }

    /// Records that the node from `start` to here has this anchor.
    pub(super) fn name(&mut self, anchor: usize, start: ViewMark) {
        if anchor == 0 {
            return;
        }
        self.view.is_rearranged = true;
        if self.anchors.len() <= anchor {
            self.anchors.resize(anchor + 1, None);
        }
        let end = Some(self.mark());
        if let Some(slot) = self.anchors.get_mut(anchor) {
            *slot = Some(Anchored {
                piece: None,
                start,
                end,
            });
        }
    }

    /// Writes the node that an alias names.
    pub(super) fn alias(&mut self, anchor: usize, span: Span) {
        self.view.is_rearranged = true;
        let source = self.closed(anchor);
        if self.expects(Expect::Merge) {
            let key = self.merge_key;
            if let Some(frame) = self.frames.last_mut() {
                frame.expect = Some(Expect::Key);
                frame.merges.push((source, key));
            }
            return;
        }
        let anchors_before = self.anchors.len();
        let is_key = self.before();
        let start = self.mark();
        self.last_end = span.end;
        match source {
            Some(source) if self.afford(source.size(), span) => self.copy(source.piece.as_deref(), source.text()),
            Some(_) => self.view.raw(b"null", span),
            None => {
                let message = "an alias inside the node that it names, read as null".to_owned();
                self.fault(FaultKind::Syntax, span, message);
                self.view.raw(b"null", span);
            }
        }
        if is_key && self.view.json.get(start.json) != Some(&b'"') {
            let piece = self.cut(start, anchors_before);
            self.view.string(&piece.json, span);
        }
        self.after(start, anchors_before);
    }

    /// Writes `null` for an alias without an anchor.
    pub(super) fn unknown_alias(&mut self, name: &str, span: Span) {
        let message = "no anchor before this alias, read as null".to_owned();
        self.fault(FaultKind::Syntax, span, message);
        let anchors_before = self.anchors.len();
        let is_key = self.before();
        let start = self.mark();
        if is_key {
            self.view.string(name.as_bytes(), span);
        } else {
            self.view.raw(b"null", span);
        }
        self.after(start, anchors_before);
    }
}
