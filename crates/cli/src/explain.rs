//! `xdsctl explain`: a rule's page, the list of rules, or the rules that a line of a client's log is about.

use super::args::{ExplainArgs, Format};
use super::{Error, Io};
use crate::report::explain;
use xdsctl::catalogue;
use xdsctl::diag::Rule;
use xdsctl::recognise::{self, Told};
use xdsctl::source::read_stream;

/// Longest log that is read from standard input, in bytes.
const MAX_LOG_BYTES: u64 = 16 << 20;

/// Exit code for a line of which something is not recognised.
const EXIT_UNKNOWN: u8 = 1;

pub(super) fn run(args: &ExplainArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    if args.list {
        let rules: Vec<_> = catalogue::rules().collect();
        match args.format {
            Format::Human => explain::write_list(io.width, &mut io.out)?,
            Format::Json => explain::write_json(&rules, &mut io.out)?,
        }
        return Ok(0);
    }
    let wanted = match args.rule.as_slice() {
        [] => {
            return Err(Error::Usage(
                "name a rule, give a line of a log, or use --list".to_owned(),
            ));
        }
        [dash] if dash == "-" => log(io)?,
        words => words.join(" "),
    };
    if let Some(rule) = catalogue::find(&wanted) {
        return page(args.format, rule, io);
    }
    if let Some(symptom) = recognise::symptom(&wanted) {
        match args.format {
            Format::Human => explain::write_symptom(symptom, io.width, &mut io.out)?,
            Format::Json => explain::write_symptom_json(symptom, &mut io.out)?,
        }
        return Ok(0);
    }
    let told = recognise::told(&wanted);
    if !told.is_empty() {
        return line(args.format, &told, io);
    }
    let rules = catalogue::search(&wanted);
    match (rules.as_slice(), args.format) {
        ([], _) => unknown(&wanted, io),
        (rules, Format::Json) => {
            explain::write_json(rules, &mut io.out)?;
            Ok(0)
        }
        ([rule], Format::Human) => page(args.format, rule, io),
        (rules, Format::Human) => {
            for rule in rules {
                say!(io.out, "{}: {}", rule.id, rule.summary.trim())?;
            }
            Ok(0)
        }
    }
}

/// Standard input as one text.
fn log(io: &mut Io<'_>) -> Result<String, Error> {
    let bytes = read_stream(&mut io.input, MAX_LOG_BYTES).map_err(|source| Error::Io {
        what: "read",
        name: "-".to_owned(),
        source,
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn page(format: Format, rule: &'static Rule, io: &mut Io<'_>) -> Result<u8, Error> {
    match format {
        Format::Human => explain::write_rule(rule, io.width, &mut io.out)?,
        Format::Json => explain::write_json(&[rule], &mut io.out)?,
    }
    Ok(0)
}

/// Writes what a line tells; one thing with one rule is followed by the rule's page.
fn line(format: Format, told: &[Told], io: &mut Io<'_>) -> Result<u8, Error> {
    match format {
        Format::Human => explain::write_told(told, io.width, &mut io.out)?,
        Format::Json => explain::write_told_json(told, &mut io.out)?,
    }
    let is_known = told.iter().all(|one| !one.pages.is_empty());
    Ok(if is_known { 0 } else { EXIT_UNKNOWN })
}

/// Nothing fits: an id that is misspelt is wrong usage, a line that nobody knows is an answer.
fn unknown(wanted: &str, io: &mut Io<'_>) -> Result<u8, Error> {
    let is_line = wanted.split_whitespace().nth(1).is_some();
    if is_line {
        writeln!(
            io.err,
            "not recognised: no line of a client's log that a rule is known by, and no page has all of these words; try fewer"
        )?;
        return Ok(EXIT_UNKNOWN);
    }
    let hint = catalogue::nearest(wanted).map_or_else(
        || "explain --list names all rules".to_owned(),
        |id| format!("did you mean `{id}`?"),
    );
    Err(Error::Usage(format!("no rule `{wanted}`: {hint}")))
}
