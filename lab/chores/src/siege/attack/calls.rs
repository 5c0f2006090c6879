//! Calls that use up the limits on calls: running, abandoned, and as tasks.

use std::io::Write;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use super::super::attacker::Field;
use super::super::swarm;
use super::super::target::{self, CALL_DEADLINE, Kind};
use super::super::wire;
use xtask::Result;

/// The number of long calls abandoned in one session: the default limit.
const IN_A_SESSION: usize = 16;

/// As many concurrent calls as connections and streams allow.
pub(super) fn many(field: &Field) -> Result<()> {
    let universe = field.target.universe(1)?;
    let call = match field.target.kind {
        Kind::Universe => {
            target::modern_call("get_universe_state", &format!(r#"{{"universeId":"{universe}"}}"#))
        }
        Kind::Everything => target::modern_call("slow_compute", r#"{"seconds":600}"#),
    };
    swarm::run(
        field,
        &swarm::Plan {
            connections: 60,
            streams: 200,
            closed: false,
            request: &|_| call.clone(),
            reset: false,
        },
    );
    Ok(())
}

/// Legacy calls, which keep running without their client.
pub(super) fn left(field: &Field) -> Result<()> {
    let target = field.target;
    field.on_threads(4, |client| {
        let Ok(session) = target.initialize(client, "2025-11-25") else {
            field.tally.answer(0);
            thread::sleep(Duration::from_millis(10));
            return;
        };
        let mut held = Vec::new();
        for id in 0..IN_A_SESSION {
            let mut call = target::legacy_call(&session, "slow_compute", r#"{"seconds":600}"#);
            call.body = call.body.replace(r#""id":1"#, &format!(r#""id":{id}"#)).into();
            let stream = wire::connect(target.from, target.address, CALL_DEADLINE);
            if let Ok(mut stream) = stream
                && stream.write_all(&target.http1(&call)).is_ok()
            {
                field.tally.opened.fetch_add(1, Ordering::Relaxed);
                held.push(stream);
            }
        }
        // The server must read a call before its connection closes. Otherwise the call is lost.
        thread::sleep(Duration::from_millis(50));
    });
    Ok(())
}

/// Tasks that last longer than the attack.
pub(super) fn tasks(field: &Field) -> Result<()> {
    let arguments = format!(r#"{{"seconds":3600,"label":"{}"}}"#, "l".repeat(20_000));
    let task = target::modern_task("slow_compute", &arguments);
    field.on_threads(6, |client| {
        field.ask(client, &task);
    });
    Ok(())
}
