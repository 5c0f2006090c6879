//! The whole server inside the test's process, on a real socket, with parts of the test's choice.

use std::sync::Arc;

use mcp_proto::budget::BudgetConfig;
use mcp_proto::http::authorize::{Authorization, BearerTokens};
use mcp_proto::http::{HttpConfig, ServeConfig, serve};
use mcp_proto::{Scopes, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use universe_server::commands::{CommandService, ServiceLimits};
use universe_server::http::App;
use universe_server::mcp;
use universe_server::rest::RestConfig;
use universe_server::store::{MemoryLimits, MemoryStore, UniverseLog};

use super::Client;

/// A server that ends with the test.
pub(crate) struct Local {
    pub(crate) client: Client,
    task: JoinHandle<()>,
}

impl Local {
    /// With the defaults, in memory.
    pub(crate) async fn start() -> Self {
        Self::with_store(memory(), ServiceLimits::default()).await
    }

    pub(crate) async fn with_store(store: Arc<dyn UniverseLog>, limits: ServiceLimits) -> Self {
        Self::with_service(CommandService::new(store, limits), RestConfig::default()).await
    }

    pub(crate) async fn with_service(service: CommandService, rest: RestConfig) -> Self {
        Self::with_app(app(service, rest)).await
    }

    /// One with bounds of its own on what clients hold.
    pub(crate) async fn with_budget(service: CommandService, budget: BudgetConfig) -> Self {
        let mut http = HttpConfig::default();
        http.budget = budget;
        Self::with_app(app_with(service, RestConfig::default(), http)).await
    }

    /// One that asks who calls, with bounds of its own.
    pub(crate) async fn asking(tokens: &str, budget: BudgetConfig) -> Self {
        let service = CommandService::new(memory(), ServiceLimits::default());
        let tokens = BearerTokens::from_text(tokens).unwrap();
        let authorization = Authorization::new(tokens).implies("write", Scopes::of(["read"]));
        let mut http = HttpConfig::default();
        http.budget = budget;
        http.authorization = Some(authorization.clone());
        let rest = RestConfig { authorization: Some(authorization), ..RestConfig::default() };
        Self::with_app(app_with(service, rest, http)).await
    }

    async fn with_app(app: App) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = Client(listener.local_addr().unwrap());
        let task = tokio::spawn(async move {
            let config = ServeConfig::default();
            let served = serve(listener, app, config, std::future::pending()).await;
            served.unwrap();
        });
        Self { client, task }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) fn memory() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new(MemoryLimits::default()))
}

/// Both dialects without a socket.
pub(crate) fn app(service: CommandService, rest: RestConfig) -> App {
    let mut config = HttpConfig::default();
    config.max_body_bytes = rest.max_body_bytes;
    app_with(service, rest, config)
}

fn app_with(service: CommandService, rest: RestConfig, http: HttpConfig) -> App {
    let server = mcp::server(service.clone(), mcp::ToolSet::Core, None).unwrap();
    App::new(service, StreamableHttpService::with_config(server, http), rest)
}
