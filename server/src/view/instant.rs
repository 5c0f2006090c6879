//! Times that callers give: a date, seconds, or `now`.

use std::time::{SystemTime, UNIX_EPOCH};

use universe_core::Instant;

/// The largest time in seconds. Beyond it, angles are only rounding noise.
pub(crate) const MAX_TIME: f64 = 1e15;

/// Reads a time.
///
/// # Errors
/// A fragment: what is expected and what was found.
pub(crate) fn instant(text: &str) -> Result<Instant, String> {
    if text == "now" {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        return Ok(Instant::Date(now.as_secs_f64().floor()));
    }
    match Instant::parse(text)? {
        Instant::Seconds(seconds) if seconds.abs() > MAX_TIME => {
            Err(format!("must be at most {MAX_TIME:e} seconds from 0"))
        }
        read => Ok(read),
    }
}
