//! A server that offers everything: the fixture of the official conformance suite, and a tour of this library.
//!
//! ```text
//! cargo run --release -p mcp-proto --example everything -- --listen 127.0.0.1:3000
//! cargo run --release -p mcp-proto --example everything -- --stdio
//! ```
//!
//! Read from top to bottom: the parts of a server, then its tools, resources and prompts. The names and texts are the
//! suite's. `everything/asking.rs` asks the client, and `everything/tasks.rs` has long-running tools.
//! `everything/runtime.rs` is for servers with untrusted clients; `#[tokio::main]` is enough for others.
//! `everything/twins.rs` runs two servers that share sessions, calls and tasks.

#[path = "everything/asking.rs"]
mod asking;
#[path = "everything/runtime.rs"]
mod runtime;
#[path = "everything/tasks.rs"]
mod tasks;
#[path = "everything/twins.rs"]
mod twins;

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_proto::http::listen;
use mcp_proto::{
    CallToolResult, Change, Completion, CompletionRequest, ContentBlock, Context, Json, LogLevel,
    Prompt, PromptMessage, Resource, ResourceContents, ResourceTemplate, ResourceUri, Server,
    ServerBuilder, StreamableHttpService, TasksConfig, Tool,
};
use mcp_skills::{ServedSkills, Skill, Skills, SkillsExt as _};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// A picture and a sound, as small as they can be.
const PNG: &[u8] = include_bytes!("everything/pixel.png");
const WAV: &[u8] = include_bytes!("everything/silence.wav");

/// A tool that the suite expects, with `allOf` at the root of its schema. Model providers refuse that, and with it all
/// tools of a server. `--portable` hides it.
const NOT_PORTABLE: &str = "json_schema_2020_12_tool";

/// The state of which every handler gets a clone: in most servers, a database.
#[derive(Debug, Clone, Default)]
struct App {
    bus: twins::Bus,
}

fn main() -> Result<(), Box<dyn Error>> {
    runtime::runtime()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let server = everything(App::default())?.build()?;
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.last().is_some_and(|last| last == "--portable") {
        arguments.pop();
        if !server.hide_tools(&[NOT_PORTABLE]) {
            return Err("the tool to hide is not there".into());
        }
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--stdio"] => runtime::on_pipes(server).await,
        // One service for every path. To mount it beside others, match on the path and call
        // `StreamableHttpService::handle`.
        ["--listen", address] => {
            let service = StreamableHttpService::new(server);
            runtime::on(listen(address.parse()?)?, service).await
        }
        ["--twins", a, b] => twins::on([a, b]).await,
        _ => {
            let usage = "usage: everything --listen ADDRESS:PORT | --stdio, and perhaps --portable, \
                         or everything --twins ADDRESS:PORT ADDRESS:PORT";
            Err(usage.into())
        }
    }
}

/// The server: its identity, its features, and the changes that it announces.
fn everything(app: App) -> Result<ServerBuilder<App>, Box<dyn Error>> {
    let builder = Server::builder("everything", env!("CARGO_PKG_VERSION"), app)
        .title("Everything")
        .instructions("Call test_simple_text to see that it works.")
        .logging()
        .subscriptions()
        .tools_list_changed()
        .resources_list_changed()
        .prompts_list_changed()
        .tasks(TasksConfig::default())
        .skills(&skills()?);
    let builder = tools(builder);
    let builder = asking::tools(builder);
    let builder = tasks::tools(builder);
    let builder = resources(builder);
    Ok(prompts(builder))
}

/// Tools: an async function of the app, its arguments and the request's context, any of them left out.
fn tools(builder: ServerBuilder<App>) -> ServerBuilder<App> {
    builder
        .tool(Tool::new("test_simple_text", "Says a sentence."), simple_text)
        .tool(Tool::new("test_image_content", "Shows a picture."), image)
        .tool(Tool::new("test_audio_content", "Plays a sound."), audio)
        .tool(Tool::new("test_embedded_resource", "Hands over a resource."), embedded_resource)
        .tool(Tool::new("test_multiple_content_types", "Says, shows and hands over."), mixed)
        .tool(Tool::new("test_error_handling", "Fails."), failing)
        .tool(Tool::new("test_tool_with_progress", "Tells how far it is."), progressing)
        .tool(Tool::new("test_tool_with_logging", "Logs what it does."), logging)
        .tool(Tool::new("test_logging_tool", "Logs for clients that want it."), logging)
        .tool(Tool::new("test_reconnection", "Closes the connection and continues."), reconnection)
        .tool(Tool::new("test_cancellation", "Hangs until it is cancelled."), cancellation)
        .tool(
            Tool::new("test_custom_header", "Takes an argument that a header repeats."),
            custom_header,
        )
        .raw_tool(
            Tool::new(NOT_PORTABLE, "Has a schema written by hand.")
                .with_input_schema(person_schema()),
            async |_app, arguments, _context| Value::Object(arguments).to_string(),
        )
        .tool(
            Tool::new("test_trigger_tool_change", "Tells that the tools have changed."),
            async |app: App, context: Context| announce(&app, &context, Change::ToolsListChanged),
        )
        .tool(
            Tool::new("test_trigger_prompt_change", "Tells that the prompts have changed."),
            async |app: App, context: Context| announce(&app, &context, Change::PromptsListChanged),
        )
        .tool(
            Tool::new("test_trigger_resource_change", "Tells that a resource has changed."),
            async |app: App, context: Context| {
                announce(&app, &context, Change::resource_updated("test://watched-resource"))
            },
        )
}

/// Notifies all listeners of a change. Code outside of handlers has `Server::notify`.
fn announce(app: &App, context: &Context, change: Change) -> &'static str {
    app.bus.notify(context, change);
    "Told."
}

async fn simple_text() -> &'static str {
    "This is a simple text response for testing."
}

async fn image() -> ContentBlock {
    ContentBlock::image(PNG, "image/png")
}

async fn audio() -> ContentBlock {
    ContentBlock::audio(WAV, "audio/wav")
}

async fn embedded_resource() -> ContentBlock {
    let contents =
        ResourceContents::text("test://embedded-resource", "This is an embedded resource content.");
    ContentBlock::resource(contents.with_mime_type("text/plain"))
}

async fn mixed() -> [ContentBlock; 3] {
    let data = json!({ "test": "data", "value": 123 }).to_string();
    let contents = ResourceContents::text("test://mixed-content-resource", data);
    [
        ContentBlock::text("Multiple content types test:"),
        ContentBlock::image(PNG, "image/png"),
        ContentBlock::resource(contents.with_mime_type("application/json")),
    ]
}

/// An error that the model should read is a `ToolError`, with a code and a sentence, or a result that is marked as an
/// error.
async fn failing() -> CallToolResult {
    CallToolResult::text("This tool intentionally returns an error for testing").with_error()
}

/// Progress goes to clients that asked for it, and turns their answer into a stream. Other clients pay nothing for it.
async fn progressing(context: Context) -> &'static str {
    for step in [0.0, 50.0, 100.0] {
        context.progress(step, Some(100.0), None).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    "Done."
}

async fn logging(context: Context) -> &'static str {
    for step in ["started", "processing data", "completed"] {
        let text = match step {
            "processing data" => "Tool processing data".to_owned(),
            step => format!("Tool execution {step}"),
        };
        context.log(LogLevel::Info, None, text).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    "Logged what there was to log."
}

/// A long call need not hold the client's connection: the client reconnects for the answer.
async fn reconnection(context: Context) -> &'static str {
    context.release_connection(Duration::from_millis(100)).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    "Reconnected."
}

/// A cancelled call is dropped, wherever it waits, together with everything that it holds.
async fn cancellation(context: Context) -> &'static str {
    let _held = Held;
    context.progress(0.0, None, None).await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    "The call was not cancelled."
}

/// How many calls were dropped with their values.
static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Held;

impl Drop for Held {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::SeqCst);
    }
}

/// Proxies can route by a header that repeats an argument. The library sees to it that both say the same.
#[derive(Debug, Deserialize, JsonSchema)]
struct CustomHeader {
    /// Where to.
    #[schemars(extend("x-mcp-header" = "Value"))]
    value: Option<String>,
}

async fn custom_header(arguments: CustomHeader) -> String {
    format!("The value is {}.", arguments.value.unwrap_or_default())
}

fn person_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
        } },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" }
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } },
            "required": ["contactMethod"]
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false
    })
}

/// Resources: individual ones, or families with a URI template (RFC 6570).
fn resources(builder: ServerBuilder<App>) -> ServerBuilder<App> {
    let template = "test://template/{id}/data";
    builder
        .resource(
            Resource::new("test://static-text", "static-text").with_mime_type("text/plain"),
            async || "This is the content of the static text resource.",
        )
        .resource(
            Resource::new("test://static-binary", "static-binary").with_mime_type("image/png"),
            async || PNG,
        )
        .resource(
            Resource::new("test://watched-resource", "watched-resource")
                .with_description("Tells its subscribers when it changes.")
                .with_mime_type("text/plain"),
            async || "As it was.",
        )
        .resource(
            Resource::new("test://cancelled", "cancelled")
                .with_description("How many calls of test_cancellation were cancelled."),
            async || DROPPED.load(Ordering::SeqCst).to_string(),
        )
        .resource_template(
            ResourceTemplate::new(template, "template").with_mime_type("application/json"),
            item,
        )
        .complete_template(template, "id", async |request: CompletionRequest| {
            Ok(Completion::matching(&request, ["1", "12", "123"]))
        })
}

async fn item(uri: ResourceUri) -> Json<Value> {
    // The template has this variable, so a URI that matches it has one too.
    let id = uri.get("id").unwrap_or_default();
    Json(json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }))
}

/// The arguments of a prompt are texts; the members of a type are its arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct TwoArguments {
    /// The first.
    arg1: String,
    /// The second.
    arg2: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ForResource {
    /// The resource to embed.
    resource_uri: String,
}

fn prompts(builder: ServerBuilder<App>) -> ServerBuilder<App> {
    let with_arguments = "test_prompt_with_arguments";
    builder
        .prompt(
            Prompt::new("test_simple_prompt", "Says a sentence."),
            async || "This is a simple prompt for testing.",
        )
        .prompt(
            Prompt::new(with_arguments, "Repeats its arguments."),
            async |TwoArguments { arg1, arg2 }: TwoArguments| {
                format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
            },
        )
        .complete_prompt(with_arguments, "arg1", async |request: CompletionRequest| {
            Ok(Completion::matching(&request, ["test1", "test2", "hello"]))
        })
        .prompt(
            Prompt::new("test_prompt_with_embedded_resource", "Hands over a resource."),
            async |ForResource { resource_uri }: ForResource| {
                let text = "Embedded resource content for testing.";
                let contents = ResourceContents::text(resource_uri, text);
                [
                    ContentBlock::resource(contents.with_mime_type("text/plain")),
                    ContentBlock::text("Please process the embedded resource above."),
                ]
                .map(PromptMessage::user)
            },
        )
        .prompt(Prompt::new("test_prompt_with_image", "Shows a picture."), async || {
            let image = ContentBlock::image(PNG, "image/png");
            [image, ContentBlock::text("Please analyze the image above.")].map(PromptMessage::user)
        })
}

/// Skills: most servers load a folder (`Skills::folder`); these are made here.
fn skills() -> Result<ServedSkills, Box<dyn Error>> {
    let forms = Skill::new(
        "fill-in-forms",
        "Fills in forms. Use it when somebody hands over a form.",
        "# Forms\n\nRead `references/FORMS.md` first.\n",
    );
    let greetings = Skill::new(
        "greetings",
        "Greets people. Use it when somebody arrives.",
        "# Greetings\n\nSay hello.\n",
    );
    Ok(ServedSkills::new(Skills::from_skills([
        forms.with_file("references/FORMS.md", "# The forms there are\n"),
        greetings,
    ])?))
}
