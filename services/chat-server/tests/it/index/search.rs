//! Words and phrases: what is found, what is marked, what is around.

use chat_server::index::{IndexError, MessageQuery, SearchQuery};

use super::samples::{Fixture, chat, ids, message, said};

const TEXTS: [&str; 6] = [
    "Let us meet at the Café, tomorrow",
    "Meeting notes: budget-plan (v2)",
    "the café is closed",
    "MEET me at the cafe",
    "meet the at cafe",
    "nothing",
];

async fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let mut events = vec![chat("1", "Antti")];
    for (text, n) in TEXTS.iter().zip(0..) {
        events.push(said("1", message(&n.to_string(), n, "Bob", text)));
    }
    fixture.keep("telegram", events).await;
    fixture
}

fn query(text: &str) -> SearchQuery {
    SearchQuery { text: text.to_owned(), ..SearchQuery::default() }
}

#[tokio::test]
async fn words_phrases_and_beginnings() {
    let fixture = fixture().await;
    let table: [(&str, &[&str]); 23] = [
        ("meet", &["4", "3", "1", "0"]),
        ("\"meet\"", &["4", "3", "0"]),
        ("meet -cafe", &["1"]),
        ("closed OR budget", &["2", "1"]),
        ("meet closed OR tomorrow", &["0"]),
        // verygoodplugins/whatsapp-mcp#198, MAKU17/tesata#6: models write AND and NOT, since OR is an operator.
        ("meet AND tomorrow", &["0"]),
        ("meet NOT cafe", &["1"]),
        ("meet AND NOT cafe", &["1"]),
        ("meet NOT \"at the café\"", &["4", "1"]),
        ("meet and tomorrow", &[]),
        ("NOT meet", &["1"]),
        ("meet \"AND\" tomorrow", &[]),
        ("meet*", &["4", "3", "1", "0"]),
        ("MEET cafe", &["4", "3", "0"]),
        ("\"at the café\"", &["3", "0"]),
        ("\"at the\" caf*", &["3", "0"]),
        ("budget-plan", &["1"]),
        ("plan-budget", &[]),
        ("\"budget pl\"*", &["1"]),
        ("eet", &["4", "3", "1", "0"]),
        ("(v2)", &["1"]),
        ("\"the cafe", &["3", "2", "0"]),
        ("cafe closed tomorrow", &[]),
    ];
    for (text, expected) in table {
        let hits = fixture.index.search(&query(text)).await.unwrap();
        let found: Vec<_> = hits.hits.iter().map(|hit| hit.message.message.id.as_str()).collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(hits.next, None);
    }
}

#[tokio::test]
async fn what_was_found_is_marked_as_it_is_written() {
    let fixture = fixture().await;
    let table = [
        ("cafe closed", "the **café** is **closed**"),
        ("\"at the\" tomorrow", "Let us meet **at** **the** Café, **tomorrow**"),
        ("not*", "**nothing**"),
        ("budget-plan", "Meeting notes: **budget**-**plan** (v2)"),
    ];
    for (text, expected) in table {
        let hits = fixture.index.search(&query(text)).await.unwrap().hits;
        assert_eq!(hits[0].snippet, expected);
    }
    // Of a long text the part around the first.
    let words: Vec<String> = (0..500).map(|n| format!("w{n}")).collect();
    let long = said("1", message("long", 99, "Bob", &words.join(" ")));
    fixture.keep("telegram", vec![long]).await;
    let hits = fixture.index.search(&query("w250 w499")).await.unwrap().hits;
    let marked = &hits[0].snippet;
    assert!(marked.starts_with("…w240 "), "{marked}");
    assert!(marked.contains(" w249 **w250** w251 "), "{marked}");
    assert!(marked.ends_with(" w279…"), "{marked}");
}

#[tokio::test]
async fn pages_and_what_is_around() {
    let fixture = fixture().await;
    let mut query = SearchQuery {
        messages: MessageQuery { limit: 2, ..MessageQuery::default() },
        before: 1,
        after: 2,
        ..query("cafe")
    };
    let first = fixture.index.search(&query).await.unwrap();
    assert_eq!(first.hits.len(), 2);
    assert_eq!(ids(&first.hits[1].around.before), ["2"]);
    assert_eq!(ids(&first.hits[1].around.after), ["4", "5"]);
    query.messages.cursor = first.next;
    let second = fixture.index.search(&query).await.unwrap();
    let found: Vec<_> = second.hits.iter().map(|hit| hit.message.message.id.as_str()).collect();
    assert_eq!(found, ["2", "0"]);
    assert_eq!(second.next, None);
    // Filters hold too.
    query.messages = MessageQuery { search: Some("closed".to_owned()), ..MessageQuery::default() };
    assert_eq!(fixture.index.search(&query).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn too_much_and_too_little_are_refused() {
    let fixture = fixture().await;
    let many = SearchQuery { before: 10, after: 10, ..query("cafe") };
    let table = [
        (query(""), "query", "no word"),
        (query("\"...\" ?"), "query", "no word"),
        (query(&"a ".repeat(65)), "query", "at most 64"),
        (many, "limit", "2000"),
    ];
    for (query, parameter, said) in table {
        match fixture.index.search(&query).await {
            Err(IndexError::Invalid(invalid)) => {
                assert_eq!(invalid.parameter, parameter);
                assert!(invalid.reason.contains(said), "{invalid}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Hits behind more messages than a search examines one by one: first all whole words, then all parts of words.
#[tokio::test]
async fn old_hits_come_in_pages() {
    let fixture = Fixture::new();
    let mut events = vec![chat("1", "Antti")];
    for n in 0..12_000 {
        if n % 6_000 == 0 {
            fixture.keep("telegram", std::mem::take(&mut events)).await;
        }
        let text = match n {
            ..3_000 if n % 10 == 0 => "at the harbour",
            ..3_000 if n % 10 == 5 => "the northharbour",
            _ => "at sea",
        };
        events.push(said("1", message(&n.to_string(), n, "Bob", text)));
    }
    fixture.keep("telegram", events).await;
    let whole = (0..300).rev().map(|n| n * 10);
    let inside = (0..300).rev().map(|n| n * 10 + 5);
    let expected: Vec<String> = whole.chain(inside).map(|n| n.to_string()).collect();
    let mut asked = query("harbour");
    asked.messages.limit = 70;
    let mut found = Vec::new();
    loop {
        let hits = fixture.index.search(&asked).await.unwrap();
        for hit in hits.hits {
            assert_eq!(hit.inside, hit.snippet.contains("north"));
            found.push(hit.message.message.id);
        }
        let Some(next) = hits.next else { break };
        asked.messages.cursor = Some(next);
    }
    assert_eq!(found, expected);
}
