//! Sessions over Streamable HTTP: `initialize`, calls, GET streams, DELETE. A call that is answered by one JSON body
//! never leaves this file and `exchange.rs`; `calls.rs` drives those that have a stream.

mod batch;
mod calls;
pub(crate) mod config;
mod detached;
mod event_id;
mod events;
mod exchange;
mod followed;
mod head;
mod inbox;
mod live;
mod refusal;
mod remote;
mod sessions;
mod standalone;
mod streams;

use std::future::Future;
use std::sync::Arc;

use crate::budget::{Client, Held, Kind};
use crate::call::{Called, IncomingMessage};
use crate::context::{ClientSide, Context, Incoming, Principal};
use crate::http::answer::{
    Exchange as Running, accepted, empty, event_stream, json, json_response,
};
use crate::http::body::{Holding, ResponseBody};
use crate::http::endpoint::Endpoint;
use crate::http::head::{Accepts, SESSION_ID, one_version};
use crate::http::reading::{Arrived, LongTurn};
use crate::http::rejection::{Refused, Rejection, Result};
use crate::http::sse;
use crate::jsonrpc::{Request, RequestId, Response as RpcResponse};
use crate::legacy::event_store::EventStore;
use crate::legacy::handshake::InitializeParams;
use crate::legacy::session::{
    Session, SessionChange, SessionId, SessionStore, too_many_subscriptions,
};
use crate::outbox::Outbox;
use calls::{Calls, Resumable};
use detached::Detached;
use exchange::{Exchange, First, SessionCall};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, stream};
use head::{names_session, session_id};
use http::Extensions;
use http::header::HeaderValue;
use http::{Response, StatusCode, request};
use live::{CallGuard, Live};
use refusal::Refusal;
use sessions::Sessions;
use streams::Streams;
use tokio::sync::oneshot;

/// The state of a service for clients with sessions. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Legacy(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    endpoint: Arc<Endpoint>,
    sessions: Sessions,
    live: Arc<Live>,
    streams: Arc<Streams>,
    detached: Detached,
    /// The part of this state that is shared with other processes.
    shared: Option<Arc<dyn EventStore>>,
}

/// The data with which a call of a session is registered.
struct Entered {
    guard: CallGuard,
    cancelled: oneshot::Receiver<()>,
    call: Held,
}

/// A call of a session that has begun.
struct Begun {
    call: Exchange,
    accepts: Accepts,
    turn: LongTurn,
    session: Arc<Session>,
}

impl Begun {
    /// Its answer, or the beginning of its stream.
    // Not an `async fn`, whose future would keep the call twice.
    fn answer(
        self,
        legacy: &Legacy,
        client: Client,
        id: RequestId,
    ) -> impl Future<Output = Result<Response<ResponseBody>, Refused>> {
        let Self { mut call, accepts, turn, session } = self;
        async move {
            let answer = match turn.begin(call.first(accepts)).await {
                First::Answer(answer) => match call.answered(answer) {
                    Ok(body) => Ok(json(StatusCode::OK, body)),
                    Err(over) => Err(over.into()),
                },
                First::Stream(first) => {
                    let resumable = legacy.resumable(&session, client, [id.clone()]);
                    Calls::from(call).stream(first, resumable)
                }
                // A client whose session was ended for it would wait for an answer.
                First::Cancelled => match Box::pin(legacy.0.sessions.load(&session.id)).await {
                    Ok(None) => Err(Refusal::UnknownSession.into()),
                    _ => Ok(cancelled(accepts)),
                },
            };
            answer.map_err(|rejection| Refused(rejection, Some(id)))
        }
    }
}

impl Legacy {
    pub(crate) fn new(
        endpoint: Arc<Endpoint>,
        sessions: Arc<dyn SessionStore>,
        shared: Option<Arc<dyn EventStore>>,
    ) -> Self {
        let config = &endpoint.config.legacy;
        Self(Arc::new(Inner {
            sessions: Sessions::new(sessions, config.store_timeout),
            live: Arc::default(),
            streams: Streams::new(config, shared.as_ref()),
            detached: Detached::new(config),
            shared,
            endpoint,
        }))
    }

    /// Prevents calls from continuing without their clients.
    pub(crate) fn close(&self) {
        self.0.detached.close();
        self.0.streams.close();
    }

    /// Waits until no call runs whose client has disconnected or whose answer is an event stream.
    pub(crate) async fn ended(&self) {
        self.0.detached.ended().await;
        self.0.streams.written().await;
    }

    /// Handles a message of a session, or the one that opens it.
    pub(crate) fn post<'h>(
        &'h self,
        head: &'h mut request::Parts,
        accepts: Accepts,
        client: Client,
        arrived: Arrived,
        message: IncomingMessage,
    ) -> BoxFuture<'h, Result<Response<ResponseBody>, Refused>> {
        match message {
            IncomingMessage::Request(called) => self.call(head, accepts, client, arrived, called),
            IncomingMessage::Notification(notification) => Box::pin(async move {
                let session = self.session(head).await?;
                self.notified(&session, &notification, &head.extensions).await?;
                Ok(accepted())
            }),
            IncomingMessage::Response(response) => Box::pin(async move {
                if !names_session(&head.headers) {
                    return Err(Refused(Rejection::UnexpectedResponse, response.id));
                }
                let id = response.id.clone();
                let answered = async {
                    let session = self.session(head).await?;
                    self.answered(&session, response).await
                };
                answered.await.map_err(|rejection| Refused(rejection, id))?;
                Ok(accepted())
            }),
        }
    }

    /// Handles a request of a session, or the one that opens it.
    fn call<'h>(
        &'h self,
        head: &'h mut request::Parts,
        accepts: Accepts,
        client: Client,
        arrived: Arrived,
        called: Called,
    ) -> BoxFuture<'h, Result<Response<ResponseBody>, Refused>> {
        let id = called.id().clone();
        let called = match called {
            Called::Other(request) if request.method == "initialize" => {
                let opened = self.initialize(head, accepts, client, *request);
                return Box::pin(opened.map(|opened| opened.map_err(|it| Refused(it, Some(id)))));
            }
            called => called,
        };
        Box::pin(async move {
            let begun = async {
                let session = session_id(&head.headers)?;
                let called = self.0.endpoint.may_call(called, &mut head.extensions)?;
                // Before the session is looked up, so that code that ends it afterwards finds the call.
                let entered = self.enter(&session, called.id(), &client);
                let session = self.load(head, &session).await?;
                Ok(self.begin(session, head, called, entered?, arrived, accepts))
            };
            match begun.await {
                Ok(call) => call.answer(self, client, id).await,
                Err(rejection) => Err(Refused(rejection, Some(id))),
            }
        })
    }

    fn begin(
        &self,
        session: Arc<Session>,
        head: &mut request::Parts,
        called: Called,
        entered: Entered,
        arrived: Arrived,
        accepts: Accepts,
    ) -> Begun {
        let Arrived { held, turn } = arrived;
        let extensions = std::mem::take(&mut head.extensions);
        let call = self.exchange(&session, called, extensions, entered, held, accepts);
        Begun { call, accepts, turn, session }
    }

    /// Registers a call of a session among the running ones.
    fn enter(&self, session: &SessionId, request: &RequestId, client: &Client) -> Result<Entered> {
        let endpoint = &self.0.endpoint;
        client.may_answer()?;
        let call = client.hold(Kind::Calls, 1)?;
        let max_calls = endpoint.config.legacy.max_calls_per_session;
        let (guard, cancelled) = self.0.live.begin_call(session, request, max_calls)?;
        self.read_inbox(session);
        Ok(Entered { guard, cancelled, call })
    }

    /// A call of a session on its way.
    fn exchange(
        &self,
        session: &Arc<Session>,
        mut called: Called,
        extensions: Extensions,
        entered: Entered,
        held: Option<Held>,
        accepts: Accepts,
    ) -> Exchange {
        let endpoint = &self.0.endpoint;
        let meta = called.take_meta();
        let (outbox, outgoing) = Outbox::channel();
        let incoming = Incoming {
            request_id: called.id().clone(),
            meta,
            outbox,
            extensions,
            peer: Some(session.id.shared()),
            client: Some(entered.call.client()),
            max_answer: None,
        };
        let context = Context::new(incoming, ClientSide::from(&**session));
        let call = match SessionChange::of(&called) {
            None => endpoint.server.handle_owned(called, context),
            Some(change) => {
                self.clone().change_session(Arc::clone(session), change, called, context)
            }
        };
        let keep_alive = endpoint.config.keep_alive;
        let held = Holding { call: entered.call, _listener: None, _request: held };
        let call = Running::new(call, outgoing, keep_alive, held);
        Exchange::new(
            call,
            SessionCall {
                cancelled: entered.cancelled,
                guard: entered.guard,
                lease: self.0.sessions.lease(&session.id, keep_alive),
                detached: Some(self.0.detached.clone()),
                away: None,
                takes_events: accepts.events,
                polls: session.protocol_version.has_polling(),
            },
        )
    }

    /// The data with which a stream of this session can be resumed that carries the answers to these requests.
    fn resumable(
        &self,
        session: &Session,
        client: Client,
        requests: impl IntoIterator<Item = RequestId>,
    ) -> Resumable {
        let requests = requests.into_iter();
        Resumable {
            requests: if self.0.shared.is_some() { requests.collect() } else { Vec::new() },
            streams: Arc::clone(&self.0.streams),
            session: session.id.clone(),
            client,
            detached: self.0.detached.clone(),
            primes: session.protocol_version.has_polling(),
        }
    }

    /// Answers a request that changes its session, once it has changed.
    fn change_session(
        self,
        session: Arc<Session>,
        change: SessionChange,
        called: Called,
        context: Context,
    ) -> BoxFuture<'static, RpcResponse> {
        Box::pin(async move {
            let id = called.id().clone();
            let server = &self.0.endpoint.server;
            let response = server.handle_owned(called, context).await;
            if response.outcome.is_err() {
                return response;
            }
            let error = match self.0.sessions.change(&session.id, &change).await {
                Ok(Some(changed)) => {
                    self.0.streams.session_changed(&session.id);
                    match &change {
                        SessionChange::Subscribe(uri) if !changed.subscriptions.contains(uri) => {
                            too_many_subscriptions()
                        }
                        _ => return response,
                    }
                }
                Ok(None) => Rejection::from(Refusal::UnknownSession).error(),
                Err(refusal) => Rejection::from(refusal).error(),
            };
            RpcResponse::error(Some(id), error)
        })
    }

    /// Opens a session, whether or not the request names one already.
    async fn initialize(
        &self,
        head: &request::Parts,
        accepts: Accepts,
        client: Client,
        request: Request,
    ) -> Result<Response<ResponseBody>> {
        one_version(&head.headers)?;
        let id = request.id.clone();
        let params = InitializeParams::read(request)?;
        let version = params.negotiated();
        let result = self.0.endpoint.server.initialize(version)?;
        let mut session = Session::new(version, params.client_info, params.capabilities);
        session.principal = principal(head);
        session.client = client.text();
        // Our ids are UUIDs, which are always valid header values.
        let header =
            HeaderValue::from_str(session.id.as_str()).map_err(|_| Refusal::StoreUnavailable)?;
        self.0.sessions.insert(session).await?;
        let answer = RpcResponse::result(id, result);
        let mut response = if accepts.json {
            json_response(StatusCode::OK, answer)
        } else {
            let event = std::future::ready(sse::answer(&answer));
            event_stream(ResponseBody::events(stream::once(event)))
        };
        response.headers_mut().insert(SESSION_ID, header);
        Ok(response)
    }

    /// The session that the headers name, if the caller may use it.
    async fn session(&self, head: &request::Parts) -> Result<Arc<Session>> {
        self.load(head, &session_id(&head.headers)?).await
    }

    /// The session with that id, if it exists and the caller may use it.
    async fn load(&self, head: &request::Parts, id: &SessionId) -> Result<Arc<Session>> {
        let found = self.0.sessions.load(id).await?;
        if found.is_none() {
            // Another process may have ended it, or it has expired.
            self.forget(id);
        }
        // A session of another caller is reported as not found.
        Ok(found
            .filter(|session| session.principal == principal(head))
            .ok_or(Refusal::UnknownSession)?)
    }

    /// Ends everything in this process that belongs to a session that has ended.
    fn forget(&self, session: &SessionId) {
        self.0.live.end(session);
        self.0.streams.end(session);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // No client can reconnect to this process.
        self.streams.close();
        self.streams.forget_kept();
    }
}

/// The answer to a call that was cancelled.
fn cancelled(accepts: Accepts) -> Response<ResponseBody> {
    if accepts.events {
        event_stream(ResponseBody::events(stream::empty()))
    } else {
        // A cancelled call has no answer, and the client does not accept an event stream.
        empty(StatusCode::NO_CONTENT)
    }
}

/// The caller as the embedding service authenticated it.
fn principal(head: &request::Parts) -> Option<String> {
    head.extensions.get::<Principal>().map(|principal| principal.0.clone())
}
