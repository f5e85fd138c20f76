//! Reads the resource at one place of a document, and emits resources in batches.

use std::mem::take;

use bytes::Bytes;
use xdsctl_proto::tables::{self, Message};

use super::raw::{Label, LiveStatus, Origin, RawResource, Stage};
use super::walker::Walker;
use super::{MISSING_TYPE, Result, UNKNOWN_TYPE, legacy};
use crate::proto::transcode::{LIMIT_EXCEEDED, Note, TranscodeStop, TypeUrl, clip};
use crate::source::Span;
use xdsctl_model::diag::{self, BytesKnowledge, Effect};
use xdsctl_model::resource::ResourceType;
use xdsctl_model::text;

/// A batch is emitted when its wire bytes reach this number.
pub const BATCH_BYTES: usize = 96 << 10;

/// A batch is emitted when it has this many resources.
pub const BATCH_RESOURCES: usize = 4096;

/// A resource whose bytes are still in the transcoder.
pub(super) struct Pending {
    pub raw: RawResource,
    /// Whether the resource has an `@type` of its own.
    pub is_typed: bool,
    /// The range of the batch's bytes that is the message of this resource.
    bytes: Option<Span>,
}

/// What the place of a resource in a document implies about it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SlotPlace {
    /// The message type, if the place has one.
    pub message: Option<&'static Message>,
    /// The kind of list in a dump.
    pub label: Label,
    /// The state of the resource.
    pub stage: Stage,
    /// Whether a resource at this place should have an `@type`.
    pub is_any: bool,
}

/// Resource types that proxies ask for and that the descriptor tables do not have.
const OF_OTHERS: &[&str] = &[
    "envoy.service.runtime.v3.Runtime",
    "envoy.config.route.v3.ScopedRouteConfiguration",
];

/// Packages of other tools and clients, and of messages that are not resources: extensions, admin
/// sections, errors.
const PACKAGES_OF_OTHERS: &[&str] = &[
    "envoy.extensions.",
    "envoy.admin.",
    "envoy.watchdog.",
    "google.",
    "istio.",
    "xds.",
];

/// Messages that wrap a resource. In the place of a resource they hide it, because a client unwraps
/// only once.
const WRAPPINGS: &[&str] = &[
    "envoy.service.discovery.v3.Resource",
    "google.protobuf.Any",
    "xds.core.v3.CollectionEntry",
];

/// Says whether the place may have a resource that gRPC clients ask for.
fn is_wanted(place: SlotPlace) -> bool {
    place
        .message
        .is_none_or(|message| ResourceType::from_type_name(message.full_name).is_some())
}

/// Says whether the type is known, but not as a resource of gRPC clients or as a wrapper.
fn is_of_others(name: &str) -> bool {
    let is_known = tables::message(name).is_some()
        || OF_OTHERS.contains(&name)
        || PACKAGES_OF_OTHERS.iter().any(|package| name.starts_with(package));
    is_known && !WRAPPINGS.contains(&name)
}

impl Walker<'_, '_> {
    /// Reads the resource at the scanner, which is at `place`.
    pub fn slot(&mut self, place: SlotPlace) -> Result<Pending> {
        self.tc.scan.peek();
        let start = self.pos();
        let url = self.type_ahead()?;
        let is_typed = url.is_some();
        let (url, named) = match url {
            Some(url) => {
                let message = tables::message(url.rsplit('/').next().unwrap_or_default());
                (url, message)
            }
            None => {
                let url = place.message.map(|m| format!("type.googleapis.com/{}", m.full_name));
                (url.unwrap_or_default(), place.message)
            }
        };
        let mut pending = self.pending(url, place);
        pending.is_typed = is_typed;
        if let Some(message) = named
            && pending.raw.resource_type.is_some()
        {
            self.body(message, &mut pending)?;
        } else {
            pending.raw.wrapper_name = self.name()?;
        }
        pending.raw.origin.span = Span::new(start, self.pos());
        let name = pending.raw.type_url.rsplit('/').next().unwrap_or_default();
        if legacy::is_v2(name) {
            legacy::report(self, pending.raw.origin.span);
        } else if pending.is_typed && is_wanted(place) && pending.raw.resource_type.is_none() {
            let misspelt = self.tc.misspelt_type(name);
            if misspelt.is_some() || !is_of_others(name) {
                let (name, span) = (name.to_owned(), Span::new(start, start + 1));
                self.unknown_type(&name, misspelt, span);
            }
        }
        Ok(pending)
    }

    /// Returns the `@type` of the object at the scanner, which stays where it is.
    pub fn type_ahead(&mut self) -> Result<Option<String>> {
        let start = self.pos();
        let found = self.tc.type_url()?;
        self.tc.scan.set_pos(start);
        Ok(match found {
            TypeUrl::First(url) | TypeUrl::Later(url) => {
                Some(String::from_utf8_lossy(self.tc.scan.slice(url.start, url.end)).into_owned())
            }
            TypeUrl::Missing | TypeUrl::Empty => None,
        })
    }

    /// Reports a resource type that no client is known to ask for. `misspelt` is a type that may be
    /// meant.
    fn unknown_type(&mut self, name: &str, misspelt: Option<&str>, span: Span) {
        let names = ResourceType::ALL.map(ResourceType::type_name);
        let last = |name: &str| name.rsplit('.').next().map(str::to_owned);
        let near = text::nearest(name, names.into_iter())
            .or(misspelt)
            .or_else(|| names.into_iter().find(|known| last(known) == last(name)));
        let message = format!(
            "no resource has the type `{}`, it is not checked",
            clip(name.as_bytes())
        );
        let help = match near {
            Some(near) => format!("did you mean `type.googleapis.com/{near}`?"),
            None => format!("gRPC clients ask for {}", names.join(", ")),
        };
        self.report(&UNKNOWN_TYPE, span, message).help(help);
    }

    /// Skips a resource that is not checked, and returns its name.
    fn name(&mut self) -> Result<Option<String>> {
        let mut name = None;
        self.fields(&mut |walker, key| match key {
            // In a message that xdsctl does not know, a field of this name may have any type.
            "name" | "cluster_name" if walker.tc.scan.peek() == b'"' => {
                walker.text().map(|text| name = text.filter(|name| !name.is_empty()))
            }
            _ => walker.skip(),
        })?;
        Ok(name)
    }

    /// Returns a resource without bytes. Either the dump only names the resource, or its bytes are
    /// read next.
    pub fn pending(&mut self, type_url: String, place: SlotPlace) -> Pending {
        self.recognised = true;
        let name = type_url.rsplit('/').next().unwrap_or_default();
        let resource_type = ResourceType::from_type_name(name);
        let here = self.pos();
        Pending {
            raw: RawResource {
                type_url,
                resource_type,
                wrapper_name: None,
                world: self.current_world(),
                label: place.label,
                stage: place.stage,
                status: None,
                origin: Origin {
                    source: self.source,
                    span: Span::new(here, here),
                    view_at: None,
                },
                bytes: None,
                known: BytesKnowledge::Nothing,
                notes: Vec::new(),
            },
            is_typed: false,
            bytes: None,
        }
    }

    /// Transcodes the object at the scanner into the wire bytes of `pending`.
    fn body(&mut self, message: &'static Message, pending: &mut Pending) -> Result<()> {
        let start = self.pos();
        let before = self.tc.written();
        match self.tc.resource(message) {
            Ok(()) if self.tc.is_lost => self.tc.cut(before),
            Ok(()) => {
                pending.bytes = Some(Span::new(before, self.tc.written()));
                pending.raw.known = self.tc.known;
            }
            Err(TranscodeStop::TooLarge(at)) => {
                self.tc.cut(before);
                self.tc.notes.clear();
                self.tc.scan.set_pos(start);
                pending.raw.wrapper_name = self.name()?;
                let message = format!(
                    "the resource has more than {} bytes, it is not checked",
                    self.tc.options.max_resource_bytes
                );
                let at = at.min(self.pos());
                Note::push(
                    &mut pending.raw.notes,
                    &LIMIT_EXCEEDED,
                    &xdsctl_model::diag::Path::ROOT,
                    Span::new(at, at),
                    message,
                );
            }
            Err(stop) => return Err(stop),
        }
        let brace = Span::new(start, start + 1);
        pending.raw.notes.append(&mut self.tc.take_notes(brace));
        let notes = &mut pending.raw.notes;
        let rejections = || {
            let rejecting = notes.iter().filter(|note| note.diagnostic.effect == Effect::Nack);
            rejecting.count()
        };
        let bytes = self.tc.scan.pos() - start;
        if let Some(allowance) = self.loader.budget.spend(bytes, notes.len(), rejections) {
            let whole = |diagnostic| Note {
                diagnostic,
                span: brace,
            };
            diag::cut(notes, allowance, |note| &note.diagnostic, whole);
        }
        Ok(())
    }

    /// Reports that a resource has no `@type`, once for each document.
    pub fn missing_type(&mut self, pending: &Pending) {
        if std::mem::replace(&mut self.untyped_noted, true) {
            return;
        }
        let name = pending.raw.type_url.rsplit('/').next().unwrap_or_default().to_owned();
        let message = format!("no `@type`, read as `{name}` for its place; others are not mentioned");
        let start = pending.raw.origin.span.start;
        self.report(&MISSING_TYPE, Span::new(start, start + 1), message);
    }

    /// Emits resources in batches. `pending` must be all resources that were read since the last
    /// call, because a batch takes all bytes that were written so far.
    pub fn push(&mut self, mut pending: Vec<Pending>) {
        self.turn_away(&mut pending);
        self.loader.resources += pending.len();
        self.batch.extend(pending);
        if self.tc.written() >= BATCH_BYTES || self.batch.len() >= BATCH_RESOURCES {
            self.flush();
        }
    }

    /// Reads the resource at the scanner and emits it.
    pub fn bare(&mut self, place: SlotPlace) -> Result<()> {
        let pending = self.slot(place)?;
        self.push(vec![pending]);
        Ok(())
    }

    pub(super) fn flush(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let bytes = Bytes::from(self.tc.take_written(BATCH_BYTES + BATCH_BYTES / 4));
        let batch = take(&mut self.batch)
            .into_iter()
            .map(|pending| RawResource {
                bytes: pending.bytes.map(|span| bytes.slice(span.range())),
                ..pending.raw
            })
            .collect();
        (self.emit)(batch);
    }
}

impl LiveStatus {
    /// Says whether the status says nothing.
    fn is_empty(&self) -> bool {
        *self == LiveStatus::default()
    }
}

impl Pending {
    /// Sets what the dump says about the resource.
    pub fn set_status(&mut self, status: &LiveStatus) {
        if !status.is_empty() {
            self.raw.status = Some(Box::new(status.clone()));
        }
    }
}
