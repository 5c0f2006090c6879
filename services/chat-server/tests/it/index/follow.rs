//! Followers: each new message once and in order, however many listen, however slow they are.

use chat_server::index::{Followed, Follower, Index, MessageQuery, Options};
use futures_util::FutureExt as _;
use tempfile::TempDir;

use super::samples::{Fixture, chat, keep, message, said};

/// The next `count` messages, as source and number.
async fn collect(follower: &mut Follower, count: usize) -> Vec<(String, u64)> {
    let mut received = Vec::new();
    while received.len() < count {
        match follower.next().await {
            Some(Followed::Message(found)) => received.push((found.source, found.sequence)),
            other => panic!("{other:?} after {received:?}"),
        }
    }
    received
}

async fn say(index: &Index, source: &str, first: i64, count: i64) {
    let mut events = vec![chat("1", "Antti")];
    events.extend(
        (first..first + count).map(|n| said("1", message(&n.to_string(), -n, "Bob", "hi"))),
    );
    keep(&index.sink(source), events).await;
}

#[tokio::test]
async fn each_hears_each_new_message_once_and_in_order() {
    let fixture = Fixture::new();
    say(&fixture.index, "telegram", 0, 3).await;
    let mut all = fixture.index.follow().await.unwrap();
    let mut whole = fixture.index.follow_from_start();
    // Some come again: they are not new.
    say(&fixture.index, "telegram", 0, 5).await;
    say(&fixture.index, "signal", 0, 300).await;
    say(&fixture.index, "telegram", 3, 300).await;
    let telegram = |numbers: std::ops::RangeInclusive<u64>| {
        numbers.map(|n| ("telegram".to_owned(), n)).collect::<Vec<_>>()
    };
    let signal: Vec<_> = (1..=300).map(|n| ("signal".to_owned(), n)).collect();
    let expected = [telegram(4..=5), signal, telegram(6..=303)].concat();
    assert_eq!(collect(&mut all, 600).await, expected);
    assert_eq!(collect(&mut whole, 603).await, [telegram(1..=3), expected].concat());
    fixture.index.close();
    for mut follower in [all, whole] {
        assert_eq!(follower.next().await, None);
    }
}

#[tokio::test]
async fn one_who_waits_is_woken() {
    let fixture = Fixture::new();
    let mut stream = fixture.index.follow().await.unwrap();
    let waiting = tokio::spawn(async move { (stream.next().await, stream.next().await) });
    tokio::task::yield_now().await;
    say(&fixture.index, "telegram", 0, 1).await;
    say(&fixture.index, "signal", 0, 1).await;
    let (first, second) = waiting.await.unwrap();
    let source = |received| match received {
        Some(Followed::Message(found)) => found.source,
        other => panic!("{other:?}"),
    };
    assert_eq!((source(first), source(second)), ("telegram".to_owned(), "signal".to_owned()));
}

#[tokio::test]
async fn who_waits_when_it_is_closed_is_told() {
    let fixture = Fixture::new();
    let mut follower = fixture.index.follow().await.unwrap();
    let waiting = tokio::spawn(async move { follower.next().await });
    tokio::task::yield_now().await;
    fixture.index.close();
    assert_eq!(waiting.await.unwrap(), None);
}

#[tokio::test]
async fn one_who_lags_is_told_how_many_and_from_where() {
    let dir = TempDir::new().unwrap();
    let options = Options { max_lag: 50, ..Options::default() };
    let index = Index::open(dir.path(), options).unwrap();
    say(&index, "telegram", 0, 7).await;
    let mut all = index.follow().await.unwrap();
    say(&index, "telegram", 7, 40).await;
    say(&index, "signal", 0, 20).await;
    // 40 would not be too many, 60 are.
    let mut lags = Vec::new();
    for _ in 0..2 {
        match all.next().await {
            Some(Followed::Lagged(lag)) => lags.push(lag),
            other => panic!("{other:?}"),
        }
    }
    lags.sort_by(|one, other| one.source.cmp(&other.source));
    let missed: Vec<_> = lags.iter().map(|lag| (lag.source.as_str(), lag.missed)).collect();
    assert_eq!(missed, [("signal", 20), ("telegram", 40)]);
    // It goes on with the newest, and the rest is read from the cursor, page by page, in order.
    say(&index, "telegram", 47, 1).await;
    assert_eq!(collect(&mut all, 1).await, [("telegram".to_owned(), 48)]);
    let mut query =
        MessageQuery { limit: 16, cursor: Some(lags[1].cursor.clone()), ..MessageQuery::default() };
    let mut found = Vec::new();
    while query.cursor.is_some() {
        let page = index.messages(&query).await.unwrap();
        found.extend(page.messages.iter().map(|found| found.sequence));
        query.cursor = page.next;
    }
    assert_eq!(found, Vec::from_iter(8..=48));
    let elsewhere = MessageQuery {
        source: Some("signal".to_owned()),
        cursor: Some(lags[1].cursor.clone()),
        ..MessageQuery::default()
    };
    let refused = index.messages(&elsewhere).await.unwrap_err();
    assert!(refused.to_string().contains("another source"), "{refused}");
}

#[tokio::test]
async fn a_wait_that_is_given_up_loses_nothing() {
    let fixture = Fixture::new();
    let mut follower = fixture.index.follow().await.unwrap();
    let mut numbers = Vec::new();
    for n in 0..200 {
        say(&fixture.index, "telegram", n, 1).await;
        // Polled once and dropped, wherever it is; mostly it has not read yet.
        match follower.next().now_or_never() {
            None => {}
            Some(Some(Followed::Message(found))) => numbers.push(found.sequence),
            Some(other) => panic!("{other:?}"),
        }
    }
    let rest = collect(&mut follower, 200 - numbers.len()).await;
    numbers.extend(rest.into_iter().map(|(_, number)| number));
    assert_eq!(numbers, Vec::from_iter(1..=200));
}

/// What stands in the way for a while: here a row that cannot be read.
#[tokio::test]
async fn a_read_that_fails_does_not_end_a_follower() {
    let fixture = Fixture::new();
    say(&fixture.index, "telegram", 0, 3).await;
    let file = rusqlite::Connection::open(fixture.dir.path().join("chats.db")).unwrap();
    let set = |detail: Option<&str>| {
        let sql = "UPDATE message SET detail = ?1 WHERE seq = 2";
        file.execute(sql, [detail]).unwrap();
    };
    set(Some("no JSON"));
    let mut follower = fixture.index.follow_from_start();
    {
        let next = follower.next();
        tokio::pin!(next);
        let waited = std::time::Duration::from_millis(300);
        let early = tokio::time::timeout(waited, &mut next).await;
        assert!(early.is_err(), "{early:?}");
    }
    set(None);
    assert_eq!(collect(&mut follower, 3).await.len(), 3);
}
