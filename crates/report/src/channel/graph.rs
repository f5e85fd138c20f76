//! The tree of LB policies in the languages of drawing programs: Graphviz DOT and Mermaid.

use std::io::{self, Write};

use super::tree::shown_facts;
use crate::edge;
use xdsctl_channel::tree::node::{NodeKind, TreeNode};

/// Returns the fill colour of a kind of node. It is light enough for black text.
pub const fn colour(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Channel => "#dbeafe",
        NodeKind::Frame => "#f3f4f6",
        NodeKind::Priority => "#fef3c7",
        NodeKind::Locality => "#ede9fe",
        NodeKind::Picker => "#dcfce7",
        NodeKind::Endpoint => "#ffffff",
        NodeKind::Failure => "#fee2e2",
    }
}

/// Returns the lines of a node's box.
pub fn lines(node: &TreeNode) -> Vec<String> {
    let mut lines = Vec::new();
    if !node.edge.is_empty() {
        lines.push(node.edge.clone());
    }
    let lazy = if node.lazy { " (on demand)" } else { "" };
    lines.push(format!("{}{lazy}", node.name));
    lines.extend(
        shown_facts(node, false)
            .iter()
            .map(|f| format!("{}: {}", f.label, f.value)),
    );
    lines
}

/// Numbers the nodes in order and calls `visit` with a node, its number and that of its parent.
fn walk<'n>(
    node: &'n TreeNode,
    parent: Option<usize>,
    next: &mut usize,
    visit: &mut dyn FnMut(&'n TreeNode, usize, Option<usize>) -> io::Result<()>,
) -> io::Result<()> {
    let number = *next;
    *next += 1;
    visit(node, number, parent)?;
    for child in &node.children {
        walk(child, Some(number), next, visit)?;
    }
    Ok(())
}

/// Writes a digraph in the Graphviz language, with a legend.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_dot(root: &TreeNode, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph xdsctl {{")?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(
        out,
        "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=10];"
    )?;
    walk(root, None, &mut 0, &mut |node, number, parent| {
        let label: Vec<String> = lines(node).iter().map(|line| dot_text(line)).collect();
        let style = if node.lazy {
            "rounded,filled,dashed"
        } else {
            "rounded,filled"
        };
        writeln!(
            out,
            "  n{number} [label=\"{}\\l\", fillcolor=\"{}\", style=\"{style}\"];",
            label.join("\\l"),
            colour(node.kind)
        )?;
        match parent {
            Some(parent) => writeln!(out, "  n{parent} -> n{number};"),
            None => Ok(()),
        }
    })?;
    writeln!(out, "  subgraph cluster_legend {{")?;
    writeln!(out, "    label=\"legend\";")?;
    for (number, kind) in NodeKind::ALL.into_iter().enumerate() {
        let (text, colour) = (kind.legend(), colour(kind));
        writeln!(out, "    l{number} [label=\"{text}\", fillcolor=\"{colour}\"];")?;
    }
    writeln!(
        out,
        "    l7 [label=\"not started yet\", fillcolor=\"#ffffff\", style=\"rounded,filled,dashed\"];"
    )?;
    writeln!(out, "  }}")?;
    writeln!(out, "}}")
}

fn dot_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in edge::visible_line(text).chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
    out
}

/// Writes a Mermaid flow chart, with a legend.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_mermaid(root: &TreeNode, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "flowchart LR")?;
    walk(root, None, &mut 0, &mut |node, number, parent| {
        let label: Vec<String> = lines(node).iter().map(|line| mermaid_text(line)).collect();
        let class = class(node.kind);
        let lazy = if node.lazy { "_lazy" } else { "" };
        writeln!(out, "  n{number}[\"{}\"]:::{class}{lazy}", label.join("<br/>"))?;
        match parent {
            Some(parent) => writeln!(out, "  n{parent} --> n{number}"),
            None => Ok(()),
        }
    })?;
    writeln!(out, "  subgraph legend")?;
    for (number, kind) in NodeKind::ALL.into_iter().enumerate() {
        writeln!(out, "    l{number}[\"{}\"]:::{}", kind.legend(), class(kind))?;
    }
    writeln!(out, "    l7[\"not started yet\"]:::endpoint_lazy")?;
    writeln!(out, "  end")?;
    for kind in NodeKind::ALL {
        let (class, colour) = (class(kind), colour(kind));
        writeln!(
            out,
            "  classDef {class} fill:{colour},stroke:#6b7280,color:#111827,text-align:left"
        )?;
        writeln!(
            out,
            "  classDef {class}_lazy fill:{colour},stroke:#6b7280,color:#111827,text-align:left,stroke-dasharray:4"
        )?;
    }
    Ok(())
}

const fn class(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Channel => "channel",
        NodeKind::Frame => "frame",
        NodeKind::Priority => "priority",
        NodeKind::Locality => "locality",
        NodeKind::Picker => "picker",
        NodeKind::Endpoint => "endpoint",
        NodeKind::Failure => "failure",
    }
}

/// Escapes the characters that Mermaid or HTML would interpret.
fn mermaid_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in edge::visible_line(text).chars() {
        match c {
            '"' | '#' | '<' | '>' | '&' | '`' | '\\' | '[' | ']' | '{' | '}' => {
                out.push_str(&format!("#{};", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> TreeNode {
        let mut leaf = TreeNode::new(NodeKind::Endpoint, "a").under("{region=\"r\"}");
        leaf.lazy = true;
        TreeNode::new(NodeKind::Channel, "c\\d").fact("x", "1").with(leaf)
    }

    #[test]
    fn dot_escapes_labels() {
        let mut out = Vec::new();
        write_dot(&tree(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains(r##"n0 [label="c\\d\lx: 1\l", fillcolor="#dbeafe""##),
            "{text}"
        );
        assert!(
            text.contains(r#"n1 [label="{region=\"r\"}\la (on demand)\l""#),
            "{text}"
        );
        assert!(text.contains("n0 -> n1;"), "{text}");
    }

    #[test]
    fn mermaid_escapes_labels() {
        let mut out = Vec::new();
        write_mermaid(&tree(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("n0[\"c#92;d<br/>x: 1\"]:::channel\n"), "{text}");
        assert!(
            text.contains("n1[\"#123;region=#34;r#34;#125;<br/>a (on demand)\"]:::endpoint_lazy"),
            "{text}"
        );
    }
}
