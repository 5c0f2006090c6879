//! Requests of the modern era: stateless, judged by what they carry.

use http::header::HeaderMap;
use http::{Response, StatusCode, request};
use serde_json::{Map, Value};

use super::exchange::Exchange;
use super::head::{self, Accepts};
use super::rejection::Rejection;
use super::{ResponseBody, StreamableHttpService};
use crate::context::{Context, Outbox};
use crate::jsonrpc::{ErrorObject, Request};
use crate::lifecycle::ModernMeta;
use crate::version::{Era, ProtocolVersion};

/// Whether a message is of the modern era: its `_meta` names a version, or its header one without a handshake.
pub(super) fn is_modern(headers: &HeaderMap, params: &Map<String, Value>) -> bool {
    // Revisions are dates, so text order is their order.
    ModernMeta::is_claimed(params)
        || head::text(headers, &head::PROTOCOL_VERSION)
            .is_some_and(|version| version >= ProtocolVersion::V2026_07_28.as_str())
}

impl StreamableHttpService {
    pub(super) async fn call_modern(
        &self,
        head: &mut request::Parts,
        accepts: Accepts,
        mut request: Request,
    ) -> Result<Response<ResponseBody>, Rejection> {
        let modern = ModernMeta::read(&request.params)?;
        head::match_body(
            &head.headers,
            modern.version.as_str(),
            &request.method,
            named(&request),
        )?;
        if !self.0.server.knows(&request.method, Era::Modern) {
            let error = ErrorObject::method_not_found(&request.method);
            return Err(Rejection::Message(StatusCode::NOT_FOUND, error));
        }
        if request.method == "subscriptions/listen" && !accepts.events {
            return Err(Rejection::NotAcceptable("text/event-stream"));
        }
        let meta = match request.params.remove("_meta") {
            Some(Value::Object(meta)) => meta,
            _ => Map::new(),
        };
        let (outbox, notifications) = Outbox::channel();
        let mut context = Context::modern(request.id.clone(), modern, meta, outbox);
        context.extensions = std::mem::take(&mut head.extensions);
        let call = self.0.server.handle_owned(request, context);
        let exchange = Exchange::new(call, notifications, self.0.config.keep_alive);
        Ok(exchange.respond(accepts, Era::Modern).await)
    }
}

/// What the `Mcp-Name` header must repeat, for the methods that name something.
fn named(request: &Request) -> Option<&str> {
    let member = match request.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    request.params.get(member).and_then(Value::as_str)
}
