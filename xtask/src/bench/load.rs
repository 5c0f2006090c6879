//! Requests per second and CPU time per request under a bounded load. Ratios only: the clients share the machine.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::Programs;
use super::case::{CASES, Case, Program};
use super::connection::Connection;
use crate::process::Server;
use crate::{Result, say};

const CONNECTIONS: usize = 16;
const DURATION: Duration = Duration::from_secs(5);
/// The most calls of one connection, even if time is left.
const MAX_CALLS: u64 = 1_000_000;
/// How long a clock tick of `/proc` is, in microseconds: 100 ticks a second on every Linux.
const TICK_MICROS: f64 = 10_000.0;

/// Prints what the floor and the library do in the same time.
pub(super) fn table(programs: &Programs) -> Result<()> {
    say("")?;
    say("| case | requests/s | × floor | server CPU µs per request | × floor |")?;
    say("|---|---|---|---|---|")?;
    let mut floor = (f64::NAN, f64::NAN);
    for case in CASES
        .iter()
        .filter(|case| case.program != Program::Universe)
    {
        let (rate, micros) = measure(programs, case)?;
        if case.program == Program::Floor {
            floor = (rate, micros);
        }
        say(&format!(
            "| {} | {rate:.0} | {:.2} | {micros:.1} | {:.2} |",
            case.name,
            rate / floor.0,
            micros / floor.1
        ))?;
    }
    Ok(())
}

/// Requests per second, and microseconds of the server's CPU per request.
fn measure(programs: &Programs, case: &Case) -> Result<(f64, f64)> {
    let binary = programs.path(case.program);
    let server = Server::start(&binary, &case.program.arguments(Path::new("")))?;
    let url = server.url();
    let before = cpu_ticks(server.id())?;
    let start = Instant::now();
    let calls = thread::scope(|scope| {
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                scope.spawn(move || {
                    client(url, case, start + DURATION).map_err(|error| error.to_string())
                })
            })
            .collect();
        let mut calls = 0;
        for client in clients {
            calls += client.join().map_err(|_| "a client panicked")??;
        }
        Ok::<_, Box<dyn std::error::Error>>(calls)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let ticks = cpu_ticks(server.id())?.saturating_sub(before);
    server.stop()?;
    #[expect(clippy::cast_precision_loss, reason = "both are far below 2^52")]
    let (calls, ticks) = (calls as f64, ticks as f64);
    Ok((calls / seconds, ticks * TICK_MICROS / calls))
}

/// Calls one after the other until the end; gives how many were answered.
fn client(url: &str, case: &Case, end: Instant) -> Result<u64> {
    let mut connection = Connection::open(url)?;
    let call = case.prepare(&mut connection)?;
    let mut calls = 0;
    while calls < MAX_CALLS && Instant::now() < end {
        call.make(&mut connection, calls)?;
        calls += 1;
    }
    Ok(calls)
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
