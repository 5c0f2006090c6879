//! What a server among strangers sets up for its process: the allocator, file descriptors, threads.

use std::time::Duration;

use mimalloc::MiMalloc;
use tokio::runtime::{Builder, Runtime};

/// Gives memory back to the system soon after it is freed: what one client made a server hold is not held for ever. (The
/// C library's keeps it for each thread.)
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How many threads do blocking work at once. Further work waits.
const BLOCKING_THREADS: usize = 64;

/// How long such a thread waits for further work: while it is idle, what it freed is not given back.
const IDLE_THREAD: Duration = Duration::from_secs(2);

/// How often memory that was freed is given back, also while nothing happens: the allocator does so when a large block
/// is freed.
const TIDY: Duration = Duration::from_secs(1);

/// Gives freed memory back now and then, for ever.
pub(crate) async fn give_memory_back() {
    let mut ticks = tokio::time::interval(TIDY);
    loop {
        ticks.tick().await;
        drop(std::hint::black_box(vec![1_u8; 1024 * 1024]));
    }
}

/// A runtime for a server's whole life.
pub(crate) fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .enable_all()
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

/// Elsewhere there is no such limit.
#[cfg(not(unix))]
pub(crate) const fn raise_file_limit() {}
