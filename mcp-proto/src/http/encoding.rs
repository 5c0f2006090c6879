//! Compressed answers: which encoding a client accepts (RFC 9110 §12.5.3), and the compression.

use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::Response;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, VARY};
use http_body::Body as _;

use super::body::ResponseBody;
use crate::blocking;
use crate::budget::Client;

/// The size in bytes from which an answer is worth compressing.
const MIN: u64 = 1024;
/// The size in bytes from which other tasks should not wait for the compression: it takes about a millisecond.
const LARGE: usize = 64 * 1024;

/// How an answer is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// `gzip` (RFC 1952).
    Gzip,
}

impl Encoding {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::Gzip];

    /// Its name in headers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
        }
    }

    /// The encoding that a client prefers, by the weights of its `Accept-Encoding`. `None` if it prefers the unencoded
    /// answer or sends no such header.
    pub fn accepted(headers: &HeaderMap) -> Option<Self> {
        let any = weight(headers, "*").unwrap_or(0);
        let identity = weight(headers, "identity").unwrap_or(0);
        let weight = weight(headers, Self::Gzip.as_str()).unwrap_or(any);
        (weight > 0 && weight >= identity).then_some(Self::Gzip)
    }

    /// Whether a JSON text of this many bytes is compressed for clients that accept it.
    pub fn is_worth(bytes: u64) -> bool {
        bytes >= MIN
    }

    /// A text in parts, compressed; a large one on a blocking thread, when its client may keep one busy. `None` if that
    /// could not be done.
    pub async fn compress(self, parts: impl Into<Vec<Bytes>>, client: &Client) -> Option<Vec<u8>> {
        let parts = parts.into();
        if parts.iter().map(Bytes::len).sum::<usize>() <= LARGE {
            return self.write(&parts).ok();
        }
        let written = blocking::run_long(Some(client), move || self.write(&parts).ok());
        written.await.ok().flatten()
    }

    /// Sets the headers for a body in this encoding.
    pub fn mark(self, headers: &mut HeaderMap) {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(self.as_str()));
    }

    fn write(self, parts: &[Bytes]) -> io::Result<Vec<u8>> {
        let Self::Gzip = self;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        parts.iter().try_for_each(|part| encoder.write_all(part))?;
        encoder.finish()
    }
}

/// Adds `Vary`: the answer depends on the encodings that the client accepts.
pub fn vary(headers: &mut HeaderMap) {
    headers.append(VARY, HeaderValue::from_static("accept-encoding"));
}

/// Whether an answer is one JSON text that is worth compressing for clients that accept it.
pub(super) fn is_due(response: &Response<ResponseBody>) -> bool {
    let bytes = response.body().size_hint().exact();
    bytes.is_some_and(Encoding::is_worth)
}

/// Compresses an answer that [is due](is_due). It stays uncompressed if the compressed text would exceed its client's
/// share; the uncompressed text is already counted.
pub(super) async fn encode(
    response: &mut Response<ResponseBody>,
    asked: &HeaderMap,
    client: &Client,
) {
    vary(response.headers_mut());
    let encoding = Encoding::accepted(asked);
    let (Some(encoding), Some(parts)) = (encoding, response.body().parts()) else {
        return;
    };
    let compressed = Box::pin(encoding.compress(parts, client)).await;
    if let Some(Ok(text)) = compressed.map(|text| client.keep(text.into())) {
        response.body_mut().replace(text);
        encoding.mark(response.headers_mut());
    }
}

/// The weight that a client gives an encoding, in thousandths, if it names it.
fn weight(headers: &HeaderMap, name: &str) -> Option<u16> {
    let values = headers.get_all(ACCEPT_ENCODING).iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    let mut ranges = texts.flat_map(|text| text.split(','));
    ranges.find_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_it = parts.next()?.eq_ignore_ascii_case(name);
        is_it.then(|| parts.find_map(quality).unwrap_or(1000))
    })
}

/// The weight of `q=0.5`, in thousandths; `None` for what is not a weight (RFC 9110 §12.4.2).
fn quality(parameter: &str) -> Option<u16> {
    let (name, value) = parameter.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("q") {
        return None;
    }
    let weight: f64 = value.trim().parse().unwrap_or(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 0 and 1000"
    )]
    Some((weight.clamp(0.0, 1.0) * 1000.0) as u16)
}
