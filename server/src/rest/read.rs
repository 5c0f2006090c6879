//! Reading requests: bodies under a limit, preconditions, query parameters.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderName, StatusCode, request};
use http_body::Body;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::RestConfig;
use super::answer::Failure;
use crate::offload;
use crate::store::{CommandId, Revision};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Bounds what is read and judged at once, of all requests together.
#[derive(Debug)]
pub(super) struct Reading {
    max_body_bytes: usize,
    timeout: Duration,
    /// One for each KiB.
    budget: Arc<Semaphore>,
}

/// A body, and its share of the budget until it has been judged.
#[derive(Debug)]
pub(super) struct Received {
    text: Bytes,
    _share: OwnedSemaphorePermit,
}

impl Reading {
    pub(super) fn new(config: &RestConfig) -> Self {
        let budget = (config.max_buffered_bytes / 1024).min(Semaphore::MAX_PERMITS);
        Self {
            max_body_bytes: config.max_body_bytes,
            timeout: config.body_timeout,
            budget: Arc::new(Semaphore::new(budget)),
        }
    }

    /// The whole body of a request that must be JSON.
    pub(super) async fn body<B>(&self, head: &request::Parts, body: B) -> Result<Received, Failure>
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        // A body of no announced length may be as long as any.
        let announced = body
            .size_hint()
            .exact()
            .unwrap_or(self.max_body_bytes as u64);
        let share = announced.min(self.max_body_bytes as u64) / 1024 + 1;
        let share = u32::try_from(share).unwrap_or(u32::MAX);
        let share = Arc::clone(&self.budget)
            .try_acquire_many_owned(share)
            .map_err(|_| Failure::unavailable("too much is being read at once: try again later"))?;
        let text = self::body(head, body, self.max_body_bytes, self.timeout).await?;
        Ok(Received {
            text,
            _share: share,
        })
    }
}

impl Received {
    /// Makes something of the body, where it does not hold up others.
    pub(super) async fn parse<T: Send + 'static>(
        self,
        read: impl FnOnce(&[u8]) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let small = self.text.len() <= offload::INLINE_BYTES;
        let parsed = offload::run(small, move || read(&self.text)).await;
        parsed.unwrap_or_else(|error| Err(Failure::internal(&error)))
    }
}

async fn body<B>(
    head: &request::Parts,
    body: B,
    max_bytes: usize,
    timeout: Duration,
) -> Result<Bytes, Failure>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let media = head
        .headers
        .get(CONTENT_TYPE)
        .map(HeaderValue::as_bytes)
        .unwrap_or_default();
    let media = media.split(|&byte| byte == b';').next().unwrap_or_default();
    if !media.trim_ascii().eq_ignore_ascii_case(b"application/json") {
        return Err(Failure::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the Content-Type must be application/json",
        ));
    }
    let encoding = head.headers.get(CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(Failure::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body must not be compressed: send it without a Content-Encoding",
        ));
    }
    let too_large = || {
        Failure::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is larger than {max_bytes} bytes"),
        )
    };
    // What is announced to be too large is not even begun.
    if body.size_hint().lower() > max_bytes as u64 {
        return Err(too_large());
    }
    let read = tokio::time::timeout(timeout, Limited::new(body, max_bytes).collect());
    match read.await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Failure::bad_request(
            "the body could not be read to its end",
        )),
        Err(_) => Err(Failure::new(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not arrive in time",
        )),
    }
}

/// A body as JSON.
pub(super) fn json(body: &[u8]) -> Result<Value, Failure> {
    serde_json::from_slice(body)
        .map_err(|problem| Failure::bad_request(format!("the body is not JSON: {problem}")))
}

/// The revision that `If-Match` demands; `None` when any will do (RFC 9110 §13.1.1).
pub(super) fn if_match(head: &request::Parts) -> Result<Option<Revision>, Failure> {
    let mut values = head.headers.get_all(IF_MATCH).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let text = value.to_str().map(str::trim).unwrap_or_default();
    if text == "*" && values.next().is_none() {
        return Ok(None);
    }
    let revision = revision_of_tag(text).filter(|_| values.next().is_none());
    revision.map(Some).ok_or_else(|| {
        Failure::bad_request(
            "the If-Match header must be one entity tag that this server gave, such as \"12\"",
        )
    })
}

/// The command that `Idempotency-Key` names, if it is there: a text, in quotes or not.
pub(super) fn idempotency_key(head: &request::Parts) -> Result<Option<CommandId>, Failure> {
    let Some(key) = head.headers.get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    let key = key.to_str().map(str::trim).unwrap_or_default();
    let key = key
        .strip_prefix('"')
        .map_or(key, |key| key.strip_suffix('"').unwrap_or(key));
    let key = CommandId::of_key(key)
        .map_err(|problem| Failure::bad_request(format!("Idempotency-Key: {problem}")))?;
    Ok(Some(key))
}

/// Whether `If-None-Match` names this revision (RFC 9110 §13.1.2).
pub(super) fn if_none_match(head: &request::Parts, revision: Revision) -> bool {
    let values = head
        .headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|tag| {
            tag == "*" || revision_of_tag(tag.strip_prefix("W/").unwrap_or(tag)) == Some(revision)
        })
}

/// A query parameter that must be a whole number, if it is there.
pub(super) fn number(head: &request::Parts, name: &str) -> Result<Option<u64>, Failure> {
    let given = query(head, name).map(|text| text.parse());
    given
        .transpose()
        .map_err(|_| Failure::bad_request(format!("{name} must be a whole number")))
}

/// The last value of a query parameter.
pub(super) fn query(head: &request::Parts, name: &str) -> Option<String> {
    let query = head.uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes())
        .filter(|(key, _)| key == name)
        .last()
        .map(|(_, value)| value.into_owned())
}

/// A header that must be a whole number, if it is there.
pub(super) fn revision_header(
    head: &request::Parts,
    name: &HeaderName,
) -> Result<Option<Revision>, Failure> {
    let Some(value) = head.headers.get(name) else {
        return Ok(None);
    };
    let revision = value
        .to_str()
        .ok()
        .and_then(|text| text.trim().parse().ok());
    revision
        .map(|revision| Some(Revision(revision)))
        .ok_or_else(|| {
            Failure::bad_request(format!(
                "the {name} header must be a revision: the id of an event of this feed"
            ))
        })
}

fn revision_of_tag(tag: &str) -> Option<Revision> {
    let text = tag.strip_prefix('"')?.strip_suffix('"')?;
    let revision = text.parse().ok().map(Revision)?;
    // Tags are compared as texts: "+1" and "01" are none of ours.
    (revision.to_string() == text).then_some(revision)
}
