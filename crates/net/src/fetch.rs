//! Fetches once or watches: runs the runtime, and handles the deadline, Ctrl-C and SIGTERM.

use std::io::Write;
use std::ops::ControlFlow;

use crate::dump::{self, DumpCounts, DumpOrigin, DumpedClient};
use crate::error::Error;
use crate::messages::Timestamp;
use crate::{Address, FetchOptions, ServerKind, ads, csds, envoy};

/// Something that happened on a stream, as one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEvent {
    /// The line, for standard error.
    pub line: String,
    /// Whether a resource was rejected.
    pub is_rejection: bool,
}

/// The result of a fetch.
#[derive(Debug, Default)]
pub struct Fetched {
    /// The number of entries in the dump; `None` if they were not counted.
    pub entries: Option<usize>,
    /// Notes for the reader: names without a resource, and what masking has lost.
    pub notes: Vec<String>,
    /// Targets whose Listener the control plane does not have.
    pub lost_targets: Vec<String>,
    /// Why the dump is not complete.
    pub failure: Option<Error>,
}

/// Fetches once and writes the dump to `out`.
///
/// If an ADS stream fails, what has arrived until then is written if [`FetchOptions::is_partial`]
/// says so, and [`Fetched::failure`] has the error. `told` is called for each response.
///
/// # Errors
/// Nothing has arrived, or writing to `out` fails.
pub fn fetch(
    address: &Address,
    options: &FetchOptions,
    out: &mut dyn Write,
    told: &mut dyn FnMut(StreamEvent),
) -> Result<Fetched, Error> {
    run(async {
        let origin = origin(address, options);
        match address.kind {
            ServerKind::Ads => {
                let mut session = ads::AdsSession::open(address, options).await?;
                let failure = interruptible(session.until_complete(told)).await.err();
                match failure {
                    Some(failure) if session.is_empty() => Err(failure),
                    Some(failure) if !options.is_partial => Ok(Fetched {
                        failure: Some(failure),
                        ..Fetched::default()
                    }),
                    failure => session.write(origin, out, failure),
                }
            }
            ServerKind::Csds => {
                let clients = limited(address, options, "no answer", csds::fetch(address, options)).await?;
                let clients: Vec<DumpedClient<'_>> = clients.iter().map(DumpedClient::of).collect();
                let written = dump::write(&clients, &origin, options, out).map_err(Error::Output)?;
                Ok(of_written(written))
            }
            ServerKind::Envoy => {
                limited(address, options, "no answer", envoy::fetch(address, options, out)).await?;
                Ok(Fetched::default())
            }
        }
    })
}

/// Fetches again and again. `changed` gets each new dump: from ADS when a response has changed
/// something, from other systems when a poll differs from the last. Ends when `changed` says so, or
/// with Ctrl-C or SIGTERM.
///
/// # Errors
/// The first fetch fails. Later failures are reported through `told`, and the fetch is tried again.
pub fn watch(
    address: &Address,
    options: &FetchOptions,
    changed: &mut dyn FnMut(Vec<u8>) -> ControlFlow<()>,
    told: &mut dyn FnMut(StreamEvent),
) -> Result<(), Error> {
    run(async {
        if address.kind == ServerKind::Ads {
            return interruptible(ads::watch(address, options, changed, told)).await;
        }
        let mut before: Option<Vec<u8>> = None;
        loop {
            let fetched = poll(address, options);
            match interruptible(limited(address, options, "no answer", fetched)).await {
                Ok((body, text)) => {
                    if before.as_ref() != Some(&body) {
                        before = Some(body);
                        if changed(text).is_break() {
                            return Ok(());
                        }
                    }
                }
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) if before.is_none() => return Err(error),
                Err(error) => told(StreamEvent {
                    line: error.to_string(),
                    is_rejection: false,
                }),
            }
            interruptible(async {
                tokio::time::sleep(POLL_INTERVAL).await;
                Ok(())
            })
            .await?;
        }
    })
}

/// The time between two polls of a system that does not report changes.
const POLL_INTERVAL: std::time::Duration = std::time::Duration::from_secs(2);

/// Returns what to compare with the previous poll, and the dump.
async fn poll(address: &Address, options: &FetchOptions) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let mut text = Vec::new();
    if address.kind == ServerKind::Envoy {
        envoy::fetch(address, options, &mut text).await?;
        return Ok((text.clone(), text));
    }
    let clients = csds::fetch(address, options).await?;
    let clients: Vec<DumpedClient<'_>> = clients.iter().map(DumpedClient::of).collect();
    dump::write(&clients, &origin(address, options), options, &mut text).map_err(Error::Output)?;
    let mut body = Vec::new();
    dump::write(&clients, &DumpOrigin::default(), options, &mut body).map_err(Error::Output)?;
    Ok((body, text))
}

pub(crate) fn of_written(written: DumpCounts) -> Fetched {
    let mut notes = Vec::new();
    if written.lossy > 0 {
        notes.push(format!(
            "{} resources hold secrets and bytes that JSON cannot hold: they are written without those bytes, --raw keeps them",
            written.lossy
        ));
    }
    Fetched {
        entries: Some(written.entries),
        notes,
        ..Fetched::default()
    }
}

pub(crate) fn origin(address: &Address, options: &FetchOptions) -> DumpOrigin {
    let mut printer = xdsctl_document::proto::print::Printer::new(false);
    let now = Timestamp::of_millis((options.now)());
    printer.named(&prost::Message::encode_to_vec(&now), "google.protobuf.Timestamp");
    DumpOrigin {
        source: address.text.clone(),
        fetched: printer.text().trim_matches('"').to_owned(),
        responses: Vec::new(),
    }
}

/// Runs a task to its end on this thread, and its connections on another one, so that the next
/// response arrives while this one is validated.
pub(crate) fn run<T>(task: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    // This fails if another part of the process has chosen a provider, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(Error::Start)?;
    let (tell, ended) = tokio::sync::watch::channel(false);
    let result = runtime.block_on(async {
        let told = told_to_end();
        tokio::spawn(async move {
            told.await;
            let _ = tell.send(true);
        });
        ENDED.scope(ended, task).await
    });
    // A name lookup that is still running must not delay the end.
    runtime.shutdown_background();
    result
}

tokio::task_local! {
    /// Whether the process was told to end since [`run`] began, also between two interruptible
    /// tasks.
    static ENDED: tokio::sync::watch::Receiver<bool>;
}

/// Listens from now on for Ctrl-C, and for SIGTERM, with which service managers and `kill` end a
/// process. Ends at the first of them.
fn told_to_end() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let signals = {
        use tokio::signal::unix::{SignalKind, signal};
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    };
    async move {
        #[cfg(unix)]
        if let (Ok(mut interrupted), Ok(mut terminated)) = signals {
            tokio::select! {
                _ = interrupted.recv() => {}
                _ = terminated.recv() => {}
            }
            return;
        }
        let _ = tokio::signal::ctrl_c().await;
    }
}

/// Ends when the process has been told to end, or at once if it was told before.
pub(crate) async fn ended() {
    let mut ended = ENDED.with(Clone::clone);
    let _ = ended.wait_for(|ended| *ended).await;
}

/// Runs the task, unless Ctrl-C or SIGTERM comes first.
pub(crate) async fn interruptible<T>(task: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::select! {
        result = task => result,
        () = ended() => Err(Error::Interrupted),
    }
}

/// Runs the task, unless the time limit, Ctrl-C or SIGTERM comes first.
async fn limited<T>(
    address: &Address,
    options: &FetchOptions,
    missing: &str,
    task: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match interruptible(async { Ok(tokio::time::timeout(options.timeout, task).await) }).await? {
        Ok(result) => result,
        Err(_) => Err(late(address, options, missing.to_owned())),
    }
}

pub(crate) fn late(address: &Address, options: &FetchOptions, missing: String) -> Error {
    Error::Late {
        address: address.text.clone(),
        seconds: options.timeout.as_secs_f64(),
        missing,
    }
}
