//! Asks the channels of several clients one question: `--client go@1.72,java,cpp`.
//!
//! Each client is asked as if it were named alone. Clients that agree share one answer. For the
//! others, the report says at which layer they differ. [`layers`](xdsctl_report::channel::layers)
//! decides what counts as the same.

use std::io::Cursor;

use crate::args::ChannelArgs;
use crate::io::Io;
use crate::session;
use crate::{EXIT_TROUBLE, Error};
use xdsctl_document::source::{MAX_STREAM_BYTES, read_stream};
use xdsctl_model::profile::Client;
use xdsctl_report::channel::layers::{self, Layer, Question};
use xdsctl_report::channel::several::{ClientAnswer, SeveralAnswers};
use xdsctl_report::told::{KeptAnswer, Told};

/// A question, and the clients to ask.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientsQuestion<'a> {
    /// The value of `--client`.
    pub clients: Option<&'a str>,
    /// The question of the command.
    pub question: Question,
    /// Whether the answer is printed as JSON.
    pub is_json: bool,
    /// Whether the answer is a picture, which the command draws and which shows only one client.
    pub is_picture: bool,
    /// Whether standard input is read. Each client then reads the same bytes.
    pub reads_stdin: bool,
}

/// One client to ask.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientToAsk {
    /// The client, if it is one of several; `None` to ask the client in the arguments.
    pub client: Option<Client>,
    /// Whether the question is not the user's, but about the expected shares of several RPCs of
    /// this kind.
    pub asks_shares: bool,
}

/// The most RPCs that each of several clients sends, because all their outcomes are compared.
pub(super) const MAX_COUNT: u64 = 10_000;

/// How a command asks one client. The function reports the answer, and returns the exit code.
type Ask<'a> = dyn FnMut(ClientToAsk, &mut Told, &mut Io<'_>) -> Result<u8, Error> + 'a;

impl<'a> ClientsQuestion<'a> {
    /// Returns a question to the clients of a channel.
    pub(super) fn of_channel(question: Question, channel: &'a ChannelArgs, is_json: bool) -> ClientsQuestion<'a> {
        ClientsQuestion {
            clients: channel.client.as_deref(),
            question,
            is_json,
            is_picture: false,
            reads_stdin: channel.input.reads_stdin(),
        }
    }
}

impl ClientToAsk {
    /// Replaces the value of `--client` with this client.
    pub(super) fn put_into(self, argument: &mut Option<String>) {
        if let Some(client) = self.client {
            *argument = Some(client.to_string());
        }
    }
}

/// Asks the named clients with `ask`, and prints their answers.
///
/// # Errors
/// `--client` does not name clients, or all of them stop with the same error.
pub(super) fn run(asked: ClientsQuestion<'_>, io: &mut Io<'_>, ask: &mut Ask<'_>) -> Result<u8, Error> {
    let list = asked.clients.map(Client::parse_list).transpose();
    let clients = list.map_err(|error| Error::Usage(format!("--client: {error}")))?;
    let is_json = asked.is_json;
    match clients {
        Some(clients) if clients.len() > 1 => ask_all(&clients, asked, io, ask),
        Some(_) | None => {
            let one = ClientToAsk {
                client: None,
                asks_shares: false,
            };
            ask(one, &mut Told::Printed { is_json }, io)
        }
    }
}

/// Asks each client, and prints their answers.
fn ask_all(clients: &[Client], asked: ClientsQuestion<'_>, io: &mut Io<'_>, ask: &mut Ask<'_>) -> Result<u8, Error> {
    let question = asked.question;
    if asked.is_picture {
        let what = if question == Question::Admit {
            "server"
        } else {
            "client"
        };
        return Err(Error::Usage(format!(
            "a picture is of one {what}: choose it with --client"
        )));
    }
    let mut input = Vec::new();
    if asked.reads_stdin {
        input = read_stream(&mut io.input, MAX_STREAM_BYTES).map_err(Error::io("read", "-"))?;
    }
    let mut notes: Vec<(String, Vec<Client>)> = Vec::new();
    let mut answers: Vec<ClientAnswer> = Vec::new();
    for &client in clients {
        let mut of = |asks_shares| {
            let one = ClientToAsk {
                client: Some(client),
                asks_shares,
            };
            ask_piped(&input, io, |told, io| ask(one, told, io))
        };
        let reply = of(false);
        let shares = (question == Question::Pick).then(|| of(true));
        for line in reply.notes.lines().filter(|line| !line.is_empty()) {
            match notes.iter_mut().find(|(known, _)| known == line) {
                Some((_, of)) => of.push(client),
                None => notes.push((line.to_owned(), vec![client])),
            }
        }
        answers.push(answer(client, question, reply, shares));
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
    let told = SeveralAnswers::of(answers);
    match asked.is_json {
        true => told.write_json(question, &mut io.out)?,
        false => told.write(&mut io.out)?,
    }
    Ok(match (told.is_known(), told.fails()) {
        (false, _) => EXIT_TROUBLE,
        (true, fails) => session::exit(fails),
    })
}

/// What one client replied.
struct ClientReply {
    answer: KeptAnswer,
    notes: String,
    result: Result<u8, String>,
}

/// Asks one client with streams of its own.
fn ask_piped(input: &[u8], io: &Io<'_>, ask: impl FnOnce(&mut Told, &mut Io<'_>) -> Result<u8, Error>) -> ClientReply {
    let mut told = Told::Kept(KeptAnswer::default());
    let mut err = Vec::new();
    let result = {
        let mut own = Io::piped(Cursor::new(input), std::io::sink(), &mut err);
        own.out_is_terminal = io.out_is_terminal;
        own.colour = io.colour;
        own.is_utf8_terminal = io.is_utf8_terminal;
        own.width = io.width;
        own.paths = io.paths.clone();
        let result = ask(&mut told, &mut own).map_err(|error| error.to_string());
        // Input that could not be read in full fails the run, whatever the answer is.
        result.map(|code| own.exit_code(code))
    };
    ClientReply {
        answer: match told {
            Told::Kept(answer) => answer,
            Told::Printed { .. } => KeptAnswer::default(),
        },
        notes: String::from_utf8_lossy(&err).into_owned(),
        result,
    }
}

fn answer(client: Client, question: Question, reply: ClientReply, shares: Option<ClientReply>) -> ClientAnswer {
    let KeptAnswer { text, json } = reply.answer;
    let layers: Vec<Layer> = match reply.result {
        Ok(_) => layers::of(question, &json, shares.as_ref().map(|shares| &shares.answer.json)),
        Err(_) => Vec::new(),
    };
    ClientAnswer {
        client,
        fails: matches!(reply.result, Ok(code) if code != 0),
        error: reply
            .result
            .err()
            .map(|error| error.trim_start_matches("--client: ").to_owned()),
        way: layers::way(question, &json),
        layers,
        text,
        json,
    }
}
