//! Traces: a span for each request over HTTP and each request of MCP, sent to a collector by OTLP (http/protobuf).
//!
//! The trace of a caller is continued: over HTTP by its header `traceparent`; a request of MCP by `_meta.traceparent`,
//! which is nearer to it. Names are those of the OpenTelemetry conventions for HTTP and MCP. A span contains nothing of
//! a request's contents, and no ids of universes. At most 2,048 spans wait; if a collector is too slow or unreachable,
//! further ones are dropped, and no request waits.

use std::collections::HashMap;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use mcp_proto::{Operation, OperationError};
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{
    FutureExt as _, Span as _, SpanBuilder, SpanKind, Status, TraceContextExt as _, Tracer as _,
};
use opentelemetry::{Context, KeyValue, global};
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_http::{HeaderExtractor, HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;

use crate::metrics::known_method;

/// The name of the program in traces, unless `OTEL_SERVICE_NAME` is set.
const SERVICE: &str = env!("CARGO_PKG_NAME");

/// The path of a collector for traces, below its endpoint.
const PATH: &str = "v1/traces";

/// The longest time that a collector may take for a batch.
const TIME: Duration = Duration::from_secs(10);

/// The longest time that sending the last spans may take.
const LAST_TIME: Duration = Duration::from_secs(2);

/// The exporter of spans, if spans are sent.
#[derive(Debug)]
pub(crate) struct Traces(Option<SdkTracerProvider>);

/// The span of an HTTP request. If it is dropped before its end, the client disconnected.
#[derive(Debug)]
pub(crate) struct RequestSpan(Context);

/// Sends batches on the runtime of the server, because the exporter's thread has no runtime.
#[derive(Debug)]
struct Transport {
    client: HyperClient,
    runtime: Handle,
}

impl Traces {
    /// Starts sending spans to a collector, if there is one.
    ///
    /// # Errors
    /// The text, if it does not name a collector.
    pub(crate) fn begin(collector: Option<&str>) -> Result<Self, String> {
        // By OpenTelemetry's conventions an empty variable counts as unset.
        let endpoint = collector.map(str::trim);
        let Some(endpoint) = endpoint.filter(|endpoint| !endpoint.is_empty()) else {
            return Ok(Self(None));
        };
        let wrong = || endpoint.to_owned();
        let url: Uri = endpoint.parse().map_err(|_| wrong())?;
        if url.scheme_str() != Some("http") || url.authority().is_none() {
            return Err(wrong());
        }
        let transport = Transport {
            client: HyperClient::with_default_connector(TIME, None),
            runtime: Handle::current(),
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(transport)
            .with_endpoint(format!("{}/{PATH}", endpoint.trim_end_matches('/')))
            .build()
            .map_err(|_| wrong())?;
        let mut resource = Resource::builder();
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name(SERVICE);
        }
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.with_attribute(version).build())
            .build();
        global::set_tracer_provider(provider.clone());
        Ok(Self(Some(provider)))
    }

    /// Sends the last spans. Takes at most two seconds.
    pub(crate) async fn end(self) {
        let Some(provider) = self.0 else { return };
        let ending = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(LAST_TIME));
        if let Ok(Err(error)) = ending.await {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// Begins the span of an HTTP request.
pub(crate) fn request(method: &Method, route: &'static str, headers: &HeaderMap) -> RequestSpan {
    let method = known_method(method);
    let span = SpanBuilder::from_name(format!("{method} {route}"))
        .with_kind(SpanKind::Server)
        .with_attributes([
            KeyValue::new("http.request.method", method),
            KeyValue::new("http.route", route),
            KeyValue::new("url.scheme", "http"),
        ]);
    let parent = caller(&HeaderExtractor(headers));
    let span = global::tracer(SERVICE).build_with_context(span, &parent);
    RequestSpan(parent.with_span(span))
}

impl RequestSpan {
    /// Runs the answering of the request within this span.
    pub(crate) fn around<F: Future>(&self, answering: F) -> impl Future<Output = F::Output> {
        answering.with_context(self.0.clone())
    }

    /// Ends the span when the answer begins.
    pub(crate) fn end(self, status: StatusCode) {
        let (span, code) = (self.0.span(), status.as_u16());
        span.set_attribute(KeyValue::new("http.response.status_code", i64::from(code)));
        if status.is_server_error() {
            span.set_attribute(KeyValue::new("error.type", code.to_string()));
            span.set_status(Status::error(""));
        }
        span.end();
    }
}

/// Records the span of an answered MCP request.
pub(crate) fn operation(operation: &Operation) {
    let method = operation.method.clone();
    let name = match &operation.tool {
        Some(tool) => format!("{method} {tool}"),
        None => method.clone(),
    };
    let mut attributes = vec![KeyValue::new("mcp.method.name", method)];
    if let Some(tool) = &operation.tool {
        attributes.push(KeyValue::new("gen_ai.operation.name", "execute_tool"));
        attributes.push(KeyValue::new("gen_ai.tool.name", tool.clone()));
    }
    if let Some(error) = operation.error {
        attributes.push(KeyValue::new("error.type", error.to_string()));
    }
    if let Some(OperationError::Code(code)) = operation.error {
        attributes.push(KeyValue::new("rpc.response.status_code", code.to_string()));
    }
    let now = SystemTime::now();
    let span = SpanBuilder::from_name(name)
        .with_kind(SpanKind::Server)
        .with_start_time(now.checked_sub(operation.duration).unwrap_or(now))
        .with_attributes(attributes);
    let named = [("traceparent", &operation.trace_parent), ("tracestate", &operation.trace_state)];
    let carrier: HashMap<_, _> = named
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)))
        .collect();
    let parent = if carrier.is_empty() { Context::current() } else { caller(&carrier) };
    let mut span = global::tracer(SERVICE).build_with_context(span, &parent);
    if operation.error.is_some() {
        span.set_status(Status::error(""));
    }
    span.end();
}

/// The parent span in the caller's headers or `_meta`. Empty if there is none.
fn caller(carrier: &dyn Extractor) -> Context {
    TraceContextPropagator::new().extract_with_context(&Context::new(), carrier)
}

impl HttpClient for Transport {
    fn send_bytes<'s, 'f>(
        &'s self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move { client.send_bytes(request).await });
        Box::pin(async move { sent.await? })
    }
}
