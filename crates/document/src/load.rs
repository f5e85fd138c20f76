//! Reads documents and gives one answer for each resource. One thread reads; the others call the
//! caller's function for each resource.
//!
//! The reader transcodes into batches of about a hundred kilobytes, and joins the resources of
//! small documents into one batch. Workers take the batches, call the caller's function and drop
//! the resources. The answers are put back into the order of the documents, so they do not depend
//! on the number of threads. The queue is short. When it is full, or nothing is left to read, the
//! reader works on a batch itself. So memory stays bounded and no thread waits, on one core as on
//! many.

use std::mem::take;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TrySendError, sync_channel};
use std::sync::{Mutex, OnceLock};
use std::thread::{ScopedJoinHandle, available_parallelism, scope};

use crate::envelope::{BATCH_BYTES, BATCH_RESOURCES, Emit, Loader, RawResource};

/// The number of batches that may wait for a worker.
const QUEUE: usize = 8;

/// The number of things that a thread takes at a time.
const PART: usize = 100;

/// The result of a run.
#[derive(Debug)]
pub struct Loaded<T> {
    /// The caller's answers, in the order of the resources in the documents.
    pub results: Vec<T>,
    /// Everything else that was read: worlds, findings on documents, bootstraps.
    pub loader: Loader,
}

/// A batch with its position in the order.
type Batch = (usize, Vec<RawResource>);

/// Answers with the position of their batch.
type Answers<T> = Vec<(usize, Vec<T>)>;

/// Reads documents with `read` and calls `work` for each resource that `read` emits.
///
/// `threads` is the total number of threads, at least 1; `None` means as many as the machine can
/// run at once. No thread is started for less than two batches. `work` must not depend on the order
/// of calls.
///
/// ```
/// use xdsctl_document::source::SourceMap;
/// let mut sources = SourceMap::new();
/// let text = br#"{"resources": [{"@type": "t/envoy.config.cluster.v3.Cluster", "name": "a"}]}"#;
/// let id = sources.add("-", text.to_vec());
/// let loaded = xdsctl_document::load::run(
///     None,
///     |loader, emit| loader.json(id, sources.get(id).unwrap().bytes(), Default::default(), emit),
///     |resource| resource.bytes.map(|bytes| bytes.len()),
/// );
/// assert_eq!(loaded.results, [Some(3)]);
/// assert!(loaded.loader.findings.is_empty());
/// ```
pub fn run<T: Send>(
    threads: Option<usize>,
    read: impl FnOnce(&mut Loader, Emit<'_>),
    work: impl Fn(RawResource) -> T + Sync,
) -> Loaded<T> {
    go_on(Loader::new(), threads, read, |resource, (): &mut ()| work(resource))
}

/// Returns the number of processors that this process may use. The number is cached, because
/// finding it out reads a dozen small files of the system, which takes longer than checking one
/// line of a stream.
pub fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| available_parallelism().map_or(1, |count| count.get()))
}

/// Reads more documents with a loader that has read some; see [`run`]. The results are only those
/// of the new documents.
///
/// `work` also gets a state that it can change, which is shared by the resources of one batch.
/// `work` must not depend on the order of batches.
pub fn go_on<T: Send, B: Default>(
    mut loader: Loader,
    threads: Option<usize>,
    read: impl FnOnce(&mut Loader, Emit<'_>),
    work: impl Fn(RawResource, &mut B) -> T + Sync,
) -> Loaded<T> {
    let work = |batch: Vec<RawResource>| {
        let mut left = B::default();
        batch
            .into_iter()
            .map(|resource| work(resource, &mut left))
            .collect::<Vec<T>>()
    };
    let threads = threads.unwrap_or_else(processors);
    let (sender, receiver) = sync_channel::<Batch>(QUEUE);
    let receiver = Mutex::new(receiver);
    let answer = |(index, batch): Batch| (index, work(batch));
    // Takes batches until there will be no more.
    let take_all = || {
        std::iter::from_fn(|| next(&receiver))
            .map(answer)
            .collect::<Answers<T>>()
    };
    let answers = scope(|scope| {
        let mut answers = Vec::new();
        let mut workers = Vec::new();
        let mut first = None;
        let mut count = 0;
        let mut hand_on = |resources| {
            let batch = (count, resources);
            count += 1;
            if threads < 2 {
                answers.push(answer(batch));
            } else if count == 1 {
                // Small inputs end here. For them, starting a thread does not pay.
                first = Some(batch);
            } else {
                while workers.len() < threads - 1 {
                    workers.push(scope.spawn(take_all));
                }
                for batch in first.take().into_iter().chain([batch]) {
                    if let Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) = sender.try_send(batch) {
                        answers.push(answer(batch));
                    }
                }
            }
        };
        let mut gathered = Gathered::default();
        read(&mut loader, &mut |resources| {
            gathered.add(resources).into_iter().for_each(&mut hand_on);
        });
        if !gathered.resources.is_empty() {
            hand_on(gathered.resources);
        }
        answers.extend(first.map(answer));
        drop(sender);
        // This thread works on the batches that still wait, beside the workers.
        answers.extend(take_all());
        workers.into_iter().fold(answers, joined)
    });
    loader.close();
    let results = in_order(answers);
    Loaded { results, loader }
}

/// Calls `work` for each of some things, and returns the results in their order.
///
/// As many threads as the machine can run at once take parts of a hundred things each.
pub fn in_parts<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let parts: Vec<&[T]> = all.chunks(PART).collect();
    let next = AtomicUsize::new(0);
    let run = || {
        let mut answers = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(number) else {
                return answers;
            };
            answers.push((number, part.iter().map(&work).collect::<Vec<R>>()));
        }
    };
    let answers = scope(|scope| {
        let others = processors().min(parts.len()).saturating_sub(1);
        let others: Vec<_> = (0..others).map(|_| scope.spawn(run)).collect();
        others.into_iter().fold(run(), joined)
    });
    in_order(answers)
}

/// Returns `answers` and those of a worker, once it has ended.
fn joined<T>(mut answers: Answers<T>, worker: ScopedJoinHandle<'_, Answers<T>>) -> Answers<T> {
    match worker.join() {
        Ok(more) => answers.extend(more),
        Err(panic) => resume_unwind(panic),
    }
    answers
}

/// Returns the answers in the order of their batches.
fn in_order<T>(mut answers: Answers<T>) -> Vec<T> {
    answers.sort_by_key(|(index, _)| *index);
    let mut results = Vec::with_capacity(answers.iter().map(|(_, results)| results.len()).sum());
    for (_, mut some) in answers {
        results.append(&mut some);
    }
    results
}

/// Resources of one or several documents that do not fill a batch yet.
#[derive(Default)]
struct Gathered {
    resources: Vec<RawResource>,
    bytes: usize,
}

impl Gathered {
    /// Adds resources. Returns all of them once they fill a batch.
    fn add(&mut self, more: Vec<RawResource>) -> Option<Vec<RawResource>> {
        let bytes = more.iter().filter_map(|resource| resource.bytes.as_ref());
        self.bytes += bytes.map(|bytes| bytes.len()).sum::<usize>();
        if self.resources.is_empty() {
            self.resources = more;
        } else {
            self.resources.extend(more);
        }
        let is_batch = self.bytes >= BATCH_BYTES || self.resources.len() >= BATCH_RESOURCES;
        is_batch.then(|| take(self).resources)
    }
}

/// Takes the next batch. Returns `None` when there will be no more.
fn next(receiver: &Mutex<Receiver<Batch>>) -> Option<Batch> {
    // A worker panics outside of the lock, so it is never poisoned.
    receiver.lock().ok()?.recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceMap;

    #[test]
    fn parts_come_in_order() {
        let all: Vec<usize> = (0..10 * PART + 1).collect();
        assert_eq!(in_parts(&all, |number| number + 1), (1..=all.len()).collect::<Vec<_>>());
        assert!(in_parts(&[], |number: &usize| *number).is_empty());
    }

    #[test]
    fn the_answer_does_not_depend_on_the_number_of_threads() {
        let name = |i: usize| format!("{i}{}", "x".repeat(300));
        let resources: Vec<String> = (0..20_000)
            .map(|i| {
                format!(
                    r#"{{"@type":"t/envoy.config.cluster.v3.Cluster","name":"{}"}}"#,
                    name(i)
                )
            })
            .collect();
        let mut sources = SourceMap::new();
        let id = sources.add("-", format!("[{}]", resources.join(",\n")).into_bytes());
        let text = sources.get(id).unwrap().bytes();
        let answer = |threads| {
            run(
                Some(threads),
                |loader, emit| loader.json(id, text, Default::default(), emit),
                |resource| resource.bytes.unwrap(),
            )
            .results
        };
        let one = answer(1);
        assert_eq!(one.len(), 20_000);
        assert!(one.iter().enumerate().all(|(i, b)| b.ends_with(name(i).as_bytes())));
        assert_eq!(one, answer(2));
        assert_eq!(one, answer(5));
    }
}
