//! The server on `rmcp`, the official Rust SDK: sessions and event streams by default, `--json` for JSON without
//! sessions. Its router is created once: the documented form creates it for every call.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::service::NotificationContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{Peer, RoleServer, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

/// 102,000 bytes of prose in 1,500 lines.
const LINE: &str = "A line of prose that says \"yes\" once, and then goes on to its end.\n";

#[derive(Debug, Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Clone)]
struct Bench {
    router: Arc<ToolRouter<Self>>,
    sessions: Arc<Mutex<Vec<Peer<RoleServer>>>>,
}

#[tool_router]
impl Bench {
    fn new() -> Self {
        Self { router: Arc::new(Self::tool_router()), sessions: Arc::default() }
    }

    #[tool(description = "Says it back.")]
    async fn echo(&self, said: Parameters<Echo>) -> String {
        said.0.text
    }

    #[tool(description = "Returns 100 KB of text.")]
    async fn large(&self) -> String {
        LINE.repeat(1_500)
    }

    #[tool(description = "Notifies all clients.")]
    async fn touch(&self) -> String {
        for session in self.peers() {
            // The client may have gone.
            let _ = session.notify_tool_list_changed().await;
        }
        "touched".to_owned()
    }
}

impl Bench {
    fn peers(&self) -> Vec<Peer<RoleServer>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[tool_handler(router = self.router)]
impl ServerHandler for Bench {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build(),
        )
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.push(context.peer);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let bench = Bench::new();
    let address = std::env::args().nth(1).unwrap_or_default();
    if address == "--stdio" {
        bench.serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    }
    let mut config = StreamableHttpServerConfig::default();
    if std::env::args().nth(2).as_deref() == Some("--json") {
        config.legacy_session_mode = false;
        config.json_response = true;
    }
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(bench.clone()), sessions, config);
    let listener = tokio::net::TcpListener::bind(&address).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    let router = axum::Router::new().route_service("/mcp", service);
    use axum::serve::ListenerExt;
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    Ok(axum::serve(listener, router).await?)
}
