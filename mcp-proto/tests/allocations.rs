//! What a quiet `tools/call` allocates, counted: a change that lets every call cost more is seen here.
//!
//! In either era, beside hyper's: the call itself, the tool's name, its arguments (a node, a name and a text), the text
//! that the handler takes, its list of content, the future of the handler and that of the call, the way back for
//! notifications, the text of the result, its shared handle, and the table of headers (two). Modern: the client's
//! identity (three). Legacy: the session's id, the signal that cancels, and the future of the session.
//!
//! A program of its own, because it counts for the whole process.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

use std::alloc::System;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use mcp_proto::http::ResponseBody;
use mcp_proto::{CallToolResult, Context, Server, StreamableHttpService, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How many calls are made before those that count.
const WARM_UP: usize = 20;
const COUNTED: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

async fn echo((): (), said: Echo, _: Context) -> Result<CallToolResult, ToolError> {
    Ok(CallToolResult::text(said.text))
}

fn service() -> StreamableHttpService {
    let server = Server::builder("counted", "1.0.0", ());
    let server = server.tool(Tool::new("echo", "Says it back."), echo);
    StreamableHttpService::new(server.build().unwrap())
}

fn post(headers: &[(&str, &str)], body: &Value) -> Request<Full<Bytes>> {
    let mut request = Request::post("/mcp")
        .header("host", "127.0.0.1:3000")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Full::new(body.to_string().into())).unwrap()
}

fn call(id: usize, meta: Option<Value>) -> Value {
    let mut params = json!({ "name": "echo", "arguments": { "text": "a sentence or two" } });
    if let Some(meta) = meta {
        params["_meta"] = meta;
    }
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

async fn answered(response: Response<ResponseBody>) {
    assert_eq!(response.status(), 200);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let text = std::str::from_utf8(&body).unwrap();
    assert!(text.contains(r#""text":"a sentence or two""#), "{text}");
    assert!(!text.contains("isError"), "{text}");
}

/// How many blocks one call takes, grown ones included, from its request to its written answer.
async fn blocks(
    make: impl Fn(usize) -> Request<Full<Bytes>>,
    service: &StreamableHttpService,
) -> f64 {
    let mut total = 0;
    for id in 0..WARM_UP + COUNTED {
        let request = make(id);
        let region = Region::new(ALLOCATOR);
        let response = service.handle(request).await;
        let change = region.change();
        answered(response).await;
        if id >= WARM_UP {
            total += change.allocations + change.reallocations;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "both are far below 2^52")]
    let each = total as f64 / COUNTED as f64;
    each
}

#[tokio::test]
async fn a_quiet_call_allocates_what_the_architecture_says() {
    let service = service();
    let modern = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "echo"),
    ];
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "counter", "version": "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let modern = blocks(|id| post(&modern, &call(id, Some(meta.clone()))), &service).await;

    let initialize = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "counter", "version": "1.0.0" },
        },
    });
    let opened = service.handle(post(&[], &initialize)).await;
    let session = opened.headers()["mcp-session-id"].to_str().unwrap();
    let legacy = [("mcp-protocol-version", "2025-11-25"), ("mcp-session-id", session)];
    let legacy = blocks(|id| post(&legacy, &call(id, None)), &service).await;

    // With fewer, lower the numbers here and there.
    let counted = (modern, legacy);
    assert_eq!(counted, (17.0, 17.0), "blocks of one call, modern and older era");
}
