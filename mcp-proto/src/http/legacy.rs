//! The legacy era: `initialize`, sessions, the GET stream, DELETE. Deletable with the era.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use http::header::HeaderValue;
use http::{Response, StatusCode, request};
use tokio::sync::{oneshot, watch};

use super::body::ResponseBody;
use super::exchange::{Exchange, LegacyCall, event_stream};
use super::head::{self, Accepts, SESSION_ID};
use super::live::StreamGuard;
use super::rejection::{Rejection, json_response};
use super::sessions::{Held, Hold};
use super::{StreamableHttpService, sse};
use crate::context::{Context, Incoming, Outbox, Principal};
use crate::jsonrpc::{Notification, Request, Response as RpcResponse};
use crate::lifecycle::SessionChange;
use crate::server::{Listener, read_initialize, too_many_subscriptions};
use crate::session::{Session, SessionId};
use crate::version::{Era, ProtocolVersion};

/// An open GET stream.
struct OpenStream {
    listener: Listener,
    ended: oneshot::Receiver<()>,
    /// Whenever the session has changed.
    changed: watch::Receiver<()>,
    /// It has, and the store has not said yet to what: what is to be heard waits.
    is_stale: bool,
    keep_alive: Duration,
    hold: Hold,
    _guard: StreamGuard,
}

impl StreamableHttpService {
    pub(super) async fn call_legacy(
        &self,
        head: &mut request::Parts,
        accepts: Accepts,
        mut request: Request,
    ) -> Result<Response<ResponseBody>, Rejection> {
        if request.method == "initialize" {
            return self.initialize(head, accepts, request).await;
        }
        let place = self.place()?;
        let session = session_id(head)?;
        let max_calls = self.0.config.max_calls_per_session;
        // Before the session is looked up: whoever ends it after that finds the call.
        let (guard, cancelled) = self.0.live.begin_call(&session, &request.id, max_calls)?;
        let session = self.load(head, &session).await?;
        let meta = request.take_meta();
        let (outbox, notifications) = Outbox::channel();
        let incoming = Incoming {
            request_id: request.id.clone(),
            meta,
            outbox,
            extensions: std::mem::take(&mut head.extensions),
            peer: Some(session.id.shared()),
        };
        let context = Context::legacy(incoming, session.client());
        let call = match SessionChange::of(&request) {
            None => self.0.server.handle_owned(request, context),
            Some(change) => self
                .clone()
                .change_session(session.clone(), change, request, context),
        };
        let keep_alive = self.0.config.keep_alive;
        let legacy = LegacyCall {
            cancelled,
            guard,
            hold: self.0.sessions.hold(&session.id, keep_alive),
            detached: Some(self.0.detached.clone()),
            hears: accepts.events,
        };
        let exchange = Exchange::new(call, notifications, keep_alive, place).in_session(legacy);
        Ok(exchange.respond(accepts, Era::Legacy).await)
    }

    /// Answers a request that changes its session, once it has changed.
    fn change_session(
        self,
        session: Arc<Session>,
        change: SessionChange,
        request: Request,
        context: Context,
    ) -> BoxFuture<'static, RpcResponse> {
        Box::pin(async move {
            let id = request.id.clone();
            let response = self.0.server.handle(request, context).await;
            if response.outcome.is_err() {
                return response;
            }
            match self.0.sessions.change(&session.id, &change).await {
                Ok(Some(changed)) => {
                    self.0.live.session_changed(&session.id);
                    match &change {
                        SessionChange::Subscribe(uri) if !changed.subscriptions.contains(uri) => {
                            RpcResponse::error(Some(id), too_many_subscriptions())
                        }
                        _ => response,
                    }
                }
                Ok(None) => RpcResponse::error(Some(id), Rejection::UnknownSession.error()),
                Err(rejection) => RpcResponse::error(Some(id), rejection.error()),
            }
        })
    }

    /// Opens a session, whatever session the request came with.
    async fn initialize(
        &self,
        head: &request::Parts,
        accepts: Accepts,
        request: Request,
    ) -> Result<Response<ResponseBody>, Rejection> {
        let id = request.id.clone();
        let params = read_initialize(request)?;
        let version = params.negotiated();
        let result = self.0.server.initialize(version)?;
        let mut session = Session::new(version, params.client_info, params.capabilities);
        session.principal = principal(head);
        // An id of ours is a UUID: always a header value.
        let header =
            HeaderValue::from_str(session.id.as_str()).map_err(|_| Rejection::StoreUnavailable)?;
        self.0.sessions.insert(session).await?;
        let answer = RpcResponse::result(id, result);
        let mut response = if accepts.json {
            json_response(StatusCode::OK, &answer)
        } else {
            let event = sse::answer(&answer);
            event_stream(ResponseBody::events(stream::once(std::future::ready(
                event,
            ))))
        };
        response.headers_mut().insert(SESSION_ID, header);
        Ok(response)
    }

    /// A notification of a session.
    pub(super) async fn notified(
        &self,
        head: &request::Parts,
        notification: &Notification,
    ) -> Result<(), Rejection> {
        let session = self.session(head).await?;
        if let Some(request) = notification.cancelled_request() {
            self.0.live.cancel(&session.id, &request);
        }
        Ok(())
    }

    /// GET: the stream of what the server has to say outside of calls.
    pub(super) async fn open_stream(
        &self,
        head: &request::Parts,
    ) -> Result<Response<ResponseBody>, Rejection> {
        let session = session_id(head)?;
        // Before the session is looked up, as for calls.
        let (guard, ended, changed) = self.0.live.open_stream(&session)?;
        let opened_by = self.load(head, &session).await?;
        let mut interest = self.0.server.everything_told();
        interest.resources = opened_by.subscriptions.clone();
        let listener = self.0.server.changes().listen(interest);
        let listener = listener.ok_or(Rejection::TooManyListeners)?;
        let keep_alive = self.0.config.keep_alive;
        let open = OpenStream {
            listener,
            ended,
            changed,
            is_stale: false,
            keep_alive,
            hold: self.0.sessions.hold(&session, keep_alive),
            _guard: guard,
        };
        let events = stream::unfold(Some(open), |open| async move {
            let mut open = open?;
            let event = open.next().await?;
            Some((event, Some(open)))
        });
        let opening = stream::once(std::future::ready(sse::CONNECTED));
        Ok(event_stream(ResponseBody::events(opening.chain(events))))
    }

    /// DELETE: the session ends, with everything that runs in it.
    pub(super) async fn end_session(
        &self,
        head: &request::Parts,
    ) -> Result<Response<ResponseBody>, Rejection> {
        let session = self.session(head).await?;
        self.0.sessions.remove(&session.id).await?;
        self.0.live.end(&session.id);
        Ok(super::empty(StatusCode::NO_CONTENT))
    }

    /// The session that the headers name, if the caller may use it.
    pub(super) async fn session(&self, head: &request::Parts) -> Result<Arc<Session>, Rejection> {
        self.load(head, &session_id(head)?).await
    }

    async fn load(&self, head: &request::Parts, id: &SessionId) -> Result<Arc<Session>, Rejection> {
        let session = self.0.sessions.load(id).await?;
        // Somebody else's session looks like none.
        session
            .filter(|session| session.principal == principal(head))
            .ok_or(Rejection::UnknownSession)
    }
}

impl OpenStream {
    /// The bytes of the next event; `None` when the session or the server ends.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            tokio::select! {
                biased;
                _ = &mut self.ended => return None,
                Ok(()) = self.changed.changed() => {
                    self.is_stale = true;
                    self.hold.ask_now();
                }
                held = poll_fn(|context| self.hold.poll_held(context)) => match held {
                    Held::Ended => return None,
                    // Another instance may have changed it, too.
                    Held::Is(session) => {
                        self.is_stale = false;
                        self.listener.subscribe_to(session.subscriptions.clone());
                    }
                    Held::Unknown => self.is_stale = false,
                },
                change = self.listener.next(), if !self.is_stale => {
                    self.hold.touch();
                    return change.map(|change| sse::message(&change));
                }
                () = tokio::time::sleep(self.keep_alive) => {
                    self.hold.touch();
                    return Some(sse::KEEP_ALIVE);
                }
            }
        }
    }
}

/// The caller as the embedding service authenticated it.
fn principal(head: &request::Parts) -> Option<String> {
    head.extensions
        .get::<Principal>()
        .map(|principal| principal.0.clone())
}

/// The name of the session that the headers name; whether there is such a session is not asked yet.
fn session_id(head: &request::Parts) -> Result<SessionId, Rejection> {
    let id = match head.headers.get(SESSION_ID) {
        None => return Err(Rejection::MissingSession),
        Some(id) => id.to_str().map_err(|_| Rejection::UnknownSession)?,
    };
    if let Some(version) = head::text(&head.headers, &head::PROTOCOL_VERSION)
        && version.parse::<ProtocolVersion>().is_err()
    {
        return Err(Rejection::UnsupportedVersionHeader(
            version.chars().take(40).collect(),
        ));
    }
    Ok(SessionId::from_header(id))
}
