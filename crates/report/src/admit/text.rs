//! The answer of `admit` for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::layers::AdmitAnswer;
use super::{Outcome, Sentence, told};
use crate::edge;
use xdsctl_server::End;

/// Writes the answer.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(answer: &AdmitAnswer<'_>, colours: bool, out: &mut dyn Write) -> io::Result<()> {
    for layer in told(answer) {
        sentence(&layer, 0, colours, out)?;
    }
    let end = &answer.answer.end;
    let colour = if end.is_let_in() {
        AnsiColor::Green
    } else {
        AnsiColor::Red
    };
    let style = colour.on_default().bold();
    let words = match end {
        End::Refused(status) => format!("{}: {status}", end.name()),
        End::Ended(words) => format!("{}: {words}", end.name()),
        _ => end.name().to_owned(),
    };
    say!(out, "{}", edge::paint(style, colours, &words))
}

pub(super) fn sentence(told: &Sentence, depth: usize, colours: bool, out: &mut dyn Write) -> io::Result<()> {
    let (mark, style) = match told.outcome {
        Outcome::Yes => ("yes", AnsiColor::Green.on_default()),
        Outcome::No => ("no ", AnsiColor::Red.on_default()),
        Outcome::Told => ("   ", Style::new()),
    };
    let mark = edge::paint(style, colours, mark);
    say!(out, "{mark} {}{}: {}", "  ".repeat(depth), told.part, told.what)?;
    told.parts
        .iter()
        .try_for_each(|part| sentence(part, depth + 1, colours, out))
}
