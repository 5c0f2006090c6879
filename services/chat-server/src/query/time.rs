//! Times in queries: `7d`, a date, or a timestamp.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{Invalid, quoted};

/// The accepted forms, in a sentence.
pub const TIME_FORMS: &str = "a span before now such as '90s', '15m', '2h', '7d' or '1w'; 'today' or 'yesterday'; a date \
    'YYYY-MM-DD', which begins at midnight; or a moment as in RFC 3339, such as \
    '2025-01-13T00:00:00Z' or '2025-01-13T09:30:00+02:00'";

/// Longer than any of the forms.
const LONGEST: usize = 64;

/// Reads a time: a whole number with `s`, `m`, `h`, `d` or `w` before `now`; a date, at the beginning of that day in
/// `zone`; or RFC 3339 with any offset. A day is 24 hours.
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
    let today = zone.to_datetime(now).date();
    let word = match trimmed.to_lowercase().as_str() {
        "today" => Some(today),
        "yesterday" => today.yesterday().ok(),
        _ => None,
    };
    if let Some(date) = word.or_else(|| date(trimmed)) {
        return date
            .to_zoned(zone.clone())
            .map(|start| start.timestamp())
            .map_err(|_| refused("not within the calendar"));
    }
    moment(trimmed).ok_or_else(|| refused("not a time"))
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

/// Only in the form `YYYY-MM-DD`.
fn date(text: &str) -> Option<Date> {
    shaped(text, "dddd-dd-dd").then(|| text.parse().ok())?
}

/// RFC 3339, which is stricter than the forms that jiff reads: a date, `T`, a time with seconds, and an offset.
fn moment(text: &str) -> Option<Timestamp> {
    let (date, rest) = text.split_at_checked(10)?;
    let (separator, rest) = rest.split_at_checked(1)?;
    let (clock, rest) = rest.split_at_checked(8)?;
    let offset = match rest.strip_prefix('.') {
        Some(fraction) => {
            let offset = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if offset.len() == fraction.len() {
                return None;
            }
            offset
        }
        None => rest,
    };
    let fits = shaped(date, "dddd-dd-dd")
        && matches!(separator, "T" | "t" | " ")
        && shaped(clock, "dd:dd:dd")
        && (matches!(offset, "Z" | "z") || shaped(offset, "±dd:dd"));
    fits.then(|| text.parse().ok())?
}

/// Whether each character matches the shape: `d` is a digit, `±` a sign, others stand for themselves.
fn shaped(text: &str, shape: &str) -> bool {
    let mut wanted = shape.chars();
    let fits = text.chars().all(|c| match wanted.next() {
        Some('d') => c.is_ascii_digit(),
        Some('±') => matches!(c, '+' | '-'),
        Some(other) => c == other,
        None => false,
    });
    fits && wanted.next().is_none()
}
