//! Parses HTTP/1.1 answers from the bytes received so far, with a content length or in chunks.

use std::borrow::Cow;

use xtask::Result;

/// The maximum number of headers in an answer.
const MAX_HEADERS: usize = 64;
/// The maximum length of a head, in bytes.
const MAX_HEAD: usize = 16 << 10;
/// The maximum length of an answer, in bytes: a universe of 100,000 bodies has some 30 MB.
const MAX_ANSWER: usize = 128 << 20;

/// One whole answer.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) status: u16,
    pub(super) session: Option<&'a str>,
    pub(super) body: Cow<'a, [u8]>,
}

/// How an answer's body ends.
#[derive(Debug, Clone, Copy)]
enum Framing {
    Length(usize),
    Chunks,
}

/// The head at the start of `bytes`.
struct Head<'a> {
    status: u16,
    session: Option<&'a str>,
    framing: Framing,
    length: usize,
}

/// The answer at the start of `bytes`, and its length in bytes. `None` when it is not complete yet.
///
/// # Errors
/// When the bytes are not HTTP/1.1, or exceed a limit.
pub(super) fn answer(bytes: &[u8]) -> Result<Option<(Answer<'_>, usize)>> {
    let Some(head) = head(bytes)? else {
        return Ok(None);
    };
    let rest = known_range::items(bytes, head.length..);
    let whole = match head.framing {
        Framing::Length(length) if length > MAX_ANSWER => {
            return Err(format!("an answer of {length} bytes").into());
        }
        Framing::Length(length) => rest.get(..length).map(|body| (body.into(), length)),
        Framing::Chunks => chunks(rest)?.map(|(body, length)| (body.into(), length)),
    };
    let (status, session) = (head.status, head.session);
    Ok(whole.map(|(body, length)| {
        let answer = Answer { status, session, body };
        (answer, head.length + length)
    }))
}

/// The status of a stream and the length of its head. `None` when the head is not complete yet.
///
/// # Errors
/// When the bytes are not HTTP/1.1.
pub(super) fn opened(bytes: &[u8]) -> Result<Option<(u16, usize)>> {
    Ok(head(bytes)?.map(|head| (head.status, head.length)))
}

fn head(bytes: &[u8]) -> Result<Option<Head<'_>>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(length) = response.parse(bytes)? else {
        return if bytes.len() > MAX_HEAD {
            Err("an answer whose head does not end".into())
        } else {
            Ok(None)
        };
    };
    let mut session = None;
    let mut framing = Framing::Length(0);
    for header in response.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            framing = Framing::Length(std::str::from_utf8(header.value)?.trim().parse()?);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            framing = Framing::Chunks;
        } else if header.name.eq_ignore_ascii_case("mcp-session-id") {
            session = Some(std::str::from_utf8(header.value)?);
        }
    }
    let status = response.code.ok_or("an answer without a status")?;
    Ok(Some(Head { status, session, framing, length }))
}

/// The body in these chunks, and the length of the chunks in bytes. `None` when the last chunk has not arrived.
fn chunks(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>> {
    let mut body = Vec::new();
    let mut at = 0;
    // Each iteration consumes at least one byte.
    loop {
        let rest = known_range::items(bytes, at..);
        let parsed = httparse::parse_chunk_size(rest).map_err(|_| "a chunk without a size")?;
        let httparse::Status::Complete((start, size)) = parsed else {
            return Ok(None);
        };
        let size = usize::try_from(size)?;
        if size > MAX_ANSWER || body.len() > MAX_ANSWER {
            return Err("an answer that is longer than what is read".into());
        }
        let Some(chunk) = rest.get(start..start + size + 2) else {
            return Ok(None);
        };
        at += start + size + 2;
        if size == 0 {
            return Ok(Some((body, at)));
        }
        body.extend_from_slice(known_range::items(chunk, ..size));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_there_with_its_last_byte() {
        let plain =
            b"HTTP/1.1 200 OK\r\nMcp-Session-Id: s\r\nContent-Length: 5\r\n\r\nhello".as_slice();
        let chunked =
            b"HTTP/1.1 200 OK\r\nMcp-Session-Id: s\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
        for whole in [plain, chunked.as_slice()] {
            for end in 0..whole.len() {
                assert!(answer(&whole[..end]).expect("HTTP").is_none(), "{end}");
            }
            let more = [whole, b"HTTP"].concat();
            let (answer, length) = answer(&more).expect("HTTP").expect("an answer");
            assert_eq!((answer.status, answer.session), (200, Some("s")));
            assert_eq!((&*answer.body, length), (b"hello".as_slice(), whole.len()));
        }
    }
}
