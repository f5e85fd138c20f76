//! RPCs, and the connections below them, from the client's traces `client_channel`,
//! `client_channel_call`, `client_channel_lb_call`, `subchannel` and `retry`.
//!
//! A pointer in the log names one thing as long as that lives, and may name another one afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use super::line::CapturedLine;
use xdsctl_lb::runtime::Connectivity;
use xdsctl_model::status::Code;

/// An attempt of an RPC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CapturedAttempt {
    /// The address that it went to; `None` if there is none, or if the log does not show it.
    pub address: Option<SocketAddr>,
    /// The status code that it ended with; `None` if the log does not show it.
    pub code: Option<Code>,
}

/// An RPC, as the lines of a log describe it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LoggedRpc {
    /// The target of its channel.
    pub target: String,
    /// `/package.Service/Method`.
    pub method: String,
    /// The headers that the log shows.
    pub headers: Vec<(String, String)>,
    /// The names of headers whose values the log does not show.
    pub hidden: Vec<String>,
    /// Whether the RPC waits while the channel fails (`wait_for_ready`).
    pub waits: bool,
    /// When the call began, in microseconds.
    pub began: i64,
    /// When a pick first completed or failed.
    pub picked: Option<i64>,
    /// When the call ended; `None` if the log ends before that.
    pub ended: Option<i64>,
    /// The status code that it ended with; `None` if the log does not show it.
    pub code: Option<Code>,
    /// The attempts for which a pick completed.
    pub attempts: Vec<CapturedAttempt>,
}

/// A change of a connection's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConnectionChange {
    pub at: i64,
    pub address: SocketAddr,
    pub state: Connectivity,
    /// Whether the attempt to connect timed out; otherwise it was refused.
    pub is_silent: bool,
}

/// What a log says about RPCs.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The RPCs in the order in which they began.
    pub calls: Vec<LoggedRpc>,
    /// The connections in the order of the log.
    pub connections: Vec<ConnectionChange>,
    /// The targets of xDS channels in the order of the log, including channels without an RPC.
    pub targets: Vec<String>,
    /// Whether the log shows picks of subchannels without the addresses of the subchannels.
    pub lacks_addresses: bool,
    channels: BTreeMap<String, String>,
    wrappers: BTreeMap<String, String>,
    subchannels: BTreeMap<String, SocketAddr>,
    states: BTreeMap<SocketAddr, Connectivity>,
    calld: BTreeMap<String, usize>,
    retried: BTreeMap<String, usize>,
    /// The RPC and the attempt of each LB call of the channel, and of each attempt of the retry
    /// filter.
    lb_calls: BTreeMap<String, (usize, usize)>,
    attempts: BTreeMap<String, (usize, usize)>,
    /// The RPC whose filters were last created, by thread.
    last: BTreeMap<String, usize>,
    /// RPCs that are the client's own.
    own: BTreeSet<usize>,
}

impl Calls {
    /// Reads the next line.
    pub fn line(&mut self, line: &CapturedLine<'_>) {
        match line.file {
            "client_channel_filter.cc" => _ = self.channel(line),
            "subchannel.cc" => _ = self.subchannel(line.words),
            "retry_filter_legacy_call_data.cc" => _ = self.retry(line),
            _ => {}
        }
    }

    /// Removes the client's own RPCs, such as its streams to control planes and load reporting
    /// servers.
    pub fn finish(&mut self) {
        let own = std::mem::take(&mut self.own);
        let mut number = 0;
        self.calls.retain(|call| {
            number += 1;
            !own.contains(&(number - 1)) && !call.method.is_empty()
        });
    }

    fn channel(&mut self, line: &CapturedLine<'_>) -> Option<()> {
        let (names, words) = line.words.split_once(": ")?;
        let channel = value(names, "chand=")?;
        if let Some(uri) = words.strip_prefix("starting name resolution for ") {
            if uri.starts_with("xds:") && !self.targets.iter().any(|known| known == uri) {
                self.targets.push(uri.to_owned());
            }
            self.channels.insert(channel.to_owned(), uri.to_owned());
        } else if let Some(rest) = words.strip_prefix("creating subchannel wrapper ") {
            let (wrapper, rest) = rest.split_once(" for subchannel ")?;
            let subchannel = rest.split([',', ' ']).next()?;
            self.wrappers.insert(wrapper.to_owned(), subchannel.to_owned());
        } else if words.starts_with("processing connectivity change") {
            self.connectivity(channel, words, line.at)?;
        } else if let Some(call) = value(names, "lb_call=") {
            self.lb_call(call, words, line)?;
        } else if let Some(call) = value(names, "calld=") {
            self.call((channel, call), words, line)?;
        }
        Some(())
    }

    fn call(&mut self, (channel, pointer): (&str, &str), words: &str, line: &CapturedLine<'_>) -> Option<()> {
        if words == "created call" {
            self.calld.insert(pointer.to_owned(), self.calls.len());
            self.calls.push(LoggedRpc {
                began: line.at,
                target: channel.to_owned(),
                ..LoggedRpc::default()
            });
            return Some(());
        }
        let number = *self.calld.get(pointer)?;
        let call = self.calls.get_mut(number)?;
        if let Some(metadata) = words
            .split_once("SEND_INITIAL_METADATA{")
            .filter(|_| call.method.is_empty())
        {
            headers(metadata.1.split_once('}')?.0, call);
            let uri = self.channels.get(channel);
            let is_own = call.method.starts_with("/envoy.service.") || call.method.starts_with("/grpc.lookup.");
            // A channel that was made before the log began may be an xDS channel; its target is
            // unknown then.
            if is_own || uri.is_some_and(|uri| !uri.starts_with("xds:")) {
                self.own.insert(number);
            }
        } else if let Some((_, why)) = words.split_once("CANCEL:") {
            // The RPC's own deadline, or the application, has cancelled it.
            call.code = why.split([':', ' ']).next().and_then(Code::from_name);
        } else if words.starts_with("creating dynamic call stack") {
            self.last.insert(line.thread.to_owned(), number);
        } else if let Some(rest) = words.strip_prefix("got recv_trailing_metadata_ready: error=") {
            call.ended = Some(line.at);
            if let Some(uri) = self.channels.get(channel) {
                call.target.clone_from(uri);
            }
            let code = rest.split([':', ' ']).next().and_then(Code::from_name)?;
            if code != Code::Ok || call.code.is_none() {
                // Without the retry trace, OK may hide a status that came with the trailers.
                let of_attempt = call.attempts.last().and_then(|attempt| attempt.code);
                call.code = if code == Code::Ok { of_attempt } else { Some(code) };
            }
            self.calld.remove(pointer);
        }
        Some(())
    }

    fn lb_call(&mut self, pointer: &str, words: &str, line: &CapturedLine<'_>) -> Option<()> {
        if words == "created" {
            let number = *self.last.get(line.thread)?;
            let call = self.calls.get_mut(number)?;
            self.lb_calls.insert(pointer.to_owned(), (number, call.attempts.len()));
            return Some(());
        }
        let (number, attempt) = *self.lb_calls.get(pointer)?;
        let call = self.calls.get_mut(number)?;
        if let Some(wrapper) = words.strip_prefix("LB pick succeeded: subchannel=") {
            let subchannel = self.wrappers.get(wrapper.trim_end());
            let address = subchannel
                .and_then(|subchannel| self.subchannels.get(subchannel))
                .copied();
            self.lacks_addresses |= address.is_none() && !self.own.contains(&number);
            call.picked.get_or_insert(line.at);
            if call.attempts.len() <= attempt {
                call.attempts.resize(attempt + 1, CapturedAttempt::default());
            }
            call.attempts.get_mut(attempt)?.address = address;
        } else if words.starts_with("LB pick failed") || words.starts_with("LB pick dropped") {
            call.picked.get_or_insert(line.at);
        }
        Some(())
    }

    fn retry(&mut self, line: &CapturedLine<'_>) -> Option<()> {
        let (names, words) = line.words.split_once(": ")?;
        let pointer = value(names, "calld=")?;
        if words == "created call" {
            let number = *self.last.get(line.thread)?;
            self.retried.insert(pointer.to_owned(), number);
        } else if let Some(lb_call) = words.strip_prefix("created attempt, lb_call=") {
            let number = *self.retried.get(pointer)?;
            let next = self.calls.get(number)?.attempts.len();
            self.lb_calls.insert(lb_call.trim_end().to_owned(), (number, next));
            self.attempts
                .insert(value(names, "attempt=")?.to_owned(), (number, next));
        } else if let Some(rest) = words.strip_prefix("call finished, status=") {
            let (number, attempt) = *self.attempts.get(value(names, "attempt=")?)?;
            let code = rest.split(' ').next().and_then(Code::from_name);
            let call = self.calls.get_mut(number)?;
            if let Some(attempt) = call.attempts.get_mut(attempt) {
                attempt.code = code;
            }
            call.code = code;
        }
        Some(())
    }

    /// Reads a line such as `subchannel 0x1 {address=ipv4:10.0.0.1:80, args={...}}: words`.
    fn subchannel(&mut self, words: &str) -> Option<()> {
        let (pointer, rest) = words.strip_prefix("subchannel ")?.split_once(" {address=")?;
        let address = address(rest.split_once(',')?.0)?;
        if self.subchannels.get(pointer) != Some(&address) {
            self.subchannels.insert(pointer.to_owned(), address);
        }
        Some(())
    }

    fn connectivity(&mut self, channel: &str, words: &str, at: i64) -> Option<()> {
        if !self.channels.get(channel)?.starts_with("xds:") {
            return None;
        }
        let subchannel = words.split_once(" subchannel 0x")?.1.split(' ').next()?;
        let address = *self.subchannels.get(&format!("0x{subchannel}"))?;
        let state = words.split_once(" state=")?.1;
        let (state, why) = state.split_once(' ').unwrap_or((state, ""));
        let state = Connectivity::from_name(state)?;
        // Each channel, and each policy, has a wrapper of its own that reports the same connection.
        if self.states.insert(address, state) != Some(state) {
            let is_silent = why.contains("time out") || why.contains("timed out");
            self.connections.push(ConnectionChange {
                at,
                address,
                state,
                is_silent,
            });
        }
        Some(())
    }
}

/// Returns the value of a name in a text such as `chand=0x1 calld=0x2`.
fn value<'w>(names: &'w str, name: &str) -> Option<&'w str> {
    names.split(' ').find_map(|word| word.strip_prefix(name))
}

/// Reads an address such as `ipv4:10.0.0.1:80` or `ipv6:%5B::1%5D:80`.
fn address(text: &str) -> Option<SocketAddr> {
    let text = text.strip_prefix("ipv4:").or_else(|| text.strip_prefix("ipv6:"))?;
    text.replace("%5B", "[").replace("%5D", "]").parse().ok()
}

/// The text that the log has in place of a value (C-core metadata_batch.h `LogRedacted`...).
const HIDDEN: &str = "bytes redacted for security reasons.";

/// Reads a list such as `:path: /a.B/C, WaitForReady: false, user: 3 bytes redacted for security
/// reasons.`
fn headers(metadata: &str, call: &mut LoggedRpc) {
    for pair in metadata.split(", ") {
        // The name of a pseudo-header begins with a colon.
        let Some((name, value)) = pair.get(1..).and_then(|rest| rest.split_once(": ")) else {
            continue;
        };
        let name = pair.get(..name.len() + 1).unwrap_or_default();
        match name {
            ":path" => value.clone_into(&mut call.method),
            "WaitForReady" => call.waits = value.starts_with("true"),
            "user-agent" | "te" | "content-type" => {}
            // What the client's own filters keep in the metadata is named after a type.
            name if name.starts_with(|c: char| c == ':' || c.is_ascii_uppercase()) || name.starts_with("grpc-") => {}
            name if value.ends_with(HIDDEN) => call.hidden.push(name.to_owned()),
            name => call.headers.push((name.to_owned(), value.to_owned())),
        }
    }
}
