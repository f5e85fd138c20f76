//! `xdsctl test --update`: replaces expectations in suites by what happened.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::{is_chosen, name, open, play_test};
use crate::args::TestArgs;
use crate::io::edit::replace;
use crate::io::reach::AllowedDirectories;
use crate::{Error, Io};
use xdsctl_document::source::{Source, SourceMap, Span};
use xdsctl_model::text::plural;
use xdsctl_report::suite::quoted;
use xdsctl_suite::{Failure, Rewrite, Suite, rewrite, yaml};

/// Runs the tests, and changes the values of expectations that are not met. Standard error says
/// what was changed, and what could not be.
///
/// # Errors
/// A suite cannot be read or written. The files before it have been changed.
pub(super) fn run(args: &TestArgs, io: &mut Io<'_>) -> Result<(), Error> {
    if args.files.iter().any(|file| file.as_os_str() == "-") {
        let why = "--update writes files, and standard input is none: name the file";
        return Err(Error::Usage(why.to_owned()));
    }
    let mut sources = SourceMap::new();
    let opened = open(args, &mut sources, io)?;
    let (mut count, mut files) = (0, 0);
    for id in opened {
        let Some(source) = sources.get(id) else { continue };
        let Ok(suite) = Suite::read(source) else { continue };
        let mut failures: Vec<Failure> = Vec::new();
        for test in &suite.tests {
            if !is_chosen(args, source.name(), &name(test, source.name())) {
                continue;
            }
            let (played, _) = play_test(args, test, source.name(), true, io)?;
            // If a test stopped early, its state at that point must not be recorded.
            if played.stop.is_none() {
                failures.extend(played.failures);
            }
        }
        if io.is_incomplete {
            // If the world was not read in full, what happens must not be recorded.
            let why = format!("`{}` is not updated: its world cannot be read in full", source.name());
            return Err(Error::Usage(why));
        }
        let made = one_file(source, &failures, &AllowedDirectories::around(&args.files), io)?;
        count += made;
        files += usize::from(made > 0);
    }
    match count {
        0 => writeln!(io.err, "xdsctl: nothing is updated")?,
        _ => writeln!(
            io.err,
            "xdsctl: updated {} in {}",
            plural(count, "expectation"),
            plural(files, "file")
        )?,
    }
    Ok(())
}

/// Changes one file, and returns how many expectations were changed.
fn one_file(
    source: &Source,
    failures: &[Failure],
    reach: &AllowedDirectories,
    io: &mut Io<'_>,
) -> Result<usize, Error> {
    let mut changes: Vec<Rewrite> = Vec::new();
    let mut why_not: Vec<(&Failure, &str)> = Vec::new();
    let mut wanted: Vec<&Failure> = Vec::new();
    let mut places: HashMap<Span, usize> = HashMap::new();
    for failure in failures {
        match &failure.recorded {
            Some(Ok(value)) => {
                let span = failure.value;
                match places.get(&span).and_then(|known| changes.get(*known)) {
                    Some(known) if known.value == *value => {}
                    Some(_) => why_not.push((failure, "several tests share it, and differ")),
                    None => {
                        let value = value.clone();
                        places.insert(span, changes.len());
                        changes.push(Rewrite { span, value });
                        wanted.push(failure);
                    }
                }
            }
            Some(Err(why)) => why_not.push((failure, why)),
            None => why_not.push((failure, "it says what must never be")),
        }
    }
    let shared: HashSet<Span> = why_not.iter().map(|(failure, _)| failure.value).collect();
    changes.retain(|change| !shared.contains(&change.span));
    wanted.retain(|failure| !shared.contains(&failure.value));
    let rewritten = rewrite(source, &changes);
    let (mut told, mut made) = (Vec::new(), 0);
    for (number, failure) in wanted.into_iter().enumerate() {
        match rewritten.made.get(number) {
            Some(Err(why)) => why_not.push((failure, why)),
            _ => {
                made += 1;
                let new = changes.get(number).map(|change| yaml(&change.value));
                let old = quoted(source, failure.span);
                told.push((
                    failure.span.start,
                    format!("{old} becomes `{}`", new.unwrap_or_default()),
                ));
            }
        }
    }
    if made > 0 {
        let path = Path::new(source.name());
        replace(path, reach, source.bytes(), &rewritten.text).map_err(Error::io("update", source.name()))?;
    }
    let not = why_not.iter().map(|(failure, why)| {
        let old = quoted(source, failure.span);
        (failure.span.start, format!("{old} stays: {why}"))
    });
    told.extend(not);
    told.sort();
    for (at, what) in told {
        let place = source.line_column(at);
        say!(io.err, "{}:{}:{}: {what}", source.name(), place.line, place.column)?;
    }
    Ok(made)
}
