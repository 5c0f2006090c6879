//! Clock times as RFC 3339 defines them: UTC, to the millisecond.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Shown as `2026-07-28T12:30:00.000Z`. A time before 1970 is shown as its first moment.
pub(super) struct Timestamp(pub(super) SystemTime);

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.0.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (seconds, millis) = (since.as_secs(), since.subsec_millis());
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = date(days);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(
            formatter,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
        )
    }
}

/// Year, month and day of a day counted from 1970-01-01 (Howard Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms", `civil_from_days`; years are counted from March, so that a leap day is the last of its year).
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_785_196_800_001, "2026-07-28T00:00:00.001Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_000, "9999-12-31T23:59:59.000Z"),
        ] {
            let time = UNIX_EPOCH + Duration::from_millis(millis);
            assert_eq!(Timestamp(time).to_string(), text);
        }
        let before = UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(Timestamp(before).to_string(), "1970-01-01T00:00:00.000Z");
    }
}
