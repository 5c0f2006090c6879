//! A small client, for tests, conformance runs and programs that embed one: over HTTP, to a child process, or to a
//! server in memory; both eras.
//!
//! It keeps the rules that bind a client (headers, `_meta`, the handshake, the order of shutting down) and leaves the
//! rest to the caller: there is no reconnecting. Every wait is bounded by
//! [`ClientConfig::timeout`].

mod answering;
#[cfg(feature = "oauth")]
pub mod authorize;
mod config;
mod credentials;
mod http;
mod mirror;
mod pipe;
mod pool;
mod rounds;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "client/tls/none.rs"]
mod tls;
mod trust;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::Command;
use tokio::sync::broadcast;

use self::http::HttpLink;
use crate::jsonrpc::{ErrorObject, Notification, Request, RequestId};
use crate::lifecycle::{META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_PROTOCOL_VERSION};
use crate::server::Server;
use crate::tool::Tool;
use crate::version::{Era, ProtocolVersion};
use pipe::Pipe;

pub use config::{ClientConfig, ClientError};
pub use credentials::{Credentials, MAX_TRIES, Refusal};
pub use trust::Trust;

/// How many notifications wait for a receiver of [`Client::notifications`]; one that lags more loses the oldest.
pub const NOTIFICATIONS: usize = 256;

/// The most pages that [`Client::list_tools`] follows.
const MAX_PAGES: usize = 1_000;

/// A connected client. Clones share the connection; any number of calls may run at once.
#[derive(Debug, Clone)]
pub struct Client(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    link: Link,
    config: ClientConfig,
    next_id: AtomicI64,
    notifications: broadcast::Sender<Notification>,
}

#[derive(Debug)]
enum Link {
    Http(Box<HttpLink>),
    Pipe(Pipe),
}

impl Client {
    /// Connects to the endpoint at `url`, such as `http://127.0.0.1:3000/mcp`. Opens the session in the legacy era;
    /// in the modern one nothing is sent yet.
    ///
    /// # Errors
    /// [`ClientError`], of the handshake too.
    pub async fn http(url: &str, config: ClientConfig) -> Result<Self, ClientError> {
        let notifications = broadcast::channel(NOTIFICATIONS).0;
        let link = HttpLink::new(url, &config, notifications.clone())?;
        Self::connect(Link::Http(Box::new(link)), config, notifications).await
    }

    /// Starts a server as a child process and speaks with it over its stdin and stdout. Its stderr stays the caller's
    /// unless the command says otherwise. Dropping the client kills it; [`Client::close`] is the polite way.
    ///
    /// # Errors
    /// [`ClientError`], of starting the process and of the handshake.
    pub async fn stdio(command: Command, config: ClientConfig) -> Result<Self, ClientError> {
        let notifications = broadcast::channel(NOTIFICATIONS).0;
        let pipe = Pipe::child(command, &config, notifications.clone())?;
        Self::connect(Link::Pipe(pipe), config, notifications).await
    }

    /// Serves `server` in memory, by the same code as over stdin and stdout.
    ///
    /// # Errors
    /// [`ClientError`] of the handshake.
    pub async fn memory(server: Server, config: ClientConfig) -> Result<Self, ClientError> {
        let notifications = broadcast::channel(NOTIFICATIONS).0;
        let pipe = Pipe::memory(server, &config, notifications.clone());
        Self::connect(Link::Pipe(pipe), config, notifications).await
    }

    async fn connect(
        link: Link,
        config: ClientConfig,
        notifications: broadcast::Sender<Notification>,
    ) -> Result<Self, ClientError> {
        let client = Self(Arc::new(Inner {
            link,
            config,
            next_id: AtomicI64::new(1),
            notifications,
        }));
        if client.0.config.version.era() == Era::Legacy {
            client.handshake().await?;
        }
        Ok(client)
    }

    async fn handshake(&self) -> Result<(), ClientError> {
        let config = &self.0.config;
        let params = json!({
            "protocolVersion": config.version,
            "capabilities": config.capabilities,
            "clientInfo": config.info,
        });
        let result = self.request("initialize", params).await?;
        let version = result
            .get("protocolVersion")
            .and_then(Value::as_str)
            .and_then(|version| version.parse::<ProtocolVersion>().ok())
            .filter(|version| version.era() == Era::Legacy)
            .ok_or_else(|| ClientError::Protocol(format!("initialize answered {result}")))?;
        if let Link::Http(link) = &self.0.link {
            link.negotiated(version);
        }
        self.notify("notifications/initialized", json!({})).await
    }

    /// Sends a request and waits for its result, which may be that the server needs input first
    /// (`input_required`, see [`Client::request_in_rounds`]), at most [`ClientConfig::timeout`]. Dropping the future gives the
    /// request up: in the modern era, and on stdio in both, the server is told.
    ///
    /// # Errors
    /// [`ClientError`]; [`ClientError::Rpc`] is the server's own.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value, ClientError> {
        self.request_within(method, params, self.0.config.timeout)
            .await
    }

    /// [`Client::request`] with a limit of its own, for what takes longer, such as `subscriptions/listen`.
    ///
    /// # Errors
    /// As for [`Client::request`].
    pub async fn request_within(
        &self,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Result<Value, ClientError> {
        let id = RequestId::Number(self.0.next_id.fetch_add(1, Ordering::Relaxed));
        let request = Request::new(id.clone(), method, self.with_meta(params));
        let call = async {
            match &self.0.link {
                Link::Http(link) => link.call(&request).await,
                Link::Pipe(pipe) => pipe.call(&request).await,
            }
        };
        match tokio::time::timeout(limit, call).await {
            Ok(response) => match response?.outcome {
                Ok(payload) => Ok(payload.to_value()),
                Err(error) => Err(ClientError::Rpc(error)),
            },
            Err(_) => {
                // A broken connection cancels everywhere but in the legacy era over HTTP, and `initialize` must not be
                // cancelled (MCP 2025-11-25, "Cancellation").
                if matches!(self.0.link, Link::Http(_))
                    && self.era() == Era::Legacy
                    && method != "initialize"
                {
                    let cancelled =
                        self.notify("notifications/cancelled", json!({ "requestId": id }));
                    let _told = tokio::time::timeout(limit, cancelled).await;
                }
                Err(ClientError::Timeout(limit))
            }
        }
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// [`ClientError`] when it could not be handed over.
    pub async fn notify(&self, method: &str, params: Value) -> Result<(), ClientError> {
        let notification = Notification::new(method, self.with_meta(params));
        let sent = async {
            match &self.0.link {
                Link::Http(link) => link.notify(&notification).await,
                Link::Pipe(pipe) => pipe.send(&notification).await,
            }
        };
        let limit = self.0.config.timeout;
        tokio::time::timeout(limit, sent)
            .await
            .map_err(|_| ClientError::Timeout(limit))?
    }

    /// `tools/call`, in as many rounds as it takes: its result as it came, failures of the tool (`isError`) among them.
    ///
    /// Over HTTP headers repeat the parameters that the tool is listed with for that (`x-mcp-header`, 2026-07-28). A
    /// call that is refused because they do not, since the tool was not listed yet or is listed otherwise now, lists the
    /// tools and is made once more.
    ///
    /// # Errors
    /// As for [`Client::request_in_rounds`] and [`Client::list_tools`].
    pub async fn call_tool(&self, name: &str, arguments: Value) -> Result<Value, ClientError> {
        let params = json!({ "name": name, "arguments": arguments });
        match self.request_in_rounds("tools/call", params.clone()).await {
            Err(ClientError::Rpc(error)) if error.code == ErrorObject::HEADER_MISMATCH => {
                self.list_tools().await?;
                self.request_in_rounds("tools/call", params).await
            }
            called => called,
        }
    }

    /// `tools/list`, all its pages. Without the tools whose `x-mcp-header` annotations are wrong, over HTTP in the modern
    /// era: they cannot be called (2026-07-28, Streamable HTTP).
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for what is no list of tools.
    pub async fn list_tools(&self) -> Result<Vec<Tool>, ClientError> {
        let mut tools = Vec::new();
        let mut params = json!({});
        for _ in 0..MAX_PAGES {
            let mut page = self.request("tools/list", params).await?;
            let mut page_tools: Vec<Tool> =
                serde_json::from_value(page.get_mut("tools").map(Value::take).unwrap_or_default())
                    .map_err(|problem| ClientError::Protocol(format!("tools/list: {problem}")))?;
            if let Link::Http(link) = &self.0.link {
                link.listed(&mut page_tools);
            }
            tools.extend(page_tools);
            match page.get_mut("nextCursor").map(Value::take) {
                Some(cursor @ Value::String(_)) => params = json!({ "cursor": cursor }),
                _ => return Ok(tools),
            }
        }
        Err(ClientError::Protocol(format!(
            "tools/list did not end after {MAX_PAGES} pages"
        )))
    }

    /// What the server tells from now on, of running requests and otherwise; bounded by [`NOTIFICATIONS`]. What a
    /// request says arrives before its result.
    #[must_use]
    pub fn notifications(&self) -> broadcast::Receiver<Notification> {
        self.0.notifications.subscribe()
    }

    /// The era of the connection.
    #[must_use]
    pub fn era(&self) -> Era {
        self.0.config.version.era()
    }

    /// Ends the connection: the session by DELETE, a child process by closing its stdin, waiting for
    /// [`ClientConfig::timeout`] at most, and killing it then.
    ///
    /// # Errors
    /// [`ClientError::Timeout`] when the server had to be killed; [`ClientError::Http`] for a DELETE that failed. A
    /// server may decline it (405).
    pub async fn close(&self) -> Result<(), ClientError> {
        let limit = self.0.config.timeout;
        match &self.0.link {
            Link::Pipe(pipe) => pipe.close(limit).await,
            Link::Http(link) => tokio::time::timeout(limit, link.close())
                .await
                .map_err(|_| ClientError::Timeout(limit))?,
        }
    }

    /// In the modern era every message says who speaks which version and can do what.
    fn with_meta(&self, mut params: Value) -> Value {
        let config = &self.0.config;
        if !params.is_object() {
            params = json!({});
        }
        if config.version.era() == Era::Modern
            && let Some(members) = params.as_object_mut()
        {
            let meta = members.entry("_meta").or_insert_with(|| json!({}));
            if let Some(meta) = meta.as_object_mut() {
                meta.insert(META_PROTOCOL_VERSION.to_owned(), json!(config.version));
                meta.insert(
                    META_CLIENT_CAPABILITIES.to_owned(),
                    json!(config.capabilities),
                );
                meta.insert(META_CLIENT_INFO.to_owned(), json!(config.info));
            }
        }
        params
    }
}
