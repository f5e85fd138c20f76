//! Reads documents of every format, by way of JSON.
//!
//! JSON is read as it is. Other formats are first rewritten as a [`View`], which the [`Source`]
//! keeps. The shapes see only JSON. Every span that they return is mapped back to the document
//! here.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;
use xdsctl_proto::tables;

use super::loader::{Emit, JsonText, LoadOptions, Loader};
use super::raw::{Finding, Origin, RawResource, RawResponse, WorldId};
use super::{EMPTY_RESPONSE, NO_RESOURCE, UNKNOWN_SHAPE, kubernetes, template};
use crate::proto::transcode::{self, LIMIT_EXCEEDED, SYNTAX, Transcoder};
use crate::source::sniff::{DocumentFormat, Sniffed, named};
use crate::source::view::{FaultKind, View};
use crate::source::{Source, SourceId, Span, binary, configmap, log, textproto};
use xdsctl_model::diag::{BytesKnowledge, Rule, rules};
use xdsctl_model::resource::ResourceType;

rules! {
    /// A document has nothing in it.
    EMPTY = "dump-empty", Dump, Advice, "a document must hold a JSON value, a YAML node or a message";
    /// A document is an archive, an image or other data that holds no configuration as it is.
    NOT_TEXT = "dump-not-configuration", Dump, Fails, "the formats that xdsctl reads: JSON, YAML, text format, wire format";
    /// A document is a template of Helm, which has not been rendered.
    TEMPLATE = "dump-template", Dump, Fails, "the actions of Go's text/template, in which Helm's charts are written";
}

/// Findings that add nothing after a syntax fault: nobody knows what the rest of the text would be.
static SAID_BY_A_FAULT: [&Rule; 1] = [&NO_RESOURCE];

/// Findings that are not made in a log, where requests and responses without resources are normal.
static USUAL_IN_A_LOG: [&Rule; 2] = [&NO_RESOURCE, &EMPTY_RESPONSE];

impl Loader {
    /// Reads a document of any format and emits its resources.
    ///
    /// The format is `options.format`; otherwise it is detected from the content and the name. A
    /// fault of the document itself becomes a finding, and reading goes on as far as possible.
    /// `source` keeps what is needed to find places in the document later.
    pub fn document(&mut self, id: SourceId, source: &Source, options: LoadOptions, emit: Emit<'_>) {
        let first = self.findings.len();
        let mut actions = template::Actions::of(source.bytes());
        self.any_format(id, source, options, &mut |resources| {
            resources.iter().for_each(|resource| actions.look(resource.origin.span));
            emit(resources);
        });
        let is_broken = |finding: &Finding| finding.diagnostic.rule == &SYNTAX;
        let is_any_broken = self.findings.iter().skip(first).any(is_broken);
        if let Some(span) = actions.found(is_any_broken) {
            // The syntax faults are consequences of the template, so they are not reported.
            let later = self.findings.split_off(first.min(self.findings.len()));
            self.report(id, &TEMPLATE, span, template::MESSAGE.to_owned())
                .help(template::HELP);
            self.findings
                .extend(later.into_iter().filter(|finding| !is_broken(finding)));
        } else if is_any_broken && template::is_any(source.bytes()) {
            let later = self.findings.iter_mut().skip(first);
            for finding in later.filter(|finding| is_broken(finding) && finding.diagnostic.help.is_none()) {
                finding.diagnostic.help("this looks like a template: render it first");
            }
        }
    }

    fn any_format(&mut self, id: SourceId, source: &Source, options: LoadOptions, emit: Emit<'_>) {
        let assumed = options.assume.and_then(|assumed| tables::message(assumed.type_name()));
        let format = match options.format {
            Some(format) => format,
            // Any bytes may be a bare resource, so the content cannot tell.
            None if assumed.is_some() && named(source.name()) == Some(DocumentFormat::Binary) => DocumentFormat::Binary,
            None => match source.sniffed() {
                Sniffed::Format(format) => format,
                Sniffed::Empty => {
                    self.report(id, &EMPTY, Span::default(), "the document is empty".to_owned());
                    return;
                }
                Sniffed::Other(what) => {
                    self.report(id, &NOT_TEXT, Span::default(), format!("the document is {what}"));
                    return;
                }
            },
        };
        // A JSON document with a ConfigMap is read as YAML, because only a view can map places in
        // the texts of the ConfigMap.
        let has_config_maps =
            matches!(format, DocumentFormat::Json | DocumentFormat::Yaml) && configmap::may_be(source.bytes());
        let format = if has_config_maps { DocumentFormat::Yaml } else { format };
        source.set_format(format);
        let mut closed = Vec::new();
        let view = match format {
            DocumentFormat::Json => {
                let text = JsonText {
                    json: source.bytes(),
                    document: b"",
                    name: source.name(),
                };
                return self.values(id, text, 0, &mut options.world.clone(), options, emit);
            }
            DocumentFormat::Yaml => {
                let mut view = source.yaml_view();
                if has_config_maps {
                    closed = configmap::open(&mut view, source.bytes(), kubernetes::is_xds);
                }
                view
            }
            DocumentFormat::Text => textproto::view(source.bytes(), assumed),
            DocumentFormat::Binary => binary::view(source.bytes(), assumed),
            DocumentFormat::Log => return self.log(id, source, options, emit),
        };
        let transcode = of_view(format, options.transcode);
        let view = source.set_view(view);
        if view.parts.is_empty() && view.faults.is_empty() {
            self.report(id, &EMPTY, Span::default(), "the document is empty".to_owned());
        }
        let options = LoadOptions {
            transcode,
            nulls_are_explained: !view.faults.is_empty(),
            config_maps_are_open: has_config_maps,
            ..options
        };
        for (key, span) in closed {
            self.report(
                id,
                &UNKNOWN_SHAPE,
                span,
                format!("the text of `{key}` cannot be read where it stands"),
            )
            .help("write it as a block behind `|`, or give it to xdsctl as a file");
        }
        // Only wire format has messages whose bytes are not in the view.
        let document = if format == DocumentFormat::Binary {
            source.bytes()
        } else {
            b""
        };
        self.faults(id, view);
        if !view.faults.is_empty() {
            self.implied = &SAID_BY_A_FAULT;
        }
        let mut world = options.world;
        self.parts((id, document), view, 0..view.parts.len(), &mut world, options, emit);
        self.implied = &[];
    }

    /// Reads the messages of a log, in order. The messages of one client belong to one world.
    fn log(&mut self, id: SourceId, source: &Source, options: LoadOptions, emit: Emit<'_>) {
        let entries = log::entries(source.bytes());
        if entries.is_empty() {
            let whole = Span::new(0, source.bytes().len());
            self.report(id, &UNKNOWN_SHAPE, whole, "no xDS message is in this log".to_owned())
                .help("let the client log more: GRPC_GO_LOG_VERBOSITY_LEVEL=99 and GRPC_GO_LOG_SEVERITY_LEVEL=info, or GRPC_VERBOSITY=debug and GRPC_TRACE=xds_client");
        }
        self.implied = &USUAL_IN_A_LOG;
        let first_response = self.responses.len();
        let (view, parts) = log::view(source.bytes(), &entries);
        let view = source.set_view(view);
        self.faults(id, view);
        let of_view = LoadOptions {
            transcode: of_view(DocumentFormat::Log, options.transcode),
            ..options
        };
        let mut worlds: BTreeMap<Option<&str>, Option<WorldId>> = BTreeMap::new();
        for (entry, parts) in entries.iter().zip(parts) {
            let client = entry.client.as_deref();
            let world = worlds.entry(client).or_insert_with(|| {
                let scope = client.filter(|_| options.world.is_none());
                let named = scope.map(|client| self.world(id, Some(client.to_owned())));
                options.world.or(named)
            });
            if entry.is_plain() {
                let text = JsonText {
                    json: source.bytes().get(..entry.span.end).unwrap_or_default(),
                    ..JsonText::default()
                };
                self.values(id, text, entry.span.start, world, options, emit);
            } else {
                self.parts((id, b""), view, parts, world, of_view, emit);
            }
        }
        self.dumps.extend(worlds.values().flatten());
        self.heads(id, source, &entries, &worlds);
        for response in self.responses.iter_mut().skip(first_response) {
            response.is_logged = true;
        }
        self.implied = &[];
    }

    /// Adds the responses of which a log prints the head and the resources separately.
    fn heads(
        &mut self,
        id: SourceId,
        source: &Source,
        entries: &[log::LoggedMessage<'_>],
        worlds: &BTreeMap<Option<&str>, Option<WorldId>>,
    ) {
        if !entries.iter().any(log::LoggedMessage::is_resource) {
            return;
        }
        for head in log::heads(source.bytes()) {
            let from = entries.partition_point(|entry| entry.span.start < head.span.start);
            // A response without resources belongs to the client of the message before it.
            let inside = entries.get(from).filter(|entry| entry.span.start < head.span.end);
            let near = inside.or(from.checked_sub(1).and_then(|before| entries.get(before)));
            let client = near.and_then(|entry| entry.client.as_deref());
            self.responses.push(RawResponse {
                source: id,
                span: head.span,
                world: worlds.get(&client).copied().flatten(),
                type_url: Some(format!("type.googleapis.com/{}", head.type_name)),
                has_all: true,
                nonce: head.nonce.to_owned(),
                is_logged: true,
                errors: Vec::new(),
            });
        }
    }

    /// Reports the faults of a view.
    fn faults(&mut self, id: SourceId, view: &View) {
        for fault in &view.faults {
            let rule = match fault.kind {
                FaultKind::Syntax => &SYNTAX,
                FaultKind::Limit => &LIMIT_EXCEEDED,
            };
            self.report(id, rule, fault.span, fault.message.clone());
        }
    }

    /// Reads some of the parts of a view. A part that is cut off ends one text; the parts up to it
    /// are read together.
    fn parts(
        &mut self,
        (id, document): (SourceId, &[u8]),
        view: &View,
        range: Range<usize>,
        world: &mut Option<WorldId>,
        options: LoadOptions,
        emit: Emit<'_>,
    ) {
        let first = self.findings.len();
        let first_bootstrap = self.bootstraps.len();
        let first_response = self.responses.len();
        let first_path = self.path_sources.len();
        let mut placed = |mut resources: Vec<RawResource>| {
            for resource in &mut resources {
                resource.origin.view_at = u32::try_from(resource.origin.span.start).ok();
                resource.origin.span = view.to_document(resource.origin.span);
                for note in &mut resource.notes {
                    note.span = view.to_document(note.span);
                }
            }
            emit(resources);
        };
        let parts = view.parts.get(range).unwrap_or_default();
        let mut start = parts.first().map_or(0, |part| part.text.start);
        for (index, part) in parts.iter().enumerate() {
            if !part.cut && index + 1 < parts.len() {
                continue;
            }
            let text = view.json.get(..part.text.end).unwrap_or_default();
            let text_of = JsonText {
                json: text,
                document,
                name: "",
            };
            // The fault has already said why the text ends here.
            self.cut_at = part.cut.then_some(text.len());
            self.values(id, text_of, start, world, options, &mut placed);
            start = part.text.end;
        }
        self.cut_at = None;
        for finding in self.findings.iter_mut().skip(first) {
            finding.span = view.to_document(finding.span);
        }
        for bootstrap in self.bootstraps.iter_mut().skip(first_bootstrap) {
            bootstrap.span = view.to_document(bootstrap.span);
        }
        for path in self.path_sources.iter_mut().skip(first_path) {
            path.span = view.to_document(path.span);
        }
        for response in self.responses.iter_mut().skip(first_response) {
            response.span = view.to_document(response.span);
            for error in &mut response.errors {
                error.span = view.to_document(error.span);
            }
        }
        if let Some(findings) = self.findings.get_mut(first..) {
            findings.sort_by_key(|finding| finding.span.start);
        }
    }
}

/// Returns the options for reading the view of a document of this format.
const fn of_view(format: DocumentFormat, options: transcode::TranscodeOptions) -> transcode::TranscodeOptions {
    let is_yaml = matches!(format, DocumentFormat::Yaml);
    transcode::TranscodeOptions {
        bare_strings: is_yaml,
        wire_objects: !is_yaml,
        ..options
    }
}

/// Reads a resource again at its known place. Returns its wire bytes and what is known of them.
///
/// Returns `None` if the resource is no longer there, because the document has changed.
pub fn again(source: &Source, origin: Origin, resource_type: ResourceType) -> Option<(Bytes, BytesKnowledge)> {
    let (text, start, options) = match (origin.view_at, source.view()) {
        (Some(at), Some(view)) => {
            let options = of_view(source.format()?, transcode::TranscodeOptions::default());
            (view.json.as_slice(), usize::try_from(at).ok()?, options)
        }
        _ => (
            source.bytes(),
            origin.span.start,
            transcode::TranscodeOptions::default(),
        ),
    };
    let mut reader = Transcoder::new(text, options);
    if origin.view_at.is_some() && source.format() == Some(DocumentFormat::Binary) {
        reader.document = source.bytes();
    }
    reader.expect(origin.span.range().len());
    reader.scan.set_pos(start);
    reader.type_url().ok()?;
    reader.scan.set_pos(start);
    reader.resource(tables::message(resource_type.type_name())?).ok()?;
    let bytes = reader.take_written(0);
    (!reader.is_lost).then(|| (bytes.into(), reader.known))
}

#[cfg(test)]
mod tests;
