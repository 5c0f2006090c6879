//! Long-running tools: for clients that support tasks they become tasks.

use std::time::Duration;

use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto::{
    Context, ElicitForm, Field, Questions, ServerBuilder, TaskSupport, Tool, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::App;

/// What `greet` takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet.
    name: String,
}

/// What `slow_compute` takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct SlowCompute {
    /// How long it takes.
    seconds: f64,
    /// What to call the result.
    label: Option<String>,
}

/// What `confirm_delete` takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct ConfirmDelete {
    /// The file that would be deleted.
    filename: String,
}

pub(super) fn tools(builder: ServerBuilder<App>) -> ServerBuilder<App> {
    let optional = |name, description| {
        Tool::new(name, description).asking().with_task_support(TaskSupport::Optional)
    };
    let required = |name, description| {
        Tool::new(name, description).asking().with_task_support(TaskSupport::Required)
    };
    builder
        .tool(Tool::new("greet", "Greets at once.").asking(), greet)
        .tool(optional("slow_compute", "Sleeps, as a task where it can."), slow_compute)
        .tool(required("failing_job", "Fails after a second."), failing_job)
        .tool(optional("protocol_error_job", "Ends in a protocol error."), protocol_error_job)
        .tool(required("confirm_delete", "Asks before it goes on."), confirm_delete)
        .tool(required("multi_input", "Asks two things at once."), multi_input)
        .tool(required("test_tool_with_task", "Asks first, then takes its time."), asks_first)
}

async fn greet(asked: Greet) -> String {
    format!("Hello, {}!", asked.name)
}

/// From `start_task` on it is a task, if the client supports tasks.
async fn slow_compute(asked: SlowCompute, context: Context) -> Result<String, ToolError> {
    context.start_task()?;
    let time = Duration::try_from_secs_f64(asked.seconds.clamp(0.0, 3_600.0)).unwrap_or_default();
    tokio::time::sleep(time).await;
    let label = asked.label.unwrap_or_default();
    Ok(format!("Computed {label} in {} s.", time.as_secs_f64()))
}

async fn failing_job(context: Context) -> Result<String, ToolError> {
    context.start_task()?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    Err(ToolError::new("JOB_FAILED", "the job failed, as it always does"))
}

async fn protocol_error_job(context: Context) -> Result<String, ToolError> {
    context.start_task()?;
    tokio::time::sleep(Duration::from_millis(100)).await;
    Err(ErrorObject::internal().into())
}

/// A task asks like any other call; it waits as `input_required` until the client updates it.
async fn confirm_delete(asked: ConfirmDelete, context: Context) -> Result<String, ToolError> {
    context.start_task()?;
    let question = format!("Delete {}?", asked.filename);
    let form = ElicitForm::new(question).field("confirm", Field::boolean().required());
    let answer = context.elicit("confirm", &form)?;
    let confirmed = answer.accepted().is_some_and(|content| content["confirm"] == true);
    Ok(if confirmed {
        format!("{} would be deleted.", asked.filename)
    } else {
        format!("{} stays.", asked.filename)
    })
}

async fn multi_input(context: Context) -> Result<&'static str, ToolError> {
    context.start_task()?;
    let name = ElicitForm::new("What is your name?").field("name", Field::text());
    let confirm = ElicitForm::new("Are you sure?").field("confirm", Field::boolean());
    let questions = Questions::new().elicit("name", name).elicit("confirm", confirm);
    context.ask(&questions)?;
    Ok("Both are answered.")
}

async fn asks_first(context: Context) -> Result<String, ToolError> {
    let form = ElicitForm::new("What is your name?").field("name", Field::text().required());
    let answer = context.elicit("user_name", &form)?;
    context.start_task()?;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let name = answer.text("name").unwrap_or("stranger");
    Ok(format!("Done, {name}."))
}
