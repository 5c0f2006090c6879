//! Why a request was refused before it reached a method → status, code, sentence. One table.

use http::{HeaderValue, StatusCode, header};

use super::body::ResponseBody;
use crate::jsonrpc::{ErrorObject, MessageError, ReadError, RequestId, Response};
use crate::server::Server;

/// A refusal. Every one is answered with a JSON-RPC error body.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rejection {
    /// `Host` names another server.
    ForeignHost(String),
    /// `Origin` is not allowed.
    ForeignOrigin(String),
    /// Not POST, GET, DELETE or OPTIONS.
    MethodNotAllowed,
    /// `Accept` excludes what would be sent.
    NotAcceptable(&'static str),
    /// The body is no `application/json`.
    UnsupportedMediaType,
    /// The body is compressed.
    UnsupportedEncoding,
    /// The body is larger than this many bytes.
    BodyTooLarge(usize),
    /// What the body says takes more memory than this many bytes.
    BodyTooCostly(usize),
    /// The body did not arrive in time.
    BodyTimeout,
    /// The connection broke while the body was read.
    BodyBroken,
    /// A response where a request is expected.
    UnexpectedResponse,
    /// A session is needed.
    MissingSession,
    /// No such session, or somebody else's.
    UnknownSession,
    /// Another GET stream of the session is open.
    StreamTaken,
    /// `Last-Event-ID` is none of ours.
    NoEventId,
    /// The stream of `Last-Event-ID` is none of the session's, or not kept any more.
    ForgottenStream,
    /// Too many calls of one session at once.
    TooManyCalls(usize),
    /// Too many calls of the service at once.
    ServiceBusy(usize),
    /// The bodies that are being read take too much memory.
    TooManyBodies,
    /// Too many listeners of the server.
    TooManyListeners,
    /// The session store does not answer.
    StoreUnavailable,
    /// `mcp-protocol-version` names a revision that is not served.
    UnsupportedVersionHeader(String),
    /// The message or its metadata is wrong: the error says how.
    Message(StatusCode, ErrorObject),
}

/// The methods of the endpoint, for `Allow`.
pub(super) const ALLOW: HeaderValue = HeaderValue::from_static("POST, GET, DELETE, OPTIONS");

impl Rejection {
    fn status(&self) -> StatusCode {
        match self {
            Self::ForeignHost(_) | Self::ForeignOrigin(_) => StatusCode::FORBIDDEN,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotAcceptable(_) => StatusCode::NOT_ACCEPTABLE,
            Self::UnsupportedMediaType | Self::UnsupportedEncoding => {
                StatusCode::UNSUPPORTED_MEDIA_TYPE
            }
            Self::BodyTooLarge(_) | Self::BodyTooCostly(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::BodyBroken
            | Self::UnexpectedResponse
            | Self::MissingSession
            | Self::NoEventId
            // Not 404: that would end the session, and only this stream is gone.
            | Self::ForgottenStream
            | Self::UnsupportedVersionHeader(_) => StatusCode::BAD_REQUEST,
            Self::UnknownSession => StatusCode::NOT_FOUND,
            Self::StreamTaken => StatusCode::CONFLICT,
            Self::TooManyCalls(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::ServiceBusy(_)
            | Self::TooManyBodies
            | Self::TooManyListeners
            | Self::StoreUnavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Message(status, _) => *status,
        }
    }

    pub(super) fn error(self) -> ErrorObject {
        let message = match self {
            Self::Message(_, error) => return error,
            Self::StoreUnavailable => {
                return ErrorObject::new(ErrorObject::INTERNAL, "the session store does not answer: try again later");
            }
            Self::TooManyListeners => return Server::too_many_listeners(),
            Self::ServiceBusy(max) => {
                let message = format!("{max} calls are running: try again later");
                return ErrorObject::new(ErrorObject::INTERNAL, message);
            }
            Self::TooManyBodies => {
                return ErrorObject::new(ErrorObject::INTERNAL, "too many requests are being read: try again later");
            }
            Self::ForeignHost(host) => format!(
                "the host {host:?} is not a name of this server; if it is, add it to the allowed hosts"
            ),
            Self::ForeignOrigin(origin) => format!(
                "pages of the origin {origin:?} may not call this server; if they may, add it to the allowed origins"
            ),
            Self::MethodNotAllowed => "the endpoint takes POST, GET and DELETE".to_owned(),
            Self::NotAcceptable(wanted) => format!("the Accept header must allow {wanted}"),
            Self::UnsupportedMediaType => "the Content-Type must be application/json".to_owned(),
            Self::UnsupportedEncoding => {
                "the body must not be compressed: send it without a Content-Encoding header".to_owned()
            }
            Self::BodyTooCostly(max) => {
                let id = None;
                return MessageError::from(ReadError::TooCostly { id, max }).error;
            }
            Self::BodyTooLarge(max) => format!("the body is larger than {max} bytes"),
            Self::BodyTimeout => "the body did not arrive in time".to_owned(),
            Self::BodyBroken => "the body could not be read to its end".to_owned(),
            Self::UnexpectedResponse => "the body must be a request or a notification, not a response".to_owned(),
            Self::MissingSession => {
                "no session: send initialize first and its mcp-session-id header with every later request, or put \
                 the protocol version into params._meta (2026-07-28)"
                    .to_owned()
            }
            Self::UnknownSession => {
                "unknown or ended session: start a new one by initialize without an mcp-session-id header".to_owned()
            }
            Self::StreamTaken => "the session has an open GET stream already".to_owned(),
            Self::NoEventId => {
                "the last-event-id is no event id of this server: leave it out to open a new stream".to_owned()
            }
            Self::ForgottenStream => {
                "the session keeps no stream with this last-event-id: send the request again if its answer did not \
                 come, or leave the header out to open a new stream"
                    .to_owned()
            }
            Self::TooManyCalls(max) => format!("the session has {max} calls running: wait for one to end"),
            Self::UnsupportedVersionHeader(version) => {
                format!("the mcp-protocol-version {version:?} is not served")
            }
        };
        ErrorObject::invalid_request(message)
    }

    /// The refusal of a body that was not read as a message, and the id of the request if it could be read.
    pub(super) fn of_unread(problem: ReadError) -> (Self, Option<RequestId>) {
        match problem {
            ReadError::TooCostly { id, max } => (Self::BodyTooCostly(max), id),
            broken => {
                let broken = MessageError::from(broken);
                (broken.error.into(), broken.id)
            }
        }
    }

    /// The response, with the id of the request if it could be read.
    pub(super) fn into_response(self, id: Option<RequestId>) -> http::Response<ResponseBody> {
        let status = self.status();
        let is_encoded = self == Self::UnsupportedEncoding;
        let mut response = json_response(status, &Response::error(id, self.error()));
        if status == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, ALLOW);
        }
        if is_encoded {
            // RFC 9110 §15.5.16: that it is the encoding, and which would do.
            let identity = HeaderValue::from_static("identity");
            response
                .headers_mut()
                .insert(header::ACCEPT_ENCODING, identity);
        }
        response
    }
}

impl From<ErrorObject> for Rejection {
    /// A protocol error that the revision maps to 400.
    fn from(error: ErrorObject) -> Self {
        Self::Message(StatusCode::BAD_REQUEST, error)
    }
}

/// A JSON-RPC response as one JSON body.
pub(super) fn json_response(
    status: StatusCode,
    message: &Response,
) -> http::Response<ResponseBody> {
    json(status, ResponseBody::json(message))
}

/// The responses to a batch as one JSON body.
pub(super) fn json_array(
    status: StatusCode,
    messages: &[Response],
) -> http::Response<ResponseBody> {
    json(status, ResponseBody::json_array(messages))
}

fn json(status: StatusCode, body: ResponseBody) -> http::Response<ResponseBody> {
    let mut response = http::Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}
