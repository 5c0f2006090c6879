//! A web service on axum with MCP at `/mcp`: `route_service` mounts it, and the layers of the service apply to it, too.
//! Run it by `cargo run -p mcp-proto --example axum`; the guide's page on axum (`docs/axum.md`) goes through it.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use mcp_proto::http::Peer;
use mcp_proto::{BuildError, Context, Principal, Server, StreamableHttpService, Tool};
use tower_http::timeout::RequestBodyTimeoutLayer;
use tower_http::trace::TraceLayer;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Greeting {
    text: String,
}

fn greet(name: &str) -> Greeting {
    Greeting { text: format!("Hello, {name}!") }
}

async fn hello(context: Context) -> mcp_proto::Json<Greeting> {
    mcp_proto::Json(greet(context.principal().unwrap_or("stranger")))
}

/// Identifies the caller by the token in the request. Values that a middleware puts into the request's extensions reach
/// the handlers of both REST and MCP.
async fn authenticate(
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    mut request: Request,
    next: Next,
) -> Response {
    let token = headers.get(header::AUTHORIZATION);
    let name = match token.and_then(|token| token.to_str().ok()) {
        Some("Bearer ann-token") => "ann",
        Some("Bearer bob-token") => "bob",
        _ => {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
            return (StatusCode::UNAUTHORIZED, challenge).into_response();
        }
    };
    let extensions = request.extensions_mut();
    extensions.insert(Principal(name.to_owned()));
    // A client's use of resources is counted by its principal, or else by its address.
    extensions.insert(Peer::new(address.ip()));
    next.run(request).await
}

async fn rest(request: Request) -> Json<Greeting> {
    let caller = request.extensions().get::<Principal>();
    Json(greet(caller.map_or("stranger", |caller| &caller.0)))
}

pub(crate) fn server() -> Result<Server, BuildError> {
    Server::builder("hello", "1.0.0", ())
        .tool(Tool::new("hello", "Says hello to the caller."), hello)
        .build()
}

/// REST and MCP behind the same layers.
pub(crate) fn app(server: Server) -> Router {
    Router::new()
        .route("/hello", get(rest))
        .route_service("/mcp", StreamableHttpService::new(server))
        .layer(from_fn(authenticate))
        // Limits only request bodies: the response to a listen lasts as long as its client wants.
        .layer(RequestBodyTimeoutLayer::new(Duration::from_secs(30)))
        .layer(TraceLayer::new_for_http())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = server()?;
    let port = std::env::args().nth(1).unwrap_or_else(|| "3000".to_owned());
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    eprintln!("listening on {}", listener.local_addr()?);
    let closing = server.clone();
    let stopped = async move {
        // Without a handler the signal ends the process, which is fine, too.
        drop(tokio::signal::ctrl_c().await);
        // Open streams would delay the shutdown.
        closing.close();
    };
    let app = app(server).into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, app).with_graceful_shutdown(stopped).await?;
    Ok(())
}
