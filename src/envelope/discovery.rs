//! DiscoveryResponse, DeltaDiscoveryResponse, and every file form with a list `resources`; the wrapper `Resource`.

use xdsctl_proto::tables;

use super::raw::{Label, ResourceError, Response};
use super::walker::{Pending, Place, Walker, snake_case};
use super::{Clue, Result, Shape};
use crate::source::Span;
use crate::validate::discovery::{WRAPPER_EMPTY, WRAPPER_EMPTY_MESSAGE};

/// `{"resources": [...]}`, a file for file-based xDS or a Kuma golden included.
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

/// `{"name": ..., "resource": {...}}`, with or without the `@type` of the wrapper.
pub(super) static WRAPPED: Shape = Shape {
    claims: |clue| clue.is("resource", b'{') || matches!(clue, Clue::Type("envoy.service.discovery.v3.Resource")),
    walk: walk_wrapped,
};

fn walk_response(walker: &mut Walker<'_, '_>) -> Result<()> {
    walker.recognised = true;
    let start = walker.pos();
    let outer = walker.assume;
    // The type may be said after the list, where it helps only if the resources do not say it themselves.
    let mut later = false;
    let mut type_url = None;
    let mut errors = Vec::new();
    walker.fields(&mut |walker, key| {
        match key {
            "type_url" => {
                type_url = walker.text()?;
                let url = type_url.as_deref().unwrap_or_default();
                walker.assume = outer.or_else(|| url.rsplit('/').next().and_then(tables::message));
            }
            "resource_errors" => walker.elements(&mut |walker, _| {
                errors.push(resource_error(walker)?);
                Ok(())
            })?,
            "resources" if walker.assume.is_none() && starts_untyped(walker)? => {
                later = true;
                walker.skip()?;
            }
            "resources" => walker.elements(&mut |walker, _| walker.value())?,
            _ => walker.skip()?,
        }
        Ok(())
    })?;
    if later {
        let end = walker.pos();
        walker.tc.scan.set_pos(start);
        walker.fields(&mut |walker, key| match key {
            "resources" => walker.elements(&mut |walker, _| walker.value()),
            _ => walker.skip(),
        })?;
        walker.tc.scan.set_pos(end);
    }
    walker.assume = outer;
    if type_url.is_some() || !errors.is_empty() {
        let response = Response {
            source: walker.source(),
            span: Span::new(start, walker.pos()),
            type_url,
            errors,
        };
        walker.response(response);
    }
    Ok(())
}

/// Reads an entry of `resource_errors`.
fn resource_error(walker: &mut Walker<'_, '_>) -> Result<ResourceError> {
    let start = walker.pos();
    let mut error = ResourceError::default();
    walker.fields(&mut |walker, key| match key {
        "resource_name" => walker.fields(&mut |walker, key| {
            match key {
                "name" => error.name = walker.text()?.unwrap_or_default(),
                _ => walker.skip()?,
            }
            Ok(())
        }),
        "error_detail" => walker.fields(&mut |walker, key| {
            let start = walker.pos();
            walker.skip()?;
            if key == "code" {
                let code = walker.tc.scan.text().get(start..walker.pos()).unwrap_or_default();
                error.has_error = !matches!(code.trim_ascii(), b"0" | b"\"0\"" | b"-0" | b"null");
            }
            Ok(())
        }),
        _ => walker.skip(),
    })?;
    error.span = Span::new(start, walker.pos());
    Ok(error)
}

/// Says whether the first element of the list has neither an `@type` nor a resource in it.
fn starts_untyped(walker: &mut Walker<'_, '_>) -> Result<bool> {
    let start = walker.pos();
    if walker.tc.scan.peek() != b'[' || !walker.tc.scan.open(b']')? || walker.tc.scan.peek() != b'{' {
        walker.tc.scan.set_pos(start);
        return Ok(false);
    }
    let mut typed = false;
    if walker.tc.scan.open(b'}')? {
        loop {
            let key = walker.tc.scan.key()?;
            let name = String::from_utf8_lossy(walker.tc.scan.raw(key));
            typed |= name == "@type" || snake_case(&name) == "resource";
            if typed {
                break;
            }
            walker.skip()?;
            if !walker.tc.scan.more(b'}')? {
                break;
            }
        }
    }
    walker.tc.scan.set_pos(start);
    Ok(!typed)
}

/// Reads a wrapper; its name is the resource's.
fn walk_wrapped(walker: &mut Walker<'_, '_>) -> Result<()> {
    walker.recognised = true;
    let start = walker.pos();
    let mut name = None;
    let mut version = None;
    let mut resources: Vec<Pending> = Vec::new();
    let message = walker.assume;
    let result = walker.fields(&mut |walker, key| {
        match key {
            "name" => name = walker.text()?,
            "version" => version = walker.text()?,
            "resource" if walker.tc.scan.peek() == b'{' => {
                let pending = walker.slot(Place {
                    message,
                    label: Label::None,
                    is_any: true,
                    ..Place::default()
                })?;
                if !pending.is_typed && message.is_some() {
                    walker.missing_type(&pending);
                }
                resources.push(pending);
            }
            _ => walker.skip()?,
        }
        Ok(())
    });
    if resources.is_empty() {
        let span = Span::new(start, walker.pos());
        walker.report(&WRAPPER_EMPTY, span, WRAPPER_EMPTY_MESSAGE.to_owned());
    }
    for pending in &mut resources {
        pending.raw.wrapper_name.clone_from(&name);
        if version.is_some() {
            pending.set_status(&super::Status {
                version: version.clone(),
                ..super::Status::default()
            });
        }
    }
    walker.push(resources);
    result
}
