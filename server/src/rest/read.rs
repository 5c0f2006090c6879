//! Reading requests: bodies under a limit, preconditions, query parameters.

use std::pin::pin;
use std::time::Duration;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderValue, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderName, Response, StatusCode, request};
use http_body::Body;
use http_body_util::BodyExt as _;
use mcp_proto::budget::{Client, Held, Kind};
use mcp_proto::http::Encoding;
use mcp_proto::json::{self, Meter};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::RestConfig;
use super::answer::{self, Failure, RestBody};
use crate::offload;
use crate::store::{CommandId, Revision};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The most members of a body whose texts are read separately. Three of them are known.
const MAX_PARTS: usize = 64;

/// Limits for reading and parsing the body of one request.
#[derive(Debug)]
pub(super) struct Reading {
    max_body_bytes: usize,
    max_body_memory: usize,
    timeout: Duration,
}

/// A body whose memory is counted for its client until it was parsed.
#[derive(Debug)]
pub(super) struct Received {
    text: Bytes,
    held: Held,
    max_memory: usize,
}

impl Reading {
    pub(super) fn new(config: &RestConfig) -> Self {
        Self {
            max_body_bytes: config.max_body_bytes,
            max_body_memory: config.max_body_memory,
            timeout: config.body_timeout,
        }
    }

    /// The whole body of a request, which must be JSON.
    pub(super) async fn body<B>(
        &self,
        head: &request::Parts,
        body: B,
        client: &Client,
    ) -> Result<Received, Failure>
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut held = client.hold(Kind::RequestBytes, 0)?;
        let text = self::body(head, body, self.max_body_bytes, self.timeout, &mut held).await?;
        Ok(Received { text, held, max_memory: self.max_body_memory })
    }
}

impl Received {
    /// Parses the body in a way that does not delay other requests.
    pub(super) async fn parse<T: Send + 'static>(
        self,
        read: impl FnOnce(&[u8], &Meter) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let small = self.text.len() <= offload::INLINE_BYTES;
        let client = self.held.client();
        let parsed = offload::run(small, Some(&client), move || {
            let meter = Meter::held_by(self.held, self.max_memory);
            let parsed = read(&self.text, &meter);
            if meter.is_over() {
                return Err(Failure::new(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    format!("the body takes more than {} bytes of memory", meter.max()),
                ));
            }
            // Memory beyond the parsed tree is the service's concern: it is bounded by the size of a universe.
            meter.into_held().map_err(Failure::from).and(parsed)
        });
        parsed.await.unwrap_or_else(|error| Err(Failure::internal(&error)))
    }
}

async fn body<B>(
    head: &request::Parts,
    body: B,
    max_bytes: usize,
    timeout: Duration,
    held: &mut Held,
) -> Result<Bytes, Failure>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let media = head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
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
    // If the announced size is too large, reading does not begin.
    if body.size_hint().lower() > max_bytes as u64 {
        return Err(too_large());
    }
    // The announced size is counted before anything is read.
    let announced = body.size_hint().lower() as usize;
    held.grow(announced)?;
    let read = async {
        let mut body = pin!(body);
        // Allocated with the announced size, because a buffer that grows while the body arrives is at times in memory
        // twice.
        let mut text = BytesMut::with_capacity(announced);
        while let Some(frame) = body.frame().await {
            let broken = |_| Failure::bad_request("the body could not be read to its end");
            let Ok(data) = frame.map_err(broken)?.into_data() else {
                continue;
            };
            if data.remaining() > max_bytes - text.len() {
                return Err(too_large());
            }
            let read = text.len() + data.remaining();
            held.grow(read.saturating_sub(held.amount()))?;
            text.put(data);
        }
        Ok(text.freeze())
    };
    tokio::time::timeout(timeout, read).await.unwrap_or_else(|_| {
        Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"))
    })
}

/// A body as JSON.
pub(super) fn json(body: &[u8], meter: &Meter) -> Result<Value, Failure> {
    value(body, meter).map_err(Failure::bad_request)
}

/// A body or a part of it as JSON.
///
/// # Errors
/// A sentence.
pub(super) fn value(text: &[u8], meter: &Meter) -> Result<Value, String> {
    json::read(text, meter).map_err(|problem| problem.replacen("the message", "the body", 1))
}

/// The members of a body, with the text of one of them instead of its value. `None` if the body is malformed or is not
/// an object with that member. [`json`] reports the error.
pub(super) fn split_off<'t>(
    body: &'t [u8],
    member: &str,
    meter: &Meter,
) -> Option<(Map<String, Value>, &'t str)> {
    let parts: Parts<'t> = serde_json::from_slice(body).ok()?;
    let (mut members, mut text) = (Map::new(), None);
    for (name, part) in parts.0 {
        let is_second = if name == member {
            text.replace(part.get()).is_some()
        } else {
            let value = value(part.get().as_bytes(), meter).ok()?;
            members.insert(name, value).is_some()
        };
        if is_second {
            return None;
        }
    }
    Some((members, text?))
}

/// The members of an object, in their order and with their texts.
struct Parts<'t>(Vec<(String, &'t RawValue)>);

impl<'de> Deserialize<'de> for Parts<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> Visitor<'de> for Read {
            type Value = Parts<'de>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Parts<'de>, A::Error> {
                let mut parts = Vec::new();
                while let Some(name) = members.next_key()? {
                    if parts.len() == MAX_PARTS {
                        return Err(A::Error::custom("too many members"));
                    }
                    parts.push((name, members.next_value()?));
                }
                Ok(Parts(parts))
            }
        }

        deserializer.deserialize_map(Read)
    }
}

/// The revision that `If-Match` demands of a change. `None` if the header is absent or allows any revision (RFC 9110
/// §13.1.1).
pub(super) fn if_match(head: &request::Parts) -> Result<Option<Revision>, Failure> {
    if head.headers.contains_key(IF_NONE_MATCH) {
        return Err(Failure::bad_request(
            "If-None-Match belongs to GET and HEAD: a change takes If-Match with the entity tag that it was made for",
        ));
    }
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

/// The command id for the `Idempotency-Key` header, if there is one. The key may be in quotes.
pub(super) fn idempotency_key(head: &request::Parts) -> Result<Option<CommandId>, Failure> {
    let Some(key) = head.headers.get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    let key = key.to_str().map(str::trim).map_err(|_| {
        Failure::bad_request("Idempotency-Key: expected visible ASCII characters, found others")
    })?;
    let key = key.strip_prefix('"').map_or(key, |key| key.strip_suffix('"').unwrap_or(key));
    let key = CommandId::of_key(key)
        .map_err(|problem| Failure::bad_request(format!("Idempotency-Key: {problem}")))?;
    Ok(Some(key))
}

/// The answer without a body, if `If-None-Match` names this state in any encoding (RFC 9110 §13.1.2).
pub(super) fn unchanged(head: &request::Parts, tag: &str) -> Option<Response<RestBody>> {
    let values = head.headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    let same = tags.find_map(|given| {
        let strong = given.strip_prefix("W/").unwrap_or(given);
        if strong == "*" {
            return HeaderValue::from_str(&format!("\"{tag}\"")).ok();
        }
        (plain_tag(strong)? == tag).then(|| HeaderValue::from_str(strong).ok())?
    });
    let mut response = answer::empty(StatusCode::NOT_MODIFIED);
    response.headers_mut().insert(ETAG, same?);
    Some(response)
}

/// A revision in a body: a whole number in any notation of JSON.
pub(super) fn revision(value: &Value) -> Option<Revision> {
    // Larger numbers are not exact as a double.
    let whole = |number: &f64| number.fract() == 0.0 && (0.0..9e15).contains(number);
    let number = || value.as_f64().filter(whole).map(|number| number as u64);
    value.as_u64().or_else(number).map(Revision)
}

/// The value of a query parameter, which must be a whole number, if it is present.
pub(super) fn number(head: &request::Parts, name: &str) -> Result<Option<u64>, Failure> {
    let given = query(head, name).map(|text| text.parse());
    given.transpose().map_err(|_| Failure::bad_request(format!("{name} must be a whole number")))
}

/// Refuses unknown query parameters.
pub(super) fn known_parameters(head: &request::Parts, known: &[&str]) -> Result<(), Failure> {
    let query = head.uri.query().unwrap_or_default();
    let mut given = form_urlencoded::parse(query.as_bytes());
    let Some((unknown, _)) = given.find(|(name, _)| !known.contains(&name.as_ref())) else {
        return Ok(());
    };
    let shown: String = unknown.chars().take(80).collect();
    let hint = match known {
        [] => "; it takes none".to_owned(),
        known => match universe_core::nearest::hint(&unknown, known.iter().copied()) {
            none if none.is_empty() => format!("; there are {}", known.join(", ")),
            hint => hint,
        },
    };
    Err(Failure::bad_request(format!("{shown:?} is not a query parameter of this path{hint}")))
}

/// The last value of a query parameter.
pub(super) fn query(head: &request::Parts, name: &str) -> Option<String> {
    let query = head.uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes())
        .filter(|(key, _)| key == name)
        .last()
        .map(|(_, value)| value.into_owned())
}

/// The value of a header, which must be a whole number, if it is present.
pub(super) fn revision_header(
    head: &request::Parts,
    name: &HeaderName,
) -> Result<Option<Revision>, Failure> {
    let Some(value) = head.headers.get(name) else {
        return Ok(None);
    };
    let revision = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    revision.map(|revision| Some(Revision(revision))).ok_or_else(|| {
        Failure::bad_request(format!(
            "the {name} header must be a revision: the id of an event of this feed"
        ))
    })
}

fn revision_of_tag(tag: &str) -> Option<Revision> {
    let text = plain_tag(tag)?;
    let revision = text.parse().ok().map(Revision)?;
    // Compared as text, because this server never writes "+1" or "01".
    (revision.to_string() == text).then_some(revision)
}

/// What is between the quotes of a tag, without the encoding: it names the same in every one.
fn plain_tag(tag: &str) -> Option<&str> {
    let text = tag.strip_prefix('"')?.strip_suffix('"')?;
    let encoded = |encoding: &Encoding| text.strip_suffix(encoding.as_str())?.strip_suffix('-');
    Some(Encoding::ALL.iter().find_map(encoded).unwrap_or(text))
}
