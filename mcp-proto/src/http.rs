//! Streamable HTTP: a request in, one JSON body or an event stream out.
//!
//! [`StreamableHttpService`] is a hyper `Service`, and [`StreamableHttpService::handle`] ignores the path, so mounting
//! it is one `match` arm. Nothing has to be started: the response owns the handler's future, and dropping the response
//! cancels a modern call. [`serve`] is an accept loop for those who have none.
//!
//! Over HTTP/1 a client that goes away is noticed by the end of what it sends. One that has sent more bytes behind its
//! request (pipelining) hides its going until they are read, which is after the answer; its call runs on until then.
//! [`Tool::with_timeout`](crate::Tool::with_timeout) bounds such calls.

mod answer;
mod batch;
mod body;
mod calls;
mod config;
mod cors;
mod deadline;
mod detached;
mod exchange;
mod head;
mod legacy;
mod live;
mod modern;
mod params;
mod rejection;
mod serve;
mod sessions;
mod sse;
mod standalone;
mod strangers;
mod streams;

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use bytes::Buf;
use futures_util::future::BoxFuture;
use http::{Request, Response, StatusCode, request};
use http_body::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::json::Meter;
use crate::jsonrpc::{Message, RequestId};
use crate::server::Server;
use crate::session::{MemorySessions, SessionStore};
use body::Text;
use detached::Detached;
use head::{Accepts, Verb};
use live::Live;
use rejection::Rejection;
use sessions::Sessions;
use strangers::Strangers;
use streams::Streams;

pub use body::ResponseBody;
pub use config::{Hosts, HttpConfig, InvalidName, Origins};
pub use serve::{ServeConfig, serve};
pub use sse::{Event, EventReader, EventTooLarge};

/// The endpoint of a [`Server`], both eras at once. Cheap to clone; clones share sessions.
#[derive(Debug, Clone)]
pub struct StreamableHttpService(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    server: Server,
    config: HttpConfig,
    sessions: Sessions,
    live: Arc<Live>,
    streams: Arc<Streams>,
    detached: Detached,
    /// A permit for each call that may run.
    calls: Arc<Semaphore>,
    /// A permit for each byte of bodies that may be held.
    body_memory: Arc<Semaphore>,
    strangers: Strangers,
}

/// A refusal and the id of the request it refuses, if that could be read.
type Refused = (Rejection, Option<RequestId>);

impl StreamableHttpService {
    /// The endpoint with default bounds and sessions in memory.
    #[must_use]
    pub fn new(server: Server) -> Self {
        Self::with_config(server, HttpConfig::default())
    }

    /// The endpoint with bounds of its own and sessions in memory.
    #[must_use]
    pub fn with_config(server: Server, config: HttpConfig) -> Self {
        Self::with_sessions(server, config, Arc::new(MemorySessions::default()))
    }

    /// The endpoint with bounds and a session store of its own.
    ///
    /// Several processes may share a store: any of them serves any request of any session, and modern requests need
    /// nothing in common at all. What is alive of a legacy session stays in the process in which it began:
    ///
    /// - streams to be resumed: elsewhere the `Last-Event-ID` of a call gets 400, that of a GET stream a fresh stream;
    /// - running calls to be cancelled by `notifications/cancelled`, and the answers to what they ask the client: they
    ///   are passed over elsewhere;
    /// - the one GET stream of a session, its subscriptions until it is opened again, and the bounds on running calls;
    /// - a DELETE ends what runs in another process within [`HttpConfig::keep_alive`].
    ///
    /// So a load balancer should send the requests of one session to one process, by their `mcp-session-id` header. One
    /// that does so as a rule is enough: whatever goes elsewhere, as after a restart, is served as said above.
    #[must_use]
    pub fn with_sessions(
        server: Server,
        config: HttpConfig,
        sessions: Arc<dyn SessionStore>,
    ) -> Self {
        let detached = Detached::new(&config);
        let sessions = Sessions::new(sessions, config.store_timeout);
        let permits = |max: usize| Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)));
        Self(Arc::new(Inner {
            calls: permits(config.max_calls),
            body_memory: permits(config.max_buffered_bytes),
            strangers: Strangers::default(),
            streams: Streams::new(&config),
            server,
            config,
            sessions,
            live: Arc::default(),
            detached,
        }))
    }

    /// Answers one HTTP request. Infallible: a refusal is a response with a JSON-RPC error body.
    ///
    /// The extensions of the request reach the handlers as [`Context::extensions`](crate::Context::extensions); a
    /// [`Principal`](crate::Principal) among them binds sessions to the caller.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body,
        B::Error: Display,
    {
        let (head, body) = request.into_parts();
        let origin = head.headers.get(http::header::ORIGIN).cloned();
        let mut response = match self.answer(head, body).await {
            Ok(response) => response,
            Err((rejection, id)) => {
                if self.0.strangers.is_new(&rejection) {
                    tracing::warn!(
                        ?rejection,
                        "refused a request; further ones alike are told at debug level"
                    );
                } else {
                    tracing::debug!(?rejection, "refused a request");
                }
                rejection.into_response(id)
            }
        };
        if let Some(origin) = origin {
            cors::expose(&mut response, origin, &self.0.config.origins);
        }
        response
    }

    /// Ends every listening stream at once; calls go on. For shutting down: without it, open streams hold up hyper's
    /// graceful shutdown until its deadline.
    ///
    /// From then on a legacy call ends when its connection does, and those that run without a client already end
    /// within [`HttpConfig::max_detached_time_after_close`]; [`StreamableHttpService::ended`] waits for them.
    pub fn close(&self) {
        self.0.server.close();
        self.0.detached.close();
    }

    /// Waits until no call of a legacy client runs any more that went away or whose answer is an event stream, and no
    /// task: calls that went away run on without their connection, the others notice its end a moment later. For after
    /// [`close`](Self::close) and the end of [`serve`].
    pub async fn ended(&self) {
        self.0.detached.ended().await;
        self.0.server.tasks_ended().await;
    }

    async fn answer<B>(
        &self,
        mut head: request::Parts,
        body: B,
    ) -> Result<Response<ResponseBody>, Refused>
    where
        B: Body,
        B::Error: Display,
    {
        let config = &self.0.config;
        let (verb, accepts) = match head::judge(&head, config) {
            Ok(judged) => judged,
            Err(rejection) => {
                body::discard(body, &head.headers, config).await;
                return Err((rejection, None));
            }
        };
        match verb {
            Verb::Preflight => Ok(cors::preflight(&head.headers)),
            Verb::Get => self
                .open_stream(&head)
                .await
                .map_err(|rejection| (rejection, None)),
            Verb::Delete => self
                .end_session(&head)
                .await
                .map_err(|rejection| (rejection, None)),
            Verb::Post => {
                let text = body::read(body, &head.headers, config, &self.0.body_memory)
                    .await
                    .map_err(|rejection| (rejection, None))?;
                self.post(&mut head, accepts, text).await
            }
        }
    }

    /// The place of one more call.
    fn place(&self) -> Result<OwnedSemaphorePermit, Rejection> {
        Arc::clone(&self.0.calls)
            .try_acquire_owned()
            .map_err(|_| Rejection::ServiceBusy(self.0.config.max_calls))
    }

    async fn post(
        &self,
        head: &mut request::Parts,
        accepts: Accepts,
        text: Text,
    ) -> Result<Response<ResponseBody>, Refused> {
        if Message::is_batch(text.as_ref())
            && let Some(session) = self
                .batch_session(head)
                .await
                .map_err(|rejection| (rejection, None))?
        {
            return self.call_batch(head, accepts, &session, text).await;
        }
        let meter = Meter::new(self.0.config.max_body_memory);
        let message =
            Message::from_slice_within(text.as_ref(), &meter).map_err(Rejection::of_unread)?;
        // The call may take its time; the text is not needed for it.
        drop(text);
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                let answered = if modern::is_modern(&head.headers, &request.method, &request.params)
                {
                    self.call_modern(head, accepts, request).await
                } else {
                    self.call_legacy(head, accepts, request).await
                };
                answered.map_err(|rejection| (rejection, Some(id)))
            }
            Message::Notification(notification) => {
                let (method, params) = (&notification.method, &notification.params);
                if modern::is_modern(&head.headers, method, params) {
                    modern::judge_notification(&head.headers, params)
                        .map_err(|error| (error.into(), None))?;
                } else {
                    self.notified(head, &notification)
                        .await
                        .map_err(|rejection| (rejection, None))?;
                }
                Ok(accepted())
            }
            Message::Response(response) => {
                // Only a legacy client answers, and only within its session.
                if modern::names_modern(&head.headers)
                    || head.headers.get(head::SESSION_ID).is_none()
                {
                    return Err((Rejection::UnexpectedResponse, response.id));
                }
                let id = response.id.clone();
                let session = self
                    .session(head)
                    .await
                    .map_err(|rejection| (rejection, id))?;
                self.answered(&session, response);
                Ok(accepted())
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Nobody can come back.
        self.streams.forget_kept();
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
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}

/// 202 without a body: a notification or a response was taken.
fn accepted() -> Response<ResponseBody> {
    empty(StatusCode::ACCEPTED)
}

fn empty(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = status;
    response
}
