//! The grammar of questions.

use std::io::Write as _;

use chat_server::query::{ChatArgument, TIME_FORMS, time};
use jiff::civil::date;
use jiff::tz::{TimeZone, offset};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

fn now() -> Timestamp {
    "2025-01-20T12:00:00Z".parse().unwrap()
}

fn read(text: &str, zone: &TimeZone) -> Option<String> {
    time("since", text, now(), zone).ok().map(|at| at.to_string())
}

#[test]
fn times() {
    let table = [
        ("90s", "2025-01-20T11:58:30Z"),
        ("15m", "2025-01-20T11:45:00Z"),
        ("2h", "2025-01-20T10:00:00Z"),
        ("7d", "2025-01-13T12:00:00Z"),
        ("1w", "2025-01-13T12:00:00Z"),
        ("0s", "2025-01-20T12:00:00Z"),
        (" 7d ", "2025-01-13T12:00:00Z"),
        ("2025-01-13", "2025-01-12T22:00:00Z"),
        ("2024-02-29", "2024-02-28T22:00:00Z"),
        ("2025-01-13T00:00:00Z", "2025-01-13T00:00:00Z"),
        ("2025-01-13t00:00:00z", "2025-01-13T00:00:00Z"),
        ("2025-01-13 00:00:00Z", "2025-01-13T00:00:00Z"),
        ("2025-01-13T09:30:00+02:00", "2025-01-13T07:30:00Z"),
        ("2025-01-13T09:30:00.25-11:45", "2025-01-13T21:15:00.25Z"),
        ("2025-01-13T00:00Z", "2025-01-13T00:00:00Z"),
        ("2025-01-13T00Z", "2025-01-13T00:00:00Z"),
        ("2025-01-13T00:00:00+0200", "2025-01-12T22:00:00Z"),
        ("2025-01-13T09:30:00", "2025-01-13T07:30:00Z"),
        ("2025-01-13 09:30", "2025-01-13T07:30:00Z"),
        ("20250113", "2025-01-12T22:00:00Z"),
        ("2019-03", "2019-02-28T22:00:00Z"),
        (" 2019 ", "2018-12-31T22:00:00Z"),
        ("1900", "1899-12-31T22:00:00Z"),
        ("2100-12", "2100-11-30T22:00:00Z"),
    ];
    let zone = TimeZone::fixed(offset(2));
    for (text, expected) in table {
        assert_eq!(read(text, &zone).as_deref(), Some(expected), "{text}");
    }
    assert_eq!(read("2025-01-13", &TimeZone::UTC).as_deref(), Some("2025-01-13T00:00:00Z"));
}

/// Where midnight is skipped when the clocks change, the day begins with its first moment.
#[test]
fn a_day_without_midnight() {
    let Ok(zone) = TimeZone::get("America/Sao_Paulo") else {
        // Not by a macro: what those print is shown for tests that fail only.
        let _ = writeln!(std::io::stderr(), "skipped: there is no time zone database");
        return;
    };
    assert_eq!(read("2018-11-04", &zone).as_deref(), Some("2018-11-04T03:00:00Z"));
}

#[test]
fn what_is_no_time_is_told_with_the_forms() {
    let long = "7".repeat(10_000);
    let refused = [
        "",
        "invalid-date",
        "7",
        "d",
        "-7d",
        "+7d",
        "7 d",
        "7D",
        "1.5h",
        "7d7h",
        "P7D",
        "1y",
        "٧d",
        "2025-1-13",
        "2025-02-30",
        "2025-13",
        "2025-00",
        "2025-3",
        "2025-",
        "1899",
        "2101",
        "2025-01-13T25:00:00Z",
        "2025-01-13T00:00:00.Z",
        "2025-01-13T09:30[America/New_York]",
        "99999999999999999999d",
        "9999999999w",
        "€€€€",
        "2025-01-1€",
        &long,
    ];
    for text in refused {
        let invalid = time("since", text, now(), &TimeZone::UTC).unwrap_err();
        assert_eq!(invalid.parameter, "since");
        assert!(invalid.reason.contains(TIME_FORMS), "{text}: {invalid}");
        assert!(invalid.reason.len() < 500, "{invalid}");
    }
}

#[test]
fn chats() {
    let table = [
        ("Antti", (None, Some("Antti"))),
        (" Antti ", (None, Some("Antti"))),
        ("*", (None, None)),
        ("*:*", (None, None)),
        ("*:Antti", (None, Some("Antti"))),
        ("telegram:Antti", (Some("telegram"), Some("Antti"))),
        ("telegram:*", (Some("telegram"), None)),
        ("telegram:a: b", (Some("telegram"), Some("a: b"))),
        ("a: b", (None, Some("a: b"))),
        ("Work: plans / 2025", (None, Some("Work: plans / 2025"))),
        ("telegram:", (None, Some("telegram:"))),
        ("-100123", (None, Some("-100123"))),
    ];
    for (text, (source, chat)) in table {
        let found = ChatArgument::parse("chat", text, |id| id == "telegram");
        assert_eq!(found, Ok(ChatArgument { source, chat }), "{text}");
    }
    let long = "a".repeat(1_025);
    for text in ["", "  ", "*:", &long] {
        let invalid = ChatArgument::parse("chat", text, |_| true).unwrap_err();
        assert!(invalid.reason.contains("'*' for all"), "{invalid}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,40}", shaped in "[0-9TZ:.+ -]{0,30}[smhdwZ]?") {
        for text in [&text, &shaped] {
            if let Err(invalid) = time("before", text, now(), &TimeZone::UTC) {
                prop_assert!(invalid.reason.contains(TIME_FORMS));
            }
            let _read_or_refused = ChatArgument::parse("chat", text, |_| true);
        }
    }

    #[test]
    fn spans_are_before_now(count in 0..5_000_i64, unit in 0..5_usize) {
        let (letter, seconds) = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400), ('w', 604_800)][unit];
        let at = time("since", &format!("{count}{letter}"), now(), &TimeZone::UTC).unwrap();
        prop_assert_eq!(now().duration_since(at), SignedDuration::from_secs(count * seconds));
    }

    #[test]
    fn moments_and_dates_come_back(second in -2_000_000_000..4_000_000_000_i64, hours in -12..=14_i8) {
        let at = Timestamp::from_second(second).unwrap();
        let zone = TimeZone::fixed(offset(hours));
        let local = at.to_zoned(zone.clone());
        let text = local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
        prop_assert_eq!(time("since", &text, now(), &TimeZone::UTC), Ok(at));
        let day = local.date();
        let midnight = date(day.year(), day.month(), day.day()).to_zoned(zone.clone()).unwrap();
        let read = time("since", &day.to_string(), now(), &zone);
        prop_assert_eq!(read, Ok(midnight.timestamp()));
    }
}
