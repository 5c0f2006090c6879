//! The layer that limits the time of calls: what it ends, and whose time it does not count.

use std::time::Duration;

use mcp_proto::input::{ElicitForm, ElicitResult, Field};
use mcp_proto::{CallToolResult, Context, Era, Server, Tool, ToolError, layers};
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::common::{PATIENCE, Served};

const LIMIT: Duration = Duration::from_millis(400);

/// Tells when it is dropped.
struct Told(UnboundedSender<()>);

impl Drop for Told {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

fn form() -> ElicitForm {
    ElicitForm::new("Who?").field("name", Field::text().required())
}

fn server(told: UnboundedSender<()>) -> Server {
    let tool = |name: &str| Tool::new(name, "").with_input_schema(json!({ "type": "object" }));
    Server::builder("s", "1", told)
        .raw_tool(tool("hang"), async |told, _, _| {
            let _told = Told(told);
            std::future::pending::<Result<CallToolResult, ToolError>>().await
        })
        .raw_tool(tool("quick"), async |_, _, _| Ok(CallToolResult::text("done")))
        .raw_tool(tool("ask").asking(), async |_, _, context: Context| {
            let answer = context.elicit("who", &form())?;
            Ok(CallToolResult::text(answer.text("name").unwrap_or_default()))
        })
        .raw_tool(tool("ask_and_hang").asking(), async |_, _, context: Context| {
            context.elicit("who", &form())?;
            std::future::pending::<Result<CallToolResult, ToolError>>().await
        })
        .layer(layers::time_limit(LIMIT))
        .build()
        .unwrap()
}

/// A client whose user takes longer than the limit.
fn config(era: Era) -> ClientConfig {
    ClientConfig::new(era).with_elicitation(async |_| {
        tokio::time::sleep(3 * LIMIT).await;
        ElicitResult::accept(Map::from_iter([("name".to_owned(), json!("Ann"))]))
    })
}

async fn call(client: &Client, tool: &str) -> Value {
    let called = client.call_tool_raw(tool, json!({}));
    tokio::time::timeout(PATIENCE, called).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_call_ends_at_its_limit_and_a_persons_time_does_not_count() {
    let (told, mut dropped) = unbounded_channel();
    let server = server(told);
    let served = Served::new(server.clone()).await;
    for era in [Era::Legacy, Era::Modern] {
        let http = Client::http(&served.url(), config(era)).await.unwrap();
        let pipe = Client::memory(server.clone(), config(era)).await.unwrap();
        for client in [&http, &pipe] {
            let over = call(client, "hang").await;
            assert_eq!(over["isError"], true, "{era:?}");
            let text = over["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("longer than 400ms"), "{text}");
            tokio::time::timeout(PATIENCE, dropped.recv()).await.unwrap().unwrap();
            assert_eq!(call(client, "quick").await["content"][0]["text"], "done");
            assert_eq!(call(client, "ask").await["content"][0]["text"], "Ann", "{era:?}");
            let over = call(client, "ask_and_hang").await;
            assert!(over.to_string().contains("longer than 400ms"), "{era:?}: {over}");
        }
    }
    served.ended().await;
}
