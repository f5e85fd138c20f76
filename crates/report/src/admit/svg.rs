//! The answer of `admit` as a picture: the layers below each other, each with its explanation.

use std::io::{self, Write};

use super::layers::AdmitAnswer;
use super::{Outcome, Sentence, told};
use crate::channel::svg::{begin, cut, escape};

/// Greatest width of a character of the font below, in pixels.
const CHAR_WIDTH: usize = 7;

/// Height of a row with the gap below it, in pixels.
const ROW: usize = 24;

/// Indentation of a row relative to the row that it explains, in pixels.
const INDENT: usize = 24;

/// Margin around the picture, in pixels.
const MARGIN: usize = 10;

/// Most characters of a row; the whole text is its tooltip.
const MAX_CHARS: usize = 120;

/// Writes the picture.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(answer: &AdmitAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Vec::new();
    for layer in told(answer) {
        place(&layer, 0, &mut rows);
    }
    let end = &answer.answer.end;
    rows.push((
        0,
        if end.is_let_in() { Outcome::Yes } else { Outcome::No },
        end.name().to_owned(),
    ));
    let widths = rows
        .iter()
        .map(|(depth, _, text)| depth * INDENT + cut(text, MAX_CHARS).chars().count() * CHAR_WIDTH);
    let width = widths.max().unwrap_or(0) + 4 * MARGIN;
    let height = rows.len() * ROW + 2 * MARGIN;
    begin("A connection and an RPC in a gRPC server", (width, height), out)?;
    for (number, (depth, outcome, text)) in rows.iter().enumerate() {
        let (left, top) = (MARGIN + depth * INDENT, MARGIN + number * ROW);
        let fill = match outcome {
            Outcome::Yes => "#dcfce7",
            Outcome::No => "#fee2e2",
            Outcome::Told => "#f3f4f6",
        };
        let shown = cut(text, MAX_CHARS);
        let box_width = shown.chars().count() * CHAR_WIDTH + MARGIN;
        writeln!(
            out,
            "<g><title>{}</title><rect x=\"{left}\" y=\"{top}\" width=\"{box_width}\" height=\"{}\" rx=\"3\" fill=\"{fill}\"/>\
             <text x=\"{}\" y=\"{}\">{}</text></g>",
            escape(text),
            ROW - 4,
            left + MARGIN / 2,
            top + ROW - 10,
            escape(&shown),
        )?;
    }
    writeln!(out, "</svg>")
}

fn place(told: &Sentence, depth: usize, rows: &mut Vec<(usize, Outcome, String)>) {
    rows.push((depth, told.outcome, format!("{}: {}", told.part, told.what)));
    for part in &told.parts {
        place(part, depth + 1, rows);
    }
}
