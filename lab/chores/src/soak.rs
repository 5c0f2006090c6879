//! Memory under a long load: sessions that are never closed, calls that are cancelled, streams that are dropped.
//!
//! Each phase warms up, measures the server's resident memory, continues many times as long, and measures it again. A
//! leak per session, call or stream shows as a difference; bounded memory has reached its bound in the warm-up.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;

use crate::bench::Connection;
use xtask::process::Server;
use xtask::{Result, fixture, say};

/// How much more memory the server may use at the end of a phase than at its beginning, in KiB. The allocator causes
/// such differences.
const TOLERANCE_KIB: u64 = 8 * 1024;

/// The default number of each.
const SESSIONS: u32 = 100_000;
const CALLS: u32 = 100_000;
const STREAMS: u32 = 1_000;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The fixture to load, instead of one that is built for it.
    #[arg(long, value_name = "PATH")]
    fixture: Option<PathBuf>,
    /// How many sessions are opened and left.
    #[arg(long, default_value_t = SESSIONS)]
    sessions: u32,
    /// How many calls are cancelled, half of them in each era.
    #[arg(long, default_value_t = CALLS)]
    calls: u32,
    /// How many streams of each kind are dropped.
    #[arg(long, default_value_t = STREAMS)]
    streams: u32,
}

/// The server under load.
struct Load {
    server: Server,
    host: String,
}

/// Runs the phases against the fixture and prints the figures of each. `true` when memory stayed flat.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let built = match &arguments.fixture {
        Some(fixture) => fixture.clone(),
        None => fixture::build()?,
    };
    let server = fixture::start(&built)?;
    let host = server.url().trim_start_matches("http://");
    let host = host.split('/').next().unwrap_or_default().to_owned();
    let load = Load { server, host };
    let phases: [(&str, u32, Phase); 6] = [
        ("sessions opened", arguments.sessions, Load::open_session),
        ("modern calls dropped", arguments.calls / 2, Load::drop_call),
        ("legacy calls cancelled", arguments.calls / 2, Load::cancel_call),
        ("GET streams dropped", arguments.streams, Load::drop_get_stream),
        ("listens dropped", arguments.streams, Load::drop_listen),
        ("legacy call streams dropped", arguments.streams, Load::drop_call_stream),
    ];
    let mut flat = true;
    for (name, times, phase) in phases {
        flat &= load.phase(name, times, phase)?;
    }
    load.server.stop()?;
    Ok(flat)
}

type Phase = fn(&Load, &mut State) -> Result<()>;

/// The state of a phase between its turns.
#[derive(Default)]
struct State {
    connection: Option<Connection>,
    session: Option<String>,
    turn: u32,
}

impl Load {
    fn phase(&self, name: &str, times: u32, phase: Phase) -> Result<bool> {
        let begun = Instant::now();
        let mut state = State::default();
        // A quarter is enough to reach every bound: tables of 10,000 sessions, rings, buffers.
        let warm = times / 4;
        for _ in 0..warm {
            phase(self, &mut state)?;
        }
        let before = self.settled()?;
        for _ in warm..times {
            phase(self, &mut state)?;
        }
        let after = self.settled()?;
        let flat = after <= before + TOLERANCE_KIB;
        say(&format!(
            "{name:<28} {times:>7} times: {before} KiB after {warm}, {after} KiB at the end{}, {} s",
            if flat { "" } else { ": NOT FLAT" },
            begun.elapsed().as_secs(),
        ))?;
        Ok(flat)
    }

    fn open_session(&self, state: &mut State) -> Result<()> {
        let connection = self.connection(state)?;
        initialize(connection)?;
        Ok(())
    }

    /// A modern client cancels a call by closing its connection.
    fn drop_call(&self, _: &mut State) -> Result<()> {
        let body = modern("tools/call", r#""name":"slow_compute","arguments":{"seconds":600},"#);
        let headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: slow_compute\r\n";
        let stream = self.send("POST", headers, &body)?;
        Ok(stream.shutdown(Shutdown::Both)?)
    }

    /// A legacy client sends a cancellation notification. Then the connection of the call ends.
    fn cancel_call(&self, state: &mut State) -> Result<()> {
        let session = self.session(state)?;
        state.turn += 1;
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"slow_compute","arguments":{{"seconds":600}}}}}}"#,
            state.turn
        );
        let mut stream = self.send("POST", &session, &call)?;
        // Sent after the call on a separate connection. A cancellation that arrives before its call has no effect.
        let cancel = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
            state.turn
        );
        let mut end = [0; 1_024];
        stream.set_read_timeout(Some(Duration::from_millis(2)))?;
        let connection = self.connection(state)?;
        for _ in 0..5_000 {
            connection.post("/mcp", &format!("{JSON}{session}"), &cancel)?;
            match stream.read(&mut end) {
                Ok(_) => return Ok(()),
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err("a call was not cancelled".into())
    }

    fn drop_get_stream(&self, _: &mut State) -> Result<()> {
        // A session has only one such stream, and notices its end only at the next write. So each stream has a new
        // session.
        let mut state = State::default();
        let session = self.session(&mut state)?;
        let mut stream = self.send("GET", &session, "")?;
        read_head(&mut stream)
    }

    fn drop_listen(&self, _: &mut State) -> Result<()> {
        let body = modern("subscriptions/listen", r#""notifications":{"toolsListChanged":true},"#);
        let headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: subscriptions/listen\r\n";
        let mut stream = self.send("POST", headers, &body)?;
        read_head(&mut stream)
    }

    /// Drops a stream that its client may resume, but never does.
    fn drop_call_stream(&self, state: &mut State) -> Result<()> {
        let session = self.session(state)?;
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_tool_with_progress","arguments":{},"_meta":{"progressToken":1}}}"#;
        let mut stream = self.send("POST", &session, call)?;
        read_head(&mut stream)
    }

    fn connection<'s>(&self, state: &'s mut State) -> Result<&'s mut Connection> {
        if state.connection.is_none() {
            state.connection = Some(Connection::open(self.server.url())?);
        }
        state.connection.as_mut().ok_or_else(|| "no connection".into())
    }

    /// The header with the id of the phase's session.
    fn session(&self, state: &mut State) -> Result<String> {
        if let Some(session) = &state.session {
            return Ok(session.clone());
        }
        let id = initialize(self.connection(state)?)?;
        let header = format!("mcp-session-id: {id}\r\n");
        state.session = Some(header.clone());
        Ok(header)
    }

    /// Sends a request on a new connection, and returns the connection.
    fn send(&self, method: &str, headers: &str, body: &str) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.host)?;
        stream.set_nodelay(true)?;
        let (host, length) = (&self.host, body.len());
        write!(
            stream,
            "{method} /mcp HTTP/1.1\r\nhost: {host}\r\n{JSON}{headers}content-length: {length}\r\n\r\n{body}"
        )?;
        Ok(stream)
    }

    /// The resident memory in KiB, after the server has noticed the dropped streams.
    fn settled(&self) -> Result<u64> {
        std::thread::sleep(Duration::from_secs(2));
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok(number.ok_or("no VmRSS: the soak needs Linux")?.parse()?)
    }
}

/// The headers of every request.
const JSON: &str =
    "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";

fn initialize(connection: &mut Connection) -> Result<String> {
    let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"soak","version":"0"}}}"#;
    let answer = connection.post("/mcp", JSON, body)?;
    answer.session.ok_or_else(|| format!("no session: {} {}", answer.status, answer.body).into())
}

fn modern(method: &str, params: &str) -> String {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{meta}}}}}"#)
}

/// Reads until the first bytes of a stream arrive. Then the caller drops it.
fn read_head(stream: &mut TcpStream) -> Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut head = [0; 256];
    let read = stream.read(&mut head)?;
    let head = known_range::items(&head, ..read);
    if head.starts_with(b"HTTP/1.1 200") {
        return Ok(());
    }
    Err(format!("no stream: {}", String::from_utf8_lossy(head)).into())
}

fn is_timeout(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error.kind(), TimedOut | WouldBlock)
}
