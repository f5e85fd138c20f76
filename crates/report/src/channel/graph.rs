//! The tree of LB policies in the languages of drawing programs: Graphviz DOT and Mermaid.

use std::io::{self, Write};

use super::tree::shown_facts;
use crate::edge;
use xdsctl_channel::tree::node::{NodeKind, TreeNode};

/// Returns the word for a kind of node, and its fill colour, which is light enough for black text.
pub const fn look(kind: NodeKind) -> (&'static str, &'static str) {
    match kind {
        NodeKind::Channel => ("channel", "#dbeafe"),
        NodeKind::Frame => ("frame", "#f3f4f6"),
        NodeKind::Priority => ("priority", "#fef3c7"),
        NodeKind::Locality => ("locality", "#ede9fe"),
        NodeKind::Picker => ("picker", "#dcfce7"),
        NodeKind::Endpoint => ("endpoint", "#ffffff"),
        NodeKind::Failure => ("failure", "#fee2e2"),
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

/// Returns the nodes in order, each with its depth and the number of its parent. The number of a
/// node is its index.
pub fn numbered(root: &TreeNode) -> Vec<(&TreeNode, usize, Option<usize>)> {
    let (mut nodes, mut left) = (Vec::new(), vec![(root, 0, None)]);
    while let Some((node, depth, parent)) = left.pop() {
        let number = nodes.len();
        nodes.push((node, depth, parent));
        let below = node.children.iter().rev();
        left.extend(below.map(|child| (child, depth + 1, Some(number))));
    }
    nodes
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
    for (number, (node, _, parent)) in numbered(root).into_iter().enumerate() {
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
            look(node.kind).1
        )?;
        if let Some(parent) = parent {
            writeln!(out, "  n{parent} -> n{number};")?;
        }
    }
    writeln!(out, "  subgraph cluster_legend {{")?;
    writeln!(out, "    label=\"legend\";")?;
    for (number, kind) in NodeKind::ALL.into_iter().enumerate() {
        let (text, colour) = (kind.legend(), look(kind).1);
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
    edge::visible_line(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// Writes a Mermaid flow chart, with a legend.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_mermaid(root: &TreeNode, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "flowchart LR")?;
    for (number, (node, _, parent)) in numbered(root).into_iter().enumerate() {
        let label: Vec<String> = lines(node).iter().map(|line| mermaid_text(line)).collect();
        let class = look(node.kind).0;
        let lazy = if node.lazy { "_lazy" } else { "" };
        writeln!(out, "  n{number}[\"{}\"]:::{class}{lazy}", label.join("<br/>"))?;
        if let Some(parent) = parent {
            writeln!(out, "  n{parent} --> n{number}")?;
        }
    }
    writeln!(out, "  subgraph legend")?;
    for (number, kind) in NodeKind::ALL.into_iter().enumerate() {
        writeln!(out, "    l{number}[\"{}\"]:::{}", kind.legend(), look(kind).0)?;
    }
    writeln!(out, "    l7[\"not started yet\"]:::endpoint_lazy")?;
    writeln!(out, "  end")?;
    for kind in NodeKind::ALL {
        let (class, colour) = look(kind);
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
