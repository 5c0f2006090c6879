//! [`Server`]: the registries behind one verb, `handle(Request, Context) -> Response`, which cannot fail: a failure is
//! an answer. Transports call it; it calls no transport.

mod builder;
mod changes;
mod listen;
mod wire;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use crate::context::Context;
use crate::jsonrpc::{ErrorObject, Payload, Request, Response};
use crate::lifecycle::{Implementation, InitializeParams, ServerCapabilities};
use crate::tool::ToolRegistry;
use crate::version::{Era, ProtocolVersion};

pub use builder::{BuildError, ServerBuilder};
pub use changes::Change;
pub(crate) use changes::{Changes, Interest, Listener};

/// A server of the Model Context Protocol: cheap to clone, immutable, shared by every transport and connection.
#[derive(Debug, Clone)]
pub struct Server(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    info: Implementation,
    /// `info` as JSON text; part of every modern result.
    info_json: Box<RawValue>,
    capabilities: ServerCapabilities,
    instructions: Option<String>,
    tools: ToolRegistry,
    /// The whole results of `tools/list` and `server/discover`: they are the same for everybody.
    tools_legacy: Payload,
    tools_modern: Payload,
    discover: Payload,
    changes: Changes,
}

/// The methods of either era.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    CallTool,
    ListTools,
    Discover,
    Listen,
    Ping,
    Initialize,
}

impl Method {
    /// The one match from a method's name in an era to its meaning.
    fn parse(name: &str, era: Era) -> Option<Self> {
        Some(match (name, era) {
            ("tools/call", _) => Self::CallTool,
            ("tools/list", _) => Self::ListTools,
            ("server/discover", Era::Modern) => Self::Discover,
            ("subscriptions/listen", Era::Modern) => Self::Listen,
            ("ping", Era::Legacy) => Self::Ping,
            ("initialize", Era::Legacy) => Self::Initialize,
            _ => return None,
        })
    }
}

impl Server {
    /// Starts a server of this name and version whose handlers share `state`.
    pub fn builder<S>(
        name: impl Into<String>,
        version: impl Into<String>,
        state: S,
    ) -> ServerBuilder<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        ServerBuilder::new(Implementation::new(name, version), state)
    }

    /// Answers one request. Infallible: what fails is told in the answer.
    ///
    /// A panic outside a tool becomes −32603 and a line in the log. Dropping the future cancels the call.
    pub async fn handle(&self, request: Request, context: Context) -> Response {
        let id = request.id.clone();
        let outcome = AssertUnwindSafe(self.dispatch(request, context))
            .catch_unwind()
            .await;
        let outcome = outcome.unwrap_or_else(|_panic| {
            tracing::error!(request_id = %id, "a request panicked");
            Err(ErrorObject::internal())
        });
        Response {
            id: Some(id),
            outcome,
        }
    }

    /// Tells every listener of a change: open `subscriptions/listen` requests, GET streams and stdio. A change that the
    /// builder did not declare ([`ServerBuilder::tools_list_changed`]) is told to nobody.
    pub fn notify(&self, change: Change) {
        let declared = match change {
            Change::ToolsListChanged => self.tells_tools_list(),
        };
        if declared {
            self.0.changes.send(change);
        }
    }

    fn tells_tools_list(&self) -> bool {
        self.0
            .capabilities
            .tools
            .is_some_and(|tools| tools.list_changed)
    }

    /// Ends every listener: listens get their final result, GET streams end. Calls go on. Cannot be undone.
    pub fn close(&self) {
        self.0.changes.close();
    }

    /// The one match from a method to its room.
    async fn dispatch(&self, request: Request, context: Context) -> Result<Payload, ErrorObject> {
        let Request {
            id: _,
            method,
            params,
        } = request;
        let era = context.era();
        let Some(known) = self.method(&method, era) else {
            return Err(ErrorObject::method_not_found(&method));
        };
        match known {
            Method::CallTool => {
                let result = self.0.tools.call(params, context).await?;
                Payload::of(&wire::WireCallToolResult::new(
                    &result,
                    era,
                    &self.0.info_json,
                ))
            }
            Method::ListTools => {
                if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
                    return Err(ErrorObject::invalid_params(
                        "params.cursor is none of this server's cursors",
                    ));
                }
                Ok(match era {
                    Era::Legacy => self.0.tools_legacy.clone(),
                    Era::Modern => self.0.tools_modern.clone(),
                })
            }
            Method::Discover => Ok(self.0.discover.clone()),
            Method::Listen => self.listen(params, context).await,
            Method::Ping => Payload::of(&serde_json::json!({})),
            Method::Initialize => Err(ErrorObject::invalid_request(
                "this connection is initialized already: open another one",
            )),
        }
    }

    /// The result of a legacy `initialize`; the transport makes the session.
    pub(crate) fn initialize(&self, version: ProtocolVersion) -> Result<Payload, ErrorObject> {
        Payload::of(&wire::InitializeResult {
            protocol_version: version,
            capabilities: &self.0.capabilities,
            server_info: &self.0.info,
            instructions: self.0.instructions.as_deref(),
        })
    }

    /// Changes for one legacy listener.
    pub(crate) fn changes(&self) -> &Changes {
        &self.0.changes
    }

    /// Whether a method exists in an era: the transport answers 404 before it looks at anything else of the params.
    pub(crate) fn knows(&self, method: &str, era: Era) -> bool {
        self.method(method, era).is_some()
    }

    /// What a method's name means in an era, if this server offers it.
    fn method(&self, name: &str, era: Era) -> Option<Method> {
        let tools = self.0.capabilities.tools.is_some();
        Method::parse(name, era).filter(|method| match method {
            Method::CallTool | Method::ListTools => tools,
            Method::Discover | Method::Listen | Method::Ping | Method::Initialize => true,
        })
    }

    /// Handles with a future that owns its server, as transports keep it.
    pub(crate) fn handle_owned(
        &self,
        request: Request,
        context: Context,
    ) -> BoxFuture<'static, Response> {
        let server = self.clone();
        Box::pin(async move { server.handle(request, context).await })
    }
}

/// Reads the params of a legacy `initialize`.
pub(crate) fn read_initialize(request: Request) -> Result<InitializeParams, ErrorObject> {
    InitializeParams::read(request.params)
}
