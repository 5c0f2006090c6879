//! The process setup of a server with untrusted clients: an allocator and a runtime that one client cannot monopolize,
//! and signals that end the process.

use std::error::Error;
use std::hint::black_box;
use std::io;
use std::time::Duration;

use mcp_proto::http::{ServeConfig, serve};
use mcp_proto::stdio::{self, StdioConfig};
use mcp_proto::{Server, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

/// Gives memory back to the system soon after it is freed, which not every allocator does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of blocks after which the allocator searches for empty pages.
const BLOCKS: usize = 10_000;

/// A runtime whose workers check their shared queue and the sockets more often than by default, so that after a flood
/// the messages of other clients are not handled last.
pub(super) fn runtime() -> io::Result<Runtime> {
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .global_queue_interval(2)
        .event_interval(16)
        .thread_keep_alive(Duration::from_secs(2))
        .build()?;
    runtime.spawn(give_memory_back(runtime.metrics().num_workers()));
    Ok(runtime)
}

/// Serves over HTTP until the process is asked to end.
pub(super) async fn on(
    listener: TcpListener,
    service: StreamableHttpService,
) -> Result<(), Box<dyn Error>> {
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    let closing = service.clone();
    let shutdown = async move {
        // Without a signal to wait for, the server runs until it is killed.
        if asked_to_end().await.is_err() {
            std::future::pending::<()>().await;
        }
        closing.close();
    };
    serve(listener, service, ServeConfig::default(), shutdown).await?;
    Ok(())
}

/// Serves on stdin and stdout, as `serve_stdio` does. When the process is asked to end, the input ends: running calls
/// finish, and subscriptions are answered.
pub(super) async fn on_pipes(server: Server) -> Result<(), Box<dyn Error>> {
    let (mut feed, input) = tokio::io::duplex(64 * 1024);
    let feeding = async move {
        let mut stdin = stdio::stdin();
        tokio::select! {
            copied = tokio::io::copy(&mut stdin, &mut feed) => copied.map(drop),
            asked = asked_to_end() => asked,
        }
    };
    let serving = stdio::serve(server, input, stdio::stdout(), StdioConfig::default());
    tokio::try_join!(feeding, serving)?;
    Ok(())
}

/// Ends when the process is asked to: by SIGINT, and by SIGTERM if the system has it.
async fn asked_to_end() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminated.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// Makes every worker allocate often enough, once a second, for the allocator to find the blocks of its pages that
/// other threads freed. An idle worker would keep them.
async fn give_memory_back(workers: usize) {
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    loop {
        seconds.tick().await;
        // Which worker runs a task cannot be chosen: with twice as many, each gets one within seconds.
        for _ in 0..2 * workers {
            tokio::spawn(async {
                for _ in 0..BLOCKS {
                    drop(black_box(Vec::<u8>::with_capacity(2_048)));
                }
            });
        }
    }
}
