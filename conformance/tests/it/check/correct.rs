//! Servers that keep every rule: a small one in this process, and the example that offers everything.

use mcp_conformance::Target;
use mcp_proto::{
    GetPromptResult, Prompt, Resource, ResourceContents, ResourceTemplate, ResourceUri, Server,
    StreamableHttpService, Tool, ToolAnnotations,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::process::Command;

use crate::server;

#[derive(Debug, Deserialize, JsonSchema)]
struct NoArguments {}

/// Two tools, one of them read-only, whose list may change, two resources, a template, two prompts and logging.
pub(crate) fn correct() -> Target {
    let server = Server::builder("correct", "1.0.0", ())
        .logging()
        .tools_list_changed()
        .tool(Tool::new("write", "Writes nothing."), async |NoArguments {}: NoArguments| "done")
        .tool(
            Tool::new("look", "Looks around.").with_annotations(ToolAnnotations::read_only()),
            async |NoArguments {}: NoArguments| "a room",
        )
        .resource(Resource::new("test://one", "one"), async |(), _| {
            Ok(ResourceContents::text("test://one", "1"))
        })
        .resource(Resource::new("test://two", "two"), async |(), _| {
            Ok(ResourceContents::text("test://two", "2"))
        })
        .resource_template(
            ResourceTemplate::new("test://by/{id}", "by-id"),
            async |(), uri: ResourceUri, _| {
                Ok(ResourceContents::text(&uri.uri, json!(1).to_string()))
            },
        )
        .prompt(Prompt::new("greet", "Greets."), async |(), NoArguments {}, _| {
            Ok(GetPromptResult::text("Hello."))
        })
        .prompt(Prompt::new("part", "Says goodbye."), async |(), NoArguments {}, _| {
            Ok(GetPromptResult::text("Bye."))
        })
        .build()
        .unwrap();
    Target::service(StreamableHttpService::new(server))
}

/// The path of the example, built if need be.
pub(crate) async fn everything() -> String {
    server::built("everything").await
}

/// The example, listening on a free port.
pub(crate) async fn everything_over_http() -> (tokio::process::Child, String) {
    let mut command = Command::new(everything().await);
    command.args(["--listen", "127.0.0.1:0", "--portable"]);
    server::listening(&mut command).await
}
