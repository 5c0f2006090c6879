//! Applies the same work to many items in parallel. It suits work that waits for a disk or needs processor time.

use std::num::NonZero;
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
    let mut done = Vec::with_capacity(items.len());
    thread::scope(|scope| {
        let mut shares = items.chunks(items.len().div_ceil(threads));
        let own = shares.next().unwrap_or_default();
        let others: Vec<_> = shares
            .map(|share| {
                let results = move || share.iter().map(work).collect::<Vec<R>>();
                (share, scope.spawn(results))
            })
            .collect();
        done.extend(own.iter().map(work));
        for (share, other) in others {
            match other.join() {
                Ok(results) => done.extend(results),
                // It panicked there. Here it panics again, in the caller's thread.
                Err(_) => done.extend(share.iter().map(work)),
            }
        }
    });
    done
}
