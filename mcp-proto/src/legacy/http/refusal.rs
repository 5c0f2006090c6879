//! The errors that only requests with sessions get: status, code, sentence. One table.

use http::StatusCode;

use crate::http::rejection::Rejection;
use crate::jsonrpc::ErrorObject;

/// A refusal of the revisions up to 2025-11-25.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Refusal {
    /// A session is needed.
    MissingSession,
    /// The session does not exist, or belongs to another caller.
    UnknownSession,
    /// `Last-Event-ID` is not an event id of this server.
    NoEventId,
    /// The stream of `Last-Event-ID` is not one of the session's, or not kept any more.
    ForgottenStream,
    /// Too many calls of one session at once.
    TooManyCalls(usize),
    /// All sessions that the client, or the server, may have are in use.
    TooManySessions { is_share: bool, max: usize },
    /// Too many messages wait for calls of the session that other processes run.
    InboxFull,
    /// The session store does not answer.
    StoreUnavailable,
    /// `mcp-protocol-version` names a revision that is not served.
    UnsupportedVersionHeader(String),
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::MissingSession
            | Self::NoEventId
            // Not 404: that would end the session, and only this stream is gone.
            | Self::ForgottenStream
            | Self::UnsupportedVersionHeader(_) => StatusCode::BAD_REQUEST,
            Self::UnknownSession => StatusCode::NOT_FOUND,
            Self::TooManyCalls(_)
            | Self::InboxFull
            | Self::TooManySessions { is_share: true, .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::TooManySessions { .. } | Self::StoreUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::StoreUnavailable => "the session store does not answer: try again later".to_owned(),
            Self::MissingSession => {
                "no session: send initialize first and its mcp-session-id header with every later request, or put \
                 the protocol version into params._meta (2026-07-28)"
                    .to_owned()
            }
            Self::UnknownSession => {
                "unknown or ended session: start a new one by initialize without an mcp-session-id header".to_owned()
            }
            Self::NoEventId => {
                "the last-event-id is not an event id of this server: leave it out to open a new stream".to_owned()
            }
            Self::ForgottenStream => {
                "the session keeps no stream with this last-event-id: it was given up, or its call has ended with the \
                 process that ran it; send the request again if its answer did not come, or leave the header out to \
                 open a new stream"
                    .to_owned()
            }
            Self::TooManyCalls(max) => {
                format!("the session has {max} calls running: wait for one to end")
            }
            Self::InboxFull => {
                "too many messages wait for calls of the session that other servers run: try again later".to_owned()
            }
            Self::TooManySessions { is_share: true, max } => {
                format!("{max} sessions of this client are in use, which is its share: end one by DELETE first")
            }
            Self::TooManySessions { max, .. } => {
                format!("{max} sessions of all clients together are in use: try again later")
            }
            Self::UnsupportedVersionHeader(version) => {
                format!("the mcp-protocol-version {version:?} is not served")
            }
        }
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal {
            Refusal::StoreUnavailable | Refusal::TooManySessions { .. } => ErrorObject::INTERNAL,
            _ => ErrorObject::INVALID_REQUEST,
        };
        let error = ErrorObject::new(code, refusal.message());
        Self::Message(refusal.status(), error)
    }
}
