//! `tasks/get`, `tasks/update` and `tasks/cancel` of the extension of 2026-07-28, and the task notifications of a
//! listen.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::{Method, Server};
use super::needs_extension;
use crate::context::Context;
use crate::jsonrpc::{ErrorObject, Payload, Result};
use crate::lifecycle::MAX_SUBSCRIPTIONS;
use crate::task::{Entry, Open, TaskView};
use crate::version::Era;

impl Server {
    pub(in super::super) async fn about_task(
        &self,
        method: Method,
        mut params: Map<String, Value>,
        context: Context,
    ) -> Result<Payload> {
        if !context.takes_tasks() {
            return Err(needs_extension());
        }
        let entry = self.named_task(&params, &context).await?;
        match method {
            Method::UpdateTask => {
                let responses = params.remove("inputResponses");
                self.update_task(&entry, responses, &context).await?;
            }
            Method::CancelTask => {
                if let Some(tasks) = &self.0.tasks {
                    // A task that has ended stays as it is. That is not an error.
                    tasks.cancel(&entry).await?;
                }
            }
            _ => {
                let entry = match self.tasks() {
                    Some(tasks) => tasks.with_result(&entry).await?,
                    None => entry,
                };
                let state = entry.state();
                let task = TaskView { entry: &entry, state: &state, detailed: true };
                return self.complete(&task, None, None, Era::Modern);
            }
        }
        self.complete(&json!({}), None, None, Era::Modern)
    }

    /// Takes the answers to open questions. Answers under other keys are ignored, whatever they contain.
    async fn update_task(
        &self,
        entry: &Entry,
        responses: Option<Value>,
        context: &Context,
    ) -> Result<()> {
        let Some(Value::Object(responses)) = responses else {
            return Err(ErrorObject::invalid_params(
                "tasks/update needs params.inputResponses, an object with answers under keys of inputRequests",
            ));
        };
        let open = entry.open(responses.keys());
        for Open { key, question, .. } in &open {
            // An answer that does not fit its question leaves the question open.
            if let Some(answer) = responses.get(key) {
                question.read(answer).map_err(|problem| context.bad_answer(key, &problem))?;
            }
        }
        let is_open = |key: &String| open.iter().any(|open| open.key == *key);
        let answers = responses.into_iter().filter(|(key, _)| is_open(key));
        match &self.0.tasks {
            Some(tasks) => tasks.answer(entry, answers.collect()).await,
            None => Ok(()),
        }
    }

    /// The tasks whose changes a listen receives; `None` if it does not ask for any, or if this server has no tasks.
    pub(in super::super) async fn tasks_to_watch(
        &self,
        wanted: Option<&Value>,
        context: &Context,
    ) -> Result<Option<Vec<Arc<Entry>>>> {
        let wanted = wanted.filter(|wanted| !wanted.is_null());
        let (Some(wanted), Some(_)) = (wanted, &self.0.tasks) else {
            return Ok(None);
        };
        if !context.takes_tasks() {
            return Err(needs_extension());
        }
        let unfit = || {
            ErrorObject::invalid_params(format!(
                "params.notifications.taskIds must be an array of at most {MAX_SUBSCRIPTIONS} strings"
            ))
        };
        let ids = wanted.as_array().filter(|ids| ids.len() <= MAX_SUBSCRIPTIONS);
        let ids = ids.ok_or_else(unfit)?.iter().map(Value::as_str);
        let ids: Vec<&str> = ids.collect::<Option<_>>().ok_or_else(unfit)?;
        let mut found: Vec<Arc<Entry>> = Vec::new();
        for id in ids {
            if !found.iter().any(|known| *known.id == *id) {
                found.extend(self.find_task(id, context).await?);
            }
        }
        Ok(Some(found))
    }
}
