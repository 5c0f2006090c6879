//! What handlers take and return, where the causes of their errors go, and what the compiler says of those that do not
//! fit.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use mcp_proto::{
    CallToolResult, ContentBlock, Context, Era, Json, RequestError, Resource, ResourceContents,
    Server, Tool, ToolError,
};
use mcp_proto_client::ClientError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::common::{every_client, subscribe};

/// The state.
#[derive(Clone)]
struct Shop(&'static str);

#[derive(Deserialize, JsonSchema)]
struct Wanted {
    part: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Price {
    cents: u32,
}

/// A sentence, of which quotes and ends of lines are part.
const TEXT: &str = "line 1\nsays \"hi\"\n";

fn a_file() -> std::io::Result<String> {
    std::fs::read_to_string("/there is no such file")
}

/// For a tool and a resource.
fn shared() -> Result<String, RequestError> {
    Err(RequestError::not_found("no part \"x\"").with_data("known", vec!["bolt"]))
}

fn coded() -> Result<String, ToolError> {
    Err(ToolError::new("SOLD_OUT", "no bolts are left").with_data(json!({ "until": "May" })))
}

fn server() -> Server {
    let tool = |name: &str| Tool::new(name, "");
    Server::builder("shop", "1", Shop("the corner shop"))
        .tool(tool("text"), async || TEXT.to_owned())
        .tool(tool("str"), async || TEXT)
        .tool(tool("nothing"), async || ())
        .tool(tool("json"), async || Json(Price { cents: 5 }))
        .tool(tool("json-result"), async || Ok(Json(Price { cents: 5 })))
        .tool(tool("block"), async || ContentBlock::image(b"png", "image/png"))
        .tool(tool("blocks"), async || vec![ContentBlock::text("a"), ContentBlock::text("b")])
        .tool(tool("array"), async || [ContentBlock::text("a"), ContentBlock::text("b")])
        .tool(tool("some"), async || Some(Json(Price { cents: 7 })))
        .tool(tool("none"), async || None::<Json<Price>>)
        .tool(tool("whole"), async || CallToolResult::text("whole").with_error())
        .tool(tool("takes-state"), async |shop: Shop| shop.0)
        .tool(tool("takes-arguments"), async |wanted: Wanted| wanted.part)
        .tool(tool("takes-context"), async |context: Context| format!("{:?}", context.era()))
        .tool(tool("takes-state-arguments"), async |shop: Shop, wanted: Wanted| {
            format!("{} of {}", wanted.part, shop.0)
        })
        .tool(tool("takes-state-context"), async |shop: Shop, context: Context| {
            format!("{} {:?}", shop.0, context.era())
        })
        .tool(tool("takes-arguments-context"), async |wanted: Wanted, context: Context| {
            format!("{} {:?}", wanted.part, context.era())
        })
        .tool(tool("takes-all"), takes_all)
        .tool(tool("broken"), async || Ok(a_file()?))
        .tool(tool("internal"), async || Err::<(), _>(ToolError::internal("the till is jammed")))
        .tool(tool("not-found"), async || Ok(shared()?))
        .resource(Resource::new("shop://broken", "broken"), async |_, _| {
            Ok(ResourceContents::text("shop://broken", a_file()?))
        })
        .resource(Resource::new("shop://sold", "sold"), async |_, _| {
            Ok(ResourceContents::text("shop://sold", coded()?))
        })
        .build()
        .unwrap()
}

async fn takes_all(shop: Shop, wanted: Wanted, context: Context) -> Result<String, ToolError> {
    Ok(format!("{} of {} {:?}", wanted.part, shop.0, context.era()))
}

#[tokio::test]
async fn what_a_handler_returns_is_sent_as_it_is() {
    let (clients, served) = every_client(&server()).await;
    for (name, client) in &clients {
        let call = async |tool: &str| client.call_tool(tool, json!({})).await.unwrap();
        for tool in ["text", "str"] {
            let result = call(tool).await;
            assert_eq!(result.content, [ContentBlock::text(TEXT)], "{name}");
            assert_eq!(result.structured_content, None, "{name}");
        }
        for tool in ["nothing", "none"] {
            let result = call(tool).await;
            assert!(result.content.is_empty() && !result.is_error, "{name} {tool}");
            assert_eq!(result.structured_content, None, "{name} {tool}");
        }
        for (tool, cents) in [("json", 5), ("json-result", 5), ("some", 7)] {
            let result = call(tool).await;
            assert_eq!(result.structured::<Price>().unwrap(), Price { cents }, "{name} {tool}");
            assert_eq!(result.text(), format!("{{\"cents\":{cents}}}"), "{name} {tool}");
        }
        let image = [ContentBlock::image(b"png", "image/png")];
        assert_eq!(call("block").await.content, image, "{name}");
        for tool in ["blocks", "array"] {
            assert_eq!(call(tool).await.text(), "a\nb", "{name}");
        }
        assert!(call("whole").await.is_error, "{name}");
        // Only what is always sent is promised.
        let tools = client.list_tools().await.unwrap();
        let promised = tools.iter().filter(|tool| tool.output_schema.is_some());
        assert!(promised.map(|tool| &*tool.name).eq(["json", "json-result"]), "{name}");
    }
    served.ended().await;
}

#[tokio::test]
async fn a_handler_takes_what_it_needs() {
    let (clients, served) = every_client(&server()).await;
    for (name, client) in &clients {
        let era = if name.contains("Modern") { Era::Modern } else { Era::Legacy };
        let (shop, part) = ("the corner shop", "bolt");
        for (tool, told) in [
            ("takes-state", shop.to_owned()),
            ("takes-arguments", part.to_owned()),
            ("takes-context", format!("{era:?}")),
            ("takes-state-arguments", format!("{part} of {shop}")),
            ("takes-state-context", format!("{shop} {era:?}")),
            ("takes-arguments-context", format!("{part} {era:?}")),
            ("takes-all", format!("{part} of {shop} {era:?}")),
        ] {
            let result = client.call_tool(tool, json!({ "part": part })).await.unwrap();
            assert_eq!(result.text(), told, "{name} {tool}");
        }
        let tools = client.list_tools().await.unwrap();
        let schema = |name: &str| &tools.iter().find(|it| it.name == name).unwrap().input_schema;
        assert_eq!(*schema("text"), json!({ "type": "object", "properties": {} }));
        assert_eq!(schema("takes-arguments")["required"], json!(["part"]));
    }
    served.ended().await;
}

/// The lines that this library logs, with their fields.
#[derive(Debug, Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{}={value:?} ", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target().starts_with("mcp_proto::")
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl Lines {
    /// The one line with this cause; it is taken out.
    #[track_caller]
    fn take(&self, cause: &str) -> String {
        let mut lines = std::mem::take(&mut *self.0.lock().unwrap());
        lines.retain(|line| line.contains("cause="));
        assert_eq!(lines.len(), 1, "{lines:?}");
        let line = lines.remove(0);
        assert!(line.contains(cause), "{line}");
        line
    }
}

#[tokio::test]
async fn the_cause_of_an_internal_error_is_logged_and_not_sent() {
    let lines = Lines::default();
    let _here = subscribe(lines.clone());
    let (clients, served) = every_client(&server()).await;
    for (name, client) in &clients {
        for (tool, cause) in [("broken", "No such file"), ("internal", "the till is jammed")] {
            let result = client.call_tool(tool, json!({})).await.unwrap();
            let body: Value = serde_json::from_str(&result.text()).unwrap();
            assert!(result.is_error, "{name}");
            assert_eq!(body["error"]["code"], "INTERNAL_ERROR", "{name}");
            let message = "the tool failed; the server's log has the details";
            assert_eq!(body["error"]["message"], message, "{name}");
            let line = lines.take(cause);
            assert!(line.contains(&format!("tool={tool:?}")), "{name}: {line}");
            assert!(line.contains("request_id="), "{name}: {line}");
        }
        let error = refusal(client.read_resource("shop://broken").await);
        assert_eq!(error, (-32603, "internal error; the server's log has the details".to_owned()));
        let line = lines.take("No such file");
        assert!(line.contains("shop://broken") && line.contains("request_id="), "{name}: {line}");
    }
    served.ended().await;
}

#[track_caller]
fn refusal<T: fmt::Debug>(answer: Result<T, ClientError>) -> (i64, String) {
    match answer {
        Err(ClientError::Rpc(error)) => (error.code, error.message),
        other => panic!("no error of the server: {other:?}"),
    }
}

#[tokio::test]
async fn errors_of_tools_and_requests_become_each_other() {
    let (clients, served) = every_client(&server()).await;
    for (name, client) in &clients {
        let result = client.call_tool("not-found", json!({})).await.unwrap();
        let body: Value = serde_json::from_str(&result.text()).unwrap();
        let wanted = json!({
            "code": "NOT_FOUND", "message": "no part \"x\"", "data": { "known": ["bolt"] },
        });
        assert_eq!(body["error"], wanted, "{name}");
        let Err(ClientError::Rpc(error)) = client.read_resource("shop://sold").await else {
            panic!("{name}: it is sold out");
        };
        assert_eq!((error.code, &*error.message), (-32602, "no bolts are left"), "{name}");
        let data = error.data.unwrap();
        assert_eq!((&data["code"], &data["until"]), (&json!("SOLD_OUT"), &json!("May")));
    }
    served.ended().await;
    let there = RequestError::not_found("gone").with_data("a", 1);
    assert_eq!(RequestError::from(ToolError::from(there.clone())), there);
}

/// The text of an error is for any caller: a REST service that shows it tells no secret.
#[test]
fn the_text_of_an_internal_error_is_without_its_cause() {
    let tool = ToolError::internal("secret");
    let request = RequestError::from(tool.clone());
    for text in [tool.to_string(), request.to_string()] {
        assert!(text.contains("the server's log has the details"), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
    let ToolError::Internal(cause) = tool else { panic!("{tool}") };
    assert_eq!(cause.to_string(), "secret");
}

/// What the compiler says of a program that uses the library as this test does.
fn compiled(program: &str) -> Result<(), String> {
    let exe = std::env::current_exe().unwrap();
    let deps = exe.parent().unwrap();
    let library = library(deps).expect("the library is built beside its test");
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.rs");
    std::fs::write(&source, program).unwrap();
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--out-dir"])
        .arg(folder.path())
        .arg("--extern")
        .arg(format!("mcp_proto={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg(source)
        .output()
        .unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8(output.stderr).unwrap()) }
}

/// The newest build of the library.
fn library(deps: &Path) -> Option<PathBuf> {
    let built = std::fs::read_dir(deps).unwrap().map(|file| file.unwrap().path());
    let built = built.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libmcp_proto-") && name.ends_with(".rlib")
    });
    built.max_by_key(|path| path.metadata().unwrap().modified().unwrap())
}

#[test]
fn the_compiler_says_what_a_handler_lacks() {
    let added = |handler: &str, added: &str| {
        format!(
            "#[allow(unused)] use mcp_proto::{{
                Context, Json, Prompt, Resource, ResourceTemplate, ResourceUri, Server, Tool, ToolError,
            }};
            #[allow(unused)] pub struct Part;
            {handler}
            pub fn server() {{
                let _ = Server::builder(\"s\", \"1\", ()).{added};
            }}"
        )
    };
    let program = |handler: &str| added(handler, "tool(Tool::new(\"t\", \"\"), handler)");
    for fits in ["_: Context", "_: (), _: String", "_: (), _: String, _: Context"] {
        compiled(&program(&format!("async fn handler({fits}) {{}}"))).unwrap();
    }
    for (handler, told) in [
        (
            "async fn handler() -> Part { Part }",
            &["a tool cannot return `Part`", "handler", "`Json<Part>`", "`IntoToolResult`"][..],
        ),
        (
            "async fn handler() -> Result<Part, ToolError> { Ok(Part) }",
            &["a tool cannot return `Part`", "`Json<Part>`"],
        ),
        (
            "async fn handler() -> Result<String, std::fmt::Error> { Ok(String::new()) }",
            &["a tool cannot return `Result<", "std::fmt::Error>`", "`Result<_, ToolError>`"],
        ),
        (
            "async fn handler(_: Part) -> String { String::new() }",
            &["{handler}` is not a handler for the state `()`", "`serde::Deserialize`"],
        ),
        (
            "async fn handler(_: Context, _: ()) -> String { String::new() }",
            &["{handler}` is not a handler", "in this order; each may be left out"],
        ),
        (
            "fn handler() -> String { String::new() }",
            &["{handler}` is not a handler", "a handler is an async function"],
        ),
        ("async fn handler(_: (), _: Part, _: Context) -> String { String::new() }", &["`Part: "]),
    ] {
        let error = compiled(&program(handler)).unwrap_err();
        for told in told {
            assert!(error.contains(told), "{handler}: {told:?} is missing in\n{error}");
        }
    }
    let resource = "resource(Resource::new(\"x:1\", \"x\"), handler)";
    let template = "resource_template(ResourceTemplate::new(\"x:{a}\", \"x\"), handler)";
    let prompt = "prompt(Prompt::new(\"x\", \"\"), handler)";
    for (item, handler, told) in [
        (
            resource,
            "async fn handler() -> Part { Part }",
            &["a resource cannot return `Part`", "`Json<Part>`", "`IntoResource`"][..],
        ),
        (
            resource,
            "async fn handler(_: Part) -> String { String::new() }",
            &["{handler}` is not a handler for the state `()`"],
        ),
        (
            template,
            "async fn handler(_: ResourceUri) -> u8 { 0 }",
            &["a resource cannot return `u8`", "`Vec<u8>`"],
        ),
        (
            template,
            "async fn handler(_: Part) -> String { String::new() }",
            &["{handler}` is not a handler for the state `()`"],
        ),
        (
            prompt,
            "async fn handler() -> Json<u8> { Json(0) }",
            &["a prompt cannot return `Json<u8>`", "`PromptMessage`", "`IntoPrompt`"],
        ),
        (
            prompt,
            "async fn handler(_: Part) -> String { String::new() }",
            &["{handler}` is not a handler for the state `()`", "`serde::Deserialize`"],
        ),
    ] {
        let error = compiled(&added(handler, item)).unwrap_err();
        for told in told {
            assert!(error.contains(told), "{item} {handler}: {told:?} is missing in\n{error}");
        }
    }
}
