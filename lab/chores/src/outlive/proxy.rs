//! Proxies between a client and a server, which do to event streams what proxies in the field do.
//!
//! Two kinds pass bytes on as they are: [`Kind::Plain`] and [`Kind::LateByte`]. Two understand answers: they ask the
//! server by HTTP/1.0, as nginx does by default, so that a body ends with its connection.

mod head;

use std::io::{self, BufWriter, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use memchr::memmem;

use self::head::{header, read_head, rewritten};
use xtask::Result;

/// How many bytes are copied at a time.
const PIECE: usize = 64 * 1024;
/// How many bytes a buffering proxy holds back: a buffer of nginx.
const BUFFER: usize = 8 * 1024;
/// How long after an answer has begun the late byte comes, and how much later the connection is cut.
const LATE: Duration = Duration::from_millis(200);

/// What a proxy does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It only notes the session of the client.
    Plain,
    /// It writes a line end behind the request of each event stream, and then cuts the first one.
    LateByte,
    /// It compresses event streams like `compression` of Express, unless they say `no-transform`: nothing is flushed.
    Compressing,
    /// It buffers event streams like nginx, unless they say `X-Accel-Buffering: no`.
    Buffering,
}

/// A running proxy. It serves until the process ends.
#[derive(Debug)]
pub(super) struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    kind: Kind,
    server: SocketAddr,
    /// The session id that the client sent last.
    session: Mutex<Option<String>>,
    /// Whether an event stream has been cut.
    has_cut: AtomicBool,
}

impl Proxy {
    /// Listens on a port that the system chooses.
    ///
    /// # Errors
    /// When it cannot listen.
    pub(super) fn start(kind: Kind, server: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (session, has_cut) = (Mutex::default(), AtomicBool::new(false));
        let shared = Arc::new(Shared { kind, server, session, has_cut });
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let shared = Arc::clone(&own);
                // If one side disconnects, both are closed, and the client sees that.
                thread::spawn(move || drop(shared.serve(&near)));
            }
        });
        Ok(Self { address, shared })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The session id that the client sent last.
    pub(super) fn session(&self) -> Option<String> {
        self.shared.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it has cut an event stream.
    pub(super) fn has_cut(&self) -> bool {
        self.shared.has_cut.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn serve(&self, near: &TcpStream) -> io::Result<()> {
        near.set_nodelay(true)?;
        let far = TcpStream::connect(self.server)?;
        far.set_nodelay(true)?;
        match self.kind {
            Kind::Plain | Kind::LateByte => self.pass(near, &far),
            Kind::Compressing | Kind::Buffering => self.change(near, &far),
        }
    }

    /// Passes bytes on in both directions.
    fn pass(&self, near: &TcpStream, far: &TcpStream) -> io::Result<()> {
        let is_stream = AtomicBool::new(false);
        let note = |piece: &[u8]| {
            self.note_session(piece);
            if piece.starts_with(b"GET ") || memmem::find(piece, b"subscriptions/listen").is_some()
            {
                is_stream.store(true, Ordering::Relaxed);
            }
        };
        let mut is_late = self.kind == Kind::LateByte;
        let answered = || {
            if is_late && is_stream.load(Ordering::Relaxed) {
                is_late = false;
                self.disturb(near, far)?;
            }
            Ok(())
        };
        both(near, far, || copy(near, far, note, || Ok(())), || copy(far, near, |_| {}, answered))
    }

    /// Writes a line end behind a request whose answer has begun. The first stream is then cut.
    fn disturb(&self, near: &TcpStream, mut far: &TcpStream) -> io::Result<()> {
        thread::sleep(LATE);
        far.write_all(b"\r\n")?;
        if self.has_cut.load(Ordering::Relaxed) {
            return Ok(());
        }
        thread::sleep(LATE);
        self.has_cut.store(true, Ordering::Relaxed);
        far.shutdown(Shutdown::Both)?;
        near.shutdown(Shutdown::Both)
    }

    fn note_session(&self, piece: &[u8]) {
        let text = String::from_utf8_lossy(piece);
        if let Some(id) = header(&text, "mcp-session-id") {
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            *session = Some(id.to_owned());
        }
    }

    /// Passes on one request, and its answer changed.
    fn change(&self, mut near: &TcpStream, mut far: &TcpStream) -> io::Result<()> {
        let Some((head, rest)) = read_head(near)? else {
            return Ok(());
        };
        let takes_gzip = header(&head, "accept-encoding").is_some_and(|it| it.contains("gzip"));
        far.write_all(rewritten(&head.replacen("HTTP/1.1", "HTTP/1.0", 1), &[], "").as_bytes())?;
        far.write_all(&rest)?;
        let ask = move || io::copy(&mut near, &mut far).map(drop);
        both(near, far, ask, || self.answer(near, far, takes_gzip))
    }

    fn answer(
        &self,
        mut near: &TcpStream,
        mut far: &TcpStream,
        takes_gzip: bool,
    ) -> io::Result<()> {
        let Some((head, rest)) = read_head(far)? else {
            return Ok(());
        };
        let says = |name, word| header(&head, name).is_some_and(|value| value.contains(word));
        let is_stream = says("content-type", "text/event-stream");
        let zips = self.kind == Kind::Compressing
            && is_stream
            && takes_gzip
            && !says("cache-control", "no-transform")
            && header(&head, "content-encoding").is_none();
        let holds = self.kind == Kind::Buffering && is_stream && !says("x-accel-buffering", "no");
        let head = head.replacen("HTTP/1.0", "HTTP/1.1", 1);
        let head = if zips {
            let added = "connection: close\r\ncontent-encoding: gzip\r\n";
            rewritten(&head, &["content-length"], added)
        } else {
            rewritten(&head, &[], "connection: close\r\n")
        };
        near.write_all(head.as_bytes())?;
        // Dropping it writes what it still holds, which is when the answer has ended.
        let mut out: Box<dyn Write> = if zips {
            Box::new(GzEncoder::new(near, Compression::default()))
        } else if holds {
            Box::new(BufWriter::with_capacity(BUFFER, near))
        } else {
            Box::new(near)
        };
        out.write_all(&rest)?;
        io::copy(&mut far, &mut out).map(drop)
    }
}

/// Runs both directions at the same time, and closes both sides when one direction has ended.
fn both(
    near: &TcpStream,
    far: &TcpStream,
    up: impl FnOnce() -> io::Result<()> + Send,
    down: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    thread::scope(|scope| {
        // A client that disconnects cancels its requests.
        scope.spawn(|| drop(up().and_then(|()| far.shutdown(Shutdown::Both))));
        let answered = down();
        near.shutdown(Shutdown::Both)?;
        answered
    })
}

/// Copies until the end. `before` sees each piece before it is passed on, and `after` is called after that.
fn copy(
    mut from: &TcpStream,
    mut to: &TcpStream,
    before: impl Fn(&[u8]),
    mut after: impl FnMut() -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        let length = from.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let piece = known_range::items(&buffer, ..length);
        before(piece);
        to.write_all(piece)?;
        after()?;
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufRead as _;
    use std::io::BufReader;

    use super::*;

    /// A server that answers each request with the begin of an event stream, and keeps it open until its client leaves.
    fn server(headers: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                thread::spawn(move || {
                    read_head(&stream).expect("readable").expect("a request");
                    let head = "HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n";
                    let answer = format!("{head}{headers}\r\ndata: begun\n\n");
                    stream.write_all(answer.as_bytes()).expect("written");
                    io::copy(&mut stream, &mut io::sink()).expect("the end");
                });
            }
        });
        address
    }

    /// Whether the first event arrives through a proxy of this kind.
    fn arrives(kind: Kind, headers: &'static str) -> bool {
        let proxy = Proxy::start(kind, server(headers)).expect("started");
        let mut stream = TcpStream::connect(proxy.address()).expect("connected");
        let wait = Duration::from_millis(300);
        stream.set_read_timeout(Some(wait)).expect("set");
        let request =
            "GET /mcp HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nMcp-Session-Id: s1\r\n\r\n";
        stream.write_all(request.as_bytes()).expect("written");
        let lines = BufReader::new(&stream).lines().map_while(io::Result::ok);
        let arrives = lines.into_iter().any(|line| line == "data: begun");
        assert_eq!(proxy.session().is_some(), kind == Kind::Plain);
        arrives
    }

    #[test]
    fn event_streams_arrive_at_once_if_they_say_so() {
        assert!(arrives(Kind::Plain, ""));
        assert!(!arrives(Kind::Compressing, "cache-control: no-cache\r\n"));
        assert!(arrives(Kind::Compressing, "cache-control: no-cache, no-transform\r\n"));
        assert!(!arrives(Kind::Buffering, ""));
        assert!(arrives(Kind::Buffering, "X-Accel-Buffering: no\r\n"));
    }
}
