//! The tree of LB policies as text: one line for each node, with its facts beside or below it.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};

use anstyle::{AnsiColor, Style};

use crate::edge::{self, visible_line};
use xdsctl_channel::tree::node::{Fact, NodeKind, TreeNode};

/// Most facts of one kind that are shown; further ones are counted.
const FACTS_OF_A_KIND: usize = 5;

/// The text is written in pieces of this many bytes.
const PIECE_BYTES: usize = 1 << 16;

/// How the text looks.
#[derive(Debug, Clone, Copy)]
pub struct TreeStyle {
    /// Whether the text has ANSI colours.
    pub colour: bool,
    /// Columns of the terminal; lines are not longer.
    pub width: usize,
    /// Whether all facts are shown, however many there are of a kind.
    pub all: bool,
}

/// Writes a tree.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(root: &TreeNode, style: TreeStyle, out: &mut dyn Write) -> io::Result<()> {
    // The writer behind `out` looks for secrets in each piece.
    let mut out = BufWriter::with_capacity(PIECE_BYTES, out);
    write_node(root, style, ("", ""), &mut out)?;
    out.flush()
}

/// Returns the facts to show: at most a few of one kind, then how many more there are.
pub fn shown_facts(node: &TreeNode, all: bool) -> Vec<Cow<'_, Fact>> {
    let mut facts = Vec::with_capacity(node.facts.len());
    let mut index = 0;
    while let Some(first) = node.facts.get(index) {
        let rest = node.facts.get(index..).unwrap_or_default();
        let run = rest.iter().take_while(|fact| fact.label == first.label).count();
        let keep = if all || run <= FACTS_OF_A_KIND + 1 {
            run
        } else {
            FACTS_OF_A_KIND
        };
        facts.extend(rest.iter().take(keep).map(Cow::Borrowed));
        if keep < run {
            facts.push(Cow::Owned(Fact {
                label: first.label,
                value: format!("{} more", run - keep),
                warns: first.warns,
            }));
        }
        index += run;
    }
    facts
}

/// Writes a node; `lead` precedes its first line, `indent` all other lines.
fn write_node(node: &TreeNode, style: TreeStyle, (lead, indent): (&str, &str), out: &mut dyn Write) -> io::Result<()> {
    let paint = |look: Style, text: &str| edge::paint(look, style.colour, text);
    let bold = Style::new().bold();
    let name_style = match node.kind {
        NodeKind::Failure => AnsiColor::Red.on_default().bold(),
        NodeKind::Endpoint => AnsiColor::Green.on_default(),
        NodeKind::Channel | NodeKind::Frame | NodeKind::Priority | NodeKind::Locality | NodeKind::Picker => bold,
    };
    let mut line = String::from(lead);
    let mut width = lead.chars().count();
    let (edge, name) = (visible_line(&node.edge), visible_line(&node.name));
    if !edge.is_empty() {
        line += &paint(AnsiColor::Cyan.on_default(), &edge);
        line += " → ";
        width += edge.chars().count() + 3;
    }
    line += &paint(name_style, &name);
    width += name.chars().count();
    if node.lazy {
        line += &paint(Style::new().dimmed(), " (on demand)");
        width += " (on demand)".len();
    }
    let below = if node.children.is_empty() { "     " } else { "│    " };
    for (number, fact) in shown_facts(node, style.all).iter().enumerate() {
        let separator = if number == 0 { "  " } else { " · " };
        let value = visible_line(&fact.value);
        let length = fact.label.chars().count() + 1 + value.chars().count();
        if width + separator.chars().count() + length > style.width {
            writeln!(out, "{line}")?;
            line = format!("{indent}{below}");
            width = line.chars().count();
        } else {
            line += separator;
            width += separator.chars().count();
        }
        width += length;
        let look = if fact.warns {
            AnsiColor::Yellow.on_default()
        } else {
            Style::new()
        };
        line += &paint(Style::new().dimmed(), fact.label);
        line.push(' ');
        line += &paint(look, &value);
    }
    writeln!(out, "{line}")?;
    let last = node.children.len().saturating_sub(1);
    for (number, child) in node.children.iter().enumerate() {
        let (lead, below) = if number == last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        let (lead, below) = (format!("{indent}{lead}"), format!("{indent}{below}"));
        write_node(child, style, (&lead, &below), out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_go_on_below_where_a_line_is_full() {
        let leaf = TreeNode::new(NodeKind::Endpoint, "10.0.0.1:80")
            .under("e")
            .fact("health", "UNKNOWN");
        let root = TreeNode::new(NodeKind::Channel, "channel")
            .fact("a", "1234567890")
            .warning("b", "1234567890")
            .with(leaf);
        let style = TreeStyle {
            colour: false,
            width: 35,
            all: false,
        };
        let mut out = Vec::new();
        write(&root, style, &mut out).unwrap();
        let expected = "channel  a 1234567890\n│    b 1234567890\n└─ e → 10.0.0.1:80  health UNKNOWN\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn many_facts_of_a_kind_are_counted() {
        let mut node = TreeNode::new(NodeKind::Frame, "x");
        for i in 0..10 {
            node = node.warning("dropped", i.to_string());
        }
        let facts = shown_facts(&node, false);
        assert_eq!(facts.len(), 6);
        assert_eq!(facts[5].value, "5 more");
        assert_eq!(shown_facts(&node, true).len(), 10);
    }
}
