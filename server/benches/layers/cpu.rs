//! The processor time of this process, as Linux counts it in hundredths of a second.

use std::time::Duration;

/// What all threads but this one have used; nothing where the system does not say.
pub(crate) fn of_server() -> Duration {
    let all = used("/proc/self/stat");
    all.saturating_sub(used("/proc/thread-self/stat"))
}

fn used(path: &str) -> Duration {
    let Ok(text) = std::fs::read_to_string(path) else {
        return Duration::ZERO;
    };
    // The name of the program may have blanks and ends with a bracket.
    let (_, fields) = text.rsplit_once(')').unwrap_or_default();
    let numbers = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = numbers.filter_map(|number| number.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}
