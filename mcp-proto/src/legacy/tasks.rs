//! The experimental tasks of 2025-11-25: calls that clients turn into tasks, `tasks/get`, `tasks/result`, `tasks/list`
//! and `tasks/cancel`.

pub(crate) mod stream;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::context::Context;
use crate::jsonrpc::{ErrorObject, Payload, Result};
use crate::legacy::asking::{ANSWER_INVALID, CANNOT_BE_ASKED, ClientQuestions, Problem};
use crate::legacy::method::Method;
use crate::server::{Offered, Server, Start, wire};
use crate::service::Call;
use crate::task::{Calling, Entry, Open, Stage, TaskMode, TaskSupport, TaskView};
use crate::tool::CallToolResult;
use crate::version::{Era, ProtocolVersion};
use stream::{Step, relate};

/// Answers a request about tasks.
pub(crate) async fn answer(
    server: &Server,
    method: Method,
    params: &Map<String, Value>,
    context: &Context,
) -> Result<Payload> {
    if !has_tasks(context) {
        return Err(ErrorObject::method_not_found(method.name()));
    }
    if method == Method::ListTasks {
        return list_tasks(server, params, context).await;
    }
    let entry = server.named_task(params, context).await?;
    match method {
        Method::TaskResult => task_result(server, &entry, context).await,
        Method::CancelTask => {
            cancel(server, &entry).await?;
            task(&entry)
        }
        _ => task(&entry),
    }
}

async fn cancel(server: &Server, entry: &Entry) -> Result<()> {
    if let Some(tasks) = server.tasks()
        && tasks.cancel(entry).await?
    {
        return Ok(());
    }
    Err(ErrorObject::invalid_params(format!(
        "the task cannot be cancelled: it is {} already",
        entry.state().stage.status()
    )))
}

/// Waits for the end of a task, wherever it runs, and returns what its call would have returned.
async fn task_result(server: &Server, entry: &Arc<Entry>, context: &Context) -> Result<Payload> {
    let following = server.tasks().and_then(|tasks| tasks.follow(entry));
    let Some(following) = following else {
        return result_of(server, entry, context).await;
    };
    let mut result = pin!(result_of(server, entry, context));
    tokio::select! {
        biased;
        result = &mut result => result,
        // The task has ended, which is what was awaited.
        () = following => result.await,
    }
}

/// Waits for the end of a task whose changes are all seen here. Meanwhile its questions are sent on this request's
/// stream, as long as no newer request waits for the same task.
async fn result_of(server: &Server, entry: &Arc<Entry>, context: &Context) -> Result<Payload> {
    let attached = entry.attach(context.outbox.clone());
    let mut state = entry.subscribe();
    loop {
        state.mark_unchanged();
        match attached.step() {
            Step::Over => {
                let Some(tasks) = server.tasks() else {
                    return outcome(entry);
                };
                return outcome(&*tasks.with_result(entry).await?);
            }
            // Its sender is in the entry.
            Step::Wait => drop(state.changed().await),
            Step::Ask(round, questions) => {
                let mut asking = ClientQuestions::new(context, Some(&entry.id));
                let asked = tokio::select! {
                    biased;
                    _ = state.wait_for(|state| !attached.may_ask(round, state)) => Ok(()),
                    asked = ask_for_task(server, entry, &questions, &mut asking) => asked,
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
                    Err((code, problem)) => {
                        if let Some(tasks) = server.tasks() {
                            tasks.give_up(entry, round, (code.into(), problem)).await?;
                        }
                    }
                }
            }
        }
    }
}

/// Sends questions of a task to its client; the task gets each answer when it arrives.
async fn ask_for_task(
    server: &Server,
    entry: &Entry,
    questions: &[Open],
    asking: &mut ClientQuestions<'_>,
) -> Result<(), Problem> {
    let config = &server.0.rounds.config;
    let mut room = config.max_answer_bytes;
    let questions = questions.iter();
    let questions = questions.map(|open| (open.key.as_str(), &open.question));
    // Unbounded, but there is at most one answer for each question.
    let (taken, mut to_take) = mpsc::unbounded_channel();
    let asked = async move {
        let take = |key: &str, answer| {
            // The receiver of the answers lives longer than this.
            let _ = taken.send((key.to_owned(), answer));
            Ok(())
        };
        asking.ask(questions, config.answer_timeout, &mut room, take).await
    };
    let taking = async {
        while let (Some(answer), Some(tasks)) = (to_take.recv().await, server.tasks()) {
            let taken = tasks.answer(entry, vec![answer]).await;
            taken.map_err(|error| (ANSWER_INVALID, error.message))?;
        }
        Ok(())
    };
    tokio::try_join!(asked, taking).map(|((), ())| ())
}

/// The tasks of the caller, the oldest first. A cursor holds the task after which the page begins.
async fn list_tasks(
    server: &Server,
    params: &Map<String, Value>,
    context: &Context,
) -> Result<Payload> {
    let list = Method::ListTasks.name();
    let after = match server.start(list, params, context)? {
        Start::More(Some(after)) => after.parse().map_err(|_| ErrorObject::internal())?,
        _ => 0,
    };
    let Some(tasks) = server.tasks() else {
        return Err(ErrorObject::method_not_found(list));
    };
    let owner = context.owner();
    let listed = tasks.list(&owner, Era::Legacy, after, server.0.page_size);
    let (page, more) = listed.await?;
    let next = page.last().filter(|_| more);
    let next = next.map(|(number, _)| Start::More(Some(number.to_string())));
    let next = next.map(|next| server.cursor(list, &next, context)).transpose()?;
    let items = page.iter().map(|(_, entry)| task(entry));
    let items = items.collect::<Result<Vec<_>, _>>()?;
    Payload::of(&wire::List { name: "tasks", items: &items, next_cursor: next })
}

/// How the tool of a call is to be called, or the error if its declaration forbids the call. Unknown tools are handled
/// elsewhere.
pub(crate) fn calling(offered: &Offered, call: &mut Call) -> Result<Calling> {
    let Call { name, params, context, .. } = call;
    let name = name.as_deref();
    let support = name.and_then(|name| offered.tools.task_support(name));
    let (Some(name), Some(support)) = (name, support) else {
        return Ok(Calling::Now(TaskMode::None));
    };
    let unfit = |problem| {
        let message = format!("the tool {name:?} {problem}");
        ErrorObject::new(ErrorObject::METHOD_NOT_FOUND, message)
    };
    let wanted = has_tasks(context) && params.get("task").is_some_and(|task| !task.is_null());
    match (support, wanted) {
        (TaskSupport::Forbidden, false) => Ok(Calling::Now(TaskMode::None)),
        (TaskSupport::Optional, false) => Ok(Calling::Now(TaskMode::Within)),
        (TaskSupport::Required, false) if has_tasks(context) => {
            Err(unfit("runs as a task alone: add params.task, such as {\"ttl\": 60000}"))
        }
        (TaskSupport::Required, false) => {
            Err(unfit("runs as a task alone, which this revision of the protocol does not have"))
        }
        (TaskSupport::Forbidden, true) => {
            Err(unfit("does not run as a task: leave params.task out"))
        }
        (TaskSupport::Optional | TaskSupport::Required, true) => {
            let task = params.remove("task").unwrap_or_default();
            read_ttl(&task).map(Calling::AsTask)
        }
    }
}

/// `CreateTaskResult`.
pub(crate) fn created(task: TaskView<'_>) -> Result<Payload> {
    #[derive(Serialize)]
    struct Created<'a> {
        task: TaskView<'a>,
    }
    Payload::of(&Created { task })
}

/// The final stage of a task whose tool has ended: a failure of the tool is a failure of the task.
pub(crate) fn ended(server: &Server, entry: &Entry, mut result: CallToolResult) -> Result<Stage> {
    relate(result.meta.get_or_insert_default(), &entry.id);
    let failed = result.is_error;
    let result = server.tool_result(&result, entry.version)?;
    Ok(if failed { Stage::ToolFailed(result) } else { Stage::Completed(result) })
}

/// Whether the client's revision has the experimental tasks.
fn has_tasks(context: &Context) -> bool {
    context.protocol_version == ProtocolVersion::V2025_11_25
}

/// `TaskMetadata` of 2025-11-25.
fn read_ttl(task: &Value) -> Result<Option<Duration>> {
    let unfit = |problem| Err(ErrorObject::invalid_params(problem));
    let Some(task) = task.as_object() else {
        return unfit("params.task must be an object such as {\"ttl\": 60000}");
    };
    let Some(ttl) = task.get("ttl").filter(|ttl| !ttl.is_null()) else {
        return Ok(None);
    };
    let millis = ttl.as_f64().filter(|ttl| *ttl >= 0.0);
    let Some(millis) = millis else {
        return unfit("params.task.ttl must be a number of milliseconds, at least 0");
    };
    // A value beyond any possible time is reduced to the maximum that is granted anyway.
    Ok(Some(Duration::try_from_secs_f64(millis / 1_000.0).unwrap_or(Duration::MAX)))
}

/// The task as it is now.
fn task(entry: &Entry) -> Result<Payload> {
    let state = entry.state();
    Payload::of(&TaskView { entry, state: &state, detailed: false })
}

/// The answer that the call of an ended task would have had.
fn outcome(entry: &Entry) -> Result<Payload> {
    match &entry.state().stage {
        Stage::Completed(result) | Stage::ToolFailed(result) => Ok(result.clone()),
        Stage::Failed(error) => Err(error.clone()),
        Stage::Cancelled => {
            Err(ErrorObject::invalid_params("the task was cancelled and has no result"))
        }
        Stage::Working | Stage::InputRequired(_) | Stage::Expired => Err(
            ErrorObject::invalid_params("the task ran longer than its ttl and is kept no longer"),
        ),
    }
}
