//! Points in time, to the millisecond.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

const DAY: i64 = 86_400_000;

/// Milliseconds since the Unix epoch. Shown and serialised as ISO 8601 in UTC:
/// `2026-11-21T23:00:00.000Z`.
///
/// Years outside 0 to 9999 have a sign and at least six digits, as in ECMAScript (ECMA-262, "Date
/// Time String Format").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// The current time of the system clock.
    pub fn now() -> Self {
        let millis = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis)
            }
        };
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The time that is earlier by a duration.
    pub fn before(self, time: Duration) -> Self {
        let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(millis))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.0.div_euclid(DAY));
        let time = self.0.rem_euclid(DAY);
        if (0..=9999).contains(&year) {
            write!(f, "{year:04}")?;
        } else {
            write!(f, "{year:+07}")?;
        }
        let (hours, minutes) = (time / 3_600_000, time / 60_000 % 60);
        let (seconds, millis) = (time / 1_000 % 60, time % 1_000);
        write!(f, "-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Year, month and day of the proleptic Gregorian calendar for a count of days since the Unix
/// epoch.
///
/// Years are taken to begin in March, so that the leap day is the last of its year; eras are spans
/// of 400 years.
fn civil(days: i64) -> (i64, i64, i64) {
    const ERA: i64 = 146_097;
    let since_year_zero = days + 719_468;
    let (era, day_of_era) = (since_year_zero.div_euclid(ERA), since_year_zero.rem_euclid(ERA));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let (month, next_year) =
        if from_march < 10 { (from_march + 3, 0) } else { (from_march - 9, 1) };
    (era * 400 + year_of_era + next_year, month, day)
}
