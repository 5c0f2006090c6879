//! The configuration of a client.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Method, Uri};
use mcp_proto::jsonrpc::{ErrorObject, Request};
use mcp_proto::{Era, Implementation, ProtocolVersion};
use serde_json::{Map, Value};

use super::ClientError;
use super::answering::{Answers, Callback};
use super::credentials::{Bearer, Credentials};
use super::questions::Folders;
use super::trust::Trust;

/// The name that servers see of a client that sets none of its own.
pub(super) const NAME: &str = "mcp-proto";

/// The client's identity, protocol version and bounds.
#[derive(Debug, Clone)]
#[non_exhaustive]
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
    /// The time limit for the answer to a request, and for every other operation. 30 s by default.
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
    /// Where the stderr of a child process goes. By default the command decides.
    pub stderr: Stderr,
    /// The largest message that is read, in bytes. 16 MiB by default.
    pub max_message_bytes: usize,
    /// Uses HTTP/2 from the first byte ("prior knowledge") instead of HTTP/1.1. Off by default.
    pub http2: bool,
    /// Headers for every HTTP request, such as an API key. Headers that the protocol requires override them.
    pub headers: HeaderMap,
    /// The certificate authorities to trust over HTTPS; those of the system by default.
    pub trust: Trust,
    pub(super) computed: Option<Computed>,
    pub(super) credentials: Option<Arc<dyn Credentials>>,
    pub(super) answers: Answers,
    pub(super) folders: Folders,
}

/// Where the stderr of a child process goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stderr {
    /// As its command sets it; the caller's own stderr by default.
    #[default]
    AsCommanded,
    /// Its last 64 KiB are kept for [`Client::stderr`](super::Client::stderr).
    Captured,
}

/// The function that computes headers for a request.
#[derive(Clone)]
pub(super) struct Computed(pub(super) Arc<HeadersOf>);

type HeadersOf = dyn Fn(&Method, &Uri) -> HeaderMap + Send + Sync;

impl ClientConfig {
    /// Defaults for an era, with its newest revision. [`ClientConfig::default`] detects the era.
    #[must_use]
    pub fn new(era: Era) -> Self {
        Self {
            version: Some(match era {
                Era::Legacy => ProtocolVersion::LATEST_LEGACY,
                Era::Modern => ProtocolVersion::LATEST,
            }),
            ..Self::default()
        }
    }

    /// The same, with a bearer token in every HTTP request (RFC 6750).
    ///
    /// # Errors
    /// [`ClientError::Unauthorized`] for a text that is not a token.
    pub fn with_bearer(self, token: &str) -> Result<Self, ClientError> {
        Ok(self.with_credentials(Arc::new(Bearer::new(token)?)))
    }

    /// The same, with credentials for the server. Only for HTTP; a process gets its credentials from its environment.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Arc<dyn Credentials>) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// The same, with headers that are computed for each HTTP request from its method and URL, such as the context of a
    /// trace. They override those of [`ClientConfig::headers`].
    #[must_use]
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
    /// use serde_json::{Value, json};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # struct Nothing {}
    /// # #[derive(serde::Serialize, schemars::JsonSchema)]
    /// # struct Greeting { text: String }
    ///
    /// async fn greet((): (), _: Nothing, context: Context) -> Result<Greeting, ToolError> {
    ///     let form = ElicitForm::new("What is your name?").field("name", Field::text().required());
    ///     let answer = context.elicit("name", &form)?;
    ///     let text = format!("Hello, {}!", answer.text("name").unwrap_or("stranger"));
    ///     Ok(Greeting { text })
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::builder("greeter", "0.1.0", ())
    ///     .tool(Tool::new("greet", "Greets you.").asking(), greet)
    ///     .build()?;
    /// for era in [Era::Legacy, Era::Modern] {
    ///     let mut config = ClientConfig::new(era).with_answers(async |question| {
    ///         match question.method.as_str() {
    ///             "elicitation/create" => Ok(json!({ "action": "accept", "content": { "name": "Alice" } })),
    ///             other => Err(ErrorObject::method_not_found(other)),
    ///         }
    ///     });
    ///     config.capabilities.insert("elicitation".to_owned(), json!({}));
    ///     let client = Client::memory(server.clone(), config).await?;
    ///     let result = client.call_tool("greet", json!({})).await?;
    ///     assert_eq!(result["structuredContent"]["text"], "Hello, Alice!");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
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
            http2: false,
            headers: HeaderMap::new(),
            trust: Trust::default(),
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
