//! Rounds with a legacy client: its answers come to requests on the call's own stream. Deletable with the era.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::{Method, Server};
use super::MAX_ROUNDS;
use super::asking::{Asking, Problem};
use crate::context::Context;
use crate::input::{Input, Questions};
use crate::interrupt::{Interrupt, Reason};
use crate::jsonrpc::{ErrorObject, Payload};
use crate::tool::ToolError;

impl Server {
    pub(super) async fn all_rounds(
        &self,
        method: Method,
        params: Map<String, Value>,
        mut context: Context,
    ) -> Result<Payload, ErrorObject> {
        let mut answers = BTreeMap::new();
        let mut room = self.0.rounds.config.max_answer_bytes;
        for _ in 0..MAX_ROUNDS {
            match self.run(method, params.clone(), context.clone()).await {
                Ok(payload) => return Ok(payload),
                Err(Interrupt(Reason::Ask(questions))) => {
                    match self.ask_client(&questions, &context, &mut room).await {
                        Ok(given) => answers.extend(given),
                        Err(problem) => {
                            return self.not_answered(method, &params, problem, &context);
                        }
                    }
                }
                Err(error) => return Err(error.into_error()),
            }
            context.input = Some(Arc::new(Input::new(answers.clone())));
        }
        tracing::error!(?method, "a handler asked its client {MAX_ROUNDS} times");
        Err(ErrorObject::internal())
    }

    /// Puts questions to the client. Those that are still open when one fails are taken back.
    async fn ask_client(
        &self,
        questions: &Questions,
        context: &Context,
        room: &mut usize,
    ) -> Result<BTreeMap<String, Value>, Problem> {
        let limit = self.0.rounds.config.answer_timeout;
        let mut given = BTreeMap::new();
        let mut asking = Asking::new(context, None);
        let asked = asking.ask(questions.iter(), limit, room, |key, answer| {
            given.insert(key.to_owned(), answer);
            Ok(())
        });
        let outcome = asked.await;
        if outcome.is_err() {
            asking.take_back().await;
        }
        outcome.map(|()| given)
    }

    /// A call that cannot go on without an answer: a tool tells its model, anything else is a protocol error.
    fn not_answered(
        &self,
        method: Method,
        params: &Map<String, Value>,
        (code, problem): Problem,
        context: &Context,
    ) -> Result<Payload, ErrorObject> {
        if method != Method::CallTool {
            return Err(ErrorObject::new(ErrorObject::INTERNAL, problem));
        }
        let name = params.get("name").and_then(Value::as_str);
        let failed = ToolError::new(code, problem);
        let result = self.0.tools.failed(name.unwrap_or_default(), failed);
        let result = result.map_err(Interrupt::into_error)?;
        self.tool_result(&result, context.protocol_version)
    }
}
