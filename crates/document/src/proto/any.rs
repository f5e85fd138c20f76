//! `google.protobuf.Any` and TypedStruct: from a field to the extension in it.
//!
//! Follows C-core `ExtractXdsExtension` (xds_common_types_parser.cc): the type name is what follows
//! the last slash, and a TypedStruct is opened once. A type URL without a usable slash is an error,
//! after which the caller still reports its own errors.

use std::borrow::Cow;

use bytes::Bytes;
use prost_types::Struct;
use xdsctl_proto::Any;

use xdsctl_model::profile::{Family, Feature};

use super::wire;
use xdsctl_model::diag::{BytesKnowledge, Path, Seg, Validation, rules};

rules! {
    /// An extension has no typed_config.
    ANY_MISSING = "any-missing", Common, Nack, "C-core ExtractXdsExtension";
    /// An Any has an empty type_url.
    ANY_TYPE_URL_EMPTY = "any-type-url-empty", Common, Nack, "C-core ExtractXdsExtension";
    /// A type_url has no slash, or nothing after it.
    ANY_TYPE_URL_WITHOUT_SLASH = "any-type-url-without-slash", Common, Nack, "C-core ExtractXdsExtension";
    /// The bytes of an Any are not a message of its type, or it is a TypedStruct where the client wants the message.
    ANY_UNDECODABLE = "any-undecodable", Common, Nack, "C-core xds_common_types_parser.cc and each extension's parser";
    /// A TypedStruct's value cannot be turned into JSON.
    TYPED_STRUCT_NOT_JSON = "typed-struct-not-json", Common, Nack, "C-core ParseProtobufStructToJson";
}

/// The two spellings of TypedStruct.
pub const TYPED_STRUCTS: [&str; 2] = ["xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct"];

/// The first bytes of an Any's value that is the JSON text of a message of an unknown type.
///
/// The loaders write it. No valid message begins with these bytes (wire type 7).
pub const OPAQUE: &[u8] = b"\xff\xffxdsctl-json\0";

/// The contents of an Any.
#[derive(Debug, Clone)]
pub struct Extension<'a> {
    /// The type name: what follows the last slash of the type URL.
    pub type_name: Cow<'a, str>,
    /// The TypedStruct type, if the config is wrapped in one.
    pub wrapper: Option<&'static str>,
    /// The config of the extension.
    pub payload: Payload,
}

/// The config of an [`Extension`].
#[derive(Debug, Clone)]
pub enum Payload {
    /// Bytes of a message of the type.
    Wire(Bytes),
    /// A TypedStruct's value as JSON.
    Json(serde_json::Value),
}

impl<'a> Extension<'a> {
    /// Returns the path of the extension's own fields: `F.value[T]`, with both levels for a
    /// TypedStruct.
    pub fn at<'p>(&'p self, at: &'p Path<'p>) -> Path<'p> {
        at.then(Seg::Value {
            wrapper: self.wrapper,
            type_name: &self.type_name,
        })
    }

    /// Decodes the config as a message, which must be of the type `type_name`.
    ///
    /// Reports [`ANY_UNDECODABLE`] at `at` (the path from [`Extension::at`]) if the config is a
    /// TypedStruct, or if the client cannot parse the bytes. Also reports the ignored fields of the
    /// message.
    pub fn decode<T: prost::Message + Default>(&self, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<T> {
        match &self.payload {
            Payload::Wire(bytes) => decode(bytes, &self.type_name, at, cx),
            Payload::Json(_) => {
                cx.report(
                    &ANY_UNDECODABLE,
                    at,
                    format_args!(
                        "`{}` is given as a TypedStruct, must be the message itself",
                        self.type_name
                    ),
                );
                None
            }
        }
    }
}

/// Opens the Any at `at`.
///
/// Returns `None` after an error that ends the extension: there is no Any, its type URL is empty,
/// or its TypedStruct cannot be read. If the type URL has no usable slash, reports an error and
/// uses the whole text as the type name.
pub fn extract<'a>(any: Option<&'a Any>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<Extension<'a>> {
    let Some(any) = any else {
        cx.report(&ANY_MISSING, at, format_args!("missing, must hold a message"));
        return None;
    };
    let type_name = type_name(&any.type_url, &at.field("type_url"), cx)?;
    let Some(wrapper) = TYPED_STRUCTS.into_iter().find(|t| *t == type_name) else {
        return Some(Extension {
            type_name: Cow::Borrowed(type_name),
            wrapper: None,
            payload: Payload::Wire(any.value.clone()),
        });
    };
    typed_struct(any, wrapper, &at.value(wrapper), cx)
}

/// Returns the part of a type URL after the last slash.
fn type_name<'a>(url: &'a str, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<&'a str> {
    if url.is_empty() {
        cx.report(
            &ANY_TYPE_URL_EMPTY,
            at,
            format_args!("type_url is empty, must be `type.googleapis.com/` and a message type"),
        );
        return None;
    }
    match url.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => Some(name),
        _ => {
            cx.report(
                &ANY_TYPE_URL_WITHOUT_SLASH,
                at,
                format_args!("type_url `{url}` has no message type after a `/`"),
            );
            Some(url)
        }
    }
}

/// Opens a TypedStruct.
fn typed_struct<'a>(any: &Any, wrapper: &'static str, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<Extension<'a>> {
    let typed: xdsctl_proto::xds::r#type::v3::TypedStruct = decode(&any.value, wrapper, at, cx)?;
    let type_name = type_name(&typed.type_url, &at.field("type_url"), cx)?.to_owned();
    let unchecked = || (!cx.has(Feature::TypedStructChecked)).then(|| serde_json::Value::Object(Default::default()));
    match struct_to_json(typed.value.as_ref()).or_else(unchecked) {
        Some(json) => Some(Extension {
            type_name: Cow::Owned(type_name),
            wrapper: Some(wrapper),
            payload: Payload::Json(json),
        }),
        None => {
            cx.report(
                &TYPED_STRUCT_NOT_JSON,
                &at.value(&type_name),
                format_args!("a value in it has no kind or is not a finite number"),
            );
            None
        }
    }
}

/// Decodes `bytes` as a message named `type_name`, with every check of the client's parser.
///
/// Reports [`ANY_UNDECODABLE`] at `at`.
pub fn decode<T: prost::Message + Default>(
    bytes: &Bytes,
    type_name: &str,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<T> {
    match try_decode(bytes, type_name, at, cx) {
        Ok(message) => Some(message),
        Err(fault) => {
            cx.report(&ANY_UNDECODABLE, at, format_args!("not a valid `{type_name}`: {fault}"));
            None
        }
    }
}

/// Decodes `bytes` as a message named `type_name`. Reports only ignored fields.
///
/// # Errors
/// Why the client's parser rejects the bytes.
pub fn try_decode<T: prost::Message + Default>(
    bytes: &Bytes,
    type_name: &str,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Result<T, wire::Malformed> {
    checked(bytes, type_name, true, at, cx)
}

/// Decodes `bytes` as a message named `type_name`, without reporting ignored fields. It is for
/// clients whose set of read fields is not known.
///
/// # Errors
/// Why C-core's parser rejects the bytes.
pub fn try_decode_without_notes<T: prost::Message + Default>(
    bytes: &Bytes,
    type_name: &str,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Result<T, wire::Malformed> {
    checked(bytes, type_name, false, at, cx)
}

/// Reports the fields of a message that are set and that the client of `cx` never reads. Bytes that
/// cannot be parsed are not reported here, because decoding the message reports them.
pub fn note_unread(bytes: &Bytes, type_name: &str, at: &Path<'_>, cx: &mut Validation<'_>) {
    let message = xdsctl_proto::tables::message(type_name).filter(|message| message.known_to_client);
    if let Some(message) = message {
        let _ = wire::check(bytes, message, true, at, cx);
    }
}

/// Says whether the client knows, and therefore decodes, messages that C-core was built without.
fn decodes_whole(cx: &Validation<'_>) -> bool {
    matches!(cx.profile().client().family, Family::Go | Family::Java)
}

fn checked<T: prost::Message + Default>(
    bytes: &Bytes,
    type_name: &str,
    notes: bool,
    at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Result<T, wire::Malformed> {
    let (_, beside) = cx.readers();
    let message = if cx.known() == BytesKnowledge::Plain && beside.is_empty() {
        None
    } else {
        xdsctl_proto::tables::message(type_name)
    };
    let bytes = match message {
        Some(message) if message.known_to_client || decodes_whole(cx) => wire::check(bytes, message, notes, at, cx)?,
        // The client was built without the message, so it accepts any bytes.
        Some(_) | None => bytes.clone(),
    };
    // The check has seen every field. Whatever prost still rejects, the client rejects, too.
    T::decode(bytes).map_err(|_| wire::Malformed::Truncated)
}

/// Converts a Struct to JSON. Returns `None` where the client cannot: for a Value without a kind,
/// NaN or an infinity.
///
/// An absent Struct is `{}`. Whole numbers below 2^53 become integers, as protobuf prints them.
pub fn struct_to_json(value: Option<&Struct>) -> Option<serde_json::Value> {
    let fields = value.map(|s| &s.fields);
    let object = fields
        .into_iter()
        .flatten()
        .map(|(key, value)| Some((key.clone(), value_to_json(value)?)))
        .collect::<Option<serde_json::Map<_, _>>>()?;
    Some(serde_json::Value::Object(object))
}

fn value_to_json(value: &prost_types::Value) -> Option<serde_json::Value> {
    use prost_types::value::Kind;
    use serde_json::Value as Json;
    Some(match value.kind.as_ref()? {
        Kind::NullValue(_) => Json::Null,
        Kind::NumberValue(number) => number_to_json(*number)?,
        Kind::StringValue(text) => Json::String(text.clone()),
        Kind::BoolValue(flag) => Json::Bool(*flag),
        Kind::StructValue(fields) => struct_to_json(Some(fields))?,
        Kind::ListValue(list) => Json::Array(list.values.iter().map(value_to_json).collect::<Option<Vec<_>>>()?),
    })
}

/// The magnitude below which every whole f64 is printed as an integer.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;

fn number_to_json(number: f64) -> Option<serde_json::Value> {
    // The client prints -0 with its sign, which no unsigned field accepts.
    let is_negative_zero = number == 0.0 && number.is_sign_negative();
    if number.fract() == 0.0 && number.abs() < EXACT_INTEGERS && !is_negative_zero {
        #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
        return Some(serde_json::Value::from(number as i64));
    }
    serde_json::Number::from_f64(number).map(serde_json::Value::Number)
}
