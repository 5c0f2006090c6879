//! Whatever somebody writes is looked for, or refused with a sentence; it is never taken for a command.

use chat_server::index::{IndexError, MessageQuery, SearchQuery, find_among, says};
use chat_server::model::Alias;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::samples::{Fixture, chat, message, said};

const HOSTILE: [&str; 22] = [
    "'",
    "\"",
    "\"\"",
    "\"\"\"",
    "*",
    "**",
    "a*b",
    "^",
    "-a",
    "a AND",
    "NOT",
    "OR b",
    "NEAR(a b)",
    "text:a",
    "{text}: a",
    "(",
    ")))",
    "a\0b",
    "\0",
    "%_%",
    "'; DROP TABLE message; --",
    "+ a \u{202E}\u{FFFF}",
];

async fn ask(fixture: &Fixture, text: &str) {
    let parts = MessageQuery { search: Some(text.to_owned()), ..MessageQuery::default() };
    // What has no word is refused in words.
    assert!(matches!(fixture.index.messages(&parts).await, Ok(_) | Err(IndexError::Invalid(_))));
    let sender = MessageQuery {
        sender: Some(text.to_owned()),
        source: Some(text.to_owned()),
        ..MessageQuery::default()
    };
    fixture.index.messages(&sender).await.unwrap();
    let _whatever = find_among(fixture.index.chats(None).await.unwrap(), text);
    fixture.index.chats(Some(text)).await.unwrap();
    let alias = Alias { name: text.to_owned(), aliases: vec![text.to_owned()] };
    fixture.index.people(&[alias]).await.unwrap();
    let words = SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
    match fixture.index.search(&words).await {
        Ok(_) => {}
        Err(IndexError::Invalid(invalid)) => {
            assert_eq!(invalid.parameter, "query");
            assert!(invalid.reason.contains("phrases in quotes"), "{invalid}");
        }
        Err(other) => panic!("{text:?}: {other}"),
    }
}

/// Its last messages are so many that the tables are asked too.
async fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.keep("telegram", vec![chat("1", "Antti")]).await;
    let texts = HOSTILE.iter().copied().chain((0..9_000).map(|_| "a b"));
    let messages: Vec<_> = texts
        .zip(0..)
        .map(|(text, n)| said("1", message(&n.to_string(), n, "Bob", text)))
        .collect();
    for batch in messages.chunks(1_000) {
        fixture.keep("telegram", batch.to_vec()).await;
    }
    fixture
}

#[tokio::test]
async fn operators_and_quotes_are_text() {
    let fixture = fixture().await;
    for text in HOSTILE {
        ask(&fixture, text).await;
        // It is found as it stands, if there is a word in it.
        let query = MessageQuery {
            search: Some(text.to_owned()),
            limit: 1_000,
            before: Some(super::samples::at(HOSTILE.len() as i64)),
            ..MessageQuery::default()
        };
        let place = HOSTILE.iter().position(|hostile| *hostile == text).unwrap();
        if says("", text).is_err() {
            continue;
        }
        let found = fixture.ids(&query).await;
        assert!(found.contains(&place.to_string()), "{text:?}: {found:?}");
    }
    for text in ["a".repeat(10_240), "\"".repeat(10_240), "a ".repeat(5_120), "€".repeat(10_240)]
    {
        ask(&fixture, &text).await;
    }
}

#[test]
fn any_text_is_answered() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let fixture = runtime.block_on(fixture());
    let odd = "[\"*()a^:{}\\-+ \\x00']{1,12}";
    TestRunner::new(ProptestConfig::with_cases(64))
        .run(&(any::<String>(), odd), |(text, odd)| {
            runtime.block_on(ask(&fixture, &text));
            runtime.block_on(ask(&fixture, &odd));
            Ok(())
        })
        .unwrap();
}

#[tokio::test]
async fn a_page_is_not_large_because_names_are() {
    let fixture = Fixture::new();
    let long = "x".repeat(100_000);
    fixture.keep("telegram", vec![chat("1", "Antti")]).await;
    for hundred in 0..5 {
        let numbers = 100 * hundred..100 * (hundred + 1);
        let messages = numbers.map(|n| said("1", message(&n.to_string(), n, &long, "hi")));
        fixture.keep("telegram", messages.collect()).await;
    }
    let query = MessageQuery { limit: 1_000, ..MessageQuery::default() };
    let page = fixture.page(&query).await;
    assert!(page.messages.len() < 100, "{}", page.messages.len());
    assert!(page.next.is_some());
}
