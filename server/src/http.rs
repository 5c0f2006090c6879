//! One hyper service: the path decides between MCP and REST.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Either;
use mcp_proto::StreamableHttpService;
use mcp_proto::http::ResponseBody;
use tokio::sync::watch;

use crate::commands::CommandService;
use crate::requests;
use crate::rest::{self, Rest, RestBody, RestConfig};

/// Where MCP is (REQ-MCP-17).
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
    closing: watch::Sender<bool>,
}

impl App {
    /// Both dialects over one service.
    #[must_use]
    pub fn new(service: CommandService, mcp: StreamableHttpService, rest: RestConfig) -> Self {
        let (closing, closed) = watch::channel(false);
        Self(Arc::new(Inner {
            rest: Rest::new(service, rest, mcp.clone(), closed),
            mcp,
            closing,
        }))
    }

    /// Answers one request. Infallible: a failure is a response.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<AppBody>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + std::fmt::Display,
    {
        let is_mcp = matches!(request.uri().path(), MCP_PATH | "/mcp/");
        let route = match is_mcp {
            true => MCP_PATH,
            false => rest::route_name(request.uri().path()),
        };
        requests::logged(request, route, async |request| match is_mcp {
            true => self.0.mcp.handle(request).await.map(Either::Left),
            false => self.0.rest.handle(request).await.map(Either::Right),
        })
        .await
    }

    /// Ends every feed and listening stream at once; calls go on.
    pub fn close(&self) {
        self.end_feeds();
        self.0.mcp.close();
    }

    /// Ends every feed at once.
    pub(crate) fn end_feeds(&self) {
        self.0.closing.send_replace(true);
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
