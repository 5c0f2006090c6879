//! Servers of the [Model Context Protocol](https://modelcontextprotocol.io) on hyper. One endpoint serves both eras,
//! over Streamable HTTP, stdio and Unix sockets. No SDK is needed.
//!
//! A [`Server`] holds tools, resources and prompts, and has one central method, `handle(Request, Context) -> Response`.
//! Transports call it: the HTTP service [`StreamableHttpService`], [`stdio`], or a test. A handler is an async function
//! of a state, its arguments and a [`Context`]. The schemas that clients see are derived from its types and enforced.
//! Messages that a handler sends before its result go through its [`Context`] and turn the HTTP answer into an event
//! stream. Without such messages the answer is one JSON body. None of this needs configuration.
//!
//! Both eras are served at once, by the same handlers. Requests of the revision 2026-07-28 are stateless: each names
//! its version, and a client that disconnects cancels its call. Clients of the revisions from 2024-11-05 to 2025-11-25
//! open a session with `initialize`. A [`Session`](session::Session) is a small record in a
//! [`SessionStore`](session::SessionStore), so any process may serve it. With an [`EventStore`](session::EventStore)
//! any process may serve its running calls, too.
//!
//! # The first program
//!
//! ```sh
//! cargo add mcp-proto schemars
//! cargo add serde --features derive
//! cargo add tokio --features macros,net,rt-multi-thread
//! ```
//!
//! Until the crate is published, name a clone instead: `cargo add --path ../universe/mcp-proto`.
//! It serves MCP at every path of port 3000:
//!
//! ```no_run
//! use mcp_proto::{Server, StreamableHttpService, Tool, http};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let server = Server::builder("hello", "0.1.0", ())
//!         .tool(Tool::new("hello", "Says hello."), async || "Hello!")
//!         .build()?;
//!     let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
//!     let mcp = StreamableHttpService::new(server);
//!     http::serve(listener, mcp, Default::default(), std::future::pending()).await?;
//!     Ok(())
//! }
//! ```
//!
//! # The guide
//!
//! - [Into a hyper service that you have](guide::embedding)
//! - [Into axum, behind layers of tower](guide::axum)
//! - [Over stdin and stdout, pipes and Unix sockets](guide::stdio)
//! - [Tools](guide::tools)
//! - [Resources, prompts and subscriptions](guide::resources)
//! - [Completing arguments](guide::completion)
//! - [Asking the client](guide::asking)
//! - [Using the client's model](guide::sampling)
//! - [Pages beside results](guide::apps)
//! - [Tasks](guide::tasks)
//! - [State between calls](guide::state)
//! - [Sessions behind a load balancer](guide::sessions)
//! - [Testing a server](guide::testing)
//! - [Coming from an SDK](guide::migrating)
//!
//! The root of the crate has the names that ordinary programs use, and each module the rest of its subject: [`apps`],
//! [`content`], [`input`] (asking the client), [`session`], [`task`], [`scopes`], [`service`] (code around calls),
//! [`outbox`] (transports of your own).
//!
//! Begin with `examples/embed.rs`, a service with REST and MCP side by side. `examples/everything.rs` is a tour that
//! offers every feature.
//!
//! # Into a hyper service
//!
//! Mounting is a match arm: [`StreamableHttpService::handle`] ignores the path and needs no start and no shutdown.
//! Handlers can read what your service puts into the request's extensions.
//!
//! ```
//! use std::convert::Infallible;
//!
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use hyper::body::Incoming;
//! use mcp_proto::http::{ServeConfig, serve};
//! use mcp_proto::{Era, Json, Server, StreamableHttpService, Tool};
//! use mcp_proto_client::{Client, ClientConfig};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Echo {
//!     /// The text.
//!     text: String,
//! }
//!
//! async fn echo(said: Echo) -> Json<Echo> {
//!     Json(said)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::builder("echo", "0.1.0", ())
//!     .tool(Tool::new("echo", "Says it back."), echo)
//!     .build()?;
//! let mcp = StreamableHttpService::new(server);
//! let app = hyper::service::service_fn(move |request: Request<Incoming>| {
//!     let mcp = mcp.clone();
//!     async move {
//!         Ok::<_, Infallible>(match request.uri().path() {
//!             "/mcp" => mcp.handle(request).await.map(BodyExt::boxed_unsync),
//!             _ => Response::new(Full::from("hello").boxed_unsync()),
//!         })
//!     }
//! });
//!
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! let url = format!("http://{}/mcp", listener.local_addr()?);
//! tokio::spawn(serve(listener, app, ServeConfig::default(), std::future::pending()));
//! let client = Client::http(&url, ClientConfig::new(Era::Modern)).await?;
//! let result = client.call_tool("echo", serde_json::json!({ "text": "hi" })).await?;
//! assert_eq!(result.structured::<serde_json::Value>()?["text"], "hi");
//! # Ok(())
//! # }
//! ```
//!
//! # Over stdin and stdout
//!
//! ```no_run
//! # use mcp_proto::{Json, Server, Tool};
//! # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
//! # struct Echo { text: String }
//! async fn echo(said: Echo) -> Json<Echo> {
//!     Json(said)
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let server = Server::builder("echo", "0.1.0", ())
//!         .tool(Tool::new("echo", "Says it back."), echo)
//!         .build()?;
//!     Ok(mcp_proto::stdio::serve_stdio(server).await?)
//! }
//! ```
//!
//! # In a test
//!
//! Tests call the same method as transports. To test with a transport, `Client::memory` of the crate `mcp-proto-client`
//! serves a server in memory.
//!
//! ```
//! use mcp_proto::jsonrpc::Request;
//! use mcp_proto::{Context, Json, Server, Tool};
//! use serde_json::json;
//! # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
//! # struct Double { n: i32 }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::builder("math", "0.1.0", ())
//!     .tool(Tool::new("double", "Doubles."), async |asked: Double| Json(Double { n: 2 * asked.n }))
//!     .build()?;
//! let call = |arguments| Request::new(1, "tools/call", json!({ "name": "double", "arguments": arguments }));
//!
//! let response = server.handle(call(json!({ "n": 21 })), Context::test()).await;
//! assert_eq!(response.outcome.unwrap().to_value()["structuredContent"], json!({ "n": 42 }));
//!
//! // Arguments that do not fit are a result for the model to read, with every finding.
//! let response = server.handle(call(json!({ "n": "21" })), Context::test()).await;
//! let result = response.outcome.unwrap().to_value();
//! assert_eq!(result["isError"], true);
//! assert!(result["content"][0]["text"].as_str().unwrap().contains("/n: "));
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! Rust 1.95 or newer is required. `http`, `http2` and `validate` are on by default. A server on stdin and stdout needs
//! none of them, and without them depends on half as many crates.
//!
//! - `http`: Streamable HTTP ([`http`]). `http2` adds HTTP/2.
//! - `validate`: schemas with any keyword of JSON Schema are served, by the crate `jsonschema`. Without it a server is
//!   built only if its schemas have no more than the common keywords and 1,000 nodes: `type`, `properties`, `required`,
//!   `additionalProperties`, `items`, `prefixItems`, `enum`, `const`, `anyOf`, `oneOf`, `allOf`, `uniqueItems`, limits
//!   of numbers, lengths and counts, and annotations, such as `format`. The error names what would not be enforced, and
//!   where. [`Tool::with_handler_checked`] and [`Tool::with_trusted_output`] leave it to the handler.
//! - `compression`: JSON answers over HTTP in gzip, for clients that accept it; needs `http`.
//! - `file-sessions`: sessions that outlive the process, in a file (`session::FileSessions`); needs `http`.
//! - `jwt`: access tokens as JSON Web Tokens (`http::authorize::jwt`); needs `http`. `jwks` fetches the keys of their
//!   issuers over HTTPS.
//!
//! # Bounds
//!
//! All input from outside is bounded, and each bound is a documented field: [`http::HttpConfig`],
//! [`http::ServeConfig`], [`stdio::StdioConfig`], [`stdio::UnixConfig`], [`InputConfig`],
//! [`session::MemorySessionsConfig`], [`TasksConfig`], or a documented constant: [`session::MAX_CLIENT_BYTES`],
//! [`session::MAX_CAPABILITY_VALUES`], [`lifecycle::MAX_SUBSCRIPTIONS`], [`lifecycle::MAX_SUBSCRIPTION_BYTES`],
//! [`input::MAX_QUESTIONS`], [`input::MAX_QUESTION_KEY_BYTES`], [`task::MAX_TASK_STATUS`],
//! [`completion::MAX_COMPLETIONS`], [`outbox::OUTBOX_CAPACITY`], [`json::MAX_DEPTH`], [`json::MAX_TREE_BYTES`],
//! [`jsonrpc::MAX_REQUEST_ID_BYTES`], [`Keys::MAX`], [`uri_template::UriTemplate::MAX_URI_BYTES`] and similar
//! constants. The error for refused input says what was wrong and what would be right. No input makes the library
//! panic.

// What only another feature uses is not reported in a lean build.
#![cfg_attr(not(all(feature = "http2", feature = "validate")), allow(dead_code, unused_imports))]

/// Runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;

mod accept_loop;
pub mod apps;
pub mod blocking;
pub mod budget;
mod cache;
mod call;
mod cause;
mod change;
pub mod completion;
pub mod content;
mod context;
pub mod error;
pub mod guide;
pub mod handler;
#[cfg(feature = "http")]
pub mod http;
pub mod input;
mod interrupt;
pub mod json;
pub mod jsonrpc;
pub mod layers;
mod legacy;
pub mod lifecycle;
mod local;
mod locked;
mod logging;
pub mod outbox;
mod prompt;
mod registry;
mod resource;
mod running;
pub mod schema;
pub mod scopes;
mod seal;
mod server;
pub mod service;
pub mod session;
pub mod state;
pub mod stdio;
pub mod task;
mod tool;
pub mod uri_template;
mod version;

// What an ordinary program writes. The rest is in the modules, and `tidy` counts.
pub use cache::{CacheHint, CacheScope};
pub use change::{Change, ResourceUpdate};
#[doc(inline)]
pub use completion::{Completion, CompletionRequest};
#[doc(inline)]
pub use content::{Annotations, Base64, ContentBlock, Icon, Resource, ResourceContents, Role};
pub use context::{Answers, Context, Principal};
#[cfg(feature = "http")]
#[doc(inline)]
pub use http::StreamableHttpService;
#[doc(inline)]
pub use input::{CreateMessage, ElicitForm, ElicitUrl, Field, Questions};
pub use interrupt::{Interrupt, RequestError};
pub use local::Local;
pub use logging::LogLevel;
pub use prompt::{GetPromptResult, IntoPrompt, Prompt, PromptArgument, PromptMessage};
pub use resource::{
    IntoResource, Page, PageRequest, ReadResourceResult, ResourceSource, ResourceTemplate,
    ResourceUri,
};
#[doc(inline)]
pub use scopes::Scopes;
pub use seal::Keys;
pub use server::{
    BuildError, InputConfig, Operation, OperationError, Server, ServerBuilder, Update, WeakServer,
};
#[doc(inline)]
pub use task::{TaskSupport, TasksConfig};
pub use tool::{
    CallToolResult, IntoToolResult, Json, PreparedJson, Tool, ToolAnnotations, ToolError,
};
pub use version::{Era, ProtocolVersion};
