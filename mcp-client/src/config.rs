//! The configuration of a client.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, Method, Uri};
use mcp_proto::jsonrpc::{ErrorObject, Request};
use mcp_proto::lifecycle::Implementation;
use mcp_proto::{Era, ProtocolVersion};
use serde_json::{Map, Value};

use super::ClientError;
use super::answering::{Answers, Callback};
use super::credentials::{Bearer, Credentials};
use super::network::Network;
use super::questions::Folders;

/// The name that servers see of a client that sets none of its own.
pub(super) const NAME: &str = env!("CARGO_PKG_NAME");

/// The client's identity, protocol version and bounds.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct ClientConfig {
    /// The protocol version to use. `None` detects the server's version when it connects: the modern era first, then
    /// the handshake. A legacy revision is offered in the handshake, and the server may answer with another one of that
    /// era.
    pub version: Option<ProtocolVersion>,
    /// The name and version that the client reports.
    pub info: Implementation,
    /// The capabilities that it declares (schema: `ClientCapabilities`). Empty by default.
    /// [`ClientConfig::with_answers`] must answer what is declared here; the methods for single questions declare their
    /// capability themselves.
    pub capabilities: Map<String, Value>,
    /// The time limit for the answer to a request, and for every other operation. The time that callbacks and log-ins
    /// take does not count. [`CallOptions::timeout`](super::CallOptions::timeout) wins. 30 s by default.
    pub timeout: Duration,
    /// How long a server on a pipe may leave `server/discover` unanswered before it counts as a legacy server, if the
    /// era is not known. 5 s by default.
    pub probe: Duration,
    /// How many requests may run at once; further ones wait. 1024 by default.
    pub max_calls: usize,
    /// Whether the client opens the GET stream of a legacy server, for messages that belong to no request, if the
    /// server may send any. On by default.
    pub get_stream: bool,
    /// How many bytes of answers are cached for their `ttlMs` (2026-07-28, "Caching"); 0 disables the cache. 4 MiB by
    /// default. The typed calls use the cache, [`Client::request`](super::Client::request) does not.
    pub cache_bytes: usize,
    /// Where the stderr of a child process goes.
    pub stderr: Stderr,
    /// The largest message that is read, in bytes. 16 MiB by default.
    pub max_message_bytes: usize,
    /// Headers for every HTTP request, such as an API key. Headers that the protocol requires override them.
    pub headers: HeaderMap,
    /// How it reaches servers over HTTP: proxies, connections, certificate authorities.
    pub network: Network,
    /// What was wrong with a setting; connecting fails with it.
    pub(super) problem: Option<ClientError>,
    pub(super) computed: Option<Computed>,
    pub(super) credentials: Option<Arc<dyn Credentials>>,
    pub(super) answers: Answers,
    pub(super) folders: Folders,
}

/// Where the stderr of a child process goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stderr {
    /// To the caller's own stderr. Its end is kept too, for errors and for [`Client::stderr`](super::Client::stderr):
    /// 64 KiB.
    #[default]
    Shown,
    /// Its end is kept, and nothing is shown.
    Captured,
    /// As its command sets it. Nothing is kept, so errors do not say why the process ended.
    AsCommanded,
}

/// The function that computes headers for a request.
#[derive(Clone)]
pub(super) struct Computed(pub(super) Arc<HeadersOf>);

type HeadersOf = dyn Fn(&Method, &Uri) -> HeaderMap + Send + Sync;

impl ClientConfig {
    /// Defaults for an era, with its newest revision. [`ClientConfig::default`] detects the era.
    pub fn new(era: Era) -> Self {
        Self {
            version: Some(match era {
                Era::Legacy => ProtocolVersion::LATEST_LEGACY,
                Era::Modern => ProtocolVersion::LATEST,
            }),
            ..Self::default()
        }
    }

    /// The same, with a bearer token in every HTTP request (RFC 6750). Connecting over HTTP with a text that is not a
    /// token fails with [`ClientError::Unauthorized`].
    pub fn with_bearer(self, token: &str) -> Self {
        match Bearer::new(token) {
            Ok(bearer) => self.with_credentials(Arc::new(bearer)),
            Err(problem) => self.wrong(problem),
        }
    }

    /// The same, with a header in every HTTP request. Connecting over HTTP with a name or a value that no header can
    /// have fails with [`ClientError::Connection`].
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        match (name.parse::<HeaderName>(), value.parse()) {
            (Ok(name), Ok(value)) => {
                self.headers.append(name, value);
                self
            }
            _ => self.wrong(ClientError::Connection(format!(
                "{name:?} and its value cannot be a header: a name is a token, a value has no line breaks"
            ))),
        }
    }

    /// The same, with another name and version of the client.
    pub fn with_info(mut self, info: Implementation) -> Self {
        self.info = info;
        self
    }

    /// The same, and declares a capability, such as `elicitation` with `{}`.
    pub fn with_capability(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.capabilities.insert(name.into(), value.into());
        self
    }

    /// The same, with another time limit of requests.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The same, with another place for the stderr of a child process.
    pub fn with_stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// The same, with another way to reach servers over HTTP.
    pub fn with_network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// The same, with any of its public fields set: `config.with(|it| it.max_calls = 4)`.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The first problem of a setting stands.
    fn wrong(mut self, problem: ClientError) -> Self {
        self.problem.get_or_insert(problem);
        self
    }

    /// The same, with credentials for the server. Only for HTTP; a process gets its credentials from its environment.
    pub fn with_credentials(mut self, credentials: Arc<dyn Credentials>) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// The same, with headers that are computed for each HTTP request from its method and URL, such as the context of a
    /// trace. They override those of [`ClientConfig::headers`].
    pub fn with_computed_headers<F>(mut self, headers: F) -> Self
    where
        F: Fn(&Method, &Uri) -> HeaderMap + Send + Sync + 'static,
    {
        self.computed = Some(Computed(Arc::new(headers)));
        self
    }

    /// The same, with a callback for the server's requests: `elicitation/create`, `sampling/createMessage` and
    /// `roots/list`, in both eras, unless another callback answers them. Requests without a callback are refused
    /// (−32601), except for `ping`.
    ///
    /// Several questions are answered at once. A future is dropped when its answer is no longer needed.
    ///
    /// ```
    /// use mcp_proto_client::{Client, ClientConfig};
    /// use mcp_proto::jsonrpc::ErrorObject;
    /// use mcp_proto::{Context, ElicitForm, Era, Field, Server, Tool, ToolError};
    /// use serde_json::json;
    ///
    /// async fn greet(context: Context) -> Result<String, ToolError> {
    ///     let form = ElicitForm::new("What is your name?").field("name", Field::text().required());
    ///     let answer = context.elicit("name", &form)?;
    ///     Ok(format!("Hello, {}!", answer.text("name").unwrap_or("stranger")))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::builder("greeter", "0.1.0", ())
    ///     .tool(Tool::new("greet", "Greets you.").asking(), greet)
    ///     .build()?;
    /// for era in [Era::Legacy, Era::Modern] {
    ///     let config = ClientConfig::new(era).with_answers(async |question| {
    ///         match question.method.as_str() {
    ///             "elicitation/create" => Ok(json!({ "action": "accept", "content": { "name": "Alice" } })),
    ///             other => Err(ErrorObject::method_not_found(other)),
    ///         }
    ///     });
    ///     let config = config.with_capability("elicitation", json!({}));
    ///     let client = Client::memory(server.clone(), config).await?;
    ///     let result = client.call_tool("greet", json!({})).await?;
    ///     assert_eq!(result.text(), "Hello, Alice!");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_answers<F, R>(mut self, answers: F) -> Self
    where
        F: Fn(Request) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, ErrorObject>> + Send + 'static,
    {
        self.answers.any = Some(Callback::new(answers));
        self
    }
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            version: None,
            info: Implementation::new(NAME, env!("CARGO_PKG_VERSION")),
            capabilities: Map::new(),
            timeout: Duration::from_secs(30),
            probe: Duration::from_secs(5),
            max_calls: 1_024,
            get_stream: true,
            cache_bytes: 4 * 1024 * 1024,
            stderr: Stderr::default(),
            max_message_bytes: 16 * 1024 * 1024,
            headers: HeaderMap::new(),
            network: Network::default(),
            problem: None,
            computed: None,
            credentials: None,
            answers: Answers::default(),
            folders: Folders::default(),
        }
    }
}

impl fmt::Debug for Computed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Computed")
    }
}
