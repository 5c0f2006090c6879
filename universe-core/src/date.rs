//! Times of a universe as dates and back: RFC 3339 text, UTC, days of 86,400 seconds.
//!
//! Leap seconds are not counted, and dates are not corrected to dynamical time: in this century that is about a minute,
//! in which the Moon moves by half an arc minute.

use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::fmt::temporal::Pieces;
use serde::Deserialize;
use serde_json::Value;

/// A point in time, as a user gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Instant {
    /// Simulated seconds since the universe's time 0.
    Seconds(f64),
    /// A date: seconds since 1970-01-01T00:00:00Z.
    Date(f64),
}

/// What is said of a text that is not a date.
pub(crate) const EXPECTED: &str =
    "a date such as 2026-11-27 or 2026-11-27T18:30:00Z, up to the year 9999";

const START: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// What is said of a date in a universe without an `epoch`.
pub const NO_EPOCH: &str = "a date has no meaning here: this universe has no `epoch`; give seconds, or set the `epoch`, \
                            the date of its time 0, when it is created or replaced";

impl Instant {
    /// Reads a date (RFC 3339, or the day alone, which begins at midnight UTC) or a number of seconds.
    ///
    /// # Errors
    /// A fragment: what is expected and what was found.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Ok(seconds) = text.parse::<f64>()
            && seconds.is_finite()
        {
            return Ok(Self::Seconds(seconds));
        }
        read_date(text).map(Self::Date).ok_or_else(|| {
            let shown: String = text.chars().take(80).collect();
            format!("expected {EXPECTED}, `now`, or seconds, found {shown:?}")
        })
    }

    /// The same of JSON, where seconds are a number and dates are text.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => read_date(text).map(Self::Date),
            _ => value.as_f64().map(Self::Seconds),
        }
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::of(&value).ok_or_else(|| serde::de::Error::custom(format!("expected {EXPECTED}")))
    }
}

/// A date as seconds since 1970-01-01T00:00:00Z. `None` for what is not one, and for a time without its offset.
pub(crate) fn read_date(text: &str) -> Option<f64> {
    // By its parts: a timestamp of the library ends a day before the last year does.
    let parts = Pieces::parse(text).ok()?;
    let offset = match (parts.time(), parts.to_numeric_offset()) {
        (None, None) if parts.time_zone_annotation().is_none() => 0,
        (_, offset) => offset?.seconds(),
    };
    let since = parts.date().to_datetime(parts.time().unwrap_or_default()).duration_since(START);
    Some(since.as_secs() as f64 + f64::from(since.subsec_nanos()) * 1e-9 - f64::from(offset))
}

/// The date of whole seconds since 1970-01-01T00:00:00Z. `None` outside of the years −9999 to 9999.
pub(crate) fn date(seconds: i64) -> Option<String> {
    Some(format!("{}Z", START.checked_add(SignedDuration::from_secs(seconds)).ok()?))
}
