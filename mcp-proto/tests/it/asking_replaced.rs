//! The legacy era: what asks is replaced while its client is asked.

use mcp_proto::{
    CallToolResult, GetPromptResult, Prompt, Resource, ResourceContents, Server,
    StreamableHttpService, Tool, Update,
};
use serde_json::json;

use crate::asking_common::{asker, greet};
use crate::asking_legacy::{accepted, connected, open_session, post, start};

/// Puts others in the place of everything that asks.
fn replace(server: &Server) {
    let tool = Tool::new("ask", "").with_input_schema(json!({ "type": "object" }));
    let other = Update::new(())
        .without_tool("ask")
        .without_prompt("ask")
        .without_resource("test://ask")
        .raw_tool(tool, async |(), _, _| Ok(CallToolResult::text("other")))
        .raw_prompt(Prompt::new("ask", ""), async |(), _, _| Ok(GetPromptResult::text("other")))
        .resource(Resource::new("test://ask", "ask"), async |(), _| {
            Ok(ResourceContents::text("test://ask", "other"))
        });
    server.update(other).unwrap();
}

#[tokio::test]
async fn a_call_that_asks_stays_with_the_handler_it_began_with() {
    for (method, params) in [
        ("tools/call", json!({ "name": "ask" })),
        ("prompts/get", json!({ "name": "ask" })),
        ("resources/read", json!({ "uri": "test://ask" })),
    ] {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let build = || {
            let server = asker(greet).tools_list_changed().prompts_list_changed();
            server.resources_list_changed().build().unwrap()
        };
        let server = build();
        let service = StreamableHttpService::new(server.clone());
        let session = open_session(&service).await;
        let mut stream = start(&service, &session, &request).await;
        let question = stream.expect().await;
        replace(&server);
        post(&service, &session, &accepted(&question["id"], "Ann")).await;
        let over_http = stream.expect().await;

        let server = build();
        let mut peer = connected(server.clone()).await;
        peer.send(&request).await;
        let question = peer.next().await;
        replace(&server);
        peer.send(&accepted(&question["id"], "Ann")).await;
        // The lists that have changed are heard of first.
        let over_stdio = loop {
            let message = peer.next().await;
            if message.get("result").is_some() {
                break message;
            }
        };
        for answer in [over_http, over_stdio] {
            let said = answer["result"].to_string();
            assert!(said.contains("Ann") && !said.contains("other"), "{answer}");
        }
    }
}
