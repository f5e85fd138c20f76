//! String and header matchers as the client keeps them.

use serde_json::Value;

use super::object::ParsedObject;
use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, StringMatch, StringMatcher};

pub(super) fn string(matcher: &StringMatcher) -> Value {
    let (kind, text) = match &matcher.kind {
        StringMatch::Exact(text) => ("exact", text.as_str()),
        StringMatch::Prefix(text) => ("prefix", text.as_str()),
        StringMatch::Suffix(text) => ("suffix", text.as_str()),
        StringMatch::Contains(text) => ("contains", text.as_str()),
        StringMatch::Regex(regex) => return ParsedObject::new().put("safe_regex", regex.as_str()).done(),
    };
    ParsedObject::new()
        .put(kind, text)
        .set("ignore_case", matcher.ignore_case, false)
        .done()
}

pub(super) fn header(matcher: &HeaderMatcher) -> Value {
    let object = ParsedObject::new().put("name", matcher.name.as_str());
    match &matcher.kind {
        HeaderMatch::String(text) => object.put("string_match", string(text)),
        HeaderMatch::Range { start, end } => object.put(
            "range_match",
            ParsedObject::new().put("start", *start).put("end", *end).done(),
        ),
        HeaderMatch::Present(present) => object.put("present_match", *present),
    }
    .set("invert_match", matcher.invert_match, false)
    .done()
}
