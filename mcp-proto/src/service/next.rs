//! Layers around calls: services of tower, or functions.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tower_layer::{Layer, layer_fn};
use tower_service::Service;

use super::{Call, Outcome};
use crate::jsonrpc::ErrorObject;
use crate::scopes::Guarded;

/// The way of a call from a layer to its answer: the layers within, then the server. It is always ready.
#[derive(Clone)]
pub struct Next(Arc<dyn Fn(Call) -> Answering + Send + Sync>);

/// A call that is being answered. Dropping it cancels the call.
pub type Answering = Pin<Box<dyn Future<Output = Result<Outcome, Infallible>> + Send>>;

/// A service that answers calls, of which each call gets a clone. Its errors go to the log.
pub trait Answers:
    Service<Call, Response = Outcome, Future: Send, Error: Into<Box<dyn Error + Send + Sync>>>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<T> Answers for T where
    T: Service<Call, Response = Outcome, Future: Send, Error: Into<Box<dyn Error + Send + Sync>>>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// A layer that is a function. It gets each call and the rest of its way: it may change the call, pass it on (not at
/// all, once or several times), and return another outcome.
///
/// ```
/// use mcp_proto::jsonrpc::Request;
/// use mcp_proto::service::{Call, Next, from_fn};
/// use mcp_proto::{CallToolResult, Context, Server, Tool, ToolError};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let reset = Tool::new("reset", "Starts again.").with_input_schema(json!({"type": "object"}));
/// let server = Server::builder("game", "1.0.0", ())
///     .raw_tool(reset, async |(), _, _| Ok(CallToolResult::text("done")))
///     .layer(from_fn(async |call: Call, next: Next| {
///         if call.name.as_deref() == Some("reset") && call.context.principal() != Some("ada") {
///             return call.fail(ToolError::new("NOT_YOURS", "ask Ada to start again"));
///         }
///         next.run(call).await
///     }))
///     .build()?;
/// let call = Request::new(1, "tools/call", json!({ "name": "reset" }));
/// let answer = server.handle(call, Context::test()).await.outcome.unwrap().to_value();
/// assert_eq!(answer["isError"], true);
/// # Ok(())
/// # }
/// ```
pub fn from_fn<F, R>(function: F) -> impl Layer<Next, Service = Next> + Clone + Send + Sync
where
    F: Fn(Call, Next) -> R + Send + Sync + 'static,
    R: Future<Output = Outcome> + Send + 'static,
{
    let function = Arc::new(function);
    layer_fn(move |next: Next| {
        let function = Arc::clone(&function);
        Next::new(move |call| {
            let outcome = function(call, next.clone());
            Box::pin(async move { Ok(outcome.await) })
        })
    })
}

impl Next {
    pub(crate) fn new(answer: impl Fn(Call) -> Answering + Send + Sync + 'static) -> Self {
        Self(Arc::new(answer))
    }

    /// Passes a call on.
    pub fn run(&self, call: Call) -> impl Future<Output = Outcome> + Send + use<> {
        let answering = (self.0)(call);
        async move {
            let Ok(outcome) = answering.await;
            outcome
        }
    }

    /// The same way behind a layer, for the calls of one item or for all. Each call gets a clone of the layer's
    /// service, as tower's services expect, and waits until it is ready. A service that fails is −32603, and its error
    /// goes to the log.
    pub(crate) fn behind<L>(self, layer: &L, item: Option<Guarded>) -> Self
    where
        L: Layer<Self, Service: Answers>,
    {
        let layered = layer.layer(self.clone());
        Self::new(move |call| {
            if item.as_ref().is_some_and(|item| !call.is_about(item)) {
                return (self.0)(call);
            }
            let mut service = layered.clone();
            Box::pin(async move {
                let id = call.context.request_id.clone();
                let ready = poll_fn(|context| service.poll_ready(context)).await;
                let answered: Result<Outcome, Box<dyn Error + Send + Sync>> =
                    match ready.map_err(Into::into) {
                        Ok(()) => service.call(call).await.map_err(Into::into),
                        Err(error) => Err(error),
                    };
                Ok(answered.unwrap_or_else(|error| {
                    tracing::error!(request_id = %id, error, "a layer failed");
                    ErrorObject::internal().into()
                }))
            })
        })
    }
}

impl Service<Call> for Next {
    type Response = Outcome;
    type Error = Infallible;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Call) -> Answering {
        (self.0)(call)
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Next")
    }
}
