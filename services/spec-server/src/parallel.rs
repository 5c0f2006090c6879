//! Applies the same work to many items in parallel. It suits work that waits for a disk or needs processor time.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// The most threads of one call.
const MAX_THREADS: usize = 4;

/// The fewest items per thread: starting a thread takes as long as reading about ten files.
const SHARE: usize = 64;

/// The results of `work` for each of `items`, in their order. A few items are processed one after the other, many by
/// several threads.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = processors.min(MAX_THREADS).min(items.len() / SHARE);
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    let work = &work;
    thread::scope(|scope| {
        let shares = items.chunks(items.len().div_ceil(threads));
        let shares = shares.map(|share| scope.spawn(move || share.iter().map(work).collect()));
        let shares: Vec<_> = shares.collect();
        let done = shares.into_iter().map(|share| share.join());
        done.flat_map(|done: thread::Result<Vec<R>>| {
            done.unwrap_or_else(|panic| resume_unwind(panic))
        })
        .collect()
    })
}
