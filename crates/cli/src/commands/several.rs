//! One question to the channels of several clients: `--client go@1.72,java,cpp`.
//!
//! Each client is asked as if it were named alone. Clients that agree have one answer, and of the others it is said at which layer they
//! part. What counts as the same is in [`layers`](crate::report::channel::layers).

use std::io::Cursor;

use serde_json::Value;

use crate::args::{AdmitArgs, AdmitFormat, ChannelArgs, Format, PickArgs, RetryArgs, RouteArgs, TreeArgs, TreeFormat};
use crate::io::Io;
use crate::report::channel::layers::{self, Layer, Question};
use crate::report::channel::several::{ClientAnswer, SeveralAnswers};
use crate::session;
use crate::{EXIT_TROUBLE, Error};
use xdsctl_document::source::{MAX_STREAM_BYTES, read_stream};
use xdsctl_model::profile::Client;

/// How one client is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As the user reads it.
    Shown,
    /// As a program reads it.
    Json,
    /// The same of two RPCs, with the shares that are to be.
    Shares,
}

/// RPCs that each of several clients sends at most: all their outcomes are compared.
const MAX_COUNT: u64 = 10_000;

/// `xdsctl route`.
pub(super) fn route(args: &RouteArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let Some(clients) = named(args.channel.client.as_deref())? else {
        return super::route::run(args, io);
    };
    let is_json = args.format == Format::Json;
    run(
        &clients,
        Question::Route,
        (reads_input(&args.channel), is_json),
        io,
        &mut |client, form, io| {
            let mut one = args.clone();
            (one.channel.client, one.format) = (Some(client.to_string()), form.format());
            super::route::run(&one, io)
        },
    )
}

/// `xdsctl pick`.
pub(super) fn pick(args: &PickArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let Some(clients) = named(args.channel.client.as_deref())? else {
        return super::pick::run(args, io);
    };
    if args.count > MAX_COUNT {
        let message = format!("--count is {MAX_COUNT} at most if --client names several clients");
        return Err(Error::Usage(message));
    }
    let question = match (&args.requests, &args.address) {
        (Some(_), _) => Question::Steps,
        (None, Some(_)) => Question::Place,
        (None, None) => Question::Pick,
    };
    let is_json = args.format == Format::Json;
    let reads_stdin = reads_input(&args.channel) || args.requests.as_ref().is_some_and(|file| file.as_os_str() == "-");
    run(
        &clients,
        question,
        (reads_stdin, is_json),
        io,
        &mut |client, form, io| {
            let mut one = args.clone();
            (one.channel.client, one.format) = (Some(client.to_string()), form.format());
            if form == Form::Shares {
                one.count = one.count.max(2);
                one.explain = false;
            }
            super::pick::run(&one, io)
        },
    )
}

/// `xdsctl admit`.
pub(super) fn admit(args: &AdmitArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let Some(clients) = named(args.client.as_deref())? else {
        return super::admit::run(args, io);
    };
    if args.who {
        return Err(Error::Usage(
            "--who is of one server: choose it with --client".to_owned(),
        ));
    }
    let is_json = match args.format {
        AdmitFormat::Json => true,
        AdmitFormat::Human => false,
        AdmitFormat::Svg => {
            let why = "a picture is of one server: choose it with --client";
            return Err(Error::Usage(why.to_owned()));
        }
    };
    let reads_stdin = args.input.files.iter().any(|file| file.as_os_str() == "-");
    run(
        &clients,
        Question::Admit,
        (reads_stdin, is_json),
        io,
        &mut |client, form, io| {
            let mut one = args.clone();
            one.client = Some(client.to_string());
            one.format = match form {
                Form::Shown => AdmitFormat::Human,
                Form::Json | Form::Shares => AdmitFormat::Json,
            };
            super::admit::run(&one, io)
        },
    )
}

/// `xdsctl retry`.
pub(super) fn retry(args: &RetryArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let Some(clients) = named(args.channel.client.as_deref())? else {
        return super::retry::run(args, io);
    };
    let is_json = args.format == Format::Json;
    run(
        &clients,
        Question::Retry,
        (reads_input(&args.channel), is_json),
        io,
        &mut |client, form, io| {
            let mut one = args.clone();
            (one.channel.client, one.format) = (Some(client.to_string()), form.format());
            super::retry::run(&one, io)
        },
    )
}

/// `xdsctl tree`.
pub(super) fn tree(args: &TreeArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let Some(clients) = named(args.channel.client.as_deref())? else {
        return super::tree::run(args, io);
    };
    let is_json = match args.format {
        TreeFormat::Json => true,
        TreeFormat::Human => false,
        TreeFormat::Dot | TreeFormat::Mermaid | TreeFormat::Svg => {
            return Err(Error::Usage(
                "a picture is of one client: choose it with --client".to_owned(),
            ));
        }
    };
    run(
        &clients,
        Question::Tree,
        (reads_input(&args.channel), is_json),
        io,
        &mut |client, form, io| {
            let mut one = args.clone();
            one.channel.client = Some(client.to_string());
            one.format = match form {
                Form::Shown => TreeFormat::Human,
                Form::Json | Form::Shares => TreeFormat::Json,
            };
            super::tree::run(&one, io)
        },
    )
}

/// The clients that are named, if there are several.
///
/// # Errors
/// A name that is none.
fn named(list: Option<&str>) -> Result<Option<Vec<Client>>, Error> {
    let Some(list) = list else { return Ok(None) };
    let clients = Client::parse_list(list).map_err(|error| Error::Usage(format!("--client: {error}")))?;
    Ok(Some(clients).filter(|clients| clients.len() > 1))
}

/// Says whether the resources come from standard input.
fn reads_input(args: &ChannelArgs) -> bool {
    args.input.files.iter().any(|file| file.as_os_str() == "-")
}

/// Asks each client with `ask`, and tells what they answer.
///
/// # Errors
/// All of them are stopped by the same.
fn run(
    clients: &[Client],
    question: Question,
    (reads_stdin, is_json): (bool, bool),
    io: &mut Io<'_>,
    ask: &mut dyn FnMut(Client, Form, &mut Io<'_>) -> Result<u8, Error>,
) -> Result<u8, Error> {
    // Each client reads it.
    let mut input = Vec::new();
    if reads_stdin {
        input = read_stream(&mut io.input, MAX_STREAM_BYTES).map_err(|source| Error::Io {
            what: "read",
            name: "-".to_owned(),
            source,
        })?;
    }
    let mut notes: Vec<(String, Vec<Client>)> = Vec::new();
    let mut answers: Vec<ClientAnswer> = Vec::new();
    for &client in clients {
        let json = asked(&input, io, |io| ask(client, Form::Json, io));
        let shares = match question {
            Question::Pick => Some(asked(&input, io, |io| ask(client, Form::Shares, io))),
            Question::Steps
            | Question::Place
            | Question::Route
            | Question::Retry
            | Question::Tree
            | Question::Admit => None,
        };
        for line in json.notes.lines().filter(|line| !line.is_empty()) {
            match notes.iter_mut().find(|(known, _)| known == line) {
                Some((_, of)) => of.push(client),
                None => notes.push((line.to_owned(), vec![client])),
            }
        }
        let shares = shares.and_then(|shares| serde_json::from_str(&shares.text).ok());
        answers.push(answer(client, question, json, shares.as_ref()));
    }
    for (line, of) in &notes {
        let of: Vec<String> = of
            .iter()
            .filter(|_| of.len() < clients.len())
            .map(Client::to_string)
            .collect();
        match (of.is_empty(), line.split_once(": ")) {
            (false, Some((kind, rest))) => say!(io.err, "{kind}: {}: {rest}", of.join(", "))?,
            _ => say!(io.err, "{line}")?,
        }
    }
    if let [first, rest @ ..] = answers.as_slice()
        && let Some(error) = &first.error
        && rest.iter().all(|answer| answer.error.as_ref() == Some(error))
    {
        return Err(Error::Usage(error.clone()));
    }
    let mut told = SeveralAnswers::of(answers);
    if !is_json {
        for group in &mut told.groups {
            let Some(client) = group.first().filter(|_| group.error().is_none()) else {
                continue;
            };
            group.text = asked(&input, io, |io| ask(client, Form::Shown, io)).text;
        }
    }
    match is_json {
        true => told.write_json(question, &mut io.out)?,
        false => told.write(&mut io.out)?,
    }
    Ok(match (told.is_known(), told.fails()) {
        (false, _) => EXIT_TROUBLE,
        (true, fails) => session::exit(fails),
    })
}

impl Form {
    const fn format(self) -> Format {
        match self {
            Form::Shown => Format::Human,
            Form::Json | Form::Shares => Format::Json,
        }
    }
}

/// What one run has written.
struct Written {
    text: String,
    notes: String,
    result: Result<u8, String>,
}

/// Runs a command on streams of its own.
fn asked(input: &[u8], io: &Io<'_>, run: impl FnOnce(&mut Io<'_>) -> Result<u8, Error>) -> Written {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let result = {
        let mut own = Io::piped(Cursor::new(input), &mut out, &mut err);
        own.out_is_terminal = io.out_is_terminal;
        own.colour = io.colour;
        own.is_utf8_terminal = io.is_utf8_terminal;
        own.width = io.width;
        own.paths = io.paths.clone();
        let result = run(&mut own).map_err(|error| error.to_string());
        let code = own.incomplete.exit_code(0);
        let _ = own.out.flush();
        // What could not be read in full fails the run, whatever was found.
        result.map(|of_run| of_run.max(code))
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Written {
        text: text(out),
        notes: text(err),
        result,
    }
}

fn answer(client: Client, question: Question, written: Written, shares: Option<&Value>) -> ClientAnswer {
    let json: Value = serde_json::from_str(&written.text).unwrap_or_default();
    let layers: Vec<Layer> = match written.result {
        Ok(_) => layers::of(question, &json, shares),
        Err(_) => Vec::new(),
    };
    ClientAnswer {
        client,
        fails: matches!(written.result, Ok(code) if code != 0),
        error: written
            .result
            .err()
            .map(|error| error.trim_start_matches("--client: ").to_owned()),
        way: layers::way(question, &json),
        layers,
        json,
    }
}
