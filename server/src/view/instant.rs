//! Times that callers give: a date, seconds, or `now`.

use std::time::{SystemTime, UNIX_EPOCH};

use universe_core::Instant;

/// The largest time in seconds. Beyond it, angles are only rounding noise.
pub(crate) const MAX_TIME: f64 = 1e15;

/// This moment in whole seconds since 1970-01-01T00:00:00Z.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64().floor()
}

/// Reads a time.
///
/// # Errors
/// A fragment: what is expected and what was found.
pub(crate) fn instant(text: &str) -> Result<Instant, String> {
    if text == "now" {
        return Ok(Instant::Date(now()));
    }
    match Instant::parse(text)? {
        Instant::Seconds(seconds) if seconds.abs() > MAX_TIME => {
            Err(format!("must be at most {MAX_TIME:e} seconds from 0"))
        }
        read => Ok(read),
    }
}
