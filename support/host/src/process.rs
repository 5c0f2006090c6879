//! Process settings of a server with untrusted clients: the allocator, file descriptors, threads.

use std::cell::Cell;
use std::hint::black_box;
use std::time::{Duration, Instant};

// For its headers, which `c/purge.c` needs.
use libmimalloc_sys as _;
use mimalloc::MiMalloc;
use tokio::runtime::{Builder, Handle, Runtime};

/// Gives memory back to the system soon after it is freed: what one client made a server hold is not held for ever.
/// (The C library's keeps it for each thread.) How soon is set in `c/purge.c`.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How many threads do blocking work at once. Further work waits.
const BLOCKING_THREADS: usize = 64;

/// How long such a thread waits for further work: while it is idle, what it freed is not given back.
const IDLE_THREAD: Duration = Duration::from_secs(2);

/// How often memory that was freed is given back, also while nothing happens.
const TIDY: Duration = Duration::from_secs(1);

/// After how many blocks the allocator looks through what its thread has for pages on which nothing is left, and gives
/// back those that have been free for a while.
const BLOCKS: usize = 10_000;

/// Gives freed memory back now and then, for ever.
///
/// The allocator does so on threads that allocate. An idle worker would keep those of its pages that others freed:
/// after an attack of many small requests, 120 MiB instead of 10.
pub(crate) async fn give_memory_back() {
    let workers = Handle::current().metrics().num_workers();
    let mut ticks = tokio::time::interval(TIDY);
    loop {
        ticks.tick().await;
        // Which worker runs a task cannot be chosen: with twice as many tasks, idle workers take one within seconds.
        for _ in 0..2 * workers {
            tokio::spawn(async { tidy() });
        }
    }
}

/// Allocates so often that the allocator tidies up: some 200 microseconds, once in a while for each thread.
fn tidy() {
    thread_local! {
        static LAST: Cell<Option<Instant>> = const { Cell::new(None) };
    }
    if LAST.get().is_some_and(|last| last.elapsed() < TIDY / 2) {
        return;
    }
    for _ in 0..BLOCKS {
        // Smaller ones come from a separate list, which is not counted.
        drop(black_box(Vec::<u8>::with_capacity(2_048)));
    }
    LAST.set(Some(Instant::now()));
}

/// After how many steps a worker looks for tasks that wait for any worker, and for sockets that became ready. A flood
/// leaves a thousand tasks with the one queue that all share; where a worker takes one of them in 61 steps, as it does
/// by default, all clients that come after them wait for seconds.
const SHARED_QUEUE: u32 = 2;
const SOCKETS: u32 = 16;

/// A runtime for a server's whole life.
pub(crate) fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .enable_all()
        .global_queue_interval(SHARED_QUEUE)
        .event_interval(SOCKETS)
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_keep_alive(IDLE_THREAD)
        .build()
}

/// Lets the process open as many files as the system allows it: each connection is one.
#[cfg(unix)]
pub(crate) fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let raised = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        },
    );
    if let Err(error) = raised {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(crate) const fn raise_file_limit() {}
