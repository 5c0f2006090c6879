//! The server on this project's library, with the three tools that all servers of the comparison have.

use std::error::Error;
use std::sync::Arc;

use mcp_proto::budget::Bound;
use mcp_proto::http::{HttpConfig, serve};
use mcp_proto::session::{MemorySessions, MemorySessionsConfig};
use mcp_proto::{CallToolResult, Change, Context, Server, StreamableHttpService, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

/// 102,000 bytes of prose in 1,500 lines.
const LINE: &str = "A line of prose that says \"yes\" once, and then goes on to its end.\n";

#[derive(Debug, Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

async fn echo((): (), said: Echo, _: Context) -> Result<CallToolResult, ToolError> {
    Ok(CallToolResult::text(said.text))
}

async fn large((): (), _: Nothing, _: Context) -> Result<CallToolResult, ToolError> {
    Ok(CallToolResult::text(LINE.repeat(1_500)))
}

async fn touch((): (), _: Nothing, context: Context) -> Result<CallToolResult, ToolError> {
    context.notify(Change::ToolsListChanged);
    Ok(CallToolResult::text("touched"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::builder("bench", "0.1.0", ())
        .tools_list_changed()
        .tool(Tool::new("echo", "Says it back."), echo)
        .tool(Tool::new("large", "Returns 100 KB of text."), large)
        .tool(Tool::new("touch", "Notifies all clients."), touch)
        .build()?;
    let address = std::env::args().nth(1).unwrap_or_default();
    if address == "--stdio" {
        mcp_proto::stdio::serve_stdio(server).await?;
        return Ok(());
    }
    // The defaults, except for the limits of one client: the load is one client with 10,000 sessions and streams.
    let all = Bound { total: 20_000, share: 20_000 };
    let mut config = HttpConfig::default();
    config.budget.listeners = all;
    let mut serving = config.serving();
    serving.connections = all;
    let mut sessions = MemorySessionsConfig::default();
    (sessions.max_sessions, sessions.max_sessions_per_client) = (30_000, 30_000);
    let sessions = Arc::new(MemorySessions::new(sessions));
    let listener = tokio::net::TcpListener::bind(&address).await?;
    eprintln!("listening on http://{}/", listener.local_addr()?);
    let service = StreamableHttpService::with_sessions(server, config, sessions);
    serve(listener, service, serving, std::future::pending()).await?;
    Ok(())
}
