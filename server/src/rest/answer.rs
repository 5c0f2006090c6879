//! Responses: JSON bodies, entity tags, and the one table from a failure to its status.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, ETAG, HeaderValue, RETRY_AFTER};
use http::{HeaderName, Response, StatusCode};
use http_body::Body as _;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use mcp_proto::ProtocolVersion;
use mcp_proto::budget::{Client, Over};
use mcp_proto::http::{self as mcp_http, Encoding};
use serde::Serialize;
use serde::ser::Error as _;
use serde_json::{Value, json};
use universe_core::Findings;

use super::parts::PartsBody;
use crate::commands::{CommandService, Processed, ServiceError, Universe};
use crate::offload;
use crate::store::{Record, Revision};
use crate::view::{CommandAnswer, NearbyUniverses, ResultForm};

/// The size in bytes from which a body is counted until it is written.
const COUNTED: u64 = 16 * 1024;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The body of every REST response.
pub type RestBody = UnsyncBoxBody<Bytes, Infallible>;

/// What a request is answered with.
pub(super) type Answer = Result<Response<RestBody>, Failure>;

/// The response to a request that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    body: Value,
    header: Option<Box<(HeaderName, HeaderValue)>>,
    /// The universe that does not exist.
    unknown: Option<Box<str>>,
}

/// A universe without its state.
#[derive(Serialize)]
pub(super) struct UniverseRecord<'a> {
    #[serde(flatten)]
    named: Named<'a>,
    #[serde(flatten)]
    rest: Rest,
}

/// The members before the state of a universe.
#[derive(Serialize)]
struct Named<'a> {
    id: &'a str,
    name: &'a str,
}

/// The members after the state.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rest {
    created_at: crate::store::Timestamp,
    updated_at: crate::store::Timestamp,
    revision: u64,
    /// Unusual input that was accepted.
    #[serde(skip_serializing_if = "Findings::is_empty")]
    warnings: Findings,
    /// The recipe that the universe was generated from.
    #[serde(skip_serializing_if = "Option::is_none")]
    generate: Option<Value>,
}

impl<'a> UniverseRecord<'a> {
    pub(super) fn summary(record: &'a Record) -> Self {
        let named = Named { id: record.meta.id.as_str(), name: &record.meta.name };
        let rest = Rest {
            created_at: record.meta.created_at,
            updated_at: record.head.updated_at,
            revision: record.head.revision.0,
            warnings: Findings::default(),
            generate: None,
        };
        Self { named, rest }
    }
}

pub(super) fn health(uptime: Duration) -> Response<RestBody> {
    json_body(StatusCode::OK, &json!({ "ok": true, "uptime": uptime.as_secs() }))
}

/// The program, its version and the protocols that it supports.
pub(super) fn version() -> Response<RestBody> {
    let version = json!({
        "name": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
        "mcp": ProtocolVersion::ALL.map(ProtocolVersion::as_str),
    });
    json_body(StatusCode::OK, &version)
}

/// A universe with its entity tag.
pub(super) async fn universe(status: StatusCode, universe: Universe, warnings: Findings) -> Answer {
    made(status, universe, warnings, None).await
}

/// A universe with the recipe it was generated from.
pub(super) async fn made(
    status: StatusCode,
    universe: Universe,
    warnings: Findings,
    generate: Option<Value>,
) -> Answer {
    let etag = etag(universe.revision);
    let written = write_made(universe, warnings, generate).await;
    let written = written.map_err(|error| Failure::internal(&error))?;
    let mut response = with_body(status, PartsBody::boxed(written));
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response.headers_mut().insert(ETAG, etag);
    Ok(response)
}

/// A universe as JSON text.
pub(super) async fn write(universe: Universe) -> Result<Vec<u8>, serde_json::Error> {
    let parts = write_made(universe, Findings::default(), None).await?;
    Ok(parts.concat())
}

/// The same in parts. The parts of a large state are the ones that are kept for it.
async fn write_made(
    universe: Universe,
    warnings: Findings,
    generate: Option<Value>,
) -> Result<Vec<Bytes>, serde_json::Error> {
    let small = offload::is_small(&universe.state);
    let is_kept = !small && universe.text.of(&universe.state).is_some();
    offload::run(small || is_kept, None, move || {
        let named = Named { id: universe.id.as_str(), name: &universe.name };
        let rest = Rest {
            created_at: universe.created_at,
            updated_at: universe.updated_at,
            revision: universe.revision.0,
            warnings,
            generate,
        };
        // The text of the state is put between them unchanged. Serde would parse it again.
        let (mut before, rest) = (serde_json::to_vec(&named)?, serde_json::to_vec(&rest)?);
        before.pop();
        before.extend_from_slice(b",\"state\":");
        let after = known_range::items(&rest, 1..);
        if small {
            universe.state.write_json(&mut before)?;
            before.push(b',');
            before.extend_from_slice(after);
            return Ok(vec![before.into()]);
        }
        let text = universe.text.write(&universe.state)?;
        let mut parts = vec![before.into()];
        parts.extend(text.parts().cloned().map(Bytes::from_owner));
        parts.push([b",", after].concat().into());
        Ok(parts)
    })
    .await
    .map_err(serde_json::Error::custom)?
}

/// A universe that cannot be read, as JSON text: the reason instead of its state.
pub(super) fn write_damaged(
    record: &Record,
    error: &ServiceError,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut message = serde_json::to_value(UniverseRecord::summary(record))?;
    if let Some(message) = message.as_object_mut() {
        message.insert("error".to_owned(), error.to_string().into());
    }
    serde_json::to_vec(&message)
}

/// The effect of a command, in the requested form.
pub(super) async fn processed(
    processed: Processed,
    warnings: Findings,
    form: ResultForm,
) -> Answer {
    let written = offload::run(form.is_quick(&processed), None, move || {
        let answer = CommandAnswer::of(&processed, &warnings, form, &[])?;
        match form {
            // The revision is in the entity tag.
            ResultForm::Events | ResultForm::State => {
                serde_json::to_vec(&answer.without_revision())
            }
            ResultForm::Fitting | ResultForm::Changes => serde_json::to_vec(&answer),
        }
    });
    match written.await {
        Ok(Ok(json)) => Ok(json_text(StatusCode::OK, json)),
        Ok(Err(error)) => Err(Failure::internal(&error)),
        Err(error) => Err(Failure::internal(&error)),
    }
}

/// Does work in a way that delays no other request. What is not small waits for its client's turn.
pub(super) async fn worked_out<T: Send + 'static>(
    client: &Client,
    small: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    offload::run(small, Some(client), work).await.map_err(|error| Failure::internal(&error))
}

/// A response with a small value, or one whose size was already counted.
pub(super) fn json_body(status: StatusCode, value: &impl Serialize) -> Response<RestBody> {
    match serde_json::to_vec(value) {
        Ok(json) => json_text(status, json),
        Err(error) => {
            tracing::error!(%error, "a response could not be written as JSON");
            empty(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

/// Compresses a body with the encoding that its client prefers, if that is worthwhile. A large body is counted by its
/// client until the last part of it is written.
pub(super) async fn encoded(
    mut response: Response<RestBody>,
    encoding: Option<Encoding>,
    client: &Client,
) -> Answer {
    // A feed has no size.
    let Some(size) = response.body().size_hint().exact() else {
        return Ok(response);
    };
    let mut held = if size < COUNTED {
        None
    } else {
        Some(client.hold_answer(usize::try_from(size).unwrap_or(usize::MAX))?)
    };
    let media = response.headers().get(CONTENT_TYPE);
    // A compressed format does not become smaller.
    let is_packed = media.is_some_and(|media| media == "image/png");
    let is_worth = Encoding::is_worth(size) && !is_packed;
    if is_worth {
        mcp_http::vary(response.headers_mut());
    }
    let encoding = encoding.filter(|_| is_worth);
    if held.is_none() && encoding.is_none() {
        return Ok(response);
    }
    let (mut head, mut body) = response.into_parts();
    let mut parts = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        parts.extend(frame.into_data());
    }
    if let Some(encoding) = encoding
        && let Some(compressed) = encoding.compress(parts.clone(), client).await
    {
        if let Some(held) = &mut held {
            held.set(compressed.len())?;
        }
        parts = vec![compressed.into()];
        encoding.mark(&mut head.headers);
        if let Some(tag) = head.headers.get_mut(ETAG) {
            *tag = encoded_tag(tag, encoding);
        }
    }
    if let Some(held) = held {
        parts = held.keep_parts(parts);
    }
    Ok(Response::from_parts(head, PartsBody::boxed(parts)))
}

/// The tag of an unencoded body, changed for the same body in an encoding, because the two differ (RFC 9110 §8.8.3.3).
fn encoded_tag(tag: &HeaderValue, encoding: Encoding) -> HeaderValue {
    let text = tag.to_str().ok().and_then(|tag| tag.strip_suffix('"'));
    let encoded = text.map(|text| format!("{text}-{}\"", encoding.as_str()));
    let encoded = encoded.and_then(|encoded| HeaderValue::from_str(&encoded).ok());
    encoded.unwrap_or_else(|| tag.clone())
}

pub(super) fn json_text(status: StatusCode, json: impl Into<Bytes>) -> Response<RestBody> {
    let mut response = with_body(status, Full::new(json.into()).boxed_unsync());
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

pub(super) fn empty(status: StatusCode) -> Response<RestBody> {
    with_body(status, Full::default().boxed_unsync())
}

pub(super) fn with_body(status: StatusCode, body: RestBody) -> Response<RestBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

/// The entity tag of a revision (RFC 9110 §8.8.3).
pub(super) fn etag(revision: Revision) -> HeaderValue {
    let tag = format!("\"{revision}\"");
    // Digits between quotes are always a valid header value.
    HeaderValue::from_str(&tag).unwrap_or_else(|_| HeaderValue::from_static("\"0\""))
}

impl Failure {
    /// Whether the answer to the client is delayed: it uses all of its share, or has no valid token.
    pub(super) fn is_delayed(&self) -> bool {
        matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::UNAUTHORIZED)
    }

    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self::with_body(status, json!({ "error": error.into() }))
    }

    fn with_body(status: StatusCode, body: Value) -> Self {
        Self { status, body, header: None, unknown: None }
    }

    pub(super) fn bad_request(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// 500, with the details in the log.
    pub(super) fn internal(error: &dyn std::error::Error) -> Self {
        tracing::error!(%error, "a request failed");
        let message = ServiceError::Internal.to_string();
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// 400 with all findings.
    pub(super) fn findings(error: &str, findings: &universe_core::Findings) -> Self {
        let body = json!({ "error": format!("{error}: {findings}"), "findings": findings });
        Self::with_body(StatusCode::BAD_REQUEST, body)
    }

    pub(super) fn not_found(id: &str) -> Self {
        let shown: String = id.chars().take(200).collect();
        let message = format!("universe not found: {shown}");
        Self { unknown: Some(shown.into()), ..Self::new(StatusCode::NOT_FOUND, message) }
    }

    /// Adds the nearest universes, if it is the error for one that does not exist.
    pub(super) async fn explained(mut self, service: &CommandService) -> Self {
        if let Some(id) = &self.unknown
            && let Some(Value::String(message)) = self.body.get_mut("error")
        {
            message.push_str(&NearbyUniverses::near(service, id).await.hint);
        }
        self
    }

    pub(super) fn method_not_allowed(methods: HeaderValue) -> Self {
        let error = format!("this path takes {}", methods.to_str().unwrap_or_default());
        Self::new(StatusCode::METHOD_NOT_ALLOWED, error).with_header(ALLOW, methods)
    }

    /// 405 from a server that is read-only.
    pub(super) fn read_only(methods: HeaderValue) -> Self {
        let failure = Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "this server was started with --read-only: nothing can be changed by it",
        );
        failure.with_header(ALLOW, methods)
    }

    pub(super) fn unavailable(error: impl Into<String>) -> Self {
        let failure = Self::new(StatusCode::SERVICE_UNAVAILABLE, error);
        failure.with_header(RETRY_AFTER, HeaderValue::from_static("1"))
    }

    pub(super) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.header = Some(Box::new((name, value)));
        self
    }

    /// Whether a client that is still sending may finish sending. This excludes a client whose body took too long.
    pub(super) fn may_finish_sending(&self) -> bool {
        self.status != StatusCode::REQUEST_TIMEOUT
    }

    pub(super) fn into_response(self) -> Response<RestBody> {
        let mut response = json_body(self.status, &self.body);
        response.headers_mut().extend(self.header.map(|header| *header));
        response
    }
}

impl From<Over> for Failure {
    fn from(over: Over) -> Self {
        let status = if over.is_share() {
            StatusCode::TOO_MANY_REQUESTS
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        let failure = Self::new(status, over.to_string());
        failure.with_header(RETRY_AFTER, HeaderValue::from_static("1"))
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        let message = error.to_string();
        match error {
            ServiceError::NotFound(id) => Self::not_found(id.as_str()),
            ServiceError::Exists(_) => Self::new(StatusCode::CONFLICT, message),
            ServiceError::Refused { refusal, .. } => {
                let body =
                    json!({ "error": message, "code": refusal.code(), "events": refusal.events });
                Self::with_body(StatusCode::UNPROCESSABLE_ENTITY, body)
            }
            ServiceError::Conflict { revision, .. } => {
                let body = json!({ "error": message, "revision": revision.0 });
                let failure = Self::with_body(StatusCode::PRECONDITION_FAILED, body);
                failure.with_header(ETAG, etag(revision))
            }
            ServiceError::NoRevision { .. } => Self::new(StatusCode::NOT_FOUND, message),
            ServiceError::Trimmed { oldest, .. } => {
                let body = json!({ "error": message, "oldest": oldest });
                Self::with_body(StatusCode::GONE, body)
            }
            ServiceError::KeyReused(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, message),
            ServiceError::TooLarge { .. } | ServiceError::Grown { .. } => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
            }
            ServiceError::Full => Self::new(StatusCode::INSUFFICIENT_STORAGE, message),
            ServiceError::Unavailable => Self::unavailable(message),
            ServiceError::Uncertain
            | ServiceError::Damaged { .. }
            | ServiceError::Unsound(_)
            | ServiceError::Internal => Self::new(StatusCode::INTERNAL_SERVER_ERROR, message),
        }
    }
}
