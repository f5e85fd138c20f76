//! Streams of out-of-band load reports: one for each connection from which somebody wants reports
//! (A51, A58).
//!
//! A stream has the shortest period that anybody has asked for since it exists; it does not become
//! longer when a longer period would do. Follows C-core oob_backend_metric.cc `OrcaProducer`.

use std::collections::{BTreeMap, BTreeSet};

use crate::endpoint::Address;
use crate::policy::TreePath;

/// A stream of reports, as the policies want it to be.
#[derive(Debug, Default)]
struct ReportStream {
    period_ms: Option<i64>,
    /// The number of the stream, so that reports of earlier streams are not mistaken for its own.
    serial: u64,
    watchers: BTreeSet<(TreePath, u32)>,
}

/// All streams, by the address of their connection.
#[derive(Debug, Default)]
pub struct LoadStreams {
    by_address: BTreeMap<Address, ReportStream>,
    next_serial: u64,
    /// Streams that are to begin.
    starts: Vec<Address>,
}

impl LoadStreams {
    fn start(&mut self, address: &Address) {
        if let Some(stream) = self.by_address.get_mut(address) {
            self.next_serial += 1;
            stream.serial = self.next_serial;
            self.starts.push(address.clone());
        }
    }

    /// Notes that an endpoint of a policy wants reports from an address, at least one per period.
    pub fn watch(&mut self, address: &Address, at: &TreePath, endpoint: u32, period_ms: i64) {
        let stream = self.by_address.entry(address.clone()).or_default();
        stream.watchers.insert((at.clone(), endpoint));
        if stream.period_ms.is_none_or(|period| period_ms < period) {
            stream.period_ms = Some(period_ms);
            self.start(address);
        }
    }

    /// Notes that an endpoint of a policy wants no more reports from an address.
    pub fn unwatch(&mut self, address: &Address, at: &TreePath, endpoint: u32) {
        if let Some(stream) = self.by_address.get_mut(address) {
            stream.watchers.remove(&(at.clone(), endpoint));
            if stream.watchers.is_empty() {
                self.by_address.remove(address);
            }
        }
    }

    /// Notes that there is a connection to an address.
    pub fn connected(&mut self, address: &Address) {
        if !self.by_address.is_empty() {
            self.start(address);
        }
    }

    /// Returns the address and number of the streams that are to begin since the last call, if
    /// there is a connection.
    pub fn take_starts(&mut self) -> Vec<(Address, u64)> {
        let starts = std::mem::take(&mut self.starts);
        let serial = |address: &Address| self.by_address.get(address).map(|stream| stream.serial);
        let mut list: Vec<_> = starts
            .iter()
            .filter_map(|address| Some((address.clone(), serial(address)?)))
            .collect();
        list.dedup();
        list
    }

    /// Returns the period of a stream in milliseconds, and the endpoints that listen to it. Returns
    /// `None` if the stream has ended.
    pub fn stream(&self, address: &Address, serial: u64) -> Option<(i64, Vec<(TreePath, u32)>)> {
        let stream = self.by_address.get(address).filter(|stream| stream.serial == serial)?;
        Some((stream.period_ms?, stream.watchers.iter().cloned().collect()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_shorter_period_begins_a_stream_anew_and_a_longer_one_does_not() {
        let address = &Address::new("10.0.0.1:80".parse().unwrap());
        let at: TreePath = Arc::from([1]);
        let mut streams = LoadStreams::default();
        streams.connected(address);
        assert!(streams.take_starts().is_empty());
        streams.watch(address, &at, 0, 1000);
        assert_eq!(streams.take_starts(), [(address.clone(), 1)]);
        streams.watch(address, &at, 1, 5000);
        assert!(streams.take_starts().is_empty());
        streams.watch(address, &at, 1, 200);
        assert_eq!(streams.take_starts(), [(address.clone(), 2)]);
        assert_eq!(streams.stream(address, 1), None);
        streams.unwatch(address, &at, 1);
        assert_eq!(streams.stream(address, 2), Some((200, vec![(at.clone(), 0)])));
        streams.unwatch(address, &at, 0);
        assert_eq!(streams.stream(address, 2), None);
        streams.watch(address, &at, 0, 1000);
        assert_eq!(streams.stream(address, 3).map(|(period, _)| period), Some(1000));
    }
}
