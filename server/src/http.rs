//! One hyper service: the path decides between MCP, REST and the page.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use mcp_proto::StreamableHttpService;
use mcp_proto::http::ResponseBody;
use service_host::Local;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::commands::CommandService;
use crate::page;
use crate::requests;
use crate::rest::{Rest, RestBody, RestConfig, Route, Stage};

/// The path of MCP (REQ-MCP-17).
pub const MCP_PATH: &str = "/mcp";

/// The body of every response.
pub type AppBody = Either<ResponseBody, RestBody>;

/// REST and MCP side by side. Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub struct App(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    mcp: StreamableHttpService,
    rest: Rest,
    stage: watch::Sender<Stage>,
}

impl App {
    /// Serves REST and MCP over one service.
    pub fn new(service: CommandService, mcp: StreamableHttpService, rest: RestConfig) -> Self {
        let (stage, seen) = watch::channel(Stage::Serving);
        Self(Arc::new(Inner { rest: Rest::new(service, rest, mcp.clone(), seen), mcp, stage }))
    }

    /// Answers one request. Infallible: a failure is a response.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<AppBody>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + std::fmt::Display,
    {
        let path = request.uri().path();
        if let Some(found) = page::find(path) {
            let answer = async |request| found.answer(&request).map(Either::Right);
            return requests::logged(request, found.route(), answer).await;
        }
        let is_endpoint = matches!(path, MCP_PATH | "/mcp/");
        let of_mcp = if is_endpoint { Some(MCP_PATH) } else { self.0.mcp.document(path) };
        if let Some(route) = of_mcp {
            let answer = async |request| self.0.mcp.handle(request).await.map(Either::Left);
            return requests::logged(request, route, answer).await;
        }
        let route = Route::find(path);
        let name = Route::name(&route);
        // Its future is large: without a box, each request over MCP would have the room for it.
        let answer =
            async |request| Box::pin(self.0.rest.handle(request, route)).await.map(Either::Right);
        requests::logged(request, name, answer).await
    }

    /// Answers the requests on a connection that only the owner of the server can have made, until either end closes.
    /// No token is required. The request in progress is completed.
    pub(crate) async fn serve_local(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        closing: CancellationToken,
    ) -> hyper::Result<()> {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new());
        let service = service_fn(async |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Local);
            Ok::<_, Infallible>(self.handle(request).await)
        });
        let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            ended = &mut connection => ended,
            () = closing.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        }
    }

    /// Reports on `/readyz` that requests should go to another server, and continues to serve.
    pub fn drain(&self) {
        self.0.stage.send_if_modified(|stage| {
            let serves = *stage == Stage::Serving;
            if serves {
                *stage = Stage::Draining;
            }
            serves
        });
    }

    /// Ends all feeds and listening streams at once. Calls continue.
    pub fn close(&self) {
        self.end_feeds();
        self.0.mcp.close();
    }

    /// Ends all feeds at once.
    pub(crate) fn end_feeds(&self) {
        self.0.stage.send_replace(Stage::Ending);
    }
}

impl<B> hyper::service::Service<Request<B>> for App
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + std::fmt::Display,
{
    type Response = Response<AppBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<B>) -> Self::Future {
        let app = self.clone();
        Box::pin(async move { Ok(app.handle(request).await) })
    }
}
