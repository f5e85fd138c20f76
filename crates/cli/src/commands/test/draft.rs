//! `xdsctl test --init` and `--record`: write a suite to start from, out of a dump or a client's
//! log.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;

use serde_json::Value;

use crate::args::TestArgs;
use crate::io::reach::AllowedDirectories;
use crate::session::suite;
use crate::{EXIT_TROUBLE, Error, Io};
use xdsctl_channel::session::Session;
use xdsctl_document::load::processors;
use xdsctl_document::secret;
use xdsctl_document::source::{MAX_STREAM_BYTES, SourceMap, read_stream};
use xdsctl_lint::diff::Example;
use xdsctl_model::resource::route::Route;
use xdsctl_report::{listed, plural};
use xdsctl_suite::{
    Captured, Draft, DraftAction, DraftOutcome, Drafted, Expected, RunOptions, SEEDS, Suite, Test, Unmet, capture,
    headers, run as play,
};

/// The most bytes of suite and files that are played in total. A large world is played with fewer
/// seeds.
const MAX_PLAYED_BYTES: u64 = 32 << 20;

/// The least number of seeds, for the largest world.
const MIN_SEEDS: u64 = 3;

/// The number of threads that play.
const PLAYERS: usize = 2;

/// Larger inputs, in bytes, are played by one thread: for each player, the connections of a world
/// take forty times its bytes.
const MAX_SHARED_BYTES: u64 = 4 << 20;

/// The most channels of a dump that get steps. Each has its own connections and is played many
/// times.
const CHANNELS_SHOWN: usize = 20;

/// The most steps that expect a failure and are named.
const FAILING_SHOWN: usize = 5;

/// The most routes of a channel that get a step.
const ROUTES_SHOWN: usize = 50;

/// An expectation that was not met: the number of its step, its number in the step, and the value
/// that would have met it.
type Missed = (usize, usize, Option<Value>);

/// Writes a suite with a step for each route in the files.
///
/// # Errors
/// A channel cannot be opened.
pub(super) fn init(args: &TestArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    if args.files.iter().any(|file| file.as_os_str() == "-") {
        return Err(Error::Usage(
            "--init names the files in the suite, and standard input has no name".to_owned(),
        ));
    }
    let files: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    let mut names = suite::listeners(&args.files, &args.allow_read, io)?;
    let more_channels = names.len().saturating_sub(CHANNELS_SHOWN);
    names.truncate(CHANNELS_SHOWN);
    let mut draft = Draft {
        comments: head("a step for each route: make the RPCs yours, and what is expected of them"),
        targets: names.iter().map(|name| format!("xds:///{name}")).collect(),
        files,
        ..Draft::default()
    };
    let of_channels = Draft {
        steps: vec![step(DraftAction::Sleep(0), None, Vec::new())],
        ..draft.clone()
    };
    let test = read(&of_channels.to_yaml()).map_err(Error::Usage)?;
    let opened = suite::open(&test, from(args), &mut Vec::new(), io).map_err(|(_, error)| error)?;
    let sessions = opened.sessions;
    let mut left_out = 0;
    for (number, session) in sessions.iter().enumerate() {
        let routes = match &session.config {
            Ok(config) => config.virtual_host().map_or(&[][..], |host| &host.routes),
            Err(_) => &[],
        };
        let client = (names.len() > 1).then_some(number);
        let (steps, hidden) = steps_of(routes, client, args.show_secrets);
        left_out += hidden;
        draft.steps.extend(steps);
        if let Some(more) = routes.len().checked_sub(ROUTES_SHOWN).filter(|more| *more > 0) {
            say!(
                io.err,
                "xdsctl: {more} more routes have no step: {ROUTES_SHOWN} of a channel do"
            )?;
        }
    }
    if more_channels > 0 {
        say!(
            io.err,
            "xdsctl: {more_channels} more channels have no step: {CHANNELS_SHOWN} of a dump do"
        )?;
    }
    if left_out > 0 {
        let routes = plural(left_out, "route");
        let why = format!("no step for {routes} that a credential is sent to; --show-secrets writes such steps");
        say!(io.err, "xdsctl: {why}")?;
        draft.comments.push(why);
    }
    if draft.steps.is_empty() {
        draft.steps = vec![step(DraftAction::Sleep(0), None, Vec::new())];
    }
    let text = draft.to_yaml();
    let test = read(&text).map_err(Error::Usage)?;
    for (number, place, value) in missed(&test, &sessions, &text, args).map_err(Error::Usage)? {
        let expected = draft.steps.get_mut(number).and_then(|step| step.expect.get_mut(place));
        if let Some(expected) = expected {
            expected.value = value.unwrap_or_default();
        }
    }
    for step in &mut draft.steps {
        let works = step.expect.iter().any(|expected| expected.value == "OK");
        step.expect
            .retain(|expected| !(expected.value.is_null() || works && expected.member == "status"));
    }
    // The world is read only once, so the patterns that the first run compiled are kept.
    keep_certain(&mut draft, args, io, |_, _| Ok(sessions));
    write!(io.out, "{}", draft.to_yaml())?;
    say_failing(&draft, io)?;
    Ok(0)
}

/// Says which steps expect an RPC to fail. The suite records what happens, and a failure may be a
/// fault in the files.
fn say_failing(draft: &Draft, io: &mut Io<'_>) -> Result<(), Error> {
    let steps = draft.steps.iter().enumerate();
    let failing: Vec<String> = steps
        .filter_map(|(number, step)| {
            let status = step.expect.iter().find(|expected| expected.member == "status")?;
            let is_failure = status.value != "OK";
            is_failure.then(|| format!("step {} {}", number + 1, xdsctl_suite::yaml(&status.value)))
        })
        .collect();
    if failing.is_empty() {
        return Ok(());
    }
    let count = failing.len();
    let (of, expect) = (
        plural(draft.steps.len(), "step"),
        if count == 1 { "expects" } else { "expect" },
    );
    say!(
        io.err,
        "note: {count} of {of} {expect} a failure, because the files lead to one: {}; `xdsctl validate` may say why",
        listed(failing.into_iter(), FAILING_SHOWN)
    )?;
    Ok(())
}

/// Writes a suite from a client's log.
///
/// # Errors
/// The log cannot be read, or has nothing of xDS.
pub(super) fn record(args: &TestArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let [file] = args.files.as_slice() else {
        return Err(Error::Usage("--record makes a suite of one log".to_owned()));
    };
    let cannot_read = Error::io("read", file.display());
    let mut sources = SourceMap::new();
    let id = match file.as_os_str() == "-" {
        true => {
            let bytes = read_stream(&mut io.input, MAX_STREAM_BYTES).map_err(cannot_read)?;
            sources.add("-", bytes)
        }
        false => sources.add_file(file).map_err(cannot_read)?,
    };
    let Some(source) = sources.get(id) else {
        return Ok(EXIT_TROUBLE);
    };
    let captured = capture(id, source, args.show_secrets);
    let Captured { mut draft, rpcs, notes } =
        captured.map_err(|why| Error::Nothing(format!("`{}`: {why}", source.name())))?;
    draft.comments = head(&format!("what a client's log says: {}", source.name()));
    let DraftOutcome {
        chance,
        commented,
        failing,
        stop,
    } = keep_certain(&mut draft, args, io, |test, io| open(test, args, io));
    write!(io.out, "{}", draft.to_yaml())?;
    let expected: usize = draft.steps.iter().map(|step| step.expect.len()).sum();
    let steps = draft.steps.len();
    let (rpcs, steps, of) = (
        plural(rpcs, "RPC"),
        plural(steps, "step"),
        plural(expected, "expectation"),
    );
    say!(io.err, "xdsctl: {rpcs}, {steps}, {of}")?;
    for note in notes {
        say!(io.err, "note: {note}")?;
    }
    if chance > 0 {
        let of = plural(chance, "expectation");
        say!(
            io.err,
            "note: {of} left out, or weaker, because chance decides about it"
        )?;
    }
    if commented > 0 {
        let of = plural(commented, "expectation");
        say!(
            io.err,
            "note: {of} told in comments, because the log does not show what they depend on"
        )?;
    }
    for (number, member) in failing {
        let said = draft.steps.get(number).map(|step| describe(step, member));
        let step = number + 1;
        say!(
            io.err,
            "note: step {step} expects {}, as the log has it, and the simulation does something else",
            said.unwrap_or_default()
        )?;
    }
    match stop {
        None => Ok(0),
        Some(why) => Err(Error::Usage(format!("the suite cannot be played to its end: {why}"))),
    }
}

/// Returns a step for each route, and the number of routes without one because their RPC would need
/// a credential.
fn steps_of(routes: &[Route], client: Option<usize>, shows_secrets: bool) -> (Vec<Drafted>, usize) {
    let shown = routes.iter().take(ROUTES_SHOWN);
    let mut examples: Vec<Example> = shown
        .filter_map(|route| xdsctl_lint::diff::examples(&[route]).into_iter().next())
        .collect();
    if examples.is_empty() {
        let members = vec![("method", "/package.Service/Method".into())];
        return (vec![step(DraftAction::Pick(members), client, to_be_recorded())], 0);
    }
    let all = examples.len();
    examples.retain(|example| shows_secrets || !has_credential(example));
    let hidden = all - examples.len();
    let of_example = |example: Example| {
        let mut members = vec![("method", Value::from(example.path))];
        if !example.headers.is_empty() {
            members.push(("headers", headers(&example.headers)));
        }
        step(DraftAction::Pick(members), client, to_be_recorded())
    };
    (examples.into_iter().map(of_example).collect(), hidden)
}

/// Says whether an RPC has a header that would be masked and then would not match.
fn has_credential(example: &Example) -> bool {
    let is_credential = |(name, value): &(String, String)| secret::is_name(name) || secret::looks_secret(value);
    example.headers.iter().any(is_credential)
}

/// Returns expectations that are never met, so that what happens replaces them.
fn to_be_recorded() -> Vec<Expected> {
    let members = [("route", "?"), ("cluster", "?"), ("status", "DATA_LOSS")];
    let expected = members.map(|(member, value)| Expected {
        member,
        value: value.into(),
        is_weaker: false,
    });
    expected.into()
}

fn describe(step: &Drafted, member: &str) -> String {
    let of = step.expect.iter().find(|expected| expected.member == member);
    let value = of.map(|expected| xdsctl_suite::yaml(&expected.value));
    format!("`{member}: {}`", value.unwrap_or_default())
}

fn step(deed: DraftAction, client: Option<usize>, expect: Vec<Expected>) -> Drafted {
    Drafted {
        comment: String::new(),
        client,
        action: deed,
        expect,
        is_partial: false,
    }
}

/// Returns the lines at the head of a suite.
fn head(what: &str) -> Vec<String> {
    vec![
        "yaml-language-server: $schema=scenario.json".to_owned(),
        "(`xdsctl test --schema > scenario.json` tells an editor what a suite may say)".to_owned(),
        what.to_owned(),
    ]
}

/// Plays a draft with several seeds, and keeps only expectations that do not depend on chance.
/// `open` opens the sessions of its clients.
fn keep_certain(
    draft: &mut Draft,
    args: &TestArgs,
    io: &mut Io<'_>,
    open: impl FnOnce(&Test, &mut Io<'_>) -> Result<Vec<Session>, String>,
) -> DraftOutcome {
    let text = draft.to_yaml();
    let files = draft.files.iter().filter_map(|file| std::fs::metadata(file).ok());
    let bytes = text.len() as u64 + files.map(|file| file.len()).sum::<u64>();
    let seeds = (MAX_PLAYED_BYTES / bytes.max(1)).clamp(MIN_SEEDS, SEEDS);
    if seeds < SEEDS {
        let told = format!(
            "xdsctl: played with {seeds} seeds instead of {SEEDS}, as suite and files have {bytes} bytes: what chance decides about \
             may still be expected"
        );
        let _ = writeln!(io.err, "{told}");
    }
    let opened = read(&text).and_then(|test| open(&test, io).map(|sessions| (test, sessions)));
    let players = match bytes > MAX_SHARED_BYTES {
        true => 1,
        false => processors().min(PLAYERS),
    };
    draft.keep_certain(opened.and_then(|(test, sessions)| {
        let with = |seed| unmet(seed, &test, &sessions, &text, args);
        play_each(seeds, players, &with)
    }))
}

/// Plays a test with a seed. Returns the expectations that are not met.
fn unmet(seed: u64, test: &Test, sessions: &[Session], text: &str, args: &TestArgs) -> Result<Unmet, String> {
    let mut test = test.clone();
    for (number, client) in Arc::make_mut(&mut test.clients).iter_mut().enumerate() {
        client.seed = seed.wrapping_add(number as u64);
    }
    let missed = missed(&test, sessions, text, args)?;
    Ok(missed.into_iter().map(|(step, place, _)| (step, place)).collect())
}

/// Plays with each of `seeds` seeds, in several threads. Returns for each seed what was not met, or
/// the error of the first seed that cannot be played.
fn play_each(
    seeds: u64,
    players: usize,
    with: &(dyn Fn(u64) -> Result<Unmet, String> + Sync),
) -> Result<Vec<Unmet>, String> {
    let played = |first: u64| {
        let mut runs = Vec::new();
        for seed in (first..seeds).step_by(players) {
            let run = with(seed);
            // Each thread stops at its first failure, so the first failure of all is among these.
            let fails = run.is_err();
            runs.push((seed, run));
            if fails {
                break;
            }
        }
        runs
    };
    // This thread plays, too. If no other thread can be started, it plays alone.
    let mut runs: Vec<_> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..players as u64)
            .map(|first| scope.spawn(move || played(first)))
            .collect();
        let own = played(0);
        let join = |player: ScopedJoinHandle<'_, _>| player.join().unwrap_or_else(|panic| resume_unwind(panic));
        others.into_iter().flat_map(join).chain(own).collect()
    });
    runs.sort_unstable_by_key(|(seed, _)| *seed);
    runs.into_iter().map(|(_, run)| run).collect()
}

fn read(text: &str) -> Result<Test, String> {
    let mut sources = SourceMap::new();
    let id = sources.add("-", text.as_bytes().to_vec());
    let source = sources.get(id).ok_or("there is no text")?;
    let suite = Suite::read(source).map_err(|faults| {
        let fault = faults.into_iter().next();
        fault.map_or_else(String::new, |fault| {
            let place = source.line_column(fault.span.start);
            format!("line {}: {}", place.line, fault.message)
        })
    })?;
    suite
        .tests
        .into_iter()
        .next()
        .ok_or_else(|| "there is no test".to_owned())
}

/// Opens the sessions of a suite's clients.
fn open(test: &Test, args: &TestArgs, io: &mut Io<'_>) -> Result<Vec<Session>, String> {
    let opened = suite::open(test, from(args), &mut Vec::new(), io).map_err(|(_, error)| error.to_string())?;
    Ok(opened.sessions)
}

/// Plays the suite with this text. Returns the expectations that were not met.
fn missed(test: &Test, sessions: &[Session], text: &str, args: &TestArgs) -> Result<Vec<Missed>, String> {
    let line = |at: usize| 1 + text.get(..at).unwrap_or_default().matches('\n').count();
    let run_options = RunOptions {
        max_events: Some(args.max_events),
        max_rpcs: Some(args.max_rpcs),
        records: true,
        ..RunOptions::default()
    };
    let played = play(test, sessions, run_options, &|_| {});
    if let Some(stop) = played.stop {
        return Err(format!("line {}: {}", line(stop.span.start), stop.why));
    }
    let mut missed = Vec::new();
    for failure in played.failures {
        let found = test.steps.iter().enumerate().find_map(|(step, planned)| {
            let place = planned.expect.iter().position(|check| check.span == failure.span)?;
            Some((step, place))
        });
        if let Some((step, place)) = found {
            missed.push((step, place, failure.recorded.and_then(Result::ok)));
        }
    }
    Ok(missed)
}

/// Allows every directory, because the command line itself names the files.
static EVERYWHERE: AllowedDirectories = AllowedDirectories::unbounded();

/// Returns the options for a suite whose files are relative to the current directory.
fn from(args: &TestArgs) -> suite::TestOrigin<'_> {
    suite::TestOrigin {
        file: "-",
        world: &[],
        reach: &EVERYWHERE,
        allow_read: &args.allow_read,
        client: args.client,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_players_tells_the_same() {
        let of = |seed: u64| Unmet::from([(seed as usize, 0)]);
        for players in 1..=4 {
            let all = play_each(9, players, &|seed| Ok(of(seed)));
            assert_eq!(all, Ok((0..9).map(of).collect()), "{players}");
            let fails = |seed: u64| match seed {
                5..=7 => Err(seed.to_string()),
                _ => Ok(of(seed)),
            };
            assert_eq!(play_each(9, players, &fails), Err("5".to_owned()), "{players}");
        }
    }
}
