//! Why a request was refused before it reached a method → status, code, sentence. One table.

use http::{HeaderValue, StatusCode};

use super::authorize::challenge::Refusal as Unauthorized;
use crate::budget::Over;
use crate::jsonrpc::{ErrorObject, MessageError, ReadError, RequestId};
use crate::server::Server;

/// What comes of a request that may be refused.
pub(crate) type Result<T, E = Rejection> = std::result::Result<T, E>;

/// A refusal. Every one is answered with a JSON-RPC error body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rejection {
    /// `Host` names another server.
    ForeignHost(String),
    /// `Origin` is not allowed.
    ForeignOrigin(String),
    /// Not POST, GET, DELETE or OPTIONS.
    MethodNotAllowed,
    /// GET or DELETE of a revision without sessions.
    NoSessions,
    /// `Accept` excludes what would be sent.
    NotAcceptable(&'static str),
    /// The body is not `application/json`.
    UnsupportedMediaType,
    /// The body is compressed.
    UnsupportedEncoding,
    /// The body is larger than this many bytes.
    BodyTooLarge(usize),
    /// The parsed body takes more memory than this many bytes.
    BodyTooCostly(usize),
    /// The body did not arrive in time.
    BodyTimeout,
    /// The connection broke while the body was read.
    BodyBroken,
    /// A response where a request is expected.
    UnexpectedResponse,
    /// The client, or all clients together, have reached a bound.
    Over(Over),
    /// Too many listeners of the server.
    TooManyListeners,
    /// The caller is not known or may not do this.
    Unauthorized(Box<Unauthorized>),
    /// The message or its metadata is wrong: the error says how.
    Message(StatusCode, ErrorObject),
}

/// The methods of the endpoint, for `Allow`.
pub(crate) const ALLOW: HeaderValue = HeaderValue::from_static("POST, GET, DELETE, OPTIONS");

/// A refusal and the id of the request it refuses, if that could be read.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) Rejection, pub(crate) Option<RequestId>);

impl Rejection {
    /// `Allow`, for a method that is not allowed.
    pub(super) fn allow(&self) -> HeaderValue {
        match self {
            Self::NoSessions => HeaderValue::from_static("POST, OPTIONS"),
            _ => ALLOW,
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::ForeignHost(_) | Self::ForeignOrigin(_) => StatusCode::FORBIDDEN,
            Self::MethodNotAllowed | Self::NoSessions => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotAcceptable(_) => StatusCode::NOT_ACCEPTABLE,
            Self::UnsupportedMediaType | Self::UnsupportedEncoding => {
                StatusCode::UNSUPPORTED_MEDIA_TYPE
            }
            Self::BodyTooLarge(_) | Self::BodyTooCostly(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::BodyBroken | Self::UnexpectedResponse => StatusCode::BAD_REQUEST,
            Self::Over(over) if over.is_share => StatusCode::TOO_MANY_REQUESTS,
            Self::Over(_) | Self::TooManyListeners => StatusCode::SERVICE_UNAVAILABLE,
            Self::Unauthorized(refusal) => refusal.denied.status(),
            Self::Message(status, _) => *status,
        }
    }

    /// Whether the body was refused, or all of it was read: nothing of it is left to read.
    pub(super) fn is_of_body(&self) -> bool {
        let broken = matches!(self, Self::BodyTimeout | Self::BodyBroken);
        broken || matches!(self, Self::BodyTooLarge(_) | Self::Over(_))
    }

    pub(crate) fn error(self) -> ErrorObject {
        let message = match self {
            Self::Message(_, error) => return error,
            Self::TooManyListeners => return Server::too_many_listeners(),
            Self::Over(over) => return ErrorObject::new(ErrorObject::INTERNAL, over.to_string()),
            Self::Unauthorized(refusal) => refusal.denied.text(),
            Self::ForeignHost(host) => format!(
                "the host {host:?} is not a name of this server; if it is, add it to the allowed hosts"
            ),
            Self::ForeignOrigin(origin) => format!(
                "pages of the origin {origin:?} may not call this server; if they may, add it to the allowed origins"
            ),
            Self::MethodNotAllowed => "the endpoint takes POST, GET and DELETE".to_owned(),
            Self::NoSessions => {
                "this revision has no sessions: the endpoint takes POST alone".to_owned()
            }
            Self::NotAcceptable(wanted) => format!("the Accept header must allow {wanted}"),
            Self::UnsupportedMediaType => "the Content-Type must be application/json".to_owned(),
            Self::UnsupportedEncoding => {
                "the body must not be compressed: send it without a Content-Encoding header"
                    .to_owned()
            }
            Self::BodyTooCostly(max) => {
                let id = None;
                return MessageError::from(ReadError::TooCostly { id, max }).error;
            }
            Self::BodyTooLarge(max) => format!("the body is larger than {max} bytes"),
            Self::BodyTimeout => "the body did not arrive in time".to_owned(),
            Self::BodyBroken => "the body could not be read to its end".to_owned(),
            Self::UnexpectedResponse => {
                "the body must be a request or a notification, not a response".to_owned()
            }
        };
        ErrorObject::invalid_request(message)
    }

    /// The refusal of a body that was not read as a message, and the id of the request if it could be read.
    pub(super) fn of_unread(problem: ReadError) -> Refused {
        match problem {
            ReadError::TooCostly { id, max } => Refused(Self::BodyTooCostly(max), id),
            broken => {
                let broken = MessageError::from(broken);
                Refused(broken.error.into(), broken.id)
            }
        }
    }
}

impl<R: Into<Rejection>> From<R> for Refused {
    fn from(rejection: R) -> Self {
        Self(rejection.into(), None)
    }
}

impl From<ErrorObject> for Rejection {
    /// A protocol error that the revision maps to 400.
    fn from(error: ErrorObject) -> Self {
        Self::Message(StatusCode::BAD_REQUEST, error)
    }
}

impl From<Over> for Rejection {
    fn from(over: Over) -> Self {
        Self::Over(over)
    }
}
