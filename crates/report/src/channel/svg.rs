//! The tree of LB policies as SVG. The layout has one box per row, indented by depth, so that the
//! picture fits a page however deep the tree is; a legend is below.
//!
//! Widths are estimated from the number of characters, because there is no font to measure with.
//! Texts are cut where a box would become too wide; the box's tooltip has them in full.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::graph::{lines, look, numbered};
use crate::edge;
use crate::findings::junit::xml;
use xdsctl_channel::tree::node::{NodeKind, TreeNode};

/// Greatest width of a character of the font below, in pixels.
const CHAR_WIDTH: usize = 7;

/// Height of a line, in pixels.
const LINE_HEIGHT: usize = 15;

/// Space between a box and its text, in pixels.
const PADDING: usize = 8;

/// Space between boxes, in pixels.
const GAP: usize = 10;

/// Indentation of a box relative to its parent, in pixels.
const INDENT: usize = 32;

/// Height of an entry of the legend, in pixels.
const LEGEND_HEIGHT: usize = LINE_HEIGHT + 2 * PADDING;

/// Least width of the picture, in pixels, so that the widest entry of the legend fits.
const LEAST_WIDTH: usize = 480;

/// Most characters of a line.
const MAX_CHARS: usize = 80;

/// A box with its place.
struct Placed<'n> {
    node: &'n TreeNode,
    lines: Vec<String>,
    depth: usize,
    top: usize,
    parent: Option<usize>,
}

impl Placed<'_> {
    fn left(&self) -> usize {
        GAP + self.depth * INDENT
    }

    fn width(&self) -> usize {
        let longest = self.lines.iter().map(|line| line.chars().count()).max();
        longest.unwrap_or(0) * CHAR_WIDTH + 2 * PADDING
    }

    fn height(&self) -> usize {
        self.lines.len() * LINE_HEIGHT + 2 * PADDING
    }
}

/// Places the nodes below each other, from `top` on. Also returns where the next one would be.
fn place(root: &TreeNode, top: usize) -> (Vec<Placed<'_>>, usize) {
    let (mut placed, mut top) = (Vec::new(), top);
    for (node, depth, parent) in numbered(root) {
        let lines = lines(node).iter().map(|line| cut(line, MAX_CHARS)).collect();
        let one = Placed {
            node,
            lines,
            depth,
            top,
            parent,
        };
        top += one.height() + GAP;
        placed.push(one);
    }
    (placed, top)
}

/// Cuts a line to at most `max_chars` characters.
pub fn cut(line: &str, max_chars: usize) -> String {
    if line.chars().count() <= max_chars {
        return line.to_owned();
    }
    let mut text: String = line.chars().take(max_chars - 1).collect();
    text.push('…');
    text
}

/// Escapes a line for XML.
pub fn escape(text: &str) -> String {
    xml(&edge::visible_line(text))
}

/// Writes the beginning of a picture of this width and height.
pub(crate) fn begin(title: &str, (width, height): (usize, usize), out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"11\">"
    )?;
    writeln!(out, "<title>{title}</title>")?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>")
}

/// Writes the picture.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(root: &TreeNode, out: &mut dyn Write) -> io::Result<()> {
    let (placed, bottom) = place(root, GAP);
    let right = placed
        .iter()
        .map(|one| one.left() + one.width() + GAP)
        .max()
        .unwrap_or(0);
    let width = right.max(LEAST_WIDTH);
    let (legend, rows) = place_legend(width);
    let height = bottom + rows * (LEGEND_HEIGHT + GAP);
    begin("LB policies of a gRPC channel", (width, height), out)?;
    for one in &placed {
        let Some(parent) = one.parent.and_then(|number| placed.get(number)) else {
            continue;
        };
        let (x1, y1) = (parent.left() + INDENT / 2, parent.top + parent.height());
        let (x2, y2) = (one.left(), one.top + PADDING + LINE_HEIGHT / 2);
        writeln!(
            out,
            "<path d=\"M{x1} {y1} V{y2} H{x2}\" fill=\"none\" stroke=\"#9ca3af\"{}/>",
            dashes(one.node.lazy)
        )?;
    }
    for one in &placed {
        write_box(one, one.left(), out)?;
    }
    write_legend(bottom, &legend, out)?;
    writeln!(out, "</svg>")
}

const fn dashes(lazy: bool) -> &'static str {
    if lazy { " stroke-dasharray=\"4\"" } else { "" }
}

fn write_box(one: &Placed<'_>, left: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    let bold = usize::from(!one.node.edge.is_empty());
    for (number, line) in one.lines.iter().enumerate() {
        let weight = if number == bold { " font-weight=\"bold\"" } else { "" };
        let y = one.top + PADDING + (number + 1) * LINE_HEIGHT - 4;
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "<text x=\"{}\" y=\"{y}\"{weight}>{}</text>",
            left + PADDING,
            escape(line)
        );
    }
    let whole: Vec<String> = lines(one.node).iter().map(|line| escape(line)).collect();
    writeln!(
        out,
        "<g><title>{}</title><rect x=\"{left}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"5\" fill=\"{}\" \
         stroke=\"#6b7280\"{}/>{text}</g>",
        whole.join("\n"),
        one.top,
        one.width(),
        one.height(),
        look(one.node.kind).1,
        dashes(one.node.lazy)
    )
}

/// Returns the entries of the legend: text, colour, and whether the box is dashed.
fn legend() -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    NodeKind::ALL
        .into_iter()
        .map(|kind| (kind.legend(), look(kind).1, false))
        .chain([("not started yet", "#ffffff", true)])
}

/// Places the entries of the legend in rows no wider than `width`. Returns the left edge, top and
/// width of each entry, and the number of rows.
fn place_legend(width: usize) -> (Vec<(usize, usize, usize)>, usize) {
    let mut places = Vec::new();
    let (mut left, mut row) = (GAP, 0);
    for (text, ..) in legend() {
        let entry = text.len() * CHAR_WIDTH + 2 * PADDING;
        if left > GAP && left + entry + GAP > width {
            (left, row) = (GAP, row + 1);
        }
        places.push((left, row * (LEGEND_HEIGHT + GAP), entry));
        left += entry + GAP;
    }
    (places, row + 1)
}

fn write_legend(top: usize, places: &[(usize, usize, usize)], out: &mut dyn Write) -> io::Result<()> {
    for ((text, fill, dashed), (left, below, width)) in legend().zip(places) {
        let top = top + below;
        writeln!(
            out,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{LEGEND_HEIGHT}\" rx=\"5\" fill=\"{fill}\" \
             stroke=\"#6b7280\"{}/><text x=\"{}\" y=\"{}\">{text}</text>",
            dashes(dashed),
            left + PADDING,
            top + PADDING + LINE_HEIGHT - 4
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_do_not_overlap_and_texts_are_escaped() {
        let root = TreeNode::new(NodeKind::Channel, "a<b>")
            .fact("x", "1")
            .with(TreeNode::new(NodeKind::Endpoint, "one").under("e"))
            .with(TreeNode::new(NodeKind::Endpoint, "two"));
        let (placed, _) = place(&root, 0);
        let tops: Vec<(usize, usize)> = placed.iter().map(|p| (p.top, p.height())).collect();
        assert_eq!(tops, [(0, 46), (56, 46), (112, 31)]);
        let mut out = Vec::new();
        write(&root, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains(">a&lt;b&gt;</text>"), "{text}");
        assert!(text.ends_with("</svg>\n"));
    }
}
