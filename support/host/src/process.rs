//! Process settings of a server with untrusted clients: the allocator, file descriptors, threads.
//!
//! The C library's allocator keeps what was freed, for each thread: a server that held 400 MiB for an attacker kept 580
//! MiB afterwards. mimalloc gives it back, and on Linux C code uses it, too: the C library reserves 64 MiB of address
//! space for each thread that allocates. Huge pages are off: clearing 2 MiB delays other requests, and a few bytes in
//! use keep a whole page.

use std::cell::Cell;
use std::hint::black_box;
use std::time::{Duration, Instant};

// For its headers, which `c/purge.c` needs.
use libmimalloc_sys as _;
use mimalloc::MiMalloc;
use tokio::runtime::{Builder, Handle, Runtime};

/// Gives memory back to the system soon after it is freed, so that a server does not keep memory that one client made
/// it allocate. (The C library's allocator keeps it for each thread.) How soon is set in `c/purge.c`.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How many threads do blocking work at once. Further work waits.
const BLOCKING_THREADS: usize = 64;

/// How long such a thread waits for further work. While it is idle, memory that it freed is not given back.
const IDLE_THREAD: Duration = Duration::from_secs(2);

/// How often freed memory is given back, even while the server is idle.
const TIDY: Duration = Duration::from_secs(1);

/// After how many blocks the allocator searches the memory of its thread for empty pages, and gives back those that
/// have been free for a while.
const BLOCKS: usize = 10_000;

/// Gives freed memory back now and then, forever.
///
/// The allocator does this on threads that allocate. An idle worker would keep the pages that other threads freed:
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

/// Allocates so often that the allocator gives pages back: some 200 microseconds, once in a while for each thread.
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
    let raised =
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    if let Err(error) = raised {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(crate) const fn raise_file_limit() {}
