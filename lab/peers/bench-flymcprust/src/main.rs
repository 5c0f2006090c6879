//! The server on `flymcprust`, which supports both eras and keeps no session state.

use std::error::Error;

use flymcprust::prelude::*;
use flymcprust::transport::http::{HttpConfig, StreamableHttpService, serve};

/// 102,000 bytes of prose in 1,500 lines.
const LINE: &str = "A line of prose that says \"yes\" once, and then goes on to its end.\n";

/// Says it back.
#[tool]
async fn echo(text: String) -> String {
    text
}

/// Returns 100 KB of text.
#[tool]
async fn large() -> String {
    LINE.repeat(1_500)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::builder("bench", "0.1.0").tool::<echo>().tool::<large>().build()?;
    let address = std::env::args().nth(1).unwrap_or_default();
    if address == "--stdio" {
        return Ok(server.serve_stdio().await?);
    }
    let listener = tokio::net::TcpListener::bind(&address).await?;
    eprintln!("listening on http://{}/", listener.local_addr()?);
    let service = StreamableHttpService::with_config(server, HttpConfig::new());
    Ok(serve(listener, service, "/mcp", std::future::pending()).await?)
}
