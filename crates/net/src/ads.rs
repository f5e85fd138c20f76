//! Asks a control plane as a client does: on one stream, in state-of-the-world or Delta form.

mod held;
mod response;
mod stream;
pub(crate) mod subscriber;
mod subscription;
mod words;

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::ControlFlow;

use bytes::Bytes;
use tokio::time::Instant;
use xdsctl_model::resource::ResourceType;

use crate::dump::{self, DumpOrigin, DumpedClient};
use crate::error::Error;
use crate::fetch::{self, Fetched, StreamEvent};
use crate::options::DEFAULT_TIMEOUT;
use crate::{Address, FetchOptions, connect};
use stream::AdsStream;
use subscriber::{Subscriber, SubscriberAnswer};

/// The pause before each further answer to a control plane that keeps sending what was rejected.
const NACK_PAUSE: std::time::Duration = std::time::Duration::from_secs(1);

/// A stream, and what has arrived on it.
pub struct AdsSession<'o> {
    address: &'o Address,
    options: &'o FetchOptions,
    node: Bytes,
    subscriber: Subscriber,
    stream: AdsStream<'o>,
    /// The time by which everything that was asked for must be there.
    deadline: Instant,
    /// Delayed answers to responses that are sent again and again after a rejection, at most one
    /// for each type, with the time to send it.
    late: BTreeMap<ResourceType, (Instant, SubscriberAnswer)>,
}

impl<'o> AdsSession<'o> {
    /// Connects to a management server, and asks for the first resources.
    pub async fn open(address: &'o Address, options: &'o FetchOptions) -> Result<AdsSession<'o>, Error> {
        let mut subscriber = Subscriber::new(address, options)?;
        let node = crate::node::node(address, options)?;
        let requests = subscriber.start(&node);
        let deadline = Instant::now() + options.timeout;
        let stream = AdsStream::open(address, options, requests, subscriber.is_delta);
        let stream = match tokio::time::timeout_at(deadline, fetch::interruptible(stream)).await {
            Ok(stream) => stream?,
            Err(_) => return Err(fetch::late(address, options, "no connection".to_owned())),
        };
        Ok(AdsSession {
            address,
            options,
            node,
            subscriber,
            stream,
            deadline,
            late: BTreeMap::new(),
        })
    }

    /// Says whether no resource has come.
    pub fn is_empty(&self) -> bool {
        self.subscriber.is_empty()
    }

    /// Reads responses until everything that was asked for is there.
    pub async fn until_complete(&mut self, told: &mut dyn FnMut(StreamEvent)) -> Result<(), Error> {
        while !self.subscriber.is_complete() {
            match tokio::time::timeout_at(self.deadline, self.step(told)).await {
                Ok(taken) => _ = taken?,
                Err(_) if self.subscriber.is_silent() || !self.subscriber.has_all_types() => {
                    let missing = self.subscriber.missing().join(", ");
                    return Err(fetch::late(self.address, self.options, self.unanswered(&missing)));
                }
                // A client takes a resource for which it has waited so long as not existing.
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Returns what was asked for in vain, with possible reasons.
    fn unanswered(&self, missing: &str) -> String {
        if self.subscriber.is_silent() && !self.stream.is_grpc() {
            return format!("asked for {missing}, nothing was answered");
        }
        match self.subscriber.has_unanswered_type() {
            true => format!(
                "asked for {missing}, not answered. A gRPC client waits like this too, and then takes it for not existing. {}",
                words::OF_ADS_CACHE
            ),
            false => missing.to_owned(),
        }
    }

    /// Returns the next response. Meanwhile sends delayed answers that are due.
    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let due = self.late.iter().map(|(of, (at, _))| (*at, *of)).min();
            let pause = async {
                match due {
                    Some((at, of)) => {
                        tokio::time::sleep_until(at).await;
                        of
                    }
                    None => std::future::pending().await,
                }
            };
            let of = tokio::select! {
                response = self.stream.next(self.address, self.options) => return response,
                of = pause => of,
            };
            if let Some((_, answer)) = self.late.remove(&of) {
                self.stream.send(self.subscriber.request(answer)).await;
            }
        }
    }

    /// Reads one response. Says whether it changed anything.
    async fn step(&mut self, told: &mut dyn FnMut(StreamEvent)) -> Result<bool, Error> {
        // A server that never pauses must not keep the deadline and Ctrl-C from being checked.
        tokio::task::yield_now().await;
        let Some(response) = self.next().await? else {
            let missing = self.subscriber.missing().join(", ");
            let why = format!("the stream ended before everything was there: {missing}");
            return Err(Error::no_answer(self.address, why));
        };
        let now = (self.options.now)();
        let taken = self.subscriber.take(&response, now);
        let taken = taken.map_err(|why| Error::malformed(self.address, why))?;
        let limit = self.options.max_message_bytes;
        if self.subscriber.held_bytes() > limit {
            return Err(Error::Limit(format!(
                "`{}` has sent resources of more than {limit} bytes: --max-size raises that",
                self.address
            )));
        }
        let of = taken.answer.resource_type;
        self.late.remove(&of);
        if taken.repeats < 2 {
            taken.told.into_iter().for_each(told);
            self.stream.send(self.subscriber.request(taken.answer)).await;
        } else {
            self.late.insert(of, (Instant::now() + NACK_PAUSE, taken.answer));
        }
        for request in taken.requests {
            self.stream.send(request).await;
        }
        Ok(taken.has_changed)
    }

    /// Writes the dump of what has arrived.
    pub fn write(&self, mut origin: DumpOrigin, out: &mut dyn Write, failure: Option<Error>) -> Result<Fetched, Error> {
        origin.responses = self.subscriber.responses();
        let client = DumpedClient {
            bare: self.subscriber.bare(&self.node),
            deprecated: &Vec::new(),
            entries: &self.subscriber.shown(),
        };
        let written = dump::write(&[client], &origin, self.options, out).map_err(Error::Output)?;
        let mut fetched = fetch::of_written(written);
        let missing = self.subscriber.missing();
        if !missing.is_empty() && failure.is_none() {
            let hint = match self.subscriber.has_unanswered_type() {
                true => format!(". {}", words::OF_ADS_CACHE),
                false => String::new(),
            };
            fetched.notes.push(format!(
                "asked for {}, not answered within {} s: a gRPC client waits {} s, and then takes it for not existing{hint}",
                missing.join(", "),
                self.options.timeout.as_secs_f64(),
                DEFAULT_TIMEOUT.as_secs()
            ));
        }
        fetched.lost_targets = self.subscriber.lost_targets();
        fetched.failure = failure;
        Ok(fetched)
    }
}

/// Keeps the stream open. `changed` gets the dump when everything is there, and after each later
/// response that changes something.
pub async fn watch(
    address: &Address,
    options: &FetchOptions,
    changed: &mut dyn FnMut(Vec<u8>) -> ControlFlow<()>,
    told: &mut dyn FnMut(StreamEvent),
) -> Result<(), Error> {
    let mut session = AdsSession::open(address, options).await?;
    session.until_complete(told).await?;
    let (mut attempt, mut notes) = (0, Vec::new());
    loop {
        let mut text = Vec::new();
        let written = session.write(fetch::origin(address, options), &mut text, None)?;
        if notes != written.notes {
            notes = written.notes;
            let line = |note: &String| StreamEvent {
                line: note.clone(),
                is_rejection: false,
            };
            notes.iter().map(line).for_each(&mut *told);
        }
        if changed(text).is_break() {
            return Ok(());
        }
        loop {
            match session.step(told).await {
                Ok(true) if session.subscriber.is_complete() => break,
                Ok(_) => attempt = 0,
                // A new stream would reach the same limit.
                Err(error @ Error::Limit(_)) => return Err(error),
                Err(error) => {
                    told(StreamEvent {
                        line: format!("{error}; trying again"),
                        is_rejection: false,
                    });
                    attempt += 1;
                    tokio::time::sleep(connect::pause(attempt)).await;
                    let requests = session.subscriber.start(&session.node);
                    if let Ok(stream) = AdsStream::open(address, options, requests, session.subscriber.is_delta).await {
                        session.stream = stream;
                        session.late.clear();
                    }
                }
            }
        }
    }
}
