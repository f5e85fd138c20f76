//! What can be expected of a server, and whether it holds.

use std::collections::BTreeMap;

use xdsctl_model::diag::Rule;
use xdsctl_model::status::Code;
use xdsctl_server::End;
use xdsctl_server::running::ConnectionState;

/// What is expected. One value of a list is enough, but all rules of `nack` are needed.
#[derive(Debug, Clone)]
pub(crate) enum ServerCheckKind {
    /// How the connection or the RPC ends.
    Ends(Vec<ExpectedEnd>),
    /// The policy that decides, or `none`.
    Policy(Vec<String>),
    /// The filter chain, by its place or its name.
    Chain(Vec<String>),
    /// The name of the virtual host.
    VirtualHost(Vec<String>),
    /// The number of the route, or its name.
    Route(Vec<String>),
    /// The status code of the RPC.
    Status(Vec<Code>),
    /// A part of the RPC's message.
    Message(String),
    /// The certificate that the server shows.
    Shows(Vec<String>),
    /// The rules by which the update is rejected; without rules, it is accepted.
    Nack(Vec<&'static Rule>),
    /// The states of connections, by their names.
    Connections(BTreeMap<String, ConnectionState>),
    /// Whether the server serves.
    Serves(bool),
}

/// How something is expected to end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExpectedEnd {
    /// One of [`ENDS`].
    pub name: &'static str,
    /// The policy that denies the RPC, if it is named.
    pub by: Option<String>,
}

/// The words for ends, as `admit` prints them.
pub(crate) const ENDS: [&str; 10] = [
    "connected",
    "served",
    "denied",
    "refused",
    "reset",
    "handshake failed",
    "closed",
    "program ended",
    "not serving",
    "denied by POLICY",
];

impl ExpectedEnd {
    /// Reads an end, such as `served` or `denied by carts`.
    pub fn of(text: &str) -> Option<ExpectedEnd> {
        let (word, by) = match text.strip_prefix("denied by ") {
            Some(policy) => ("denied", Some(policy.trim().to_owned())),
            None => (text, None),
        };
        let known = ENDS.iter().take(ENDS.len() - 1).find(|known| **known == word)?;
        Some(ExpectedEnd { name: known, by })
    }
}

/// What a step led to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Saw {
    /// How the connection or the RPC ends; `None` for other steps.
    pub end: Option<End>,
    /// The end in words, with the reason.
    pub words: String,
    /// The chain's place, and its name.
    pub chain: Option<(String, String)>,
    pub virtual_host: Option<String>,
    /// The route's number, and its name.
    pub route: Option<(String, String)>,
    /// The policy that decides: the last one that matched.
    pub policy: Option<String>,
    pub shows: Option<String>,
    /// The ids of the rules by which an update is rejected.
    pub nacked: Vec<&'static str>,
    /// Notes on the update.
    pub notes: Vec<String>,
}

impl Saw {
    /// Returns what happened instead, if a check does not hold. `state` and `serves` are those of
    /// the server after the step.
    pub fn instead(
        &self,
        what: &ServerCheckKind,
        state: &dyn Fn(&str) -> ConnectionState,
        serves: &Result<(), String>,
    ) -> Option<String> {
        let one_of = |wanted: &[String], found: &[&str], words: &str| {
            let holds = wanted.iter().any(|wanted| found.contains(&wanted.as_str()));
            (!holds).then(|| format!("{words}: {}", self.words))
        };
        // The place of a chain or route, and its name.
        let placed = |wanted: &[String], found: &Option<(String, String)>| match found {
            Some((place, name)) if name.is_empty() || name == place => {
                one_of(wanted, &[place, name], &format!("it was {place}"))
            }
            Some((place, name)) => one_of(wanted, &[place, name], &format!("it was {place} `{name}`")),
            None => one_of(wanted, &[], "there was none"),
        };
        let named = |wanted: &[String], found: &Option<String>, is: &str, none: &str| match found {
            Some(name) => one_of(wanted, &[name], &format!("{is} `{name}`")),
            None => one_of(wanted, &[], none),
        };
        match what {
            ServerCheckKind::Ends(wanted) => {
                let end = self.end.as_ref().map(End::name);
                let is_by = |by: &Option<String>| by.is_none() || *by == self.policy;
                let holds = wanted
                    .iter()
                    .any(|wanted| end == Some(wanted.name) && is_by(&wanted.by));
                (!holds).then(|| self.words.clone())
            }
            ServerCheckKind::Policy(wanted) => match &self.policy {
                Some(policy) => one_of(wanted, &[policy], &format!("policy `{policy}` decided")),
                None => one_of(wanted, &["none"], "no policy decided"),
            },
            ServerCheckKind::Chain(wanted) => placed(wanted, &self.chain),
            ServerCheckKind::VirtualHost(wanted) => named(wanted, &self.virtual_host, "it was", "there was none"),
            ServerCheckKind::Route(wanted) => placed(wanted, &self.route),
            ServerCheckKind::Status(wanted) => {
                let found = match &self.end {
                    Some(End::Served) => Some(Code::Ok),
                    Some(End::Refused(status)) => Some(status.code),
                    _ => None,
                };
                let holds = found.is_some_and(|found| wanted.contains(&found));
                (!holds).then(|| self.words.clone())
            }
            ServerCheckKind::Message(wanted) => {
                let found = match &self.end {
                    Some(End::Refused(status)) => &status.message,
                    _ => "",
                };
                (!found.contains(wanted.as_str())).then(|| self.words.clone())
            }
            ServerCheckKind::Shows(wanted) => named(wanted, &self.shows, "it shows", "it shows none"),
            ServerCheckKind::Nack(wanted) => {
                let ids: Vec<&str> = wanted.iter().map(|rule| rule.id).collect();
                let holds = match ids.is_empty() {
                    true => self.nacked.is_empty(),
                    false => ids.iter().all(|id| self.nacked.contains(id)),
                };
                (!holds).then(|| match self.nacked.as_slice() {
                    [] => "the update is accepted".to_owned(),
                    ids => format!("the update is rejected: {}", ids.join(", ")),
                })
            }
            ServerCheckKind::Connections(wanted) => {
                let wrong = wanted.iter().filter_map(|(name, wanted)| {
                    let found = state(name);
                    (found != *wanted).then(|| format!("`{name}` is {}", found.name()))
                });
                let wrong: Vec<String> = wrong.collect();
                (!wrong.is_empty()).then(|| wrong.join(", "))
            }
            ServerCheckKind::Serves(wanted) => match (wanted, serves) {
                (true, Err(why)) => Some(why.clone()),
                (false, Ok(())) => Some("it serves".to_owned()),
                (true, Ok(())) | (false, Err(_)) => None,
            },
        }
    }
}
