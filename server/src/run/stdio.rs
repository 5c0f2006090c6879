//! Serving MCP on stdin and stdout: over its own store, or through the server that holds the data directory.
//!
//! Each desktop client starts its own server process. The first one holds the directory; the others relay their lines
//! to it. When it ends, because its client was closed, one of the others becomes the holder and the rest relay to that
//! one. A server that listens comes first: a process that serves one client gives it the directory and relays to it.
//! Their clients only see an error for requests that were running at that moment.
//!
//! A daemon in the background would be left behind by its client, and to refuse the second client would be a nuisance.
//! Because a server that listens gets the directory, a supervisor can restart it while clients are open.

use std::io;
use std::time::Duration;

use mcp_proto::StreamableHttpService;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::backend::Backend;
use super::relay::{Client, End};
use super::share::{self, Tenure};
use super::{PATIENCE, RETRY_PAUSE, RunError, stop_signal};
use crate::config::{Arguments, Config};
use crate::http::App;
use crate::mcp;
use crate::socket;
use crate::store::sqlite::OpenError;

/// How long a directory is left to the server that asked for it before this process takes it again.
const GRACE: Duration = Duration::from_secs(3);

/// The size of the buffer in each direction between a client and a server in this process, in bytes.
const PIPE_BYTES: usize = 256 * 1024;

/// Serves the client until it ends or the process is stopped.
pub(super) async fn run(arguments: &Arguments, config: &Config) -> Result<(), RunError> {
    let stop = stop_signal()?;
    let mut client = Client::new(config, stop.clone());
    let mut hold_from = Instant::now();
    let mut patience = hold_from + PATIENCE;
    loop {
        let mut end = None;
        if Instant::now() >= hold_from {
            match Backend::open(arguments, config).await {
                Ok(backend) => end = Some(serve(backend, arguments, config, &mut client).await?),
                Err(RunError::Open(OpenError::InUse { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        if end.is_none() {
            let joined = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                joined = socket::join(&config.data_dir) => joined,
            };
            match joined {
                Ok(stream) => {
                    tracing::info!(dir = %config.data_dir.display(), "joined the server that holds the data directory");
                    let (reader, writer) = stream.into_split();
                    // The relay is left when that server ends, and not before.
                    end = Some(client.relay(reader, writer, &CancellationToken::new()).await?);
                }
                Err(error) if Instant::now() > patience => {
                    return Err(RunError::Join {
                        dir: config.data_dir.display().to_string(),
                        socket: socket::SOCKET.to_owned(),
                        error,
                    });
                }
                Err(_) => {}
            }
        }
        match end {
            Some(End::Client) => return Ok(()),
            Some(End::Succeeded) => {
                hold_from = Instant::now() + GRACE;
                patience = hold_from + PATIENCE;
            }
            Some(End::Server) => {
                // The server that asked for the directory has had its turn, so there is no need to wait.
                hold_from = Instant::now();
                patience = hold_from + PATIENCE;
            }
            None => tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(RETRY_PAUSE) => {}
            },
        }
    }
}

/// Holds the directory for the client and for processes that join.
async fn serve(
    backend: Backend,
    arguments: &Arguments,
    config: &Config,
    client: &mut Client,
) -> Result<End, RunError> {
    let server = mcp::stdio_server(backend.service.clone(), arguments.tools())?;
    if arguments.read_only {
        server.hide_writing_tools();
    }
    let app = App::new(
        backend.service.clone(),
        StreamableHttpService::with_config(server.clone(), config.mcp.clone()),
        config.rest.clone(),
    );
    let shared = match backend.online() {
        Some(online) => {
            tracing::info!(dir = %config.data_dir.display(), "holding the data directory");
            let (dir, server) = (&config.data_dir, server.clone());
            share::start(dir, server, config.stdio, Tenure::Yields, online, app)
        }
        None => None,
    };
    let leave = match &shared {
        Some(shared) => shared.asked(),
        None => CancellationToken::new(),
    };
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    let (reader, writer) = tokio::io::split(far);
    let serving = tokio::spawn(mcp_proto::stdio::serve(server, reader, writer, config.stdio));
    let (reader, writer) = tokio::io::split(near);
    let end = tokio::select! {
        end = client.relay(reader, writer, &leave) => end,
        () = backend.failed() => Err(RunError::Store),
    };
    serving.abort();
    if let Some(shared) = shared {
        shared.close().await;
    }
    backend.close().await;
    match end? {
        End::Client => Ok(End::Client),
        _ if leave.is_cancelled() => {
            tracing::info!(dir = %config.data_dir.display(), "gave the data directory to a server that listens");
            Ok(End::Succeeded)
        }
        // The server must not end before its input.
        _ => Err(io::Error::from(io::ErrorKind::BrokenPipe).into()),
    }
}
