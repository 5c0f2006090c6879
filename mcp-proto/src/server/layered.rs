//! Layers around the calls of a server, and what a layer can do with a call. `dispatch.rs` sends a call here first, and
//! gets it back from the innermost layer with [`Judged`] among its extensions.

use std::ops::Deref;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tower_layer::Layer;

use super::Server;
use super::builder::ServerBuilder;
use super::offered::{Judged, Offered};
use crate::interrupt::{Interrupt, RequestError};
use crate::jsonrpc::{ErrorObject, Payload, Result};
use crate::scopes::Guarded;
use crate::service::{Answering, Answers, Call, Next, Outcome};
use crate::tool::{CallToolResult, Callable, Tool, ToolError};

impl<S, K> ServerBuilder<S, K> {
    /// Adds a layer around every request that the server answers, in both eras and over every transport: a `Layer` of
    /// tower, or a function ([`from_fn`](crate::service::from_fn)). A layer that is added later is outside of those
    /// added before: it sees a call first, and its outcome last.
    ///
    /// A layer gets calls whose caller has the scopes that are required, before their arguments are judged. It does not
    /// get the handshake of the older era, nor notifications. In the modern era a tool that asks its client is called
    /// once for each round; the outcome is a question ([`Outcome::asks`]) until the last one. A call that becomes a
    /// task has its task as the outcome; the task runs without the layers.
    pub fn layer<L>(self, layer: L) -> Self
    where
        L: Layer<Next, Service: Answers> + Send + Sync + 'static,
    {
        self.also(move |offered| offered.wrap(&layer, None))
    }

    /// The same for calls of one tool, prompts of one name, resources whose URIs have this prefix, or requests of one
    /// method. They need not exist yet.
    pub fn layer_on<L>(self, item: Guarded, layer: L) -> Self
    where
        L: Layer<Next, Service: Answers> + Send + Sync + 'static,
    {
        self.also(move |offered| offered.wrap(&layer, Some(item)))
    }
}

impl Offered {
    fn wrap<L>(&mut self, layer: &L, item: Option<Guarded>)
    where
        L: Layer<Next, Service: Answers>,
    {
        let next = self.layers.take().unwrap_or_else(|| Next::new(answer));
        self.layers = Some(next.behind(layer, item));
    }
}

/// The end of the way through the layers: the server, with the offer that the call began with.
fn answer(call: Call) -> Answering {
    Box::pin(async move {
        let Some(server) = call.server().cloned() else {
            tracing::error!("a layer passed on a call without the extensions that it had");
            return Ok(ErrorObject::internal().into());
        };
        Ok(Outcome(server.dispatch(call).answer().await))
    })
}

impl Server {
    /// Adds a layer around the calls that begin from now on, as [`ServerBuilder::layer`] does: for what is known only
    /// once the server is built. Further layers of a running server, such as those for one item, are part of an
    /// [`Update`](crate::Update).
    pub fn layer<L: Layer<Next, Service: Answers>>(&self, layer: &L) {
        let _turn = self.turn_to_change();
        let mut offered = Offered::clone(&self.offered());
        offered.wrap(layer, None);
        self.offer(offered);
    }

    /// Passes a call through the layers.
    pub(super) fn through_layers(
        &self,
        layers: Next,
        offered: Arc<Offered>,
        mut call: Call,
    ) -> BoxFuture<'static, Result<Payload>> {
        call.context.extensions.insert(Judged { offered, layered: Some(self.clone()) });
        Box::pin(async move { layers.run(call).await.0 })
    }
}

/// For layers.
impl Call {
    /// The tool that it calls, if the server has it.
    pub fn tool(&self) -> Option<impl Deref<Target = Tool> + Send + Sync + use<>> {
        self.callable()
    }

    /// The server whose layers it is in.
    fn server(&self) -> Option<&Server> {
        self.context.extension::<Judged>()?.layered.as_ref()
    }

    fn callable(&self) -> Option<Callable> {
        let Judged { offered, .. } = self.context.extension()?;
        let name = self.name.as_deref().filter(|_| self.method == "tools/call")?;
        offered.tools.find(name)
    }

    /// An outcome without a call of the handler: the result of a tool. It is adapted to what the client takes, as that
    /// of a handler is.
    pub fn answer(&self, result: &CallToolResult) -> Outcome {
        let Some(server) = self.server() else {
            return ErrorObject::internal().into();
        };
        let room = self.callable().zip(self.context.max_answer);
        let room = room.map(|(tool, max)| tool.room(max));
        Outcome(server.fitting_result(result, self.context.protocol_version, room.as_ref()))
    }

    /// An outcome without a call of the handler: a failure of the tool, for the model to read. For other methods it is
    /// the [`RequestError`] that this error becomes.
    pub fn fail(&self, error: ToolError) -> Outcome {
        let (name, id) = (self.name.as_deref().unwrap_or_default(), &self.context.request_id);
        if self.method != "tools/call" {
            let error = RequestError::from(error).log(&self.method, name, id);
            let uri = Some(name).filter(|_| self.method == "resources/read");
            return error.into_interrupt(self.context.era(), uri).into_error().into();
        }
        error.log(name, id);
        let failed = match self.context.extension::<Judged>() {
            Some(Judged { offered, .. }) => offered.tools.failed(name, error),
            None => error.into_result(),
        };
        match failed.map_err(Interrupt::into_error) {
            Ok(result) => self.answer(&result),
            Err(error) => error.into(),
        }
    }
}
