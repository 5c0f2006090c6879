//! Streamable HTTP: a request in, one JSON body or an event stream out.
//!
//! [`StreamableHttpService`] is a `Service` of hyper and of tower, and [`StreamableHttpService::handle`] ignores the
//! path, so mounting it is one `match` arm. Nothing has to be started: the response owns the handler's future, and
//! dropping the response cancels a modern call. [`serve`] is an accept loop for programs that have none.
//!
//! Over HTTP/1 a client that goes away is noticed by the end of what it sends. If a client has sent more than 16 KiB
//! after its request (pipelining), its disconnect is noticed only when they are read, which is after the answer. Its
//! call continues until then. [`Tool::with_timeout`](crate::Tool::with_timeout) bounds such calls; an event stream is
//! ended at once.

pub(crate) mod answer;
pub mod authorize;
pub(crate) mod body;
mod card;
pub(crate) mod config;
mod cors;
mod documents;
#[cfg(feature = "compression")]
mod encoding;
pub(crate) mod endpoint;
mod forwarded;
pub(crate) mod head;
mod logged_rejections;
pub(crate) mod modern;
pub(crate) mod peer;
pub(crate) mod reading;
pub(crate) mod rejection;
mod respond;
mod serve;
pub(crate) mod sse;

use std::convert::Infallible;
use std::fmt::Display;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Buf;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http_body::Body;

use crate::budget::{Client, Usage};
use crate::legacy::event_store::EventStore;
use crate::legacy::http::Legacy;
use crate::legacy::session::{MemorySessions, SessionStore};
use crate::server::Server;
use authorize::Authorization;
use authorize::metadata::WELL_KNOWN;
use endpoint::Endpoint;
use logged_rejections::LoggedRejections;

/// Re-exports the crate `http`, so that `use mcp_proto::*` does not hide it.
#[doc(no_inline)]
pub use ::http::*;

pub use crate::legacy::http::config::LegacyConfig;
pub use body::ResponseBody;
pub use card::ServerCard;
pub use config::{Hosts, HttpConfig, InvalidName, Origins};
#[cfg(feature = "compression")]
pub use encoding::{Encoding, vary};
pub use forwarded::{InvalidProxy, Proxies};
pub use peer::Peer;
pub use serve::{Callers, Handshake, ServeConfig, Socket, Undecided, listen, serve, serve_with};
pub use sse::{Event, EventReader, EventTooLarge};

/// The endpoint of a [`Server`], both eras at once. Cheap to clone; clones share sessions.
#[derive(Debug, Clone)]
pub struct StreamableHttpService(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    endpoint: Arc<Endpoint>,
    legacy: Legacy,
    logged_rejections: LoggedRejections,
}

impl StreamableHttpService {
    /// The endpoint with default bounds and sessions in memory.
    pub fn new(server: Server) -> Self {
        Self::with_config(server, HttpConfig::default())
    }

    /// The endpoint with these bounds and sessions in memory.
    pub fn with_config(server: Server, config: HttpConfig) -> Self {
        Self::with_sessions(server, config, Arc::new(MemorySessions::default()))
    }

    /// The endpoint with these bounds and this session store.
    ///
    /// Several processes may share a store: any of them serves any request of any session. Modern requests need no
    /// shared state. The live parts of a legacy session stay in the process in which they began, unless there is an
    /// [`EventStore`] beside the store ([`with_stores`](Self::with_stores)):
    ///
    /// - resuming streams: in another process the `Last-Event-ID` of a call gets 400, and that of a GET stream gets a
    ///   new stream;
    /// - `notifications/cancelled` for running calls, and the client's answers to their questions: another process
    ///   ignores them;
    /// - the one GET stream of a session, its subscriptions until the stream is opened again, and the bounds on running
    ///   calls;
    /// - a DELETE: it ends calls in another process only within [`HttpConfig::keep_alive`].
    ///
    /// So a load balancer should send the requests of one session to one process, by their `mcp-session-id` header. It
    /// need not always do so: a request that goes elsewhere, as after a restart, is served as described above.
    pub fn with_sessions(
        server: Server,
        config: HttpConfig,
        sessions: Arc<dyn SessionStore>,
    ) -> Self {
        Self::build(server, config, sessions, None)
    }

    /// The endpoint with these bounds and stores. Several processes may share the stores: any of them then serves any
    /// session completely. Any process can resume the stream of a call and accepts cancellations and the answers to a
    /// call's questions, and a DELETE at once ends calls in the others. Three limits remain. A GET stream that is
    /// resumed in another process begins as a new stream. The bounds apply to each process separately. A call whose
    /// client reads it in another process counts as one that runs without its client
    /// ([`LegacyConfig::detached_calls`]).
    ///
    /// A call that is answered with one JSON body does not use the event store.
    pub fn with_stores(
        server: Server,
        config: HttpConfig,
        sessions: Arc<dyn SessionStore>,
        events: Arc<dyn EventStore>,
    ) -> Self {
        Self::build(server, config, sessions, Some(events))
    }

    fn build(
        server: Server,
        config: HttpConfig,
        sessions: Arc<dyn SessionStore>,
        events: Option<Arc<dyn EventStore>>,
    ) -> Self {
        let endpoint = Arc::new(Endpoint::new(server, config));
        Self(Arc::new(Inner {
            legacy: Legacy::new(Arc::clone(&endpoint), sessions, events),
            endpoint,
            logged_rejections: LoggedRejections::default(),
        }))
    }

    /// Answers one HTTP request. Infallible: a refusal is a response with a JSON-RPC error body.
    ///
    /// The extensions of the request reach the handlers as [`Context::extensions`](crate::Context::extensions); a
    /// [`Principal`](crate::Principal) among them binds sessions to the caller.
    pub fn handle<B>(
        &self,
        request: Request<B>,
    ) -> impl Future<Output = Response<ResponseBody>> + use<B>
    where
        B: Body,
        B::Error: Display,
    {
        respond::respond(Arc::clone(&self.0), request)
    }

    /// The budget account of the client that sent a request: by its [`Principal`](crate::Principal), or by its
    /// [`Peer`]'s address, or by the client address that one of [`HttpConfig::proxies`] forwards. For endpoints beside
    /// this one that share its [`HttpConfig::budget`].
    pub fn client(&self, head: &request::Parts) -> Client {
        self.0.endpoint.client(head)
    }

    /// Reads the rest of the body of a refused request, within bounds, and discards it: a client that is still writing
    /// when its connection is closed may never see the answer. For endpoints beside this one, before they answer with a
    /// refusal. At most 256 MiB are read, for at most [`HttpConfig::body_timeout`], and until nothing arrives for a
    /// second; a client that announces more is answered at once.
    pub async fn discard<B: Body>(&self, head: &request::Parts, body: B) {
        let (client, config) = (self.client(head), &self.0.endpoint.config);
        reading::discard(pin!(body), &head.headers, config, &client).await;
    }

    /// The route of a document that this service publishes at a path beside its endpoint: the metadata of its
    /// [protected resource](authorize::ProtectedResource), its [card](ServerCard), or the catalog that leads there. The
    /// embedding service must route such a path to [`handle`](Self::handle). `None` for any other path.
    pub fn document(&self, path: &str) -> Option<&'static str> {
        let config = &self.0.endpoint.config;
        let resource = config.authorization.as_ref().and_then(Authorization::resource);
        let metadata = resource.filter(|resource| resource.is_at(path)).map(|_| WELL_KNOWN);
        metadata.or_else(|| config.card.as_ref().and_then(|_| card::route(path)))
    }

    /// How much clients hold of each bounded resource, and how often each bound was reached.
    pub fn usage(&self) -> Vec<Usage> {
        self.0.endpoint.usage()
    }

    /// Ends every listening stream at once; calls continue. Call it to shut down: otherwise open streams delay hyper's
    /// graceful shutdown until its deadline.
    ///
    /// From then on a legacy call ends when its connection does. Calls that already run without a client end within
    /// [`LegacyConfig::max_detached_time_after_close`]; [`StreamableHttpService::ended`] waits for them.
    pub fn close(&self) {
        self.0.endpoint.server.close();
        self.0.legacy.close();
    }

    /// Waits until no tasks run, and no legacy calls whose clients have disconnected or that are answered by an event
    /// stream. The former continue without their connection; the latter notice its end a moment later. For after
    /// [`close`](Self::close) and the end of [`serve`].
    pub async fn ended(&self) {
        self.0.legacy.ended().await;
        self.0.endpoint.server.tasks_ended().await;
    }

    #[cfg(test)]
    pub(crate) fn legacy(&self) -> &Legacy {
        &self.0.legacy
    }
}

/// For routers and layers of tower, such as axum's `route_service` ([guide](crate::guide::axum)). It is always ready,
/// because the resources that clients can use are bounded separately.
impl<B> tower_service::Service<Request<B>> for StreamableHttpService
where
    B: Body + Send + 'static,
    B::Data: Buf + Send,
    B::Error: Display,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, std::result::Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::result::Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        Box::pin(self.handle(request).map(Ok))
    }
}

impl<B> hyper::service::Service<Request<B>> for StreamableHttpService
where
    B: Body + Send + 'static,
    B::Data: Buf + Send,
    B::Error: Display,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, std::result::Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<B>) -> Self::Future {
        Box::pin(self.handle(request).map(Ok))
    }
}
