//! Connections from a separate address, and HTTP/1.1 on them.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use xtask::Result;

/// The maximum length of an answer and of a line of its head, in bytes, and the maximum number of lines.
const MAX_BODY: usize = 16 << 20;
const MAX_LINE: u64 = 8 << 10;
const MAX_LINES: usize = 100;

/// Connects from `from`, and waits at most `deadline`.
///
/// # Errors
/// When the server does not accept the connection in time.
pub(crate) fn connect(from: Ipv4Addr, to: SocketAddr, deadline: Duration) -> io::Result<TcpStream> {
    let socket = bound(from)?;
    socket.connect_timeout(&to.into(), deadline)?;
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Starts to connect without blocking. Later reads and writes do not block either. With a `window`, the kernel buffers
/// at most that many unread bytes.
///
/// # Errors
/// When no descriptor or port is left.
pub(crate) fn begin(
    from: Ipv4Addr,
    to: SocketAddr,
    window: Option<usize>,
) -> io::Result<TcpStream> {
    let socket = bound(from)?;
    if let Some(bytes) = window {
        socket.set_recv_buffer_size(bytes)?;
    }
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    // "In progress" is also an error. A connection that really failed reports it at its first read or write.
    let _ = socket.connect(&to.into());
    Ok(socket.into())
}

fn bound(from: Ipv4Addr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    // Thousands of closed connections would otherwise keep their ports for a minute.
    socket.set_linger(Some(Duration::ZERO))?;
    socket.bind(&SocketAddr::from((from, 0)).into())?;
    Ok(socket)
}

/// A keep-alive connection that is opened when needed, and reopened after a failure.
#[derive(Debug)]
pub(crate) struct Client {
    from: Ipv4Addr,
    to: SocketAddr,
    open: Option<BufReader<Timed>>,
}

/// The response to a request.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) body: String,
}

impl Client {
    pub(crate) fn new(from: Ipv4Addr, to: SocketAddr) -> Self {
        Self { from, to, open: None }
    }

    /// Sends one request and reads its whole answer. An event stream is read to its end.
    ///
    /// # Errors
    /// When there is no complete answer within `deadline`, with a description.
    pub(crate) fn call(&mut self, request: &[u8], deadline: Duration) -> Result<Answer> {
        let end = Instant::now() + deadline;
        let mut connection = match self.open.take() {
            Some(open) => open,
            None => {
                let stream = connect(self.from, self.to, deadline)
                    .map_err(|error| format!("cannot connect: {}", in_words(&error)))?;
                BufReader::new(Timed { stream, end })
            }
        };
        connection.get_mut().end = end;
        connection
            .get_mut()
            .write(request)
            .map_err(|error| format!("cannot send: {}", in_words(&error)))?;
        let (answer, stays) = answer(&mut connection)?;
        if stays {
            self.open = Some(connection);
        }
        Ok(answer)
    }

    /// Closes the connection, so that the next call opens a new one.
    pub(crate) fn close(&mut self) {
        self.open = None;
    }
}

/// Sends a request and reads the head of its answer within `deadline`. Then the caller may read the stream for `stay`.
///
/// # Errors
/// When the answer is not 200, with a description.
pub(crate) fn open_stream(
    from: Ipv4Addr,
    to: SocketAddr,
    request: &[u8],
    deadline: Duration,
    stay: Duration,
) -> Result<impl BufRead + use<>> {
    let end = Instant::now() + deadline;
    let stream = connect(from, to, deadline)?;
    let mut connection = BufReader::new(Timed { stream, end });
    connection.get_mut().write(request)?;
    let head = head(&mut connection)?;
    if head.status != 200 {
        return Err(format!("status {} instead of a stream", head.status).into());
    }
    connection.get_mut().end = Instant::now() + stay;
    Ok(connection)
}

/// A stream whose reads and writes fail after an instant.
#[derive(Debug)]
struct Timed {
    stream: TcpStream,
    end: Instant,
}

impl Timed {
    fn left(&self) -> io::Result<Duration> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(left)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write_all(bytes)
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(buffer)
    }
}

#[derive(Debug, Default)]
struct Head {
    status: u16,
    session: Option<String>,
    length: Option<usize>,
    closes: bool,
}

fn head(connection: &mut impl BufRead) -> Result<Head> {
    let mut head = Head::default();
    let status = line(connection)?;
    let status = status.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    head.status = status.ok_or("no status line")?.parse()?;
    head.length = Some(0);
    for _ in 0..MAX_LINES {
        let line = line(connection)?;
        if line.is_empty() {
            return Ok(head);
        }
        let (name, value) = line.split_once(':').ok_or("a header without a colon")?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => head.length = Some(value.parse()?),
            "transfer-encoding" => head.length = None,
            "connection" => head.closes = value.eq_ignore_ascii_case("close"),
            "mcp-session-id" => head.session = Some(value.to_owned()),
            _ => {}
        }
    }
    Err("an answer with too many headers".into())
}

/// The answer, and whether the connection can be reused.
fn answer(connection: &mut impl BufRead) -> Result<(Answer, bool)> {
    let head = head(connection)?;
    let body = match head.length {
        Some(length) => exactly(connection, length)?,
        None => chunks(connection)?,
    };
    let answer =
        Answer { status: head.status, session: head.session, body: String::from_utf8(body)? };
    Ok((answer, !head.closes))
}

fn chunks(connection: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = usize::from_str_radix(&line(connection)?, 16)?;
        let chunk = exactly(connection, size)?;
        line(connection)?;
        if size == 0 {
            return Ok(body);
        }
        body.extend(chunk);
        if body.len() > MAX_BODY {
            return Err("an answer that is too long".into());
        }
    }
}

fn exactly(connection: &mut impl BufRead, length: usize) -> Result<Vec<u8>> {
    if length > MAX_BODY {
        return Err(format!("an answer of {length} bytes").into());
    }
    let mut bytes = vec![0; length];
    connection
        .read_exact(&mut bytes)
        .map_err(|error| format!("no whole answer: {}", in_words(&error)))?;
    Ok(bytes)
}

fn line(connection: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    connection
        .take(MAX_LINE)
        .read_line(&mut line)
        .map_err(|error| format!("no answer: {}", in_words(&error)))?;
    let line = line.strip_suffix("\r\n").ok_or("the connection ended without an answer")?;
    Ok(line.to_owned())
}

/// A description of the error, the same for every kind of timeout.
fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "timed out".to_owned(),
        _ => error.to_string(),
    }
}
