//! Serving HTTP: REST and MCP on one address.

use std::net::SocketAddr;

use mcp_proto::StreamableHttpService;
use mcp_proto::http::{ServeConfig, serve};
use tokio::net::TcpListener;

use super::{RunError, open, share, stop_signal};
use crate::config::{Arguments, Config, StoreKind};
use crate::http::{App, MCP_PATH};
use crate::mcp;

pub(super) async fn run(arguments: &Arguments, config: Config) -> Result<(), RunError> {
    let stop = stop_signal()?;
    let listening = |error| RunError::Listen {
        address: arguments.listen,
        error,
    };
    let listener = TcpListener::bind(arguments.listen)
        .await
        .map_err(listening)?;
    let address = listener.local_addr().map_err(listening)?;
    // After the address is ours, so that a start that fails for it has touched nothing.
    let service = open(arguments).await?;
    let server = mcp::server(service.clone(), Some(&format!("http://{address}")))?;
    let shared = match arguments.store {
        StoreKind::Embedded => share::start(&arguments.data_dir, server.clone(), config.stdio),
        StoreKind::Memory => None,
    };
    let app = App::new(
        service,
        StreamableHttpService::with_config(server, config.mcp),
        config.rest,
    );
    greet(arguments, address);
    let closing = app.clone();
    let shutdown = async move {
        stop.await;
        closing.close();
    };
    serve(listener, app, ServeConfig::default(), shutdown).await;
    drop(shared);
    Ok(())
}

/// Tells the person who started it where everything is.
fn greet(arguments: &Arguments, address: SocketAddr) {
    let kept = match arguments.store {
        StoreKind::Embedded => format!("universes in {}", arguments.data_dir.display()),
        StoreKind::Memory => "universes in memory, gone at the exit".to_owned(),
    };
    let demo = if arguments.demo {
        format!("\n  demo  http://{address}/universes/{}", crate::demo::ID)
    } else {
        String::new()
    };
    eprintln!(
        "universe-server {version}, {kept}\n  REST  http://{address}/universes\n  MCP   http://{address}{MCP_PATH}{demo}\n\
         For the configuration of an MCP client:\n  \
         {{\"mcpServers\": {{\"universe\": {{\"type\": \"http\", \"url\": \"http://{address}{MCP_PATH}\"}}}}}}\n\
         listening on http://{address}",
        version = env!("CARGO_PKG_VERSION"),
    );
}
