//! Sharing one data directory: other processes reach the server that holds it by a Unix socket in the directory.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_proto::Server;
use mcp_proto::stdio::{self, StdioConfig};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};

/// The socket's name in the data directory.
pub const SOCKET: &str = "universe.sock";

/// The most processes that share a server; one more waits for a place.
const MAX_PEERS: usize = 64;

/// An open socket. Dropping it ends every connection and removes the socket.
pub(super) struct Shared {
    task: AbortHandle,
    path: PathBuf,
}

/// Opens the socket. A directory whose path is too long for one is served all the same, but not shared.
pub(super) fn start(dir: &Path, server: Server, config: StdioConfig) -> Option<Shared> {
    let path = dir.join(SOCKET);
    match bind(&path) {
        Ok(listener) => {
            let task = tokio::spawn(accept(listener, server, config)).abort_handle();
            Some(Shared { task, path })
        }
        Err(error) => {
            tracing::warn!(%error, socket = %path.display(), "other processes cannot share this server");
            None
        }
    }
}

/// The stream to the server that holds the directory.
pub(super) async fn connect(dir: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(dir.join(SOCKET)).await
}

fn bind(path: &Path) -> io::Result<UnixListener> {
    // Whoever holds the directory's lock owns the name; what lies there is left over from a crash.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

async fn accept(listener: UnixListener, server: Server, config: StdioConfig) {
    let places = Arc::new(Semaphore::new(MAX_PEERS));
    let mut peers = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_ended) = peers.join_next() => continue,
        };
        match accepted {
            Ok((stream, _address)) => {
                let server = server.clone();
                peers.spawn(async move {
                    let (reader, writer) = stream.into_split();
                    if let Err(error) = stdio::serve(server, reader, writer, config).await {
                        tracing::debug!(%error, "a process that shared this server went away");
                    }
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a process could not join");
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.task.abort();
        // Still ours: the directory's lock is held until the store is closed.
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, "the socket was gone already");
        }
    }
}
