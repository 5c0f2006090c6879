//! A client of MCP servers: over HTTP and HTTPS, to a child process, over any pair of byte streams, to a Unix socket,
//! and to a server in memory; in both eras. It detects the era.
//!
//! [`Client`] is a handle: clones share the connection, and everything that the client runs ends when the last clone is
//! dropped. Its methods are the calls of the protocol, typed; [`Client::request`] is untyped. A [`ClientConfig`] sets
//! the client's identity and bounds. The guide has [a page](guide::client) about clients.
//!
//! Every wait for a machine is bounded by [`ClientConfig::timeout`] or [`CallOptions`], and every message by
//! [`ClientConfig::max_message_bytes`]; waits for people are not bounded. The client never fetches anything that a
//! server names. It treats icons, links to resources, `$ref` of schemas and URLs of elicitations as text.

/// Runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;

mod answering;
#[cfg(feature = "oauth")]
pub mod authorize;
mod backoff;
mod cache;
mod calls;
mod clock;
mod config;
mod credentials;
mod error;
mod exchange;
mod form_defaults;
pub mod guide;
mod http;
mod hub;
mod listen;
mod lists;
mod locked;
mod mirror;
mod network;
mod options;
mod pipe;
mod pool;
mod proxy;
mod questions;
mod rounds;
mod settle;
mod speaking;
mod tasks;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "tls/none.rs"]
mod tls;
mod trust;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_proto::jsonrpc::Notification;
use mcp_proto::{Era, LogLevel, ProtocolVersion, Server};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;
use tokio::sync::{Semaphore, broadcast, oneshot, watch};

use self::http::HttpLink;
use hub::{NotificationHub, Owned};
use pipe::Pipe;
use speaking::Speaking;

pub use calls::{Reference, ToolResult};
pub use config::{ClientConfig, Stderr};
pub use credentials::{Credentials, MAX_TRIES, Refusal};
pub use error::ClientError;
use error::Result;
pub use hub::NOTIFICATIONS;
pub use listen::{Interest, ListenEvent, Listening};
pub use network::Network;
pub use options::{CallOptions, Progress};
pub use proxy::Proxy;
pub use questions::{Elicitation, ElicitationKind};
pub use speaking::ServerInfo;
pub use tasks::{Started, Task, TaskStatus};
pub use trust::Trust;

/// How long the client waits for the first stream of a legacy session.
const OPENING: Duration = Duration::from_secs(1);

/// A connected client. Clones share the connection; any number of calls may run at once.
#[derive(Debug, Clone)]
pub struct Client(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    link: Link,
    config: ClientConfig,
    next_id: AtomicI64,
    hub: Arc<NotificationHub>,
    speaking: watch::Sender<Arc<Speaking>>,
    /// Only one caller negotiates with the server at a time.
    settling: Semaphore,
    /// Only one caller subscribes or unsubscribes at a time.
    subscribing: Semaphore,
    /// The permits of [`ClientConfig::max_calls`].
    calls: Semaphore,
    /// The state to restore when a legacy session is lost.
    wishes: Mutex<Wishes>,
    /// The stream of a legacy session.
    stream: Owned,
}

/// What the caller wants from the server beyond a single call.
#[derive(Debug, Default)]
struct Wishes {
    level: Option<LogLevel>,
    /// The resources of a legacy session, and the number of listeners of each.
    subscribed: BTreeMap<String, usize>,
}

#[derive(Debug)]
enum Link {
    Http(Arc<HttpLink>),
    Pipe(Pipe),
}

impl Client {
    /// Connects to the endpoint at `url`, such as `https://example.com/mcp`, and detects its era, or opens the session
    /// of a legacy one. With a modern [`ClientConfig::version`] nothing is sent yet.
    ///
    /// # Errors
    /// [`ClientError`], including errors of the handshake.
    pub async fn http(url: &str, config: ClientConfig) -> Result<Self> {
        config.problem.clone().map_or(Ok(()), Err)?;
        let hub = NotificationHub::new(config.cache_bytes);
        let link = HttpLink::new(url, &config, Arc::clone(&hub))?;
        let client = Self::over(Link::Http(Arc::new(link)), config, hub);
        client.settle().await?;
        client.attend(false).await;
        Ok(client)
    }

    /// Starts a server as a child process and connects to its stdin and stdout. It gets its own process group (Unix),
    /// which is killed when the client is dropped; [`Client::close`] ends it gracefully. A process that reads the
    /// question for the modern era and exits is started a second time for the legacy one.
    ///
    /// # Errors
    /// [`ClientError`] if the process cannot be started or the handshake fails.
    pub async fn stdio(mut command: Command, config: ClientConfig) -> Result<Self> {
        let start = |command: &mut Command| {
            let hub = NotificationHub::new(config.cache_bytes);
            let pipe = Pipe::child(command, &config, Arc::clone(&hub))?;
            Ok(Self::over(Link::Pipe(pipe), config.clone(), hub))
        };
        let client = start(&mut command)?;
        let (client, settled) = match client.settle().await {
            Err(ClientError::Process { .. }) if config.version.is_none() && client.was_read() => {
                let client = start(&mut command)?;
                let terms = client.handshake(ProtocolVersion::LATEST_LEGACY).await;
                let settled = terms.map(|terms| client.settled(terms));
                (client, settled)
            }
            settled => (client, settled),
        };
        match (settled, &client.0.link) {
            (Err(error @ ClientError::Timeout(_)), Link::Pipe(pipe)) => Err(pipe.explained(error)),
            (settled, _) => settled.map(|()| client),
        }
    }

    fn was_read(&self) -> bool {
        matches!(&self.0.link, Link::Pipe(pipe) if pipe.was_read())
    }

    /// Connects over any pair of byte streams, with one message per line: a socket, the ends of a pipe, a tunnel.
    ///
    /// # Errors
    /// [`ClientError`] of the handshake.
    pub async fn streams(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        config: ClientConfig,
    ) -> Result<Self> {
        let hub = NotificationHub::new(config.cache_bytes);
        let pipe = Pipe::streams(reader, writer, &config, Arc::clone(&hub));
        Self::piped(pipe, config, hub).await
    }

    /// Connects to a server that accepts lines at a Unix socket, such as [`stdio::serve_unix`](mcp_proto::stdio).
    ///
    /// # Errors
    /// [`ClientError`] if the connection or the handshake fails.
    #[cfg(unix)]
    pub async fn unix(path: impl AsRef<std::path::Path>, config: ClientConfig) -> Result<Self> {
        let path = path.as_ref();
        let stream = tokio::net::UnixStream::connect(path).await;
        let stream = stream.map_err(|error| {
            ClientError::Connection(format!("the socket {}: {error}", path.display()))
        })?;
        let (reader, writer) = stream.into_split();
        Self::streams(reader, writer, config).await
    }

    /// Serves `server` in memory, by the same code as over stdin and stdout.
    ///
    /// # Errors
    /// [`ClientError`] of the handshake.
    pub async fn memory(server: Server, config: ClientConfig) -> Result<Self> {
        let hub = NotificationHub::new(config.cache_bytes);
        let pipe = Pipe::memory(server, &config, Arc::clone(&hub));
        Self::piped(pipe, config, hub).await
    }

    async fn piped(pipe: Pipe, config: ClientConfig, hub: Arc<NotificationHub>) -> Result<Self> {
        let client = Self::over(Link::Pipe(pipe), config, hub);
        client.settle().await?;
        Ok(client)
    }

    fn over(link: Link, config: ClientConfig, hub: Arc<NotificationHub>) -> Self {
        Self(Arc::new(Inner {
            link,
            next_id: AtomicI64::new(1),
            hub,
            speaking: watch::Sender::new(Arc::default()),
            settling: Semaphore::new(1),
            subscribing: Semaphore::new(1),
            calls: Semaphore::new(config.max_calls.clamp(1, Semaphore::MAX_PERMITS)),
            wishes: Mutex::default(),
            stream: Owned::default(),
            config,
        }))
    }

    /// Opens the stream of a legacy session if the caller wants it or the server may send something on it, and waits
    /// briefly for it.
    async fn attend(&self, is_wanted: bool) {
        let speaking = self.speaking();
        let Link::Http(link) = &self.0.link else {
            return;
        };
        let announces = |server: &ServerInfo| {
            let announced = [
                "tools/listChanged",
                "prompts/listChanged",
                "resources/listChanged",
                "resources/subscribe",
                "logging",
            ];
            announced.into_iter().any(|capability| server.can(capability))
        };
        let is_useful = is_wanted
            || !self.0.config.answers.is_empty()
            || speaking.server.as_ref().is_some_and(|server| announces(server));
        if !self.0.config.get_stream
            || !is_useful
            || speaking.era() == Era::Modern
            || self.is_closed()
            || self.0.stream.is_running()
        {
            return;
        }
        let (sender, opened) = oneshot::channel();
        let (link, weak) = (Arc::clone(link), Arc::downgrade(&self.0));
        let listening = http::listen(link, weak, self.0.speaking.subscribe(), sender);
        self.0.stream.own(tokio::spawn(listening));
        if self.is_closed() {
            self.0.stream.end();
        }
        // A server may hold back the head of its answer until it has something to send.
        let _ = tokio::time::timeout(OPENING, opened).await;
    }

    /// All notifications that the server sends from now on, including those of running requests. Bounded by
    /// [`NOTIFICATIONS`]; a receiver that lags gets an error with the number it missed. Notifications of a request
    /// arrive before its result.
    pub fn notifications(&self) -> broadcast::Receiver<Notification> {
        self.0.hub.subscribe()
    }

    /// The era of the connection.
    pub fn era(&self) -> Era {
        self.speaking().era()
    }

    /// Whether the connection has ended: by [`Client::close`], or with the process or the streams that it used. Over
    /// HTTP only [`Client::close`] ends it: a TCP connection that breaks is replaced.
    pub fn is_closed(&self) -> bool {
        self.0.hub.over_for().is_some()
    }

    /// Waits for the end of the connection, as [`Client::is_closed`] defines it, and returns the reason:
    /// [`ClientError::Closed`], or [`ClientError::Process`] with the exit status of a child process. Calls that are
    /// running then fail with it too.
    pub async fn closed(&self) -> ClientError {
        self.0.hub.ended().await
    }

    /// The last output of a child process on its stderr, except with [`Stderr::AsCommanded`].
    pub fn stderr(&self) -> Option<String> {
        match &self.0.link {
            Link::Pipe(pipe) => pipe.stderr(),
            Link::Http(_) => None,
        }
    }

    /// Ends the connection. A session is ended by DELETE. For a child process, stdin is closed; if it has not ended
    /// after [`ClientConfig::timeout`], it gets SIGTERM, and two seconds later it is killed. Calls fail from then on
    /// ([`ClientError::Closed`]).
    ///
    /// # Errors
    /// [`ClientError::Timeout`] when the server did not end by itself; [`ClientError::Http`] for a DELETE that failed.
    /// A server may decline it (405).
    pub async fn close(&self) -> Result<()> {
        let limit = self.0.config.timeout;
        let is_first = self.0.hub.over(ClientError::Closed);
        match &self.0.link {
            Link::Pipe(pipe) => pipe.close(limit).await,
            Link::Http(_) if !is_first => Ok(()),
            Link::Http(link) => {
                self.0.stream.end();
                tokio::time::timeout(limit, link.close(&self.speaking()))
                    .await
                    .map_err(|_| ClientError::Timeout(limit))?
            }
        }
    }

    fn is_http(&self) -> bool {
        matches!(self.0.link, Link::Http(_))
    }
}
