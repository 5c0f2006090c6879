//! What may be set about a client, and how its calls fail.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Method, Uri};
use serde_json::{Map, Value};

use super::answering::Answers;
use super::credentials::{Bearer, Credentials};
use super::trust::Trust;
use crate::jsonrpc::{ErrorObject, Request};
use crate::lifecycle::Implementation;
use crate::version::{Era, ProtocolVersion};

/// Who the client is, what it speaks, and its bounds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The revision to speak; a legacy one is offered in the handshake and may be answered by another. The newest of
    /// its era by default.
    pub version: ProtocolVersion,
    /// Who the client says it is.
    pub info: Implementation,
    /// What it says it can do (schema: `ClientCapabilities`). Nothing by default; what is said here is for
    /// [`ClientConfig::with_answers`] to keep.
    pub capabilities: Map<String, Value>,
    /// How long a request may take to be answered and everything else to be done. 30 s by default.
    pub timeout: Duration,
    /// The largest message that is read, in bytes. 16 MiB by default.
    pub max_message_bytes: usize,
    /// Speak HTTP/2 from the first byte ("prior knowledge") instead of HTTP/1.1. Off by default.
    pub http2: bool,
    /// Headers for every HTTP request, such as a key of an API. Those that the protocol prescribes are set over them.
    pub headers: HeaderMap,
    /// Whom to believe over HTTPS: the authorities of the system by default.
    pub trust: Trust,
    pub(super) computed: Option<Computed>,
    pub(super) credentials: Option<Arc<dyn Credentials>>,
    pub(super) answers: Option<Answers>,
}

/// What computes headers for a request.
#[derive(Clone)]
pub(super) struct Computed(pub(super) Arc<HeadersOf>);

type HeadersOf = dyn Fn(&Method, &Uri) -> HeaderMap + Send + Sync;

/// Why a call of the client failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server answered with an error.
    #[error("the server answered {}: {}", .0.code, .0.message)]
    Rpc(ErrorObject),
    /// The callback of [`ClientConfig::with_answers`] refused what the server needs to go on.
    #[error("the server's question was refused: {}", .0.message)]
    Refused(ErrorObject),
    /// The server wants to know who calls, or refuses this caller: why, and what is missing.
    #[error("the server refused the caller: {0}")]
    Unauthorized(String),
    /// The HTTP response carried no answer.
    #[error("the server answered HTTP {status}: {body}")]
    Http {
        /// Its status code.
        status: u16,
        /// The beginning of its body.
        body: String,
    },
    /// It took longer than this.
    #[error("no answer within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// The connection ended before the answer came.
    #[error("the connection ended before the answer")]
    Closed,
    /// The connection could not be made or broke: why.
    #[error("the connection failed: {0}")]
    Connection(String),
    /// What the server sent breaks the protocol: how.
    #[error("the server broke the protocol: {0}")]
    Protocol(String),
}

impl ClientConfig {
    /// Defaults for an era.
    #[must_use]
    pub fn new(era: Era) -> Self {
        Self {
            version: match era {
                Era::Legacy => ProtocolVersion::LATEST_LEGACY,
                Era::Modern => ProtocolVersion::LATEST,
            },
            info: Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            capabilities: Map::new(),
            timeout: Duration::from_secs(30),
            max_message_bytes: 16 * 1024 * 1024,
            http2: false,
            headers: HeaderMap::new(),
            trust: Trust::default(),
            computed: None,
            credentials: None,
            answers: None,
        }
    }

    /// The same, with a bearer token in every HTTP request (RFC 6750).
    ///
    /// # Errors
    /// [`ClientError::Unauthorized`] for a text that is no token.
    pub fn with_bearer(self, token: &str) -> Result<Self, ClientError> {
        Ok(self.with_credentials(Arc::new(Bearer::new(token)?)))
    }

    /// The same, with what proves to the server who calls. HTTP alone; a process gets its credentials by its environment.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Arc<dyn Credentials>) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// The same, with headers that are computed for each HTTP request from its method and URL, such as the context of a
    /// trace. They are set over those of [`ClientConfig::headers`].
    #[must_use]
    pub fn with_computed_headers<F>(mut self, headers: F) -> Self
    where
        F: Fn(&Method, &Uri) -> HeaderMap + Send + Sync + 'static,
    {
        self.computed = Some(Computed(Arc::new(headers)));
        self
    }

    /// The same, with what answers the server's questions: `elicitation/create`, `sampling/createMessage` and
    /// `roots/list`, in both eras. Without it, everything but a `ping` is refused (−32601).
    ///
    /// Several questions are answered at once. A future is dropped when its answer is not wanted any more.
    ///
    /// ```
    /// use mcp_proto::client::{Client, ClientConfig};
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
        self.answers = Some(Answers::new(answers));
        self
    }
}

impl fmt::Debug for Computed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Computed")
    }
}
