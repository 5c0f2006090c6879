//! Times in queries: `7d`, a date, a month, a year, or a timestamp.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{Invalid, quoted};

/// The accepted forms, in a sentence.
pub const TIME_FORMS: &str = "a span before now such as '90s', '15m', '2h', '7d' or '1w'; 'today' or 'yesterday'; a date \
    'YYYY-MM-DD', which begins at midnight, a month 'YYYY-MM' or a year 'YYYY', which begin with their first day; a local \
    time such as '2025-01-13T09:30'; or a moment as in RFC 3339, such as '2025-01-13T00:00:00Z' or \
    '2025-01-13T09:30:00+02:00'";

/// Longer than any of the forms.
const LONGEST: usize = 64;

/// Reads a time: a whole number with `s`, `m`, `h`, `d` or `w` before `now`; a date, a month or a year, at its
/// beginning, or a date with a time, all in `zone`; or RFC 3339 with any offset. A day is 24 hours.
///
/// # Errors
/// [`Invalid`] for anything else, and for times outside the years -9999 to 9999; it names `parameter` and the accepted
/// forms.
pub fn time(
    parameter: &'static str,
    text: &str,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Timestamp, Invalid> {
    let refused = |what: &str| {
        let reason = format!("{} is {what}: give {TIME_FORMS}", quoted(text));
        Invalid::new(parameter, reason)
    };
    let trimmed = text.trim();
    if trimmed.len() > LONGEST {
        return Err(refused("not a time"));
    }
    if let Some(span) = span(trimmed) {
        let at = span.and_then(|span| now.checked_sub(span).ok());
        return at.ok_or_else(|| refused("too long ago"));
    }
    if let Ok(moment) = trimmed.parse() {
        return Ok(moment);
    }
    let today = zone.to_datetime(now).date();
    let local = match trimmed.to_lowercase().as_str() {
        "today" => Some(today.to_datetime(Time::midnight())),
        "yesterday" => today.yesterday().ok().map(|day| day.to_datetime(Time::midnight())),
        // The zone in brackets would be passed over.
        _ if trimmed.contains('[') => None,
        _ => trimmed.parse().ok().or_else(|| first_day(trimmed)),
    };
    let local = local.ok_or_else(|| refused("not a time"))?;
    let zoned = local.to_zoned(zone.clone());
    zoned.map(|at| at.timestamp()).map_err(|_| refused("not within the calendar"))
}

/// The beginning of a month, `2019-03`, or of a year, `2019`. Other numbers of four digits may be anything.
fn first_day(text: &str) -> Option<DateTime> {
    let day: Date = match text.len() {
        4 => format!("{text}-01-01").parse().ok()?,
        7 => format!("{text}-01").parse().ok()?,
        _ => return None,
    };
    (1900..=2100).contains(&day.year()).then(|| day.to_datetime(Time::midnight()))
}

/// `Some(None)` for a span that is too long.
fn span(text: &str) -> Option<Option<SignedDuration>> {
    let unit = text.chars().next_back()?;
    let seconds: i64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    let digits = text.strip_suffix(unit)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count = digits.parse::<i64>().ok();
    let total = count.and_then(|count| count.checked_mul(seconds));
    Some(total.map(SignedDuration::from_secs))
}
