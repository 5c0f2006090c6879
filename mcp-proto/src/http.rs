//! Streamable HTTP: a request in, one JSON body or an event stream out.
//!
//! [`StreamableHttpService`] is a hyper `Service`, and [`StreamableHttpService::handle`] ignores the path, so mounting
//! it is one `match` arm. Nothing has to be started: the response owns the handler's future, and dropping the response
//! cancels a modern call. [`serve`] is an accept loop for those who have none.
//!
//! Over HTTP/1 a client that goes away is noticed by the end of what it sends. One that has sent more bytes behind its
//! request (pipelining) hides its going until they are read, which is after the answer; its call runs on until then.
//! [`Tool::with_timeout`](crate::Tool::with_timeout) bounds such calls.

pub(crate) mod answer;
pub mod authorize;
pub(crate) mod body;
pub(crate) mod config;
mod cors;
pub(crate) mod deadline;
#[cfg(feature = "compression")]
mod encoding;
pub(crate) mod endpoint;
pub(crate) mod exchange;
mod forwarded;
pub(crate) mod head;
pub(crate) mod modern;
mod params;
pub(crate) mod peer;
pub(crate) mod reading;
pub(crate) mod rejection;
mod serve;
pub(crate) mod sse;
mod strangers;

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use bytes::Buf;
use futures_util::future::BoxFuture;
use http::{Request, Response, request};
use http_body::Body;

use crate::budget::{Client, Usage};
use crate::json::Meter;
use crate::jsonrpc::Message;
use crate::legacy::http::Legacy;
use crate::legacy::session::{MemorySessions, SessionStore};
use crate::server::Server;
use endpoint::Endpoint;
use head::{Accepts, Verb};
use reading::Text;
use rejection::{Refused, Rejection};
use strangers::Strangers;

pub use crate::legacy::http::config::LegacyConfig;
pub use body::ResponseBody;
pub use config::{Hosts, HttpConfig, InvalidName, Origins};
#[cfg(feature = "compression")]
pub use encoding::{Encoding, vary};
pub use forwarded::{InvalidProxy, Proxies};
pub use peer::Peer;
pub use serve::{Callers, ServeConfig, Undecided, listen, serve};
pub use sse::{Event, EventReader, EventTooLarge};

/// The endpoint of a [`Server`], both eras at once. Cheap to clone; clones share sessions.
#[derive(Debug, Clone)]
pub struct StreamableHttpService(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    endpoint: Arc<Endpoint>,
    legacy: Legacy,
    strangers: Strangers,
}

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
        let endpoint = Arc::new(Endpoint::new(server, config));
        Self(Arc::new(Inner {
            legacy: Legacy::new(Arc::clone(&endpoint), sessions),
            endpoint,
            strangers: Strangers::default(),
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
        if let Some(mut metadata) = self.metadata(&head) {
            if let Some(origin) = origin {
                cors::expose(&mut metadata, origin, &self.0.endpoint.config.origins);
            }
            return metadata;
        }
        let client = self.0.endpoint.client(&head);
        #[cfg(feature = "compression")]
        let encoding = Encoding::accepted(&head.headers).map(|it| (it, client.clone()));
        let mut response = match self.answer(head, body, &client).await {
            Ok(response) => response,
            Err((rejection, id)) => {
                if rejection.is_of_share() || rejection.is_unauthorized() {
                    client.refusal().await;
                }
                if self.0.strangers.is_new(&rejection) {
                    tracing::warn!(
                        ?rejection,
                        "refused a request; further ones alike are told at debug level"
                    );
                } else {
                    tracing::debug!(?rejection, "refused a request");
                }
                answer::refusal((rejection, id))
            }
        };
        #[cfg(feature = "compression")]
        {
            response = encoding::encode(response, encoding).await;
        }
        if let Some(origin) = origin {
            cors::expose(&mut response, origin, &self.0.endpoint.config.origins);
        }
        response
    }

    /// The account of the client that a request comes from: of its [`Principal`](crate::Principal), or of its
    /// [`Peer`]'s address, or of the address that one of [`HttpConfig::proxies`] forwards it for. For endpoints beside
    /// this one that share its [`HttpConfig::budget`].
    #[must_use]
    pub fn client(&self, head: &request::Parts) -> Client {
        self.0.endpoint.client(head)
    }

    /// Reads what is left of the body of a refused request, in bounds, and drops it: a client that still writes when its
    /// connection is closed may never see the answer. For endpoints beside this one, before they answer with a refusal.
    /// At most 256 MiB are read, for at most [`HttpConfig::body_timeout`]; a client that announces more is answered at
    /// once.
    pub async fn discard<B: Body>(&self, head: &request::Parts, body: B) {
        let client = self.client(head);
        reading::discard(body, &head.headers, &self.0.endpoint.config, &client).await;
    }

    /// How much clients hold of what is bounded, and how often a bound was met.
    #[must_use]
    pub fn usage(&self) -> Vec<Usage> {
        self.0.endpoint.usage()
    }

    /// Ends every listening stream at once; calls go on. For shutting down: without it, open streams hold up hyper's
    /// graceful shutdown until its deadline.
    ///
    /// From then on a legacy call ends when its connection does, and those that run without a client already end
    /// within [`LegacyConfig::max_detached_time_after_close`]; [`StreamableHttpService::ended`] waits for them.
    pub fn close(&self) {
        self.0.endpoint.server.close();
        self.0.legacy.close();
    }

    /// Waits until no call of a legacy client runs any more that went away or whose answer is an event stream, and no
    /// task: calls that went away run on without their connection, the others notice its end a moment later. For after
    /// [`close`](Self::close) and the end of [`serve`].
    pub async fn ended(&self) {
        self.0.legacy.ended().await;
        self.0.endpoint.server.tasks_ended().await;
    }

    /// The metadata of the server as a protected resource, if that is what the request is for.
    fn metadata(&self, head: &request::Parts) -> Option<Response<ResponseBody>> {
        let authorization = self.0.endpoint.config.authorization.as_ref()?;
        let resource = authorization.metadata(head)?;
        let body = ResponseBody::full(resource.to_json().into());
        Some(answer::json(http::StatusCode::OK, body))
    }

    /// Finds out who calls, where that is asked. A preflight shows no token; what it allows still needs one.
    async fn admit(&self, verb: Verb, head: &mut request::Parts) -> Result<(), Rejection> {
        match &self.0.endpoint.config.authorization {
            Some(authorization) if verb != Verb::Preflight => authorization.admit(head).await,
            _ => Ok(()),
        }
    }

    #[cfg(test)]
    pub(crate) fn legacy(&self) -> &Legacy {
        &self.0.legacy
    }

    async fn answer<B>(
        &self,
        mut head: request::Parts,
        body: B,
        client: &Client,
    ) -> Result<Response<ResponseBody>, Refused>
    where
        B: Body,
        B::Error: Display,
    {
        let Inner {
            endpoint, legacy, ..
        } = &*self.0;
        let config = &endpoint.config;
        let judged = match head::judge(&head, config) {
            Ok((verb, accepts)) => self.admit(verb, &mut head).await.map(|()| (verb, accepts)),
            Err(rejection) => Err(rejection),
        };
        let (verb, accepts) = match judged {
            Ok(judged) => judged,
            Err(rejection) => {
                reading::discard(body, &head.headers, config, client).await;
                return Err((rejection, None));
            }
        };
        // By its name from here on, if it was asked for one.
        let named = config.authorization.as_ref();
        let named = named.map(|_| endpoint.client(&head));
        let client = named.as_ref().unwrap_or(client);
        let without_id = |rejection| (rejection, None);
        match verb {
            Verb::Preflight => Ok(cors::preflight(&head.headers)),
            Verb::Get | Verb::Delete if modern::names_modern(&head.headers) => {
                Err((Rejection::NoSessions, None))
            }
            Verb::Get => legacy.open_stream(&head, client).await.map_err(without_id),
            Verb::Delete => legacy.end_session(&head).await.map_err(without_id),
            Verb::Post => {
                let text = reading::read(body, &head.headers, config, client)
                    .await
                    .map_err(without_id)?;
                self.post(&mut head, accepts, client.clone(), text).await
            }
        }
    }

    async fn post(
        &self,
        head: &mut request::Parts,
        accepts: Accepts,
        client: Client,
        text: Text,
    ) -> Result<Response<ResponseBody>, Refused> {
        let Inner {
            endpoint, legacy, ..
        } = &*self.0;
        if let Some(session) = legacy.batch_session(head, text.as_slice()).await? {
            return legacy
                .call_batch(head, accepts, &client, &session, text)
                .await;
        }
        let read = |text: &[u8], meter: &Meter| {
            Message::from_slice_within(text, meter).map_err(Rejection::of_unread)
        };
        let max = endpoint.config.max_body_memory;
        let (message, arrived) = text.parse(max, read).await?;
        match message {
            Message::Request(request) if modern::is_modern(&head.headers, &request) => {
                let id = request.id.clone();
                let called = endpoint
                    .call_modern(head, accepts, client, arrived, request)
                    .await;
                called.map_err(|rejection| (rejection, Some(id)))
            }
            Message::Notification(notification)
                if modern::is_modern_notification(&head.headers, &notification) =>
            {
                modern::judge_notification(&head.headers, &notification.params)
                    .map_err(|error| (error.into(), None))?;
                Ok(answer::accepted())
            }
            message => legacy.post(head, accepts, client, arrived, message).await,
        }
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
