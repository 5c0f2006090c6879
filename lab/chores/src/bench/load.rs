//! Requests per second, response times, and the server's CPU time, under a load that waits for each answer.
//!
//! One thread drives all connections, so that the load uses as little of the machine as possible.

use std::fs;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::connection::Connection;
use super::wire::{self, Answer};
use xtask::Result;
use xtask::process::Server;

/// How long the load runs before the measurement starts.
const WARM_UP: Duration = Duration::from_millis(300);
/// The time without any answer after which the run fails.
const QUIET: Duration = Duration::from_secs(30);
/// The length of a clock tick of `/proc`, in microseconds: 100 ticks per second on every Linux.
const TICK_MICROS: f64 = 10_000.0;
/// The size of one read from a connection, in bytes.
const READ: usize = 128 << 10;

/// The requests of one connection, one after another.
pub(super) trait Script {
    /// Writes the next request.
    fn request(&mut self, out: &mut Vec<u8>);
    /// Checks the answer to the last request. Returns whether it completes a counted operation.
    ///
    /// # Errors
    /// When the answer is wrong.
    fn check(&mut self, answer: &Answer<'_>) -> Result<bool>;
}

/// The results of a load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) per_second: f64,
    /// The server's CPU time per operation, in microseconds.
    pub(super) cpu_micros: f64,
    /// The 99th percentile of the response times, in microseconds.
    pub(super) p99_micros: f64,
}

struct Lane<S> {
    stream: TcpStream,
    script: S,
    out: Vec<u8>,
    input: Vec<u8>,
    sent: Instant,
}

/// Loads a server over these connections for `duration`.
///
/// # Errors
/// When a connection breaks, or an answer is wrong or does not arrive.
pub(super) fn run<S: Script>(
    server: &Server,
    lanes: Vec<(Connection, S)>,
    duration: Duration,
) -> Result<Sample> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(lanes.len());
    let mut lanes = start(&poll, lanes)?;
    let mut piece = vec![0; READ];
    let mut counted_from = Instant::now() + WARM_UP;
    let mut end = counted_from + duration;
    let mut is_warm = false;
    let (mut count, mut cpu) = (0_u64, 0.0);
    let mut micros: Vec<u32> = Vec::with_capacity(1 << 16);
    loop {
        match poll.poll(&mut events, Some(QUIET)) {
            // A signal, such as that the run goes on after it was stopped.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            polled => polled?,
        }
        if events.is_empty() {
            return Err(format!("no answer in {} s", QUIET.as_secs()).into());
        }
        for event in &events {
            let lane = lanes.get_mut(event.token().0).ok_or("an event of no connection")?;
            while lane.read(&mut piece)? {
                let Some(done) = lane.take()? else {
                    continue;
                };
                let now = Instant::now();
                if !is_warm && now >= counted_from {
                    (is_warm, counted_from, cpu) = (true, now, cpu_micros(server.id())?);
                    end = now + duration;
                } else if is_warm {
                    count += u64::from(done);
                    let took = now.duration_since(lane.sent).as_micros();
                    micros.push(u32::try_from(took).unwrap_or(u32::MAX));
                }
                // An answer that takes longer than the whole duration still counts.
                if now >= end && !micros.is_empty() {
                    return sample(server, count, counted_from, cpu, micros);
                }
                lane.send(now)?;
            }
        }
    }
}

fn start<S: Script>(poll: &Poll, lanes: Vec<(Connection, S)>) -> Result<Vec<Lane<S>>> {
    let mut started = Vec::with_capacity(lanes.len());
    for (number, (connection, script)) in lanes.into_iter().enumerate() {
        let stream = connection.into_stream();
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        poll.registry().register(&mut stream, Token(number), Interest::READABLE)?;
        let mut lane =
            Lane { stream, script, out: Vec::new(), input: Vec::new(), sent: Instant::now() };
        lane.send(Instant::now())?;
        started.push(lane);
    }
    Ok(started)
}

#[expect(clippy::cast_precision_loss, reason = "all are far below 2^52")]
fn sample(
    server: &Server,
    count: u64,
    from: Instant,
    cpu: f64,
    mut micros: Vec<u32>,
) -> Result<Sample> {
    let seconds = from.elapsed().as_secs_f64();
    let cpu = cpu_micros(server.id())? - cpu;
    micros.sort_unstable();
    let p99 = micros.get(micros.len() * 99 / 100).copied().ok_or("no answer was counted")?;
    Ok(Sample {
        per_second: count as f64 / seconds,
        cpu_micros: cpu / count as f64,
        p99_micros: f64::from(p99),
    })
}

impl<S: Script> Lane<S> {
    fn send(&mut self, now: Instant) -> Result<()> {
        self.out.clear();
        self.script.request(&mut self.out);
        self.sent = now;
        // The last request was answered, so the socket's buffer is empty, and this request fits into it.
        Ok(self.stream.write_all(&self.out)?)
    }

    /// Reads the available bytes. `false` when there are none.
    fn read(&mut self, piece: &mut [u8]) -> Result<bool> {
        match self.stream.read(piece) {
            Ok(0) => Err("the server closed a connection under load".into()),
            Ok(read) => {
                self.input.extend_from_slice(known_range::items(piece, ..read));
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Checks the next answer. `None` when it is not complete yet.
    fn take(&mut self) -> Result<Option<bool>> {
        let Some((answer, length)) = wire::answer(&self.input)? else {
            return Ok(None);
        };
        let done = self.script.check(&answer)?;
        self.input.drain(..length);
        Ok(Some(done))
    }
}

/// User and system time of a process so far, in microseconds.
///
/// # Errors
/// When `/proc` cannot be read or parsed.
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
pub(super) fn cpu_micros(process: u32) -> Result<f64> {
    Ok(cpu_ticks(process)? as f64 * TICK_MICROS)
}

/// User and system time of a process in clock ticks (proc(5): fields 14 and 15 of `stat`).
fn cpu_ticks(process: u32) -> Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').ok_or("a stat file without a name")?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<u64>);
    match (times.next(), times.next()) {
        (Some(user), Some(system)) => Ok(user? + system?),
        _ => Err("a stat file without times".into()),
    }
}
