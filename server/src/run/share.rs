//! Sharing one data directory: the server that holds it answers other processes on its [socket](crate::socket).

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::Server;
use mcp_proto::stdio::{self, StdioConfig};
use service_host::UntilStopped;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::care::Online;
use crate::http::App;
use crate::socket::SOCKET;
use crate::socket::wire::{self, First};

/// The socket's name until its mode is set. It is not longer than the final name, since socket paths must be short.
const UNREADY: &str = "universe.new";

/// The most processes that share a server. Further ones are refused.
const MAX_PEERS: usize = 64;

/// The longest time that a peer may take to receive its last answers, in addition to the drain time of its calls.
const FAREWELL_TIME: Duration = Duration::from_secs(1);

/// Whether the holder releases the directory to a server that listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tenure {
    /// The holder serves one client and can also relay for it.
    Yields,
    /// The holder itself listens.
    Keeps,
}

/// An open socket.
pub(super) struct Shared {
    task: JoinHandle<()>,
    closing: CancellationToken,
    asked: CancellationToken,
}

/// The data that every connection needs.
#[derive(Clone)]
struct Host {
    server: Server,
    config: StdioConfig,
    tenure: Tenure,
    online: Online,
    app: App,
    closing: CancellationToken,
    asked: CancellationToken,
}

/// Opens the socket. If the path of the directory is too long for a socket, the directory is served but not shared.
pub(super) fn start(
    dir: &Path,
    server: Server,
    config: StdioConfig,
    tenure: Tenure,
    online: Online,
    app: App,
) -> Option<Shared> {
    let (closing, asked) = (CancellationToken::new(), CancellationToken::new());
    let host = Host {
        server,
        config,
        tenure,
        online,
        app,
        closing: closing.clone(),
        asked: asked.clone(),
    };
    match bind(dir) {
        Ok(listener) => {
            let task = tokio::spawn(host.serve(listener, dir.join(SOCKET)));
            Some(Shared { task, closing, asked })
        }
        Err(error) => {
            tracing::warn!(%error, dir = %dir.display(), "other processes cannot share this server");
            None
        }
    }
}

/// Binds the socket. The holder of the directory's lock owns the names, so existing files are left over from a crash.
fn bind(dir: &Path) -> io::Result<UnixListener> {
    let unready = dir.join(UNREADY);
    match std::fs::remove_file(&unready) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&unready)?;
    // It gets its final name only once it is private to its owner.
    std::fs::set_permissions(&unready, Permissions::from_mode(0o600))?;
    std::fs::rename(&unready, dir.join(SOCKET))?;
    Ok(listener)
}

impl Host {
    /// Accepts connections until closing. Then gives the open connections time to finish.
    async fn serve(self, listener: UnixListener, path: PathBuf) {
        let places = Arc::new(Semaphore::new(MAX_PEERS));
        let mut peers = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = self.closing.cancelled() => break,
                Some(_ended) = peers.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _address)) => match Arc::clone(&places).try_acquire_owned() {
                    Ok(place) => {
                        let host = self.clone();
                        peers.spawn(async move {
                            if let Err(error) = host.serve_peer(stream).await {
                                tracing::debug!(%error, "a process that shared this server went away");
                            }
                            drop(place);
                        });
                    }
                    Err(_full) => turn_away(stream).await,
                },
                Err(error) => {
                    tracing::warn!(%error, "a process could not join");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
        drop(listener);
        self.app.end_feeds();
        // Still owned by this process, because the directory's lock is held until the store is closed later.
        if let Err(error) = std::fs::remove_file(&path) {
            tracing::debug!(%error, "the socket was gone already");
        }
        let ended = async { while peers.join_next().await.is_some() {} };
        if timeout(self.config.drain_time + FAREWELL_TIME, ended).await.is_err() {
            tracing::warn!("processes that shared this server did not take its last answers");
        }
    }

    async fn serve_peer(self, mut stream: UnixStream) -> io::Result<()> {
        let first = tokio::select! {
            () = self.closing.cancelled() => return Ok(()),
            first = wire::first(&mut stream) => first?,
        };
        if let First::Care = first {
            stream.write_all(wire::ACCEPTED).await?;
            return tokio::select! {
                () = self.closing.cancelled() => Ok(()),
                served = self.online.serve(stream) => served,
            };
        }
        if let First::Rest = first {
            stream.write_all(wire::ACCEPTED).await?;
            let served = self.app.serve_local(stream, self.closing).await;
            return served.map_err(io::Error::other);
        }
        let (reader, mut writer) = stream.into_split();
        let rest = match first {
            First::Handover if self.tenure == Tenure::Yields => {
                writer.write_all(wire::ACCEPTED).await?;
                self.asked.cancel();
                return Ok(());
            }
            First::Handover => return writer.write_all(wire::KEPT).await,
            First::Join(rest) => {
                writer.write_all(wire::ACCEPTED).await?;
                rest
            }
            First::Other(rest) => rest,
            First::Care | First::Rest => return Ok(()),
        };
        let input = UntilStopped::new(io::Cursor::new(rest).chain(reader), self.closing);
        stdio::serve(self.server, input, &mut writer, self.config).await?;
        if self.asked.is_cancelled() {
            writer.write_all(wire::LEAVING).await?;
        }
        Ok(())
    }
}

async fn turn_away(mut stream: UnixStream) {
    tracing::warn!(max = MAX_PEERS, "one process too many wanted to join");
    let line = wire::refusal(&format!(
        "{MAX_PEERS} processes share this server, and more it does not take: end one and try again"
    ));
    // A new connection's buffer can hold one line.
    let _ = timeout(FAREWELL_TIME, stream.write_all(line.as_bytes())).await;
}

impl Shared {
    /// Cancelled when a server that listens has asked for the directory and this process has agreed to release it.
    pub(super) fn asked(&self) -> CancellationToken {
        self.asked.clone()
    }

    /// Accepts no more processes. Gives running calls time to finish.
    pub(super) fn stop(&self) {
        self.closing.cancel();
    }

    /// [`stop`](Self::stop), and waits until every connection has ended.
    pub(super) async fn close(self) {
        self.stop();
        if let Err(error) = self.task.await {
            tracing::error!(%error, "sharing the server failed");
        }
    }
}
