//! The figures of the comparison. For each figure, servers do the same work in turn.

use std::fs;
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::contestant::{self, Contestant};
use super::count::{self, Counted};
use super::exchange::{self, Calls, Message, Sessions, ToolCall};
use super::figure::{Figure, Kind, Measured as _, count_of, interleaved};
use super::load::{self, Sample};
use super::pipe::Pipe;
use crate::era::Era;
use xtask::Result;
use xtask::process::Server;
use xtask::programs::cargo;

/// The extent of the measurement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) rounds: usize,
    pub(super) duration: Duration,
    /// The number of idle sessions, and the maximum number of open streams.
    pub(super) sessions: usize,
    /// The number of calls counted under callgrind.
    pub(super) calls: u64,
}

/// The small number of streams.
const FEW_STREAMS: usize = 200;
/// The number of events sent to few streams, and to many.
const EVENTS: (usize, usize) = (50, 3);
/// The number of starts of a program for one value.
const STARTS: usize = 5;

/// All figures, in the order of the page.
///
/// # Errors
/// When nothing can be printed. The failure of a server is reported in its row.
pub(super) fn figures(all: &[Contestant], plan: Plan, valgrind: bool) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let rounds = plan.rounds;
    let every: Vec<_> = all.iter().collect();
    let those = |has: fn(&Contestant) -> bool| all.iter().filter(|it| has(it)).collect::<Vec<_>>();
    if valgrind {
        let counted = those(|it| it.program.folder().is_some());
        let kind = ("Instructions of a small call", "instructions", true);
        figures.extend(interleaved(&[kind], &counted, 1, |it| instructions(it, plan.calls))?);
    }
    let small = [
        ("Small calls, 16 connections", "calls/s", false),
        ("Small calls, 16 connections: CPU time of the server", "µs/call", true),
    ];
    figures.extend(interleaved(&small, &every, rounds, |it| {
        let sample = calls(it, &ToolCall::small(), 16, plan.duration)?;
        Ok(vec![sample.per_second, sample.cpu_micros])
    })?);
    let small: [Kind; 3] = [
        ("Small calls, 64 connections", "calls/s", false),
        ("Small calls, 64 connections: CPU time of the server", "µs/call", true),
        ("Small calls, 64 connections: 99 of 100 answers within", "µs", true),
    ];
    figures.extend(interleaved(&small, &every, rounds, |it| {
        let sample = calls(it, &ToolCall::small(), 64, plan.duration)?;
        Ok(vec![sample.per_second, sample.cpu_micros, sample.p99_micros])
    })?);
    let large = [
        ("Results of 100 KB, 16 connections", "calls/s", false),
        ("Results of 100 KB, 16 connections: CPU time of the server", "µs/call", true),
    ];
    figures.extend(interleaved(&large, &every, rounds, |it| {
        let sample = calls(it, &ToolCall::large(), 16, plan.duration)?;
        Ok(vec![sample.per_second, sample.cpu_micros])
    })?);
    let sessions = [("Sessions opened and ended, 16 connections", "sessions/s", false)];
    let with_sessions = those(|it| it.has_sessions);
    figures.extend(interleaved(&sessions, &with_sessions, rounds, |it| {
        sessions_per_second(it, plan.duration)
    })?);
    let memory = [("Memory of an idle session", "KiB", true)];
    figures
        .extend(interleaved(&memory, &with_sessions, 1, |it| session_memory(it, plan.sessions))?);
    let streams = [
        ("Memory of a session with an open stream", "KiB", true),
        ("Events to many open streams", "events/s", false),
    ];
    let with_streams = those(|it| it.has_streams);
    figures.extend(interleaved(&streams, &with_streams, 1, |it| {
        fan_out(it, plan.sessions, EVENTS.1).map(|(kib, events)| vec![kib, events])
    })?);
    let few = [("Events to 200 open streams", "events/s", false)];
    figures.extend(interleaved(&few, &with_streams, rounds, |it| {
        // The memory of few streams is not meaningful.
        let (_, events) = fan_out(it, FEW_STREAMS, EVENTS.0)?;
        Ok(vec![events])
    })?);
    let pipes: [Kind; 4] = [
        ("Calls over stdin and stdout, one after the other", "calls/s", false),
        (
            "Calls over stdin and stdout, one after the other: CPU time of the server",
            "µs/call",
            true,
        ),
        ("Calls over stdin and stdout, 64 under way", "calls/s", false),
        ("Calls over stdin and stdout, 64 under way: CPU time of the server", "µs/call", true),
    ];
    let on_stdio = those(|it| it.has_stdio);
    figures.extend(interleaved(&pipes, &on_stdio, rounds, |it| {
        let half = plan.duration / 2;
        let message = Message::new(&ToolCall::small(), it.era)?;
        let mut values = Vec::new();
        for window in [1, 64] {
            let mut pipe = Pipe::open(&it.program, it.era)?;
            values.extend(<[f64; 2]>::from(pipe.load(&message, window, half)?));
        }
        Ok(values)
    })?);
    let starts = [
        ("From the start to the first answer", "ms", true),
        ("Resident memory after it", "MB", true),
    ];
    figures.extend(interleaved(&starts, &every, rounds, start)?);
    let built = [
        ("Size of the program", "MB", true),
        ("Crates of the program", "crates", true),
        ("Processor time of a clean build", "s", true),
    ];
    // Each program once.
    let mut programs = those(|it| it.program.folder().is_some());
    programs.dedup_by_key(|it| it.program.name);
    figures.extend(interleaved(&built, &programs, 1, footprint)?);
    Ok(figures)
}

fn instructions(contestant: &Contestant, calls: u64) -> Result<Vec<f64>> {
    let count = count::per_call(
        &Counted {
            name: &format!("{} {}", contestant.name(), contestant.era.name()),
            program: &contestant.program.path,
            arguments: contestant.arguments(),
            data: None,
            prepare: &|connection| {
                Calls::new(connection, &ToolCall::small(), contestant.era, (0, 1))
            },
        },
        calls,
    )?;
    Ok(vec![count.instructions])
}

fn calls(
    contestant: &Contestant,
    call: &ToolCall,
    connections: usize,
    duration: Duration,
) -> Result<Sample> {
    let server = contestant.start()?;
    load_calls(&server, call, contestant.era, connections, duration)
}

/// Calls a tool on this many connections of a server.
///
/// # Errors
/// When a call is not answered by success.
pub(super) fn load_calls(
    server: &Server,
    call: &ToolCall,
    era: Era,
    connections: usize,
    duration: Duration,
) -> Result<Sample> {
    let mut lanes = Vec::new();
    for lane in 0..connections {
        let mut connection = Connection::open(server.url())?;
        let script = Calls::new(&mut connection, call, era, (lane, connections))?;
        lanes.push((connection, script));
    }
    load::run(server, lanes, duration)
}

fn sessions_per_second(contestant: &Contestant, duration: Duration) -> Result<Vec<f64>> {
    let server = contestant.start()?;
    let mut lanes = Vec::new();
    for _ in 0..16 {
        let connection = Connection::open(server.url())?;
        let script = Sessions::new(&connection);
        lanes.push((connection, script));
    }
    Ok(vec![load::run(&server, lanes, duration)?.per_second])
}

fn session_memory(contestant: &Contestant, sessions: usize) -> Result<Vec<f64>> {
    let server = contestant.start()?;
    let mut connection = Connection::open(server.url())?;
    // Memory that is set up once must not count for a session.
    let warm = sessions / 100 + 1;
    for _ in 0..warm {
        exchange::initialize(&mut connection)?;
    }
    let before = resident_kib(server.id())?;
    for _ in warm..sessions {
        exchange::initialize(&mut connection)?;
    }
    let more = resident_kib(server.id())? - before;
    Ok(vec![more / count_of(sessions - warm)])
}

/// KiB for each session with a stream, and events per second to all streams.
fn fan_out(contestant: &Contestant, count: usize, events: usize) -> Result<(f64, f64)> {
    const EVENT: &str = "notifications/tools/list_changed";
    let server = contestant.start()?;
    let mut opening = Connection::open(server.url())?;
    let headers = exchange::initialize(&mut opening)?;
    let before = resident_kib(server.id())?;
    let mut streams = Vec::with_capacity(count);
    for number in 0..count {
        // The first stream belongs to the session that calls the tool.
        let headers = match number {
            0 => headers.clone(),
            _ => exchange::initialize(&mut opening)?,
        };
        let mut stream = Connection::open(server.url())?;
        let request = exchange::stream(&stream, &headers);
        stream.listen(&request)?;
        streams.push(stream);
    }
    let kib = (resident_kib(server.id())? - before) / count_of(count);
    let mut touch =
        Calls::with_headers(&opening, &ToolCall::touch(), contestant.era, (0, 1), &headers)?;
    let mut send = |opening: &mut Connection| -> Result<()> {
        touch.make(opening)?;
        streams.iter_mut().try_for_each(|stream| stream.wait_for(EVENT))
    };
    send(&mut opening)?;
    let begun = Instant::now();
    for _ in 0..events {
        send(&mut opening)?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    Ok((kib, count_of(count * events) / seconds))
}

/// Milliseconds to the first answer, and the resident memory in megabytes at that time.
fn start(contestant: &Contestant) -> Result<Vec<f64>> {
    let mut took = Vec::new();
    let mut megabytes = 0.0;
    for _ in 0..STARTS {
        let begun = Instant::now();
        let server = contestant.start()?;
        let mut connection = Connection::open(server.url())?;
        Calls::new(&mut connection, &ToolCall::small(), contestant.era, (0, 1))?
            .make(&mut connection)?;
        took.push(begun.elapsed().as_secs_f64() * 1e3);
        megabytes = resident_kib(server.id())? / 1024.0;
    }
    took.sort_by(f64::total_cmp);
    Ok(vec![took.get(STARTS / 2).copied().ok_or("no start")?, megabytes])
}

/// Megabytes of the program, crates in its tree, and processor seconds of its first build.
fn footprint(contestant: &Contestant) -> Result<Vec<f64>> {
    let program = &contestant.program;
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let megabytes = fs::metadata(&program.path)?.len() as f64 / 1e6;
    let mut tree = cargo(&[
        "tree",
        "--locked",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--format",
        "{p}",
        "-p",
    ]);
    tree.arg(format!("bench-{}", program.name)).arg("--manifest-path");
    let tree = tree.arg(contestant::manifest(program.name)).output()?;
    let text = String::from_utf8(tree.stdout)?;
    let mut crates: Vec<_> = text
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .filter(|line| !line.is_empty())
        .collect();
    crates.sort_unstable();
    crates.dedup();
    let seconds = fs::read_to_string(contestant::build_note(program.name))?;
    // The program itself does not count.
    Ok(vec![megabytes, count_of(crates.len().saturating_sub(1)), seconds.trim().parse()?])
}

/// The resident memory of a process in KiB (proc(5): `VmRSS` of `status`).
fn resident_kib(process: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("a status without resident memory")?.parse()?)
}
