//! The structure of a document: its resources, its blocks, and the values around a place.

use lsp_types::{DocumentSymbol, FoldingRange, SelectionRange, SelectionRangeParams, SymbolKind};

use crate::project::names::name_field;
use crate::view::DocumentView;
use xdsctl_document::source::json::{Scanner, Syntax};
use xdsctl_document::source::node::JsonNode;
use xdsctl_document::source::sniff::DocumentFormat;
use xdsctl_document::source::{Source, Span};
use xdsctl_model::diag::Path;
use xdsctl_model::resource::ResourceType;

/// Most symbols, blocks or positions that are handled for a document.
const MAX_SHOWN: usize = 10_000;

/// Most levels of a document that are handled.
const MAX_LEVELS: usize = 200;

/// Returns the resources of a document, or the tests of a suite.
pub fn symbols(view: &DocumentView<'_>) -> Vec<DocumentSymbol> {
    let resources = view.snapshot.resources_of(view.id).take(MAX_SHOWN);
    let mut symbols: Vec<DocumentSymbol> = resources
        .map(|(_, resource)| {
            let root = Path::ROOT;
            let name = root.field(resource.resource_type.map_or("name", name_field)).to_owned();
            let kind = match resource.resource_type {
                Some(ResourceType::Listener) => SymbolKind::INTERFACE,
                Some(ResourceType::RouteConfiguration) => SymbolKind::MODULE,
                Some(ResourceType::Cluster) => SymbolKind::CLASS,
                Some(ResourceType::Endpoints) => SymbolKind::ARRAY,
                None => SymbolKind::OBJECT,
            };
            let short = resource.type_name.rsplit('.').next().unwrap_or_default();
            let own = view.source.locate(resource.span, &name);
            symbol(
                view,
                &resource.name,
                format!("{short}, {}", resource.verdict),
                kind,
                (resource.span, own),
            )
        })
        .collect();
    if symbols.is_empty() && view.snapshot.configuration.contains(&view.id) {
        let tests = tests(view.source).into_iter().take(MAX_SHOWN);
        symbols.extend(
            tests.map(|(name, span, own)| symbol(view, &name, "test".to_owned(), SymbolKind::FUNCTION, (span, own))),
        );
    }
    symbols
}

#[expect(deprecated, reason = "the type has a field that the protocol no longer uses")]
fn symbol(
    view: &DocumentView<'_>,
    name: &str,
    detail: String,
    kind: SymbolKind,
    (whole, own): (Span, Span),
) -> DocumentSymbol {
    let is_inside = whole.start <= own.start && own.end <= whole.end;
    DocumentSymbol {
        name: if name.is_empty() {
            "(unnamed)".to_owned()
        } else {
            name.to_owned()
        },
        detail: Some(detail),
        kind,
        tags: None,
        deprecated: None,
        range: view.range(whole),
        selection_range: view.range(if is_inside { own } else { whole }),
        children: None,
    }
}

/// Returns the tests of a suite: name, span of the test, and span of the name. A test without a
/// name is the only one of the file.
pub fn tests(source: &Source) -> Vec<(String, Span, Span)> {
    let Ok(Some(root)) = JsonNode::of(source) else {
        return Vec::new();
    };
    let named = |node: &JsonNode| {
        let name = node.get("name");
        let whole = source.to_document(node.span);
        let head = node
            .map()
            .and_then(|members| members.first())
            .map_or(node.span, |member| member.at);
        let own = source.to_document(name.map_or(head, |name| name.span));
        (name.and_then(JsonNode::text).unwrap_or_default().to_owned(), whole, own)
    };
    match root.get("tests").and_then(JsonNode::list) {
        Some(tests) => tests.iter().map(named).collect(),
        None if root.get("steps").is_some() => vec![named(&root)],
        None => Vec::new(),
    }
}

/// Returns the targets of a suite's channels, each with its span: those for all tests, for one
/// test, and for one client.
pub fn targets(source: &Source) -> Vec<(String, Span)> {
    let Ok(Some(root)) = JsonNode::of(source) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut take = |node: &JsonNode| {
        if let Some(target) = node.get("target")
            && let Some(text) = target.text()
        {
            found.push((text.to_owned(), source.to_document(target.span)));
        }
    };
    let tests = root.get("tests").and_then(JsonNode::list).unwrap_or_default();
    for test in std::iter::once(&root).chain(tests) {
        take(test);
        let clients = test.get("clients").and_then(JsonNode::map);
        clients.into_iter().flatten().for_each(|client| take(&client.node));
    }
    found
}

/// Returns the JSON form of a document, if it has one.
fn text(source: &Source) -> Option<&[u8]> {
    match source.format() {
        Some(DocumentFormat::Json) | None => Some(source.bytes()),
        Some(DocumentFormat::Yaml | DocumentFormat::Text) => Some(&source.view()?.json),
        Some(DocumentFormat::Binary | DocumentFormat::Log) => None,
    }
}

/// Returns the objects and lists of a document that have more than one line.
pub fn folds(view: &DocumentView<'_>) -> Vec<FoldingRange> {
    let Some(json) = text(view.source) else {
        return Vec::new();
    };
    let mut folds = Vec::new();
    let mut last = None;
    // The offsets of open brackets; strings are skipped.
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'{' | b'[' => open.push(at),
            b'}' | b']' => {
                if let Some(start) = open.pop() {
                    let range = view.range(view.source.to_document(Span::new(start, at + 1)));
                    let lines = (range.start.line, range.end.line);
                    if lines.1 > lines.0 && last != Some(lines) && folds.len() < MAX_SHOWN {
                        last = Some(lines);
                        folds.push(FoldingRange {
                            start_line: lines.0,
                            end_line: lines.1,
                            ..FoldingRange::default()
                        });
                    }
                }
            }
            b'"' => {
                let mut scan = Scanner::new(json);
                scan.set_pos(at);
                if scan.string().is_err() {
                    break;
                }
                at = scan.pos();
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    folds.sort_by_key(|fold| (fold.start_line, fold.end_line));
    folds.dedup_by_key(|fold| (fold.start_line, fold.end_line));
    folds
}

/// Returns the values around each place, the innermost first.
pub fn selections(view: &DocumentView<'_>, params: &SelectionRangeParams) -> Vec<SelectionRange> {
    let positions = params.positions.iter().take(MAX_SHOWN);
    let selections = positions.map(|position| {
        let offset = view.offset(*position);
        let mut outer: Option<Box<SelectionRange>> = None;
        for span in around(view.source, offset) {
            let range = view.range(span);
            // The protocol requires that each range is inside the next one.
            let is_inside = outer.as_ref().is_none_or(|outer| {
                outer.range.start <= range.start && range.end <= outer.range.end && outer.range != range
            });
            if is_inside {
                outer = Some(Box::new(SelectionRange { range, parent: outer }));
            }
        }
        outer.map_or_else(
            || SelectionRange {
                range: lsp_types::Range {
                    start: *position,
                    end: *position,
                },
                parent: None,
            },
            |inner| *inner,
        )
    });
    selections.collect()
}

/// Returns the values around a byte of a document, the outermost first. Members of objects include
/// their keys.
pub fn around(source: &Source, offset: usize) -> Vec<Span> {
    let mut found = Vec::new();
    let Some(json) = text(source) else {
        return found;
    };
    let mut scan = Scanner::new(json);
    while !scan.at_end() {
        let start = scan.pos();
        if scan.skip_value().is_err() {
            break;
        }
        let span = source.to_document(Span::new(start, scan.pos()));
        if span.start <= offset && offset <= span.end {
            scan.set_pos(start);
            found.push(span);
            // If a document cannot be parsed to its end, the values before the fault are returned.
            let _ = into(&mut scan, source, offset, &mut found);
            break;
        }
    }
    found
}

fn into(scan: &mut Scanner<'_>, source: &Source, offset: usize, found: &mut Vec<Span>) -> Result<(), Syntax> {
    for _ in 0..MAX_LEVELS {
        let first = scan.peek();
        let close = match first {
            b'{' => b'}',
            b'[' => b']',
            _ => return Ok(()),
        };
        let mut more = scan.open(close)?;
        let mut next = None;
        while more && next.is_none() {
            scan.peek();
            let start = scan.pos();
            if first == b'{' {
                scan.key()?;
                scan.peek();
            }
            let value = scan.pos();
            scan.skip_value()?;
            let member = source.to_document(Span::new(start, scan.pos()));
            if member.start <= offset && offset <= member.end {
                found.push(member);
                let own = source.to_document(Span::new(value, scan.pos()));
                if own.start <= offset && offset <= own.end {
                    found.push(own);
                    next = Some(value);
                } else {
                    return Ok(());
                }
            } else {
                more = scan.more(close)?;
            }
        }
        let Some(value) = next else { return Ok(()) };
        scan.set_pos(value);
    }
    Ok(())
}
