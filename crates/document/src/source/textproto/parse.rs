//! Parses text format without a schema, into a flat tree of fields.

use super::MAX_NESTING;
use crate::source::Span;
use crate::source::view::{FaultKind, View};

/// The index that stands for no node.
pub(super) const NONE: u32 = u32::MAX;

/// One value of a field. Each element of a list is a node of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextNode {
    /// The span of the field's name, without brackets around it.
    pub name: Span,
    /// Whether the name is in brackets: it is an extension, or the type of an Any.
    pub bracketed: bool,
    /// The span of the value: the text of a scalar, or everything from bracket to bracket.
    pub span: Span,
    pub value: TextValue,
    /// The index of the next field of the same message.
    pub next: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextValue {
    /// A number or an identifier.
    Bare,
    /// One or several strings in quotes.
    Text,
    /// A message: the index of its first field, and whether the text ends inside it.
    Message { first: u32, open: bool },
}

/// A document in text format, as nodes in the order of the text.
#[derive(Debug)]
pub(super) struct TextprotoTree<'t> {
    pub text: &'t [u8],
    pub nodes: Vec<TextNode>,
    /// The index of the first field.
    pub first: u32,
    /// Whether the text could not be read to its end.
    pub open: bool,
    /// The span of the type in the header.
    pub header: Option<Span>,
}

impl<'t> TextprotoTree<'t> {
    pub fn slice(&self, span: Span) -> &'t [u8] {
        self.text.get(span.range()).unwrap_or_default()
    }

    pub fn node(&self, index: u32) -> Option<&TextNode> {
        self.nodes.get(index as usize)
    }

    /// Returns the fields of a message from the field `first` on.
    pub fn fields(&self, first: u32) -> impl Iterator<Item = (u32, &TextNode)> {
        let mut next = first;
        std::iter::from_fn(move || {
            let index = next;
            let node = self.node(index)?;
            next = node.next;
            Some((index, node))
        })
    }

    /// Returns the fields of a node that is a message.
    pub fn children(&self, node: &TextNode) -> impl Iterator<Item = (u32, &TextNode)> {
        let first = match node.value {
            TextValue::Message { first, .. } => first,
            TextValue::Bare | TextValue::Text => NONE,
        };
        self.fields(first)
    }

    /// Returns the bytes of the string or strings of a node.
    pub fn unescaped(&self, node: &TextNode) -> Vec<u8> {
        let mut parser = TextprotoParser::new(self.slice(node.span));
        let mut out = Vec::new();
        while matches!(parser.peek(), Some(b'"' | b'\'')) {
            let start = parser.pos + 1;
            if parser.string().is_err() {
                break;
            }
            let inside = parser.text.get(start..parser.pos - 1).unwrap_or_default();
            super::scalar::unescape(inside, &mut out);
        }
        out
    }
}

/// A message that is being read.
struct OpenMessage {
    /// The index of the message's node; `NONE` for the root.
    node: u32,
    /// The index of the last field that was read of the message.
    last: u32,
    close: u8,
    /// The name of the field whose list has this message as an element.
    list: Option<(Span, bool)>,
}

struct TextprotoParser<'t> {
    text: &'t [u8],
    pos: usize,
    header: Option<Span>,
}

type Result<T> = std::result::Result<T, &'static str>;

/// Parses a document. Faults are added to `view`.
pub(super) fn parse<'t>(text: &'t [u8], view: &mut View) -> TextprotoTree<'t> {
    let mut parser = TextprotoParser::new(text);
    parser.pos = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut tree = TextprotoTree {
        text,
        nodes: Vec::new(),
        first: NONE,
        open: false,
        header: None,
    };
    let mut frames = vec![OpenMessage {
        node: NONE,
        last: NONE,
        close: 0,
        list: None,
    }];
    loop {
        match parser.item(&mut tree, &mut frames) {
            Ok(true) => {}
            Ok(false) => break,
            Err(what) => {
                let at = parser.pos.min(text.len());
                let kind = if frames.len() > MAX_NESTING {
                    FaultKind::Limit
                } else {
                    FaultKind::Syntax
                };
                let ended = at >= text.len() && kind == FaultKind::Syntax;
                let what = if ended { "the text ends inside a message" } else { what };
                let message = format!("{what}, nothing is read from here on");
                view.fault(kind, Span::new(at, (at + 1).min(text.len())), message);
                for frame in &frames {
                    if let Some(node) = tree.nodes.get_mut(frame.node as usize)
                        && let TextValue::Message { first, .. } = node.value
                    {
                        node.value = TextValue::Message { first, open: true };
                        node.span.end = at;
                    }
                }
                tree.open = true;
                break;
            }
        }
    }
    tree.header = parser.header;
    tree
}

impl<'t> TextprotoParser<'t> {
    const fn new(text: &'t [u8]) -> Self {
        TextprotoParser {
            text,
            pos: 0,
            header: None,
        }
    }

    /// Skips white space and comments, and returns the next byte; `None` at the end.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.get(self.pos)? {
                b' ' | b'\n' | b'\r' | b'\t' | 0x0b | 0x0c => self.pos += 1,
                b'#' => self.comment(),
                byte => return Some(*byte),
            }
        }
    }

    fn comment(&mut self) {
        let start = self.pos + 1;
        let rest = self.text.get(start..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..end).unwrap_or_default().trim_ascii();
        if self.header.is_none()
            && let Some(name) = line.strip_prefix(b"proto-message:")
        {
            let name = name.trim_ascii();
            let at = start + memchr::memmem::find(rest, name).unwrap_or_default();
            self.header = Some(Span::new(at, at + name.len()));
        }
        self.pos = start + end;
    }

    /// Reads one field, or the end of a message or list. Returns false at the end of the text.
    fn item(&mut self, tree: &mut TextprotoTree<'t>, frames: &mut Vec<OpenMessage>) -> Result<bool> {
        let Some(frame) = frames.last() else {
            return Ok(false);
        };
        if let Some(list) = frame.list {
            return self.element(list, tree, frames).map(|()| true);
        }
        let close = frame.close;
        match self.peek() {
            None if close == 0 => return Ok(false),
            Some(byte) if byte == close && close != 0 => {
                self.pos += 1;
                return self.end_message(tree, frames).map(|()| true);
            }
            _ => {}
        }
        let (name, bracketed) = self.name()?;
        let colon = self.peek() == Some(b':');
        if colon {
            self.pos += 1;
        }
        match self.peek() {
            Some(b'[') => {
                self.pos += 1;
                if self.peek() == Some(b']') {
                    self.pos += 1;
                    self.separator();
                } else {
                    frames.push(OpenMessage {
                        node: NONE,
                        last: NONE,
                        close: b']',
                        list: Some((name, bracketed)),
                    });
                }
            }
            Some(b'{' | b'<') => self.open(name, bracketed, tree, frames)?,
            _ if !colon => return Err("expected `:` or `{` after the field name"),
            _ => {
                self.scalar(name, bracketed, tree, frames)?;
                self.separator();
            }
        }
        Ok(true)
    }

    /// Reads an element of a list and the separator after it.
    fn element(
        &mut self,
        (name, bracketed): (Span, bool),
        tree: &mut TextprotoTree<'t>,
        frames: &mut Vec<OpenMessage>,
    ) -> Result<()> {
        match self.peek() {
            Some(b'{' | b'<') => self.open(name, bracketed, tree, frames),
            _ => {
                self.scalar(name, bracketed, tree, frames)?;
                self.after_element(frames)
            }
        }
    }

    fn after_element(&mut self, frames: &mut Vec<OpenMessage>) -> Result<()> {
        match self.peek() {
            Some(b',') => {
                self.pos += 1;
                Ok(())
            }
            Some(b']') => {
                self.pos += 1;
                frames.pop();
                self.separator();
                Ok(())
            }
            _ => Err("expected `,` or `]`"),
        }
    }

    fn separator(&mut self) {
        if matches!(self.peek(), Some(b',' | b';')) {
            self.pos += 1;
        }
    }

    /// Starts a message.
    fn open(
        &mut self,
        name: Span,
        bracketed: bool,
        tree: &mut TextprotoTree<'t>,
        frames: &mut Vec<OpenMessage>,
    ) -> Result<()> {
        let close = if self.peek() == Some(b'<') { b'>' } else { b'}' };
        let value = TextValue::Message {
            first: NONE,
            open: false,
        };
        let node = add(name, bracketed, Span::new(self.pos, self.pos + 1), value, tree, frames);
        if frames.len() > MAX_NESTING {
            return Err("more than 1024 levels of messages");
        }
        self.pos += 1;
        frames.push(OpenMessage {
            node,
            last: NONE,
            close,
            list: None,
        });
        Ok(())
    }

    fn end_message(&mut self, tree: &mut TextprotoTree<'t>, frames: &mut Vec<OpenMessage>) -> Result<()> {
        let Some(frame) = frames.pop() else {
            return Ok(());
        };
        if let Some(node) = tree.nodes.get_mut(frame.node as usize) {
            node.span.end = self.pos;
        }
        if frames.last().is_some_and(|frame| frame.list.is_some()) {
            return self.after_element(frames);
        }
        self.separator();
        Ok(())
    }

    /// Reads a name, or a type URL in brackets.
    fn name(&mut self) -> Result<(Span, bool)> {
        let first = self.peek();
        let bracketed = first == Some(b'[');
        if bracketed {
            self.pos += 1;
            self.peek();
        }
        let start = self.pos;
        while let Some(byte) = self.text.get(self.pos) {
            let in_url = bracketed
                && matches!(
                    byte,
                    b'.' | b'/' | b'-' | b'%' | b'~' | b':' | b'+' | b'@' | b'&' | b'=' | b'$' | b'!' | b'*'
                );
            if !(byte.is_ascii_alphanumeric() || *byte == b'_' || in_url) {
                break;
            }
            self.pos += 1;
        }
        let name = Span::new(start, self.pos);
        if name.start == name.end {
            return Err("expected a field name");
        }
        if bracketed {
            if self.peek() != Some(b']') {
                return Err("expected `]` after the type");
            }
            self.pos += 1;
        }
        Ok((name, bracketed))
    }

    fn scalar(
        &mut self,
        name: Span,
        bracketed: bool,
        tree: &mut TextprotoTree<'t>,
        frames: &mut [OpenMessage],
    ) -> Result<()> {
        let first = self.peek();
        let start = self.pos;
        if matches!(first, Some(b'"' | b'\'')) {
            let mut end = start;
            while matches!(self.peek(), Some(b'"' | b'\'')) {
                self.string()?;
                end = self.pos;
            }
            add(name, bracketed, Span::new(start, end), TextValue::Text, tree, frames);
            return Ok(());
        }
        if first == Some(b'-') {
            self.pos += 1;
            self.peek();
        }
        let digits = self.pos;
        let number = self
            .text
            .get(digits)
            .is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.');
        while let Some(byte) = self.text.get(self.pos) {
            let exponent =
                number && matches!(byte, b'+' | b'-') && matches!(self.text.get(self.pos - 1), Some(b'e' | b'E'));
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || exponent) {
                break;
            }
            self.pos += 1;
        }
        if digits == self.pos {
            return Err("expected a value");
        }
        add(
            name,
            bracketed,
            Span::new(start, self.pos),
            TextValue::Bare,
            tree,
            frames,
        );
        Ok(())
    }

    /// Consumes a string in quotes.
    fn string(&mut self) -> Result<()> {
        let quote = self.peek();
        self.pos += 1;
        loop {
            match self.text.get(self.pos) {
                None => return Err("the string is not closed"),
                Some(b'\n') => return Err("the string is not closed"),
                Some(0) => return Err("a NUL byte in a string, which must be written as `\\000`"),
                Some(b'\\') => self.pos += 2,
                Some(byte) => {
                    self.pos += 1;
                    if Some(*byte) == quote {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Appends a node to the innermost message.
fn add(
    name: Span,
    bracketed: bool,
    span: Span,
    value: TextValue,
    tree: &mut TextprotoTree<'_>,
    frames: &mut [OpenMessage],
) -> u32 {
    let index = u32::try_from(tree.nodes.len()).unwrap_or(NONE);
    tree.nodes.push(TextNode {
        name,
        bracketed,
        span,
        value,
        next: NONE,
    });
    // An element of a list belongs to the message around the list.
    let Some(frame) = frames.iter_mut().rfind(|frame| frame.list.is_none()) else {
        return index;
    };
    let (last, parent) = (frame.last, frame.node);
    frame.last = index;
    if let Some(last) = tree.nodes.get_mut(last as usize) {
        last.next = index;
    } else if let Some(TextNode {
        value: TextValue::Message { first, .. },
        ..
    }) = tree.nodes.get_mut(parent as usize)
    {
        *first = index;
    } else {
        tree.first = index;
    }
    index
}
