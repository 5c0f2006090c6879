//! One HTTP/1.1 keep-alive connection with as little work as possible, so that the client does not distort the results.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::wire;
use xtask::Result;

/// The time limit for one answer. A server under callgrind is some fifty times slower than usual.
const ANSWER_DEADLINE: Duration = Duration::from_secs(60);
/// The size of one read, in bytes.
const READ: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    host: String,
    /// The bytes that were read but not consumed.
    input: Vec<u8>,
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
        let host = host(url)?;
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_DEADLINE))?;
        Ok(Self { stream, host: host.to_owned(), input: Vec::new() })
    }

    /// Sends one request in one write, and reads its answer.
    ///
    /// # Errors
    /// When the connection breaks or the answer is not HTTP.
    pub(crate) fn post(&mut self, path: &str, headers: &str, body: &str) -> Result<Answer> {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\n{headers}content-length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.exchange(request.as_bytes())
    }

    /// Sends a whole request, and reads its answer.
    ///
    /// # Errors
    /// As [`Self::post`].
    pub(super) fn exchange(&mut self, request: &[u8]) -> Result<Answer> {
        self.stream.write_all(request)?;
        loop {
            if let Some((answer, length)) = wire::answer(&self.input)? {
                let answer = Answer {
                    status: answer.status,
                    session: answer.session.map(str::to_owned),
                    body: String::from_utf8(answer.body.into_owned())?,
                };
                self.input.drain(..length);
                return Ok(answer);
            }
            self.read()?;
        }
    }

    /// Requests an event stream, and reads the head of the answer.
    ///
    /// # Errors
    /// When the stream is refused, or as [`Self::post`].
    pub(super) fn listen(&mut self, request: &[u8]) -> Result<()> {
        self.stream.write_all(request)?;
        loop {
            if let Some((status, length)) = wire::opened(&self.input)? {
                self.input.drain(..length);
                return match status {
                    200 => Ok(()),
                    _ => Err(format!("a stream was refused: {status}").into()),
                };
            }
            self.read()?;
        }
    }

    /// Waits until a text arrives on the stream, and discards everything up to its end.
    ///
    /// # Errors
    /// When the stream ends first.
    pub(super) fn wait_for(&mut self, text: &str) -> Result<()> {
        loop {
            let found = self.input.windows(text.len()).position(|it| it == text.as_bytes());
            if let Some(at) = found {
                self.input.drain(..at + text.len());
                return Ok(());
            }
            self.read()?;
        }
    }

    /// The underlying connection. Bytes that were read but not consumed are lost.
    pub(super) fn into_stream(self) -> TcpStream {
        self.stream
    }

    /// The value of the `host` header in requests.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    fn read(&mut self) -> Result<()> {
        let mut piece = [0; READ];
        match self.stream.read(&mut piece)? {
            0 => Err("the connection ended within an answer".into()),
            read => {
                self.input.extend_from_slice(known_range::items(&piece, ..read));
                Ok(())
            }
        }
    }
}

/// The address and port in a URL.
pub(super) fn host(url: &str) -> Result<&str> {
    let rest = url.strip_prefix("http://").and_then(|rest| rest.split('/').next());
    rest.ok_or_else(|| "no address".into())
}
