//! The well-behaved client. It calls steadily, holds a session and streams as clients do, and reports the results.
//!
//! It runs in a separate process. It prints `ready` when it holds everything, waits for a line, measures, and ends with
//! one line of JSON.

mod held;
mod lane;

use std::io::{self, BufRead, Write};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use self::held::Held;
use self::lane::{LANES, Lane, Measured, State};
use super::target::Target;
use xtask::Result;

/// The data that all lanes share.
#[derive(Debug, Clone)]
struct Own {
    target: Target,
    /// The victim's own universe; empty on a server without universes.
    universe: String,
}

/// Runs the victim for `time`.
pub(super) fn run(target: Target, time: Duration) -> Result<bool> {
    let universe = target.universe(1)?;
    let own = Own { target, universe };
    let mut held = Held::take(&own)?;
    // Connections, allocators and caches warm up before the measurement.
    let mut lanes = Vec::new();
    for lane in LANES {
        let mut state = lane.open(&own)?;
        let warm = measure(&own, lane, &mut state, Duration::from_millis(300));
        if let Some(failure) = warm.failure {
            return Err(format!("{}: {failure}", lane.name).into());
        }
        lanes.push((lane, state));
    }
    say("ready")?;
    io::stdin().lock().read_line(&mut String::new())?;
    let measured = thread::scope(|scope| {
        held.start(scope, time);
        let running: Vec<_> = lanes
            .iter_mut()
            .map(|(lane, state)| {
                let own = &own;
                scope.spawn(move || measure(own, *lane, state, time))
            })
            .collect();
        // A lane that panicked has no figures. It is visibly missing from the report.
        running.into_iter().filter_map(|lane| lane.join().ok()).collect::<Vec<_>>()
    });
    let held = held.check(&own);
    say(&to_json(&measured, &held).to_string())?;
    Ok(true)
}

fn say(line: &str) -> Result<()> {
    let mut stdout = io::stdout();
    writeln!(stdout, "{line}")?;
    Ok(stdout.flush()?)
}

/// Runs one lane: a call at each tick of its clock. The time of a call that starts late is counted from when it was
/// due. A call that cannot start within the time limit of a call has failed, so a hanging server does not go
/// unmeasured.
fn measure(own: &Own, lane: Lane, state: &mut State, time: Duration) -> Measured {
    let begun = Instant::now();
    let mut measured = Measured::new(lane.name);
    let mut due = begun;
    while due < begun + time {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let done = if due.elapsed() > super::target::CALL_DEADLINE {
            Err("not made: the calls before it hung".into())
        } else {
            lane.call(own, state)
        };
        measured.note(due.elapsed().saturating_sub(lane.takes), done);
        due += lane.period;
    }
    measured
}

fn to_json(lanes: &[Measured], held: &Map<String, Value>) -> Value {
    let mut times: Vec<u64> = lanes.iter().flat_map(|lane| lane.times.clone()).collect();
    times.sort_unstable();
    let by_lane: Map<String, Value> = lanes
        .iter()
        .map(|lane| {
            let failure = lane.failure.as_deref();
            let mut times = lane.times.clone();
            times.sort_unstable();
            let p99 = percentile(&times, 99);
            let report = json!({ "calls": lane.calls, "succeeded": times.len(), "failure": failure, "p99_us": p99 });
            (lane.name.to_owned(), report)
        })
        .collect();
    json!({
        "calls": lanes.iter().map(|lane| lane.calls).sum::<usize>(),
        "succeeded": times.len(),
        "failure": lanes.iter().find_map(|lane| Some(format!("{}: {}", lane.name, lane.failure.as_deref()?))),
        "p50_us": percentile(&times, 50),
        "p99_us": percentile(&times, 99),
        "lanes": by_lane,
        "held": held,
    })
}

/// A percentile of sorted times. `None` for an empty list.
fn percentile(times: &[u64], percent: usize) -> Option<u64> {
    times.get(times.len().saturating_sub(1) * percent / 100).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_of_a_hundred_times_is_the_one_at_its_place() {
        let times: Vec<u64> = (0..=100).collect();
        assert_eq!(percentile(&times, 50), Some(50));
        assert_eq!(percentile(&times, 99), Some(99));
        assert_eq!(percentile(&[], 99), None);
    }
}
