//! A server with one tool, over HTTP or, with `--stdio`, over stdin and stdout.
//!
//! `cargo run -p mcp-proto --example echo -- 127.0.0.1:3000`

use std::error::Error;

use mcp_proto::http::{ServeConfig, serve};
use mcp_proto::{Context, Server, StreamableHttpService, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the tool takes and gives back.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Echo {
    /// The text.
    text: String,
}

async fn echo((): (), said: Echo, _: Context) -> Result<Echo, ToolError> {
    Ok(said)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::builder("echo", "0.1.0", ())
        .tool(Tool::new("echo", "Says it back."), echo)
        .build()?;
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    if address == "--stdio" {
        mcp_proto::stdio::serve_stdio(server).await?;
        return Ok(());
    }
    let listener = tokio::net::TcpListener::bind(&address).await?;
    eprintln!("listening on http://{}/", listener.local_addr()?);
    let service = StreamableHttpService::new(server);
    let closing = service.clone();
    let shutdown = async move {
        // Without a signal to wait for, the server runs until it is killed.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        closing.close();
    };
    serve(listener, service, ServeConfig::default(), shutdown).await?;
    Ok(())
}
