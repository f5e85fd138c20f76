//! What connections and backends do.
//!
//! Connections succeed within a few milliseconds, are refused sooner, or hang. A backend answers
//! with its own address, as its [`Backend`] says; request headers script it too: `x-fail: CODE:N`
//! fails the first N attempts, `x-fail-late` does so after the response headers, `x-hold: SECONDS`
//! answers late, `x-pushback: MS` asks for a delay before a retry.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use super::lookups::Lookups;
use crate::client::config::lookup_address;
use xdsctl_lb::endpoint::Address;
use xdsctl_lb::policy::{LoadReport, LookupResult};
use xdsctl_lb::runtime::Lookup;
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::rng::Rng;
use xdsctl_model::status::{Code, Status};

/// The shortest time from the start of an attempt to connect to the connection.
pub const CONNECT_MS: i64 = 1;

/// The shortest time from the start of an attempt to connect to its refusal. A connection takes
/// longer, because it needs another round trip.
pub const REFUSAL_MS: i64 = 0;

/// How much longer an attempt to connect may take, at random.
pub const CONNECT_JITTER_MS: u64 = 2;

/// Time from the start of a call to its answer.
pub const ANSWER_MS: i64 = 1;

/// How long an attempt that connects by itself waits for a connection (tonic-xds
/// cluster_discovery.rs `ENDPOINT_CONNECT_TIMEOUT`).
pub const HANG_MS: i64 = 10_000;

/// Time from response headers to a late failure.
pub const LATE_MS: i64 = 50;

/// How an attempt to connect ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reachability {
    /// The backend accepts the connection.
    #[default]
    Accepts,
    /// The backend refuses the connection.
    Refuses,
    /// Nothing comes back until the client gives up.
    Hangs,
}

/// Makes the first attempts of every RPC fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Respond {
    /// The code with which these attempts end.
    pub code: Code,
    /// How many attempts of each RPC fail.
    pub times: u32,
}

/// How a backend answers the attempts that it gets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BackendAnswer {
    /// Time from the start of a call to its answer, in milliseconds; `None` for [`ANSWER_MS`].
    pub latency_ms: Option<i64>,
    /// The code with which attempts end; `None` for OK.
    pub code: Option<Code>,
    /// The share of the attempts that end with `code`, from 0 to 1. The others end with OK.
    pub share: f64,
}

/// How a call is lost before the server processes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The server says GOAWAY, and that it has not seen the call.
    Goaway,
    /// The server resets the stream: REFUSED_STREAM.
    RefusedStream,
    /// The connection ends before there is an answer.
    Close,
}

impl Loss {
    /// The status with which the attempt ends.
    pub fn status(self) -> Status {
        Status::unavailable(match self {
            Loss::Goaway => "Stream removed (GOAWAY received; Error code: 0; Debug Text: )",
            Loss::RefusedStream => "Stream removed (RST_STREAM (Received RST_STREAM with error code 7))",
            Loss::Close => SOCKET_CLOSED,
        })
    }
}

/// The text in the status of a connection that was not made.
pub const NOT_CONNECTED: &str = "Failed to connect to remote host";

/// The message of attempts whose connection ends.
pub const SOCKET_CLOSED: &str = "Stream removed (Socket closed)";

/// Calls that a backend does not process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unprocessed {
    /// How the calls are lost.
    pub by: Loss,
    /// How many more calls are lost.
    pub left: u64,
}

/// How a backend reports its load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reports {
    /// Whether the trailers of every answer have the report.
    pub in_trailers: bool,
    /// The shortest period of out-of-band reports, in milliseconds; `None` if the backend lacks
    /// this service.
    pub out_of_band: Option<i64>,
}

/// The shortest period of out-of-band load reports with which gRPC's own servers in C++, Java and
/// Go begin.
pub const MIN_REPORT_MS: i64 = 30_000;

impl Default for Reports {
    /// Reports in trailers and out of band, as often as a client may ask.
    fn default() -> Self {
        Reports {
            in_trailers: true,
            out_of_band: Some(MIN_REPORT_MS),
        }
    }
}

/// What is behind an address.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Backend {
    /// Time that an attempt to connect takes at least, in milliseconds; `None` for [`CONNECT_MS`].
    pub connect_ms: Option<i64>,
    /// The answer to calls of a method that `methods` does not have.
    pub answer: BackendAnswer,
    /// The calls that the backend does not process.
    pub unprocessed: Option<Unprocessed>,
    /// How the backend reports its load.
    pub reports: Reports,
    /// Answers by method, `/package.Service/Method`.
    pub methods: BTreeMap<String, BackendAnswer>,
}

/// The addresses and what is behind them. By default every address answers.
#[derive(Debug, Clone, Default)]
pub struct Network {
    /// What happens at addresses that are not named.
    pub default: Reachability,
    /// What happens at an address.
    pub addresses: BTreeMap<SocketAddr, Reachability>,
    /// How the first attempts of every RPC fail, unless headers say otherwise.
    pub respond: Option<Respond>,
    /// Load reports by address, sent with every answer.
    pub load: BTreeMap<String, Arc<LoadReport>>,
    /// What lookup services answer.
    pub lookups: Lookups,
    /// What is behind addresses that `backends` does not have.
    pub other_backends: Backend,
    /// What is behind an address.
    pub backends: BTreeMap<SocketAddr, Backend>,
}

/// An attempt that a backend gets.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// The backend's address.
    pub address: &'a SocketAddr,
    /// The RPC's method.
    pub method: &'a str,
    /// The RPC's metadata.
    pub headers: &'a [(String, String)],
    /// How many attempts of the RPC came before.
    pub previous: u32,
}

/// A backend's answer to an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Time until the answer, in milliseconds.
    pub after_ms: i64,
    /// The status with which the attempt ends; `None` for OK.
    pub status: Option<Status>,
    /// Whether the answer has response headers. If so, a failure is not retried.
    pub has_headers: bool,
    /// `grpc-retry-pushback-ms`.
    pub pushback: Option<String>,
    /// How the call was lost, if it was not processed.
    pub loss: Option<Loss>,
    /// Whether there was no connection on which to send the call.
    pub is_unconnected: bool,
}

impl Reply {
    /// Makes a failure without an answer.
    pub const fn failure(status: Status) -> Reply {
        Reply {
            after_ms: 0,
            status: Some(status),
            has_headers: false,
            pushback: None,
            loss: None,
            is_unconnected: false,
        }
    }
}

impl Network {
    /// A network where only these addresses answer.
    pub fn only(addresses: impl IntoIterator<Item = SocketAddr>) -> Network {
        Network {
            default: Reachability::Refuses,
            addresses: addresses
                .into_iter()
                .map(|address| (address, Reachability::Accepts))
                .collect(),
            ..Network::default()
        }
    }

    /// How an attempt to connect ends. `::ffff:1.2.3.4` leads to the same backend as `1.2.3.4`, and
    /// nothing listens on port 0.
    pub fn reach(&self, address: &SocketAddr) -> Reachability {
        if address.port() == 0 {
            return Reachability::Refuses;
        }
        at(&self.addresses, address).copied().unwrap_or(self.default)
    }

    /// What is behind an address.
    pub fn backend(&self, address: &SocketAddr) -> &Backend {
        // Most networks have no entry for a single backend, and each attempt asks for one.
        match self.backends.is_empty() {
            true => &self.other_backends,
            false => at(&self.backends, address).unwrap_or(&self.other_backends),
        }
    }

    /// The result of a lookup (RLS), and after how many milliseconds it comes. A service that is
    /// named by its address can be stopped as a backend can.
    pub fn look_up(&self, lookup: &Lookup) -> (i64, LookupResult) {
        match lookup_address(&lookup.service)
            .filter(|address| self.addresses.get(address) == Some(&Reachability::Refuses))
        {
            None => self.lookups.reply(lookup),
            Some(address) => {
                let refusal = Network::refusal(&Address::new(address), &Profile::default());
                let text = format!("failed to connect to all addresses; last error: {refusal}");
                (REFUSAL_MS, Arc::new(Err(Status::unavailable(text))))
            }
        }
    }

    /// How the next call to a backend is lost; `None` if the backend processes it.
    fn loses(&mut self, address: &SocketAddr) -> Option<Loss> {
        self.backend(address).unprocessed?;
        let key = match self.backends.contains_key(address) {
            true => *address,
            false => canonical(*address),
        };
        // Calls that `default` loses are counted for each address.
        let others = &self.other_backends;
        let backend = self.backends.entry(key).or_insert_with(|| others.clone());
        let unprocessed = backend
            .unprocessed
            .as_mut()
            .filter(|unprocessed| unprocessed.left > 0)?;
        unprocessed.left -= 1;
        Some(unprocessed.by)
    }

    /// How long an attempt to connect takes at least, in milliseconds.
    pub fn connect_ms(&self, address: &SocketAddr) -> i64 {
        self.backend(address).connect_ms.unwrap_or(CONNECT_MS)
    }

    /// The status of a refused connection.
    pub fn refusal(address: &Address, profile: &Profile) -> Status {
        if profile.has(Feature::FailuresHandedOn) {
            return dial_error(address, "connect: connection refused");
        }
        let text = "Connection refused";
        Status::new(Code::Unknown, format!("{}: {NOT_CONNECTED}: {text}", address.uri()))
    }

    /// The status of a connection that was not made in time.
    pub fn timeout(address: &Address, profile: &Profile) -> Status {
        if profile.has(Feature::FailuresHandedOn) {
            return dial_error(address, "i/o timeout");
        }
        let text = "connection attempt timed out before receiving SETTINGS frame";
        Status::unavailable(format!("{}: {NOT_CONNECTED}: {text}", address.uri()))
    }

    /// The result of an attempt that connects by itself. If nothing comes back, it ends as if the
    /// connection were refused, only later.
    pub fn reply_to_unconnected(&mut self, attempt: &Attempt<'_>, chance: &mut Rng) -> Reply {
        let after_ms = match self.reach(attempt.address) {
            Reachability::Accepts => return self.reply(attempt, chance),
            Reachability::Refuses => REFUSAL_MS,
            Reachability::Hangs => HANG_MS,
        };
        Reply {
            after_ms,
            is_unconnected: true,
            ..Reply::failure(Status::unavailable("tcp connect error"))
        }
    }

    /// What a backend answers to an attempt.
    pub fn reply(&mut self, attempt: &Attempt<'_>, chance: &mut Rng) -> Reply {
        if let Some(loss) = self.loses(attempt.address) {
            return Reply {
                after_ms: ANSWER_MS,
                loss: Some(loss),
                ..Reply::failure(loss.status())
            };
        }
        let Attempt { headers, previous, .. } = *attempt;
        let backend = self.backend(attempt.address);
        let answer = backend.methods.get(attempt.method).unwrap_or(&backend.answer);
        // The server reads headers into a dictionary, in which the last value counts.
        let header = |name: &str| {
            let mut values = headers.iter().rev().filter(|(key, _)| key == name);
            values.next().map(|(_, value)| value.as_str())
        };
        let hold = header("x-hold")
            .and_then(|text| text.parse::<f64>().ok())
            .unwrap_or(0.0);
        let mut reply = Reply {
            after_ms: answer.latency_ms.unwrap_or(ANSWER_MS) + (hold.clamp(0.0, 1e9) * 1000.0) as i64,
            status: None,
            has_headers: true,
            pushback: header("x-pushback").map(str::to_owned),
            loss: None,
            is_unconnected: false,
        };
        let scripted = |text: &str| {
            let (name, times) = text.split_once(':').unwrap_or((text, ""));
            let times = if times.is_empty() {
                1
            } else {
                times.parse().unwrap_or(1)
            };
            let code = Code::from_name(name)?;
            Some(Respond { code, times })
        };
        let at_once = header("x-fail").and_then(scripted).or(self.respond);
        let late = header("x-fail-late").and_then(scripted);
        for (respond, is_late) in [(at_once, false), (late, true)] {
            let Some(respond) = respond.filter(|respond| previous < respond.times) else {
                continue;
            };
            reply.status = Some(Status::new(respond.code, "scripted"));
            reply.has_headers = is_late;
            if is_late {
                reply.after_ms += LATE_MS;
            }
            break;
        }
        if let (None, Some(code)) = (&reply.status, answer.code)
            && (answer.share >= 1.0 || chance.unit() < answer.share)
        {
            reply.status = Some(Status::new(code, "scripted"));
            reply.has_headers = false;
        }
        reply
    }
}

/// The status of a failed connection, in clients that hand on the words of the dialer.
fn dial_error(address: &Address, why: &str) -> Status {
    let address = &address.text;
    let dialer = format!("transport: Error while dialing: dial tcp {address}: {why}");
    Status::unavailable(format!("connection error: desc = \"{dialer}\""))
}

/// The entry of a map for an address; `::ffff:1.2.3.4` counts as `1.2.3.4`.
fn at<'m, T>(map: &'m BTreeMap<SocketAddr, T>, address: &SocketAddr) -> Option<&'m T> {
    map.get(address).or_else(|| map.get(&canonical(*address)))
}

/// Makes one address of two that lead to the same backend: `::ffff:1.2.3.4` becomes `1.2.3.4`.
pub(super) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_listens_on_port_0() {
        let reach = |text: &str| Network::default().reach(&text.parse().unwrap());
        assert_eq!(reach("10.0.0.1:0"), Reachability::Refuses);
        assert_eq!(reach("10.0.0.1:1"), Reachability::Accepts);
    }

    #[test]
    fn headers_script_the_answer() {
        let mut network = Network::default();
        let mut chance = Rng::stream(0, "backend");
        let mut reply = |headers: &[(String, String)], previous| {
            let attempt = Attempt {
                address: &"10.0.0.1:80".parse().unwrap(),
                method: "/a.B/C",
                headers,
                previous,
            };
            network.reply(&attempt, &mut chance)
        };
        let headers = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        assert!(reply(&headers("x-fail-late", "ABORTED:1"), 0).has_headers);
        assert_eq!(reply(&headers("x-hold", "1.5"), 0).after_ms, 1501);
        let mut code = |headers: &[(String, String)], previous| reply(headers, previous).status.map(|s| s.code);
        let twice = headers("x-fail", "UNAVAILABLE:2");
        assert_eq!(code(&twice, 0), Some(Code::Unavailable));
        assert_eq!(code(&twice, 1), Some(Code::Unavailable));
        assert_eq!(code(&twice, 2), None);
        assert_eq!(code(&headers("x-fail", "ABORTED"), 1), None);
    }

    #[test]
    fn a_backend_answers_each_method_its_own_way() {
        let of_method = BackendAnswer {
            latency_ms: Some(20),
            code: Some(Code::Internal),
            share: 0.25,
        };
        let backend = Backend {
            methods: [("/a.B/Bad".to_owned(), of_method)].into(),
            ..Backend::default()
        };
        let address: SocketAddr = "10.0.0.1:80".parse().unwrap();
        let mut network = Network {
            backends: [(address, backend)].into(),
            ..Network::default()
        };
        let mut chance = Rng::stream(0, "backend");
        let mut replies = |address: &str, method| -> Vec<Reply> {
            let attempt = Attempt {
                address: &address.parse().unwrap(),
                method,
                headers: &[],
                previous: 0,
            };
            (0..1000).map(|_| network.reply(&attempt, &mut chance)).collect()
        };
        let failed = |replies: &[Reply]| replies.iter().filter(|reply| reply.status.is_some()).count();
        let bad = replies("[::ffff:10.0.0.1]:80", "/a.B/Bad");
        // 250 expected, a standard deviation is 14.
        assert!((208..=292).contains(&failed(&bad)), "{}", failed(&bad));
        assert!(bad.iter().all(|reply| reply.after_ms == 20));
        for others in [replies("10.0.0.1:80", "/a.B/Good"), replies("10.0.0.2:80", "/a.B/Bad")] {
            assert_eq!(failed(&others), 0);
        }
    }
}
