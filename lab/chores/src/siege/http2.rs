//! A minimal HTTP/2 client for an attacker: frames, headers without compression, and the server's windows.

mod headers;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::attacker::Field;
use super::target::Message;
use super::wire;

pub(super) use self::headers::header;
use self::headers::status;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

/// The default maximum frame size.
pub(super) const FRAME: usize = 16 << 10;
/// The initial window of every stream and connection.
const WINDOW: i64 = 65_535;
/// The maximum window size.
const WIDEST: u32 = 0x7fff_ffff;
/// The number of unwritten bytes above which no more frames of bodies are made, and the size of one read.
const WRITTEN_AHEAD: usize = 256 << 10;
const READ_AT_ONCE: usize = 1 << 20;

/// One connection that never blocks: [`Http2::pump`] sends and reads as much as possible now.
pub(super) struct Http2<'f> {
    field: &'f Field,
    stream: TcpStream,
    out: Vec<u8>,
    input: Vec<u8>,
    /// The send windows: of the connection, and of a new stream.
    window: i64,
    initial: i64,
    bodies: BTreeMap<u32, Body>,
    /// Streams that neither side has ended.
    open: BTreeSet<u32>,
    next: u32,
    max_streams: usize,
    ended: bool,
}

struct Body {
    text: Arc<str>,
    at: usize,
    window: i64,
}

impl<'f> Http2<'f> {
    /// Connects. With `closed` windows the server can send only headers.
    pub(super) fn open(field: &'f Field, closed: bool) -> io::Result<Self> {
        let stream = wire::begin(field.target.from, field.target.address, None)?;
        field.tally.opened.fetch_add(1, Ordering::Relaxed);
        let mut connection = Self {
            field,
            stream,
            out: PREFACE.to_vec(),
            input: Vec::new(),
            window: WINDOW,
            initial: WINDOW,
            bodies: BTreeMap::new(),
            open: BTreeSet::new(),
            next: 1,
            max_streams: 100,
            ended: false,
        };
        let window = if closed { 0 } else { WIDEST };
        // No header table (1), no server push (2), the window of a stream (4).
        let mut settings = Vec::new();
        for (name, value) in [(1_u16, 0), (2, 0), (4, window)] {
            settings.extend(name.to_be_bytes());
            settings.extend(value.to_be_bytes());
        }
        connection.frame(SETTINGS, 0, 0, &settings);
        if !closed {
            let more = WIDEST - 65_535;
            connection.frame(WINDOW_UPDATE, 0, 0, &more.to_be_bytes());
        }
        Ok(connection)
    }

    /// Whether the server or the network has closed the connection.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// The number of open streams, and the maximum.
    pub(super) fn streams(&self) -> (usize, usize) {
        (self.open.len(), self.max_streams)
    }

    /// Whether bodies or frames are still waiting to be sent.
    pub(super) fn busy(&self) -> bool {
        !self.out.is_empty() || !self.bodies.is_empty()
    }

    /// Starts a request. Its body is sent as fast as the server's windows allow.
    pub(super) fn request(&mut self, message: &Message) -> u32 {
        let id = self.next_id();
        let block = self.block(message);
        self.frame(HEADERS, END_HEADERS, id, &block);
        self.open.insert(id);
        let window = self.initial;
        self.bodies.insert(id, Body { text: Arc::clone(&message.body), at: 0, window });
        id
    }

    /// The number of a new stream.
    pub(super) fn next_id(&mut self) -> u32 {
        let id = self.next;
        self.next += 2;
        id
    }

    /// The head of a message as a header block.
    pub(super) fn block(&self, message: &Message) -> Vec<u8> {
        let authority = self.field.target.address.to_string();
        let mut block = Vec::new();
        header(&mut block, ":method", message.method);
        header(&mut block, ":scheme", "http");
        header(&mut block, ":authority", &authority);
        header(&mut block, ":path", &message.path);
        for (name, value) in &message.headers {
            header(&mut block, name, value);
        }
        block
    }

    /// Cancels a request.
    pub(super) fn reset(&mut self, id: u32) {
        self.open.remove(&id);
        self.bodies.remove(&id);
        // CANCEL
        self.frame(RESET, 0, id, &8_u32.to_be_bytes());
    }

    /// Appends a frame to the output buffer.
    pub(super) fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap_or(0).to_be_bytes();
        self.out.extend(length.iter().skip(1));
        self.out.extend([kind, flags]);
        self.out.extend(stream.to_be_bytes());
        self.out.extend(payload);
    }

    /// Sends and reads as much as possible without waiting.
    pub(super) fn pump(&mut self) {
        if self.ended {
            return;
        }
        self.fill();
        let done = self.write().and_then(|()| self.read());
        self.ended |= done.is_err();
        if self.ended {
            self.field.tally.closed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Makes frames of the bodies as far as the windows allow.
    fn fill(&mut self) {
        let mut frames = Vec::new();
        for (id, body) in &mut self.bodies {
            while self.out.len() + frames.len() * FRAME < WRITTEN_AHEAD {
                let rest = known_range::items(body.text.as_bytes(), body.at..);
                let allowed = usize::try_from(body.window.min(self.window)).unwrap_or(0);
                let part = rest.get(..rest.len().min(allowed).min(FRAME)).unwrap_or_default();
                if part.is_empty() && !rest.is_empty() {
                    break;
                }
                let last = part.len() == rest.len();
                frames.push((*id, last, part.to_vec()));
                let length = i64::try_from(part.len()).unwrap_or(0);
                body.at += part.len();
                body.window -= length;
                self.window -= length;
                if last {
                    break;
                }
            }
        }
        for (id, last, part) in frames {
            self.frame(DATA, if last { END_STREAM } else { 0 }, id, &part);
            if last {
                self.bodies.remove(&id);
            }
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let mut written = 0;
        while let Some(rest) = self.out.get(written..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        self.out.drain(..written);
        self.field.tally.sent.fetch_add(written as u64, Ordering::Relaxed);
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        let mut total = 0;
        while total < READ_AT_ONCE {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    total += count;
                    self.input.extend(known_range::items(&buffer, ..count));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        self.field.tally.received.fetch_add(total as u64, Ordering::Relaxed);
        let input = std::mem::take(&mut self.input);
        let mut rest = input.as_slice();
        while let Some((frame, after)) = Frame::first(rest) {
            self.take(&frame);
            rest = after;
        }
        self.input = rest.to_vec();
        Ok(())
    }

    fn take(&mut self, frame: &Frame<'_>) {
        let number = |at: usize| {
            let bytes = frame.payload.get(at..at + 4)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?))
        };
        match frame.kind {
            HEADERS => {
                if let Some(status) = status(frame.payload) {
                    self.field.tally.answer(status);
                }
            }
            RESET => {
                self.open.remove(&frame.stream);
                self.bodies.remove(&frame.stream);
                self.field.tally.reset.fetch_add(1, Ordering::Relaxed);
            }
            SETTINGS if frame.flags & ACK == 0 => {
                for setting in frame.payload.chunks_exact(6) {
                    self.setting(setting);
                }
                self.frame(SETTINGS, ACK, 0, &[]);
            }
            PING if frame.flags & ACK == 0 => self.frame(PING, ACK, 0, frame.payload),
            GO_AWAY => self.ended = true,
            WINDOW_UPDATE => {
                let more = i64::from(number(0).unwrap_or(0));
                match self.bodies.get_mut(&frame.stream) {
                    Some(body) => body.window += more,
                    None if frame.stream == 0 => self.window += more,
                    None => {}
                }
            }
            // The window is not updated: the maximum window is never used up.
            _ => {}
        }
        if matches!(frame.kind, HEADERS | DATA) && frame.flags & END_STREAM != 0 {
            self.open.remove(&frame.stream);
            self.bodies.remove(&frame.stream);
        }
    }

    fn setting(&mut self, setting: &[u8]) {
        let [high, low, value @ ..] = setting else {
            return;
        };
        let value = value.try_into().map_or(0, u32::from_be_bytes);
        match u16::from_be_bytes([*high, *low]) {
            3 => self.max_streams = usize::try_from(value).unwrap_or(usize::MAX),
            4 => {
                let change = i64::from(value) - self.initial;
                self.initial += change;
                for body in self.bodies.values_mut() {
                    body.window += change;
                }
            }
            _ => {}
        }
    }
}

struct Frame<'a> {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The first complete frame, and the bytes after it.
    fn first(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (head, rest) = bytes.split_at_checked(9)?;
        let [a, b, c, kind, flags, id @ ..] = head else {
            return None;
        };
        let length = usize::try_from(u32::from_be_bytes([0, *a, *b, *c])).ok()?;
        let (payload, rest) = rest.split_at_checked(length)?;
        let stream = u32::from_be_bytes(id.try_into().ok()?) & WIDEST;
        let frame = Self { kind: *kind, flags: *flags, stream, payload };
        Some((frame, rest))
    }
}
