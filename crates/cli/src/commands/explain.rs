//! `xdsctl explain`: prints a rule's page, the list of rules, or the rules behind a line of a
//! client's log.

use std::io::Read;

use crate::args::{ExplainArgs, Format};
use crate::config::ProjectConfig;
use crate::{Error, Io};
use xdsctl_lint::catalogue;
use xdsctl_lint::recognise::{self, Log, Recognised};
use xdsctl_model::diag::Rule;
use xdsctl_model::text::nearest;
use xdsctl_report::explain;

/// The longest log that is read from standard input, in bytes.
const MAX_LOG_BYTES: usize = 4 << 30;

/// The most words for which the pages are searched.
const MAX_SEARCHED: usize = 4;

/// Words of a question that do not help a search. They are ignored if no page has all words.
const FILLERS: [&str; 12] = [
    "a", "the", "my", "no", "not", "is", "does", "do", "gets", "nothing", "happen", "happens",
];

/// The exit code for a line of which a part is not recognised.
const EXIT_UNKNOWN: u8 = 1;

pub(super) fn run(args: &ExplainArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    if args.list {
        let rules: Vec<_> = ProjectConfig::of(&args.config, io)?.rules().collect();
        match args.format {
            Format::Human => explain::write_list(rules, io.width, &mut io.out)?,
            Format::Json => explain::write_json(&[], &rules, &mut io.out)?,
        }
        return Ok(0);
    }
    let wanted = match args.rule.as_slice() {
        [] => {
            return Err(Error::Usage(
                "name a rule, give a line of a log, or use --list".to_owned(),
            ));
        }
        [dash] if dash == "-" => return log(args.format, io),
        words => words.join(" "),
    };
    if let Some(rule) = catalogue::find(&wanted) {
        return page(args.format, rule, io);
    }
    // The name of a project's own rule is one word, like that of other rules.
    let is_like_id = args.rule.len() == 1 && wanted.contains('-') && !wanted.contains(char::is_whitespace);
    let own: Vec<&'static Rule> = match is_like_id {
        true => ProjectConfig::of(&args.config, io)?.policies.policies.rules().collect(),
        false => Vec::new(),
    };
    if let Some(rule) = own.iter().find(|rule| rule.id == wanted) {
        return page(args.format, rule, io);
    }
    // Accept `no failover` for `no-failover`.
    if let Some(symptom) = recognise::symptom(&wanted.to_lowercase().replace(' ', "-")) {
        match args.format {
            Format::Human => explain::write_symptom(symptom, io.width, &mut io.out)?,
            Format::Json => explain::write_json(&[symptom], &[], &mut io.out)?,
        }
        return Ok(0);
    }
    let told = recognise::recognised(&wanted);
    if !told.is_empty() {
        return line(args.format, &told, io);
    }
    if let Some(near) = nearest(&wanted, own.iter().map(|rule| rule.id)) {
        return Err(Error::Usage(format!("no rule `{wanted}`: did you mean `{near}`?")));
    }
    search(args.format, &wanted, io)
}

/// Reads a log of at most `max` bytes.
///
/// # Errors
/// The input cannot be read, or has more than `max` bytes.
fn read_log(input: &mut dyn Read, max: usize) -> Result<Log, Error> {
    let mut log = Log::default();
    let mut buffer = vec![0; 1 << 16];
    let mut len = 0;
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => return Ok(log),
            Ok(count) => count,
            Err(source) if source.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(Error::io("read", "-")(source)),
        };
        len += count;
        if len > max {
            return Err(Error::Usage(format!(
                "the log has more than {max} bytes, the limit: give a part of it"
            )));
        }
        log.push(buffer.get(..count).unwrap_or_default());
    }
}

/// Reports each fault of the log on standard input once.
fn log(format: Format, io: &mut Io<'_>) -> Result<u8, Error> {
    let log = read_log(&mut io.input, MAX_LOG_BYTES)?;
    let (faults, left_out) = log.finish();
    if faults.is_empty() {
        return unknown("a log", io);
    }
    match format {
        Format::Human => explain::write_log(&faults, io.width, &mut io.out)?,
        Format::Json => explain::write_log_json(&faults, &mut io.out)?,
    }
    if left_out > 0 {
        let shown = faults.len();
        return Err(Error::Usage(format!(
            "the log has more than {shown} distinct faults: {left_out} messages of others are left out"
        )));
    }
    let is_known = faults.iter().all(|fault| !fault.told.pages.is_empty());
    Ok(if is_known { 0 } else { EXIT_UNKNOWN })
}

/// Searches the pages for a few words that are not a line of a log.
fn search(format: Format, wanted: &str, io: &mut Io<'_>) -> Result<u8, Error> {
    let is_plain = |word: &str| {
        // The words may name a function: `WeightedPicker::Pick`.
        word.split("::")
            .all(|part| part.chars().all(|c| c.is_alphanumeric() || "_-*".contains(c)))
    };
    let is_search = wanted.split_whitespace().all(is_plain) && wanted.split_whitespace().count() <= MAX_SEARCHED;
    if !is_search {
        return unknown(wanted, io);
    }
    let find = |words: &str| (recognise::search_symptoms(words), catalogue::search(words));
    let (mut symptoms, mut rules) = find(wanted);
    if symptoms.is_empty() && rules.is_empty() {
        let is_telling = |word: &&str| !FILLERS.contains(word);
        let telling: Vec<&str> = wanted.split_whitespace().filter(is_telling).collect();
        (symptoms, rules) = find(&telling.join(" "));
    }
    match (symptoms.as_slice(), rules.as_slice(), format) {
        ([], [], _) => return unknown(wanted, io),
        (symptoms, rules, Format::Json) => explain::write_json(symptoms, rules, &mut io.out)?,
        ([], [rule], Format::Human) => return page(format, rule, io),
        ([symptom], [], Format::Human) => explain::write_symptom(symptom, io.width, &mut io.out)?,
        (symptoms, rules, Format::Human) => {
            for symptom in symptoms {
                say!(io.out, "{}: {}", symptom.id, symptom.summary())?;
            }
            for rule in rules {
                say!(io.out, "{}: {}", rule.id, rule.summary.trim())?;
            }
        }
    }
    Ok(0)
}

fn page(format: Format, rule: &'static Rule, io: &mut Io<'_>) -> Result<u8, Error> {
    match format {
        Format::Human => explain::write_rule(rule, io.width, &mut io.out)?,
        Format::Json => explain::write_json(&[], &[rule], &mut io.out)?,
    }
    Ok(0)
}

/// Writes what a line of a log is about. If that is a single rule, its page follows.
fn line(format: Format, told: &[Recognised], io: &mut Io<'_>) -> Result<u8, Error> {
    match format {
        Format::Human => explain::write_told(told, io.width, &mut io.out)?,
        Format::Json => explain::write_told_json(told, &mut io.out)?,
    }
    let is_known = told.iter().all(|one| !one.pages.is_empty());
    Ok(if is_known { 0 } else { EXIT_UNKNOWN })
}

/// Ends the command if nothing fits. A misspelt id is wrong usage; for a line of a log, the answer
/// is that it is unknown.
fn unknown(wanted: &str, io: &mut Io<'_>) -> Result<u8, Error> {
    let is_line = wanted.split_whitespace().nth(1).is_some();
    if is_line {
        writeln!(
            io.err,
            "not recognised: xdsctl knows no rule or symptom by these words. Give the whole line, and all lines of a stack trace. To search the pages, give one to four words"
        )?;
        return Ok(EXIT_UNKNOWN);
    }
    let hint = catalogue::nearest(wanted).map_or_else(
        || "explain --list names all rules".to_owned(),
        |id| format!("did you mean `{id}`?"),
    );
    Err(Error::Usage(format!("no rule `{wanted}`: {hint}")))
}

#[cfg(test)]
mod tests {
    use super::read_log;

    #[test]
    fn a_log_beyond_the_limit_is_not_read() {
        let line = b"field:lb_policy error:LB policy is not supported\n";
        let read = |max: usize| read_log(&mut line.as_slice(), max).map(|log| log.finish().0.len());
        assert_eq!(read(line.len()).ok(), Some(1));
        let beyond = read(line.len() - 1).err().map(|error| error.to_string());
        assert!(beyond.is_some_and(|words| words.contains("more than 48 bytes")));
    }
}
