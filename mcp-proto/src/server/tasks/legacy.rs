//! `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel` of the experimental tasks of 2025-11-25.

use serde_json::{Map, Value};

use super::super::rounds::asking::{ANSWER_INVALID, Asking, CANNOT_BE_ASKED, Problem};
use super::super::{Method, Server, wire};
use crate::context::Context;
use crate::jsonrpc::{ErrorObject, Payload};
use crate::seal::{cursor, open_cursor};
use crate::task::{Entry, Open, Owner, Stage, Step, TaskView};
use crate::version::Era;

impl Server {
    pub(super) async fn about_legacy_task(
        &self,
        method: Method,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Payload, ErrorObject> {
        if method == Method::ListTasks {
            return self.list_tasks(params, context);
        }
        let entry = self.named_task(params, context)?;
        match method {
            Method::TaskResult => self.task_result(&entry, context).await,
            Method::CancelTask => {
                self.cancel_legacy_task(&entry)?;
                task(&entry)
            }
            _ => task(&entry),
        }
    }

    fn cancel_legacy_task(&self, entry: &Entry) -> Result<(), ErrorObject> {
        let tasks = self.0.tasks.as_ref();
        if tasks.is_some_and(|tasks| tasks.end(entry, Stage::Cancelled)) {
            return Ok(());
        }
        Err(ErrorObject::invalid_params(format!(
            "the task cannot be cancelled: it is {} already",
            entry.state().stage.status()
        )))
    }

    /// Waits for the end of a task and gives what its call would have given. Meanwhile its questions are put here, as
    /// long as no newer request waits for the same task.
    async fn task_result(&self, entry: &Entry, context: &Context) -> Result<Payload, ErrorObject> {
        let attached = entry.attach(context.outbox.clone());
        let mut state = entry.subscribe();
        loop {
            state.mark_unchanged();
            match attached.step() {
                Step::Over => return outcome(entry),
                // Its sender is in the entry.
                Step::Wait => drop(state.changed().await),
                Step::Ask(round, questions) => {
                    let mut asking = Asking::new(context, Some(&entry.id));
                    let asked = tokio::select! {
                        biased;
                        _ = state.wait_for(|state| !attached.may_ask(round, state)) => Ok(()),
                        asked = self.ask_for_task(entry, &questions, &mut asking) => asked,
                    };
                    asking.take_back().await;
                    match asked {
                        Ok(()) => {}
                        // Another request for the same result may do better.
                        Err((CANNOT_BE_ASKED, _)) => {
                            return Err(ErrorObject::invalid_request(
                                "the task asks its client something, for which tasks/result needs an event stream: accept text/event-stream",
                            ));
                        }
                        Err(problem) => entry.give_up(round, problem),
                    }
                }
            }
        }
    }

    /// Puts questions of a task to its client; the task gets each answer as it comes.
    async fn ask_for_task(
        &self,
        entry: &Entry,
        questions: &[Open],
        asking: &mut Asking<'_>,
    ) -> Result<(), Problem> {
        let config = &self.0.rounds.config;
        let mut room = config.max_answer_bytes;
        let questions = questions.iter();
        let questions = questions.map(|open| (open.key.as_str(), &open.question));
        let asked = asking.ask(
            questions,
            config.answer_timeout,
            &mut room,
            |key, answer| {
                let Some(tasks) = &self.0.tasks else {
                    return Ok(());
                };
                let taken = tasks.answer(entry, vec![(key.to_owned(), answer)]);
                taken.map_err(|error| (ANSWER_INVALID, error.message))
            },
        );
        asked.await
    }

    /// The tasks of the caller, the oldest first. A cursor says after which of them the page begins.
    fn list_tasks(
        &self,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Payload, ErrorObject> {
        let (keys, list) = (&self.0.rounds.keys, Method::ListTasks.name());
        let after = match params.get("cursor") {
            None => 0,
            Some(given) => given
                .as_str()
                .and_then(|given| open_cursor(keys, list, context.principal(), given))
                .and_then(|after| after.parse().ok())
                .ok_or_else(|| {
                    ErrorObject::invalid_params(
                        "params.cursor is none that this server gave for tasks/list: start again without it",
                    )
                })?,
        };
        let Some(tasks) = &self.0.tasks else {
            return Err(ErrorObject::method_not_found(list));
        };
        let (page, more) = tasks.list(&Owner::of(context), Era::Legacy, after, self.0.page_size);
        let next_cursor = match page.last().filter(|_| more) {
            None => None,
            Some(last) => {
                let after = last.number.to_string();
                let sealed = cursor(keys, list, context.principal(), &after);
                Some(sealed.map_err(|problem| {
                    tracing::error!(%problem, "a cursor could not be made");
                    ErrorObject::internal()
                })?)
            }
        };
        let items = page.iter().map(|entry| task(entry));
        let items = items.collect::<Result<Vec<_>, _>>()?;
        let items: Vec<_> = items.iter().collect();
        Payload::of(&wire::List {
            name: Method::ListTasks.list_member(),
            items: &items,
            next_cursor,
        })
    }
}

/// The task as it is now.
fn task(entry: &Entry) -> Result<Payload, ErrorObject> {
    let state = entry.state();
    Payload::of(&TaskView {
        entry,
        state: &state,
        detailed: false,
    })
}

/// What the call of a task that is over would have been answered.
fn outcome(entry: &Entry) -> Result<Payload, ErrorObject> {
    match &entry.state().stage {
        Stage::Completed(result) | Stage::ToolFailed(result) => Ok(result.clone()),
        Stage::Failed(error) => Err(error.clone()),
        Stage::Cancelled => Err(ErrorObject::invalid_params(
            "the task was cancelled and has no result",
        )),
        Stage::Working | Stage::InputRequired(_) | Stage::Expired => Err(
            ErrorObject::invalid_params("the task ran longer than its ttl and is kept no longer"),
        ),
    }
}
