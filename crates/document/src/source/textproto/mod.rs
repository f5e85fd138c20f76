//! Rewrites protobuf text format as JSON text.
//!
//! Text format says less than JSON: only the schema tells whether a field is repeated, a map, an
//! enum or a wrapper. So the text is first read into a flat tree ([`parse`]), which needs no
//! schema. The tree is then written as JSON with the descriptor tables ([`emit`]). Unknown fields
//! and types are written as they are, and the reader of the JSON reports them; they never end a
//! document. A message that JSON cannot express (a Value without a kind) is written as `{"@wire":
//! "base64"}`.
//!
//! The type of the message is that of the header `# proto-message: T`, or else the type that fits
//! the fields best.

mod emit;
mod parse;
mod print;
mod root;
mod scalar;
mod sniff;

use xdsctl_proto::tables::Message;

pub use print::print;
pub(super) use sniff::looks_like;

use super::Span;
use super::view::{FaultKind, MAX_VIEWED_BYTES, View};

/// The number of nested messages that are read.
pub const MAX_NESTING: usize = 1024;

/// Rewrites text format as JSON. The type is the one in the header. Without a header, it is
/// `message`, or else the type that fits best.
///
/// ```
/// use xdsctl_document::source::textproto;
/// let view = textproto::view(b"name: \"a\" connect_timeout { seconds: 5 } type: EDS", None);
/// let json = r#"{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a","type":"EDS","connect_timeout":{"seconds":5}}"#;
/// assert_eq!(std::str::from_utf8(&view.json).unwrap().trim_end(), json);
/// ```
pub fn view(text: &[u8], message: Option<&'static Message>) -> View {
    let mut view = View::default();
    if text.len() > MAX_VIEWED_BYTES {
        let message = format!("a text format document has more than {MAX_VIEWED_BYTES} bytes");
        view.fault(FaultKind::Limit, Span::default(), message);
        return view;
    }
    let tree = parse::parse(text, &mut view);
    if tree.first == parse::NONE && tree.header.is_none() && message.is_none() {
        // The text is empty or has only comments.
        return view;
    }
    let root = root::find(&tree, message);
    emit::write(&tree, root, view)
}

#[cfg(test)]
mod tests;
