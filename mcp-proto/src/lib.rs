//! Servers of the Model Context Protocol on hyper, both eras on one endpoint, without an SDK.

mod content;
mod context;
pub mod http;
pub mod json;
pub mod jsonrpc;
mod lifecycle;
mod schema;
mod server;
mod session;
pub mod stdio;
mod tool;
mod version;

pub use content::{
    Annotations, ContentBlock, EmbeddedResource, Icon, MediaContent, ResourceContents,
    ResourceLink, Role, TextContent,
};
pub use context::{Context, OUTBOX_CAPACITY, Outbox, OutboxClosed, OutboxReader, Principal};
pub use http::StreamableHttpService;
pub use lifecycle::{
    ClientCapabilities, Implementation, META_CLIENT_CAPABILITIES, META_CLIENT_INFO,
    META_PROTOCOL_VERSION, META_SERVER_INFO, META_SUBSCRIPTION_ID,
};
pub use schema::{Finding, SchemaError};
pub use server::{BuildError, Change, Server, ServerBuilder};
pub use session::{
    MemorySessions, MemorySessionsConfig, Session, SessionId, SessionStore, SessionStoreError,
};
pub use tool::{CallToolResult, Tool, ToolAnnotations, ToolError};
pub use version::{Era, ProtocolVersion, UnknownVersion};
