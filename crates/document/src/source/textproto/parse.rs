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

    /// Returns the fields of a message from the field `first` on.
    pub fn fields(&self, first: u32) -> impl Iterator<Item = &TextNode> {
        let node = |index: u32| self.nodes.get(index as usize);
        std::iter::successors(node(first), move |before| node(before.next))
    }

    /// Returns the fields of a node that is a message.
    pub fn children(&self, node: &TextNode) -> impl Iterator<Item = &TextNode> {
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
            let inside = parser.tree.text.get(start..parser.pos - 1).unwrap_or_default();
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
    /// The name of the field, if this is a list.
    list: Option<TextName>,
}

/// The span of a field's name, and whether it is in brackets.
type TextName = (Span, bool);

struct TextprotoParser<'t> {
    tree: TextprotoTree<'t>,
    pos: usize,
    /// The messages and lists around the position, the innermost last. The first is the root.
    frames: Vec<OpenMessage>,
}

type Result<T> = std::result::Result<T, &'static str>;

/// Parses a document. Faults are added to `view`.
pub(super) fn parse<'t>(text: &'t [u8], view: &mut View) -> TextprotoTree<'t> {
    let mut parser = TextprotoParser::new(text);
    parser.pos = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    parser.open_frame(NONE, 0, None);
    loop {
        match parser.item() {
            Ok(true) => {}
            Ok(false) => return parser.tree,
            Err(what) => {
                parser.broken(what, view);
                return parser.tree;
            }
        }
    }
}

impl<'t> TextprotoParser<'t> {
    const fn new(text: &'t [u8]) -> Self {
        TextprotoParser {
            tree: TextprotoTree {
                text,
                nodes: Vec::new(),
                first: NONE,
                open: false,
                header: None,
            },
            pos: 0,
            frames: Vec::new(),
        }
    }

    /// Reports that the text cannot be read from here on.
    fn broken(&mut self, what: &'static str, view: &mut View) {
        let end = self.tree.text.len();
        let at = self.pos.min(end);
        let kind = if self.frames.len() > MAX_NESTING {
            FaultKind::Limit
        } else {
            FaultKind::Syntax
        };
        let ended = at >= end && kind == FaultKind::Syntax;
        let what = if ended { "the text ends inside a message" } else { what };
        let message = format!("{what}, nothing is read from here on");
        view.fault(kind, Span::new(at, (at + 1).min(end)), message);
        for frame in &self.frames {
            if let Some(node) = self.tree.nodes.get_mut(frame.node as usize)
                && let TextValue::Message { open, .. } = &mut node.value
            {
                *open = true;
                node.span.end = at;
            }
        }
        self.tree.open = true;
    }

    fn byte(&self) -> Option<u8> {
        self.tree.text.get(self.pos).copied()
    }

    /// Skips white space and comments, and returns the next byte; `None` at the end.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte()? {
                b' ' | b'\n' | b'\r' | b'\t' | 0x0b | 0x0c => self.pos += 1,
                b'#' => self.comment(),
                byte => return Some(byte),
            }
        }
    }

    fn comment(&mut self) {
        let start = self.pos + 1;
        let rest = self.tree.text.get(start..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..end).unwrap_or_default().trim_ascii();
        if self.tree.header.is_none()
            && let Some(name) = line.strip_prefix(b"proto-message:")
        {
            let name = name.trim_ascii();
            let at = start + memchr::memmem::find(rest, name).unwrap_or_default();
            self.tree.header = Some(Span::new(at, at + name.len()));
        }
        self.pos = start + end;
    }

    /// Reads one field, an element of a list, or the end of a message or list. Returns false at the
    /// end of the text.
    fn item(&mut self) -> Result<bool> {
        let Some(&OpenMessage { close, list, .. }) = self.frames.last() else {
            return Ok(false);
        };
        if let Some(name) = list {
            match self.peek() {
                Some(b'{' | b'<') => self.open(name)?,
                _ => {
                    self.scalar(name)?;
                    self.after_element()?;
                }
            }
            return Ok(true);
        }
        match self.peek() {
            None if close == 0 => return Ok(false),
            Some(byte) if byte == close && close != 0 => {
                self.pos += 1;
                return self.end_message().map(|()| true);
            }
            _ => {}
        }
        let name = self.name()?;
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
                    self.open_frame(NONE, b']', Some(name));
                }
            }
            Some(b'{' | b'<') => self.open(name)?,
            _ if !colon => return Err("expected `:` or `{` after the field name"),
            _ => {
                self.scalar(name)?;
                self.separator();
            }
        }
        Ok(true)
    }

    fn after_element(&mut self) -> Result<()> {
        match self.peek() {
            Some(b',') => self.pos += 1,
            Some(b']') => {
                self.pos += 1;
                self.frames.pop();
                self.separator();
            }
            _ => return Err("expected `,` or `]`"),
        }
        Ok(())
    }

    fn separator(&mut self) {
        if matches!(self.peek(), Some(b',' | b';')) {
            self.pos += 1;
        }
    }

    fn open_frame(&mut self, node: u32, close: u8, list: Option<TextName>) {
        self.frames.push(OpenMessage {
            node,
            last: NONE,
            close,
            list,
        });
    }

    /// Starts a message.
    fn open(&mut self, name: TextName) -> Result<()> {
        let close = if self.peek() == Some(b'<') { b'>' } else { b'}' };
        let value = TextValue::Message {
            first: NONE,
            open: false,
        };
        let node = self.add(name, Span::new(self.pos, self.pos + 1), value);
        if self.frames.len() > MAX_NESTING {
            return Err("more than 1024 levels of messages");
        }
        self.pos += 1;
        self.open_frame(node, close, None);
        Ok(())
    }

    fn end_message(&mut self) -> Result<()> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        if let Some(node) = self.tree.nodes.get_mut(frame.node as usize) {
            node.span.end = self.pos;
        }
        if self.frames.last().is_some_and(|frame| frame.list.is_some()) {
            return self.after_element();
        }
        self.separator();
        Ok(())
    }

    /// Reads a name, or a type URL in brackets.
    fn name(&mut self) -> Result<TextName> {
        let bracketed = self.peek() == Some(b'[');
        if bracketed {
            self.pos += 1;
            self.peek();
        }
        let start = self.pos;
        while let Some(byte) = self.byte() {
            let in_url = bracketed
                && matches!(
                    byte,
                    b'.' | b'/' | b'-' | b'%' | b'~' | b':' | b'+' | b'@' | b'&' | b'=' | b'$' | b'!' | b'*'
                );
            if !(byte.is_ascii_alphanumeric() || byte == b'_' || in_url) {
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

    fn scalar(&mut self, name: TextName) -> Result<()> {
        let first = self.peek();
        let start = self.pos;
        if matches!(first, Some(b'"' | b'\'')) {
            let mut end = start;
            while matches!(self.peek(), Some(b'"' | b'\'')) {
                self.string()?;
                end = self.pos;
            }
            self.add(name, Span::new(start, end), TextValue::Text);
            return Ok(());
        }
        if first == Some(b'-') {
            self.pos += 1;
            self.peek();
        }
        let digits = self.pos;
        let number = self.byte().is_some_and(|byte| byte.is_ascii_digit() || byte == b'.');
        let mut before = 0;
        while let Some(byte) = self.byte() {
            let exponent = number && matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E');
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || exponent) {
                break;
            }
            before = byte;
            self.pos += 1;
        }
        if digits == self.pos {
            return Err("expected a value");
        }
        self.add(name, Span::new(start, self.pos), TextValue::Bare);
        Ok(())
    }

    /// Consumes a string in quotes.
    fn string(&mut self) -> Result<()> {
        let quote = self.peek();
        self.pos += 1;
        loop {
            match self.byte() {
                None | Some(b'\n') => return Err("the string is not closed"),
                Some(0) => return Err("a NUL byte in a string, which must be written as `\\000`"),
                Some(b'\\') => self.pos += 2,
                byte => {
                    self.pos += 1;
                    if byte == quote {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Appends a node to the innermost message.
    fn add(&mut self, (name, bracketed): TextName, span: Span, value: TextValue) -> u32 {
        let nodes = &mut self.tree.nodes;
        let index = u32::try_from(nodes.len()).unwrap_or(NONE);
        nodes.push(TextNode {
            name,
            bracketed,
            span,
            value,
            next: NONE,
        });
        // An element of a list belongs to the message around the list.
        let Some(frame) = self.frames.iter_mut().rfind(|frame| frame.list.is_none()) else {
            return index;
        };
        let (last, parent) = (std::mem::replace(&mut frame.last, index), frame.node);
        if let Some(last) = nodes.get_mut(last as usize) {
            last.next = index;
        } else if let Some(TextNode {
            value: TextValue::Message { first, .. },
            ..
        }) = nodes.get_mut(parent as usize)
        {
            *first = index;
        } else {
            self.tree.first = index;
        }
        index
    }
}
