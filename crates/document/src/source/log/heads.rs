//! Responses for which C-core logs the head, and then each resource separately:
//! `received ADS response: type_url=envoy.config.cluster.v3.Cluster, version=2, nonce=3,
//! num_resources=1, num_errors=0`.

use memchr::memmem;

use super::line_start;
use crate::source::Span;

/// The words before a head.
const WORDS: &[u8] = b"received ADS response: type_url=";

/// The head of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'b> {
    /// The line of the head and everything up to the next head.
    pub span: Span,
    /// The type of the response's resources, without a host.
    pub type_name: &'b str,
    /// The nonce of the response.
    pub nonce: &'b str,
}

/// Returns the heads of responses, in order.
pub fn heads(bytes: &[u8]) -> Vec<Head<'_>> {
    let mut heads: Vec<Head<'_>> = Vec::new();
    for at in memmem::find_iter(bytes, WORDS) {
        let rest = bytes.get(at + WORDS.len()..).unwrap_or_default();
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let Some((type_name, nonce)) = std::str::from_utf8(line).ok().and_then(read) else {
            continue;
        };
        let start = line_start(bytes, at);
        if let Some(before) = heads.last_mut() {
            before.span.end = start;
        }
        heads.push(Head {
            span: Span::new(start, bytes.len()),
            type_name,
            nonce,
        });
    }
    heads
}

fn read(line: &str) -> Option<(&str, &str)> {
    let (type_name, rest) = line.split_once(", version=")?;
    let (_, nonce) = rest.split_once(", nonce=")?;
    Some((type_name, nonce.split_once(", num_resources=")?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_head_reaches_to_the_next() {
        let log = "I1 xds_client.cc:1] [xds_client 0x1] xds server a: received ADS response: type_url=a.B, version=x, y, nonce=7, num_resources=1, num_errors=0\nI2 x\n\
            I3 xds_client.cc:1] received ADS response: type_url=broken\n\
            I4 xds_client.cc:1] received ADS response: type_url=a.C, version=, nonce=, num_resources=0, num_errors=0";
        let found = heads(log.as_bytes());
        let second = log.find("I4").unwrap();
        assert_eq!(
            found,
            [
                Head {
                    span: Span::new(0, second),
                    type_name: "a.B",
                    nonce: "7"
                },
                Head {
                    span: Span::new(second, log.len()),
                    type_name: "a.C",
                    nonce: ""
                }
            ]
        );
    }
}
