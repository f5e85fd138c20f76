//! What of a suite is not quoted: secrets of the resources in it, values of headers that hold one.

use crate::secret;
use crate::source::node::Node;
use crate::source::{Source, Span};

/// The secrets of a suite, in no particular order; `None` if the document is no tree.
pub fn secrets(source: &Source) -> Option<Vec<Span>> {
    let mut found = Vec::new();
    let root = Node::of(source).ok()??;
    let mut left = vec![&root];
    while let Some(node) = left.pop() {
        if let Some(url) = node.get("@type").and_then(Node::text) {
            let type_name = url.rsplit('/').next();
            found.extend(source.marks(source.to_document(node.span), type_name).hidden);
            continue;
        }
        left.extend(node.list().into_iter().flatten());
        for member in node.map().into_iter().flatten() {
            if member.name == "headers" {
                headers(&member.node, source, &mut found);
            } else {
                left.push(&member.node);
            }
        }
    }
    Some(found)
}

fn headers(node: &Node, source: &Source, found: &mut Vec<Span>) {
    for member in node.map().into_iter().flatten() {
        if secret::is_name(&member.name) {
            found.push(source.to_document(member.node.span));
        }
    }
    for pair in node.list().into_iter().flatten() {
        if let Some([name, value]) = pair.list()
            && name.text().is_some_and(secret::is_name)
        {
            found.push(source.to_document(value.span));
        }
    }
}
