//! The record of each request: a line in the log and its part in the metrics. The line has the caller, the request and
//! its outcome, never its content.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use http::{Request, Response, StatusCode};
use http_body::Body;
use mcp_proto::http::Peer;
use mcp_proto::{CallToolResult, ToolError};

use crate::{metrics, traces};

tokio::task_local! {
    /// The tool that the HTTP request calls, once this is known.
    static TOOL: Cell<Option<Arc<str>>>;
}

/// The number of the next request in this process.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// An HTTP request in progress, as it will be logged.
struct HttpRequestLine {
    id: u64,
    client: Option<String>,
    method: http::Method,
    route: &'static str,
    start: Instant,
}

/// Answers a request with `answer` and logs it. The route is a template, so that the log has no ids of universes.
pub(crate) async fn logged<B, R: Body>(
    request: Request<B>,
    route: &'static str,
    answer: impl AsyncFnOnce(Request<B>) -> Response<R>,
) -> Response<R> {
    let peer = request.extensions().get::<Peer>();
    let asked = HttpRequestLine {
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        client: peer.map(|peer| peer.address().to_string()),
        method: request.method().clone(),
        route,
        start: Instant::now(),
    };
    let span = traces::request(&asked.method, route, request.headers());
    let answered = async {
        let response = answer(request).await;
        (response, TOOL.with(Cell::take))
    };
    let answered = span.around(TOOL.scope(Cell::new(None), answered));
    let (response, tool) = answered.await;
    span.end(response.status());
    asked.log(&response, tool.as_deref());
    response
}

/// Records the tool of a call. A call that does not arrive over HTTP is logged when it is done.
pub(crate) async fn call(
    tool: Arc<str>,
    call: impl Future<Output = Result<CallToolResult, ToolError>>,
) -> Result<CallToolResult, ToolError> {
    if TOOL.try_with(|current| current.set(Some(Arc::clone(&tool)))).is_ok() {
        return call.await;
    }
    let (id, start) = (NEXT.fetch_add(1, Ordering::Relaxed), Instant::now());
    let result = call.await;
    let status = match &result {
        Ok(result) if !result.is_error => "ok",
        _ => "error",
    };
    let bytes = result.as_ref().ok().and_then(|result| {
        let json = result.structured_content.as_deref()?;
        Some(json.get().len())
    });
    let micros = micros(start);
    tracing::info!(target: "request", id, method = "tools/call", tool = &*tool, status, micros, bytes);
    result
}

impl HttpRequestLine {
    fn log<R: Body>(self, response: &Response<R>, tool: Option<&str>) {
        let Self { id, client, method, route, start } = self;
        let (status, micros) = (response.status().as_u16(), micros(start));
        metrics::request(&method, route, status, start.elapsed());
        // A stream has no known size. Its line is written when the stream begins.
        let bytes = response.body().size_hint().exact();
        if response.status() == StatusCode::INSUFFICIENT_STORAGE {
            // They are counted, in a line a minute: the log may lie on the same disk.
            tracing::debug!(target: "request", id, client, %method, route, tool, status, micros, bytes);
        } else {
            tracing::info!(target: "request", id, client, %method, route, tool, status, micros, bytes);
        }
    }
}

fn micros(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}
