//! The legacy era: `initialize`, sessions and their calls, DELETE. Deletable with the era.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream;
use http::Extensions;
use http::header::HeaderValue;
use http::{Response, StatusCode, request};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::answer::{First, cancelled, event_stream, status};
use super::body::ResponseBody;
use super::calls::{Calls, Resumable};
use super::exchange::{Exchange, LegacyCall};
use super::head::{self, Accepts, SESSION_ID};
use super::live::CallGuard;
use super::rejection::{Rejection, json_response};
use super::{StreamableHttpService, sse};
use crate::context::{Context, Incoming, Principal};
use crate::jsonrpc::{Notification, Request, Response as RpcResponse};
use crate::lifecycle::SessionChange;
use crate::outbox::Outbox;
use crate::server::{read_initialize, too_many_subscriptions};
use crate::session::{Session, SessionId};
use crate::version::{Era, ProtocolVersion};

/// What a call of a session is entered with.
pub(super) struct Entered {
    pub(super) guard: CallGuard,
    pub(super) cancelled: oneshot::Receiver<()>,
    pub(super) place: OwnedSemaphorePermit,
}

impl StreamableHttpService {
    pub(super) async fn call_legacy(
        &self,
        head: &mut request::Parts,
        accepts: Accepts,
        request: Request,
    ) -> Result<Response<ResponseBody>, Rejection> {
        if request.method == "initialize" {
            return self.initialize(head, accepts, request).await;
        }
        let session = session_id(head)?;
        // Before the session is looked up: whoever ends it after that finds the call.
        let entered = self.enter(&session, &request);
        // What runs of a session is told to nobody but its owner.
        let session = self.load(head, &session).await?;
        let entered = entered?;
        let extensions = std::mem::take(&mut head.extensions);
        let mut call = self.begin(&session, request, extensions, entered, accepts);
        match call.first(accepts).await {
            First::Answer(answer) => Ok(json_response(status(&answer, Era::Legacy), &answer)),
            First::Stream(first) => Calls::from(call).stream(first, self.resumable(&session)),
            First::Cancelled => Ok(cancelled(accepts)),
        }
    }

    /// Enters a call of a session into the lists of those that run.
    pub(super) fn enter(
        &self,
        session: &SessionId,
        request: &Request,
    ) -> Result<Entered, Rejection> {
        let place = self.place()?;
        let max_calls = self.0.config.max_calls_per_session;
        let (guard, cancelled) = self.0.live.begin_call(session, &request.id, max_calls)?;
        Ok(Entered {
            guard,
            cancelled,
            place,
        })
    }

    /// A call of a session on its way.
    pub(super) fn begin(
        &self,
        session: &Arc<Session>,
        mut request: Request,
        extensions: Extensions,
        entered: Entered,
        accepts: Accepts,
    ) -> Exchange {
        let meta = request.take_meta();
        let (outbox, notifications) = Outbox::channel();
        let incoming = Incoming {
            request_id: request.id.clone(),
            meta,
            outbox,
            extensions,
            peer: Some(session.id.shared()),
        };
        let context = Context::new(incoming, session.client());
        let call = match SessionChange::of(&request) {
            None => self.0.server.handle_owned(request, context),
            Some(change) => {
                self.clone()
                    .change_session(Arc::clone(session), change, request, context)
            }
        };
        let keep_alive = self.0.config.keep_alive;
        let legacy = LegacyCall {
            cancelled: entered.cancelled,
            guard: entered.guard,
            hold: self.0.sessions.hold(&session.id, keep_alive),
            detached: Some(self.0.detached.clone()),
            away: None,
            hears: accepts.events,
            polls: session.protocol_version.has_polling(),
        };
        Exchange::new(call, notifications, keep_alive, entered.place).in_session(legacy)
    }

    /// What a stream of this session needs to be resumed.
    pub(super) fn resumable(&self, session: &Session) -> Resumable {
        Resumable {
            streams: Arc::clone(&self.0.streams),
            session: session.id.clone(),
            detached: self.0.detached.clone(),
            primes: session.protocol_version.has_polling(),
        }
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
                    self.0.streams.session_changed(&session.id);
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
        self.told(&session, notification);
        Ok(())
    }

    /// What a notification means for its session.
    pub(super) fn told(&self, session: &Session, notification: &Notification) {
        if let Some(request) = notification.cancelled_request() {
            self.0.live.cancel(&session.id, &request);
        }
    }

    /// Gives the client's answer to the call that asked.
    pub(super) fn answered(&self, session: &Session, response: RpcResponse) {
        if !self.0.live.answer(&session.id, response) {
            tracing::debug!("a response to no request that waits here was passed over");
        }
    }

    /// DELETE: the session ends, with everything that runs in it.
    pub(super) async fn end_session(
        &self,
        head: &request::Parts,
    ) -> Result<Response<ResponseBody>, Rejection> {
        let session = self.session(head).await?;
        self.0.sessions.remove(&session.id).await?;
        self.forget(&session.id);
        Ok(super::empty(StatusCode::NO_CONTENT))
    }

    /// The session that the headers name, if the caller may use it.
    pub(super) async fn session(&self, head: &request::Parts) -> Result<Arc<Session>, Rejection> {
        self.load(head, &session_id(head)?).await
    }

    /// The session of that name, if it lives and the caller may use it.
    pub(super) async fn load(
        &self,
        head: &request::Parts,
        id: &SessionId,
    ) -> Result<Arc<Session>, Rejection> {
        let session = self.0.sessions.load(id).await?;
        if session.is_none() {
            // It may have ended elsewhere, or by its age.
            self.forget(id);
        }
        // Somebody else's session looks like none.
        session
            .filter(|session| session.principal == principal(head))
            .ok_or(Rejection::UnknownSession)
    }

    /// Ends what is alive here of a session that is no more.
    fn forget(&self, session: &SessionId) {
        self.0.live.end(session);
        self.0.streams.end(session);
    }
}

/// The caller as the embedding service authenticated it.
fn principal(head: &request::Parts) -> Option<String> {
    head.extensions
        .get::<Principal>()
        .map(|principal| principal.0.clone())
}

/// The name of the session that the headers name; whether there is such a session is not asked yet.
///
/// A version header must name a revision with sessions, but not the one that was negotiated: the session's own counts.
/// Clients in use name another one, and nothing is won by refusing them.
pub(super) fn session_id(head: &request::Parts) -> Result<SessionId, Rejection> {
    let mut ids = head.headers.get_all(SESSION_ID).iter();
    let id = match (ids.next(), ids.next()) {
        (None, _) => return Err(Rejection::MissingSession),
        (Some(id), None) => id.to_str().map_err(|_| Rejection::UnknownSession)?,
        (Some(_), Some(_)) => return Err(head::given_twice(&SESSION_ID)),
    };
    let versions = head.headers.get_all(&head::PROTOCOL_VERSION);
    match versions.iter().find(|version| !has_sessions(version)) {
        Some(version) => {
            let version = String::from_utf8_lossy(version.as_bytes());
            let shown = version.trim().chars().take(40).collect();
            Err(Rejection::UnsupportedVersionHeader(shown))
        }
        None => Ok(SessionId::from_header(id)),
    }
}

/// Whether a version header names a revision with sessions. One that is no text names none.
fn has_sessions(version: &HeaderValue) -> bool {
    let version = version.to_str().map(str::trim);
    let version = version.map(str::parse::<ProtocolVersion>);
    matches!(version, Ok(Ok(version)) if version.era() == Era::Legacy)
}
