//! The smallest server: one tool on stdin and stdout. It needs none of the library's features:
//! `cargo run -p mcp-proto --no-default-features --example stdio`.

use std::error::Error;

use mcp_proto::{Json, Server, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, JsonSchema)]
struct Asked {
    /// The number to double.
    number: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Doubled {
    doubled: i64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::builder("double", env!("CARGO_PKG_VERSION"), ())
        .tool(Tool::new("double", "Doubles a number."), async |asked: Asked| {
            Json(Doubled { doubled: asked.number.saturating_mul(2) })
        })
        .build()?;
    mcp_proto::stdio::serve_stdio(server).await?;
    Ok(())
}
