//! The REST side described: an OpenAPI 3.1 document, made from the tables that requests are read by.

mod parts;
pub(super) mod paths;

use std::sync::LazyLock;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use super::answer::{self, RestBody};
use super::routes::{ENDPOINTS, Endpoint, Operation};

/// The document, which is the same for every caller.
pub(super) fn answer() -> Response<RestBody> {
    static TEXT: LazyLock<Bytes> = LazyLock::new(|| document().to_string().into());
    answer::json_text(StatusCode::OK, TEXT.clone())
}

fn document() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "universe-server",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Simulated star systems over REST; the same server offers MCP at /mcp.",
            "description": "Each GET may be asked as HEAD. Answers of 1 KiB and more are compressed for clients that accept \
                            gzip. Where the server asks callers for a token, it is a bearer token with the scopes read, \
                            write or admin.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{}, { "bearer": [] }],
        "paths": ENDPOINTS.each_ref().map(path).into_iter().collect::<Value>(),
        "components": {
            "schemas": parts::schemas(),
            "parameters": parts::parameters(),
            "responses": parts::responses(),
            "headers": parts::headers(),
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
    })
}

/// A path of the table with what can be done there.
fn path(endpoint: &Endpoint) -> (String, Value) {
    let described = |it: &Operation| (it.method.to_lowercase(), (it.describe)());
    let mut operations: Map<_, _> = endpoint.operations.iter().map(described).collect();
    if endpoint.path.contains("{id}") {
        operations.insert("parameters".to_owned(), paths::id());
    }
    (endpoint.path.to_owned(), operations.into())
}
