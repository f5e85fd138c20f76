//! The RPCs of `pick` and `begin`: what is sent, how often, at which rate, from which cookie jar.

use std::net::SocketAddr;

use super::value::{Located, address, contradict, flag, seconds, text, wrong};
use crate::sim::Rpc;
use xdsctl_document::source::node::JsonNode;
use xdsctl_lb::runtime::Time;

/// The highest rate, in RPCs per second.
pub const MAX_RATE: f64 = 1e6;

/// The members of the object that describes RPCs.
pub(super) const MEMBERS: [&str; 9] = [
    "method",
    "headers",
    "count",
    "timeout",
    "wait_for_ready",
    "rate",
    "for",
    "jar",
    "session",
];

/// A number of RPCs that are all alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Sending {
    /// The RPC, without the cookies of the jar.
    pub rpc: Rpc,
    /// How many RPCs are sent.
    pub count: u64,
    /// How many RPCs begin each second, whether or not earlier ones have ended; `None` to send one
    /// after the other.
    pub rate: Option<f64>,
    /// The name of the jar from which the RPCs get cookies, and into which their answers put them.
    pub jar: Option<String>,
    /// The address of the endpoint with which the RPCs have a session.
    pub session: Option<SocketAddr>,
}

impl Sending {
    /// When the RPC of this number begins, in milliseconds after the first one.
    pub fn offset(&self, number: u64) -> Time {
        // A cast of a float to an integer saturates.
        self.rate.map_or(0, |rate| (number as f64 * 1000.0 / rate) as i64)
    }
}

/// Reads RPCs. `most` is how many there may be, as a number and in words.
pub(super) fn read(node: &JsonNode, most: (u64, &'static str)) -> Result<Sending, Located> {
    let mut rpc = Rpc::default();
    if let Some(method) = node.get("method") {
        let text = method.text().filter(|text| text.starts_with('/'));
        text.ok_or_else(|| wrong("method", method, "a path like /package.Service/Method"))?
            .clone_into(&mut rpc.method);
    }
    if let Some(headers) = node.get("headers") {
        rpc.headers = pairs(headers).ok_or_else(|| wrong("headers", headers, "a list of pairs of texts"))?;
    }
    if let Some(ms) = seconds(node, "timeout")? {
        rpc.timeout_ms = Some(ms);
    }
    rpc.wait_for_ready = flag(node, "wait_for_ready")?;
    let rate = node.get("rate").map(rate).transpose()?;
    Ok(Sending {
        rpc,
        count: count(node, rate, most)?,
        rate,
        jar: text(node, "jar")?,
        session: node.get("session").map(|one| address("session", one)).transpose()?,
    })
}

fn rate(node: &JsonNode) -> Result<f64, Located> {
    let rate = node.number().filter(|rate| *rate > 0.0 && *rate <= MAX_RATE);
    rate.ok_or_else(|| wrong("rate", node, "a number of RPCs a second above 0, up to 1,000,000"))
}

fn count(node: &JsonNode, rate: Option<f64>, (most, wanted): (u64, &'static str)) -> Result<u64, Located> {
    match (node.get("count"), node.get("for")) {
        (Some(count), Some(_)) => Err(contradict("count", "for", count)),
        (Some(count), None) => {
            let number = count.whole().filter(|count| *count <= most);
            number.ok_or_else(|| wrong("count", count, wanted))
        }
        (None, Some(duration)) => {
            let ms = super::value::time("for", duration)?;
            let rate = rate.ok_or_else(|| wrong("for", duration, "beside a `rate`"))?;
            let number = (ms as f64 * rate / 1000.0).ceil();
            if number > most as f64 {
                return Err(wrong("for", duration, wanted));
            }
            Ok(number as u64)
        }
        (None, None) => Ok(1),
    }
}

/// Reads headers: an object by name, or a list of pairs. Names become lower case.
pub fn pairs(node: &JsonNode) -> Option<Vec<(String, String)>> {
    let lower = |name: &str| name.to_ascii_lowercase();
    if let Some(members) = node.map() {
        let pairs = members.iter();
        return pairs
            .map(|one| Some((lower(&one.name), one.node.word()?.to_owned())))
            .collect();
    }
    let pair = |pair: &JsonNode| match pair.list()? {
        [name, value] => Some((lower(name.text()?), value.text()?.to_owned())),
        _ => None,
    };
    node.list()?.iter().map(pair).collect()
}
