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
mod read;
mod tree;
mod universes;

use std::pin::pin;
use std::time::Duration;

use http::header::ALLOW;
use http::{Method, Request, Response, StatusCode, request};
use http_body::Body;
use mcp_proto::StreamableHttpService;
use mcp_proto::budget::{Client, Kind};
use mcp_proto::http::authorize::Authorization;
use mcp_proto::http::{Encoding, Hosts, Origins};
use mcp_proto::json::MAX_TREE_BYTES;
use percent_encoding::percent_decode_str;
use serde_json::{Map, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::commands::CommandService;
use crate::store::{Page, UniverseId};
use answer::Failure;
use events::Streams;
use picture::Format;
use read::Reading;

pub use answer::RestBody;

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

/// The endpoint that a path leads to.
#[derive(Debug, PartialEq, Eq)]
enum Route {
    Health,
    Live,
    Ready,
    Version,
    Metrics,
    Description,
    Universes,
    Universe(UniverseId),
    Commands(UniverseId),
    Events(UniverseId),
    History(UniverseId),
    Undo(UniverseId),
    Tree(UniverseId),
    Picture(UniverseId, Format),
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
    #[must_use]
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

    /// Answers one request. Infallible: a failure is a response.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<RestBody>
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let start = Instant::now();
        let (mut head, body) = request.into_parts();
        let mut body = pin!(body);
        let admitted = self.admit(&mut head).await;
        // After admission, so that a client with a name is counted by its name.
        let client = self.mcp.client(&head);
        let is_in = admitted.is_ok();
        let answered = match admitted {
            Ok(()) => self.answer(&head, body.as_mut(), &client).await,
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
            access::audit(&head, route_name(head.uri.path()), &response, start);
        }
        cors::expose(&head, &mut response, &self.config.origins);
        response
    }

    async fn answer<B>(
        &self,
        head: &request::Parts,
        body: B,
        client: &Client,
    ) -> Result<Response<RestBody>, Failure>
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        // Checked now, because a refusal after the command has run would come too late.
        client.may_answer()?;
        let _call = client.hold(Kind::Calls, 1)?;
        let route = route(head.uri.path())?;
        let reach = self.reach(head, &route)?;
        if let Some(known) = route.parameters(&head.method) {
            read::known_parameters(head, known)?;
        }
        // HEAD is handled like GET. The connection leaves out the body.
        let method = if head.method == Method::HEAD { &Method::GET } else { &head.method };
        let allowed = match *method {
            Method::GET => self.allowed(&reach, &route),
            _ => None,
        };
        let answered = match (method.as_str(), route) {
            ("OPTIONS", route) => Ok(cors::preflight(self.methods(&route))),
            ("GET", Route::Health) => Ok(answer::health(self.started.elapsed())),
            ("GET", Route::Live) => Ok(answer::json_body(StatusCode::OK, &json!({ "ok": true }))),
            ("GET", Route::Ready) => self.ready().await,
            ("GET", Route::Version) => Ok(answer::version()),
            ("GET", Route::Metrics) => self.metrics(head).await,
            ("GET", Route::Description) => Ok(openapi::answer()),
            ("GET", Route::Universes) => self.list(head, reach).await,
            ("POST", Route::Universes) => {
                let body = self.reading.body(head, body, client).await?;
                self.create(head, body, reach, client).await
            }
            ("GET", Route::Universe(id)) => self.get(head, &id).await,
            ("PUT", Route::Universe(id)) => {
                self.put(head, &id, self.reading.body(head, body, client).await?).await
            }
            ("DELETE", Route::Universe(id)) => self.delete(head, &id).await,
            ("POST", Route::Commands(id)) => {
                self.command(head, &id, self.reading.body(head, body, client).await?).await
            }
            ("POST", Route::Undo(id)) => {
                self.undo(head, &id, self.reading.body(head, body, client).await?).await
            }
            ("GET", Route::History(id)) => self.history(head, &id).await,
            ("GET", Route::Tree(id)) => self.tree(head, &id).await,
            ("GET", Route::Picture(id, format)) => self.picture(head, &id, format, client).await,
            ("GET", Route::Events(id)) => self.events(head, id, client).await,
            (_, route) => Err(Failure::method_not_allowed(self.methods(&route))),
        };
        let mut response = answered?;
        if let Some(allowed) = allowed {
            response.headers_mut().insert(ALLOW, allowed);
        }
        Ok(response)
    }

    /// The methods that this server accepts for a path.
    fn methods(&self, route: &Route) -> &'static str {
        if self.config.read_only { route.methods_without_writing() } else { route.methods() }
    }

    /// Whether requests about universes can be answered, and whether writes find room. They cannot be answered while the
    /// server drains or ends, or when its store does not work.
    async fn ready(&self) -> Result<Response<RestBody>, Failure> {
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

/// The route of a path as a template, without what identifies a universe.
pub(crate) fn route_name(path: &str) -> &'static str {
    match route(path) {
        Ok(Route::Health) => "/health",
        Ok(Route::Live) => "/livez",
        Ok(Route::Ready) => "/readyz",
        Ok(Route::Version) => "/version",
        Ok(Route::Metrics) => "/metrics",
        Ok(Route::Description) => openapi::PATH,
        Ok(Route::Universes) => "/universes",
        Ok(Route::Universe(_)) => "/universes/{id}",
        Ok(Route::Commands(_)) => "/universes/{id}/commands",
        Ok(Route::Events(_)) => "/universes/{id}/events",
        Ok(Route::History(_)) => "/universes/{id}/history",
        Ok(Route::Undo(_)) => "/universes/{id}/undo",
        Ok(Route::Tree(_)) => "/universes/{id}/tree",
        Ok(Route::Picture(_, Format::Svg)) => "/universes/{id}.svg",
        Ok(Route::Picture(_, Format::Png)) => "/universes/{id}.png",
        Err(_) => "unknown",
    }
}

impl Route {
    /// The query parameters that a request may have. `None` if any others are ignored, as for probes.
    fn parameters(&self, method: &Method) -> Option<&'static [&'static str]> {
        let reads = method == Method::GET || method == Method::HEAD;
        match self {
            Self::Health
            | Self::Live
            | Self::Ready
            | Self::Version
            | Self::Metrics
            | Self::Description => None,
            _ if method == Method::OPTIONS => None,
            Self::Universes if reads => Some(&["limit", "cursor", "view"]),
            Self::Universe(_) if reads => Some(&["revision"]),
            Self::History(_) => Some(&["after", "limit"]),
            Self::Tree(_) => Some(&["limit", "cursor"]),
            Self::Picture(..) => Some(&crate::picture::PARAMETERS),
            Self::Commands(_) => Some(&["result"]),
            Self::Universes | Self::Universe(_) | Self::Events(_) | Self::Undo(_) => Some(&[]),
        }
    }

    /// Of the [`methods`](Self::methods), those that change nothing.
    fn methods_without_writing(&self) -> &'static str {
        match self {
            Self::Commands(_) | Self::Undo(_) => "OPTIONS",
            _ => "GET, HEAD, OPTIONS",
        }
    }

    fn methods(&self) -> &'static str {
        match self {
            Self::Health
            | Self::Live
            | Self::Ready
            | Self::Version
            | Self::Metrics
            | Self::Description
            | Self::Events(_)
            | Self::History(_)
            | Self::Tree(_)
            | Self::Picture(..) => "GET, HEAD, OPTIONS",
            Self::Universes => "GET, HEAD, POST, OPTIONS",
            Self::Universe(_) => "GET, HEAD, PUT, DELETE, OPTIONS",
            Self::Commands(_) | Self::Undo(_) => "POST, OPTIONS",
        }
    }
}

/// Finds the route of a path; a trailing slash makes no difference.
fn route(path: &str) -> Result<Route, Failure> {
    let unknown = || Failure::unknown_path(path);
    let mut segments = path.trim_start_matches('/').trim_end_matches('/').split('/');
    let route = match (segments.next(), segments.next(), segments.next(), segments.next()) {
        (Some("health"), None, ..) => Route::Health,
        (Some("livez"), None, ..) => Route::Live,
        (Some("readyz"), None, ..) => Route::Ready,
        (Some("version"), None, ..) => Route::Version,
        (Some("metrics"), None, ..) => Route::Metrics,
        (Some("openapi.json"), None, ..) => Route::Description,
        (Some("universes"), None, ..) => Route::Universes,
        (Some("universes"), Some(id), None, _) => match Format::split(id) {
            // An id with such an ending is written with `%2E`.
            Some((id, format)) => Route::Picture(universe_id(id)?, format),
            None => Route::Universe(universe_id(id)?),
        },
        (Some("universes"), Some(id), Some("commands"), None) => Route::Commands(universe_id(id)?),
        (Some("universes"), Some(id), Some("events"), None) => Route::Events(universe_id(id)?),
        (Some("universes"), Some(id), Some("history"), None) => Route::History(universe_id(id)?),
        (Some("universes"), Some(id), Some("tree"), None) => Route::Tree(universe_id(id)?),
        (Some("universes"), Some(id), Some("undo"), None) => Route::Undo(universe_id(id)?),
        _ => return Err(unknown()),
    };
    Ok(route)
}

/// The universe id in a path segment. A text that cannot be an id gets the same answer as an unknown id.
fn universe_id(segment: &str) -> Result<UniverseId, Failure> {
    let id = percent_decode_str(segment).decode_utf8().map_err(|_| Failure::not_found(segment))?;
    UniverseId::new(&id).map_err(|_| Failure::not_found(&id))
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
