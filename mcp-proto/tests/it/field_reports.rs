//! What users of other servers, clients and gateways met, tried here. Each test names its thread.

mod modern;
mod pipes;
mod sessions;
mod shapes;
mod tools;
mod writing;

use std::time::Duration;

use mcp_proto::{
    CallToolResult, Change, Context, GetPromptResult, Prompt, RequestError, Resource,
    ResourceContents, Server, ServerBuilder, Tool,
};
use serde_json::json;

use crate::common::{Probe, builder};

/// The resource that changes when `change` is called.
const WATCHED: &str = "test://watched";

/// The tools of [`builder`], one that takes a while, one that repeats raw JSON, and one that changes [`WATCHED`].
fn reporting(probe: &Probe) -> ServerBuilder<Probe> {
    let nothing = || json!({"type": "object"});
    builder(probe)
        .subscriptions()
        .raw_tool(
            Tool::new("slow", "Takes a while.").with_input_schema(nothing()),
            async |_, _, _| {
                tokio::time::sleep(Duration::from_millis(200)).await;
                Ok(CallToolResult::text("slow"))
            },
        )
        .raw_tool(
            Tool::new("raw", "Repeats its arguments as they are.").with_input_schema(nothing()),
            async |_, arguments, _| {
                let json = serde_json::to_string(&arguments).unwrap();
                Ok(CallToolResult::from_json(serde_json::from_str(&json).unwrap()))
            },
        )
        .raw_tool(
            Tool::new("change", "Changes.").with_input_schema(nothing()),
            async |_, _, context: Context| {
                context.notify(Change::resource_updated(WATCHED));
                Ok(CallToolResult::text("changed"))
            },
        )
        .raw_prompt(Prompt::new("prompt", "Is listed."), async |_, _, _| {
            Ok::<_, RequestError>(GetPromptResult::text(""))
        })
        .resource(Resource::new(WATCHED, "watched"), async |_, _| {
            Ok(ResourceContents::text(WATCHED, "as it was"))
        })
}

fn reporter() -> Server {
    reporting(&crate::common::probe().0).build().unwrap()
}
