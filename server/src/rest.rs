//! The REST dialect: universes as JSON records, commands, and a feed of events each.
//!
//! Every failure is a JSON body `{"error": "…"}` that names its subject.

mod access;
mod answer;
mod channel;
mod cors;
mod events;
mod given;
mod history;
mod metrics;
mod openapi;
mod parts;
mod picture;
mod places;
mod read;
mod routes;
mod tree;
mod universes;

use std::pin::pin;
use std::time::Duration;

use http::header::ALLOW;
use http::{Method, Request, Response, StatusCode, request};
use http_body::Body;
use mcp_proto::StreamableHttpService;
use mcp_proto::budget::{self, Client};
use mcp_proto::http::authorize::Authorization;
use mcp_proto::http::{Encoding, Hosts, Origins};
use mcp_proto::json::MAX_TREE_BYTES;
use serde_json::{Map, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::commands::CommandService;
use crate::store::Page;
use answer::{Answer, Failure};
use events::Streams;
use read::Reading;
use routes::Kind;

pub use answer::RestBody;
pub(crate) use routes::Route;

/// The longest time that the store may take to answer a probe.
const READY_TIME: Duration = Duration::from_secs(2);

/// The configuration of the REST API.
#[derive(Debug, Clone)]
pub struct RestConfig {
    /// The host names that the server answers to. Loopback names by default.
    pub hosts: Hosts,
    /// The origins of web pages that may call the server and read its answers. Loopback origins by default.
    pub origins: Origins,
    /// The largest body in bytes; a larger one gets 413. 10 MiB by default.
    pub max_body_bytes: usize,
    /// The most bytes of memory that a body may take once it is parsed as JSON. A body that takes more gets 413.
    /// [`MAX_TREE_BYTES`], 128 MiB, by default.
    pub max_body_memory: usize,
    /// The longest time that a body may take to arrive. Then the answer is 408. 30 s by default.
    pub body_timeout: Duration,
    /// The interval of comment lines on a feed without events. 10 s by default.
    pub heartbeat: Duration,
    /// Whether `/metrics` is served. It is by default.
    pub metrics: bool,
    /// How callers are authorized: in the same way as MCP clients. No authorization by default.
    pub authorization: Option<Authorization>,
    /// Whether methods that write are refused with 405. They are not by default.
    pub read_only: bool,
}

/// The REST endpoints over a command service.
#[derive(Debug)]
pub struct Rest {
    service: CommandService,
    config: RestConfig,
    started: Instant,
    reading: Reading,
    streams: Streams,
    /// The MCP service, whose memory budget REST shares.
    mcp: StreamableHttpService,
}

/// The stage of a server's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It accepts all requests.
    Serving,
    /// It still accepts all requests, but reports that they should go to another server.
    Draining,
    /// It closes its feeds and ends.
    Ending,
}

impl Rest {
    /// Creates the endpoints. The memory that they hold is counted together with that of `mcp`. Feeds end when `stage`
    /// becomes `Ending`.
    pub fn new(
        service: CommandService,
        config: RestConfig,
        mcp: StreamableHttpService,
        stage: watch::Receiver<Stage>,
    ) -> Self {
        let streams = Streams::new(config.heartbeat, stage);
        Self {
            reading: Reading::new(&config),
            service,
            config,
            started: Instant::now(),
            streams,
            mcp,
        }
    }

    /// Answers one request to a route. Infallible: a failure is a response.
    pub(crate) async fn handle<B>(
        &self,
        request: Request<B>,
        route: Result<Route, Failure>,
    ) -> Response<RestBody>
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let start = Instant::now();
        let (mut head, body) = request.into_parts();
        let mut body = pin!(body);
        let name = Route::name(&route);
        let admitted = self.admit(&mut head, route.as_ref().ok()).await;
        // After admission, so that a client with a name is counted by its name.
        let client = self.mcp.client(&head);
        let is_in = admitted.is_ok();
        let answered = match admitted {
            Ok(()) => self.answer(&head, body.as_mut(), &client, route).await,
            Err(refused) => Err(refused),
        };
        if answered.as_ref().is_err_and(Failure::may_finish_sending) {
            self.mcp.discard(&head, body).await;
        }
        let encoding = Encoding::accepted(&head.headers);
        let encoded = match answered {
            Ok(response) => answer::encoded(response, encoding, &client).await,
            Err(failure) => {
                let seen = self.service.within(self.reach_of(&head));
                Err(failure.explained(&seen).await)
            }
        };
        if encoded.as_ref().is_err_and(Failure::is_delayed) {
            client.refusal().await;
        }
        let mut response = encoded.unwrap_or_else(Failure::into_response);
        if is_in {
            access::audit(&head, name, &response, start);
        }
        cors::expose(&head, &mut response, &self.config.origins);
        response
    }

    async fn answer<B>(
        &self,
        head: &request::Parts,
        body: B,
        client: &Client,
        route: Result<Route, Failure>,
    ) -> Answer
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        // Checked now, because a refusal after the command has run would come too late.
        client.may_answer()?;
        let _call = client.hold(budget::Kind::Calls, 1)?;
        let Route { endpoint, id } = &route?;
        let reach = self.reach(head, endpoint, id.as_ref())?;
        // HEAD is handled like GET. The connection leaves out the body.
        let method = if head.method == Method::HEAD { "GET" } else { head.method.as_str() };
        let Some(operation) = endpoint.operations.iter().find(|it| it.method == method) else {
            let methods = endpoint.methods(|_writes| !self.config.read_only);
            return match method {
                "OPTIONS" => Ok(cors::preflight(methods)),
                _ => Err(Failure::method_not_allowed(methods)),
            };
        };
        if let Some(known) = operation.parameters {
            read::known_parameters(head, known)?;
        }
        let is_read = method == "GET";
        let allowed = is_read.then(|| self.allowed(&reach, endpoint, id.as_ref())).flatten();
        let body = async || self.reading.body(head, body, client).await;
        let answered = match (method, endpoint.kind, id) {
            (_, Kind::Health, _) => Ok(answer::health(self.started.elapsed())),
            (_, Kind::Live, _) => Ok(answer::json_body(StatusCode::OK, &json!({ "ok": true }))),
            (_, Kind::Ready, _) => self.ready().await,
            (_, Kind::Version, _) => Ok(answer::version()),
            (_, Kind::Metrics, _) => self.metrics(head).await,
            (_, Kind::Description, _) => Ok(openapi::answer()),
            ("GET", Kind::Universes, _) => self.list(head, reach).await,
            (_, Kind::Universes, _) => self.create(head, body().await?, reach, client).await,
            ("GET", Kind::Universe, Some(id)) => self.get(head, id).await,
            ("PUT", Kind::Universe, Some(id)) => self.put(head, id, body().await?).await,
            (_, Kind::Universe, Some(id)) => self.delete(head, id).await,
            (_, Kind::Commands, Some(id)) => self.command(head, id, body().await?).await,
            (_, Kind::Undo, Some(id)) => self.undo(head, id, body().await?).await,
            (_, Kind::History, Some(id)) => self.history(head, id).await,
            (_, Kind::Tree, Some(id)) => self.tree(head, id).await,
            (_, Kind::Places, Some(id)) => self.places(head, id, client).await,
            (_, Kind::Picture(format), Some(id)) => self.picture(head, id, format, client).await,
            (_, Kind::Events, Some(id)) => self.events(head, id.clone(), client).await,
            // The table has a universe in each of their paths.
            (_, _, None) => Err(Failure::not_found("")),
        };
        let mut response = answered?;
        if let Some(allowed) = allowed {
            response.headers_mut().insert(ALLOW, allowed);
        }
        Ok(response)
    }

    /// Whether requests about universes can be answered, and whether writes find room. They cannot be answered while
    /// the server drains or ends, or when its store does not work.
    async fn ready(&self) -> Answer {
        match self.streams.stage() {
            Stage::Serving => {}
            Stage::Draining => {
                return Err(Failure::unavailable(
                    "the server will end soon, and answers until then: ask another one",
                ));
            }
            Stage::Ending => return Err(Failure::unavailable("the server is ending")),
        }
        let page = Page { after: None, limit: 1 };
        // Shorter than the time in which an unreachable store fails, because probes have short timeouts.
        match tokio::time::timeout(READY_TIME, self.service.list(page)).await {
            Ok(listed) => listed?,
            Err(_) => return Err(Failure::unavailable("the store does not answer")),
        };
        let mut ready = Map::from_iter([("ok".to_owned(), true.into())]);
        if let Some(copies) = self.service.copies() {
            ready.insert("copies".to_owned(), copies.into());
        }
        if !self.service.has_room() {
            ready.insert("writable".to_owned(), false.into());
        }
        Ok(answer::json_body(StatusCode::OK, &ready))
    }
}

impl Default for RestConfig {
    fn default() -> Self {
        Self {
            hosts: Hosts::Loopback,
            origins: Origins::Loopback,
            max_body_bytes: 10 * 1024 * 1024,
            max_body_memory: MAX_TREE_BYTES,
            body_timeout: Duration::from_secs(30),
            heartbeat: Duration::from_secs(10),
            metrics: true,
            authorization: None,
            read_only: false,
        }
    }
}
