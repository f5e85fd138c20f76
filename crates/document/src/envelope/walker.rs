//! Walks a document, finds the shape of each object, and emits the resources in it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use xdsctl_proto::tables::{self, Message};

use super::loader::{Emit, JsonText, LoadOptions, Loader};
use super::raw::{LiveStatus, PathSource, RawResponse, WorldId};
use super::slot::Pending;
use super::values::Values;
use super::{
    Clue, MANIFEST_SKIPPED, NO_RESOURCE, Result, SHAPES, Shape, UNKNOWN_SECTION, UNKNOWN_SHAPE, config_dump::DumpSoFar,
    envoy_bootstrap, untyped,
};
use crate::proto::transcode::{LIMIT_EXCEEDED, SYNTAX, TranscodeStop, Transcoder};
use crate::source::json::Str;
use crate::source::{SourceId, Span};
use xdsctl_model::diag::{Diagnostic, Rule};

/// The number of kinds of Kubernetes objects that a finding names.
const MAX_KINDS: usize = 5;

/// How deeply objects are searched for a known shape.
pub(super) const MAX_NESTING: usize = 8;

/// Reads one document from start to end.
pub(super) struct Walker<'t, 'l> {
    pub tc: Transcoder<'t>,
    pub loader: &'l mut Loader,
    pub(super) source: SourceId,
    /// The name of the document, which is part of the names of its worlds.
    pub(super) name: &'t str,
    pub(super) options: LoadOptions,
    pub(super) emit: Emit<'l>,
    pub(super) batch: Vec<Pending>,
    /// The world of the next resource; made when it is first needed.
    pub world: Option<WorldId>,
    /// The type of untyped objects in the list that is being read.
    pub assume: Option<&'static Message>,
    /// The message that the keys of the current object suggest.
    pub guess: Option<&'static Message>,
    /// The status that the enclosing entry gives to its resources.
    pub said: LiveStatus,
    /// How many `ClientConfig`s have been read so far, by the keys of the wrappers around them.
    pub clients: BTreeMap<String, usize>,
    /// The keys of the wrappers around the current value.
    pub wrappers: Vec<String>,
    /// Whether the keys of the enclosing objects do not name worlds.
    pub is_one_world: bool,
    nesting: usize,
    /// Whether something of a known shape was found in the current value.
    pub recognised: bool,
    /// Whether a finding has said that resources of the current value are not checked.
    pub(super) is_told: bool,
    /// Whether a missing `@type` has been reported.
    pub(super) untyped_noted: bool,
    /// Whether xDS v2 has been reported.
    pub legacy_noted: bool,
    /// What has been read of the current config dump so far.
    pub dump: Option<DumpSoFar>,
    /// Whether the current value is a Kubernetes object.
    pub is_manifest: bool,
    /// The `kind` of the current Kubernetes object.
    pub kind: Option<String>,
    /// Whether the current Kubernetes object has texts that are documents of their own.
    pub holds_text: bool,
    /// A key whose text is a document of its own and is not read.
    pub embedded: Option<String>,
    /// How many Kubernetes objects of each kind were skipped. The next field has the span of the
    /// first.
    passed_over: BTreeMap<String, usize>,
    first_passed_over: Option<Span>,
}

impl<'t, 'l> Walker<'t, 'l> {
    pub(super) fn new(
        loader: &'l mut Loader,
        source: SourceId,
        text: JsonText<'t>,
        options: LoadOptions,
        emit: Emit<'l>,
    ) -> Self {
        let mut tc = Transcoder::new(text.json, options.transcode);
        tc.document = text.document;
        tc.expect(text.json.len());
        Walker {
            tc,
            loader,
            source,
            name: text.name,
            options,
            assume: options.assume.and_then(|t| tables::message(t.type_name())),
            emit,
            batch: Vec::new(),
            world: None,
            guess: None,
            said: LiveStatus::default(),
            clients: BTreeMap::new(),
            wrappers: Vec::new(),
            is_one_world: false,
            nesting: 0,
            recognised: false,
            is_told: false,
            untyped_noted: false,
            legacy_noted: false,
            dump: None,
            is_manifest: false,
            kind: None,
            holds_text: false,
            embedded: None,
            passed_over: BTreeMap::new(),
            first_passed_over: None,
        }
    }

    /// Reads every value of the document.
    pub(super) fn documents(&mut self) -> Result<()> {
        if self.tc.scan.pos() == 0 && self.tc.scan.text().starts_with(b"\xef\xbb\xbf") {
            self.tc.scan.set_pos(3);
        }
        let mut is_any_known = false;
        let mut manifests = Vec::new();
        let mut values = Values::of(self);
        while !self.tc.scan.at_end() {
            let start = self.tc.scan.pos();
            values.begin(self);
            let before = self.found();
            (self.recognised, self.is_told) = (false, false);
            (self.is_manifest, self.kind, self.holds_text) = (false, None, false);
            if self.options.follow {
                envoy_bootstrap::path_sources(self)?;
            }
            self.value()?;
            values.end(self);
            let span = Span::new(start, self.tc.scan.pos());
            is_any_known |= self.recognised;
            if !self.recognised && self.is_manifest && self.embedded.is_none() {
                manifests.push(span);
                self.manifest(span);
            } else if !self.recognised && !self.is_told {
                self.unknown_shape(span);
            } else if self.found() == before {
                self.report(&NO_RESOURCE, span, "there is no resource in it".to_owned());
            }
        }
        // Kubernetes objects of other kinds are normal beside xDS resources.
        if !is_any_known {
            for span in manifests {
                self.unknown_shape(span);
            }
        } else if let Some(first) = self.first_passed_over {
            let count: usize = self.passed_over.values().sum();
            let kinds: Vec<&str> = self.passed_over.keys().map(String::as_str).collect();
            let shown = kinds.get(..MAX_KINDS).unwrap_or(&kinds).join(", ");
            let message = match count {
                1 => format!("a Kubernetes object without xDS configuration is passed over: {shown}"),
                _ => format!("{count} Kubernetes objects without xDS configuration are passed over: {shown}"),
            };
            self.report(&MANIFEST_SKIPPED, first, message);
        }
        Ok(())
    }

    /// Counts a Kubernetes object that has been read, if it holds no xDS configuration.
    pub fn manifest(&mut self, span: Span) {
        let kind = self.kind.take();
        let is_list = kind.as_deref().is_some_and(|kind| kind.ends_with("List"));
        if !self.recognised && self.is_manifest && !std::mem::take(&mut self.holds_text) && !is_list {
            *self.passed_over.entry(kind.unwrap_or_default()).or_default() += 1;
            self.first_passed_over.get_or_insert(span);
        }
    }

    fn unknown_shape(&mut self, span: Span) {
        let message = "no xDS configuration of a known shape".to_owned();
        let help = match self.embedded.take() {
            Some(key) => format!("the text of `{key}` is a document of its own: give that one to xdsctl"),
            None => "name the type of bare resources with `--as lds|rds|cds|eds`".to_owned(),
        };
        self.report(&UNKNOWN_SHAPE, span, message).help(help);
    }

    #[cold]
    pub(super) fn stopped(&mut self, stop: TranscodeStop) {
        self.tc.notes.clear();
        match stop {
            TranscodeStop::Syntax(syntax) => {
                let end = (syntax.at + 1).min(self.tc.scan.text().len());
                let message = format!("{}, nothing is read from here on", syntax.what);
                self.report(&SYNTAX, Span::new(syntax.at, end), message);
            }
            TranscodeStop::TooLarge(at) => {
                let message = "a value is larger than the limit for a resource".to_owned();
                self.report(&LIMIT_EXCEEDED, Span::new(at, at), message);
            }
        }
    }

    /// Reports that the value at the scanner is not looked into.
    pub fn unknown_section(&mut self, message: String) {
        self.tc.scan.peek();
        let start = self.pos();
        self.report(&UNKNOWN_SECTION, Span::new(start, start + 1), message);
    }

    /// Adds a finding on the document.
    pub fn report(&mut self, rule: &'static Rule, span: Span, message: String) -> &mut Diagnostic {
        self.loader.report(self.source, rule, span, message)
    }

    /// Records what a response says about itself.
    pub fn response(&mut self, response: RawResponse) {
        self.loader.errors += response.errors.len();
        self.loader.responses.push(response);
    }

    /// Returns the position of the scanner, in bytes from the start of the text.
    pub const fn pos(&self) -> usize {
        self.tc.scan.pos()
    }

    /// Skips one value.
    pub fn skip(&mut self) -> Result<()> {
        Ok(self.tc.scan.skip_value()?)
    }

    /// Reads a value of any shape.
    pub fn value(&mut self) -> Result<()> {
        if self.nesting >= MAX_NESTING {
            return self.beyond();
        }
        self.nesting += 1;
        match self.tc.scan.peek() {
            b'[' if self.nesting == 1 => self.list()?,
            b'[' => self.elements(&mut |walker, _| walker.value())?,
            b'{' => {
                let start = self.pos();
                let shape = self.shape()?;
                self.tc.scan.set_pos(start);
                (shape.walk)(self)?;
                if super::DUMPS.iter().any(|dump| std::ptr::eq(*dump, shape)) {
                    self.loader.dumps.extend(self.world);
                }
            }
            _ => self.skip()?,
        }
        self.nesting -= 1;
        Ok(())
    }

    /// Looks at the keys of the object at the scanner until a shape claims it; moves the scanner.
    pub(super) fn shape(&mut self) -> Result<&'static Shape> {
        let mut guess = untyped::Guess::default();
        self.guess = None;
        let mut found = None;
        self.any_key(&mut |walker, key| {
            let value = walker.tc.scan.peek();
            if let Ok(written) = std::str::from_utf8(walker.tc.scan.raw(key)) {
                found = walker.claimant(written, value, &mut guess)?;
            }
            Ok(found.is_some())
        })?;
        if let Some(shape) = found {
            return Ok(shape);
        }
        self.guess = guess.message();
        Ok(if self.assume.is_some() || self.guess.is_some() {
            &untyped::UNTYPED
        } else {
            &super::wrapper::SHAPE
        })
    }

    fn claimant(&mut self, written: &str, value: u8, guess: &mut untyped::Guess) -> Result<Option<&'static Shape>> {
        let claims = |clue: Clue<'_>| SHAPES.iter().copied().find(|shape| (shape.claims)(&clue));
        if written == "@type" && value == b'"' {
            let url = self.tc.scan.string()?;
            let url = String::from_utf8_lossy(self.tc.scan.raw(url));
            let name = url.rsplit('/').next().unwrap_or_default();
            return Ok(claims(Clue::Type(name)));
        }
        let name = snake_case(written);
        let clue = Clue::Key {
            written,
            name: &name,
            value,
        };
        if let Some(shape) = claims(clue) {
            return Ok(Some(shape));
        }
        let is_certain = match self.assume {
            // These are fields of the wrapper `Resource` too, whose own field may follow.
            Some(_) if matches!(&*name, "name" | "metadata") => false,
            Some(message) => message.position(written).is_some(),
            None => guess.add(&name, self.shown()?),
        };
        if is_certain {
            self.guess = guess.message();
        }
        Ok(is_certain.then_some(&untyped::UNTYPED))
    }

    /// Calls `read` for each element of the list at the scanner; `read` must consume the element.
    pub fn elements(&mut self, read: &mut dyn FnMut(&mut Self, usize) -> Result<()>) -> Result<()> {
        if self.tc.scan.peek() != b'[' {
            return self.skip();
        }
        if !self.tc.scan.open(b']')? {
            return Ok(());
        }
        let mut index = 0;
        loop {
            read(self, index)?;
            index += 1;
            if !self.tc.scan.more(b']')? {
                return Ok(());
            }
        }
    }

    /// Calls `read` for each member of the object at the scanner, with the key in snake_case;
    /// `read` must consume the value.
    pub fn fields(&mut self, read: &mut dyn FnMut(&mut Self, &str) -> Result<()>) -> Result<()> {
        self.keys(&mut |walker, key| {
            let name = String::from_utf8_lossy(walker.tc.scan.raw(key));
            read(walker, &snake_case(&name))
        })
    }

    /// Calls `read` for each member of the object at the scanner, with the key as it is written;
    /// `read` must consume the value.
    pub fn keys(&mut self, read: &mut dyn FnMut(&mut Self, Str) -> Result<()>) -> Result<()> {
        if self.tc.scan.peek() != b'{' {
            return self.skip();
        }
        if !self.tc.scan.open(b'}')? {
            return Ok(());
        }
        loop {
            let key = self.tc.scan.key()?;
            read(self, key)?;
            if !self.tc.scan.more(b'}')? {
                return Ok(());
            }
        }
    }

    /// Says whether `is` is true for a key of the object at the scanner. Moves to the value of that
    /// key, or behind the object.
    pub fn any_key(&mut self, is: &mut dyn FnMut(&mut Self, Str) -> Result<bool>) -> Result<bool> {
        let mut has_keys = self.tc.scan.open(b'}')?;
        while has_keys {
            let key = self.tc.scan.key()?;
            if is(self, key)? {
                return Ok(true);
            }
            self.skip()?;
            has_keys = self.tc.scan.more(b'}')?;
        }
        Ok(false)
    }

    /// Reads a string. Returns `None` for null, and reports any other value.
    pub fn text(&mut self) -> Result<Option<String>> {
        match self.tc.scan.peek() {
            b'"' => {
                let token = self.tc.scan.string()?;
                Ok(Some(self.unescaped(token)))
            }
            b'n' => self.skip().map(|()| None),
            b'{' | b'[' => self.wrong_kind("a string").map(|()| None),
            _ if self.options.transcode.bare_strings => self.token().map(Some),
            _ => self.wrong_kind("a string").map(|()| None),
        }
    }

    /// Reads a value of the enum `full_name`, written as a name or a number, and returns its name.
    /// Reports any other value.
    pub fn enum_name(&mut self, full_name: &str) -> Result<Option<String>> {
        if !matches!(self.tc.scan.peek(), b'-' | b'0'..=b'9') {
            return self.text();
        }
        let number = self.token()?;
        let known = number.parse().ok();
        let name = known.and_then(|number| tables::enumeration(full_name)?.name(number));
        Ok(Some(name.map_or(number, str::to_owned)))
    }

    /// Reads a value and returns its text as it is written.
    pub fn token(&mut self) -> Result<String> {
        self.tc.scan.peek();
        let start = self.pos();
        self.skip()?;
        let text = self.tc.scan.slice(start, self.pos()).trim_ascii();
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// Returns the text of a string token, with invalid text replaced.
    pub fn unescaped(&self, token: Str) -> String {
        let mut scratch = Vec::new();
        match self.tc.scan.text_of(token, &mut scratch) {
            Ok(text) => text.to_owned(),
            Err(_) => String::from_utf8_lossy(self.tc.scan.raw(token)).into_owned(),
        }
    }

    /// Records the path at `span` of a file to take resources from.
    pub fn path_source(&mut self, path: String, span: Span) {
        let path_source = PathSource {
            source: self.source,
            span,
            path,
            world: self.current_world(),
        };
        self.loader.path_sources.push(path_source);
    }

    /// Returns the world of the next resource, and makes it if need be.
    pub(super) fn current_world(&mut self) -> WorldId {
        match self.world {
            Some(world) => world,
            None => {
                let scope = (!self.wrappers.is_empty()).then(|| self.wrappers.join("/"));
                let world = self.loader.world(self.source, scope);
                self.world = Some(world);
                world
            }
        }
    }
}

/// Converts `camelCase` or `Capital` to `snake_case`, and returns other text unchanged.
pub(super) fn snake_case(key: &str) -> Cow<'_, str> {
    if !key.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Borrowed(key);
    }
    let mut name = String::with_capacity(key.len() + 4);
    for (i, c) in key.chars().enumerate() {
        if c.is_ascii_uppercase() {
            if i > 0 {
                name.push('_');
            }
            name.push(c.to_ascii_lowercase());
        } else {
            name.push(c);
        }
    }
    Cow::Owned(name)
}
