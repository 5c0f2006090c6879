//! Doing the same with many things at once: what waits for a disk, or takes a processor's time, is shared out.

use std::num::NonZero;
use std::thread;

/// The most threads that one call has.
const MAX_THREADS: usize = 4;

/// The fewest things that are worth a separate thread: starting one takes as long as reading about ten files.
const SHARE: usize = 64;

/// What `work` makes of each of `items`, in their order. Few of them are done one after the other, many by several
/// threads.
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
                // It panicked there, and will here, where it is the caller's.
                Err(_) => done.extend(share.iter().map(work)),
            }
        }
    });
    done
}
