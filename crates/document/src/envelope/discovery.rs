//! DiscoveryResponse, DeltaDiscoveryResponse, every form of file with a list `resources`, and the
//! wrapper `Resource`.

use xdsctl_proto::tables::{self, Field};

use super::raw::{LiveStatus, RawResponse, ResourceError};
use super::slot::{Pending, SlotPlace};
use super::walker::{Walker, snake_case};
use super::{Clue, EMPTY_RESPONSE, Result, Shape, UNKNOWN_TYPE, WRAPPER_EMPTY, csds, wrapper};
use crate::proto::transcode::UNKNOWN_FIELD;
use crate::source::Span;
use xdsctl_model::resource::ResourceType;
use xdsctl_model::status::Code;
use xdsctl_model::text::nearest;

/// The shape `{"resources": [...]}`, also in a file for file-based xDS or in a golden file of Kuma.
pub(super) static SHAPE: Shape = Shape {
    claims: |clue| {
        clue.is("resources", b'[')
            || matches!(
                clue,
                Clue::Type(
                    "envoy.service.discovery.v3.DiscoveryResponse"
                        | "envoy.service.discovery.v3.DeltaDiscoveryResponse"
                )
            )
    },
    walk: walk_response,
};

/// The shape `{"name": ..., "resource": {...}}`, with or without the `@type` of the wrapper.
pub(super) static WRAPPED: Shape = Shape {
    claims: |clue| clue.is("resource", b'{') || matches!(clue, Clue::Type("envoy.service.discovery.v3.Resource")),
    walk: walk_wrapped,
};

/// The `LiveStatus::server` of a resource that a Delta response removes.
pub const REMOVED: &str = "REMOVED";

/// A DiscoveryRequest. It holds no resources, but may say why the client rejected a response.
pub(super) static REQUEST: Shape = Shape {
    claims: |clue| {
        clue.is("resource_names", b'[')
            || clue.is("resource_names_subscribe", b'[')
            || clue.is("response_nonce", b'"')
            || clue.is("error_detail", b'{')
            || matches!(
                clue,
                Clue::Type(
                    "envoy.service.discovery.v3.DiscoveryRequest" | "envoy.service.discovery.v3.DeltaDiscoveryRequest"
                )
            )
    },
    walk: walk_request,
};

fn walk_request(walker: &mut Walker<'_, '_>) -> Result<()> {
    walker.recognised = true;
    walker.tc.scan.peek();
    let start = walker.pos();
    let mut type_url = String::new();
    let mut error = None;
    walker.fields(&mut |walker, key| match key {
        "type_url" => walker.text().map(|url| type_url = url.unwrap_or_default()),
        "error_detail" => status(walker).map(|(_, detail)| error = Some(detail)),
        "node" => csds::walk_node(walker).map(drop),
        key => walker.beside(key),
    })?;
    // Other programs report errors in an `error_detail`, too.
    if error.is_some() && !type_url.is_empty() {
        let status = LiveStatus {
            client: Some("NACKED".to_owned()),
            error,
            ..LiveStatus::default()
        };
        let span = Span::new(start, walker.pos());
        let nack = absent(walker, &type_url, "", span, &status);
        walker.push(vec![nack]);
    }
    Ok(())
}

/// The message types of responses.
const MESSAGES: &[&str] = &[
    "envoy.service.discovery.v3.DiscoveryResponse",
    "envoy.service.discovery.v3.DeltaDiscoveryResponse",
];

/// The members with which a response describes itself, besides its type and its resources.
const SAID: &[&str] = &["version_info", "system_version_info", "nonce"];

/// How many unknown members of a response are looked at.
const MAX_STRANGE: usize = 20;

/// The member of a response that holds its resources.
const RESOURCES: &str = "resources";

/// Says whether the object at the scanner is a response although none of its keys proves it. The
/// list of resources may have a misspelt name, or be missing because JSON omits empty lists.
pub(super) fn is_without_list(walker: &mut Walker<'_, '_>) -> Result<bool> {
    let start = walker.pos();
    let (mut is_typed, mut is_said, mut is_near, mut is_other) = (false, false, false, false);
    walker.fields(&mut |walker, key| {
        let first = walker.tc.scan.peek();
        let is_scalar = !matches!(first, b'{' | b'[');
        is_typed |= is_scalar && key == "type_url";
        is_said |= is_scalar && SAID.contains(&key);
        is_near |= first == b'[' && nearest(key, [RESOURCES].into_iter()).is_some();
        is_other |= !members().any(|field| field.name == key);
        walker.skip()
    })?;
    walker.tc.scan.set_pos(start);
    Ok((is_typed || is_said) && is_near || is_typed && is_said && !is_other)
}

/// Returns the resource type in the `type_url` of the response at the scanner.
pub(super) fn said_type(walker: &mut Walker<'_, '_>) -> Result<Option<ResourceType>> {
    let start = walker.pos();
    let mut said = None;
    walker.fields(&mut |walker, key| {
        if key != "type_url" || walker.tc.scan.peek() != b'"' {
            return walker.skip();
        }
        let url = walker.text()?.unwrap_or_default();
        said = url.rsplit('/').next().and_then(ResourceType::from_type_name);
        Ok(())
    })?;
    walker.tc.scan.set_pos(start);
    Ok(said)
}

/// Returns the fields that a response may have.
fn members() -> impl Iterator<Item = &'static Field> {
    let messages = MESSAGES.iter().filter_map(|name| tables::message(name));
    messages.flat_map(|message| message.fields)
}

/// Reports members whose names are close to a field of a response.
fn unknown(walker: &mut Walker<'_, '_>, strange: Vec<(String, Span)>) {
    for (key, span) in strange {
        if members().any(|field| field.name == key) {
            continue;
        }
        if let Some(near) = nearest(&key, members().map(|field| field.name)) {
            let message = format!("unknown field `{key}` of DiscoveryResponse, nothing is read of it");
            let help = format!("did you mean `{near}`?");
            walker.report(&UNKNOWN_FIELD, span, message).help(help);
        }
    }
}

fn walk_response(walker: &mut Walker<'_, '_>) -> Result<()> {
    let start = walker.pos();
    // Other tools have `resources`, too. This is a response only if an element is a resource, or if
    // another member proves it.
    let mut is_one = false;
    let mut unknown_entries = Vec::new();
    let outer = walker.assume;
    // The type may come after the list. It is needed only if the resources have no `@type`.
    let mut later = false;
    let mut type_url = None;
    let mut errors = Vec::new();
    let mut gone = Vec::new();
    let mut nonce = None;
    let (mut has_version, mut is_delta) = (false, false);
    let before = walker.loader.mark(&UNKNOWN_TYPE);
    let found = walker.found();
    let mut strange = Vec::new();
    walker.fields(&mut |walker, key| {
        match key {
            "@type" | "control_plane" => {
                is_one = true;
                walker.skip()?;
            }
            "type_url" => {
                is_one = true;
                type_url = walker.text()?;
                let url = type_url.as_deref().unwrap_or_default();
                walker.assume = outer.or_else(|| url.rsplit('/').next().and_then(tables::message));
            }
            "resource_errors" => walker.elements(&mut |walker, _| {
                errors.push(resource_error(walker)?);
                Ok(())
            })?,
            "removed_resources" | "removed_resource_names" => {
                is_delta = true;
                removed(walker, &mut gone)?;
            }
            "system_version_info" => {
                (is_one, is_delta) = (true, true);
                walker.skip()?;
            }
            "version_info" => {
                is_one = true;
                has_version = walker.text()?.is_some();
            }
            "nonce" => {
                is_one = true;
                nonce = walker.text()?;
            }
            "resources" if walker.assume.is_none() && starts_untyped(walker)? => {
                later = true;
                walker.skip()?;
            }
            "resources" => is_one |= walker.entries(&mut unknown_entries)?,
            _ => {
                let start = walker.pos();
                // A name that is nearly `resources` is reported as misspelt instead.
                match strange.len() < MAX_STRANGE && nearest(key, [RESOURCES].into_iter()).is_some() {
                    true => walker.skip()?,
                    false => walker.beside(key)?,
                }
                if strange.len() < MAX_STRANGE {
                    strange.push((key.to_owned(), Span::new(start, walker.pos())));
                }
            }
        }
        Ok(())
    })?;
    if later {
        let end = walker.pos();
        walker.tc.scan.set_pos(start);
        walker.fields(&mut |walker, key| match key {
            "resources" => {
                is_one |= walker.entries(&mut unknown_entries)?;
                Ok(())
            }
            _ => walker.skip(),
        })?;
        walker.tc.scan.set_pos(end);
    }
    is_one |= !errors.is_empty() || !gone.is_empty();
    if type_url.is_some() {
        // A resource must have the type of the response; another finding reports one that has not.
        walker.loader.take_back(before);
    }
    if is_one {
        walker.recognised = true;
        unknown(walker, strange);
        walker.report_unknown_entries(unknown_entries);
    }
    let said = type_url.as_deref().and_then(|url| url.rsplit('/').next());
    if let Some(resource_type) = said.and_then(ResourceType::from_type_name)
        && is_one
        && !is_delta
        && walker.found() == found
    {
        let span = Span::new(start, walker.pos());
        walker.report(&EMPTY_RESPONSE, span, without_resource(resource_type));
    }
    walker.assume = outer;
    let url = type_url.as_deref().unwrap_or_default();
    let mut named = Vec::new();
    for error in errors.iter().filter(|error| error.has_error && !error.name.is_empty()) {
        let status = LiveStatus {
            client: Some("RECEIVED_ERROR".to_owned()),
            error: Some(error.detail.clone()),
            ..LiveStatus::default()
        };
        named.push(absent(walker, url, &error.name, error.span, &status));
    }
    for (name, span) in &gone {
        let status = LiveStatus {
            server: Some(REMOVED.to_owned()),
            ..LiveStatus::default()
        };
        named.push(absent(walker, url, name, *span, &status));
    }
    walker.push(named);
    if type_url.is_some() || !errors.is_empty() {
        let response = RawResponse {
            source: walker.source,
            span: Span::new(start, walker.pos()),
            world: walker.world,
            type_url,
            has_all: has_version && !is_delta,
            nonce: nonce.unwrap_or_default(),
            is_logged: false,
            errors,
        };
        walker.response(response);
    }
    Ok(())
}

/// Says what a client does with a response without resources. For Listeners and Clusters, the
/// response is the complete state, so the client drops what it had (A53).
fn without_resource(resource_type: ResourceType) -> String {
    let kind = resource_type.short_name();
    match resource_type {
        ResourceType::Listener | ResourceType::Cluster => {
            format!("the response has no {kind}: a client drops each that it had")
        }
        ResourceType::RouteConfiguration | ResourceType::Endpoints => {
            format!("the response has no {kind}: a client keeps those that it had")
        }
    }
}

/// Reads an entry of `resource_errors`.
fn resource_error(walker: &mut Walker<'_, '_>) -> Result<ResourceError> {
    let start = walker.pos();
    let mut error = ResourceError::default();
    walker.fields(&mut |walker, key| match key {
        "resource_name" => walker.fields(&mut |walker, key| match key {
            "name" => walker.text().map(|name| error.name = name.unwrap_or_default()),
            _ => walker.skip(),
        }),
        "error_detail" => status(walker).map(|status| (error.has_error, error.detail) = status),
        _ => walker.skip(),
    })?;
    error.span = Span::new(start, walker.pos());
    Ok(error)
}

/// Reads a `google.rpc.Status`. Returns whether it is an error, and its code and message as text.
fn status(walker: &mut Walker<'_, '_>) -> Result<(bool, String)> {
    let mut is_error = false;
    let (mut code, mut message) = (String::new(), String::new());
    walker.fields(&mut |walker, key| match key {
        "code" => {
            let text = walker.token()?;
            is_error = !matches!(text.as_str(), "0" | "\"0\"" | "-0" | "null");
            code = text.trim_matches('"').to_owned();
            Ok(())
        }
        "message" => walker.text().map(|text| message = text.unwrap_or_default()),
        _ => walker.skip(),
    })?;
    let name = code.parse().ok().and_then(Code::from_number).map(Code::name);
    Ok((is_error, format!("{}: {message}", name.unwrap_or(&code))))
}

/// Reads `removed_resources`, or an entry of `removed_resource_names`.
fn removed(walker: &mut Walker<'_, '_>, names: &mut Vec<(String, Span)>) -> Result<()> {
    let first = walker.tc.scan.peek();
    let start = walker.pos();
    let mut name = None;
    match first {
        b'[' => return walker.elements(&mut |walker, _| removed(walker, names)),
        b'{' => walker.fields(&mut |walker, key| match key {
            "name" => walker.text().map(|text| name = text),
            _ => walker.skip(),
        })?,
        _ => name = walker.text()?,
    }
    names.extend(name.map(|name| (name, Span::new(start, walker.pos()))));
    Ok(())
}

/// Returns a resource that a response names without holding it.
fn absent(walker: &mut Walker<'_, '_>, type_url: &str, name: &str, span: Span, status: &LiveStatus) -> Pending {
    let mut absent = walker.pending(type_url.to_owned(), SlotPlace::default());
    absent.raw.wrapper_name = Some(name.to_owned());
    absent.raw.origin.span = span;
    absent.set_status(status);
    absent
}

/// Says whether the first element of the list at the scanner has neither `@type` nor `resource`.
fn starts_untyped(walker: &mut Walker<'_, '_>) -> Result<bool> {
    let start = walker.pos();
    let is_object = walker.tc.scan.peek() == b'[' && walker.tc.scan.open(b']')? && walker.tc.scan.peek() == b'{';
    let is_untyped = is_object
        && !walker.any_key(&mut |walker, key| {
            let name = String::from_utf8_lossy(walker.tc.scan.raw(key));
            Ok(name == "@type" || snake_case(&name) == "resource")
        })?;
    walker.tc.scan.set_pos(start);
    Ok(is_untyped)
}

/// Says whether the object at the scanner, or the resource in it, has an `@type`. Objects of other
/// tools have a member `resource`, too.
fn is_wrapper(walker: &mut Walker<'_, '_>) -> Result<bool> {
    let start = walker.pos();
    let is_typed = walker.any_key(&mut |walker, key| match walker.tc.scan.raw(key) {
        b"@type" => Ok(true),
        b"resource" if walker.tc.scan.peek() == b'{' => Ok(walker.type_ahead()?.is_some()),
        _ => Ok(false),
    })?;
    walker.tc.scan.set_pos(start);
    Ok(is_typed)
}

/// Reads a wrapper `Resource`. Its name becomes the name of the resource in it.
fn walk_wrapped(walker: &mut Walker<'_, '_>) -> Result<()> {
    let start = walker.pos();
    if walker.assume.is_none() && !is_wrapper(walker)? {
        return (wrapper::SHAPE.walk)(walker);
    }
    walker.recognised = true;
    let mut name = None;
    let mut version = None;
    let mut resources: Vec<Pending> = Vec::new();
    let message = walker.assume;
    let result = walker.fields(&mut |walker, key| match key {
        "name" => walker.text().map(|text| name = text),
        "version" => walker.text().map(|text| version = text),
        "resource" if walker.tc.scan.peek() == b'{' => {
            let pending = walker.slot(SlotPlace {
                message,
                is_any: true,
                ..SlotPlace::default()
            })?;
            if !pending.is_typed && message.is_some() {
                walker.missing_type(&pending);
            }
            resources.push(pending);
            Ok(())
        }
        key => walker.beside(key),
    });
    if resources.is_empty() {
        let span = Span::new(start, walker.pos());
        walker.report(&WRAPPER_EMPTY, span, "the wrapper holds no resource".to_owned());
    }
    for pending in &mut resources {
        pending.raw.wrapper_name.clone_from(&name);
        if version.is_some() {
            pending.set_status(&LiveStatus {
                version: version.clone(),
                ..LiveStatus::default()
            });
        }
    }
    walker.push(resources);
    result
}
