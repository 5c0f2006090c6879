//! Counting: by sender, day, hour and weekday of a zone.

use chat_server::index::StatisticsQuery;
use jiff::Timestamp;
use jiff::civil::date;
use jiff::tz::{TimeZone, offset};

use super::samples::{Fixture, chat, key, message, said};

fn query(zone: TimeZone) -> StatisticsQuery {
    StatisticsQuery { source: None, chats: None, since: None, before: None, zone }
}

async fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let times = [
        // A Sunday.
        ("1", "Antti", "2025-01-12T23:30:00Z"),
        ("1", "Alice", "2025-01-13T00:30:00Z"),
        ("1", "Antti", "2025-01-13T09:00:00Z"),
        ("2", "Antti", "2025-01-14T09:00:00Z"),
    ];
    let mut events = vec![chat("1", "Antti"), chat("2", "Alice")];
    for (n, (chat, sender, time)) in times.into_iter().enumerate() {
        let mut message = message(&n.to_string(), 0, sender, "hi");
        message.timestamp = time.parse().unwrap();
        events.push(said(chat, message));
    }
    let mut joined = message("joined", 0, "", "joined");
    joined.sender = None;
    joined.timestamp = "2025-01-13T09:59:59Z".parse().unwrap();
    events.push(said("1", joined));
    fixture.keep("telegram", events).await;
    fixture
}

#[tokio::test]
async fn a_chat_in_a_zone() {
    let fixture = fixture().await;
    let statistics = fixture
        .index
        .statistics(&StatisticsQuery {
            chats: Some(vec![key("telegram", "1")]),
            ..query(TimeZone::fixed(offset(2)))
        })
        .await
        .unwrap();
    assert_eq!(statistics.messages, 4);
    assert_eq!(statistics.without_sender, 1);
    assert_eq!(statistics.other_senders, 0);
    let senders: Vec<_> = statistics
        .senders
        .iter()
        .map(|count| (count.sender.name.as_str(), count.messages))
        .collect();
    assert_eq!(senders, [("Antti", 2), ("Alice", 1)]);
    // Half past eleven in the evening in UTC is the next day here.
    assert_eq!(statistics.days.into_iter().collect::<Vec<_>>(), [(date(2025, 1, 13), 4)]);
    let hours: Vec<_> = (0..24).zip(statistics.hours).filter(|(_, count)| *count > 0).collect();
    assert_eq!(hours, [(1, 1), (2, 1), (11, 2)]);
    assert_eq!(statistics.weekdays, [4, 0, 0, 0, 0, 0, 0]);
    let time = |text: &str| Some(text.parse::<Timestamp>().unwrap());
    assert_eq!(statistics.first, time("2025-01-12T23:30:00Z"));
    assert_eq!(statistics.last, time("2025-01-13T09:59:59Z"));
}

#[tokio::test]
async fn a_source_and_a_time() {
    let fixture = fixture().await;
    let ask = async |source: &str, since: &str, before: &str| {
        let query = StatisticsQuery {
            source: Some(source.to_owned()),
            since: Some(since.parse().unwrap()),
            before: Some(before.parse().unwrap()),
            ..query(TimeZone::UTC)
        };
        fixture.index.statistics(&query).await.unwrap().messages
    };
    assert_eq!(ask("telegram", "2025-01-13T00:30:00Z", "2025-01-14T09:00:00Z").await, 3);
    assert_eq!(ask("telegram", "2025-01-14T09:00:00Z", "2026-01-01T00:00:00Z").await, 1);
    assert_eq!(ask("signal", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z").await, 0);
}
