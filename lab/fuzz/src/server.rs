//! A server with something of everything, for the targets that talk to one.

use std::sync::OnceLock;

use mcp_proto::input::ElicitAction;
use mcp_proto::jsonrpc::{ErrorObject, Response};
use mcp_proto::{
    CallToolResult, Completion, ContentBlock, Context, ElicitForm, Field, GetPromptResult,
    InputConfig, Json, LogLevel, Prompt, PromptMessage, Resource, ResourceContents,
    ResourceTemplate, ResourceUri, Server, ServerBuilder, Tool, ToolError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The URI template that the server has.
const NOTE: &str = "note://{book}/{page}";

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Echo {
    /// The text.
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Steps {
    steps: u8,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Done {
    done: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Pay {
    amount: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Greeting {
    name: String,
}

/// The server of the transports' targets.
pub(super) fn shared() -> Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let server = SERVER.get_or_init(|| builder(InputConfig::default()).build().expect("a server"));
    server.clone()
}

/// The same, not finished.
pub(super) fn builder(input: InputConfig) -> ServerBuilder<()> {
    Server::builder("fuzzed", "1.0.0", ())
        .tool(Tool::new("echo", "Says it back.").asking(), echo)
        .tool(Tool::new("count", "Counts, and says so.").asking(), count)
        .tool(Tool::new("pay", "Asks before it pays.").asking(), pay)
        .resource(Resource::new("note://first", "first"), async |(), _| {
            Ok(ResourceContents::text("note://first", "one"))
        })
        .resource(Resource::new("note://second", "second"), async |(), _| {
            Ok(ResourceContents::blob("note://second", b"\xff\x00"))
        })
        .resource(Resource::new("note://third", "third"), async |(), _| {
            Ok(ResourceContents::text("note://third", "three"))
        })
        .resource_template(ResourceTemplate::new(NOTE, "note"), async |(), uri: ResourceUri, _| {
            let text = uri.get("page").unwrap_or_default().to_owned();
            Ok(ResourceContents::text(uri.uri.clone(), text))
        })
        .prompt(Prompt::new("greet", "A greeting."), async |(), greeting: Greeting, _| {
            let text = ContentBlock::text(format!("Hello {}", greeting.name));
            Ok(GetPromptResult::new(vec![PromptMessage::user(text)]))
        })
        .complete_prompt("greet", "name", async |(), asked, _| {
            Ok(Completion::matching(&asked, ["Ada", "Alan"]))
        })
        .complete_template(NOTE, "book", async |(), asked, _| {
            Ok(Completion::matching(&asked, ["red", "blue"]))
        })
        .subscriptions()
        .tools_list_changed()
        .logging()
        .input(input)
}

/// The error of an answer, if it is one. None is the server's own fault: that is what a caught panic looks like.
pub(super) fn error(response: &Response) -> Option<&ErrorObject> {
    let error = response.outcome.as_ref().err();
    if let Some(error) = error {
        assert_ne!(error.code, ErrorObject::INTERNAL, "{error:?}");
        assert!(!error.message.is_empty());
    }
    error
}

/// The result of an answer, if it is one. A tool of ours never fails by its own fault.
pub(super) fn result(response: &Response) -> Option<Value> {
    let result = response.outcome.as_ref().ok()?.to_value();
    if result["isError"] == true {
        let text = result["content"][0]["text"].as_str();
        let text = text.expect("a failure tells why");
        assert!(!text.contains("INTERNAL_ERROR"), "{text}");
    }
    Some(result)
}

async fn echo(said: Echo, context: Context) -> Json<Echo> {
    context.log(LogLevel::Info, None, "echo").await;
    Json(said)
}

async fn count(wanted: Steps, context: Context) -> Json<Done> {
    let all = f64::from(wanted.steps);
    for step in 1..=wanted.steps {
        let step = f64::from(step);
        context.progress(step, Some(all), Some("on it")).await;
    }
    Json(Done { done: true })
}

async fn pay((): (), bill: Pay, context: Context) -> Result<CallToolResult, ToolError> {
    let form = ElicitForm::new(format!("Pay {}?", bill.amount))
        .field("sure", Field::boolean().required())
        .field("note", Field::text());
    let answer = context.elicit("confirm", &form)?;
    Ok(CallToolResult::text(match answer.action {
        ElicitAction::Accept => format!("paid {}: {}", bill.amount, answer.content["sure"]),
        ElicitAction::Decline => "declined".to_owned(),
        ElicitAction::Cancel => "cancelled".to_owned(),
    }))
}
