//! The answers of several clients: those that agree are grouped, with the layer at which the other
//! groups differ.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::layers::{Layer, Question, parting, parting_of_ways};
use xdsctl_model::profile::Client;

/// Name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.several/v1";

/// The answer of one client.
#[derive(Debug)]
pub struct ClientAnswer {
    /// The client that answers.
    pub client: Client,
    /// Whether its RPCs fail.
    pub fails: bool,
    /// Why the client cannot be asked; `None` if it can.
    pub error: Option<String>,
    /// The layers that are compared.
    pub layers: Vec<Layer>,
    /// The way of the RPC through the layers, in the client's words.
    pub way: Vec<Layer>,
    /// The answer of this client alone, for people.
    pub text: Vec<u8>,
    /// The answer of this client alone, as a document.
    pub json: Value,
}

/// Clients whose answers agree.
#[derive(Debug)]
pub struct Agreeing {
    answers: Vec<ClientAnswer>,
}

/// The answers, in the order of the clients.
#[derive(Debug)]
pub struct SeveralAnswers {
    /// The groups, in the order in which the first client of each was named.
    pub groups: Vec<Agreeing>,
}

impl Agreeing {
    /// Says why the clients cannot be asked; `None` if they can.
    pub fn error(&self) -> Option<&str> {
        self.answers.first()?.error.as_deref()
    }

    fn names(&self) -> Vec<String> {
        self.answers.iter().map(|answer| answer.client.to_string()).collect()
    }

    /// Returns the layer at which another group differs from this one.
    fn parting(&self, other: &Agreeing) -> Option<(String, [String; 2])> {
        let (one, two) = (self.answers.first()?, other.answers.first()?);
        // The way of the RPC says more than its end.
        let on_their_way = || parting_of_ways(&one.way, &two.way);
        let is_asked = one.error.is_none() && two.error.is_none();
        is_asked
            .then(on_their_way)
            .flatten()
            .or_else(|| parting(&one.layers, &two.layers))
    }
}

impl SeveralAnswers {
    /// Groups the answers that agree.
    pub fn of(answers: Vec<ClientAnswer>) -> SeveralAnswers {
        let mut groups: Vec<Agreeing> = Vec::new();
        for answer in answers {
            let agrees = |group: &&mut Agreeing| {
                let first = group.answers.first();
                first.is_some_and(|first| first.error == answer.error && first.layers == answer.layers)
            };
            match groups.iter_mut().find(agrees) {
                Some(group) => group.answers.push(answer),
                None => groups.push(Agreeing { answers: vec![answer] }),
            }
        }
        SeveralAnswers { groups }
    }

    /// Says whether every client could be asked.
    pub fn is_known(&self) -> bool {
        self.groups.iter().all(|group| group.error().is_none())
    }

    /// Says whether the RPCs of some client fail.
    pub fn fails(&self) -> bool {
        self.groups
            .iter()
            .flat_map(|group| &group.answers)
            .any(|answer| answer.fails)
    }

    /// Returns the layers at which the other groups differ from the first one that could be asked.
    fn partings(&self) -> Vec<(&Agreeing, &Agreeing, String, [String; 2])> {
        let mut asked = self.groups.iter().filter(|group| group.error().is_none());
        let Some(first) = asked.next() else {
            return Vec::new();
        };
        let part = |group| {
            let (layer, what) = first.parting(group)?;
            Some((first, group, layer, what))
        };
        asked.filter_map(part).collect()
    }

    /// Writes the answers for people.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for (number, group) in self.groups.iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            let names = group.names().join(", ");
            match group.error() {
                Some(error) => say!(out, "{names}: not known: {error}")?,
                None if self.groups.len() == 1 => say!(out, "the same in {names}:")?,
                None => say!(out, "{names}:")?,
            }
            if let Some(answer) = group.answers.first().filter(|answer| answer.error.is_none()) {
                out.write_all(&answer.text)?;
            }
        }
        for (first, group, layer, [one, other]) in self.partings() {
            let (of_first, of_group) = (first.names().join(", "), group.names().join(", "));
            writeln!(out)?;
            say!(out, "{of_group} parts from {of_first} at {layer}")?;
            say!(out, "  {of_first}: {one}")?;
            say!(out, "  {of_group}: {other}")?;
        }
        Ok(())
    }

    /// Writes the answers for programs.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn write_json(&self, question: Question, out: &mut dyn Write) -> io::Result<()> {
        let answers = self.groups.iter().flat_map(|group| &group.answers);
        let answers: Vec<Value> = answers
            .map(|answer| {
                json!({
                    "client": answer.client.to_string(),
                    "fails": answer.fails,
                    "error": answer.error,
                    "answer": answer.json,
                })
            })
            .collect();
        let agreeing: Vec<Vec<String>> = self.groups.iter().map(Agreeing::names).collect();
        let partings: Vec<Value> = self
            .partings()
            .into_iter()
            .map(|(first, group, layer, [one, other])| {
                json!({
                    "layer": layer,
                    "clients": [first.names(), group.names()],
                    "what": [one, other],
                })
            })
            .collect();
        let command = match question {
            Question::Route => "route",
            Question::Pick | Question::Steps | Question::Place => "pick",
            Question::Retry => "retry",
            Question::Tree => "tree",
            Question::Admit => "admit",
        };
        let document = json!({
            "schema": SCHEMA,
            "command": command,
            "agreeing": agreeing,
            "partings": partings,
            "answers": answers,
        });
        crate::write_json(&document, out)
    }
}
