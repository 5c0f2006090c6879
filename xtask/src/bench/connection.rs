//! One HTTP/1.1 keep-alive connection, as small as it can be: what the client does must not be what is measured.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::Result;

/// How long one answer may take; a server under callgrind is some fifty times slower than it is.
const ANSWER_DEADLINE: Duration = Duration::from_secs(30);
/// The longest answer that is read, in bytes.
const MAX_BODY: usize = 1 << 20;
/// The longest line of a head, and the most lines.
const MAX_LINE: u64 = 8 << 10;
const MAX_LINES: usize = 100;

#[derive(Debug)]
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
    line: String,
}

#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) body: String,
}

impl Connection {
    /// Connects to the server at `url`, which is `http://ADDRESS/…`.
    ///
    /// # Errors
    /// When no server listens there.
    pub(crate) fn open(url: &str) -> Result<Self> {
        let host = url
            .strip_prefix("http://")
            .and_then(|rest| rest.split('/').next())
            .ok_or("no address")?;
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_DEADLINE))?;
        Ok(Self {
            stream: BufReader::new(stream),
            host: host.to_owned(),
            line: String::new(),
        })
    }

    /// Sends one request in one write, and reads its answer.
    ///
    /// # Errors
    /// When the connection breaks or the answer is not HTTP with a content length.
    pub(crate) fn post(&mut self, path: &str, headers: &str, body: &str) -> Result<Answer> {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\n{headers}content-length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Answer> {
        let mut answer = Answer::default();
        let status = self
            .line()?
            .strip_prefix("HTTP/1.1 ")
            .and_then(|rest| rest.get(..3));
        answer.status = status.ok_or("no status line")?.parse()?;
        let mut length = 0;
        for _ in 0..MAX_LINES {
            let line = self.line()?;
            if line.is_empty() {
                if length > MAX_BODY {
                    return Err(format!("an answer of {length} bytes").into());
                }
                let mut body = vec![0; length];
                self.stream.read_exact(&mut body)?;
                answer.body = String::from_utf8(body)?;
                return Ok(answer);
            }
            let (name, value) = line.split_once(':').ok_or("a header without a colon")?;
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse()?;
            } else if name.eq_ignore_ascii_case("mcp-session-id") {
                answer.session = Some(value.to_owned());
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                return Err("the answer is a stream where one body is expected".into());
            }
        }
        Err("an answer with too many headers".into())
    }

    fn line(&mut self) -> Result<&str> {
        self.line.clear();
        self.stream
            .by_ref()
            .take(MAX_LINE)
            .read_line(&mut self.line)?;
        self.line
            .strip_suffix("\r\n")
            .ok_or_else(|| "the connection ended within an answer".into())
    }
}
