//! Rounds with a client that answers on the stream of its call.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::context::{Context, Waits};
use crate::input::{Input, Questions};
use crate::interrupt::{Interrupt, Reason};
use crate::jsonrpc::{ErrorObject, Payload, Result};
use crate::legacy::asking::{ClientQuestions, Problem};
use crate::server::rounds::config::MAX_ROUNDS;
use crate::server::{Method, Offered, Server};
use crate::service::Call;
use crate::tool::ToolError;

/// Calls the handler again until it needs no more answers.
pub(crate) async fn all(
    server: &Server,
    offered: &Offered,
    method: Method,
    mut call: Call,
) -> Result<Payload> {
    let mut answers = BTreeMap::new();
    let mut room = server.0.rounds.config.max_answer_bytes;
    for _ in 0..MAX_ROUNDS {
        let ran = server.run(offered, method, call.clone());
        match ran.await {
            Ok(payload) => return Ok(payload),
            Err(Interrupt(Reason::Ask(questions))) => {
                match ask_client(server, &questions, &call.context, &mut room).await {
                    Ok(given) => answers.extend(given),
                    Err(problem) => {
                        return not_answered(server, offered, method, &call, problem);
                    }
                }
            }
            Err(error) => return Err(error.into_error()),
        }
        call.context.input = Some(Arc::new(Input::new(answers.clone())));
    }
    tracing::error!(?method, "a handler asked its client {MAX_ROUNDS} times");
    Err(ErrorObject::internal())
}

/// Sends questions to the client. If one fails, those that are still open are cancelled.
async fn ask_client(
    server: &Server,
    questions: &Questions,
    context: &Context,
    room: &mut usize,
) -> Result<BTreeMap<String, Value>, Problem> {
    let limit = server.0.rounds.config.answer_timeout;
    let mut given = BTreeMap::new();
    let mut asking = ClientQuestions::new(context, None);
    let asked = asking.ask(questions.iter(), limit, room, |key, answer| {
        given.insert(key.to_owned(), answer);
        Ok(())
    });
    let waits = context.extension::<Waits>();
    waits.into_iter().for_each(Waits::begin);
    let outcome = asked.await;
    waits.into_iter().for_each(Waits::end);
    if outcome.is_err() {
        asking.take_back().await;
    }
    outcome.map(|()| given)
}

/// The outcome of a call that needs an answer and gets none: a tool result that the model can read, or a protocol error
/// for other methods.
fn not_answered(
    server: &Server,
    offered: &Offered,
    method: Method,
    call: &Call,
    (code, problem): Problem,
) -> Result<Payload> {
    if method != Method::CallTool {
        return Err(ErrorObject::new(ErrorObject::INTERNAL, problem));
    }
    let name = call.name.as_deref().unwrap_or_default();
    let result = offered.tools.failed(name, ToolError::new(code, problem));
    let result = result.map_err(Interrupt::into_error)?;
    server.tool_result(&result, call.context.protocol_version)
}
