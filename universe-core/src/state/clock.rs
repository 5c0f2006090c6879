//! The date and the units of a universe, which it has if it names them.

use super::State;
use crate::date::{Instant, NO_EPOCH, read_date};

impl State {
    /// The date of time 0, if the universe has an `epoch`: seconds since 1970-01-01T00:00:00Z.
    pub fn epoch(&self) -> Option<f64> {
        read_date(self.extra.get("epoch")?.as_str()?)
    }

    /// The simulated time of an instant, in seconds.
    ///
    /// # Errors
    /// [`NO_EPOCH`] for a date in a universe without an `epoch`.
    pub fn time_of(&self, instant: Instant) -> Result<f64, &'static str> {
        match instant {
            Instant::Seconds(seconds) => Ok(seconds),
            Instant::Date(date) => Ok(date - self.epoch().ok_or(NO_EPOCH)?),
        }
    }

    /// The date of a simulated time in seconds, to the second. `None` without an `epoch`, and outside of the years
    /// −9999 to 9999.
    pub fn date_of(&self, time: f64) -> Option<String> {
        let date = (self.epoch()? + time).round();
        // Dates are far from where doubles leave out whole numbers.
        (date.abs() < 1e12).then_some(date as i64).and_then(crate::date::date)
    }

    /// The unit of `length`, `mass` or `radius`, if the universe names one.
    pub fn unit(&self, of: &str) -> Option<&str> {
        self.extra.get("units")?.get(of)?.as_str()
    }
}
