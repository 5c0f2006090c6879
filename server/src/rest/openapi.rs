//! The REST side described: an OpenAPI 3.1 document, made from the tables that requests are read by.

mod parts;
mod paths;

use std::sync::LazyLock;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::answer::{self, RestBody};

/// The path of the document.
pub(super) const PATH: &str = "/openapi.json";

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
        "paths": paths::all(),
        "components": {
            "schemas": parts::schemas(),
            "parameters": parts::parameters(),
            "responses": parts::responses(),
            "headers": parts::headers(),
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
    })
}
