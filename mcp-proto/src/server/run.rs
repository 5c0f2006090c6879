//! Runs the handler of a request and writes its result. A large result is written where it does not delay other
//! requests.

use std::future::Future;

use super::offered::Offered;
use super::{Method, Server, wire};
use crate::blocking::{self, NotDone};
use crate::budget::{Client, Over};
use crate::interrupt::Interrupt;
use crate::jsonrpc::{ErrorObject, Payload, Result};
use crate::legacy::older;
use crate::service::Call;
use crate::tool::{CallToolResult, Callable, Room, Shape, Started};
use crate::version::ProtocolVersion;

/// Results above this size in bytes are written on a blocking thread. Escaping this many bytes takes well below a
/// millisecond.
const INLINE_BYTES: usize = 256 * 1024;

/// A call of a tool whose arguments were checked.
pub(super) struct ToolCall<'s> {
    server: &'s Server,
    version: ProtocolVersion,
    client: Option<Client>,
    started: Started,
    /// Where its client takes no more than so much.
    room: Option<Room>,
}

impl<'s> ToolCall<'s> {
    /// Runs the handler and writes its result.
    pub(super) fn finish(
        self,
    ) -> impl Future<Output = Result<Payload, Interrupt>> + Send + use<'s> {
        let Self { server, version, client, started, room } = self;
        let call = started.finish();
        async move {
            let result = call.await?;
            let size = result.size();
            // Prepared parts need not be written.
            if size <= INLINE_BYTES || result.prepared.is_some() {
                return Ok(server.fitting_result(&result, version, room.as_ref())?);
            }
            let write =
                move |server: &Server| server.fitting_result(&result, version, room.as_ref());
            Ok(Box::pin(server.written(client, size, write)).await?)
        }
    }
}

impl Server {
    pub(crate) async fn run(
        &self,
        offered: &Offered,
        method: Method,
        call: Call,
    ) -> Result<Payload, Interrupt> {
        match method {
            Method::ReadResource => Box::pin(self.read_resource(offered, call)).await,
            Method::GetPrompt => Box::pin(self.get_prompt(offered, call)).await,
            _ => {
                let tool = offered.tools.named(&call)?;
                self.start_tool(offered, tool, call)?.finish().await
            }
        }
    }

    /// Prepares a call of a tool: the arguments are checked, and the handler is ready to run.
    pub(super) fn start_tool(
        &self,
        offered: &Offered,
        tool: Callable,
        call: Call,
    ) -> Result<ToolCall<'_>> {
        let (version, client) = (call.context.protocol_version, call.context.client.clone());
        let max_answer = call.context.max_answer;
        let started = offered.tools.start(tool, call)?;
        let room = max_answer.map(|max| started.room(max));
        Ok(ToolCall { server: self, version, client, started, room })
    }

    async fn read_resource(&self, offered: &Offered, call: Call) -> Result<Payload, Interrupt> {
        let Call { name: Some(uri), context, .. } = call else {
            let error = "resources/read needs params.uri, a string";
            return Err(ErrorObject::invalid_params(error).into());
        };
        let (era, client) = (context.era(), context.client.clone());
        let source = self.0.source.as_ref();
        let read = match source.and_then(|source| Some((source, source.read(&uri)?))) {
            Some((source, read)) => {
                let read = read.map_err(|error| {
                    let error = error.log("resources/read", &uri, &context.request_id);
                    error.into_interrupt(era, Some(&uri))
                })?;
                if source.is_cacheable(&uri) {
                    read.with_cache(self.0.list_cache.unwrap_or(wire::PUBLIC_LIST))
                } else {
                    read
                }
            }
            None => offered.resources.read(&uri, context).await?,
        };
        let size = read.size();
        let write =
            move |server: &Self| server.complete(&read, Some(read.cache), read.meta.as_ref(), era);
        Ok(if size <= INLINE_BYTES {
            write(self)
        } else {
            self.written(client, size, write).await
        }?)
    }

    async fn get_prompt(&self, offered: &Offered, call: Call) -> Result<Payload, Interrupt> {
        let (version, client) = (call.context.protocol_version, call.context.client.clone());
        let prompt = offered.prompts.fill_in(call).await?;
        let size = prompt.size();
        let write = move |server: &Self| {
            let prompt = older::prompt(prompt, version);
            server.complete(&prompt, None, prompt.meta.as_ref(), version.era())
        };
        Ok(if size <= INLINE_BYTES {
            write(self)
        } else {
            self.written(client, size, write).await
        }?)
    }

    pub(crate) fn tool_result(
        &self,
        result: &CallToolResult,
        version: ProtocolVersion,
    ) -> Result<Payload> {
        self.result_as(result, version, Shape::SENT)
    }

    fn result_as(
        &self,
        result: &CallToolResult,
        version: ProtocolVersion,
        shape: Shape,
    ) -> Result<Payload> {
        let written = wire::tool_result(result, version, shape, &self.0.info_json)?;
        Ok(written.of_tool(result.is_error))
    }

    /// A result in the fullest shape that its client takes; a failure if there is none.
    pub(super) fn fitting_result(
        &self,
        result: &CallToolResult,
        version: ProtocolVersion,
        room: Option<&Room>,
    ) -> Result<Payload> {
        let Some(room) = room else {
            return self.tool_result(result, version);
        };
        let mut least = usize::MAX;
        for shape in room.shapes(result, version.era()) {
            let mut size = result.size_as(shape);
            // Known without writing it, but for the escapes.
            if size <= room.max {
                let written = self.result_as(result, version, shape)?;
                if written.size() <= room.max {
                    return Ok(written);
                }
                size = written.size();
            }
            least = least.min(size);
        }
        let mut failed = room.too_large(least).map_err(Interrupt::into_error)?;
        failed.warnings.clone_from(&result.warnings);
        self.tool_result(&failed, version)
    }

    /// Writes a result of about this size in its client's turn. The result and its text are counted from here on, since
    /// it may wait for others to be written first.
    async fn written(
        &self,
        client: Option<Client>,
        size: usize,
        write: impl FnOnce(&Self) -> Result<Payload> + Send + 'static,
    ) -> Result<Payload> {
        let held = client.as_ref().map(|client| client.hold_answer(2 * size));
        let held = held.transpose().map_err(|over| no_room(size, over))?;
        let server = self.clone();
        let written = blocking::run_long(client.as_ref(), move || write(&server)).await;
        let payload = written.unwrap_or_else(|NotDone| Err(ErrorObject::internal()))?;
        Ok(match held {
            None => payload,
            Some(mut held) => {
                held.shrink_to(payload.size());
                payload.held_by(held)
            }
        })
    }
}

/// The error for a call that has run but whose answer exceeds the memory for unread answers.
fn no_room(size: usize, over: Over) -> ErrorObject {
    let problem = format!("the call has run, but its answer of {size} bytes finds no room: {over}");
    ErrorObject::new(ErrorObject::INTERNAL, problem)
}
