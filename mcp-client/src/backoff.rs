//! How long to wait before a connection is opened again.

use std::time::Duration;

/// The first wait, which doubles with each failure, and the longest.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);

/// The bounds on the wait that a server may set by `retry`.
const SHORTEST_ASKED: Duration = Duration::from_millis(100);
const LONGEST_ASKED: Duration = Duration::from_secs(300);

/// The wait after this many failures in a row, 1 for the first: the time that the server asked for, or twice as long
/// each time. A random part of up to a tenth is added, so that the clients of a server do not all come back at once.
pub(super) fn pause(asked: Option<Duration>, failures: u32) -> Duration {
    let doubled = FIRST.saturating_mul(1 << failures.saturating_sub(1).min(10));
    let asked = asked.map(|asked| asked.clamp(SHORTEST_ASKED, LONGEST_ASKED));
    let wait = match asked {
        // A server that is gone is not asked as often as one that lets its streams end.
        Some(asked) if failures <= 1 => asked,
        Some(asked) => doubled.min(LONGEST).max(asked),
        None => doubled.min(LONGEST),
    };
    // Without randomness the wait has no jitter.
    let chance = getrandom::u32().unwrap_or(0);
    wait + wait.mul_f64(f64::from(chance) / f64::from(u32::MAX) / 10.0)
}
