//! Reports, and the formats that print them: only this crate knows colours and JSON schemas.

/// `writeln!` for lines with names and values in them: see [`write_line`](edge::write_line).
#[macro_export]
macro_rules! say {
    ($out:expr, $($words:tt)*) => {
        $crate::edge::write_line(&mut *$out, format_args!($($words)*))
    };
}

mod comments;
pub mod edge;
pub mod paths;
mod place;
pub mod told;

pub mod masks;
pub mod wrap;

mod snippet;

pub mod findings;

pub mod channel;
mod examples;

pub mod admit;
pub mod explain;
pub mod profiles;
pub mod suite;
pub mod who;

pub mod diff;

use std::io::{self, Write};

use comfy_table::Table;
use serde::Serialize;

pub use place::{Snippet, SourcePlace};
pub use xdsctl_model::text::plural;

/// Writes a JSON document with one field per line.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_json(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    writeln!(out)
}

/// Creates a table without lines that has this head and is as wide as the terminal.
pub fn table(width: Option<usize>, head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    table.set_width(width.and_then(|columns| columns.try_into().ok()).unwrap_or(u16::MAX));
    table.set_header(head);
    table
}

/// Writes a table without blanks at the end of its lines.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_table(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// Joins the first `shown` items, and says how many more there are.
pub fn listed(items: impl ExactSizeIterator<Item = String>, shown: usize) -> String {
    let rest = items.len().saturating_sub(shown);
    let items = items.take(shown).collect::<Vec<_>>().join(", ");
    match rest {
        0 => items,
        rest => format!("{items} and {rest} more"),
    }
}
