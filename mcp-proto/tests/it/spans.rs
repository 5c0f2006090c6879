//! The layer that makes a span of each request, by OpenTelemetry's conventions for MCP.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use mcp_proto::{CallToolResult, Server, Tool, ToolError, layers};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::common::{every_client, subscribe};

type Fields = BTreeMap<&'static str, String>;

/// Keeps the fields of the spans and events of the layer, up to info level.
#[derive(Debug, Clone, Default)]
struct Kept(Arc<Mutex<Vec<Fields>>>);

struct Read<'f>(&'f mut Fields);

impl Visit for Read<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

impl Subscriber for Kept {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "mcp_proto::layers" && *metadata.level() <= Level::INFO
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut kept = self.0.lock().unwrap();
        kept.push(Fields::new());
        span.record(&mut Read(kept.last_mut().unwrap()));
        Id::from_u64(kept.len() as u64)
    }
    fn record(&self, id: &Id, values: &Record<'_>) {
        let index = usize::try_from(id.into_u64()).unwrap() - 1;
        values.record(&mut Read(&mut self.0.lock().unwrap()[index]));
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        // One request at a time: it is the last span's.
        event.record(&mut Read(self.0.lock().unwrap().last_mut().unwrap()));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn each_request_is_a_span_by_the_conventions() {
    let tool = |name: &str| Tool::new(name, "").with_input_schema(json!({ "type": "object" }));
    let server = Server::builder("s", "1", ())
        .raw_tool(tool("good"), async |(), _, _| Ok(CallToolResult::text("done")))
        .raw_tool(tool("bad"), async |(), _, _| {
            Err::<(), _>(ToolError::new("NO_PAPER", "fill in paper"))
        })
        .layer(layers::spans())
        .build()
        .unwrap();
    let kept = Kept::default();
    let _here = subscribe(kept.clone());
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        for (method, params, span, error, message) in [
            ("tools/call", json!({ "name": "good" }), "tools/call good", None, "done"),
            (
                "tools/call",
                json!({ "name": "bad" }),
                "tools/call bad",
                Some("tool_error"),
                "failed",
            ),
            // Any name is no name of a span.
            ("tools/call", json!({ "name": "none" }), "tools/call", Some("-32602"), "failed"),
            ("tools/list", json!({}), "tools/list", None, "done"),
        ] {
            kept.0.lock().unwrap().clear();
            let _ = client.request(method, params).await;
            let spans = std::mem::take(&mut *kept.0.lock().unwrap());
            let [seen] = &spans[..] else {
                panic!("{name}: {spans:?}");
            };
            let is = |field: &str| seen.get(field).map(String::as_str);
            assert_eq!(is("otel.name"), Some(span), "{name}");
            assert_eq!(is("mcp.method.name"), Some(method));
            assert_eq!(is("gen_ai.tool.name"), span.strip_prefix("tools/call "), "{name}");
            assert_eq!(is("mcp.session.id").is_some(), name.ends_with("Legacy"), "{name}");
            assert!(is("jsonrpc.request.id").is_some() && is("mcp.protocol.version").is_some());
            assert_eq!(is("error.type"), error, "{name} {span}");
            assert_eq!(is("otel.status_code"), error.map(|_| "ERROR"));
            assert_eq!(is("rpc.response.status_code"), error.filter(|_| span == "tools/call"));
            assert_eq!(is("message"), Some(message), "{name}");
            let seconds: f64 = is("mcp.server.operation.duration").unwrap().parse().unwrap();
            assert!((0.0..60.0).contains(&seconds), "{seconds}");
        }
    }
    drop(clients);
    served.ended().await;
}
