//! Cursors: opaque, of one index, refused if anybody has touched them.

use chat_server::index::{Cursor, IndexError, MAX_LIMIT, MessageQuery, Page};
use proptest::test_runner::TestRunner;

use super::samples::{Fixture, at, chat, message, said};

async fn fixture() -> (Fixture, Cursor) {
    let fixture = Fixture::new();
    let mut events = vec![chat("1", "Antti")];
    events.extend((0..5).map(|n| said("1", message(&n.to_string(), n, "Bob", "hi"))));
    fixture.keep("telegram", events).await;
    let query = MessageQuery { limit: 2, ..MessageQuery::default() };
    let next = fixture.page(&query).await.next.unwrap();
    (fixture, next)
}

async fn from(fixture: &Fixture, cursor: &Cursor) -> Result<Page, IndexError> {
    let query = MessageQuery { cursor: Some(cursor.clone()), ..MessageQuery::default() };
    fixture.index.messages(&query).await
}

#[tokio::test]
async fn a_cursor_outlives_the_process_but_is_no_other_index_s() {
    let (mut fixture, cursor) = fixture().await;
    let text = cursor.as_str();
    assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
    fixture.reopen();
    let page = from(&fixture, &Cursor::new(text)).await.unwrap();
    assert_eq!(super::samples::ids(&page.messages), ["2", "1", "0"]);
    let (other, _) = self::fixture().await;
    refused(from(&other, &cursor).await);
}

#[tokio::test]
async fn any_change_is_noticed() {
    let (fixture, cursor) = fixture().await;
    let text = cursor.as_str();
    for place in 0..text.len() {
        let mut bytes = text.as_bytes().to_vec();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        refused(from(&fixture, &Cursor::new(changed)).await);
    }
    for text in
        ["", "A", "%%%", &text[1..], &format!("{text}A"), &"A".repeat(36), &"A".repeat(9_999)]
    {
        refused(from(&fixture, &Cursor::new(text)).await);
    }
}

fn refused(answer: Result<Page, IndexError>) {
    match answer {
        Err(IndexError::Invalid(invalid)) => assert_eq!(invalid.parameter, "cursor"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn limits_and_ranges_are_checked() {
    let (fixture, _) = fixture().await;
    let bad = [
        (MessageQuery { limit: 0, ..MessageQuery::default() }, "limit"),
        (MessageQuery { limit: MAX_LIMIT + 1, ..MessageQuery::default() }, "limit"),
        (
            MessageQuery { since: Some(at(2)), before: Some(at(2)), ..MessageQuery::default() },
            "since",
        ),
    ];
    for (query, parameter) in bad {
        match fixture.index.messages(&query).await {
            Err(IndexError::Invalid(invalid)) => assert_eq!(invalid.parameter, parameter),
            other => panic!("{other:?}"),
        }
    }
}

/// What is finer than a microsecond is on the right side of a bound.
#[tokio::test]
async fn bounds_are_exact() {
    let (fixture, _) = fixture().await;
    let nano = jiff::SignedDuration::from_nanos(1);
    let count = |since, before| {
        let query = MessageQuery { since, before, ..MessageQuery::default() };
        let fixture = &fixture;
        async move { fixture.ids(&query).await.len() }
    };
    assert_eq!(count(Some(at(2)), None).await, 3);
    assert_eq!(count(Some(at(2) + nano), None).await, 2);
    assert_eq!(count(Some(at(2) - nano), None).await, 3);
    assert_eq!(count(None, Some(at(2))).await, 2);
    assert_eq!(count(None, Some(at(2) + nano)).await, 3);
    assert_eq!(count(None, Some(at(2) - nano)).await, 2);
}

/// From a number on, in the order of numbers, the filters hold too.
#[tokio::test]
async fn filters_hold_from_a_number_on() {
    let (fixture, _) = fixture().await;
    let other = said("2", message("x", 9, "Bob", "hi"));
    fixture.keep("telegram", vec![other]).await;
    let cursor = fixture.index.cursor_after("telegram", 1).await.unwrap();
    let all = MessageQuery { cursor, ..MessageQuery::default() };
    assert_eq!(fixture.ids(&all).await, ["1", "2", "3", "4", "x"]);
    let some = MessageQuery { since: Some(at(2)), before: Some(at(9)), offset: 1, ..all.clone() };
    assert_eq!(fixture.ids(&some).await, ["3", "4"]);
    let chat = MessageQuery { chats: Some(vec![super::samples::key("telegram", "2")]), ..all };
    assert_eq!(fixture.ids(&chat).await, ["x"]);
    assert_eq!(fixture.index.cursor_after("nobody", 1).await, Ok(None));
}

#[test]
fn any_text_is_refused() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let fixture = Fixture::new();
    TestRunner::default()
        .run(&".{0,60}", |text| {
            refused(runtime.block_on(from(&fixture, &Cursor::new(text))));
            Ok(())
        })
        .unwrap();
}
